//! Queues: streams of jobs with their ring buffers, and the timelines by which the host follows them.
//!
//! A job is a called buffer of command-stream instructions; the ring holds the wrapper that flushes caches, calls it,
//! and adds one to the stream's sync object when everything of it is done.
//! Facts: hardware/csf-scheduling.md sections 2, 4 and 5.

mod flush;
mod job;
#[cfg(feature = "draw")]
mod part;
mod points;
mod ring;
mod stream;
mod waiting;
mod wrapper;

pub(crate) use flush::{Begin, CacheUse, JobFlush, Reach};
pub use job::Status;
pub(crate) use job::{Code, Ended, Job, NewJob, fail, fault_of};
#[cfg(feature = "draw")]
pub(crate) use part::{Join, MOST_JOINS, PartShape, Places as PartPlaces};
pub(crate) use points::{MOST_POINTS, Points, SyncPoint};
pub(crate) use ring::Ring;
pub(crate) use stream::{Places, PushError, Stream};
pub(crate) use waiting::Waiting;
pub(crate) use wrapper::StreamShape;
pub use wrapper::UnusableStream;

pub use eitri_cs::SubQueue;
