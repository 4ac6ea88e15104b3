//! One drawing: what it needs, what it does, and which contents are wanted at its end.
//!
//! Things refer to one another by their places in the lists of the [`Drawing`]. Formats have Vulkan's names in lower case.

use crate::image_step::ImageStep;
use crate::state::{
    AddressMode, Aspect, Attribute, Blend, Border, Color, CompareOp, DepthTest, DescriptorKind,
    Filter, ImageType, IndexType, LoadOp, Multisample, Raster, Rect, ResolveMode, StencilTest,
    StoreOp, Swizzle, Topology, VertexBinding, ViewType, Viewport,
};
use crate::wanted::Wanted;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

macro_rules! places {
    ($($(#[$about:meta])* $name:ident),* $(,)?) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in its list.
            pub fn index(self) -> usize {
                usize::try_from(self.0).unwrap_or(usize::MAX)
            }
        }
    )* };
}

places! {
    /// A program's place in [`Drawing::programs`].
    ProgramId,
    /// A buffer's place in [`Drawing::buffers`].
    BufferId,
    /// An image's place in [`Drawing::images`].
    ImageId,
    /// A view's place in [`Drawing::views`].
    ViewId,
    /// A sampler's place in [`Drawing::samplers`].
    SamplerId,
    /// A set's place in [`Drawing::sets`].
    SetId,
    /// A pipeline's place in [`Drawing::pipelines`].
    PipelineId,
    /// A query's place in [`Drawing::queries`].
    QueryId,
}

/// Drawings with their inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawing<'a> {
    /// A name, for messages.
    pub name: &'a str,
    /// Longest that its commands may take, in milliseconds.
    pub limit_ms: u32,
    /// Whether a core dump is wanted if it fails.
    pub dump: bool,
    /// Compiled shaders, as `eitri-program` reads them.
    #[serde(borrow)]
    pub programs: Vec<&'a [u8]>,
    /// Buffers.
    pub buffers: Vec<Buffer<'a>>,
    /// Images.
    pub images: Vec<Image<'a>>,
    /// Views of images.
    pub views: Vec<View>,
    /// Samplers.
    pub samplers: Vec<Sampler>,
    /// Descriptor sets.
    pub sets: Vec<Set>,
    /// Pipelines.
    pub pipelines: Vec<Pipeline>,
    /// Queries, none of which has a result.
    pub queries: Vec<Occlusion>,
    /// What is done, in order. Everything that a step does is complete, and visible to everything, before the next one begins.
    pub steps: Vec<Step<'a>>,
    /// The contents that are wanted at the end.
    pub results: Vec<Readback>,
    /// What each of them should be, where no host compares them; else none.
    pub wanted: Vec<Wanted<'a>>,
    /// What changes from picture to picture where it is shown again and again; drawn once, it is as it begins.
    pub frames: Vec<Frame<'a>>,
}

/// What one of several pictures has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame<'a> {
    /// The buffer that is written before it is drawn.
    pub buffer: BufferId,
    /// What is written, from the first byte on.
    pub data: &'a [u8],
}

impl Drawing<'_> {
    /// Whether it has render passes, or steps that the driver does by passes.
    pub fn has_passes(&self) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Pass(_) | Step::BeginQuery(_) => true,
            Step::Image(step) => step.is_pass(),
            _ => false,
        })
    }
}

/// A buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer<'a> {
    /// Its size.
    pub bytes: u64,
    /// What it begins with; the rest is zero.
    pub data: &'a [u8],
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image<'a> {
    /// Its dimensions.
    pub kind: ImageType,
    /// Its format.
    pub format: String,
    /// Width, height and depth of level 0.
    pub extent: [u32; 3],
    /// Levels.
    pub levels: u32,
    /// Layers.
    pub layers: u32,
    /// Samples of a texel.
    pub samples: u32,
    /// Whether it has views of other formats.
    pub mutable: bool,
    /// Whether passes draw on it.
    pub attachment: bool,
    /// What parts of it hold at first; the others are zero.
    #[serde(borrow)]
    pub init: Vec<ImageData<'a>>,
}

/// First contents of layers of a level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageData<'a> {
    /// The part of the texels.
    pub aspect: Aspect,
    /// The level.
    pub level: u32,
    /// The first layer.
    pub layer: u32,
    /// Layers.
    pub layers: u32,
    /// Texels, tightly packed.
    pub data: &'a [u8],
}

/// A view of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The image.
    pub image: ImageId,
    /// What it makes of the image.
    pub kind: ViewType,
    /// Its format.
    pub format: String,
    /// The part of the texels, if it is not all.
    pub aspect: Option<Aspect>,
    /// The first level.
    pub level: u32,
    /// Levels.
    pub levels: u32,
    /// The first layer; of 2D views of a 3D image, the first slice.
    pub layer: u32,
    /// Layers, or slices.
    pub layers: u32,
    /// Where each component comes from.
    pub swizzle: Swizzle,
}

/// A sampler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampler {
    /// The filter where the image is made larger.
    pub mag: Filter,
    /// The filter where the image is made smaller.
    pub min: Filter,
    /// The filter between levels.
    pub mip: Filter,
    /// What coordinates outside read, along x, y and z.
    pub address: [AddressMode; 3],
    /// The border's colour.
    pub border: BorderColor,
    /// Added to the level.
    pub lod_bias: f32,
    /// The least level.
    pub min_lod: f32,
    /// The greatest level.
    pub max_lod: f32,
    /// The comparison with a reference, if it compares.
    pub compare: Option<CompareOp>,
    /// Whether coordinates count texels.
    pub unnormalised: bool,
    /// The most samples along the longer axis of a pixel's footprint, 1 to 16; 1 is no anisotropic filter.
    pub max_anisotropy: u32,
}

/// What a sampler reads outside of an image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BorderColor {
    /// A colour that has a name.
    Named(Border),
    /// Any colour.
    Custom(Color),
}

/// A descriptor set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    /// Its descriptors.
    pub bindings: Vec<Binding>,
}

/// A descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Its number in the set.
    pub binding: u32,
    /// Its element, of an array of descriptors.
    pub element: u32,
    /// What it is in the layout.
    pub kind: DescriptorKind,
    /// What is bound to it.
    pub bound: Bound,
}

/// What is bound to a descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bound {
    /// Bytes of a buffer.
    Buffer(Range),
    /// Bytes of a buffer as texels.
    Texels {
        /// The bytes.
        range: Range,
        /// The format.
        format: String,
    },
    /// A view.
    View(ViewId),
    /// A sampler.
    Sampler(SamplerId),
    /// A view and a sampler.
    Both(ViewId, SamplerId),
}

/// Bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The buffer.
    pub buffer: BufferId,
    /// The first byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What a query counts: samples that pass the tests of depth and stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Occlusion {
    /// Whether there are some.
    Any,
    /// How many there are.
    Precise,
}

/// A pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Pipeline {
    /// For dispatches.
    Compute(ProgramId),
    /// For draws.
    Graphics(Box<GraphicsPipeline>),
}

/// A pipeline for draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphicsPipeline {
    /// The vertex shader.
    pub vertex: ProgramId,
    /// The fragment shader.
    pub fragment: Option<ProgramId>,
    /// Formats of colour attachments; `None` where a location has none.
    pub colors: Vec<Option<String>>,
    /// Format of the depth attachment.
    pub depth_format: Option<String>,
    /// Format of the stencil attachment.
    pub stencil_format: Option<String>,
    /// Buffers of vertices.
    pub vertex_bindings: Vec<VertexBinding>,
    /// Inputs of the vertex shader.
    pub attributes: Vec<Attribute>,
    /// What vertices make.
    pub topology: Topology,
    /// Whether an index of all ones begins anew.
    pub restart: bool,
    /// How primitives become fragments.
    pub raster: Raster,
    /// Samples.
    pub multisample: Multisample,
    /// The depth test; without, nothing is tested or written.
    pub depth: Option<DepthTest>,
    /// The stencil test.
    pub stencil: Option<StencilTest>,
    /// How colours are mixed with those that are there.
    pub blend: Blend,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step<'a> {
    /// A render pass.
    #[serde(borrow)]
    Pass(Box<Pass<'a>>),
    /// A dispatch of a compute pipeline.
    Dispatch {
        /// What the shaders see.
        using: Using<'a>,
        /// Workgroups.
        groups: [u32; 3],
    },
    /// Bytes from one buffer to another.
    CopyBuffer {
        /// From where.
        from: Range,
        /// The buffer that they go to.
        to: BufferId,
        /// The first byte there.
        offset: u64,
    },
    /// A buffer filled with a word.
    FillBuffer {
        /// What is filled.
        range: Range,
        /// The word.
        value: u32,
    },
    /// Bytes written into a buffer.
    UpdateBuffer {
        /// The buffer.
        buffer: BufferId,
        /// The first byte.
        offset: u64,
        /// The bytes.
        data: &'a [u8],
    },
    /// A query begins to count.
    BeginQuery(QueryId),
    /// A query has counted.
    EndQuery(QueryId),
    /// The result of a query into a buffer, as a word.
    CopyQuery {
        /// The query.
        query: QueryId,
        /// The buffer.
        to: BufferId,
        /// The first byte there.
        offset: u64,
    },
    /// A copy, clear, blit or resolve of images.
    Image(ImageStep),
}

/// A pipeline, and what its shaders see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Using<'a> {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// Descriptor sets, from set 0 on.
    pub sets: Vec<SetId>,
    /// Push constants from byte 0.
    pub push: &'a [u8],
}

/// A render pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass<'a> {
    /// Colour attachments; `None` where a location has none.
    pub colors: Vec<Option<Attachment>>,
    /// The depth attachment.
    pub depth: Option<Attachment>,
    /// The stencil attachment.
    pub stencil: Option<Attachment>,
    /// The part of the attachments that is drawn on.
    pub area: Rect,
    /// Layers.
    pub layers: u32,
    /// Views, a bit each; 0 without multiview.
    pub view_mask: u32,
    /// Samples of a pixel where there are no attachments.
    pub samples: u32,
    /// Which part of a pass it is.
    pub part: PassPart,
    /// What is done within, in order.
    #[serde(borrow)]
    pub commands: Vec<PassCommand<'a>>,
}

/// Which part of a pass is recorded, if it is one of several: all have the same attachments, and nothing but a part resumes another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassPart {
    /// It goes on with the pass that the step before has suspended: nothing is loaded or cleared.
    pub resuming: bool,
    /// The next step goes on with it: everything is kept, and nothing resolved.
    pub suspending: bool,
}

/// An attachment of a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// The view.
    pub view: ViewId,
    /// What it holds at the beginning.
    pub load: LoadOp,
    /// What becomes of it.
    pub store: StoreOp,
    /// What it is cleared to.
    pub clear: ClearValue,
    /// The view that takes its samples as one, and how.
    pub resolve: Option<(ViewId, ResolveMode)>,
}

/// What an attachment is cleared to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClearValue {
    /// A colour.
    Color(Color),
    /// A depth.
    Depth(f32),
    /// A stencil value.
    Stencil(u32),
}

/// Something that is done in a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PassCommand<'a> {
    /// A draw.
    #[serde(borrow)]
    Draw(Box<Draw<'a>>),
    /// Rectangles of attachments are cleared.
    Clear(Vec<AttachmentClear>, Vec<ClearRect>),
    /// A query begins to count.
    BeginQuery(QueryId),
    /// A query has counted.
    EndQuery(QueryId),
}

/// An attachment that is cleared within a pass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttachmentClear {
    /// Which of the colour attachments, if it is one.
    pub index: u32,
    /// To what.
    pub value: ClearValue,
}

/// A rectangle of some layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClearRect {
    /// The rectangle.
    pub rect: Rect,
    /// The first layer.
    pub layer: u32,
    /// Layers.
    pub layers: u32,
}

/// A draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draw<'a> {
    /// The pipeline, and what its shaders see.
    #[serde(borrow)]
    pub using: Using<'a>,
    /// Viewports.
    pub viewports: Vec<Viewport>,
    /// Scissors.
    pub scissors: Vec<Rect>,
    /// Where vertices come from.
    pub vertex_buffers: Vec<VertexBuffer>,
    /// Instances.
    pub instances: u32,
    /// The first instance.
    pub first_instance: u32,
    /// What is drawn.
    pub vertices: Vertices,
    /// How often it is drawn.
    pub repeat: u32,
    /// The offset in the push constants of the word that is the draw's number, from 0.
    pub repeat_push_offset: Option<u32>,
}

/// A buffer of vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VertexBuffer {
    /// The number of the pipeline's binding.
    pub binding: u32,
    /// The buffer.
    pub buffer: BufferId,
    /// The first byte.
    pub offset: u64,
}

/// The vertices of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Vertices {
    /// One after the other.
    Plain {
        /// How many.
        count: u32,
        /// The first.
        first: u32,
    },
    /// In the order of indices.
    Indexed {
        /// The buffer of indices.
        buffer: BufferId,
        /// Their type.
        kind: IndexType,
        /// The first byte.
        offset: u64,
        /// How many.
        count: u32,
        /// The first.
        first: u32,
        /// Added to each index.
        vertex_offset: i32,
    },
    /// As buffers say, in Vulkan's structures. Instances are theirs, too.
    Indirect {
        /// Parameters of the draws.
        draws: Indirect,
        /// The buffer of indices, their type, and the first byte; of draws without indices nothing.
        indices: Option<(BufferId, IndexType, u64)>,
    },
}

/// Parameters of draws in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Indirect {
    /// The buffer.
    pub buffer: BufferId,
    /// The first byte.
    pub offset: u64,
    /// Draws; with a count, the most.
    pub draws: u32,
    /// Bytes from one to the next.
    pub stride: u32,
    /// The buffer and the first byte of the number of draws.
    pub count: Option<(BufferId, u64)>,
}

/// Contents that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Readback {
    /// Layers of a level of an image, tightly packed.
    Image {
        /// The image.
        image: ImageId,
        /// The part of the texels.
        aspect: Aspect,
        /// The level.
        level: u32,
        /// The first layer.
        layer: u32,
        /// Layers.
        layers: u32,
    },
    /// Bytes of a buffer.
    Buffer(Range),
    /// The result of a query, as a 64-bit word.
    Query(QueryId),
}
