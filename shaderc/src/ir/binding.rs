//! Bindings: the descriptors that a shader uses.

use super::ImageType;

/// Kinds of descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BindingKind {
    /// Storage buffer: read and written.
    Storage,
    /// Uniform buffer: read.
    Uniform,
    /// Texels of a buffer: read.
    UniformTexels,
    /// Texels of a buffer: read and written.
    StorageTexels,
    /// Image that is read and written by texel.
    StorageImage,
    /// Image that is fetched from, or sampled with a sampler of another binding.
    SampledImage,
    /// Sampler.
    Sampler,
    /// Image with its sampler: an element is both.
    CombinedImageSampler,
}

impl BindingKind {
    /// All, with their names in the text form.
    #[rustfmt::skip]
    pub const ALL: &'static [(BindingKind, &'static str)] = &[
        (BindingKind::Storage,              "storage"),
        (BindingKind::Uniform,              "uniform"),
        (BindingKind::UniformTexels,        "uniform_texels"),
        (BindingKind::StorageTexels,        "storage_texels"),
        (BindingKind::StorageImage,         "storage_image"),
        (BindingKind::SampledImage,         "sampled_image"),
        (BindingKind::Sampler,              "sampler"),
        (BindingKind::CombinedImageSampler, "combined_image_sampler"),
    ];

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        let row = BindingKind::ALL.iter().find(|(kind, _)| *kind == self);
        row.map_or("?", |(_, name)| name)
    }
}

super::id! {
    /// An entry of a function's list of bindings.
    BindingId, "r"
}

/// A descriptor, or an array of them, that the shader uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Number in the set.
    pub binding: u32,
    /// Length of the array of descriptors; 1 if it is none.
    pub count: u32,
    /// What the descriptors are.
    pub kind: BindingKind,
    /// Whether the shader stores to it.
    pub written: bool,
    /// Whether its memory is reached through it alone, as far as anybody writes there.
    pub restrict: bool,
    /// Whether lanes that run together may name different elements of it.
    pub non_uniform: bool,
    /// What the images are that it holds.
    pub image: Option<ImageType>,
    /// Fewest bytes of the buffer: the block without its runtime array.
    pub min_bytes: u32,
    /// The name in the source, or empty.
    pub name: String,
}
