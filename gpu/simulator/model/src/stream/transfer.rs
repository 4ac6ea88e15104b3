//! Loads, stores: registers to memory and back.
//!
//! Facts: hardware/command-stream.md 3.2.

use super::Stream;
use super::deferred::Transfer;
use super::execute::Step;
use super::registers::NoSuchRegister;
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use alloc::vec::Vec;
use eitri_cs::{Reg, RegMask};

impl Stream {
    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction")]
    pub(super) fn load(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        word: u64,
        base: u64,
        offset: i16,
        first: Reg,
        mask: RegMask,
    ) -> Result<Step, NoSuchRegister> {
        let address = base.wrapping_add_signed(offset.into());
        self.check_aligned(fabric, word, address, 4);
        let mut loaded = Vec::new();
        // Memory is packed: a hole in the mask skips a register, not a word.
        for (index, place) in mask.offsets().enumerate() {
            self.check_tuple(first, place.into())?;
            let number = first.number() + place;
            self.check_write(fabric, word, number);
            self.check_foreign_write(word, number.into());
            let at = address.wrapping_add(4 * index as u64);
            match fabric.read32(memory, self.access(at)) {
                Ok(value) => {
                    fabric.note_stream_load(memory, self.access(at));
                    loaded.push((number, value));
                }
                Err(refusal) => return Ok(refusal.at(at).into()),
            }
        }
        self.outstanding(loaded);
        Ok(Step::Done)
    }

    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction")]
    pub(super) fn store(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        word: u64,
        base: u64,
        offset: i16,
        first: Reg,
        mask: RegMask,
    ) -> Result<Step, NoSuchRegister> {
        let address = base.wrapping_add_signed(offset.into());
        self.check_aligned(fabric, word, address, 4);
        let mut bytes = Vec::new();
        for place in mask.offsets() {
            let value = self.read(fabric, word, u32::from(first.number()) + u32::from(place))?;
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        if let Err(refusal) = fabric.write(memory, self.access(address), &bytes) {
            return Ok(refusal.at(address).into());
        }
        self.outstanding(Vec::new());
        Ok(Step::Done)
    }

    fn outstanding(&mut self, loaded: Vec<(u8, u32)>) {
        let slot = self.other_slot;
        self.count_up(slot);
        self.accesses += 1;
        self.transfers.push(Transfer { slot, loaded });
        self.idle_instructions = 0;
    }
}
