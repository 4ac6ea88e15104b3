//! Scoreboards and sync objects, as instructions use them: selection, masks, waits.
//!
//! Facts: hardware/command-stream.md 1.6 to 1.9, 3.4, 3.5.

use super::execute::Step;
use super::registers::NoSuchRegister;
use super::{Blocked, Stream, SyncWait, exception};
use crate::defect::Defect;
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use eitri_cs::Pair;
use eitri_cs::enums::{Condition, ErrorReject, StreamState};
use eitri_csf::interface::stream::SyncCondition;

impl Stream {
    /// A slot number that exists; others are reported and cut.
    pub(super) fn slot(&mut self, fabric: &mut Fabric, word: u64, slot: u32) -> u8 {
        if slot >= u32::from(self.slots) {
            self.report(fabric, word, StreamMisuse::SlotOutOfRange { slot });
        }
        slot as u8 % self.slots.max(1)
    }

    pub(super) fn check_mask(&mut self, fabric: &mut Fabric, word: u64, mask: u16) {
        let beyond = u32::from(mask) >> self.slots;
        if beyond != 0 {
            let slot = u32::from(self.slots) + beyond.trailing_zeros();
            self.report(fabric, word, StreamMisuse::SlotOutOfRange { slot });
        }
    }

    pub(super) fn wait(&mut self, fabric: &mut Fabric, word: u64, mask: u16) -> Step {
        self.check_mask(fabric, word, mask);
        // Drivers wait for all their slots at every flush, so only a single slot is worth a note.
        if mask.is_power_of_two() && mask & self.used_slots == 0 {
            let slot = mask.trailing_zeros();
            self.report(fabric, word, StreamMisuse::WaitOnUnusedSlot { slot });
        }
        let ignored = fabric.defects.has(Defect::ScoreboardWaitIgnored);
        if mask & self.busy_slots() == 0 || ignored {
            Step::Done
        } else {
            Step::Blocked(Blocked::Scoreboards(mask))
        }
    }

    pub(super) fn set_state(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        state: StreamState,
        value: u32,
    ) -> Step {
        match state {
            StreamState::SelectEndpoint => self.endpoint_slot = self.slot(fabric, word, value),
            StreamState::SelectOther => self.other_slot = self.slot(fabric, word, value),
            StreamState::SelectDeferred => self.deferred_slot = self.slot(fabric, word, value),
            StreamState::MaskStream => self.mask_stream = value as u16,
            StreamState::MaskWait => self.mask_wait = value as u16,
        }
        Step::Done
    }

    /// The slot that NEXT_SB_ENTRY hands out, if one is free.
    // FACT: the order of choice is not established (hardware/command-stream.md 10, 9); the next free one is taken,
    // cyclically. Settled by a row of NEXT_SB_ENTRY with the slots stored to memory, on a v11 board.
    pub(super) fn choose_slot(&self) -> Option<u8> {
        let free = self.mask_stream & !self.busy_slots();
        (1..=self.slots)
            .map(|distance| (self.last_choice + distance) % self.slots.max(1))
            .find(|slot| free >> slot & 1 != 0)
    }

    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction")]
    pub(super) fn sync_wait(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        word: u64,
        address: Pair,
        condition: Condition,
        reject: ErrorReject,
        (reference, wide): (u64, bool),
    ) -> Result<Step, NoSuchRegister> {
        let address = self.read64(fabric, word, address)?;
        self.check_aligned(fabric, word, address, if wide { 16 } else { 8 });
        let has_greater_equal = fabric.interface.has_greater_equal();
        let condition = match condition {
            Condition::LessEqual => SyncCondition::LessEqual,
            Condition::Greater => SyncCondition::Greater,
            Condition::GreaterEqual if has_greater_equal => SyncCondition::GreaterEqual,
            _ => {
                self.report(fabric, word, StreamMisuse::Undefined);
                return Ok(Step::Fatal(exception::CS_INSTR_INVALID));
            }
        };
        let wait = SyncWait {
            address,
            reference,
            wide,
            condition,
            inherit: reject == ErrorReject::Inherit,
        };
        if fabric.defects.has(Defect::SyncWaitIgnored) {
            return Ok(Step::Done);
        }
        Ok(match self.sync_value(fabric, memory, wait) {
            Err(hindrance) => hindrance.into(),
            Ok((value, _)) if !wait.holds(value) => Step::Blocked(Blocked::Sync(wait)),
            Ok((_, error)) if error != 0 && wait.inherit => {
                Step::Fault(exception::CS_INHERIT_FAULT, address)
            }
            Ok(_) => Step::Done,
        })
    }
}
