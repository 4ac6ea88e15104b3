//! What the host is shown of a group: status words and events.
//!
//! Facts: hardware/csf-firmware.md 9 and 10, csf-scheduling.md 3.3 and 11.

use super::group::Phase;
use super::interface::{GroupBlocks, Stop, Words};
use super::slot::{Slot, TOGGLES};
use crate::clock::Nanoseconds;
use crate::diagnosis::FirmwareMisuse;
use crate::stream::Blocked;
use eitri_csf::interface::group::{CSG_REQ, CSG_STATUS_STATE, csg_req};
use eitri_csf::interface::handshake;
use eitri_csf::interface::stream::{
    CS_HEAP_ADDRESS, CS_HEAP_FRAG_END, CS_HEAP_VT_END, CS_HEAP_VT_START, CS_STATUS_BLOCKED_REASON,
    CS_STATUS_CMD_PTR, CS_STATUS_REQ_RESOURCE, CS_STATUS_SCOREBOARDS, CS_STATUS_WAIT,
    CS_STATUS_WAIT_SYNC_POINTER, CS_STATUS_WAIT_SYNC_VALUE, CS_STATUS_WAIT_SYNC_VALUE_HI,
};
use eitri_csf::table::{Role, role_mask};

/// Events that a group raises.
pub(super) const EVENTS: u32 = role_mask(csg_req::FIELDS, Role::Event);

/// A request that is pending for so long without a doorbell has been forgotten: a host rings next.
const LONGEST_SILENCE: Nanoseconds = 10_000_000;

impl Slot {
    /// Stores what the streams are doing.
    pub(super) fn store_status(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        self.store_endpoints(words, blocks)?;
        let Some(group) = &self.group else {
            return Ok(());
        };
        let interface = words.fabric.interface;
        let idle = u32::from(group.idle_reported);
        words.set32(blocks.output, CSG_STATUS_STATE, idle)?;
        for (stream, at) in group.streams.iter().zip(&blocks.streams) {
            let Some(stream) = stream else { continue };
            let (pointer, value) = match stream.blocked {
                Blocked::Sync(wait) => (wait.address, wait.reference),
                _ => (0, 0),
            };
            let out = at.output;
            words.set(out, CS_STATUS_CMD_PTR, stream.address())?;
            words.set32(out, CS_STATUS_WAIT, stream.wait_status(interface))?;
            words.set32(out, CS_STATUS_REQ_RESOURCE, stream.resource_status())?;
            words.set(out, CS_STATUS_WAIT_SYNC_POINTER, pointer)?;
            words.set32(out, CS_STATUS_WAIT_SYNC_VALUE, value as u32)?;
            words.set32(out, CS_STATUS_WAIT_SYNC_VALUE_HI, (value >> 32) as u32)?;
            words.set32(out, CS_STATUS_SCOREBOARDS, stream.scoreboard_status())?;
            words.set32(out, CS_STATUS_BLOCKED_REASON, stream.blocked_reason())?;
            let [started, ended, fragment] = group.heap_counters(stream.heap_address());
            words.set32(out, CS_HEAP_VT_START, started)?;
            words.set32(out, CS_HEAP_VT_END, ended)?;
            words.set32(out, CS_HEAP_FRAG_END, fragment)?;
            words.set(out, CS_HEAP_ADDRESS, stream.heap_address())?;
        }
        Ok(())
    }

    /// Raises the events that wait and whose last occurrence was acknowledged.
    pub(super) fn raise_events(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        if group.pending_events == 0 {
            return Ok(());
        }
        let req = words.get32(blocks.input, CSG_REQ)?;
        let free = group.pending_events & !(req ^ self.ack) & EVENTS;
        group.pending_events &= !free;
        self.raised |= free;
        let ack = handshake::raise(req, self.ack, free);
        self.acknowledge(words, blocks, ack)
    }

    /// Whether a request of this slot is pending that no doorbell is rung for. One that was only just made is none: the host
    /// rings after it has written it, and may be in between.
    pub(super) fn report_silent_requests(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let req = words.get32(blocks.input, CSG_REQ)?;
        let bits = (req ^ self.ack) & (TOGGLES | csg_req::STATE.mask32());
        let suspending = self
            .group
            .as_ref()
            .is_some_and(|group| group.phase == Phase::Suspending);
        if bits == 0 || suspending {
            self.silent_since = None;
            return Ok(());
        }
        let now = words.fabric.journal.time();
        let since = *self.silent_since.get_or_insert(now);
        if now.saturating_sub(since) >= LONGEST_SILENCE {
            words
                .fabric
                .journal
                .report(FirmwareMisuse::PendingWithoutDoorbell {
                    word: CSG_REQ.name,
                    group: self.number,
                    bits,
                });
        }
        Ok(())
    }
}
