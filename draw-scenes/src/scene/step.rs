//! Steps: passes, dispatches, copies, clears, queries, in order.
//!
//! Everything that a step does is complete, and visible to everything, before the next one begins.
//! Facts: shared/scenes/README.md ("Steps").

use super::pass::{Pass, Subpasses};
use super::tagged::Tagged;
use eitri_compute_cases::hex;
use eitri_drawing::state::{
    Aspect, BlitRegion, BufferImageRegion, Color, Filter, ImageRegion, one,
};
use serde::{Deserialize, Deserializer};

/// A step.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are those of Vulkan's commands")]
pub enum Step {
    Pass(Pass),
    Subpasses(Subpasses),
    Dispatch(Dispatch),
    CopyBuffer(CopyBuffer),
    FillBuffer(FillBuffer),
    UpdateBuffer(UpdateBuffer),
    CopyBufferToImage(CopyBufferImage),
    CopyImageToBuffer(CopyBufferImage),
    CopyImage(CopyImage),
    Resolve(CopyImage),
    Blit(Blit),
    ClearColor(ClearColor),
    ClearDepthStencil(ClearDepthStencil),
    BeginQuery(QueryStep),
    EndQuery(QueryStep),
    CopyQuery(CopyQuery),
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Step, D::Error> {
        let tagged = Tagged::read(from)?;
        Ok(match tagged.kind.as_str() {
            "pass" => Step::Pass(tagged.members()?),
            "subpasses" => Step::Subpasses(tagged.members()?),
            "dispatch" => Step::Dispatch(tagged.members()?),
            "copy_buffer" => Step::CopyBuffer(tagged.members()?),
            "fill_buffer" => Step::FillBuffer(tagged.members()?),
            "update_buffer" => Step::UpdateBuffer(tagged.members()?),
            "copy_buffer_to_image" => Step::CopyBufferToImage(tagged.members()?),
            "copy_image_to_buffer" => Step::CopyImageToBuffer(tagged.members()?),
            "copy_image" => Step::CopyImage(tagged.members()?),
            "resolve" => Step::Resolve(tagged.members()?),
            "blit" => Step::Blit(tagged.members()?),
            "clear_color" => Step::ClearColor(tagged.members()?),
            "clear_depth_stencil" => Step::ClearDepthStencil(tagged.members()?),
            "begin_query" => Step::BeginQuery(tagged.members()?),
            "end_query" => Step::EndQuery(tagged.members()?),
            "copy_query" => Step::CopyQuery(tagged.members()?),
            _ => return tagged.unknown(),
        })
    }
}

impl Step {
    /// The step's name in a scene.
    pub const fn name(&self) -> &'static str {
        match self {
            Step::Pass(_) => "pass",
            Step::Subpasses(_) => "subpasses",
            Step::Dispatch(_) => "dispatch",
            Step::CopyBuffer(_) => "copy_buffer",
            Step::FillBuffer(_) => "fill_buffer",
            Step::UpdateBuffer(_) => "update_buffer",
            Step::CopyBufferToImage(_) => "copy_buffer_to_image",
            Step::CopyImageToBuffer(_) => "copy_image_to_buffer",
            Step::CopyImage(_) => "copy_image",
            Step::Resolve(_) => "resolve",
            Step::Blit(_) => "blit",
            Step::ClearColor(_) => "clear_color",
            Step::ClearDepthStencil(_) => "clear_depth_stencil",
            Step::BeginQuery(_) => "begin_query",
            Step::EndQuery(_) => "end_query",
            Step::CopyQuery(_) => "copy_query",
        }
    }
}

/// The beginning or the end of a query.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryStep {
    /// Name of the query.
    pub query: String,
}

/// A dispatch of a compute pipeline.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// Name of the pipeline.
    pub pipeline: String,
    /// Names of the sets; by default the pipeline's.
    pub sets: Option<Vec<String>>,
    /// Push constants from offset 0.
    #[serde(default, deserialize_with = "hex")]
    pub push: Vec<u8>,
    /// Workgroups.
    pub groups: [u32; 3],
}

/// Bytes from one buffer to another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub struct CopyBuffer {
    pub src: String,
    #[serde(default)]
    pub src_offset: u64,
    pub dst: String,
    #[serde(default)]
    pub dst_offset: u64,
    pub bytes: u64,
}

/// A buffer filled with a word.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub struct FillBuffer {
    pub buffer: String,
    #[serde(default)]
    pub offset: u64,
    pub bytes: u64,
    pub value: u32,
}

/// A buffer that takes these bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub struct UpdateBuffer {
    pub buffer: String,
    #[serde(default)]
    pub offset: u64,
    #[serde(deserialize_with = "hex")]
    pub hex: Vec<u8>,
}

/// Texels between a buffer and an image.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyBufferImage {
    /// Name of the buffer.
    pub buffer: String,
    /// Name of the image.
    pub image: String,
    /// What is copied.
    pub regions: Vec<BufferImageRegion>,
}

/// Texels between images: copied, or resolved.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyImage {
    /// Name of the source.
    pub src: String,
    /// Name of the destination.
    pub dst: String,
    /// What is copied.
    pub regions: Vec<ImageRegion>,
}

/// Texels between images, scaled.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blit {
    /// Name of the source.
    pub src: String,
    /// Name of the destination.
    pub dst: String,
    /// How texels are chosen.
    #[serde(default)]
    pub filter: Filter,
    /// What is copied.
    pub regions: Vec<BlitRegion>,
}

/// Levels and layers of a colour image that are cleared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearColor {
    /// Name of the image.
    pub image: String,
    /// The colour.
    pub clear: Color,
    /// The first level.
    #[serde(default)]
    pub level: u32,
    /// Levels.
    #[serde(default = "one")]
    pub levels: u32,
    /// The first layer.
    #[serde(default)]
    pub layer: u32,
    /// Layers.
    #[serde(default = "one")]
    pub layers: u32,
}

/// Levels and layers of an image with depth or stencil that are cleared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearDepthStencil {
    /// Name of the image.
    pub image: String,
    /// The depth.
    pub depth: Option<f32>,
    /// The stencil value.
    pub stencil: Option<u32>,
    /// The part of the texels, if it is not all of which there is a value.
    pub aspect: Option<Aspect>,
    /// The first level.
    #[serde(default)]
    pub level: u32,
    /// Levels.
    #[serde(default = "one")]
    pub levels: u32,
    /// The first layer.
    #[serde(default)]
    pub layer: u32,
    /// Layers.
    #[serde(default = "one")]
    pub layers: u32,
}

/// A query's result, as 32 bits in a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyQuery {
    /// Name of the query.
    pub query: String,
    /// Name of the buffer.
    pub buffer: String,
    /// The first byte.
    #[serde(default)]
    pub offset: u64,
}
