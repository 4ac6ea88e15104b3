//! Points: the values of semaphores that a job waits for and signals.
//!
//! Facts: hardware/command-stream.md sections 1.9 and 3.5.

use crate::slab::Key;
use crate::vm::GpuAddress;
use heapless::Vec;

/// Semaphores that a job may wait for, and that it may signal, each.
pub(crate) const MOST_POINTS: usize = 4;

/// A value of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncPoint {
    pub(crate) semaphore: Key,
    /// Where the job's space has it.
    pub(crate) address: GpuAddress,
    pub(crate) value: u64,
}

/// The semaphores of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Points {
    /// What it waits for before it begins. Their values are not 0.
    pub(crate) waits: Vec<SyncPoint, MOST_POINTS>,
    /// What it signals when everything of it is done.
    pub(crate) signals: Vec<SyncPoint, MOST_POINTS>,
}

impl Points {
    /// Removes all of them.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.waits.clear();
        self.signals.clear();
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &SyncPoint> {
        self.waits.iter().chain(&self.signals)
    }
}
