//! Snapshot: the state of a stream that its next instructions may rely on, for tools that record what a stream runs.
//!
//! Guarantees: looking changes nothing.  Facts: hardware/command-stream.md 1.4 (registers), 1.11 (resources).

use super::Stream;
use alloc::vec::Vec;
use eitri_cs::Arch;
use eitri_cs::enums::{ExceptionType, StreamState};
use eitri_cs::instr::{
    HeapSet, Instr, Move32, ReqResource, SetExceptionHandler, SetSbEntry, SetStateImm32,
};
use eitri_cs::{Pair, Reg, Slot};

/// Registers that the instructions of a snapshot use before these get their own values.
const ADDRESS: Pair = Pair::ZERO;
const LENGTH: Reg = Reg::new(2);

impl Stream {
    /// Instructions that bring a stream that was just started to where this one is: resources, scoreboard slots, heap context,
    /// exception handler, and every register that anybody wrote. They issue no work and touch no memory.
    pub(crate) fn snapshot(&self, arch: Arch) -> Vec<u64> {
        let mut instructions = self.settings(arch);
        let numbers = (0..self.registers.count()).filter_map(|number| u8::try_from(number).ok());
        let written = numbers.filter(|number| self.registers.is_written(*number));
        instructions.extend(written.map(|number| {
            Instr::Move32(Move32 {
                destination: Reg::new(number),
                immediate: self.registers.raw(number),
            })
        }));
        let words = instructions.iter().map(|instr| instr.encode(arch));
        // Whatever a stream holds it got by instructions of this generation, so that each has a word.
        words.flatten().collect()
    }

    fn settings(&self, arch: Arch) -> Vec<Instr> {
        let mut instructions = Vec::new();
        let has = |bit: u8| self.resources >> bit & 1 != 0;
        if self.resources != 0 {
            instructions.push(Instr::ReqResource(ReqResource {
                compute: has(0),
                fragment: has(1),
                tiler: has(2),
                idvs: has(3),
                rt: has(4),
            }));
        }
        if let (Some(endpoint_entry), Some(other_entry)) =
            (Slot::new(self.endpoint_slot), Slot::new(self.other_slot))
            && (self.endpoint_slot, self.other_slot) != (0, 0)
        {
            instructions.push(Instr::SetSbEntry(SetSbEntry {
                endpoint_entry,
                other_entry,
            }));
        }
        if arch >= Arch::V11 {
            let states = [
                (StreamState::SelectDeferred, self.deferred_slot.into()),
                (StreamState::MaskStream, self.mask_stream.into()),
                (StreamState::MaskWait, self.mask_wait.into()),
            ];
            let set = states.into_iter().filter(|(_, value)| *value != 0);
            instructions.extend(
                set.map(|(state, value)| Instr::SetStateImm32(SetStateImm32 { state, value })),
            );
        }
        if self.heap_context != 0 {
            instructions.extend(moves(ADDRESS, self.heap_context));
            instructions.push(Instr::HeapSet(HeapSet { address: ADDRESS }));
        }
        if let Some((address, length)) = self.handler {
            instructions.extend(moves(ADDRESS, address));
            instructions.push(Instr::Move32(Move32 {
                destination: LENGTH,
                immediate: length as u32,
            }));
            instructions.push(Instr::SetExceptionHandler(SetExceptionHandler {
                exception_type: ExceptionType::TilerOutOfMemory,
                address: ADDRESS,
                length: LENGTH,
            }));
        }
        instructions
    }
}

/// Sets both halves of a pair.
fn moves(pair: Pair, value: u64) -> [Instr; 2] {
    [(pair.low(), value), (pair.high(), value >> 32)].map(|(destination, value)| {
        Instr::Move32(Move32 {
            destination,
            immediate: value as u32,
        })
    })
}
