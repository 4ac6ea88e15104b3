//! `EXPECT`: language reference, section 11.

use super::buffer::check_value;
use super::{Parsed, Parser, expected, out_of_range};
use crate::error::Problem;
use crate::lexer::TokenKind;
use crate::literal::Literal;
use crate::script::{BufferId, Comparator, Expectation, PixelProbe, Tolerance};
use crate::words::Word;
use std::ops::Range;

impl<'s> Parser<'s> {
    pub(super) fn expect(&mut self) -> Parsed<Expectation> {
        let (buffer, span) = self.buffer_name()?;
        let (word, word_span) = self
            .cursor
            .identifier("IDX, EQ_BUFFER, RMSE_BUFFER or EQ_HISTOGRAM_EMD_BUFFER")?;
        match word {
            "IDX" => self.expect_at(buffer),
            "EQ_BUFFER" => {
                let other = self.other_buffer(buffer, span)?;
                Ok(Expectation::Same { buffer, other })
            }
            "RMSE_BUFFER" => {
                let other = self.other_buffer(buffer, span)?;
                let most = self.one_tolerance()?;
                Ok(Expectation::Rmse {
                    buffer,
                    other,
                    most,
                })
            }
            "EQ_HISTOGRAM_EMD_BUFFER" => {
                let other = self.other_buffer(buffer, span.clone())?;
                self.check_histogram(buffer, span)?;
                let most = self.one_tolerance()?;
                Ok(Expectation::HistogramEmd {
                    buffer,
                    other,
                    most,
                })
            }
            _ => Err(expected(
                "IDX, EQ_BUFFER, RMSE_BUFFER or EQ_HISTOGRAM_EMD_BUFFER",
                format_args!("`{word}`"),
                word_span,
            )),
        }
    }

    fn one_tolerance(&mut self) -> Parsed<f64> {
        self.cursor.keyword("TOLERANCE")?;
        self.cursor.number("a tolerance")
    }

    /// A second buffer, which can be compared with the first.
    fn other_buffer(&mut self, buffer: BufferId, span: Range<usize>) -> Parsed<BufferId> {
        let (other, _) = self.buffer_name()?;
        if let (Some(a), Some(b)) = (self.script.buffer(buffer), self.script.buffer(other))
            && let Some(difference) = crate::compare::difference(a, b)
        {
            let (a, b) = (a.name.clone(), b.name.clone());
            return Err((span, Problem::NotComparable { a, b, difference }));
        }
        Ok(other)
    }

    fn check_histogram(&self, buffer: BufferId, span: Range<usize>) -> Parsed<()> {
        let Some(buffer) = self.script.buffer(buffer) else {
            return Ok(());
        };
        match crate::compare::has_histogram(&buffer.ty) {
            true => Ok(()),
            false => {
                let (what, found) = ("a histogram", buffer.ty.to_string());
                Err((span, Problem::WrongType { what, found }))
            }
        }
    }

    /// After `IDX`.
    fn expect_at(&mut self, buffer: BufferId) -> Parsed<Expectation> {
        let start = self.cursor.here()?;
        let first = self.cursor.u64("an offset")?;
        if let TokenKind::Number(_) = self.cursor.peek()?.kind {
            return self.expect_pixels(buffer, first, start);
        }
        let tolerances = self.tolerances(4)?;
        let span = self.cursor.here()?;
        let (word, _) = self.cursor.identifier("a comparator")?;
        // The signs of VkScript are no words of AmberScript.
        let comparator = Comparator::from_text(word)
            .filter(|comparator| comparator.text() == word)
            .ok_or_else(|| {
                expected(
                    "EQ, NE, LT, LE, GT or GE",
                    format_args!("`{word}`"),
                    span.clone(),
                )
            })?;
        if !tolerances.is_empty() && comparator != Comparator::Equal {
            let (what, needed) = ("TOLERANCE", "EQ");
            return Err((span, Problem::Needs { what, needed }));
        }
        let mut values = Vec::new();
        while let Some((literal, span)) = self.cursor.take_literal()? {
            self.check_expected(buffer, values.len(), literal, span)?;
            values.push(literal);
        }
        self.check_values(buffer, first, &values, start)?;
        Ok(Expectation::Values {
            buffer,
            offset: first,
            comparator,
            tolerance: tolerances.first().copied(),
            values,
        })
    }

    pub(super) fn check_expected(
        &self,
        buffer: BufferId,
        index: usize,
        literal: Literal,
        span: Range<usize>,
    ) -> Parsed<()> {
        match self.script.buffer(buffer) {
            Some(buffer) => {
                check_value(&buffer.element, index, literal).map_err(|problem| (span, problem))
            }
            None => Ok(()),
        }
    }

    /// There are values, they start on an element, and end within the buffer.
    pub(super) fn check_values(
        &mut self,
        buffer: BufferId,
        offset: u64,
        values: &[Literal],
        span: Range<usize>,
    ) -> Parsed<()> {
        if values.is_empty() {
            let token = self.cursor.next()?;
            return Err(expected("a value", token.kind, token.span));
        }
        match self.script.buffer(buffer) {
            Some(buffer) => {
                crate::compare::check_place(buffer, buffer.bytes(), offset, values.len())
                    .map_err(|problem| (span, problem))
            }
            None => Ok(()),
        }
    }

    /// `[TOLERANCE tol+]`, at most `most` of them.
    pub(super) fn tolerances(&mut self, most: usize) -> Parsed<Vec<Tolerance>> {
        let mut tolerances = Vec::new();
        if !self.cursor.take_keyword("TOLERANCE")? {
            return Ok(tolerances);
        }
        loop {
            let span = self.cursor.here()?;
            tolerances.push(self.tolerance()?);
            if tolerances.len() > most {
                return Err(out_of_range(
                    "tolerances",
                    "at most one a channel",
                    tolerances.len(),
                    span,
                ));
            }
            if !matches!(self.cursor.peek()?.kind, TokenKind::Number(_)) {
                return Ok(tolerances);
            }
        }
    }

    pub(super) fn tolerance(&mut self) -> Parsed<Tolerance> {
        let span = self.cursor.here()?;
        let value = self.cursor.number("a tolerance")?;
        if value.is_nan() || value < 0.0 {
            return Err(out_of_range("a tolerance", "0 or more", value, span));
        }
        Ok(match self.cursor.take_keyword("%")? {
            true => Tolerance::Percent(value),
            false => Tolerance::Absolute(value),
        })
    }

    /// After `IDX x`.
    fn expect_pixels(
        &mut self,
        buffer: BufferId,
        x: u64,
        start: Range<usize>,
    ) -> Parsed<Expectation> {
        let x = u32::try_from(x)
            .map_err(|_| out_of_range("x", "an integer from 0 to 4294967295", x, start.clone()))?;
        let y = self.cursor.u32("y")?;
        self.cursor.keyword("SIZE")?;
        let size = [
            self.cursor.positive("a width")?,
            self.cursor.positive("a height")?,
        ];
        let (word, span) = self.cursor.identifier("EQ_RGB or EQ_RGBA")?;
        let alpha = match word {
            "EQ_RGB" => false,
            "EQ_RGBA" => true,
            _ => {
                return Err(expected(
                    "EQ_RGB or EQ_RGBA",
                    format_args!("`{word}`"),
                    span,
                ));
            }
        };
        let channels = if alpha { 4 } else { 3 };
        let mut color = [0.0; 4];
        for channel in color.iter_mut().take(channels) {
            let span = self.cursor.here()?;
            let value = self.cursor.u64("a color")?;
            let value = u8::try_from(value)
                .map_err(|_| out_of_range("a color", "an integer from 0 to 255", value, span))?;
            *channel = f64::from(f32::from(value) / 255.0);
        }
        let tolerances = self.tolerances(channels)?;
        let probe = PixelProbe {
            buffer,
            origin: [x, y],
            size,
            color,
            alpha,
            tolerances,
        };
        self.check_probe(&probe, start)?;
        Ok(Expectation::Pixels(probe))
    }

    /// The rectangle lies within the picture.
    pub(super) fn check_probe(&self, probe: &PixelProbe, span: Range<usize>) -> Parsed<()> {
        match self.script.buffer(probe.buffer) {
            Some(buffer) => crate::compare::check_rectangle(buffer, buffer.size, probe)
                .map_err(|problem| (span, problem)),
            None => Ok(()),
        }
    }
}
