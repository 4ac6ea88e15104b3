//! Groups on slots: what they are, when they are idle, what they wait for.
//!
//! Facts: hardware/csf-scheduling.md 1, 3 and 11.

use super::interface::{GroupBlocks, Stop, Words};
use crate::clock::Nanoseconds;
use crate::stream::{Blocked, Effects, SLOTS, Stream, Work};
use crate::work::Endpoints;
use alloc::boxed::Box;
use alloc::vec::Vec;
use eitri_csf::interface::group::ep_req;
use eitri_csf::interface::stream::{CS_REQ, cs_req};

/// What a group on a slot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its streams run.
    Active,
    /// Its streams have stopped; jobs in flight finish, then it is saved.
    Suspending,
}

/// A group on a slot.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) space: u8,
    pub(super) allow_compute: u64,
    pub(super) allow_fragment: u64,
    /// Tilers that it may use.
    pub(super) allow_other: u32,
    pub(super) endpoints: u32,
    /// How many endpoints it may have for each kind of work.
    pub(super) permits: [u32; Work::ALL.len()],
    pub(super) suspend_buffer: u64,
    /// By their numbers. Each lies elsewhere, so that those that there are not are passed over quickly.
    pub(super) streams: Vec<Option<Box<Stream>>>,
    /// The counters of SHARED_SB_INC and SHARED_SB_DEC.
    pub(super) shared: [u32; SLOTS],
    pub(super) phase: Phase,
    /// Doorbells may have been rung while the firmware slept: all rings are looked at.
    pub(super) look_at_rings: bool,
    /// Events that wait to be raised.
    pub(super) pending_events: u32,
    /// Whether IDLE was reported since it last worked.
    pub(super) idle_reported: bool,
    /// When it last made progress.
    pub(super) last_progress: Nanoseconds,
    pub(super) progress_reported: bool,
}

impl Group {
    /// Whether every stream is idle in the sense of its IDLE bits.
    pub(super) fn is_idle(
        &self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<bool, Stop> {
        for (stream, at) in self.streams.iter().zip(&blocks.streams) {
            let Some(stream) = stream else { continue };
            if !stream.is_drained() {
                return Ok(false);
            }
            let bit = match stream.blocked {
                Blocked::Empty => cs_req::IDLE_EMPTY.mask32(),
                Blocked::Sync(_) => cs_req::IDLE_SYNC_WAIT.mask32(),
                Blocked::Protected => cs_req::IDLE_PROTM_PEND.mask32(),
                Blocked::Shared(_) => cs_req::IDLE_SHARED_SB_DEC.mask32(),
                Blocked::Fatal => continue,
                _ => return Ok(false),
            };
            if words.get32(at.input, CS_REQ)? & bit == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every stream that waits for a sync object looks again.
    pub(super) fn wake(&mut self) {
        for stream in self.streams.iter_mut().flatten() {
            stream.look_at_sync = true;
        }
    }

    /// Whether streams that wait at all wait for sync objects: such a group makes no progress, and is not stuck.
    pub(super) fn waits_for_sync_only(&self) -> bool {
        self.streams.iter().flatten().all(|stream| {
            matches!(
                stream.blocked,
                Blocked::Sync(_) | Blocked::Empty | Blocked::Fatal | Blocked::Fault
            )
        })
    }

    /// Counts up what the streams counted up, and lets go on those that wait for it; each takes 1.
    pub(super) fn settle_shared_waits(&mut self, effects: &Effects) {
        for (counter, added) in self.shared.iter_mut().zip(effects.shared) {
            *counter = counter.saturating_add(added.into());
        }
        for stream in self.streams.iter_mut().flatten() {
            let Blocked::Shared(entry) = stream.blocked else {
                continue;
            };
            let counter = &mut self.shared[usize::from(entry) % SLOTS];
            if *counter != 0 {
                *counter -= 1;
                stream.take_shared();
            }
        }
    }

    /// Lets streams go on whose awaited progress value was reached.
    pub(super) fn settle_progress_waits(&mut self) {
        for index in 0..self.streams.len() {
            let Some(Blocked::Progress { queue, value }) =
                self.streams[index].as_ref().map(|s| s.blocked)
            else {
                continue;
            };
            let reached = self
                .streams
                .get(usize::from(queue))
                .and_then(Option::as_ref)
                .is_some_and(|other| other.progress >= value);
            if reached && let Some(stream) = &mut self.streams[index] {
                stream.blocked = Blocked::No;
            }
        }
    }

    /// What the group may have of the shader cores for a kind of work, of those that all groups may have. Call `permit` first.
    // FACT: which endpoints shade the vertices of a draw is not published (hardware/csf-firmware.md 9); a group that may have
    // a tiler shades them on all its compute cores. Settled by a draw in a group with a tiler and few compute endpoints, on
    // any board.
    pub(super) fn endpoints_for(&self, work: Work, alloc: u64) -> Endpoints {
        let (cores, most, exclusive) = match work {
            Work::Compute => (
                self.allow_compute,
                ep_req::COMPUTE.get(self.endpoints),
                ep_req::COMPUTE_EXCLUSIVE.get(self.endpoints),
            ),
            Work::Fragment => (
                self.allow_fragment,
                ep_req::FRAGMENT.get(self.endpoints),
                ep_req::FRAGMENT_EXCLUSIVE.get(self.endpoints),
            ),
            Work::Tiling if self.permits[Work::Tiling as usize] == 0 => (0, 0, false),
            Work::Tiling => (self.allow_compute, u32::MAX, false),
        };
        Endpoints {
            cores: cores & alloc,
            most: most.min((cores & alloc).count_ones()),
            exclusive,
            priority: self.priority(),
        }
    }

    /// Takes note of what the group may have for each kind of work, of the cores and tilers that all groups may have.
    pub(super) fn permit(&mut self, alloc: u64, tilers: u64) {
        for (work, permit) in Work::ALL.iter().zip(&mut self.permits) {
            let (there, most) = match work {
                Work::Compute => (self.allow_compute & alloc, ep_req::COMPUTE),
                Work::Fragment => (self.allow_fragment & alloc, ep_req::FRAGMENT),
                Work::Tiling => (u64::from(self.allow_other) & tilers, ep_req::TILER),
            };
            *permit = there.count_ones().min(most.get(self.endpoints));
        }
        for stream in self.streams.iter_mut().flatten() {
            stream.permits = self.permits;
        }
    }

    /// How many endpoints its streams hold for a kind of work.
    pub(super) fn held(&self, work: Work) -> u32 {
        let mut streams = self.streams.iter().flatten();
        let holds = streams.any(|stream| stream.resources & work.resources() != 0);
        if holds {
            self.permits[work as usize]
        } else {
            0
        }
    }

    /// Priority among slots.
    pub(super) fn priority(&self) -> u32 {
        ep_req::PRIORITY.get(self.endpoints)
    }
}
