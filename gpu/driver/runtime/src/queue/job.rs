//! Jobs of a stream, and what becomes of them.
//!
//! Facts: hardware/csf-scheduling.md sections 2 to 6.

use super::flush::{Begin, CacheUse};
use crate::fault::{Cause, JobFault, Recovery};
use crate::graphics::JobPart;
use crate::handle::{Fence, Queue};
use crate::slab::{Key, Slab};
use crate::vm::GpuAddress;
use core::ops::Range;
use eitri_cs::SubQueue;

/// A job in a ring, or one that failed.
#[derive(Debug)]
pub(crate) struct Job {
    /// What its owner holds of it.
    pub(crate) fence: Fence,
    /// Where its wrapper begins and ends in the ring.
    pub(super) start: u64,
    pub(super) end: u64,
    /// What it runs; `None` for a stream of its owner's, and when it is over.
    pub(crate) commands: Option<Key>,
    /// What it does to the caches.
    pub(super) uses: CacheUse,
    /// What it begins with.
    pub(super) begin: Begin,
    /// Its semaphores, if it has some.
    pub(crate) points: Option<Key>,
    /// The next job of the stream.
    pub(super) next: Option<Key>,
    /// What it is of a submission over several streams.
    pub(crate) part: JobPart,
    /// Of a submission that this job stands for another part has begun, or is over.
    pub(crate) begun: bool,
    /// What was reported of it.
    pub(crate) fault: Option<JobFault>,
    /// It is not in flight any more.
    pub(crate) over: bool,
}

/// Instructions in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) start: GpuAddress,
    pub(crate) bytes: u32,
}

/// A job that is about to be submitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewJob {
    /// The queue that runs it.
    pub(crate) queue: Queue,
    /// Its instructions.
    pub(crate) code: Code,
    /// Whose they are; `None` for a stream of its owner's.
    pub(crate) commands: Option<Key>,
    /// The space that they are in.
    pub(crate) space: Key,
    /// What they do to the caches.
    pub(crate) uses: CacheUse,
    /// Its semaphores, if it has some.
    pub(crate) points: Option<Key>,
}

/// A job that is not in flight any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// What it ran; `None` for a stream of its owner's.
    pub(crate) commands: Option<Key>,
    /// What it did to the caches.
    pub(crate) uses: CacheUse,
    /// What it began with.
    pub(crate) begin: Begin,
    /// Its semaphores, if it had some. One that has run has signalled.
    pub(crate) points: Option<Key>,
    /// It has run, well or not.
    pub(crate) ran: bool,
    /// It ended well.
    pub(crate) well: bool,
}

impl Job {
    /// None.
    pub(super) const EMPTY: Job = Job {
        fence: Fence {
            queue: Queue(Key::NONE),
            sub_queue: SubQueue::Compute,
            point: 0,
        },
        start: 0,
        end: 0,
        commands: None,
        uses: CacheUse::UNKNOWN,
        begin: Begin::NOTHING,
        points: None,
        next: None,
        part: JobPart::WHOLE,
        begun: false,
        fault: None,
        over: true,
    };

    /// Says that it failed. The first fault of a job stays, unless a later one costs more.
    pub(super) fn fail(&mut self, fault: JobFault) {
        if self.fault.is_none_or(|kept| kept.recovery < fault.recovery) {
            self.fault = Some(fault);
        }
    }

    /// Where its wrapper begins and ends in the ring, counted as INSERT is.
    pub(crate) const fn span(&self) -> Range<u64> {
        self.start..self.end
    }
}

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is on its way.
    Pending,
    /// It ended well.
    Done,
    /// It failed.
    Failed(JobFault),
    /// Nothing is known of it: its queue was destroyed, or it was never submitted, or a failure at or after it was discarded.
    Unknown,
}

/// A fault of a job.
pub(crate) const fn fault_of(fence: Fence, cause: Cause, recovery: Recovery) -> JobFault {
    JobFault {
        queue: fence.queue,
        sub_queue: fence.sub_queue,
        job: Some(fence.point),
        cause,
        mmu: None,
        near: None,
        recovery,
        pass: None,
    }
}

/// Says that a job failed; gives what is known of it then. The first fault of a job stays, unless a later one costs more.
pub(crate) fn fail(
    jobs: &mut Slab<'_, Job>,
    key: Key,
    cause: Cause,
    recovery: Recovery,
) -> Option<JobFault> {
    let job = jobs.get_mut(key)?;
    job.fail(fault_of(job.fence, cause, recovery));
    job.fault
}
