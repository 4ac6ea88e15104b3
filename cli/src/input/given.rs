//! What a user gives a shader: buffers, texels of buffers, images, samplers, each with its place.

use crate::input::buffer_source::BindingName;
use eitri_job::{Content, Part};
use eitri_program::{Binding, BindingKind};
use eitri_runtime::SamplerInfo;

/// A resource for one element of a binding.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) name: BindingName,
    pub(crate) content: Content,
    /// What its memory holds before the dispatch; of an image without gaps.
    pub(crate) bytes: Vec<u8>,
    /// What the shader sees of which memory.
    pub(crate) part: Part,
}

impl Given {
    /// A plain buffer.
    pub(crate) fn buffer(name: BindingName, bytes: Vec<u8>) -> Given {
        Given::new(name, Content::Buffer, bytes)
    }

    /// A resource with memory of its own, all of which the shader sees.
    pub(crate) fn new(name: BindingName, content: Content, bytes: Vec<u8>) -> Given {
        Given {
            name,
            content,
            bytes,
            part: Part::Whole,
        }
    }

    /// A sampler, which has no memory.
    pub(crate) fn sampler(name: BindingName, info: SamplerInfo) -> Given {
        Given::new(name, Content::Sampler(info), Vec::new())
    }

    /// How many bytes the shader sees.
    pub(crate) fn seen_bytes(&self) -> usize {
        match self.part {
            Part::Whole => self.bytes.len(),
            Part::Of { bytes, .. } => bytes as usize,
        }
    }
}

/// Bytes of a buffer that is proposed to somebody who gave none.
const LEAST_BYTES: u32 = 4096;

/// What a binding wants of those who run the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    Buffer,
    Texels,
    Image,
    Sampler,
}

impl Want {
    /// All that an element of a binding wants.
    pub(crate) fn of(kind: BindingKind) -> &'static [Want] {
        match kind {
            BindingKind::StorageBuffer | BindingKind::UniformBuffer => &[Want::Buffer],
            BindingKind::UniformTexelBuffer | BindingKind::StorageTexelBuffer => &[Want::Texels],
            BindingKind::StorageImage(_) | BindingKind::SampledImage(_) => &[Want::Image],
            BindingKind::Sampler => &[Want::Sampler],
            BindingKind::CombinedImageSampler(_) => &[Want::Image, Want::Sampler],
        }
    }

    /// Whether a resource is of this sort.
    pub(crate) fn is(self, content: &Content) -> bool {
        match content {
            Content::Buffer => self == Want::Buffer,
            Content::Texels(_) => self == Want::Texels,
            Content::Image(_) => self == Want::Image,
            Content::Sampler(_) => self == Want::Sampler,
        }
    }

    /// In a sentence.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Want::Buffer => "buffer",
            Want::Texels => "buffer of texels",
            Want::Image => "image",
            Want::Sampler => "sampler",
        }
    }

    /// An option that gives one, of at least so many bytes: it can be typed as it is.
    pub(crate) fn option(self, name: BindingName, bytes: u32) -> String {
        let bytes = bytes.max(LEAST_BYTES);
        match self {
            Want::Buffer => format!("--buffer {name}=zero:{bytes}"),
            Want::Texels => format!("--buffer {name}=zero:{bytes} --texels {name}=R32_UINT"),
            Want::Image => format!("--image {name}=zero:64x64"),
            Want::Sampler => format!("--sampler {name}=nearest"),
        }
    }
}

/// What a binding is, in a sentence.
pub(crate) fn kind_of(binding: &Binding) -> &'static str {
    match binding.kind {
        BindingKind::StorageBuffer => "a storage buffer",
        BindingKind::UniformBuffer => "a uniform buffer",
        BindingKind::UniformTexelBuffer => "a uniform texel buffer",
        BindingKind::StorageTexelBuffer => "a storage texel buffer",
        BindingKind::StorageImage(_) => "a storage image",
        BindingKind::SampledImage(_) => "a sampled image",
        BindingKind::Sampler => "a sampler",
        BindingKind::CombinedImageSampler(_) => "an image with its sampler",
    }
}
