//! The arguments that say what a job is: the same wherever a shader is made into one.

use crate::input::board_firmware;
use crate::input::buffer_source::{BindingName, BufferArgument};
use crate::input::given::Given;
use crate::input::image_source::{FormatArgument, ImageArgument, SamplerArgument};
use crate::input::push_constants::PushArgument;
use crate::input::shader_file::Shader;
use crate::input::specialisation::SpecConstant;
use crate::outcome::Failure;
use eitri_job::Content;
use eitri_shaderc::{DescriptorCounts, Options, Robust, SpecIds};
use miette::Diagnostic;
use std::time::Duration;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct JobArguments {
    /// Entry point; needed when the module has several.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// What a buffer holds before the dispatch. BINDING is N (set 0) or SET:N; SOURCE is a file, zero:BYTES,
    /// iota-u32:COUNT, iota-f32:COUNT, fill-u32|i32|f32:VALUE:COUNT, random-u32:SEED:COUNT or hex:DIGITS.
    #[arg(long = "buffer", value_name = "BINDING=SOURCE")]
    buffers: Vec<BufferArgument>,
    /// Format of the texels of a buffer that the shader reads as such. FORMAT is a name of Vulkan's or GLSL's, such as
    /// R32_UINT or rgba8.
    #[arg(long = "texels", value_name = "BINDING=FORMAT")]
    formats: Vec<FormatArgument>,
    /// What an image holds before the dispatch: a picture, or zero:WIDTHxHEIGHT. Without FORMAT it is R8G8B8A8_UNORM.
    #[arg(long = "image", value_name = "BINDING=FILE.png[:FORMAT]")]
    images: Vec<ImageArgument>,
    /// A sampler, in words such as nearest, linear, trilinear, repeat, mirror, clamp, border.
    #[arg(long = "sampler", value_name = "BINDING=WORDS")]
    samplers: Vec<SamplerArgument>,
    /// Push constants: by the shader's names (a=2.0,n=1024, a vector as 1:2:3), as typed values (f32:2.0,u32:1024), or as hex digits,
    /// lowest byte first; or @BINDING+BYTES, the address of a buffer, of which only the checkers know.
    #[arg(long, value_name = "VALUES|HEX")]
    push: Option<PushArgument>,
    /// Workgroups.
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "1")]
    groups: Groups,
    /// The GPU's firmware: a file, such as the vendor's mali_csffw.bin of Debian's firmware-misc-nonfree
    /// (/lib/firmware/arm/mali/…), or the stub, which runs on the model only. An image for a board needs one of them.
    #[arg(long, value_name = "FILE|stub")]
    firmware: Option<String>,
    /// Value of a specialisation constant.
    #[arg(long = "spec", value_name = "ID=VALUE")]
    specialisation: Vec<SpecConstant>,
    /// Whether accesses outside of their memory do no harm; `off` trusts the shader, and makes smaller code.
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, default_value_t = RobustArgument::On)]
    robust: RobustArgument,
    /// Longest that the job may go on without progress, in seconds; parts of one are allowed. In QEMU, longest in all.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    timeout: Duration,
}

impl JobArguments {
    /// What they say to the compiler.
    pub(crate) fn options(&self) -> Options {
        let constants = self.specialisation.iter();
        Options {
            entry: self.entry.clone(),
            spec_constants: constants.map(|spec| (spec.id, spec.bits)).collect(),
            spec_ids: SpecIds::Declared,
            descriptor_counts: self.descriptor_counts(),
            robust: self.robust.into(),
            ..Options::default()
        }
    }

    /// An unsized array of descriptors has as many as are given.
    fn descriptor_counts(&self) -> DescriptorCounts {
        let buffers = self.buffers.iter().map(|argument| argument.name);
        let images = self.images.iter().map(|argument| argument.name);
        let samplers = self.samplers.iter().map(|argument| argument.name);
        let mut counts = DescriptorCounts::new();
        for name in buffers.chain(images).chain(samplers) {
            let count = counts.entry((name.set, name.binding)).or_default();
            *count = name.element.saturating_add(1).max(*count);
        }
        counts
    }

    /// Buffers, images and samplers.
    pub(crate) fn resources(&self) -> Result<Vec<Given>, Failure> {
        let named = |name: BindingName| self.formats.iter().find(|argument| argument.name == name);
        let mut resources = Vec::new();
        for argument in &self.buffers {
            let name = argument.name;
            let content =
                named(name).map_or(Content::Buffer, |found| Content::Texels(found.format));
            resources.push(Given::new(name, content, argument.source.bytes()?));
        }
        for argument in &self.formats {
            let name = argument.name;
            if !self.buffers.iter().any(|buffer| buffer.name == name) {
                return Err(Failure::refused(ArgumentError::Format { name }));
            }
        }
        for image in &self.images {
            resources.push(image.given()?);
        }
        resources.extend(self.samplers.iter().map(SamplerArgument::given));
        Ok(resources)
    }

    /// The bytes of the push constants, of which the shader has the names.
    pub(crate) fn push_constants(&self, shader: &Shader) -> Result<Vec<u8>, Failure> {
        let Some(push) = &self.push else {
            return Ok(Vec::new());
        };
        let constants = self.specialisation.iter();
        let constants = constants.map(|spec| (spec.id, spec.bits)).collect();
        push.bytes(shader, self.entry.as_deref(), &constants)
    }

    /// The buffer whose address the push constants are, and how far behind its start.
    pub(crate) fn push_address(&self) -> Option<(BindingName, u64)> {
        self.push.as_ref().and_then(PushArgument::address)
    }

    pub(crate) fn groups(&self) -> [u32; 3] {
        self.groups.0
    }

    /// `--firmware` as it was given.
    pub(crate) fn firmware_option(&self) -> Option<&str> {
        self.firmware.as_deref()
    }

    /// The firmware's path, if a file is named.
    pub(crate) fn firmware_path(&self) -> Option<&str> {
        board_firmware::path(self.firmware_option())
    }

    /// The firmware, if a file is named: without one it is the stub.
    pub(crate) fn firmware(&self) -> Result<Option<Vec<u8>>, Failure> {
        board_firmware::named(self.firmware_option())
    }

    /// Longest that the job may go on without progress.
    pub(crate) fn limit(&self) -> Duration {
        self.timeout
    }
}

/// A time limit: a thousandth of a second to an hour.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    match (0.001..=3600.0).contains(&number) {
        true => Ok(Duration::from_secs_f64(number)),
        false => Err("from 0.001 to 3600 seconds are possible".to_owned()),
    }
}

/// `--robust`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RobustArgument {
    On,
    Off,
}

impl From<RobustArgument> for Robust {
    fn from(argument: RobustArgument) -> Robust {
        match argument {
            RobustArgument::On => Robust::On,
            RobustArgument::Off => Robust::Off,
        }
    }
}

/// `X[,Y[,Z]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Groups([u32; 3]);

/// What is wrong with an argument.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
enum ArgumentError {
    #[error("`{text}` is not X, X,Y or X,Y,Z with numbers of workgroups of at least 1")]
    Groups { text: String },
    #[error("--texels {name} is given, but no --buffer {name}")]
    Format { name: BindingName },
}

impl std::str::FromStr for Groups {
    type Err = ArgumentError;

    fn from_str(text: &str) -> Result<Groups, ArgumentError> {
        let error = || ArgumentError::Groups {
            text: text.to_owned(),
        };
        let mut groups = [1; 3];
        let mut parts = text.split(',');
        for (place, part) in groups.iter_mut().zip(parts.by_ref()) {
            *place = part.trim().parse().map_err(|_| error())?;
        }
        match parts.next().is_none() && !groups.contains(&0) {
            true => Ok(Groups(groups)),
            false => Err(error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_one_to_three_numbers() {
        assert_eq!("4".parse(), Ok(Groups([4, 1, 1])));
        assert_eq!("4,5,6".parse(), Ok(Groups([4, 5, 6])));
        for bad in ["", "0", "4,", "1,2,3,4", "x"] {
            let error = bad.parse::<Groups>().unwrap_err();
            assert!(
                error.to_string().contains("workgroups of at least 1"),
                "{bad}: {error}"
            );
        }
    }
}
