//! The tokens of a script, one ahead, and the small things that statements are made of.

use super::{Parsed, expected, out_of_range};
use crate::error::Problem;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::literal::Literal;
use crate::script::Switch;
use crate::types::{Format, Type};
use crate::words::Word;
use std::ops::Range;
use std::sync::Arc;

/// A place between two tokens.
pub(super) struct Cursor<'s> {
    lexer: Lexer<'s>,
    ahead: Option<Token<'s>>,
    source: &'s str,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(source: &'s str, range: Range<usize>) -> Cursor<'s> {
        Cursor {
            lexer: Lexer::new(source, range),
            ahead: None,
            source,
        }
    }

    /// A cursor on another part of the same source.
    pub(super) fn on(&self, range: Range<usize>) -> Cursor<'s> {
        Cursor::new(self.source, range)
    }

    pub(super) fn next(&mut self) -> Parsed<Token<'s>> {
        match self.ahead.take() {
            Some(token) => Ok(token),
            None => self.lexer.next(),
        }
    }

    pub(super) fn peek(&mut self) -> Parsed<&Token<'s>> {
        let token = match self.ahead.take() {
            Some(token) => token,
            None => self.lexer.next()?,
        };
        Ok(self.ahead.insert(token))
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        let before = self.source.get(..byte).unwrap_or(self.source);
        before.matches('\n').count() + 1
    }

    /// Bytes of the next token.
    pub(super) fn here(&mut self) -> Parsed<Range<usize>> {
        Ok(self.peek()?.span.clone())
    }

    pub(super) fn at_end(&mut self) -> Parsed<bool> {
        Ok(self.peek()?.kind == TokenKind::EndOfScript)
    }

    /// Whether the statement ends here.
    pub(super) fn at_end_of_statement(&mut self) -> Parsed<bool> {
        let kind = &self.peek()?.kind;
        Ok(matches!(
            kind,
            TokenKind::EndOfLine | TokenKind::EndOfScript
        ))
    }

    pub(super) fn skip_lines(&mut self) -> Parsed<()> {
        while self.peek()?.kind == TokenKind::EndOfLine {
            self.next()?;
        }
        Ok(())
    }

    /// The end of the line or of the script.
    pub(super) fn end_of_statement(&mut self) -> Parsed<()> {
        let token = self.next()?;
        match token.kind {
            TokenKind::EndOfLine | TokenKind::EndOfScript => Ok(()),
            other => Err(expected("the end of the line", other, token.span)),
        }
    }

    /// A word or a name.
    pub(super) fn identifier(&mut self, wanted: &str) -> Parsed<(&'s str, Range<usize>)> {
        let token = self.next()?;
        match token.kind {
            TokenKind::Identifier(word) => Ok((word, token.span)),
            other => Err(expected(wanted, other, token.span)),
        }
    }

    /// A path: a word or a string.
    pub(super) fn path(&mut self, wanted: &str) -> Parsed<(String, Range<usize>)> {
        let token = self.next()?;
        match token.kind {
            TokenKind::Identifier(word) => Ok((word.to_owned(), token.span)),
            TokenKind::String(text) => Ok((text, token.span)),
            other => Err(expected(wanted, other, token.span)),
        }
    }

    /// This word.
    pub(super) fn keyword(&mut self, word: &str) -> Parsed<Range<usize>> {
        let token = self.next()?;
        match token.kind {
            TokenKind::Identifier(found) if found == word => Ok(token.span),
            other => Err(expected(format!("`{word}`"), other, token.span)),
        }
    }

    /// This word, if it comes next.
    pub(super) fn take_keyword(&mut self, word: &str) -> Parsed<bool> {
        let is_next = matches!(self.peek()?.kind, TokenKind::Identifier(found) if found == word);
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    /// A word of a set.
    pub(super) fn word<T: Word>(&mut self) -> Parsed<T> {
        let token = self.next()?;
        let found = match token.kind {
            TokenKind::Identifier(word) => T::from_text(word),
            _ => None,
        };
        found.ok_or_else(|| {
            let wanted = match T::ALL.len() {
                0..=16 => format!("{} ({})", T::WHAT, T::choices()),
                _ => T::WHAT.to_owned(),
            };
            expected(wanted, token.kind, token.span)
        })
    }

    /// A word of a set, if one comes next.
    pub(super) fn take_word<T: Word>(&mut self) -> Parsed<Option<T>> {
        let found = match self.peek()?.kind {
            TokenKind::Identifier(word) => T::from_text(word),
            _ => None,
        };
        if found.is_some() {
            self.next()?;
        }
        Ok(found)
    }

    pub(super) fn switch(&mut self) -> Parsed<bool> {
        Ok(self.word::<Switch>()? == Switch::On)
    }

    /// A number of any kind.
    pub(super) fn literal(&mut self, wanted: &str) -> Parsed<(Literal, Range<usize>)> {
        let token = self.next()?;
        match token.kind {
            TokenKind::Number(literal) => Ok((literal, token.span)),
            other => Err(expected(wanted, other, token.span)),
        }
    }

    /// A number of any kind, if one comes next.
    pub(super) fn take_literal(&mut self) -> Parsed<Option<(Literal, Range<usize>)>> {
        match self.peek()?.kind {
            TokenKind::Number(_) => self.literal("a number").map(Some),
            _ => Ok(None),
        }
    }

    /// A number, its fraction kept.
    pub(super) fn number(&mut self, what: &'static str) -> Parsed<f64> {
        Ok(self.literal(what)?.0.as_f64())
    }

    /// An integer of 64 bits that is not negative.
    pub(super) fn u64(&mut self, what: &'static str) -> Parsed<u64> {
        let (literal, span) = self.literal(what)?;
        match literal {
            Literal::Integer {
                negative: false,
                magnitude,
            } => Ok(magnitude),
            Literal::Integer { magnitude: 0, .. } => Ok(0),
            Literal::Hex(value) => Ok(value),
            other => Err(out_of_range(what, "an integer from 0 on", other, span)),
        }
    }

    /// An integer of 32 bits that is not negative.
    pub(super) fn u32(&mut self, what: &'static str) -> Parsed<u32> {
        let span = self.here()?;
        let value = self.u64(what)?;
        u32::try_from(value)
            .map_err(|_| out_of_range(what, "an integer from 0 to 4294967295", value, span))
    }

    /// A positive integer of at most `most`.
    pub(super) fn positive(&mut self, what: &'static str) -> Parsed<u32> {
        let span = self.here()?;
        match self.u32(what)? {
            0 => Err(out_of_range(what, "positive", 0, span)),
            value => Ok(value),
        }
    }

    /// The format of an image.
    pub(super) fn format(&mut self) -> Parsed<Type> {
        let (name, span) = self.identifier("an image format")?;
        format(name).ok_or_else(|| super::unknown("image format", name, span))
    }

    /// The raw text from the next line up to `END`, and the line that it starts on. Nothing may have been looked at ahead.
    pub(super) fn raw_text(&mut self, what: &'static str) -> Parsed<(&'s str, usize)> {
        let token = self.next()?;
        if token.kind != TokenKind::EndOfLine {
            return Err(expected("the end of the line", token.kind, token.span));
        }
        let line = self.line(token.span.end);
        match self.lexer.raw_text() {
            Some(text) => Ok((text, line)),
            None => Err((token.span, Problem::NoEnd { what })),
        }
    }

    /// What a block says for the next `END`; `None` at the `END`.
    pub(super) fn block_word(
        &mut self,
        what: &'static str,
    ) -> Parsed<Option<(&'s str, Range<usize>)>> {
        self.skip_lines()?;
        let span = self.here()?;
        if self.at_end()? {
            return Err((span, Problem::NoEnd { what }));
        }
        let (word, span) = self.identifier("an option or END")?;
        Ok((word != "END").then_some((word, span)))
    }
}

/// The image format with this name.
pub(super) fn format(name: &str) -> Option<Type> {
    Format::named(name).map(|format| Type::Format(Arc::new(format)))
}
