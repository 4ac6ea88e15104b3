//! Scoreboard: which messages are under way at a point of the program, and which slots an instruction must wait for.
//!
//! `insert_waits` decides by it, and `check_waits` asks it again about the finished program.
//! A message that only reads staging registers needs no wait before these are overwritten: the hardware holds the
//! writer. Accesses to different kinds of memory, or to different spill slots, never meet.
//! Facts: hardware/compiler-backend.md 8.1 to 8.3, hardware/valhall-isa.md 6.

use std::collections::BTreeMap;

use super::mir::{Flow, Instr, Instruction as _, Message, Space, Word};

/// How many slots messages share.
pub(crate) const GENERAL_SLOTS: usize = 3;

/// Slots with accesses under way, as masks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Accesses {
    loads: u8,
    stores: u8,
}

/// Messages under way.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Scoreboard {
    /// By slot: registers that will be written.
    written: [u64; GENERAL_SLOTS],
    /// By memory; for spill slots by offset too.
    memory: BTreeMap<(Space, i64), Accesses>,
    /// Slots with anything under way.
    busy: u8,
}

/// The mask of the registers among `words`.
pub(crate) fn register_mask(words: impl Iterator<Item = Word>) -> u64 {
    words
        .filter_map(Word::register)
        .fold(0, |mask, register| mask | register.bit())
}

/// What tells memory apart. Only accesses that may touch the same address need an order (hardware/compiler-backend.md 8.2), and
/// different kinds of memory share none.
fn memory_key(instr: &Instr) -> Option<(Space, i64)> {
    match instr.space? {
        Space::Constant => None,
        Space::Spill => Some((Space::Spill, instr.immediate.unwrap_or(0))),
        space => Some((space, 0)),
    }
}

impl Scoreboard {
    /// The slots that must be drained before `instr`.
    pub(crate) fn needed(&self, instr: &Instr) -> u8 {
        let touched = register_mask(instr.reads().chain(instr.dests.iter().copied()));
        let slots = (0..GENERAL_SLOTS).filter(|&slot| self.written[slot] & touched != 0);
        let registers = slots.fold(0, |mask, slot| mask | 1 << slot);
        let accesses = memory_key(instr)
            .and_then(|key| self.memory.get(&key))
            .copied()
            .unwrap_or_default();
        let memory = match instr.op.message() {
            Message::No | Message::Address => 0,
            Message::Load => accesses.stores,
            Message::Store | Message::Atomic => accesses.loads | accesses.stores,
            Message::Barrier => self.busy,
            Message::Fence => self.shared_accesses(),
        };
        registers | memory
    }

    /// Slots with accesses to memory that other threads see.
    fn shared_accesses(&self) -> u8 {
        let shared = self
            .memory
            .iter()
            .filter(|((space, _), _)| matches!(space, Space::Buffer | Space::Shared));
        shared.fold(0, |mask, (_, accesses)| {
            mask | accesses.loads | accesses.stores
        })
    }

    /// Slots with anything under way.
    pub(crate) fn busy(&self) -> u8 {
        self.busy
    }

    /// Counts `instr` as issued.
    pub(crate) fn issue(&mut self, instr: &Instr) {
        let Some(slot) = instr.slot.filter(|&slot| usize::from(slot) < GENERAL_SLOTS) else {
            return;
        };
        let bit = 1 << slot;
        self.busy |= bit;
        self.written[usize::from(slot)] |= register_mask(instr.dests.iter().copied());
        let Some(key) = memory_key(instr) else { return };
        let accesses = self.memory.entry(key).or_default();
        match instr.op.message() {
            Message::Load => accesses.loads |= bit,
            Message::Store | Message::Atomic => accesses.stores |= bit,
            Message::No | Message::Address | Message::Barrier | Message::Fence => {}
        }
    }

    /// Counts the slots that `flow` waits for as drained.
    pub(crate) fn drain(&mut self, flow: Flow) {
        let drained = flow.drained();
        self.busy &= !drained;
        for (slot, written) in self.written.iter_mut().enumerate() {
            if drained >> slot & 1 != 0 {
                *written = 0;
            }
        }
        self.memory.retain(|_, accesses| {
            accesses.loads &= !drained;
            accesses.stores &= !drained;
            *accesses != Accesses::default()
        });
    }

    /// Adds what is under way on another path.
    pub(crate) fn join(&mut self, other: &Scoreboard) {
        self.busy |= other.busy;
        self.written
            .iter_mut()
            .zip(other.written)
            .for_each(|(mine, theirs)| *mine |= theirs);
        for (key, accesses) in &other.memory {
            let mine = self.memory.entry(*key).or_default();
            mine.loads |= accesses.loads;
            mine.stores |= accesses.stores;
        }
    }
}
