//! File: a board that lives outside of this repository, described in a file of TOML.
//!
//! The file has the fields of [`Description`], or of [`Outline`] where it states no memory: what its `struct`s and `enum`s are called
//! here is what the keys are called there, names of variants in lower case with hyphens. A time is a text such as `"10 ms"`; a kind
//! of UART is its name, `"dw8250"` or `"lpuart"`, or a table; what most boards have alike may be left out. Images are built for such
//! a board from [`rust_source`], which the build script of this crate takes in (`EITRI_BOARD_SOURCE`).
//!
//! For hosts: what is read here describes a machine that the reading program does not run on.
//!
//! ```
//! let text = r#"
//!     name = "acme-x1"
//!     title = "ACME X1"
//!     [gpu]
//!     window = { base = 0x1500_0000, bytes = 0x20_0000 }
//!     job = 92
//!     mmu = 93
//!     gpu = 94
//!     power_on = [{ what = "GPU clock, on", step = { write = { at = 0x1400_0000, value = 1 } } }]
//!     [loader.u-boot]
//!     text = "=> "
//! "#;
//! let error = eitri_boards::file::read(text).err().unwrap();
//! assert_eq!(error.message, "a step: no register");
//! let devices = "devices = [{ base = 0x1400_0000, bytes = 0x1000 }]\n";
//! let board = eitri_boards::file::read(&[devices, text].concat()).unwrap();
//! assert_eq!(board.title(), "ACME X1");
//! ```

pub(crate) mod fields;
mod source;

pub use source::rust_source;

use crate::board::{Board, Description};
use crate::outline::Outline;
use crate::target::Target;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::ops::Range;

/// Why a file describes no board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// What is wrong, in words.
    pub message: String,
    /// Where in the file, in bytes, where that is known.
    pub place: Option<Range<usize>>,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for FileError {}

impl From<&'static str> for FileError {
    fn from(message: &'static str) -> FileError {
        FileError {
            message: message.to_string(),
            place: None,
        }
    }
}

impl From<toml::de::Error> for FileError {
    fn from(error: toml::de::Error) -> FileError {
        FileError {
            message: error.message().to_string(),
            place: error.span(),
        }
    }
}

/// The board, or the outline, that a file of TOML describes. What is read is kept for as long as the program runs.
///
/// # Errors
/// Where the text is no TOML, a field is missing, unknown or of another type, or the parts of the board do not agree: what would
/// keep a board of this crate from being compiled.
pub fn read(text: &str) -> Result<Target, FileError> {
    let target = described(text)?;
    match is_name(target.name()) {
        true => Ok(target),
        false => Err(
            "a board's name has small letters, digits and hyphens, and begins with a letter".into(),
        ),
    }
}

/// Whether a name can be a word on a command line, a file's name, and part of the names of results.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-')
}

fn described(text: &str) -> Result<Target, FileError> {
    let table: toml::Table = toml::from_str(text)?;
    match table.contains_key("memory") {
        true => {
            let description: Description = toml::from_str(text)?;
            if let Some(problem) = description.problem() {
                return Err(problem.into());
            }
            // SAFETY: this is a host, where nobody makes pointers of a board's addresses. An image that is built of it has them from
            // its own sources, which say whose promise it is.
            let board = unsafe { Board::checked(description) }?;
            Ok(Target::Board(Box::leak(Box::new(board))))
        }
        false => {
            let outline: Outline = toml::from_str(text)?;
            if let Some(problem) = outline.problem() {
                return Err(problem.into());
            }
            Ok(Target::Outline(Box::leak(Box::new(outline))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn what_is_wrong_has_its_place() {
        let (text, wrong) = ("name = \"x\"\ntitle = \"X\"\ncolour = 5\n", "colour");
        let error = read(text).err().unwrap();
        let place = error.place.unwrap();
        assert_eq!(&text[place], wrong);
        assert!(error.message.contains("unknown field"), "{}", error.message);

        let error = read("name = ").err().unwrap();
        assert!(error.place.is_some(), "{}", error.message);
    }

    #[test]
    fn a_name_is_a_word() {
        for name in ["x", "acme-x1"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "ACME", "../x", "a b", "1x", "x\n"] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn numbers_that_no_register_has_are_refused() {
        let cases = [
            ("{ base = 0x1500_0001, bytes = 0x1000 }", "no whole pages"),
            ("{ base = 0x1500_0000, bytes = 0x7FFF_FFFF_FFFF_F000 }", ""),
            ("{ base = -4096, bytes = 0x1000 }", ""),
        ];
        for (window, message) in cases {
            let text = format!(
                "loader = 'uefi'\nname = 'x'\ntitle = 'X'\n[gpu]\nwindow = {window}\njob = 1\nmmu = 2\ngpu = 3\n"
            );
            let error = read(&text).err();
            let error = error.unwrap_or_else(|| panic!("{window} was taken"));
            assert!(error.message.contains(message), "{window}: {error}");
        }
    }
}
