//! Text: instructions as people read and write them, with labels.
//!
//! Guarantees: assembling what [`disassemble`] gives is the word again; the same templates print and parse.
//! The text is that of Mesa 26, and what that leaves out of an instruction follows in braces, where it is not the
//! default: `REQ_RESOURCE.compute {rt}`.  [`Syntax`] names the dialects.  Facts: hardware/command-stream.md 5.
//!
//! ```
//! use eitri_cs::text::{Syntax, assemble_line, disassemble};
//! use eitri_cs::Arch;
//!
//! let word = assemble_line("SYNC_ADD64.error_propagate.csg [d66], d68, #8, #1", Arch::V10)?;
//! assert_eq!(word, 0x3301_4244_0008_0005);
//! let text = disassemble(word, Arch::V10, Syntax::Eitri)?;
//! assert_eq!(text.to_string(), "SYNC_ADD64.error_propagate.csg [d66], d68, #8, #1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assemble;
mod cursor;
mod error;
mod listing;
mod mnemonic;
mod parse;
mod print;
mod template;

pub use assemble::{Assembly, LabelSlot, assemble, assemble_line};
pub use error::{TextError, TextFault};
pub use listing::{Line, Listing};
pub use print::{Text, disassemble};

use core::str::FromStr;

/// A dialect of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// As Mesa 26, and what it leaves out in braces: nothing is lost.
    #[default]
    Eitri,
    /// As Mesa 26 prints, to the letter.
    Mesa26,
    /// As Mesa 24.1 prints, to the letter. It knows v10 only.
    Mesa24,
}

/// A name that is no [`Syntax`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSyntax;

impl core::fmt::Display for UnknownSyntax {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("not a syntax of command streams: there are eitri, mesa26 and mesa24")
    }
}

impl core::error::Error for UnknownSyntax {}

impl FromStr for Syntax {
    type Err = UnknownSyntax;

    fn from_str(text: &str) -> Result<Syntax, UnknownSyntax> {
        match text {
            "eitri" => Ok(Syntax::Eitri),
            "mesa26" => Ok(Syntax::Mesa26),
            "mesa24" => Ok(Syntax::Mesa24),
            _ => Err(UnknownSyntax),
        }
    }
}
