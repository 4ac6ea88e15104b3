//! What a person wants to see of one script after it has run: pictures, contents of buffers, assembly. The short options are
//! those of the tool that scripts are usually run with.

use super::compile::Built;
use super::picture;
use crate::outcome::Failure;
use crate::output::whole_file;
use eitri_amber::plan::Plan;
use eitri_amber::run::Memory;
use eitri_amber::script::{Buffer, BufferId, Resource, Slot};
use miette::Diagnostic;
use thiserror::Error;

/// The buffer that a picture is of, if none is named.
const FRAMEBUFFER: &str = "framebuffer";
/// Values on a line of a file of contents.
const VALUES_PER_LINE: usize = 8;

/// What is wanted.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OutputArguments {
    /// Write a buffer as a picture: PNG, or PPM if the name does not end with .png. One for each -I.
    #[arg(long = "picture", short = 'i', value_name = "FILE")]
    pictures: Vec<String>,
    /// The buffer that the picture is of; `framebuffer`, if not given.
    #[arg(long, short = 'I', value_name = "BUFFER", requires = "pictures")]
    picture_of: Vec<String>,
    /// Write contents of buffers as text, or as they are if the name ends with .bin.
    #[arg(long, short, value_name = "FILE")]
    buffers: Option<String>,
    /// Whose contents, as `[PIPELINE:][SET:]BINDING`; binding 0 of set 0 of the first pipeline, if not given.
    #[arg(long, short = 'B', value_name = "BINDING", requires = "buffers")]
    buffer_at: Vec<String>,
    /// Write the listings of all shaders.
    #[arg(long, short = 'w', value_name = "FILE")]
    assembly: Option<String>,
}

/// Why an output can't be written.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum OutputError {
    #[error("no buffer is called `{name}`")]
    #[diagnostic(help("there are {}", names.join(", ")))]
    NoBuffer { name: String, names: Vec<String> },
    #[error("{name} is no picture: it has {width} x {height} elements of {ty}")]
    NoPicture {
        name: String,
        width: u32,
        height: u32,
        ty: String,
    },
    #[error("`{text}` is no binding: write [PIPELINE:][SET:]BINDING")]
    Binding { text: String },
    #[error("the script binds no buffer to {text}")]
    NotBound { text: String },
    #[error("{pictures} files of pictures, but {buffers} buffers")]
    Pairs { pictures: usize, buffers: usize },
    #[error("`{option} -`: standard output has the results of scripts")]
    #[diagnostic(help("name a file"))]
    Stdout { option: &'static str },
    #[error("{chosen} scripts are chosen: outputs are those of one")]
    OneScript { chosen: usize },
}

impl OutputArguments {
    /// Whether anything is wanted.
    pub(crate) fn any(&self) -> bool {
        !self.pictures.is_empty() || self.buffers.is_some() || self.assembly.is_some()
    }

    /// Checks what can be checked before anything is run.
    pub(crate) fn check(&self, chosen: usize) -> Result<(), Failure> {
        if self.any() && chosen != 1 {
            return Err(Failure::refused(OutputError::OneScript { chosen }));
        }
        let pictures = self.pictures.iter().map(|path| ("-i", path));
        let buffers = self.buffers.iter().map(|path| ("-b", path));
        let assembly = self.assembly.iter().map(|path| ("-w", path));
        let mut outputs = pictures.chain(buffers).chain(assembly);
        if let Some((option, _)) = outputs.find(|(_, path)| *path == "-") {
            return Err(Failure::refused(OutputError::Stdout { option }));
        }
        let (pictures, buffers) = (self.pictures.len(), self.picture_of.len());
        let alone = pictures <= 1 && buffers == 0;
        match alone || pictures == buffers {
            true => Ok(()),
            false => Err(Failure::refused(OutputError::Pairs { pictures, buffers })),
        }
    }

    /// The same, for the process that runs the script.
    pub(super) fn words(&self) -> Vec<String> {
        let option =
            |option: &'static str| move |value: &String| [option.to_owned(), value.clone()];
        let mut words: Vec<String> = Vec::new();
        words.extend(self.pictures.iter().flat_map(option("-i")));
        words.extend(self.picture_of.iter().flat_map(option("-I")));
        words.extend(self.buffers.iter().flat_map(option("-b")));
        words.extend(self.buffer_at.iter().flat_map(option("-B")));
        words.extend(self.assembly.iter().flat_map(option("-w")));
        words
    }

    /// Writes the listings.
    pub(super) fn write_assembly(&self, built: &Built) -> Result<(), Failure> {
        let Some(path) = &self.assembly else {
            return Ok(());
        };
        let mut text = String::new();
        for (name, shader) in built.names.iter().zip(&built.shaders) {
            if let Some(shader) = shader {
                text.push_str(&format!("; pipeline {name}\n{}", shader.compiled.listing));
            }
        }
        whole_file::write(path, text.as_bytes())
    }

    /// Writes what is wanted of the buffers.
    pub(super) fn write_buffers(
        &self,
        plan: &Plan,
        pipelines: &[String],
        memory: &Memory,
    ) -> Result<(), Failure> {
        for (index, path) in self.pictures.iter().enumerate() {
            let name = self.picture_of.get(index);
            let name = name.map_or(FRAMEBUFFER, String::as_str);
            let bytes = picture_of(plan, memory, name, path).map_err(Failure::refused)?;
            whole_file::write(path, &bytes)?;
        }
        let Some(path) = &self.buffers else {
            return Ok(());
        };
        let first = ["0".to_owned()];
        let places = match &self.buffer_at[..] {
            [] => &first[..],
            places => places,
        };
        let mut written = Vec::new();
        for place in places {
            let id = bound_at(plan, pipelines, place).map_err(Failure::refused)?;
            let bytes = memory.get(id).map_or(&[][..], |buffer| &buffer.bytes);
            match plan.buffer(id) {
                Some(buffer) if !path.ends_with(".bin") => {
                    written.extend(text_of(buffer, bytes).into_bytes());
                }
                _ => written.extend(bytes),
            }
        }
        whole_file::write(path, &written)
    }
}

fn picture_of(
    plan: &Plan,
    memory: &Memory,
    name: &str,
    path: &str,
) -> Result<Vec<u8>, OutputError> {
    let known = plan.buffers.iter().position(|buffer| buffer.name == name);
    let id = known.map(BufferId).ok_or_else(|| OutputError::NoBuffer {
        name: name.to_owned(),
        names: plan
            .buffers
            .iter()
            .map(|buffer| buffer.name.clone())
            .collect(),
    })?;
    let (buffer, host) = match (plan.buffer(id), memory.get(id)) {
        (Some(buffer), Some(host)) => (buffer, host),
        _ => {
            return Err(OutputError::NotBound {
                text: name.to_owned(),
            });
        }
    };
    let pixels = picture::rgba(buffer, host).ok_or_else(|| OutputError::NoPicture {
        name: name.to_owned(),
        width: host.size.0,
        height: host.size.1,
        ty: buffer.ty.to_string(),
    })?;
    if path.ends_with(".png") {
        return Ok(picture::png(host.size, &pixels));
    }
    let mut bytes = format!("P6\n{} {}\n255\n", host.size.0, host.size.1).into_bytes();
    let (pixels, _) = pixels.as_chunks::<4>();
    bytes.extend(pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]));
    Ok(bytes)
}

/// The buffer that the script binds at `[PIPELINE:][SET:]BINDING`.
fn bound_at(plan: &Plan, pipelines: &[String], text: &str) -> Result<BufferId, OutputError> {
    let wrong = || OutputError::Binding {
        text: text.to_owned(),
    };
    let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    let parts: Vec<&str> = text.split(':').collect();
    let named = |name: &str| pipelines.iter().position(|known| known == name);
    let (pipeline, set, binding) = match parts[..] {
        [binding] => (Some(0), 0, number(binding)?),
        [first, binding] => match first.parse::<u32>() {
            Ok(set) => (Some(0), set, number(binding)?),
            Err(_) => (named(first), 0, number(binding)?),
        },
        [pipeline, set, binding] => (named(pipeline), number(set)?, number(binding)?),
        _ => return Err(wrong()),
    };
    let descriptors = pipeline.and_then(|index| plan.pipelines.get(index));
    let descriptors = descriptors.map_or(&[][..], |pipeline| &pipeline.descriptors);
    let here = Slot::Binding { set, binding };
    let found = descriptors.iter().find_map(|descriptor| {
        match (&descriptor.resource, descriptor.slot == here) {
            (Resource::Buffers { buffers, .. }, true) => buffers.first(),
            _ => None,
        }
    });
    let bound = found.ok_or_else(|| OutputError::NotBound {
        text: text.to_owned(),
    })?;
    Ok(bound.buffer)
}

/// The values of a buffer: a line with its name, then lines of an offset and values.
fn text_of(buffer: &Buffer, bytes: &[u8]) -> String {
    let mut text = format!("{} {}", buffer.name, buffer.ty);
    let components = buffer.element.components.len().max(1);
    let count = bytes.len() / buffer.element.stride.max(1) * components;
    for index in 0..count {
        let Some((scalar, at)) = buffer.element.place(index) else {
            break;
        };
        if index % VALUES_PER_LINE.next_multiple_of(components) == 0 {
            text.push_str(&format!("\n{at:08x}:"));
        }
        let value = scalar.load(bytes.get(at..).unwrap_or(&[]));
        text.push_str(&format!(" {value}"));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> (Plan, Vec<String>) {
        struct NoFiles;
        impl eitri_amber::plan::Files for NoFiles {
            fn read(&mut self, _: &str) -> std::io::Result<Vec<u8>> {
                Err(std::io::ErrorKind::NotFound.into())
            }
        }
        let script = eitri_amber::parse(text).unwrap();
        let names = script.pipelines.iter().map(|one| one.name.clone());
        (Plan::new(&script, &mut NoFiles).unwrap(), names.collect())
    }

    #[test]
    fn bindings_are_found_by_pipeline_set_and_number() {
        let (plan, names) = plan(
            "#!amber\nSHADER compute s GLSL\nx\nEND\nBUFFER a DATA_TYPE uint8 SIZE 1 FILL 0\n\
             BUFFER b DATA_TYPE uint8 SIZE 1 FILL 0\nPIPELINE compute p\nATTACH s\n\
             BIND BUFFER a AS storage DESCRIPTOR_SET 0 BINDING 0\nEND\nPIPELINE compute q\nATTACH s\n\
             BIND BUFFER b AS storage DESCRIPTOR_SET 2 BINDING 3\nEND\n",
        );
        let found = |text: &str| bound_at(&plan, &names, text).map(|id| id.0);
        assert_eq!(found("0").unwrap(), 0);
        assert_eq!(found("0:0").unwrap(), 0);
        assert_eq!(found("p:0").unwrap(), 0);
        assert_eq!(found("q:2:3").unwrap(), 1);
        for bad in ["1", "q:0", "r:2:3", "x:y:z", "1:2:3:4", ""] {
            assert!(found(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn contents_are_values_with_their_offsets() {
        let (plan, _) = plan("#!amber\nBUFFER a DATA_TYPE vec3<int16> DATA 1 -2 3 4 5 6 END\n");
        let memory = Memory::new(&plan);
        let text = text_of(&plan.buffers[0], &memory.get(BufferId(0)).unwrap().bytes);
        assert_eq!(text, "a vec3<int16>\n00000000: 1 -2 3 4 5 6\n");
    }
}
