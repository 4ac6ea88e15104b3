//! Instructions made ready to run: operands resolved, the operation as one value.
//!
//! A word is decoded once per program, not once per warp. Facts: hardware/valhall-isa.md 2, 3, 6, 8.1.

use super::alu::{Alu, Condition, Wide};
use super::message::Message;
use super::select::{Select, SelectWide};
use super::straight::Issued;
use eitri_isa::row::Unit;
use eitri_isa::{Flow, Half, Special};

/// What a source reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum From {
    /// Not used.
    Nothing,
    /// A register; the low one of a pair.
    Register(u8),
    /// A uniform word; the low one of a slot.
    Uniform(u8),
    /// A constant.
    Constant(u32),
    /// A special value, from this word on.
    Special(Special, Half),
}

/// A 32-bit source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// Where the bits are.
    pub from: From,
    /// Which of them.
    pub select: Select,
    /// Bits that abs keeps.
    pub keep: u32,
    /// Bits that neg or not flips.
    pub flip: u32,
    /// The bits are read as they stand: no selection, nothing kept back or flipped.
    pub is_plain: bool,
}

impl Source {
    pub(crate) const NONE: Source = Source {
        from: From::Nothing,
        select: Select::Identity,
        keep: u32::MAX,
        flip: 0,
        is_plain: true,
    };

    /// `bits` after the selection, absolute value and negation.
    #[inline]
    pub(crate) fn modified(&self, bits: u32) -> u32 {
        if self.is_plain {
            return bits;
        }
        (self.select.apply(bits) & self.keep) ^ self.flip
    }

    /// A source that is a constant.
    pub(crate) const fn constant(value: u32) -> Source {
        Source {
            from: From::Constant(value),
            ..Source::NONE
        }
    }
}

/// A 64-bit source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WideSource {
    /// Where the bits are.
    pub from: From,
    /// Which of them.
    pub select: SelectWide,
    /// All bits are flipped.
    pub not: bool,
}

impl WideSource {
    pub(crate) const NONE: WideSource = WideSource {
        from: From::Nothing,
        select: SelectWide::Identity,
        not: false,
    };
}

/// What a branch tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The 32-bit value.
    Word,
    /// One half.
    Half(u8),
    /// All bits set.
    AllOnes,
    /// Bits 3 to 20 are not all alike.
    LowBits,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    /// Nothing but its flow control.
    Nop,
    /// Computes 32 bits.
    Alu(Alu),
    /// Computes 64 bits.
    Wide(Wide),
    /// A mask of the lanes of a subgroup in which the source is not zero.
    LaneMask { subgroup: u8 },
    /// The value of another lane of the subgroup.
    OtherLane {
        subgroup: u8,
        xor: bool,
        inactive: u32,
    },
    /// Goes elsewhere by a number of instructions.
    Branch {
        test: Test,
        if_zero: bool,
        offset: i32,
    },
    /// Goes to where source 1 says.
    BranchTo {
        test: Test,
        if_zero: bool,
        absolute: bool,
    },
    /// Discards the fragments of lanes for which the condition holds between two floats.
    Discard(Condition),
    /// Asks a unit outside.
    Message(Message),
    /// The deliberate fault.
    Kaboom,
    /// No instruction.
    Invalid,
    /// An instruction that the model does not know enough about.
    NotModelled,
}

/// An instruction, ready to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Instruction {
    pub(crate) word: u64,
    pub(crate) operation: Operation,
    pub(crate) sources: [Source; 4],
    /// How many of them it has.
    pub(crate) source_count: u8,
    pub(crate) wide: [WideSource; 3],
    /// Destination register and the bits of it that are written; 0 is none.
    pub(crate) dest: u8,
    pub(crate) mask: u32,
    pub(crate) flow: Flow,
    /// Registers that it reads, a bit a register.
    pub(crate) reads: u64,
    /// Registers that it writes.
    pub(crate) writes: u64,
    /// Registers that are dead afterwards.
    pub(crate) last_use: u64,
    /// The unit that executes it, and for how many cycles.
    pub(crate) unit: Unit,
    pub(crate) cycles: u8,
    /// Components of 16 bits that it interpolates.
    pub(crate) interpolated: u8,
    /// What it adds to the counts of a run of instructions, and whether one may execute it (`straight`).
    pub(crate) issued: Issued,
    pub(crate) is_straight: bool,
    /// Whether it is a message that a run may send (`messages::direct`).
    pub(crate) may_be_direct: bool,
}

impl Instruction {
    /// Whether it reads a special value that is another one on another core.
    pub(super) fn depends_on_core(&self) -> bool {
        let narrow = self.sources.iter().map(|source| source.from);
        let wide = self.wide.iter().map(|source| source.from);
        narrow.chain(wide).any(|from| match from {
            From::Special(special, _) => matches!(
                special,
                Special::CoreId | Special::WorkgroupLocalPointer | Special::ThreadLocalPointer
            ),
            _ => false,
        })
    }

    /// The slot that its message is outstanding on, as a bit; none of what sends no message.
    pub(super) fn sends_to(&self) -> u8 {
        match self.operation {
            Operation::Message(message) => 1 << (message.slot & 7),
            _ => 0,
        }
    }
}
