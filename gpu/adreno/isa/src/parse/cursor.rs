//! A place in a line, and the smallest things that are read from there.

use super::error::{ParseError, ParseErrorKind, Span};
use crate::field::sign_extend;
use crate::values::Name;

/// The rest of a line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    pub(super) pos: usize,
}

impl<'a> Cursor<'a> {
    /// The line without its comment.
    pub(super) fn new(line: &'a str) -> Self {
        let line = line.split(';').next().unwrap_or("").trim_end();
        let mut cursor = Self { line, pos: 0 };
        cursor.skip_spaces();
        cursor
    }

    pub(super) fn rest(&self) -> &'a str {
        self.line.get(self.pos..).unwrap_or("")
    }

    pub(super) fn is_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.pos += rest.len() - rest.trim_start().len();
    }

    /// An error about the word that stands here.
    pub(super) fn error(&self, kind: ParseErrorKind) -> ParseError {
        let rest = self.rest();
        let end = rest.find([' ', ',', ']', '\t']).unwrap_or(rest.len());
        let end = end.max(rest.chars().next().map_or(0, char::len_utf8));
        ParseError {
            span: Span {
                start: self.pos,
                end: self.pos + end,
            },
            kind,
        }
    }

    pub(super) fn expected(&self, what: &'static str) -> ParseError {
        self.error(ParseErrorKind::Expected(what))
    }

    /// Takes `text` if it stands here.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    /// Takes a word with its point, such as `.s`, if it stands here whole: `.s2en` is another.
    pub(super) fn word(&mut self, text: &str) -> bool {
        let rest = self.rest().strip_prefix(text).unwrap_or("");
        let goes_on = rest.starts_with(|letter: char| letter.is_ascii_alphanumeric());
        !(text.starts_with('.') && goes_on) && self.take(text)
    }

    /// Takes literal text of a template: a space stands for any number of them, and may be missing behind a comma.
    pub(super) fn literal(&mut self, text: &str, what: &'static str) -> Result<(), ParseError> {
        let mut after_comma = false;
        for letter in text.chars() {
            if letter == ' ' {
                let before = self.pos;
                self.skip_spaces();
                if before == self.pos && !after_comma {
                    return Err(self.expected(what));
                }
            } else {
                if letter == ',' {
                    self.skip_spaces();
                }
                if !self.rest().starts_with(letter) {
                    return Err(self.expected(what));
                }
                self.pos += letter.len_utf8();
            }
            after_comma = letter == ',';
        }
        Ok(())
    }

    /// The value of the longest of these texts that stands here, the first of those that are spelled alike; an empty text is
    /// always there.
    pub(super) fn name(&mut self, names: &[Name], what: &'static str) -> Result<u32, ParseError> {
        let mut longest: Option<&Name> = None;
        for name in names {
            let longer = longest.is_none_or(|longest| name.text.len() > longest.text.len());
            if longer && self.rest().starts_with(name.text) {
                longest = Some(name);
            }
        }
        let name = longest.ok_or_else(|| self.expected(what))?;
        self.pos += name.text.len();
        Ok(name.value)
    }

    /// A number, decimal or hexadecimal with `0x`, maybe negative.
    pub(super) fn number(&mut self) -> Result<i64, ParseError> {
        let rest = self.rest();
        let negative = rest.starts_with('-');
        let digits = &rest[usize::from(negative)..];
        let (radix, skip) = if digits.starts_with("0x") {
            (16, 2)
        } else {
            (10, 0)
        };
        let digits = &digits[skip..];
        let end = digits
            .find(|letter: char| !letter.is_digit(radix))
            .unwrap_or(digits.len());
        let value = i64::from_str_radix(&digits[..end], radix);
        let value = value.map_err(|_| self.expected("a number"))?;
        self.pos += usize::from(negative) + skip + end;
        Ok(if negative { -value } else { value })
    }

    /// A number between two others.
    pub(super) fn number_in(&mut self, least: i64, greatest: i64) -> Result<i64, ParseError> {
        let before = *self;
        let value = self.number()?;
        if value < least || value > greatest {
            return Err(before.error(ParseErrorKind::OutOfRange {
                value,
                least,
                greatest,
            }));
        }
        Ok(value)
    }

    /// An unsigned number of so many bits.
    pub(super) fn uint(&mut self, bits: u32) -> Result<u32, ParseError> {
        Ok(self.number_in(0, (1 << bits) - 1)? as u32)
    }

    /// A signed number as so many bits.
    pub(super) fn int(&mut self, bits: u32) -> Result<u32, ParseError> {
        let limit = 1 << (bits - 1);
        let value = self.number_in(-limit, limit - 1)?;
        Ok(value as u32 & (u64::MAX >> (64 - bits)) as u32)
    }

    /// An offset with its sign, or nothing for 0.
    pub(super) fn offset(&mut self, bits: u32) -> Result<i64, ParseError> {
        if !self.take("+") && !self.rest().starts_with('-') {
            return Ok(0);
        }
        Ok(i64::from(sign_extend(self.int(bits)?, bits)))
    }

    /// An index below `count`, a point, and a component: four times the index plus the component.
    pub(super) fn indexed(&mut self, count: i64) -> Result<u32, ParseError> {
        let index = self.number_in(0, count - 1)? as u32;
        if !self.take(".") {
            return Err(self.expected("`.` and a component"));
        }
        let comp = self.name(crate::values::Comp::NAMES, "a component: x, y, z or w")?;
        Ok(index * 4 + comp)
    }

    /// A register's number, without its width.
    pub(super) fn register(&mut self) -> Result<u32, ParseError> {
        let what = "a register such as r0.x";
        if self.take("a0.") {
            return Ok(244 + self.name(crate::values::Comp::NAMES, "a component")?);
        }
        if self.take("p0.") {
            return Ok(248 + self.name(crate::values::Comp::NAMES, "a component")?);
        }
        if self.rest().starts_with("r<") || !self.take("r") {
            return Err(self.expected(what));
        }
        self.indexed(64)
    }

    /// `<a0.x>` or `<a0.x + N>`, whose offset is given in bits.
    pub(super) fn relative(&mut self, signed: bool, bits: u32) -> Result<u32, ParseError> {
        let what = "<a0.x + offset>";
        if !self.take("<a0.x") {
            return Err(self.expected(what));
        }
        self.skip_spaces();
        let mut offset = 0;
        if self.take("+") {
            self.skip_spaces();
            offset = if signed {
                self.int(bits)?
            } else {
                self.uint(bits)?
            };
        }
        if !self.take(">") {
            return Err(self.expected(what));
        }
        Ok(offset)
    }

    /// A float up to the closing bracket, which is taken, too.
    pub(super) fn float(&mut self) -> Result<f32, ParseError> {
        let rest = self.rest();
        let end = rest
            .find(')')
            .ok_or_else(|| self.expected("a float and `)`"))?;
        let value = rest[..end].trim().parse();
        let value = value.map_err(|_| self.expected("a float"))?;
        self.pos += end + 1;
        Ok(value)
    }
}
