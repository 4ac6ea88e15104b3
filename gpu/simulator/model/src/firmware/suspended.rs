//! Suspended groups: what a suspend buffer stands for.
//!
//! A buffer's content is the firmware's own business. The model writes a magic and a generation number into it and keeps the
//! state itself, so that a stale, foreign or damaged buffer is recognised. Guarantees: bounded; the oldest is forgotten.
//!
//! Facts: hardware/csf-scheduling.md 9 and 11.

use super::interface::{GroupBlocks, SUSPEND_BYTES, Stop, Words};
use super::slot::Slot;
use super::streams::look_at_insert;
use crate::diagnosis::{FirmwareMisuse, Journal};
use crate::stream::{SLOTS, Stream, exception};
use crate::work::{Cores, SavedJobs};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use eitri_csf::interface::group::{CsgState, csg_req};

/// Groups that may be suspended at once: far more than there are slots and spaces for.
const KEPT: usize = 256;

/// Bytes from one copy of the record in a suspend buffer to the next.
const RECORD_STEP: usize = 256;

/// First half of a record: "eitrisus" in memory.
const MAGIC: u64 = u64::from_le_bytes(*b"eitrisus");

/// What a suspend buffer begins with.
pub(super) type Record = [u8; 16];

/// What is kept of a suspended group.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    streams: Vec<Option<Box<Stream>>>,
    shared: [u32; SLOTS],
    /// Tiling and fragment jobs, where they stopped.
    jobs: SavedJobs,
}

/// Suspended groups.
#[derive(Clone, Debug, Default)]
pub(super) struct SuspendStore {
    generation: u64,
    kept: VecDeque<(u64, Saved)>,
    /// Jobs of groups that were resumed, for the cores to take.
    resumed: Vec<SavedJobs>,
}

impl SuspendStore {
    /// Keeps the state of a group; the record goes into its buffer.
    pub(super) fn keep(&mut self, journal: &mut Journal, saved: Saved) -> Record {
        self.generation += 1;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
            journal.report(FirmwareMisuse::SuspendBuffersLost { count: 1 });
        }
        self.kept.push_back((self.generation, saved));
        let mut record = [0; 16];
        record[..8].copy_from_slice(&MAGIC.to_le_bytes());
        record[8..].copy_from_slice(&self.generation.to_le_bytes());
        record
    }

    /// The jobs of groups that were resumed since the last call.
    pub(super) fn take_resumed(&mut self) -> Vec<SavedJobs> {
        core::mem::take(&mut self.resumed)
    }

    /// The state that a record stands for; a record is good once.
    pub(super) fn take(&mut self, record: &Record) -> Option<Saved> {
        let (magic, generation) = record.split_at(8);
        if magic != MAGIC.to_le_bytes() {
            return None;
        }
        let index = self
            .kept
            .iter()
            .position(|(kept, _)| generation == kept.to_le_bytes())?;
        self.kept.remove(index).map(|(_, saved)| saved)
    }
}

impl Slot {
    /// Saves the group with its jobs and frees the slot.
    pub(super) fn finish_suspend(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        store: &mut SuspendStore,
        cores: &mut Cores,
    ) -> Result<(), Stop> {
        self.store_status(words, blocks)?;
        self.publish(words)?;
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        let address = group.suspend_buffer;
        let saved = Saved {
            streams: group.streams,
            shared: group.shared,
            jobs: cores.save_jobs_of(self.number),
        };
        let record = store.keep(&mut words.fabric.journal, saved);
        // As with real state, all of the buffer is written: one that is smaller than SUSPEND_SIZE shows.
        let pages = (0..u64::from(SUSPEND_BYTES)).step_by(RECORD_STEP);
        let mut written = pages.map(|offset| words.set_at(address.wrapping_add(offset), &record));
        if written.any(|write| write.is_err()) {
            words.fabric.journal.report(FirmwareMisuse::SuspendBuffer {
                group: self.number,
                address,
            });
        }
        self.trace_state(words, CsgState::Suspend);
        let ack = csg_req::STATE.set32(self.ack, CsgState::Suspend);
        self.acknowledge(words, blocks, ack)
    }

    /// Gives the streams of a group that was started again what the buffer saved.
    pub(super) fn resume(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        store: &mut SuspendStore,
    ) -> Result<(), Stop> {
        let number = self.number;
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        let address = group.suspend_buffer;
        let saved = read_record(words, address).and_then(|record| store.take(&record));
        let Some(saved) = saved else {
            let misuse = FirmwareMisuse::StaleSuspendBuffer {
                group: number,
                address,
            };
            words.fabric.journal.report(misuse);
            for stream in group.streams.iter_mut().flatten() {
                stream.fatal(exception::CS_CONFIG_FAULT, address);
            }
            return Ok(());
        };
        debug_assert_eq!(blocks.streams.len(), group.streams.len());
        group.shared = saved.shared;
        store.resumed.push(saved.jobs.moved_to(number, group.space));
        for (fresh, old) in group.streams.iter_mut().zip(saved.streams) {
            if let (Some(fresh), Some(old)) = (fresh.as_mut(), old) {
                fresh.restore(*old);
                look_at_insert(words, fresh)?;
            }
        }
        Ok(())
    }
}

/// The record that a suspend buffer holds, everywhere.
fn read_record(words: &mut Words<'_>, address: u64) -> Option<Record> {
    let offsets = (0..u64::from(SUSPEND_BYTES)).step_by(RECORD_STEP);
    let mut records = offsets.map(|offset| read_one(words, address.wrapping_add(offset)));
    let first = records.next()??;
    records.all(|record| record == Some(first)).then_some(first)
}

fn read_one(words: &mut Words<'_>, address: u64) -> Option<Record> {
    let low = words.get_at(address).ok()?;
    let high = words.get_at(address.wrapping_add(8)).ok()?;
    let mut record = [0; 16];
    record[..8].copy_from_slice(&low.to_le_bytes());
    record[8..].copy_from_slice(&high.to_le_bytes());
    Some(record)
}
