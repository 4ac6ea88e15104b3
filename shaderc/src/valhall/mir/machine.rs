//! What Valhall is to the passes that back ends share: words, halves and bytes, in a file of 64 registers of four bytes.
//!
//! Facts: hardware/compiler-backend.md 5.4 (groups), 5.6 (parts), 7.1 (64-bit arithmetic), hardware/compiler-abi.md 3.8
//! (spill slots).

use std::ops::Range;

use eitri_isa::Select;
use smallvec::smallvec;

use super::instr::{Extra, Instr, Modifiers, Sources, Words};
use super::modifier::Modifier;
use super::op::{Message, Op};
use super::operand::{Half, Operand, Register, Source, Space, Special, Word};
use super::part::{Part, REGISTER_BYTES, Width};
use crate::machine::{
    self, BlockId, Class, Instruction, Location, Machine, Reads, SpillAccess, SpillSlot, Value,
};
use crate::valhall::legalise::constants;

/// The machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Valhall;

impl Class for Width {
    fn units(self) -> usize {
        self.bytes()
    }

    fn span(self) -> Range<usize> {
        0..Register::COUNT * REGISTER_BYTES
    }

    fn may_spill(self) -> bool {
        true
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Width::Word => None,
            Width::Half => Some("half"),
            Width::Byte => Some("byte"),
        }
    }
}

impl machine::Register for Register {
    type Class = Width;

    fn class(self) -> Width {
        self.part().width()
    }

    fn unit(self) -> usize {
        usize::from(self.number()) * REGISTER_BYTES + self.part().byte()
    }

    fn at(class: Width, unit: usize) -> Option<Register> {
        let number = u8::try_from(unit / REGISTER_BYTES).ok()?;
        let part = Part::new(class, unit % REGISTER_BYTES)?;
        Some(Register::new(number)?.part_of(part))
    }
}

impl Machine for Valhall {
    type Register = Register;
    type Class = Width;
    type Instr = Instr;
    type Operand = Operand;
    type Condition = Source;
    type Extra = Extra;

    /// Twice the longest payload.
    const WIDEST: usize = 8 * REGISTER_BYTES;
    /// Even registers.
    const GROUP_UNITS: usize = 2 * REGISTER_BYTES;
    /// What one access can reach from the pointer.
    const SPILL_REACH: u32 = 0x7ffc;

    fn copy(to: Word, from: Word, _: Width, location: Location) -> Instr {
        Instr::copy(to, from, location)
    }

    fn move_operand(to: Value, class: Width, from: Operand, extra: &Extra) -> Instr {
        let dest = Word::Value(to);
        match (from, class) {
            (Operand::Constant(bits), Width::Word) => {
                constants::make(dest, bits, Location::default(), extra.arch)
            }
            // In both halves, of which one is written.
            (Operand::Constant(bits), Width::Half | Width::Byte) => {
                let both = (bits & 0xffff) * 0x1_0001;
                constants::make(dest, both, Location::default(), extra.arch)
            }
            _ => Instr {
                dests: smallvec![dest],
                sources: smallvec![Source::plain(from)],
                ..Instr::new(Op::Mov)
            },
        }
    }

    fn value_operand(value: Value) -> Operand {
        Operand::Word(Word::Value(value))
    }

    fn spill(slot: SpillSlot<Valhall>, _: &mut impl FnMut(Width) -> Value, out: &mut Vec<Instr>) {
        let op = match slot.class {
            Width::Word => Op::Store32,
            Width::Half => Op::Store16,
            Width::Byte => Op::Store8,
        };
        out.push(Instr {
            staging: smallvec![Word::Value(slot.value)],
            ..spill_access(op, slot)
        });
    }

    fn reload(slot: SpillSlot<Valhall>, _: &mut impl FnMut(Width) -> Value, out: &mut Vec<Instr>) {
        let op = match slot.class {
            Width::Word => Op::Load32,
            Width::Half => Op::Load16,
            Width::Byte => Op::Load8,
        };
        let load = Instr {
            dests: smallvec![Word::Value(slot.value)],
            ..spill_access(op, slot)
        };
        out.push(load.with(Modifier::Unsigned));
    }

    fn note(number: usize, location: Location) -> Instr {
        Instr {
            immediate: i64::try_from(number).ok(),
            location,
            ..Instr::new(Op::Nop)
        }
    }
}

/// Where coverage is, from the first test to the last BLEND.
const COVERAGE: Register = match Register::new(60) {
    Some(register) => register,
    None => panic!("there is a register 60"),
};
/// Where a blend shader finds the sample, and the second colour.
const HELD: [u8; 5] = [61, 4, 5, 6, 7];
/// Where a blend shader finds its return address.
pub(crate) const RETURN_ADDRESS: u8 = 48;

/// The source that is coverage.
fn coverage_source(op: Op) -> Option<usize> {
    match op {
        Op::Atest => Some(0),
        Op::ZsEmit => Some(2),
        Op::Blend => Some(1),
        _ => None,
    }
}

/// An access to a spill slot. Lanes that the shader discarded need their slots too: hence `force`.
fn spill_access(op: Op, slot: SpillSlot<Valhall>) -> Instr {
    let pointer = Source::plain(Operand::Special(Special::ThreadLocalPointer, Half::Low));
    Instr {
        sources: smallvec![pointer],
        immediate: Some(i64::from(slot.offset)),
        space: Some(Space::Spill),
        location: slot.location,
        ..Instr::new(op)
    }
    .with(Modifier::Force)
}

impl Reads<Register> for Operand {
    fn words(&self) -> impl Iterator<Item = Word> {
        Operand::words(*self)
    }

    fn map_words(&mut self, mut change: impl FnMut(Word) -> Word) {
        *self = match *self {
            Operand::Word(word) => Operand::Word(change(word)),
            Operand::Pair(low, high) => Operand::Pair(change(low), change(high)),
            other => other,
        };
    }
}

impl Reads<Register> for Source {
    fn words(&self) -> impl Iterator<Item = Word> {
        self.operand.words()
    }

    fn map_words(&mut self, change: impl FnMut(Word) -> Word) {
        self.operand.map_words(change);
    }
}

impl Instruction for Instr {
    type Machine = Valhall;
    type Repeat = (Op, Modifiers, Sources, Option<i64>);

    /// Sources, then staging, then what is held.
    fn reads(&self) -> impl Iterator<Item = Word> {
        self.sources
            .iter()
            .flat_map(|source| source.operand.words())
            .chain(self.staging.iter().copied())
            .chain(self.held.iter().copied())
    }

    fn writes(&self) -> impl Iterator<Item = Word> {
        self.dests.iter().copied()
    }

    fn map_reads(&mut self, mut change: impl FnMut(Word) -> Word) {
        for source in &mut self.sources {
            source.operand.map_words(&mut change);
        }
        for word in self.staging.iter_mut().chain(&mut self.held) {
            *word = change(*word);
        }
    }

    fn map_writes(&mut self, mut change: impl FnMut(Word) -> Word) {
        for word in &mut self.dests {
            *word = change(*word);
        }
    }

    /// Written, read staging, 64-bit sources.
    fn groups(&self) -> impl Iterator<Item = Words> {
        let pairs = self
            .sources
            .iter()
            .filter_map(|source| match source.operand {
                Operand::Pair(low, high) => Some(smallvec![low, high]),
                _ => None,
            });
        let runs = [&self.dests, &self.staging].into_iter();
        let runs = runs.filter(|run| run.len() > 1).cloned();
        runs.chain(pairs)
    }

    fn map_bound_reads(&mut self, mut change: impl FnMut(Word) -> Word) {
        for source in &mut self.sources {
            if let Operand::Pair(..) = source.operand {
                source.operand.map_words(&mut change);
            }
        }
        if self.staging.len() > 1 {
            for word in &mut self.staging {
                *word = change(*word);
            }
        }
        let coverage = coverage_source(self.op).and_then(|index| self.sources.get_mut(index));
        if let Some(coverage) = coverage {
            coverage.operand.map_words(&mut change);
        }
        for word in &mut self.held {
            *word = change(*word);
        }
    }

    /// Coverage where ATEST, ZS_EMIT and BLEND have it; what a blend shader takes where it looks for it
    /// (hardware/compiler-abi.md 3.4, 3.7).
    fn fixed(&self) -> impl Iterator<Item = (Word, Register)> {
        let coverage = coverage_source(self.op);
        let read = coverage.and_then(|index| self.sources.get(index));
        let read = read.into_iter().flat_map(|source| source.operand.words());
        let written = self
            .dests
            .iter()
            .copied()
            .filter(move |_| coverage.is_some());
        let coverage = read.chain(written).map(|word| (word, COVERAGE));
        let colors = self.staging.iter().copied().zip(0..);
        let colors = colors.filter(|_| self.op == Op::Blend);
        let held = self.held.iter().copied().zip(HELD);
        coverage.chain(
            colors
                .chain(held)
                .filter_map(|(word, number)| Some((word, Register::new(number)?))),
        )
    }

    /// What a blend shader may use, where one may be called: r0 to r15, and its return address.
    fn clobbers(&self) -> impl Iterator<Item = Register> {
        let registers = (0..16).chain([RETURN_ADDRESS]);
        registers
            .filter(|_| self.op == Op::Blend && self.immediate != Some(0))
            .filter_map(Register::new)
    }

    /// 64-bit arithmetic takes two cycles.
    fn late_reads(&self) -> impl Iterator<Item = Word> {
        let wide = self.op.message() == Message::No && self.dests.len() > 1;
        let sources = self.sources.iter().filter(move |_| wide);
        sources.filter_map(|source| match source.operand {
            Operand::Word(word) => Some(word),
            _ => None,
        })
    }

    fn as_copy(&self) -> Option<(Word, Word)> {
        match (self.op, self.dests.as_slice(), self.sources.as_slice()) {
            (Op::Mov, &[to], [source]) if source.is_plain() => match source.operand {
                Operand::Word(from) => Some((to, from)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Of a word that is made of two halves.
    fn as_gather(&self) -> Option<(Word, Words)> {
        let half = |source: &Source| match source.operand {
            Operand::Word(word) if source.select(Select::Identity).is_plain() => {
                (source.select == Select::H0).then_some(word)
            }
            _ => None,
        };
        match (self.op, self.dests.as_slice()) {
            (Op::MkVec, &[to]) => {
                let halves: Option<Words> = self.sources.iter().map(half).collect();
                halves.map(|halves| (to, halves))
            }
            _ => None,
        }
    }

    fn location(&self) -> Location {
        self.location
    }

    fn jumps_to(&self) -> Option<BlockId> {
        self.target
    }

    /// Loads stay too: the IR has removed those that may go.
    fn stays_unread(&self) -> bool {
        self.op.has_effect() || self.op.message() == Message::Load
    }

    fn may_move(&self) -> bool {
        self.op.message() == Message::No
            && !self.op.has_effect()
            && self.op != Op::Nop
            && !self.op.is_cross_lane()
            && !self.dests.is_empty()
    }

    fn repeats(&self) -> Option<Self::Repeat> {
        let pure = matches!(self.op.message(), Message::No | Message::Address)
            && !self.op.has_effect()
            && !self.op.is_cross_lane();
        pure.then(|| {
            (
                self.op,
                self.modifiers.clone(),
                self.sources.clone(),
                self.immediate,
            )
        })
    }

    fn may_repeat(&self) -> bool {
        !matches!(self.op.message(), Message::Barrier | Message::Fence)
            && !self.op.is_cross_lane()
            && !self.op.is_pinned()
    }

    fn is_cross_lane(&self) -> bool {
        self.op.is_cross_lane()
    }

    fn may_wait(&self) -> bool {
        match self.op.message() {
            Message::Atomic => true,
            Message::Load => self.volatile,
            _ => false,
        }
    }

    /// A constant or a uniform.
    fn may_be_remade(&self) -> bool {
        matches!(self.op, Op::Mov | Op::IAddImm) && self.reads().next().is_none()
    }

    fn makes_same(&self, other: &Instr) -> bool {
        (self.op, &self.sources, self.immediate) == (other.op, &other.sources, other.immediate)
    }

    fn located(self, location: Location) -> Instr {
        Instr { location, ..self }
    }

    fn spill_access(&self) -> Option<SpillAccess<Valhall>> {
        if self.space != Some(Space::Spill) {
            return None;
        }
        let offset = u32::try_from(self.immediate?).ok()?;
        match (self.dests.first(), self.staging.first()) {
            (None, Some(&from)) => Some(SpillAccess::Store { offset, from }),
            (Some(&to), None) => Some(SpillAccess::Load { offset, to }),
            _ => None,
        }
    }

    fn note(&self) -> Option<usize> {
        let number = self.immediate.filter(|_| self.op == Op::Nop)?;
        usize::try_from(number).ok()
    }
}
