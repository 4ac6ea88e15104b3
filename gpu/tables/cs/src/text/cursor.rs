//! A place in a line of text, and what can be read there.

use core::ops::Range;

use super::error::TextFault;

/// A fault and the bytes of the line that are wrong.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) at: Range<usize>,
    pub(super) fault: TextFault,
}

/// A place in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'s> {
    line: &'s str,
    at: usize,
}

pub(super) fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

impl<'s> Cursor<'s> {
    pub(super) fn new(line: &'s str) -> Cursor<'s> {
        Cursor { line, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'s str {
        &self.line[self.at..]
    }

    pub(super) fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Whether nothing but a comment follows.
    pub(super) fn is_done(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.is_empty() || rest.starts_with(';') || rest.starts_with("//")
    }

    /// What is wrong here: a word, or a single character.
    pub(super) fn fault(&self, fault: TextFault) -> Fault {
        let rest = self.rest();
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let length = match word {
            0 => rest.chars().next().map_or(0, char::len_utf8),
            word => word,
        };
        Fault {
            at: self.at..self.at + length,
            fault,
        }
    }

    /// What is wrong from `start` to here.
    pub(super) fn fault_since(&self, start: usize, fault: TextFault) -> Fault {
        Fault {
            at: start..self.at,
            fault,
        }
    }

    /// Takes `text`, upper or lower case, if it is here.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let here = self.rest().as_bytes().get(..text.len());
        let is_here = here.is_some_and(|here| here.eq_ignore_ascii_case(text.as_bytes()));
        if is_here {
            self.at += text.len();
        }
        is_here
    }

    /// Takes the literal text of a template: a space is any number of spaces, one at least where words would run
    /// together; a comma may have spaces before it.
    pub(super) fn take_literal(&mut self, text: &'static str) -> Result<(), Fault> {
        let start = *self;
        let mut after_comma = false;
        for (index, character) in text.char_indices() {
            match character {
                ' ' => {
                    let before = self.at;
                    self.skip_spaces();
                    if self.at == before && !after_comma {
                        return Err(start.expected(text));
                    }
                }
                ',' => {
                    self.skip_spaces();
                    if !self.take(",") {
                        return Err(self.expected(&text[index..]));
                    }
                }
                _ => {
                    let end = index + character.len_utf8();
                    if !self.take(&text[index..end]) {
                        return Err(self.expected(&text[index..]));
                    }
                }
            }
            after_comma = character == ',';
        }
        Ok(())
    }

    fn expected(&self, text: &'static str) -> Fault {
        self.fault(TextFault::Expected { text })
    }

    /// Takes the run of characters that satisfy `belongs`.
    pub(super) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Takes a number in decimal, or in hexadecimal behind `0x`; with `hex` in hexadecimal always. `-` may stand before.
    pub(super) fn take_number(&mut self, hex: bool) -> Option<i128> {
        let start = *self;
        let negative = self.take("-");
        let prefixed = self.take("0x");
        let radix = if hex || prefixed { 16 } else { 10 };
        let digits = self.take_while(|c| c.is_digit(radix));
        // 16 digits and a sign fit an i128 by far; longer numbers fit no field.
        let value = match digits.len() {
            1..=30 => i128::from_str_radix(digits, radix).ok(),
            0 => None,
            _ => Some(i128::from(u64::MAX) + 1),
        };
        if value.is_none() {
            *self = start;
        }
        value.map(|value| if negative { -value } else { value })
    }
}
