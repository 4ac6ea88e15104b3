//! One scene: a scene file with everything that it names, read and checked (shared/scenes/README.md).

mod check;
mod contents;
mod pass;
mod pipeline;
mod resources;
mod step;
mod tagged;

pub use eitri_drawing::state::*;
pub use pass::*;
pub use pipeline::*;
pub use resources::*;
pub use step::*;

use crate::error::SceneError;
use crate::expectation::Expectation;
use contents::{ExpectEntry, Reader};
use eitri_compute_cases::FileError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of the format.
const FORMAT: u64 = 1;

/// Drawings with their inputs, and what must come out.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The scene file.
    pub path: PathBuf,
    /// What the file says.
    pub file: SceneFile,
    /// What must come out.
    pub expect: Vec<Expectation>,
    /// The files that it names, of a scene that is not in a folder.
    files: Option<Arc<BTreeMap<String, Vec<u8>>>>,
}

/// A scene as it is written, but for what it expects.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SceneFile {
    /// A short name.
    pub name: String,
    /// What it tests, for people.
    pub class: String,
    /// What it draws, for people.
    pub description: String,
    /// What an expectation relies on beyond Vulkan.
    #[serde(default)]
    pub notes: Option<String>,
    /// What the device must have, by Vulkan's names.
    #[serde(default)]
    pub features: Vec<String>,
    /// Why the reference driver does not pass.
    #[serde(default)]
    pub reference_fails: Option<String>,
    /// Shaders.
    #[serde(default)]
    pub shaders: Vec<Shader>,
    /// Buffers.
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    /// Images.
    #[serde(default)]
    pub images: Vec<Image>,
    /// Views of images.
    #[serde(default)]
    pub views: Vec<View>,
    /// Samplers.
    #[serde(default)]
    pub samplers: Vec<Sampler>,
    /// Views of buffers as texels.
    #[serde(default)]
    pub texel_views: Vec<TexelView>,
    /// Descriptor sets.
    #[serde(default)]
    pub sets: Vec<Set>,
    /// Queries.
    #[serde(default)]
    pub queries: Vec<Query>,
    /// Pipelines.
    #[serde(default)]
    pub pipelines: Vec<Pipeline>,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// The members of a scene file that [`SceneFile`] leaves out.
#[derive(Deserialize)]
struct Header {
    format: u64,
    #[serde(default)]
    expect: Vec<ExpectEntry>,
}

impl Scene {
    /// Reads a scene file, and what it names.
    ///
    /// # Errors
    /// A file that can't be read, is not of the format, or contradicts itself.
    pub fn read(path: &Path) -> Result<Scene, SceneError> {
        let reader = Reader::new(path);
        let text = reader.file(path)?;
        let json = |cause| FileError::Json {
            path: path.to_owned(),
            cause,
        };
        let header: Header = serde_json::from_slice(&text).map_err(json)?;
        if header.format != FORMAT {
            let path = path.to_owned();
            let format = header.format;
            return Err(FileError::Format { path, format }.into());
        }
        let file: SceneFile = serde_json::from_slice(&text).map_err(json)?;
        check::check(&file).map_err(|what| reader.inconsistent(what))?;
        let expect = header.expect.into_iter();
        let expect: Result<Vec<Expectation>, SceneError> = expect
            .map(|entry| reader.expectation(&file, entry))
            .collect();
        Ok(Scene {
            path: path.to_owned(),
            file,
            expect: expect?,
            files: None,
        })
    }

    /// A scene that was made of something else, with the files that it names. Level 0 of the image `picture` is its one result, which
    /// is compared with nothing. `path` is what it was made of, for messages.
    ///
    /// # Errors
    /// If it contradicts itself.
    pub fn of_parts(
        path: PathBuf,
        file: SceneFile,
        files: BTreeMap<String, Vec<u8>>,
        picture: &str,
    ) -> Result<Scene, SceneError> {
        let reader = Reader::new(&path);
        check::check(&file).map_err(|what| reader.inconsistent(what))?;
        let expect = vec![reader.picture(&file, picture)?];
        let files = Some(Arc::new(files));
        Ok(Scene {
            path,
            file,
            expect,
            files,
        })
    }

    fn reader(&self) -> Reader<'_> {
        Reader::new(&self.path).with(self.files.as_deref())
    }

    /// The bytes of a shader's SPIR-V: as the front end wrote it, or optimised.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn spirv(&self, shader: &Shader, optimised: bool) -> Result<Vec<u8>, SceneError> {
        let name = if optimised {
            &shader.spirv_opt
        } else {
            &shader.spirv
        };
        self.reader().named(name)
    }

    /// First contents of a buffer; `None` where nothing is known of them.
    ///
    /// # Errors
    /// A file that can't be read, or contents of another size.
    pub fn buffer_contents(&self, buffer: &Buffer) -> Result<Option<Vec<u8>>, SceneError> {
        let Some(init) = &buffer.init else {
            return Ok(None);
        };
        let of = format!("buffer {}", buffer.name);
        let reader = self.reader();
        reader.contents(init, buffer.bytes, &of).map(Some)
    }

    /// First contents of a part of an image.
    ///
    /// # Errors
    /// A file that can't be read, or contents of another size.
    pub fn image_contents(&self, image: &Image, init: &ImageInit) -> Result<Vec<u8>, SceneError> {
        let reader = self.reader();
        let of = format!("image {}", image.name);
        let bytes = image
            .bytes_of(init.aspect, init.level, init.layers)
            .map_err(|what| reader.inconsistent(what))?;
        reader.contents(&init.data, bytes, &of)
    }
}

impl SceneFile {
    /// The image of a name.
    pub fn image(&self, name: &str) -> Option<&Image> {
        self.images.iter().find(|image| image.name == name)
    }

    /// The view of a name.
    pub fn view(&self, name: &str) -> Option<&View> {
        self.views.iter().find(|view| view.name == name)
    }

    /// The buffer of a name.
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| buffer.name == name)
    }

    /// The pipeline of a name.
    pub fn pipeline(&self, name: &str) -> Option<&Pipeline> {
        self.pipelines.iter().find(|pipeline| pipeline.name == name)
    }

    /// The shader of a name.
    pub fn shader(&self, name: &str) -> Option<&Shader> {
        self.shaders.iter().find(|shader| shader.name == name)
    }

    /// The query of a name.
    pub fn query(&self, name: &str) -> Option<&Query> {
        self.queries.iter().find(|query| query.name == name)
    }
}
