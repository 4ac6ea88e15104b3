//! Commands: pipelines, descriptor sets, and the buffers that commands are recorded into.
//!
//! Recording takes memory; submission takes none.  Facts: hardware/command-stream.md sections 4.1, 6.9, 6.10 and
//! 7.1, compiler-abi.md sections 1 to 4.

mod buffer;
mod descriptor_set;
mod descriptors;
mod error;
mod pipeline;
mod recorder;
mod registers;
mod storage;
mod task;
#[cfg(test)]
mod tests;

pub use error::{CommandError, Limit};
pub use recorder::Recorder;

/// Words in which commands are recorded.
pub(crate) const WORDS: usize = crate::handle::CommandBuffer::WORDS;
