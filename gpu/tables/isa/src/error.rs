//! Why a word is not an instruction, or an instruction not a word.

use core::fmt;

use crate::arch::{Arch, ArchSet};
use crate::op::Op;
use crate::values::FieldId;

/// A rule of the hardware that an instruction breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// The generation lacks the instruction.
    #[error("{op} exists on {has}, not on {arch}")]
    NoSuchInstruction {
        /// The instruction.
        op: Op,
        /// The generation asked for.
        arch: Arch,
        /// Those that have it.
        has: ArchSet,
    },
    /// Mesa 24.1 text knows the instruction; no hardware has it.
    #[error("no hardware has {op}: only the text of Mesa 24.1 knows it")]
    NoHardware {
        /// The instruction.
        op: Op,
    },
    /// A modifier holds a value that is reserved, or that this instruction or generation lacks.
    #[error("{field} of {op} has no value {value} on {arch}")]
    FieldValue {
        /// The instruction.
        op: Op,
        /// The modifier's name.
        field: &'static str,
        /// Its bits.
        value: u8,
        /// The generation.
        arch: Arch,
    },
    /// An immediate holds a value that the generation lacks.
    #[error("{name} of {op} has no value {value} on {arch}")]
    ImmediateValue {
        /// The instruction.
        op: Op,
        /// The immediate's name.
        name: &'static str,
        /// Its value.
        value: i64,
        /// The generation.
        arch: Arch,
    },
    /// The generation lacks the flow-control value.
    #[error("flow control has no value {value} on {arch}")]
    Flow {
        /// Its four bits.
        value: u8,
        /// The generation.
        arch: Arch,
    },
    /// A source selects lanes in a way that is reserved, or that this instruction or generation lacks.
    #[error("source {source_index} of {op}: the lane selection has no value {value}")]
    SelectValue {
        /// The instruction.
        op: Op,
        /// Which source, from 0.
        source_index: u8,
        /// The field's value.
        value: u8,
    },
    /// The page has no special value there, or not on this generation.
    #[error("page {page} has no special value {index} on {arch}")]
    SpecialValue {
        /// The page.
        page: u8,
        /// The index in it.
        index: u8,
        /// The generation.
        arch: Arch,
    },
    /// A 64-bit source does not start at an even register, an even uniform or word 0 of a special value.
    #[error("source {source_index} of {op} has 64 bits and must start at an even register or word")]
    OddSource {
        /// The instruction.
        op: Op,
        /// Which source, from 0.
        source_index: u8,
    },
    /// A 64-bit destination does not start at an even register.
    #[error("the destination of {op} has 64 bits and must be an even register")]
    OddDestination {
        /// The instruction.
        op: Op,
    },
    /// The destination's mask means nothing on this instruction.
    #[error("{op} can't write its destination that way: the mask is {mask}")]
    DestinationMask {
        /// The instruction.
        op: Op,
        /// The two bits of the mask.
        mask: u8,
    },
    /// A staging range of several registers starts at an odd one.
    #[error("staging range of {op}: {count} registers must start at an even one, not r{first}")]
    OddRange {
        /// The instruction.
        op: Op,
        /// The first register.
        first: u8,
        /// How many.
        count: u8,
    },
    /// A staging range has a number of registers that the instruction or its encoding lacks, or passes r63.
    #[error("staging range of {op}: it can't have {count} register(s) from r{first} on")]
    RangeCount {
        /// The instruction.
        op: Op,
        /// The first register.
        first: u8,
        /// How many.
        count: u8,
    },
    /// Uniforms and special values of two pages.
    #[error(
        "{op} reads uniforms or special values of pages {first} and {second}; an instruction has one page"
    )]
    TwoPages {
        /// The instruction.
        op: Op,
        /// One page.
        first: u8,
        /// Another.
        second: u8,
    },
    /// More than two sources that are not registers.
    #[error("{op} reads more than two different uniforms, constants or special values")]
    TooManyConstants {
        /// The instruction.
        op: Op,
    },
    /// An instruction that is no message reads more than one 64-bit slot.
    #[error("{op} reads uniforms or special values of more than one 64-bit slot")]
    TooManySlots {
        /// The instruction.
        op: Op,
    },
    /// A source of an instruction that reads registers alone is something else.
    #[error("source {source_index} of {op} must be a register")]
    RegistersOnly {
        /// The instruction.
        op: Op,
        /// Which source, from 0.
        source_index: u8,
    },
    /// An atomic compares but does not exchange.
    #[error("{op} compares only when it exchanges (axchg)")]
    CompareWithoutExchange {
        /// The instruction.
        op: Op,
    },
    /// The number of staging registers and the width of a checked access do not fit together.
    #[error("{op}: {count} register(s) can't hold an access of that width on {arch}")]
    CheckedWidth {
        /// The instruction.
        op: Op,
        /// How many registers.
        count: u8,
        /// The generation.
        arch: Arch,
    },
    /// An atomic's offset is not a multiple of its access size.
    #[error("the offset {offset} of {op} is not a multiple of {size} bytes")]
    Misaligned {
        /// The instruction.
        op: Op,
        /// The offset in bytes.
        offset: u8,
        /// The size of the access in bytes.
        size: u8,
    },
}

/// Why an instruction can't be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// It breaks a rule of the hardware.
    #[error(transparent)]
    Rule(#[from] Rule),
    /// An operand or a modifier without default was never given.
    #[error("{op} lacks {part}")]
    Missing {
        /// The instruction.
        op: Op,
        /// What is missing.
        part: Part,
    },
    /// The instruction has no such operand or modifier.
    #[error("{op} has no {part}")]
    NoSuch {
        /// The instruction.
        op: Op,
        /// What was given.
        part: Part,
    },
    /// The instruction's modifier has no such value.
    #[error("{field} of {op} has no such value")]
    NoValue {
        /// The instruction.
        op: Op,
        /// The modifier's name.
        field: &'static str,
    },
    /// A source can't be negated, inverted, made absolute or select those lanes.
    #[error("source {source_index} of {op} can't be modified by {modifier}")]
    SourceModifier {
        /// The instruction.
        op: Op,
        /// Which source, from 0.
        source_index: u8,
        /// The modifier's word.
        modifier: &'static str,
    },
    /// An immediate is out of range.
    #[error("{name} of {op} is {value}, outside {least}..={greatest}")]
    Immediate {
        /// The instruction.
        op: Op,
        /// The immediate's name.
        name: &'static str,
        /// What was asked for.
        value: i64,
        /// The least value.
        least: i64,
        /// The greatest value.
        greatest: i64,
    },
}

/// A part of an instruction, in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The destination.
    Destination,
    /// The staging range that is read.
    StagingRead,
    /// The staging range that is written.
    StagingWrite,
    /// A source, from 0.
    Source(u8),
    /// An immediate.
    Immediate(&'static str),
    /// A modifier, by name.
    Modifier(&'static str),
    /// A modifier, by identity.
    Field(FieldId),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Destination => f.write_str("destination"),
            Self::StagingRead => f.write_str("staging range to read"),
            Self::StagingWrite => f.write_str("staging range to write"),
            Self::Source(index) => write!(f, "source {index}"),
            Self::Immediate(name) => write!(f, "immediate {name}"),
            Self::Modifier(name) => write!(f, "modifier {name}"),
            Self::Field(id) => write!(f, "modifier {id:?}"),
        }
    }
}

/// Why a word is no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The word is zero: the end of a program, and a fault if executed.
    #[error("a zero word marks the end of a program")]
    Zero,
    /// Bit 63 is set.
    #[error("bit 63 is set")]
    TopBit,
    /// No instruction has this opcode with these secondary opcodes.
    #[error("opcode {opcode:#x} with these secondary opcodes is no instruction")]
    Opcode {
        /// The primary opcode.
        opcode: u16,
    },
    /// Bits that belong to no field of the instruction are set. They must be written as 0.
    #[error("{op}: bits {bits:#018x} belong to no field and must be 0")]
    Unclaimed {
        /// The instruction.
        op: Op,
        /// The bits, as a mask over the word.
        bits: u64,
    },
    /// The placeholder of an instruction without destination, or the direction of a staging range, is wrong.
    #[error("{op}: bits {mask:#018x} must hold {expected:#x}")]
    Fixed {
        /// The instruction.
        op: Op,
        /// The bits, as a mask over the word.
        mask: u64,
        /// What they must hold, in place.
        expected: u64,
    },
    /// An empty staging range names a register, or a page is selected that no source reads.
    #[error("{op}: bits {bits:#018x} mean nothing here and must be 0")]
    Meaningless {
        /// The instruction.
        op: Op,
        /// The bits, as a mask over the word.
        bits: u64,
    },
    /// It breaks a rule of the hardware.
    #[error(transparent)]
    Rule(#[from] Rule),
}
