//! Why a line is no instruction, and which part of it says so.

use crate::error::EncodeError;

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
    /// No instruction of the generation is written so.
    #[error("no instruction of this name")]
    Mnemonic,
    /// Something else must stand here.
    #[error("{0} expected")]
    Expected(&'static str),
    /// There is more than the instruction has.
    #[error("the instruction ends before this")]
    TooMuch,
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
    /// A register has the wrong width for the instruction, or for what stands before it.
    #[error("a {0} register is needed here")]
    Width(&'static str),
    /// The modifiers of the descriptor don't fit together.
    #[error(
        "no kind of descriptor is uniform or not, bindless or not, and uses a1.x or not, like this"
    )]
    Descriptor,
    /// The program has no such label.
    #[error("no such label")]
    Label,
    /// The instruction can't be encoded.
    #[error(transparent)]
    Encode(EncodeError),
}

impl ParseErrorKind {
    /// Of errors at the same place the one that says more is told: an instruction that was recognised, not one that was not.
    pub(super) const fn rank(&self) -> u8 {
        match self {
            Self::Empty | Self::Mnemonic => 0,
            Self::Expected(_) | Self::TooMuch => 1,
            _ => 2,
        }
    }
}
