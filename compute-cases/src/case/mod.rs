//! One case: a case file with everything that it names, read and checked (shared/kernels/README.md, "The case file").

mod file;

use self::file::{CaseFile, FormatOnly, Reader, read_bounded};
use crate::compare::{Comparison, Mismatch};
use crate::error::{CaseError, Difference, FileError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Most bytes that a case may have in all of its buffers: a slip of the finger should not fill the memory.
const MAX_BYTES: u64 = 256 << 20;
/// Most bytes of a case file or a shader module.
const MAX_FILE: u64 = 64 << 20;
/// The version of the format.
const FORMAT: u64 = 1;

/// One dispatch of one shader, with its inputs and what it must write.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The case file.
    pub path: PathBuf,
    /// A short name.
    pub name: String,
    /// What kind of work it is, for people.
    pub kind: String,
    /// What it does, for people.
    pub description: String,
    /// Name of the entry point.
    pub entry: String,
    /// Workgroup size, after specialisation.
    pub local_size: [u32; 3],
    /// Workgroups of the dispatch.
    pub groups: [u32; 3],
    /// The bytes from offset 0.
    pub push_constants: Vec<u8>,
    /// 32-bit patterns by SpecId.
    pub spec_constants: BTreeMap<u32, u32>,
    /// A descriptor each.
    pub resources: Vec<Resource>,
    /// The module as the front end wrote it.
    spirv: PathBuf,
    /// The same, optimised.
    spirv_opt: PathBuf,
}

/// Which of a case's two modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// As the front end wrote it.
    Plain,
    /// After `spirv-opt -O`.
    Optimised,
}

/// Where a shader finds a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element, of an array of descriptors; else 0.
    pub element: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.set, self.binding)?;
        match self.element {
            0 => Ok(()),
            element => write!(f, "[{element}]"),
        }
    }
}

/// What a resource is to the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum ResourceKind {
    /// A storage buffer.
    #[serde(rename = "ssbo")]
    StorageBuffer,
    /// A uniform buffer.
    #[serde(rename = "ubo")]
    UniformBuffer,
    /// An image without a sampler.
    #[serde(rename = "storage_image")]
    StorageImage,
    /// An image with a sampler: nearest, clamped to the edge, normalised coordinates.
    #[serde(rename = "combined_image_sampler")]
    CombinedImageSampler,
    /// A buffer of texels that are only read.
    #[serde(rename = "uniform_texel_buffer")]
    UniformTexelBuffer,
    /// A buffer of texels.
    #[serde(rename = "storage_texel_buffer")]
    StorageTexelBuffer,
}

/// How the bytes of an image or a texel buffer lie: tightly packed, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// In GLSL's words, such as `rgba8`.
    pub format: String,
    /// Texels of a row; of a texel buffer, of the whole.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// A resource of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Where.
    pub place: Place,
    /// Its name in the shader.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Of images and texel buffers.
    pub image: Option<Image>,
    /// Contents before the dispatch: the range of the descriptor.
    pub before: Vec<u8>,
    /// What it must hold afterwards; none when it must not change.
    pub output: Option<Output>,
}

/// What an output must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Contents after the dispatch; as many bytes as before it.
    pub expected: Vec<u8>,
    /// How it is compared.
    pub comparison: Comparison,
}

impl Case {
    /// Reads a case file, and the contents that it names.
    ///
    /// # Errors
    /// Files that can't be read, text of another form, members that contradict each other.
    pub fn read(path: &Path) -> Result<Case, CaseError> {
        let text = read_bounded(path, MAX_FILE)?;
        let json = |cause| FileError::Json {
            path: path.to_owned(),
            cause,
        };
        // The version first: another one may have another form.
        let format: FormatOnly = serde_json::from_slice(&text).map_err(json)?;
        if format.format != FORMAT {
            let path = path.to_owned();
            let format = format.format;
            return Err(FileError::Format { path, format }.into());
        }
        let file: CaseFile = serde_json::from_slice(&text).map_err(json)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let reader = Reader { path, folder };
        reader.check(&file)?;
        let resources = file.bindings.iter();
        Ok(Case {
            path: path.to_owned(),
            resources: resources
                .map(|binding| reader.resource(binding))
                .collect::<Result<_, _>>()?,
            spec_constants: file
                .spec_constants
                .iter()
                .map(|constant| (constant.id, constant.value))
                .collect(),
            spirv: folder.join(&file.shader.spirv),
            spirv_opt: folder.join(&file.shader.spirv_opt),
            name: file.name,
            kind: file.kind,
            description: file.description,
            entry: file.shader.entry,
            local_size: file.local_size,
            groups: file.groups,
            push_constants: file.push_constants,
        })
    }

    /// The file of a module.
    pub fn module_path(&self, module: Module) -> &Path {
        match module {
            Module::Plain => &self.spirv,
            Module::Optimised => &self.spirv_opt,
        }
    }

    /// The SPIR-V of a module.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn module(&self, module: Module) -> Result<Vec<u8>, CaseError> {
        Ok(read_bounded(self.module_path(module), MAX_FILE)?)
    }

    /// The resource at a place.
    pub fn resource(&self, place: Place) -> Option<&Resource> {
        self.resources
            .iter()
            .find(|resource| resource.place == place)
    }

    /// Compares all resources with what they must hold; `after` gives the contents at a place, or nothing for one that the
    /// run did not touch.
    ///
    /// # Errors
    /// The first difference, in the order of the case.
    pub fn check<'a>(&self, after: impl Fn(Place) -> Option<&'a [u8]>) -> Result<(), Difference> {
        for resource in &self.resources {
            resource.check(after(resource.place).unwrap_or(&resource.before))?;
        }
        Ok(())
    }
}

impl Resource {
    fn check(&self, after: &[u8]) -> Result<(), Difference> {
        let binding = format!("{} ({})", self.name, self.place);
        if after.len() != self.before.len() {
            return Err(Difference::Length {
                binding,
                bytes: after.len(),
                wanted: self.before.len(),
            });
        }
        match &self.output {
            Some(output) => output
                .comparison
                .check(after, &output.expected)
                .map_err(|mismatch| Difference::Output { binding, mismatch }),
            None => UNCHANGED
                .check(after, &self.before)
                .map_err(|mismatch: Mismatch| Difference::Changed { binding, mismatch }),
        }
    }
}

const UNCHANGED: Comparison = Comparison {
    rule: crate::Rule::Exact { element: None },
    allow_mismatch: 0,
};

#[cfg(test)]
mod tests;
