//! What can be wrong with a text, and where.

use core::fmt;

use crate::arch::{Arch, ArchSet};
use crate::field::EnumInfo;
use crate::instr::{DecodeError, EncodeError};

/// What is wrong with a line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1 on.
    pub line: usize,
    /// The first character that is wrong, from 1 on.
    pub column: usize,
    /// How many characters are wrong; 0 at the end of the line.
    pub length: usize,
    /// What is wrong.
    pub fault: TextFault,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFault {
    /// No instruction has this name.
    UnknownInstruction {
        /// One with a similar name.
        nearest: Option<&'static str>,
    },
    /// The architecture does not have the instruction.
    NoSuchInstruction {
        /// Its name.
        instruction: &'static str,
        /// Where it exists.
        exists: ArchSet,
        /// What is assembled for.
        arch: Arch,
    },
    /// Other characters belong here.
    Expected {
        /// They.
        text: &'static str,
    },
    /// A number belongs here.
    ExpectedNumber {
        /// The field that it is for.
        field: &'static str,
    },
    /// One of a field's words belongs here.
    ExpectedWord {
        /// The field that it is for.
        field: &'static str,
        /// The words.
        words: &'static EnumInfo,
    },
    /// Registers belong here: `r66:r67`, or `_` for none.
    ExpectedRegisters,
    /// Registers of a mask rise, and the last is 15 behind the first at most.
    RegistersOutOfOrder,
    /// The base can't have these registers in its mask.
    BaseOutOfReach,
    /// A register pair is even.
    OddPair,
    /// The line goes on, but the instruction is complete.
    Trailing,
    /// The instruction has no such field, or not on this architecture.
    NoSuchField {
        /// The instruction.
        instruction: &'static str,
    },
    /// The value does not fit.
    Encode(EncodeError),
    /// The word would be no instruction.
    Decode(DecodeError),
    /// No line has this label.
    UnknownLabel,
    /// Another line has this label.
    DuplicateLabel {
        /// That line.
        first: usize,
    },
    /// There is no room for so many labels.
    TooManyLabels {
        /// How many there is room for.
        capacity: usize,
    },
    /// The label is further away than a branch reaches.
    BranchTooFar {
        /// The distance in instructions, from the one after the branch.
        offset: i64,
    },
}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextFault::UnknownInstruction { nearest } => {
                f.write_str("no instruction has this name")?;
                match nearest {
                    Some(name) => write!(f, "; is it {name}?"),
                    None => Ok(()),
                }
            }
            TextFault::NoSuchInstruction {
                instruction,
                exists,
                arch,
            } => write!(f, "{arch} has no {instruction}: it exists on {exists}"),
            TextFault::Expected { text } => write!(f, "expected `{text}`"),
            TextFault::ExpectedNumber { field } => write!(f, "expected a number, the {field}"),
            TextFault::ExpectedWord { field, words } => {
                write!(f, "expected the {field}:")?;
                for (i, value) in words.values.iter().enumerate() {
                    let separator = if i == 0 { "" } else { "," };
                    write!(f, "{separator} {}", value.word)?;
                }
                Ok(())
            }
            TextFault::ExpectedRegisters => {
                f.write_str("expected registers, such as `r66:r67`, or `_` for none")
            }
            TextFault::RegistersOutOfOrder => {
                f.write_str("registers rise, and the last is 15 behind the first at most")
            }
            TextFault::BaseOutOfReach => f.write_str(
                "the base is the first register or up to 15 in front of it, and 15 from the last at most",
            ),
            TextFault::OddPair => f.write_str("a register pair is even"),
            TextFault::Trailing => f.write_str("the instruction is complete before this"),
            TextFault::NoSuchField { instruction } => {
                write!(f, "{instruction} has no such field here")
            }
            TextFault::Encode(error) => error.fmt(f),
            TextFault::Decode(error) => error.fmt(f),
            TextFault::UnknownLabel => f.write_str("no line has this label"),
            TextFault::DuplicateLabel { first } => {
                write!(f, "line {first} has this label already")
            }
            TextFault::TooManyLabels { capacity } => {
                write!(f, "there is room for {capacity} labels")
            }
            TextFault::BranchTooFar { offset } => write!(
                f,
                "the label is {offset} instructions away, but a branch reaches -32768 to 32767"
            ),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.fault)
    }
}

impl core::error::Error for TextError {}
