//! Why a line is no instruction, and which part of it says so.

use core::fmt;

use crate::error::EncodeError;
use crate::field::ImmId;

/// A span of bytes of the line: `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// Why a line is no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ParseError {
    /// The bytes of the line that the error is about.
    pub span: Span,
    /// What is wrong with them.
    pub kind: ParseErrorKind,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    /// There is nothing.
    #[error("no instruction")]
    Empty,
    /// No instruction has this name.
    #[error("no instruction of this name")]
    Mnemonic,
    /// The word is no modifier of the instruction.
    #[error("not a modifier of this instruction")]
    Modifier,
    /// The modifier stands twice.
    #[error("modifier {0} is given twice")]
    RepeatedModifier(&'static str),
    /// Two words of flow control.
    #[error("flow control is given twice")]
    TwoFlows,
    /// A modifier that has no default.
    #[error("modifier {0} is missing")]
    MissingModifier(&'static str),
    /// Too few or too many operands.
    #[error("{expected} operand(s) expected, {found} found")]
    OperandCount {
        /// How many the instruction has.
        expected: u8,
        /// How many there are.
        found: usize,
    },
    /// Something else must stand here.
    #[error("{0} expected")]
    Expected(Expected),
    /// The value is not in the constant table.
    #[error("{0:#x} is not in the constant table")]
    NotInTable(u32),
    /// The word does not apply to this source.
    #[error("not a modifier of this source")]
    SourceModifier,
    /// Two words that select lanes, or the same word twice.
    #[error("this source is modified twice in the same way")]
    RepeatedSourceModifier,
    /// The source must select lanes.
    #[error("this source must say which lanes it reads: {0}")]
    MissingSelection(&'static str),
    /// The word stands for several values: the dialect does not say which.
    #[error("{0} stands for values that this dialect does not tell apart")]
    Ambiguous(&'static str),
    /// The registers of a staging range do not follow each other.
    #[error("the registers of a staging range must follow each other")]
    NotConsecutive,
    /// A number is outside its range.
    #[error("{value} is outside {least}..={greatest}")]
    OutOfRange {
        /// The number.
        value: i64,
        /// The least allowed.
        least: i64,
        /// The greatest allowed.
        greatest: i64,
    },
    /// The instruction can't be encoded.
    #[error(transparent)]
    Encode(EncodeError),
}

/// What should have stood there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A register, r0 to r63.
    Register,
    /// A pair of registers, `[r0:r1]`.
    Pair,
    /// A register, `r0`, or a half of it, `r0.h0`.
    Destination,
    /// A staging range, `@r0:r1`.
    Staging,
    /// A source.
    Source,
    /// A uniform.
    Uniform,
    /// An immediate, `name:value`.
    Immediate(ImmId),
    /// A number.
    Number,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register => f.write_str("a register, r0 to r63,"),
            Self::Pair => f.write_str("a pair of registers such as [r0:r1]"),
            Self::Destination => f.write_str("a register, or a half of one such as r0.h0,"),
            Self::Staging => f.write_str("a staging range such as @r0:r1"),
            Self::Source => f.write_str("a register, uniform, constant or special value"),
            Self::Uniform => f.write_str("a uniform"),
            Self::Immediate(ImmId::Constant) => f.write_str("#value"),
            Self::Immediate(id) => write!(f, "{}:value", id.name()),
            Self::Number => f.write_str("a number (decimal, 0x, 0o or 0b)"),
        }
    }
}
