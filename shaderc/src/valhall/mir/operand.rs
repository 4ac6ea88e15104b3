//! Operands: what an instruction reads and writes, before and after allocation.
//!
//! Facts: hardware/valhall-isa.md 2 (source byte), 2.2 (special values), 7.3 (source modifiers).

use std::fmt;

use eitri_isa::Select;

use super::part::Part;
use crate::machine::Value;

/// One of the 64 registers of a thread, or a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Register {
    number: u8,
    part: Part,
}

impl Register {
    /// How many registers a thread can have.
    pub(crate) const COUNT: usize = 64;

    /// Register `number`, or `None` above r63.
    pub(crate) const fn new(number: u8) -> Option<Register> {
        if (number as usize) < Register::COUNT {
            let part = Part::WHOLE;
            Some(Register { number, part })
        } else {
            None
        }
    }

    /// A part of it.
    pub(crate) const fn part_of(self, part: Part) -> Register {
        Register { part, ..self }
    }

    /// 0..=63.
    pub(crate) const fn number(self) -> u8 {
        self.number
    }

    /// Which part of it.
    pub(crate) const fn part(self) -> Part {
        self.part
    }

    /// This register's bit in a mask of all registers.
    pub(crate) const fn bit(self) -> u64 {
        1 << self.number
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}{}", self.number, self.part)
    }
}

/// A word, or a part of one, that an instruction reads or writes: a value, and after allocation a register.
pub(crate) type Word = crate::machine::Word<Register>;

/// Special values that programs read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Special {
    ThreadLocalPointer,
    WorkgroupLocalPointer,
    LaneId,
    /// What ATEST takes.
    AtestDatum,
    /// Address of the positions of samples.
    Sample,
    /// What BLEND takes for a target, less than 8.
    BlendDescriptor(u8),
    /// The groups of outputs that a vertex program is to store; from v12 on.
    ShaderOutput,
    /// The address of the following instruction.
    ProgramCounter,
}

impl Special {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Special; 15] = [
        Special::ThreadLocalPointer,
        Special::WorkgroupLocalPointer,
        Special::LaneId,
        Special::AtestDatum,
        Special::Sample,
        Special::BlendDescriptor(0),
        Special::BlendDescriptor(1),
        Special::BlendDescriptor(2),
        Special::BlendDescriptor(3),
        Special::BlendDescriptor(4),
        Special::BlendDescriptor(5),
        Special::BlendDescriptor(6),
        Special::BlendDescriptor(7),
        Special::ShaderOutput,
        Special::ProgramCounter,
    ];

    /// The hardware's value.
    pub(crate) fn isa(self) -> eitri_isa::Special {
        match self {
            Special::ThreadLocalPointer => eitri_isa::Special::ThreadLocalPointer,
            Special::WorkgroupLocalPointer => eitri_isa::Special::WorkgroupLocalPointer,
            Special::LaneId => eitri_isa::Special::LaneId,
            Special::AtestDatum => eitri_isa::Special::AtestDatum,
            Special::Sample => eitri_isa::Special::Sample,
            Special::BlendDescriptor(target) => {
                // Targets are less than 8: the IR's verifier sees to it.
                let target = eitri_isa::RenderTarget::new(target % 8);
                target.map_or(eitri_isa::Special::AtestDatum, |target| {
                    eitri_isa::Special::BlendDescriptor(target)
                })
            }
            Special::ShaderOutput => eitri_isa::Special::ShaderOutput,
            Special::ProgramCounter => eitri_isa::Special::ProgramCounter,
        }
    }

    /// The name in assembly text.
    pub(crate) fn name(self) -> &'static str {
        self.isa().row().name
    }

    /// The FAU page that it is read through.
    pub(crate) fn page(self) -> u8 {
        self.isa().row().page
    }
}

/// The 32-bit half of a 64-bit special value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Half {
    Low,
    High,
}

/// What a source reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Operand {
    /// A 32-bit word, or a part, of which a selection names what it would of the word whose lowest part it is.
    Word(Word),
    /// A 64-bit pair: low word, high word.
    Pair(Word, Word),
    /// A constant that `legalise_constants` has still to place.
    Constant(u32),
    /// Uniform word; as a 64-bit source this word (even) and the next.
    Fau(u8),
    /// Entry of the immediate table; as a 64-bit source zero-extended.
    Table(u8),
    /// A special value, or one half of it.
    Special(Special, Half),
}

impl Operand {
    /// The words of the program that it reads: none, one or two.
    pub(crate) fn words(self) -> impl Iterator<Item = Word> {
        let (first, second) = match self {
            Operand::Word(word) => (Some(word), None),
            Operand::Pair(low, high) => (Some(low), Some(high)),
            Operand::Constant(_) | Operand::Fau(_) | Operand::Table(_) | Operand::Special(..) => {
                (None, None)
            }
        };
        first.into_iter().chain(second)
    }
}

/// A source: an operand, and what is done to it on the way in (selection, then absolute value, then negation).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Source {
    pub(crate) operand: Operand,
    pub(crate) select: Select,
    pub(crate) abs: bool,
    pub(crate) neg: bool,
    /// Complement of all bits.
    pub(crate) not: bool,
    /// The word is dead after this instruction; set by `mark_last_use` alone.
    pub(crate) last: bool,
}

impl Source {
    /// `operand` as it is.
    pub(crate) fn plain(operand: Operand) -> Source {
        Source {
            operand,
            select: Select::Identity,
            abs: false,
            neg: false,
            not: false,
            last: false,
        }
    }

    /// A value as it is.
    pub(crate) fn value(value: Value) -> Source {
        Source::plain(Operand::Word(Word::Value(value)))
    }

    /// A constant, to be placed later.
    pub(crate) fn constant(bits: u32) -> Source {
        Source::plain(Operand::Constant(bits))
    }

    /// The same with a selection of bytes or halves.
    pub(crate) fn select(self, select: Select) -> Source {
        Source { select, ..self }
    }

    /// The negated source.
    pub(crate) fn negated(self) -> Source {
        Source {
            neg: !self.neg,
            ..self
        }
    }

    /// True when nothing is done to the operand.
    pub(crate) fn is_plain(&self) -> bool {
        self.select == Select::Identity && !self.abs && !self.neg && !self.not
    }
}

/// Memory that a message touches; accesses to different spaces never meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Space {
    /// Read-only for the whole dispatch: never ordered against anything.
    Constant,
    /// Storage buffers.
    Buffer,
    /// Workgroup memory.
    Shared,
    /// The program's own variables in thread-local memory.
    Scratch,
    /// Spill slots in thread-local memory.
    Spill,
}

impl Space {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Space; 5] = [
        Space::Constant,
        Space::Buffer,
        Space::Shared,
        Space::Scratch,
        Space::Spill,
    ];

    /// The name in MIR text.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Space::Constant => "constant",
            Space::Buffer => "buffer",
            Space::Shared => "shared",
            Space::Scratch => "scratch",
            Space::Spill => "spill",
        }
    }
}
