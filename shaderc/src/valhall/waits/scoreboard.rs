//! Scoreboard: which messages are under way at a point of the program, and which slots an instruction must wait for.
//!
//! `insert_waits` decides by it; the checker has a model of its own.
//! Loads need no order among each other, but for atomic ones, which may be of one word.
//! A message that only reads staging registers needs no wait before these are overwritten: the hardware holds the
//! writer. Accesses to different kinds of memory, or to different spill slots, never meet.
//! Facts: hardware/compiler-backend.md 8.1 to 8.3, hardware/valhall-isa.md 6.

use std::collections::BTreeMap;

use crate::valhall::mir::{Flow, Instr, Instruction as _, Message, Modifier, Op, Space, Word};
use eitri_isa::preload::Stage;

/// How many slots messages share.
pub(crate) const GENERAL_SLOTS: usize = 3;

/// Slots with accesses under way, as masks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Accesses {
    loads: u8,
    stores: u8,
    /// Those of the loads that are atomic.
    atomic_loads: u8,
}

impl Accesses {
    fn slots(self) -> u8 {
        self.loads | self.stores
    }

    fn drain(&mut self, slots: u8) {
        self.loads &= !slots;
        self.stores &= !slots;
        self.atomic_loads &= !slots;
    }

    /// Adds others; whether any was new.
    fn join(&mut self, other: Accesses) -> bool {
        join(&mut self.loads, other.loads)
            | join(&mut self.stores, other.stores)
            | join(&mut self.atomic_loads, other.atomic_loads)
    }
}

/// What is done to a spill slot.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Kinds {
    load: bool,
    store: bool,
}

impl Kinds {
    /// Adds others; whether any was new.
    fn join(&mut self, other: Kinds) -> bool {
        let before = *self;
        self.load |= other.load;
        self.store |= other.store;
        before != *self
    }
}

/// Adds slots; whether any was new.
fn join(slots: &mut u8, more: u8) -> bool {
    let before = std::mem::replace(slots, *slots | more);
    before != *slots
}

/// Messages under way.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Scoreboard {
    /// By slot: registers that will be written.
    written: [u64; GENERAL_SLOTS],
    /// Of memories that are told apart by their space alone.
    buffer: Accesses,
    shared: Accesses,
    scratch: Accesses,
    /// By slot: spill slots that are accessed, by their offset. So what is drained is gone through once for each access, not once
    /// for each wait.
    spills: [BTreeMap<i64, Kinds>; GENERAL_SLOTS],
    /// Slots with loads of varyings, which share a hidden register.
    varyings: u8,
    /// Slots with anything under way.
    busy: u8,
}

/// The mask of the registers among `words`.
pub(crate) fn register_mask(words: impl Iterator<Item = Word>) -> u64 {
    words
        .filter_map(Word::register)
        .fold(0, |mask, register| mask | register.bit())
}

/// The place of an instruction's spill slot.
fn offset(instr: &Instr) -> i64 {
    instr.immediate.unwrap_or(0)
}

/// Whether a load of a varying leaves where it was interpolated in the hidden register: a flat one does not.
fn is_placed(instr: &Instr) -> bool {
    instr.op.is_varying() && !instr.modifiers.contains(&Modifier::Again)
}

impl Scoreboard {
    /// What is under way when a program begins: in a fragment program the fragments below, which others shade.
    pub(crate) fn at_start(stage: Stage) -> Scoreboard {
        Scoreboard {
            busy: match stage {
                Stage::Fragment => Flow::BELOW,
                Stage::Compute | Stage::Vertex => 0,
            },
            ..Scoreboard::default()
        }
    }

    /// What is under way on the memory that an instruction touches. Only accesses that may touch the same address need an
    /// order (hardware/compiler-backend.md 8.2), and different kinds of memory share none.
    fn accesses(&self, instr: &Instr) -> Accesses {
        match instr.space {
            None | Some(Space::Constant) => Accesses::default(),
            Some(Space::Buffer) => self.buffer,
            Some(Space::Shared) => self.shared,
            Some(Space::Scratch) => self.scratch,
            Some(Space::Spill) => self.spill_accesses(offset(instr)),
        }
    }

    fn spill_accesses(&self, offset: i64) -> Accesses {
        let mut all = Accesses::default();
        for (slot, spills) in self.spills.iter().enumerate() {
            let kinds = spills.get(&offset).copied().unwrap_or_default();
            all.loads |= u8::from(kinds.load) << slot;
            all.stores |= u8::from(kinds.store) << slot;
        }
        all
    }

    /// Counts accesses to the memory that an instruction touches, if it needs an order.
    fn add(&mut self, instr: &Instr, slot: u8, kinds: Kinds) {
        let accesses = match instr.space {
            None | Some(Space::Constant) => return,
            Some(Space::Buffer) => &mut self.buffer,
            Some(Space::Shared) => &mut self.shared,
            Some(Space::Scratch) => &mut self.scratch,
            Some(Space::Spill) => {
                let spills = &mut self.spills[usize::from(slot)];
                spills.entry(offset(instr)).or_default().join(kinds);
                return;
            }
        };
        accesses.loads |= u8::from(kinds.load) << slot;
        accesses.stores |= u8::from(kinds.store) << slot;
        accesses.atomic_loads |= u8::from(kinds.load && instr.atomic) << slot;
    }

    /// The slots that must be drained before `instr`.
    pub(crate) fn needed(&self, instr: &Instr) -> u8 {
        if self.busy == 0 {
            return 0;
        }
        let touched = register_mask(instr.reads().chain(instr.dests.iter().copied()));
        let slots = (0..GENERAL_SLOTS).filter(|&slot| self.written[slot] & touched != 0);
        let registers = slots.fold(0, |mask, slot| mask | 1 << slot);
        let accesses = self.accesses(instr);
        let memory = match instr.op.message() {
            Message::No | Message::Address => 0,
            // FACT: whether two loads of one word by one thread see stores in their order is not established (hardware/valhall-isa.md 6
            // has no wait between loads, and no order without one). Vulkan's memory model asks for it of atomic loads. Settled by the
            // litmus tests CoRR on a board.
            Message::Load if instr.atomic => accesses.stores | accesses.atomic_loads,
            Message::Load => accesses.stores,
            Message::Store | Message::Atomic => accesses.loads | accesses.stores,
            Message::Barrier => self.busy,
            Message::Test => self.busy & Flow::DEPTH,
            Message::Pixel if instr.modifiers.contains(&Modifier::DepthStencil) => {
                self.busy & Flow::DEPTH
            }
            Message::Pixel => self.busy & Flow::BELOW,
            Message::Fence if instr.space.is_none() => self.visible_accesses(),
            Message::Fence => accesses.slots(),
        };
        let hidden = match is_placed(instr) || instr.op == Op::Branchz {
            true => self.varyings,
            false => 0,
        };
        registers | memory | hidden
    }

    /// Slots with loads of varyings: what lanes do apart must not begin before they are done.
    pub(crate) fn varyings(&self) -> u8 {
        self.varyings
    }

    /// Slots with accesses to memory that other threads see.
    fn visible_accesses(&self) -> u8 {
        [self.buffer, self.shared]
            .iter()
            .fold(0, |mask, accesses| mask | accesses.slots())
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
        if instr.op.is_varying() {
            self.varyings |= bit;
        }
        let kinds = match instr.op.message() {
            Message::Load => Kinds {
                load: true,
                store: false,
            },
            Message::Store | Message::Atomic => Kinds {
                load: false,
                store: true,
            },
            Message::No
            | Message::Address
            | Message::Barrier
            | Message::Test
            | Message::Pixel
            | Message::Fence => return,
        };
        self.add(instr, slot, kinds);
    }

    /// Counts the slots that `flow` waits for as drained.
    pub(crate) fn drain(&mut self, flow: Flow) {
        let drained = flow.drained();
        self.busy &= !drained;
        self.varyings &= !drained;
        for (slot, (written, spills)) in self.written.iter_mut().zip(&mut self.spills).enumerate() {
            if drained >> slot & 1 != 0 {
                *written = 0;
                spills.clear();
            }
        }
        for accesses in [&mut self.buffer, &mut self.shared, &mut self.scratch] {
            accesses.drain(drained);
        }
    }

    /// Adds what is under way on another path. Whether that was more than was known.
    pub(crate) fn join(&mut self, other: &Scoreboard) -> bool {
        let mut more = join(&mut self.busy, other.busy);
        more |= join(&mut self.varyings, other.varyings);
        for (mine, theirs) in self.written.iter_mut().zip(other.written) {
            more |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        more |= self.buffer.join(other.buffer);
        more |= self.shared.join(other.shared);
        more |= self.scratch.join(other.scratch);
        for (mine, theirs) in self.spills.iter_mut().zip(&other.spills) {
            for (offset, kinds) in theirs {
                more |= mine.entry(*offset).or_default().join(*kinds);
            }
        }
        more
    }
}
