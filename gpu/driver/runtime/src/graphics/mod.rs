//! Graphics: render passes and draws, by Vulkan's names.
//!
//! A pass is recorded for two streams: what vertices do, up to lists of primitives in the tiler's heap, and what fragments do, from
//! there into the attachments. Nothing here is in an image that only computes: other folders reach it through pointers that
//! [`Recorder::begin_rendering`](crate::Recorder::begin_rendering) and
//! [`Device::bind_tiler_heap`](crate::Device::bind_tiler_heap) set. Without the feature `draw` nothing here is compiled:
//! `without_graphics.rs` stands in this place. Whatever other modules name of this one is named there, too.
//! Facts: hardware/graphics.md, graphics-draw.md, graphics-framebuffer.md, graphics-raster.md.

// What a pass renders to.
mod border;
mod clear;
mod compressed_copies;
mod framebuffer;
mod framebuffer_begin;
mod framebuffer_words;
mod image_commands;
mod packing;
mod rendering;
mod resolve;
mod samples;
mod surface;
mod texels;
mod tile;

// What a pipeline is.
mod blend;
mod draw_words;
mod pipeline;
mod pipeline_places;
mod pipeline_state;
mod prepared_words;
mod state;
mod vertex_input;

// What is recorded.
mod batch;
mod buffer_words;
mod changed;
mod clear_attachments;
mod clear_code;
mod conditional;
mod draw;
mod draw_descriptors;
mod draw_state;
mod draw_uniforms;
mod dynamic;
mod first_draw;
mod first_instance;
mod in_turn;
mod incremental;
mod indirect;
mod lane;
mod lane_begin;
mod lane_order;
mod load;
mod load_code;
mod load_draw;
mod output_code;
mod part_shapes;
mod pass;
mod pass_bound;
mod pass_parts;
mod pass_template;
mod put_draw;
mod queries;
mod registers;
mod repeat;
mod resource_tables;
mod scratch;
mod secondary;
mod suspended;
mod tiling;
mod uniform_plan;
mod uniforms;

mod encoded;
mod error;
mod error_rows;

// What failed of it.
mod failed;
mod failed_pass;

// What a device and its queues have for it.
mod drawing;
mod tiler_heap;
mod tiler_page;

pub use crate::handle::{GraphicsPipeline, TilerHeap};
pub use blend::{BlendComponent, BlendFactor, BlendOp, ColorBlend};
pub use clear_attachments::{ClearAttachment, ClearRect};
pub use draw::{Draw, IndexType};
pub(crate) use draw_state::DrawStatePlace;
pub(crate) use drawing::Drawing;
pub use eitri_descriptors::raster::StencilOp;
pub use error::{Attachment, GraphicsError, Inherited, Unsupported};
pub(crate) use failed::{FailedAccess, News};
pub use failed_pass::{DrawsKnownBy, FailedCode, FailedDraws, FailedPass, PassPart, PixelRange};
pub use image_commands::{BlitFilter, BlitRegion};
pub use indirect::IndirectDraws;
pub(crate) use lane::Passes;
pub use pass::RenderPass;
pub(crate) use pass_parts::{JobPart, PassParts};
pub use pipeline::GraphicsSet;
pub(crate) use pipeline::{GraphicsPipelined, PipelineColors};
pub use queries::Occlusion;
pub use rendering::{
    ClearColor, ColorAttachment, DepthAttachment, ImageView, LoadOp, Rect, RenderingInfo, Resolve,
    ResolveMode, StencilAttachment, StoreOp, Viewport,
};
pub use secondary::InheritedRendering;
pub(crate) use secondary::{InheritedPass, only_draws};
pub use state::{
    DepthBias, DepthState, FrontFace, GraphicsPipelineInfo, InputRate, StencilFace, StencilState,
    Topology, VertexAttribute, VertexBinding,
};
pub(crate) use tiler_heap::{Heap, TilerBinding, fmt_refused_heap};
pub use tiler_heap::{TilerHeapConfig, TilerHeapInfo};
pub(crate) use tiler_page::BASE;
