//! `BUFFER` and `IMAGE`: language reference, section 7.

use super::{DEFAULT_LAYOUT, Parsed, Parser, out_of_range, unknown};
use crate::error::{Located, Problem};
use crate::lexer::TokenKind;
use crate::literal::Literal;
use crate::script::{Buffer, BufferId, Contents, Dimension, FileKind};
use crate::types::{Element, Layout, MAX_BYTES, Type};
use std::ops::Range;

impl<'s> Parser<'s> {
    pub(super) fn buffer(&mut self) -> Parsed<()> {
        let (name, span) = self.cursor.identifier("a name for the buffer")?;
        self.buffers.check_new(name, span)?;
        let (word, span) = self.cursor.identifier("DATA_TYPE or FORMAT")?;
        let buffer = match word {
            "DATA_TYPE" => self.typed_buffer(name)?,
            "FORMAT" => self.format_buffer(name)?,
            _ => {
                return Err(super::expected(
                    "DATA_TYPE or FORMAT",
                    format_args!("`{word}`"),
                    span,
                ));
            }
        };
        self.add_buffer(buffer);
        self.cursor.end_of_statement()
    }

    pub(super) fn add_buffer(&mut self, buffer: Buffer) -> BufferId {
        let id = BufferId(self.script.buffers.len());
        self.buffers.add(&buffer.name, id);
        self.script.buffers.push(buffer);
        id
    }

    /// `DATA_TYPE type [STD140 | STD430] init`.
    fn typed_buffer(&mut self, name: &str) -> Parsed<Buffer> {
        let span = self.cursor.here()?;
        let ty = self.data_type()?;
        let layout = self.cursor.take_word::<Layout>()?.unwrap_or(DEFAULT_LAYOUT);
        let mut buffer = new_buffer(name, ty, layout, span)?;
        let (word, span) = self.cursor.identifier("DATA, SIZE or WIDTH")?;
        match word {
            "DATA" => {
                let values = self.values(&buffer.element)?;
                buffer.elements = Some((values.len() / buffer.element.components.len()) as u64);
                buffer.contents = Contents::Data(values);
            }
            "SIZE" => {
                let count = self.positive_u64("SIZE")?;
                buffer.elements = Some(self.checked_elements(&buffer, count, span)?);
                buffer.contents = match self.filling(&buffer.element)? {
                    Some(contents) => contents,
                    None => {
                        self.cursor.keyword("FILE")?;
                        // The file decides how many elements there are.
                        buffer.elements = None;
                        self.file()?
                    }
                };
            }
            "WIDTH" => {
                let width = self.cursor.positive("WIDTH")?;
                self.cursor.keyword("HEIGHT")?;
                let height = self.cursor.positive("HEIGHT")?;
                let count = u64::from(width) * u64::from(height);
                buffer.size = (width, height);
                buffer.elements = Some(self.checked_elements(&buffer, count, span)?);
                if !self.cursor.at_end_of_statement()? {
                    let span = self.cursor.here()?;
                    let filling = self.filling(&buffer.element)?;
                    buffer.contents = filling.ok_or_else(|| {
                        super::expected(
                            "FILL, SERIES_FROM or the end of the line",
                            "another word",
                            span,
                        )
                    })?;
                }
            }
            _ => {
                return Err(super::expected(
                    "DATA, SIZE or WIDTH",
                    format_args!("`{word}`"),
                    span,
                ));
            }
        }
        Ok(buffer)
    }

    /// `FORMAT imgfmt { MIP_LEVELS n | SAMPLES n | FILE file }`.
    fn format_buffer(&mut self, name: &str) -> Parsed<Buffer> {
        let span = self.cursor.here()?;
        let format = self.cursor.format()?;
        let mut buffer = new_buffer(name, format, DEFAULT_LAYOUT, span)?;
        while !self.cursor.at_end_of_statement()? {
            let (option, span) = self.cursor.identifier("an option of a FORMAT buffer")?;
            match option {
                "MIP_LEVELS" => buffer.mip_levels = self.cursor.positive("MIP_LEVELS")?,
                "SAMPLES" => buffer.samples = self.samples()?,
                "FILE" => buffer.contents = self.file()?,
                _ => return Err(unknown("option of a FORMAT buffer", option, span)),
            }
        }
        Ok(buffer)
    }

    pub(super) fn image(&mut self) -> Parsed<()> {
        let (name, name_span) = self.cursor.identifier("a name for the image")?;
        self.buffers.check_new(name, name_span.clone())?;
        let mut ty = None;
        let mut dimension = Dimension::Two;
        let (mut mip_levels, mut samples) = (1, 1);
        let (mut width, mut height, mut depth) = (None, None, None);
        let mut initial = None;
        while !self.cursor.at_end_of_statement()? {
            if let Some(found) = self.cursor.take_word::<Dimension>()? {
                dimension = found;
                continue;
            }
            let span = self.cursor.here()?;
            if self.begins_contents()? {
                initial = Some(span);
                break;
            }
            let (option, span) = self.cursor.identifier("an option of an image")?;
            match option {
                "DATA_TYPE" => {
                    let span = self.cursor.here()?;
                    ty = Some((self.data_type()?, span));
                }
                "FORMAT" => {
                    let span = self.cursor.here()?;
                    ty = Some((self.cursor.format()?, span));
                }
                "MIP_LEVELS" => mip_levels = self.cursor.positive("MIP_LEVELS")?,
                "SAMPLES" => samples = self.samples()?,
                "WIDTH" => width = Some(self.cursor.positive("WIDTH")?),
                "HEIGHT" => height = Some(self.cursor.positive("HEIGHT")?),
                "DEPTH" => depth = Some(self.cursor.positive("DEPTH")?),
                _ => return Err(unknown("option of an image", option, span)),
            }
        }
        let missing = |what, needed| (name_span.clone(), Problem::Needs { what, needed });
        let (ty, type_span) = ty.ok_or_else(|| missing("an image", "DATA_TYPE or FORMAT"))?;
        let width = width.ok_or_else(|| missing("an image", "WIDTH"))?;
        if dimension != Dimension::One && height.is_none() {
            return Err(missing("an image of this dimension", "HEIGHT"));
        }
        if dimension == Dimension::Three && depth.is_none() {
            return Err(missing("an image of this dimension", "DEPTH"));
        }
        let mut buffer = new_buffer(name, ty, DEFAULT_LAYOUT, type_span)?;
        buffer.dimension = Some(dimension);
        (buffer.mip_levels, buffer.samples) = (mip_levels, samples);
        buffer.size = (width, height.unwrap_or(1));
        buffer.depth = depth.unwrap_or(1);
        let texels = u64::from(buffer.size.0)
            .checked_mul(buffer.size.1.into())
            .and_then(|texels| texels.checked_mul(buffer.depth.into()))
            .unwrap_or(u64::MAX);
        buffer.elements = Some(self.checked_elements(&buffer, texels, name_span.clone())?);
        if let Some(span) = initial {
            buffer.contents = self.image_contents(&buffer, texels, span)?;
        }
        self.add_buffer(buffer);
        self.cursor.end_of_statement()
    }

    fn begins_contents(&mut self) -> Parsed<bool> {
        let kind = &self.cursor.peek()?.kind;
        let words = ["DATA", "FILL", "SERIES_FROM"];
        Ok(matches!(kind, TokenKind::Identifier(word) if words.contains(word)))
    }

    fn image_contents(
        &mut self,
        buffer: &Buffer,
        texels: u64,
        span: Range<usize>,
    ) -> Parsed<Contents> {
        if !self.cursor.take_keyword("DATA")? {
            let filling = self.filling(&buffer.element)?;
            return filling
                .ok_or_else(|| super::expected("DATA, FILL or SERIES_FROM", "another word", span));
        }
        let data = self.values(&buffer.element)?;
        let values = (data.len() / buffer.element.components.len()) as u64;
        match values == texels {
            true => Ok(Contents::Data(data)),
            false => Err((span, Problem::ImageData { values, texels })),
        }
    }

    /// `FILL v` or `SERIES_FROM a INC_BY d`, if either comes next.
    fn filling(&mut self, element: &Element) -> Parsed<Option<Contents>> {
        let span = self.cursor.here()?;
        if self.cursor.take_keyword("FILL")? {
            return Ok(Some(Contents::Fill(self.cursor.literal("a number")?.0)));
        }
        if !self.cursor.take_keyword("SERIES_FROM")? {
            return Ok(None);
        }
        if element.components.len() != 1 {
            let (what, found) = ("a buffer with SERIES_FROM", "several components".to_owned());
            return Err((span, Problem::WrongType { what, found }));
        }
        let from = self.cursor.literal("a number")?.0;
        self.cursor.keyword("INC_BY")?;
        let by = self.cursor.literal("a number")?.0;
        Ok(Some(Contents::Series { from, by }))
    }

    fn file(&mut self) -> Parsed<Contents> {
        let kind = self.cursor.take_word::<FileKind>()?;
        let (path, _) = self.cursor.path("a path")?;
        Ok(Contents::File {
            kind: kind.unwrap_or(FileKind::Png),
            path,
        })
    }

    /// The values of a `DATA` block, up to its `END`: whole elements.
    fn values(&mut self, element: &Element) -> Parsed<Vec<Literal>> {
        let start = self.cursor.here()?;
        let mut values = Vec::new();
        loop {
            let token = self.cursor.next()?;
            match token.kind {
                TokenKind::EndOfLine => {}
                TokenKind::Identifier("END") => break,
                TokenKind::Number(literal) => {
                    check_value(element, values.len(), literal)
                        .map_err(|problem| (token.span, problem))?;
                    values.push(literal);
                }
                TokenKind::EndOfScript => return Err((start, Problem::NoEnd { what: "DATA" })),
                other => return Err(super::expected("a number or END", other, token.span)),
            }
        }
        let components = element.components.len();
        match values.len() % components {
            0 => Ok(values),
            _ => {
                let values = values.len();
                Err((start, Problem::PartOfElement { values, components }))
            }
        }
    }

    fn samples(&mut self) -> Parsed<u32> {
        let span = self.cursor.here()?;
        let samples = self.cursor.u32("SAMPLES")?;
        match samples.is_power_of_two() && samples <= 64 {
            true => Ok(samples),
            false => Err(out_of_range(
                "SAMPLES",
                "1, 2, 4, 8, 16, 32 or 64",
                samples,
                span,
            )),
        }
    }

    pub(super) fn positive_u64(&mut self, what: &'static str) -> Parsed<u64> {
        let span = self.cursor.here()?;
        match self.cursor.u64(what)? {
            0 => Err(out_of_range(what, "positive", 0, span)),
            value => Ok(value),
        }
    }

    /// A number of elements that a buffer can have.
    pub(super) fn checked_elements(
        &self,
        buffer: &Buffer,
        count: u64,
        span: Range<usize>,
    ) -> Parsed<u64> {
        let bytes = count.checked_mul(buffer.element.stride as u64);
        match bytes.is_some_and(|bytes| bytes <= MAX_BYTES) {
            true => Ok(count),
            false => {
                let (what, most) = ("a buffer", MAX_BYTES);
                Err((span, Problem::TooLarge { what, most }))
            }
        }
    }

    /// A buffer by name.
    pub(super) fn buffer_name(&mut self) -> Parsed<(BufferId, Range<usize>)> {
        let (name, span) = self.cursor.identifier("the name of a buffer")?;
        Ok((self.buffers.find(name, span.clone())?, span))
    }
}

/// Whether the value at `index` of a flat list can be a value of its component.
pub(crate) fn check_value(
    element: &Element,
    index: usize,
    literal: Literal,
) -> Result<(), Problem> {
    let is_float = element
        .place(index)
        .is_some_and(|(scalar, _)| scalar.is_float());
    match literal {
        Literal::Float(found) if !is_float => Err(Problem::NotAnInteger { found }),
        _ => Ok(()),
    }
}

/// A buffer with nothing in it.
pub(super) fn new_buffer(
    name: &str,
    ty: Type,
    layout: Layout,
    span: Range<usize>,
) -> Result<Buffer, Located> {
    Ok(Buffer {
        name: name.to_owned(),
        element: ty.element(layout).map_err(|problem| (span, problem))?,
        ty,
        layout,
        contents: Contents::None,
        elements: None,
        size: (1, 1),
        depth: 1,
        dimension: None,
        mip_levels: 1,
        samples: 1,
    })
}
