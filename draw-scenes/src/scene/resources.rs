//! What a scene's steps work on: shaders, buffers, images, views, samplers, descriptor sets, queries.
//!
//! Facts: shared/scenes/README.md ("The scene", "Images", "Sets").

use eitri_compute_cases::Contents;
use eitri_drawing::state::{
    AddressMode, Aspect, Border, Color, CompareOp, DescriptorKind, Filter, ImageType, QueryKind,
    Swizzle, Usage, ViewType, one,
};
use serde::Deserialize;

/// A stage of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Stage {
    Vertex,
    Fragment,
    Compute,
}

/// A shader, in three forms that give the same results.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shader {
    /// Its name in the scene.
    pub name: String,
    /// The stage that it is for.
    pub stage: Stage,
    /// File of the GLSL, in the scene's folder.
    pub source: String,
    /// File of the SPIR-V as the front end wrote it.
    pub spirv: String,
    /// File of the SPIR-V after an optimiser.
    pub spirv_opt: String,
    /// Name of the entry point.
    pub entry: String,
}

/// A buffer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Its name in the scene.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What it holds at first; nothing known without.
    pub init: Option<Contents>,
}

/// An image.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Its name in the scene.
    pub name: String,
    /// Its dimensions.
    #[serde(rename = "type")]
    pub kind: ImageType,
    /// Vulkan's name of its format, in lower case, without `VK_FORMAT_`.
    pub format: String,
    /// Width, height and depth of level 0.
    pub extent: [u32; 3],
    /// Levels.
    pub levels: u32,
    /// Layers.
    pub layers: u32,
    /// Samples of a texel.
    pub samples: u32,
    /// What it is used for besides copies.
    pub usage: Vec<Usage>,
    /// Whether an image of several samples is copied.
    #[serde(default)]
    pub transfer: bool,
    /// Whether it has cube views.
    #[serde(default)]
    pub cube: bool,
    /// Whether a 3D image has 2D views of its slices.
    #[serde(default)]
    pub slices: bool,
    /// Whether it has views of other formats.
    #[serde(default)]
    pub mutable: bool,
    /// What parts of it hold at first; the others, nothing known.
    #[serde(default)]
    pub init: Vec<ImageInit>,
}

/// First contents of layers of one level.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageInit {
    /// The part of the texels.
    #[serde(default)]
    pub aspect: Aspect,
    /// The level.
    #[serde(default)]
    pub level: u32,
    /// The first layer.
    #[serde(default)]
    pub layer: u32,
    /// Layers.
    #[serde(default = "one")]
    pub layers: u32,
    /// Texels, tightly packed.
    pub data: Contents,
}

/// A view of an image.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// Its name in the scene.
    pub name: String,
    /// Name of the image.
    pub image: String,
    /// What it makes of the image: by default what the image is.
    #[serde(rename = "type")]
    pub kind: Option<ViewType>,
    /// The format, if it is not the image's.
    pub format: Option<String>,
    /// The part of the texels, if it is not all.
    pub aspect: Option<Aspect>,
    /// The first level.
    #[serde(default)]
    pub level: u32,
    /// Levels.
    #[serde(default = "one")]
    pub levels: u32,
    /// The first layer; of 2D views of a 3D image, the first slice.
    #[serde(default)]
    pub layer: u32,
    /// Layers, or slices.
    #[serde(default = "one")]
    pub layers: u32,
    /// Where each component comes from: `r g b a`, `0`, `1`, or `=` for itself.
    #[serde(default)]
    pub swizzle: Swizzle,
}

/// A sampler.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampler {
    /// Its name in the scene.
    pub name: String,
    /// The filter where the image is made larger.
    #[serde(default)]
    pub mag: Filter,
    /// The filter where the image is made smaller.
    #[serde(default)]
    pub min: Filter,
    /// The filter between levels.
    #[serde(default)]
    pub mip: Filter,
    /// What coordinates outside read, along x.
    #[serde(default)]
    pub u: AddressMode,
    /// Along y.
    #[serde(default)]
    pub v: AddressMode,
    /// Along z.
    #[serde(default)]
    pub w: AddressMode,
    /// The border's colour.
    #[serde(default)]
    pub border: Border,
    /// The border's colour in place of `border`.
    pub custom_border: Option<Color>,
    /// The format of images that a custom border is for.
    pub custom_format: Option<String>,
    /// Added to the level.
    #[serde(default)]
    pub lod_bias: f32,
    /// The least level.
    #[serde(default)]
    pub min_lod: f32,
    /// The greatest level.
    #[serde(default = "greatest_level")]
    pub max_lod: f32,
    /// The comparison with a reference, if it compares.
    pub compare: Option<CompareOp>,
    /// Whether coordinates count texels.
    #[serde(default)]
    pub unnormalised: bool,
    /// The most samples along the longer axis of a pixel's footprint, 1 to 16; 1 is no anisotropic filter.
    #[serde(default = "one")]
    pub max_anisotropy: u32,
}

/// A view of a buffer as texels.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TexelView {
    /// Its name in the scene.
    pub name: String,
    /// Name of the buffer.
    pub buffer: String,
    /// Vulkan's name of the format, as [`Image::format`].
    pub format: String,
    /// The first byte.
    #[serde(default)]
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A descriptor set. Its number is its place among those that a draw names.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Its name in the scene.
    pub name: String,
    /// Its descriptors.
    pub bindings: Vec<Binding>,
}

/// A descriptor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Its number in the set.
    pub binding: u32,
    /// Its element, of an array of descriptors.
    #[serde(default)]
    pub element: u32,
    /// What it is.
    pub kind: DescriptorKind,
    /// Name of the buffer.
    pub buffer: Option<String>,
    /// The first byte of the buffer.
    #[serde(default)]
    pub offset: u64,
    /// Bytes of the buffer; the rest without.
    pub bytes: Option<u64>,
    /// Name of the view.
    pub view: Option<String>,
    /// Name of the sampler.
    pub sampler: Option<String>,
    /// Name of the view of texels.
    pub texels: Option<String>,
}

/// What a query counts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// Its name in the scene.
    pub name: String,
    /// What it counts.
    pub kind: QueryKind,
    /// Whether an occlusion query counts samples exactly, not just whether there is one.
    #[serde(default)]
    pub precise: bool,
    /// The counters of statistics, in the order of the results.
    #[serde(default)]
    pub counters: Vec<String>,
}

const fn greatest_level() -> f32 {
    1000.0
}
