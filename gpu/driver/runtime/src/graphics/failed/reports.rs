//! What the GPU reports of a failure, read while it is not answered.

use super::FailedAccess;
use crate::device::Device;
use crate::group::{Ending, STREAMS, SlotWords, SpaceFault, Termination};
use crate::platform::Platform;
use crate::slab::Key;
use core::ops::Range;
use eitri_csf::fault::Unit;
use eitri_csf::interface::stream::{
    CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO, CS_STATUS_CMD_PTR, cs_fault, cs_req,
};

/// What a stream reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    exception: u8,
    pub(super) info: u64,
    /// The instruction at which the stream stands.
    pub(super) pointer: u64,
}

impl Report {
    /// Whether the stream itself failed, at an instruction, and not a job that it has begun.
    pub(super) fn is_of_instruction(&self, access: Option<FailedAccess>) -> bool {
        // Those of streams (hardware/command-stream.md 1.13).
        const OF_STREAMS: Range<u8> = 0x40..0x50;
        let of_job = access.is_some_and(|access| access.unit.unit() != Some(Unit::FrontEnd));
        OF_STREAMS.contains(&self.exception) && !of_job
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Reads what the streams of a group report that is not answered, and whether its progress timer has run out.
    // FACT: STATUS_CMD_PTR is "shown after a fault" (hardware/command-stream.md 1.14), while status words are valid after STATUS_UPDATE
    // and a completed SUSPEND alone (csf-firmware.md 10). It is taken to be the failure's. Settled by the word at a CS_FAULT of a draw,
    // on any board.
    pub(super) fn failures_reported(&mut self, key: Key) -> ([Option<Report>; STREAMS], bool) {
        let mut reports = [None; STREAMS];
        let group = self.groups.get(key).filter(|group| group.tiler.is_some());
        let Some(slot) = group.and_then(|group| group.blocks(&self.hw.interface)) else {
            return (reports, false);
        };
        let it = &mut self.hw.platform;
        let words = SlotWords::read(it, slot);
        // Streams with news have a bit that differs, until that is answered.
        let streams = words.asking();
        for (number, (report, blocks)) in (0..).zip(reports.iter_mut().zip(&slot.streams)) {
            if streams >> number & 1 == 0 {
                continue;
            }
            let (req, ack) = blocks.requests().read(it);
            let (word, info) = if cs_req::FATAL.get(req ^ ack) {
                (CS_FATAL, CS_FATAL_INFO)
            } else if cs_req::FAULT.get(req ^ ack) {
                (CS_FAULT, CS_FAULT_INFO)
            } else {
                continue;
            };
            it.observe();
            *report = Some(Report {
                exception: cs_fault::EXCEPTION.get(blocks.output.read_word(it, word)) as u8,
                info: blocks.output.read(it, info),
                pointer: blocks.output.read(it, CS_STATUS_CMD_PTR),
            });
        }
        (reports, words.is_stuck())
    }

    /// Reads which access failed in the space of a group, whether that was answered or not.
    pub(super) fn access_failed(&mut self, key: Key) -> Option<FailedAccess> {
        let group = self.groups.get(key)?;
        if let Some(Ending {
            why: Termination::Space(SpaceFault { fault, .. }),
            ..
        }) = group.ending
        {
            return Some(fault.into());
        }
        let vm = self.spaces.get(group.space)?;
        let arch = self.hw.properties.arch;
        let pending = crate::mmu::pending_faults(&mut self.hw.platform);
        let fault = vm.space.fault(&mut self.hw.platform, arch, pending);
        fault.map(FailedAccess::from)
    }
}
