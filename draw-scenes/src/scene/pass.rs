//! Passes: attachments, draws, and what else happens within.
//!
//! Facts: shared/scenes/README.md ("Steps", "In `draws`").

use super::step::QueryStep;
use super::tagged::Tagged;
use eitri_compute_cases::hex;
use eitri_drawing::state::{
    Aspect, Color, IndexType, LoadOp, Rect, ResolveMode, StoreOp, Viewport, one,
};
use serde::{Deserialize, Deserializer};

/// An attachment of a pass.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// Name of the view.
    pub view: String,
    /// What it holds at the beginning.
    #[serde(default)]
    pub load: LoadOp,
    /// What becomes of it.
    #[serde(default)]
    pub store: StoreOp,
    /// The colour that it is cleared to.
    pub clear: Option<Color>,
    /// The depth that it is cleared to.
    pub clear_depth: Option<f32>,
    /// The stencil value that it is cleared to.
    pub clear_stencil: Option<u32>,
    /// Name of the view that takes its samples as one.
    pub resolve: Option<String>,
    /// How samples become one.
    #[serde(default)]
    pub resolve_mode: ResolveMode,
}

/// A render pass.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// Colour attachments; `None` where a location has none.
    #[serde(default)]
    pub color: Vec<Option<Attachment>>,
    /// The depth attachment.
    pub depth: Option<Attachment>,
    /// The stencil attachment.
    pub stencil: Option<Attachment>,
    /// The part that is drawn; all without.
    pub area: Option<Rect>,
    /// Layers.
    #[serde(default = "one")]
    pub layers: u32,
    /// Views, a bit each; 0 for a pass of layers.
    #[serde(default)]
    pub view_mask: u32,
    /// It goes on with the pass of the step before, which is suspending and has the same attachments, area, layers and views.
    #[serde(default)]
    pub resuming: bool,
    /// The next step resumes it.
    #[serde(default)]
    pub suspending: bool,
    /// What is drawn.
    #[serde(default)]
    pub draws: Vec<PassStep>,
}

impl Pass {
    /// Whether another pass has the same attachments and area, so that it can resume this one.
    pub(super) fn has_same_targets(&self, other: &Pass) -> bool {
        self.color == other.color
            && self.depth == other.depth
            && self.stencil == other.stencil
            && self.area == other.area
            && (self.layers, self.view_mask) == (other.layers, other.view_mask)
    }
}

/// A render pass of several parts, of which later ones see at the same pixel what the earlier ones wrote.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subpasses {
    /// All attachments.
    pub attachments: Vec<Attachment>,
    /// The parts.
    pub subpasses: Vec<Subpass>,
    /// The part of the image that is drawn; all without.
    pub area: Option<Rect>,
}

/// A part of a render pass; attachments by their place in [`Subpasses::attachments`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subpass {
    /// Colour attachments.
    #[serde(default)]
    pub colors: Vec<usize>,
    /// Input attachments: the n-th is the one with `input_attachment_index` n.
    #[serde(default)]
    pub inputs: Vec<usize>,
    /// Where the samples of colour attachments become one.
    #[serde(default)]
    pub resolves: Vec<usize>,
    /// The depth attachment.
    pub depth: Option<usize>,
    /// What is drawn.
    #[serde(default)]
    pub draws: Vec<PassStep>,
}

/// A step within a pass.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are those of Vulkan's commands")]
pub enum PassStep {
    Draw(Box<Draw>),
    ClearAttachments(ClearAttachments),
    BeginQuery(QueryStep),
    EndQuery(QueryStep),
}

impl<'de> Deserialize<'de> for PassStep {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PassStep, D::Error> {
        let tagged = Tagged::read(from)?;
        Ok(match tagged.kind.as_str() {
            "draw" => PassStep::Draw(tagged.members()?),
            "clear_attachments" => PassStep::ClearAttachments(tagged.members()?),
            "begin_query" => PassStep::BeginQuery(tagged.members()?),
            "end_query" => PassStep::EndQuery(tagged.members()?),
            _ => return tagged.unknown(),
        })
    }
}

/// A buffer of indices.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Indices {
    /// Name of the buffer.
    pub buffer: String,
    /// Their type.
    #[serde(rename = "type")]
    pub kind: IndexType,
    /// The first byte.
    #[serde(default)]
    pub offset: u64,
}

/// A buffer of vertices.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VertexBuffer {
    /// The number of the pipeline's binding.
    pub binding: u32,
    /// Name of the buffer.
    pub buffer: String,
    /// The first byte.
    #[serde(default)]
    pub offset: u64,
}

/// Parameters of draws in a buffer, as Vulkan's structures have them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Indirect {
    /// Name of the buffer.
    pub buffer: String,
    /// The first byte.
    #[serde(default)]
    pub offset: u64,
    /// Draws; with a count, the most.
    pub draws: u32,
    /// Bytes from one to the next.
    pub stride: u32,
    /// Name of the buffer that says how many draws there are.
    pub count_buffer: Option<String>,
    /// The first byte of that number.
    #[serde(default)]
    pub count_offset: u64,
}

/// A draw. Plain, indexed (`index`), or with its parameters in a buffer (`indirect`).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Name of the pipeline.
    pub pipeline: String,
    /// Names of the sets; by default the pipeline's.
    pub sets: Option<Vec<String>>,
    /// Push constants from offset 0.
    #[serde(default, deserialize_with = "hex")]
    pub push: Vec<u8>,
    /// Viewports; by default the attachments' size, depth from 0 to 1.
    pub viewports: Option<Vec<Viewport>>,
    /// Scissors; by default the attachments' size.
    pub scissors: Option<Vec<Rect>>,
    /// Where vertices come from.
    #[serde(default)]
    pub vertex_buffers: Vec<VertexBuffer>,
    /// Where indices come from.
    pub index: Option<Indices>,
    /// Vertices of a plain draw.
    pub vertices: Option<u32>,
    /// The first vertex of a plain draw.
    #[serde(default)]
    pub first_vertex: u32,
    /// Instances.
    #[serde(default = "one")]
    pub instances: u32,
    /// The first instance.
    #[serde(default)]
    pub first_instance: u32,
    /// Indices of an indexed draw.
    pub indices: Option<u32>,
    /// The first index.
    #[serde(default)]
    pub first_index: u32,
    /// Added to each index.
    #[serde(default)]
    pub vertex_offset: i32,
    /// Parameters in a buffer.
    pub indirect: Option<Indirect>,
    /// How often it is drawn.
    #[serde(default = "one")]
    pub repeat: u32,
    /// The offset in the push constants of the word that is the draw's number, from 0.
    pub repeat_push_offset: Option<u32>,
}

/// Attachments of the pass that are cleared in rectangles.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearAttachments {
    /// Which, and to what.
    pub attachments: Vec<ClearAttachment>,
    /// Where.
    pub rects: Vec<ClearRect>,
}

/// An attachment that is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearAttachment {
    /// The part of its texels.
    #[serde(default)]
    pub aspect: Aspect,
    /// Which of the colour attachments.
    #[serde(default)]
    pub index: usize,
    /// The colour.
    pub clear: Option<Color>,
    /// The depth.
    pub depth: Option<f32>,
    /// The stencil value.
    pub stencil: Option<u32>,
}

/// A rectangle of some layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearRect {
    /// The rectangle.
    pub rect: Rect,
    /// The first layer.
    #[serde(default)]
    pub layer: u32,
    /// Layers.
    #[serde(default = "one")]
    pub layers: u32,
}
