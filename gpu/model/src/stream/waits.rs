//! Scoreboards and sync objects, as instructions use them: selection, masks, waits.
//!
//! Facts: hardware/command-stream.md 1.6 to 1.9, 3.4, 3.5.

use super::execute::Step;
use super::registers::NoSuchRegister;
use super::{Blocked, Stream, SyncWait, exception};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use eitri_cs::Pair;
use eitri_cs::enums::{Condition, ErrorReject, StreamState};

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
        // A mask of all slots is the usual way to say "everything".
        let all = ((1u32 << self.slots) - 1) as u16;
        let unused = mask & !self.used_slots;
        if unused != 0 && mask != all {
            let mask = unused.into();
            self.report(fabric, word, StreamMisuse::WaitOnUnusedSlot { mask });
        }
        if mask & self.busy_slots() == 0 {
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

    /// FACT: the order of choice is not established (command-stream.md 10, 9): the next free one, cyclically.
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
        let greater = match condition {
            Condition::LessEqual => false,
            Condition::Greater => true,
            _ => {
                self.report(fabric, word, StreamMisuse::Undefined);
                return Ok(Step::Fatal(exception::CS_INSTR_INVALID));
            }
        };
        let wait = SyncWait {
            address,
            reference,
            wide,
            greater,
            inherit: reject == ErrorReject::Inherit,
        };
        Ok(match self.sync_value(fabric, memory, wait) {
            Err(hindrance) => hindrance.into(),
            Ok((value, _)) if !wait.holds(value) => Step::Blocked(Blocked::Sync(wait)),
            // FACT: which value of the field takes the error over is not proven (command-stream.md 10, 18).
            Ok((_, error)) if error != 0 && wait.inherit => {
                Step::Fault(exception::CS_INHERIT_FAULT, address)
            }
            Ok(_) => Step::Done,
        })
    }
}
