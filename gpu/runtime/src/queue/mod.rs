//! Queues: streams of jobs with their ring buffers, and the timeline by which the host follows them.
//!
//! A job is a called buffer of command-stream instructions; the ring holds the wrapper that flushes caches, calls it,
//! and adds one to the stream's sync object when everything of it is done.
//! Facts: hardware/csf-scheduling.md sections 2, 4 and 5.

mod handle;
mod ring;
mod stream;
#[cfg(test)]
mod tests;
mod wrapper;

pub use handle::{Queue, QueueError, SubmitError, TimelineSemaphore, WaitError};
pub(crate) use stream::{Stream, StreamMemory};
pub(crate) use wrapper::StreamShape;
pub use wrapper::UnusableStream;

pub use eitri_cs::SubQueue;
