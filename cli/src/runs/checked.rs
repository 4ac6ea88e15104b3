//! A dispatch under the checkers: what a user gives, as the interpreter of the IR takes it.
//!
//! Guarantees: the job itself is not touched; what can't be checked is said, and is no failure.

use crate::input::given::Given;
use eitri_checks::{Checked, PushAddress, Request, Unwritten, check};
use eitri_descriptors::texture::WrapMode;
use eitri_job::{Content, Part};
use eitri_program::ImageDimension;
use eitri_runtime::{ImageInfo, SamplerInfo};
use eitri_shaderc::Options;
use eitri_shaderc::interp::{Buffer, Dispatch, Image, Key, Resources, Sampler, TexelFormat, Wrap};
use eitri_shaderc::ir::Function;

/// The most instructions of a dispatch that is checked, of all invocations together, where somebody waits for the findings.
pub(crate) const STEP_LIMIT: u64 = 4_000_000_000;

/// What is checked.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'s> {
    pub(crate) spirv: &'s [u8],
    pub(crate) options: &'s Options,
    pub(crate) groups: [u32; 3],
    pub(crate) push_constants: &'s [u8],
    pub(crate) resources: &'s [Given],
    pub(crate) unwritten: &'s [Unwritten],
    pub(crate) addresses: &'s [PushAddress],
    /// Instructions of all invocations after which the rest of the dispatch is not checked.
    pub(crate) step_limit: u64,
}

/// Runs a dispatch under the checkers.
///
/// # Errors
/// Why it can't be checked.
pub(crate) fn run(subject: &Subject<'_>) -> Result<Checked, String> {
    let mut resources = resources(subject.resources)?;
    let dispatch = Dispatch {
        groups: subject.groups,
        push_constants: subject.push_constants.to_vec(),
        step_limit: subject.step_limit,
    };
    let request = Request {
        spirv: subject.spirv,
        options: subject.options,
        dispatch: &dispatch,
        unwritten: subject.unwritten,
        addresses: subject.addresses,
    };
    check(&request, &mut resources).map_err(|error| error.to_string())
}

/// What a user gives, as the interpreter takes it.
///
/// # Errors
/// What the interpreter does not have.
pub(crate) fn resources(given: &[Given]) -> Result<Resources, String> {
    let mut resources = Resources::default();
    for own in given {
        let key = (own.name.set, own.name.binding, own.name.element);
        if own.part != Part::Whole {
            return Err(format!("{} shares memory with another binding", own.name));
        }
        match &own.content {
            Content::Buffer => {
                let bytes = own.bytes.clone();
                resources.buffers.insert(key, Buffer { bytes });
            }
            Content::Texels(format) => {
                let format = texel_format(format.name)?;
                let texels = own.bytes.len() / format.bytes().max(1);
                let mut image = Image::new(format, [texels as u32, 1, 1]);
                let whole = image.bytes.len();
                image.bytes.copy_from_slice(&own.bytes[..whole]);
                resources.images.insert(key, image);
            }
            Content::Image(info) => {
                resources.images.insert(key, image(info, &own.bytes)?);
            }
            Content::Sampler(info) => {
                resources.samplers.insert(key, sampler(info));
            }
        }
    }
    Ok(resources)
}

fn texel_format(name: &str) -> Result<TexelFormat, String> {
    TexelFormat::of_name(name).ok_or_else(|| format!("format {name} is not known here"))
}

fn image(info: &ImageInfo, bytes: &[u8]) -> Result<Image, String> {
    let depth = match info.dimension {
        ImageDimension::ThreeD => info.depth,
        _ => 1,
    };
    let mut image = Image::new(
        texel_format(info.format.name)?,
        [info.width, info.height, depth],
    );
    image.layers = info.layers;
    image.levels = info.levels;
    image.samples = info.samples;
    image.bytes = vec![0; image.packed_bytes()];
    if image.bytes.len() != bytes.len() {
        return Err(format!(
            "an image of {} bytes is given {}",
            image.bytes.len(),
            bytes.len()
        ));
    }
    image.bytes.copy_from_slice(bytes);
    Ok(image)
}

/// A sampler without its comparison and its anisotropy: what is checked does not depend on them.
pub(crate) fn sampler(info: &SamplerInfo) -> Sampler {
    Sampler {
        magnify_linear: info.magnify_linear,
        minify_linear: info.minify_linear,
        mipmap_linear: info.mipmap_linear,
        wrap: info.wrap.map(|mode| match mode {
            WrapMode::Repeat => Wrap::Repeat,
            WrapMode::MirroredRepeat => Wrap::Mirror,
            _ => Wrap::Clamp,
        }),
        lod_bias: info.lod_bias,
        lod: [info.min_lod, info.max_lod],
        unnormalized: info.unnormalized,
        border: info.border,
        ..Sampler::default()
    }
}

/// The elements of bindings that a function declares.
pub(crate) struct Bindings<'f>(&'f Function);

impl<'f> Bindings<'f> {
    pub(crate) fn of(function: &'f Function) -> Bindings<'f> {
        Bindings(function)
    }

    /// Whether an element is one of them.
    pub(crate) fn uses(&self, (set, binding, element): Key) -> bool {
        let mut all = self.0.bindings.iter();
        all.any(|own| (own.set, own.binding) == (set, binding) && element < own.count)
    }

    /// Those that are written.
    pub(crate) fn written(&self) -> impl Iterator<Item = Key> + 'f {
        let written = self.0.bindings.iter().filter(|own| own.written);
        written.flat_map(|own| (0..own.count).map(move |element| (own.set, own.binding, element)))
    }
}
