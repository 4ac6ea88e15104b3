//! Messages in flight: the registers that they will write, and the memory that they may still touch, by slot.
//!
//! A model of the hardware's scoreboard from its description, for the checker alone.
//! Facts: hardware/compiler-backend.md 8.1 to 8.3, hardware/valhall-isa.md 6.

use std::collections::BTreeMap;

use crate::valhall::mir::{
    Flow, Instr, Instruction as _, Message, Modifier, Op, Register, Space, Word,
};
use eitri_isa::preload::Stage;

/// A set of slots, a bit each.
pub(super) type Slots = u8;

/// Memory whose accesses may meet. Spill slots are told apart byte by byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Region {
    Buffers,
    Shared,
    Scratch,
    SpillByte(i64),
}

/// Slots of the accesses to a region that have not happened yet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Accesses {
    reads: Slots,
    /// Atomic ones among them: two of one word must not pass each other (hardware/memory-model.md 5.2, CoRR).
    atomic_reads: Slots,
    writes: Slots,
}

/// What is in flight at a point of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InFlight {
    /// By register: the slots of messages that will write it.
    writers: [Slots; Register::COUNT],
    regions: BTreeMap<Region, Accesses>,
    /// Slots of loads of varyings: each computes in a hidden register where it interpolates, or finds it there.
    varyings: Slots,
    /// Slots of any message, and those that others signal.
    signalled: Slots,
}

impl Default for InFlight {
    fn default() -> InFlight {
        InFlight {
            writers: [0; Register::COUNT],
            regions: BTreeMap::new(),
            varyings: 0,
            signalled: 0,
        }
    }
}

/// The numbers of the registers among words.
fn registers(words: impl Iterator<Item = Word>) -> impl Iterator<Item = usize> {
    words
        .filter_map(Word::register)
        .map(|register| usize::from(register.number()))
}

/// The regions that an access touches.
fn regions(instr: &Instr) -> Vec<Region> {
    match instr.space {
        // Nobody writes it.
        None | Some(Space::Constant) => vec![],
        Some(Space::Buffer) => vec![Region::Buffers],
        Some(Space::Shared) => vec![Region::Shared],
        Some(Space::Scratch) => vec![Region::Scratch],
        Some(Space::Spill) => {
            let offset = instr.immediate.unwrap_or(0);
            (offset..offset + bytes(instr.op))
                .map(Region::SpillByte)
                .collect()
        }
    }
}

/// Bytes of an access to a spill slot.
fn bytes(op: Op) -> i64 {
    match op {
        Op::Load8 | Op::Store8 => 1,
        Op::Load16 | Op::Store16 => 2,
        Op::Load64 | Op::Store64 => 8,
        Op::Load96 | Op::Store96 => 12,
        Op::Load128 | Op::Store128 => 16,
        _ => 4,
    }
}

impl InFlight {
    /// What is in flight when a program begins: before a fragment program, depth and stencil (6) and colours (7) of the fragments
    /// below.
    pub(super) fn at_start(stage: Stage) -> InFlight {
        InFlight {
            signalled: if stage == Stage::Fragment { 0xc0 } else { 0 },
            ..InFlight::default()
        }
    }

    /// The slots of loads of varyings, which must be drained where lanes may part or meet.
    pub(super) fn varyings(&self) -> Slots {
        self.varyings
    }

    /// The slots that must be drained before an instruction is issued.
    pub(super) fn needed(&self, instr: &Instr) -> Slots {
        let touched = registers(instr.reads().chain(instr.writes()));
        let results = touched.fold(0, |slots, register| slots | self.writers[register]);
        let earlier = regions(instr)
            .into_iter()
            .filter_map(|region| self.regions.get(&region));
        let memory = match instr.op.message() {
            Message::No | Message::Address | Message::Fence => 0,
            Message::Load if instr.atomic => earlier.fold(0, |slots, region| {
                slots | region.atomic_reads | region.writes
            }),
            Message::Load => earlier.fold(0, |slots, region| slots | region.writes),
            Message::Store | Message::Atomic => {
                earlier.fold(0, |slots, region| slots | region.reads | region.writes)
            }
            Message::Barrier => self.signalled,
            Message::Test => self.signalled & 0x40,
            // Depth and stencil.
            Message::Pixel if instr.modifiers.contains(&Modifier::DepthStencil) => {
                self.signalled & 0x40
            }
            Message::Pixel => self.signalled & 0xc0,
        };
        let flat = instr.modifiers.contains(&Modifier::Again);
        let hidden = match instr.op.is_varying() && !flat {
            true => self.varyings,
            false => 0,
        };
        results | memory | hidden
    }

    /// The slots with accesses that a fence is about: of one memory, or of all that other threads see.
    pub(super) fn fenced(&self, space: Option<Space>) -> Slots {
        let of = |region: &Region| match region {
            Region::Buffers => space.is_none_or(|space| space == Space::Buffer),
            Region::Shared => space.is_none_or(|space| space == Space::Shared),
            Region::Scratch => space == Some(Space::Scratch),
            Region::SpillByte(_) => space == Some(Space::Spill),
        };
        let regions = self.regions.iter().filter(|(region, _)| of(region));
        regions.fold(0, |slots, (_, region)| slots | region.reads | region.writes)
    }

    /// Counts a message as sent.
    pub(super) fn send(&mut self, instr: &Instr) {
        let Some(slot) = instr.slot.filter(|slot| Flow::GENERAL >> slot & 1 != 0) else {
            return;
        };
        let bit = 1 << slot;
        self.signalled |= bit;
        if instr.op.is_varying() {
            self.varyings |= bit;
        }
        for register in registers(instr.writes()) {
            self.writers[register] |= bit;
        }
        for region in regions(instr) {
            let accesses = self.regions.entry(region).or_default();
            match instr.op.message() {
                Message::Load => {
                    accesses.reads |= bit;
                    accesses.atomic_reads |= if instr.atomic { bit } else { 0 };
                }
                Message::Store | Message::Atomic => accesses.writes |= bit,
                Message::No
                | Message::Address
                | Message::Barrier
                | Message::Test
                | Message::Pixel
                | Message::Fence => {}
            }
        }
    }

    /// All messages of these slots have done their work.
    pub(super) fn drain(&mut self, slots: Slots) {
        self.signalled &= !slots;
        self.varyings &= !slots;
        self.writers
            .iter_mut()
            .for_each(|writers| *writers &= !slots);
        self.regions.retain(|_, region| {
            region.reads &= !slots;
            region.atomic_reads &= !slots;
            region.writes &= !slots;
            *region != Accesses::default()
        });
    }

    /// Adds what is in flight on another path. True if that is news.
    pub(super) fn join(&mut self, other: &InFlight) -> bool {
        let before = (self.signalled, self.varyings);
        self.signalled |= other.signalled;
        self.varyings |= other.varyings;
        let mut news = (self.signalled, self.varyings) != before;
        for (slots, more) in self.writers.iter_mut().zip(other.writers) {
            news |= more & !*slots != 0;
            *slots |= more;
        }
        for (region, more) in &other.regions {
            let known = self.regions.entry(*region).or_default();
            let unknown = [
                more.reads & !known.reads,
                more.atomic_reads & !known.atomic_reads,
                more.writes & !known.writes,
            ];
            news |= unknown.into_iter().any(|slots| slots != 0);
            known.reads |= more.reads;
            known.atomic_reads |= more.atomic_reads;
            known.writes |= more.writes;
        }
        news
    }
}
