//! The two dialects of the text.
//!
//! Facts: hardware/valhall-isa.md sections 7 and 19.

use core::fmt;
use core::str::FromStr;

use crate::row::Row;

/// A dialect. Arm's own is a third, and not known here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Mesa 24.1's assembler and disassembler. What that tool doesn't know is written too, so nothing is lost.
    #[default]
    Mesa24,
    /// Mesa 26.2's disassembler, to the letter. What that tool doesn't print is lost.
    Mesa26,
}

impl Syntax {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::Mesa24, Self::Mesa26];

    /// Its name on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mesa24 => "mesa24",
            Self::Mesa26 => "mesa26",
        }
    }

    /// The mnemonic of a row; `None` if the dialect has none.
    pub(crate) const fn mnemonic(self, row: &Row) -> Option<&'static str> {
        match self {
            Self::Mesa24 => Some(row.mesa24),
            Self::Mesa26 => row.mesa26,
        }
    }
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a dialect: mesa24 or mesa26")]
pub struct UnknownSyntax;

impl FromStr for Syntax {
    type Err = UnknownSyntax;

    fn from_str(text: &str) -> Result<Self, UnknownSyntax> {
        Self::ALL
            .into_iter()
            .find(|syntax| syntax.name().eq_ignore_ascii_case(text))
            .ok_or(UnknownSyntax)
    }
}
