//! Suspended groups: what a suspend buffer stands for.
//!
//! A buffer's content is the firmware's own business. The model writes a magic and a generation number into it and keeps the
//! state itself, so that a stale, foreign or damaged buffer is recognised. Guarantees: bounded; the oldest is forgotten.
//!
//! Facts: hardware/csf-scheduling.md 9 and 11.

use crate::diagnosis::{FirmwareMisuse, Journal};
use crate::stream::Stream;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Groups that may be suspended at once: far more than there are slots and spaces for.
const KEPT: usize = 256;

/// First half of a record: "eitrisus" in memory.
const MAGIC: u64 = u64::from_le_bytes(*b"eitrisus");

/// What a suspend buffer begins with.
pub(super) type Record = [u8; 16];

/// The streams of suspended groups.
#[derive(Clone, Debug, Default)]
pub(super) struct SuspendStore {
    generation: u64,
    kept: VecDeque<(u64, Vec<Option<Stream>>)>,
}

impl SuspendStore {
    /// Keeps the streams of a group; the record goes into its buffer.
    pub(super) fn keep(&mut self, journal: &mut Journal, streams: Vec<Option<Stream>>) -> Record {
        self.generation += 1;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
            journal.report(FirmwareMisuse::SuspendBuffersLost { count: 1 });
        }
        self.kept.push_back((self.generation, streams));
        let mut record = [0; 16];
        record[..8].copy_from_slice(&MAGIC.to_le_bytes());
        record[8..].copy_from_slice(&self.generation.to_le_bytes());
        record
    }

    /// The streams that a record stands for; a record is good once.
    pub(super) fn take(&mut self, record: &Record) -> Option<Vec<Option<Stream>>> {
        let (magic, generation) = record.split_at(8);
        if magic != MAGIC.to_le_bytes() {
            return None;
        }
        let index = self
            .kept
            .iter()
            .position(|(kept, _)| generation == kept.to_le_bytes())?;
        self.kept.remove(index).map(|(_, streams)| streams)
    }
}
