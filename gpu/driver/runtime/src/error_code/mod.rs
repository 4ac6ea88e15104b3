//! Codes: an error as numbers, for images that have no room for the sentences, and back.
//!
//! A code is one line: `eitri-error 2 3 2 0 0 :L2_READY 160 …`. Behind the edition each word is a number in hexadecimal (which
//! variant, then its values) or, after a colon, a name. Everything that the error holds is in it, so that who reads it has the
//! very error: `eitri explain eitri-error 2 …` prints it as an image with room would.
//!
//! Guarantees: a code has no letter that a shell or a console changes; reading any text never panics.
//! Never: needs the tables or `core`'s printing of numbers.

mod rows;
#[cfg(test)]
mod tests;

pub(crate) use rows::{values, variants};

use crate::error::Error;
use core::fmt::{self, Write};

/// What every code begins with.
pub const CODE_BEGINS: &str = "eitri-error";
/// The edition of the numbers. A change of a row that has been there before makes the next one.
const EDITION: u64 = 2;

/// An error as it is printed where there is no room for sentences: [`Error::code`].
#[derive(Clone, Copy, Debug)]
pub struct Code<'e>(&'e Error);

impl fmt::Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CODE_BEGINS)?;
        let mut words = Words {
            to: f,
            result: Ok(()),
        };
        words.number(EDITION);
        self.0.put(&mut words);
        words.result
    }
}

/// Why a text is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// It does not begin as one.
    #[error("no code of an error: such begin with `eitri-error`")]
    Begin,
    /// It is another edition's.
    #[error(
        "the code is of edition {found:#x}, and edition {EDITION:#x} is known: read it with the version that the image was built from"
    )]
    Edition {
        /// Which.
        found: u64,
    },
    /// It ends early, goes on behind its end, or has a number or a name that nothing has.
    #[error("no error has such a code: a word is missing, or one was changed")]
    Words,
}

impl Error {
    /// The error as numbers and names, to be printed. With `text` off this is a tenth of what its sentences take.
    pub const fn code(&self) -> Code<'_> {
        Code(self)
    }

    /// Reads what [`Error::code`] has printed. `keep` keeps a name for as long as errors may be; it may give one that is kept
    /// already.
    ///
    /// # Errors
    /// When it is no code, or one of another edition.
    ///
    /// ```
    /// use eitri_runtime::Error;
    ///
    /// let keep = |name: &str| -> &'static str { String::from(name).leak() };
    /// let error = Error::Cores { wanted: 0x30, usable: 0xF };
    /// let code = error.code().to_string();
    /// assert_eq!(code, "eitri-error 2 17 30 f");
    /// assert_eq!(Error::from_code(&code, keep), Ok(error));
    /// ```
    pub fn from_code(code: &str, keep: fn(&str) -> &'static str) -> Result<Error, CodeError> {
        let mut words = code.split_ascii_whitespace();
        if words.next() != Some(CODE_BEGINS) {
            return Err(CodeError::Begin);
        }
        let mut line = Line { words, keep };
        match line.number() {
            Some(EDITION) => {}
            Some(found) => return Err(CodeError::Edition { found }),
            None => return Err(CodeError::Words),
        }
        let error = Error::take(&mut line);
        let end = line.words.next().is_none();
        error.filter(|_| end).ok_or(CodeError::Words)
    }
}

/// What can be a part of a code.
pub(crate) trait Coded: Sized {
    /// Writes it.
    fn put(&self, to: &mut Words<'_, '_>);
    /// Reads it; `None` where there is nothing such.
    fn take(from: &mut dyn Source) -> Option<Self>;
}

/// Where words are written to.
pub(crate) struct Words<'a, 'f> {
    to: &'a mut fmt::Formatter<'f>,
    result: fmt::Result,
}

impl Words<'_, '_> {
    #[inline(never)]
    pub(crate) fn number(&mut self, number: u64) {
        self.letter(b' ');
        let digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(1);
        (0..digits)
            .rev()
            .for_each(|digit| self.digit((number >> (4 * digit)) as u8));
    }

    fn digit(&mut self, number: u8) {
        self.letter(match number & 0xF {
            number @ 0..=9 => b'0' + number,
            number => b'a' - 10 + number,
        });
    }

    /// Letters, digits and underscores as they are, spaces as `+`, everything else as `=` and its number.
    #[inline(never)]
    fn name(&mut self, name: &str) {
        self.letter(b' ');
        self.letter(b':');
        for letter in name.bytes() {
            match letter {
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.letter(letter),
                b' ' => self.letter(b'+'),
                _ => {
                    self.letter(b'=');
                    self.digit(letter >> 4);
                    self.digit(letter);
                }
            }
        }
    }

    #[inline(never)]
    fn letter(&mut self, letter: u8) {
        if self.result.is_ok() {
            self.result = self.to.write_char(char::from(letter));
        }
    }
}

/// Where words are read from.
pub(crate) trait Source {
    fn number(&mut self) -> Option<u64>;
    fn name(&mut self) -> Option<&'static str>;
}

/// The rest of a line.
struct Line<'l> {
    words: core::str::SplitAsciiWhitespace<'l>,
    keep: fn(&str) -> &'static str,
}

impl Source for Line<'_> {
    fn number(&mut self) -> Option<u64> {
        u64::from_str_radix(self.words.next()?, 16).ok()
    }

    fn name(&mut self) -> Option<&'static str> {
        let mut letters = self.words.next()?.strip_prefix(':')?.bytes();
        let mut name: heapless::Vec<u8, MOST_OF_NAME> = heapless::Vec::new();
        while let Some(letter) = letters.next() {
            let letter = match letter {
                b'+' => b' ',
                b'=' => {
                    let mut digit = || char::from(letters.next()?).to_digit(16);
                    (digit()? << 4 | digit()?) as u8
                }
                letter => letter,
            };
            name.push(letter).ok()?;
        }
        core::str::from_utf8(&name).ok().map(self.keep)
    }
}

/// Letters of the longest name that is read.
const MOST_OF_NAME: usize = 128;
