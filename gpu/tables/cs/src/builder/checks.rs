//! Checks before a word is written: registers, slots, deadlocks; and which registers have loads in flight.
//!
//! Facts: hardware/command-stream.md 1.4, 1.6 (rule 2), 1.8, 6.3.

use super::Builder;
use super::chunk::ChunkSource;
use super::config::Config;
use super::error::BuildFault;
use crate::enums::{StreamState, WaitMode};
use crate::field::FieldKind;
use crate::instr::{Instr, Wait};
use crate::register::RegSet;
use crate::scoreboard::{Slot, SlotMask};
use crate::table::Info;
use crate::usage::Usage;

impl Config {
    /// Whether `word`, an instruction of this row, may be written.
    pub(super) fn check(&self, info: &Info, word: u64) -> Result<(), BuildFault> {
        let usage = info.operands(word, self.arch);
        let named = usage.reads.union(usage.writes);
        let missing = named.without(self.layout.all());
        if !missing.is_empty() {
            return Err(BuildFault::NoSuchRegister {
                register: missing.iter().next(),
                count: self.layout.count(),
            });
        }
        if let Some(register) = usage.writes.without(self.writable).iter().next() {
            return Err(BuildFault::NotWritable { register });
        }
        let (mut waits_for, mut counted_on) = (SlotMask::NONE, None);
        for field in info.fields {
            let Some(bits) = field.bits(self.arch) else {
                continue;
            };
            let value = bits.of(word);
            let slots = match field.kind {
                FieldKind::SlotMask => SlotMask::new(value as u16),
                FieldKind::Slot => SlotMask::new(1 << (value as u16 & 15)),
                _ => continue,
            };
            if let Some(slot) = slots.slots().find(|slot| slot.number() >= self.slots) {
                let slots = self.slots;
                return Err(BuildFault::NoSuchSlot { slot, slots });
            }
            match field.name {
                "wait_mask" => waits_for = slots,
                "signal_slot" => counted_on = slots.slots().next(),
                _ => {}
            }
        }
        match counted_on {
            Some(slot) if waits_for.contains(slot) => Err(BuildFault::WaitsForItself { slot }),
            _ => Ok(()),
        }
    }
}

/// The registers that loads will write. Those of stores are read at issue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InFlight {
    loads: RegSet,
}

impl InFlight {
    /// Whether an instruction with this usage needs a register that is in flight.
    pub(super) fn must_wait(&self, usage: &Usage) -> bool {
        let touched = usage.reads.union(usage.writes).union(usage.staging);
        !touched.is_disjoint(self.loads)
    }

    /// Takes note of an instruction; `slot` is where loads and stores count.
    pub(super) fn note(
        &mut self,
        instr: &Instr,
        usage: &Usage,
        slot: Slot,
    ) -> Result<(), BuildFault> {
        let selected = match instr {
            Instr::LoadMultiple(_) => {
                self.loads = self.loads.union(usage.writes);
                return Ok(());
            }
            Instr::Wait(wait) => {
                if wait.wait_mode == WaitMode::Immediate && wait.wait_mask.contains(slot) {
                    *self = InFlight::default();
                }
                return Ok(());
            }
            Instr::SetSbEntry(select) => select.other_entry == slot,
            Instr::SetStateImm32(set) if set.state == StreamState::SelectOther => {
                set.value == slot.number().into()
            }
            Instr::SetState(set) => set.state != StreamState::SelectOther,
            _ => true,
        };
        if selected {
            Ok(())
        } else {
            Err(BuildFault::OtherSlotChanged { expected: slot })
        }
    }

    /// What may be in flight where two paths meet.
    pub(super) fn merged(self, other: InFlight) -> InFlight {
        InFlight {
            loads: self.loads.union(other.loads),
        }
    }

    /// Whether all that is in flight here is so there too.
    pub(super) fn is_within(self, other: InFlight) -> bool {
        self.loads.without(other.loads).is_empty()
    }
}

impl<'m, S: ChunkSource<'m>> Builder<'m, S> {
    /// Waits until loads and stores are done.
    pub(super) fn wait_for_memory(&mut self, slot: Slot) -> Result<(), BuildFault> {
        let wait = Wait {
            wait_mask: slot.mask(),
            ..Wait::default()
        };
        self.append(wait.encode(self.config.arch)?)?;
        self.in_flight = InFlight::default();
        Ok(())
    }
}
