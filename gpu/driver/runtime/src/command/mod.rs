//! Commands: pipelines, and the buffers that commands are recorded into.
//!
//! Recording takes memory when a command buffer grows, which it does once; submission takes none.  Facts: hardware/command-stream.md sections 4.1, 6.9, 6.10 and
//! 7.1, compiler-abi.md sections 1 to 4.

// What is made once.
mod pipeline;

// How words get into memory.
mod emitter;
mod registers;
mod uniforms;
mod words;
mod writer;

// What is recorded.
mod accesses;
mod bound;
mod buffer;
mod copy;
mod dispatch;
mod dispatch_state;
mod error;
mod event;
mod execute;
mod filled_uniforms;
mod kept_uniforms;
mod order;
mod own_code;
mod query;
mod query_copy;
mod recorder;
mod repeat;
mod room;
mod storage;
mod task;
#[cfg(test)]
mod tests;
mod transfer;

pub use accesses::{Accesses, ShaderStage};
pub(crate) use buffer::Commands;
pub use copy::{BufferImageCopy, ImageCopy, ImageSubresource};
pub(crate) use copy::{
    CLAMP, CompressedCopy, CompressedRegion, CompressedSides, Element, NO_DRAWING, Order,
    SIDE_UNIFORMS, SPREAD, Side, UNIFORMS, element_place, side_uniforms,
};
pub use error::{CommandError, Limit};
pub(crate) use filled_uniforms::Run;
pub(crate) use kept_uniforms::KeptPlaces;
pub(crate) use own_code::OwnCode;
pub(crate) use pipeline::Pipelined;
pub use query::Invocations;
pub(crate) use query::{QUERY_BYTES, SYNC_OFFSET};
pub use query_copy::QueryCopy;
pub use recorder::Recorder;
pub(crate) use recorder::{GRAPHICS_SCRATCH, Level, Recorded, Streams};
pub(crate) use storage::thread_size;
#[cfg(feature = "draw")]
pub(crate) use uniforms::{MOST_WORDS, PlanCounts, UniformImage, UniformValues};
pub(crate) use uniforms::{Source, Uniforms};
pub(crate) use words::EncodedInstructions;
pub(crate) use writer::{ALIGNMENT, Writer};
