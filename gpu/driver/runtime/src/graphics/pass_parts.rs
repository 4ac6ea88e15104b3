//! Parts of commands with render passes: what was recorded for each stream, and what a stream's job is of the submission.

use crate::command::Streams;
use crate::queue::{CacheUse, Code};
use crate::slab::Key;

/// What was recorded for the streams of vertices and of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassParts {
    /// Of vertices and tiler, if anything is drawn; and of fragments.
    pub(crate) tiling: Option<Part>,
    pub(crate) fragments: Part,
    /// Something runs on the compute stream, too.
    pub(crate) computes: bool,
    /// How far each stream counts at most.
    pub(crate) counts: u32,
}

/// What was recorded for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) code: Code,
    pub(crate) uses: CacheUse,
    /// As [`Recorded::after`](crate::command::Recorded::after).
    pub(crate) after: Streams,
}

/// What a job is of a submission over several streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobPart(Option<Key>);

impl JobPart {
    /// All of it, or the part that stands for all.
    pub(crate) const WHOLE: JobPart = JobPart(None);

    /// Another part of the submission that `whole` stands for.
    pub(crate) const fn of(whole: Key) -> JobPart {
        JobPart(Some(whole))
    }

    /// The job that stands for the whole submission, if this is another part of it: the outcome of this one is that one's.
    pub(crate) const fn whole(self) -> Option<Key> {
        self.0
    }
}
