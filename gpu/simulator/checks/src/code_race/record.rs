//! Record: an access that has happened, as a word keeps it.

use super::told::{Act, Party};
use crate::clock::Stamp;

/// An access that has happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) warp: u32,
    pub(super) group: u32,
    pub(super) site: u32,
    /// The message, by its number in the job.
    pub(super) message: u32,
    pub(super) barrier: u32,
    pub(super) release: u32,
    pub(super) joined: u32,
    pub(super) value: u32,
    pub(super) running: u16,
    pub(super) lane: u8,
    /// Bytes of the word, a bit each.
    pub(super) bytes: u8,
    pub(super) act: Act,
    pub(super) may_be_atomic: bool,
}

impl Record {
    pub(super) fn stamp(&self) -> Stamp {
        Stamp {
            group: self.group,
            lane: self.warp,
            barrier: self.barrier,
            release: self.release,
        }
    }

    pub(super) fn party(&self) -> Party {
        Party {
            group: self.group,
            warp: self.warp,
            lane: self.lane,
            site: self.site,
            act: self.act,
        }
    }

    /// Whether it may be an atomic load or store of the whole word.
    pub(super) fn may_be_atomic(&self) -> bool {
        self.act == Act::Atomic || self.may_be_atomic && self.bytes == 0xf
    }

    /// Whether lanes of one warp have gone apart with one of two accesses on each side, and are in no order.
    pub(super) fn is_apart_from(&self, other: &Record) -> bool {
        let runs = |record: &Record, lane: u8| record.running >> (lane & 15) & 1 != 0;
        self.joined == other.joined
            && self.barrier == other.barrier
            && !runs(self, other.lane)
            && !runs(other, self.lane)
    }
}
