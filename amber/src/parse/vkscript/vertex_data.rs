//! `[vertex data]` and `[indices]`.

use super::Section;
use crate::error::Problem;
use crate::lexer::TokenKind;
use crate::literal::Literal;
use crate::parse::buffer::{check_value, new_buffer};
use crate::parse::cursor::format;
use crate::parse::{Parsed, Parser, duplicate, expected, out_of_range, unknown};
use crate::script::{Contents, Pipeline, VertexBuffer, VertexRate};
use crate::types::{Layout, Numeric, Scalar, Type};
use std::ops::Range;

/// A column of the table: its location and its type.
struct Column {
    location: u32,
    ty: Type,
    span: Range<usize>,
    values: Vec<Literal>,
}

impl<'s> Parser<'s> {
    /// A header line `LOCATION/FORMAT ...`, then rows.
    pub(super) fn vertex_data_section(
        &mut self,
        section: &Section<'s>,
        pipeline: &mut Pipeline,
    ) -> Parsed<()> {
        self.cursor = self.cursor.on(section.span.clone());
        self.cursor.skip_lines()?;
        let mut columns: Vec<Column> = Vec::new();
        while !self.cursor.at_end_of_statement()? {
            let column = self.column()?;
            if columns
                .iter()
                .any(|other| other.location == column.location)
            {
                return Err(duplicate(
                    "vertex data at location",
                    column.location,
                    column.span,
                ));
            }
            columns.push(column);
        }
        self.cursor.skip_lines()?;
        while !self.cursor.at_end()? {
            for column in &mut columns {
                for _ in 0..column.ty.components() {
                    let (literal, span) = self
                        .cursor
                        .literal("a value for each component of the row")?;
                    let element = column
                        .ty
                        .element(Layout::Std430)
                        .map_err(|problem| (span.clone(), problem))?;
                    check_value(&element, column.values.len(), literal)
                        .map_err(|problem| (span, problem))?;
                    column.values.push(literal);
                }
            }
            self.cursor.end_of_statement()?;
            self.cursor.skip_lines()?;
        }
        for column in columns {
            let name = format!("vertex_data_{}", column.location);
            let mut buffer = new_buffer(&name, column.ty, Layout::Std430, column.span.clone())?;
            let rows = column.values.len() / buffer.element.components.len();
            buffer.elements = Some(self.checked_elements(&buffer, rows as u64, column.span)?);
            buffer.contents = Contents::Data(column.values);
            let buffer = self.add_buffer(buffer);
            pipeline.vertices.push(VertexBuffer {
                buffer,
                location: column.location,
                rate: VertexRate::Vertex,
                format: None,
                offset: 0,
                stride: None,
            });
        }
        Ok(())
    }

    /// `0/R32G32_SFLOAT` or `0/float/vec2`: a number, and the rest of the word.
    fn column(&mut self) -> Parsed<Column> {
        let location = self.cursor.u32("a location")?;
        let (word, span) = self.cursor.identifier("`/` and a format")?;
        let name = word
            .strip_prefix('/')
            .ok_or_else(|| expected("`/` and a format", format_args!("`{word}`"), span.clone()))?;
        let ty = format(name)
            .or_else(|| gl_type(name))
            .ok_or_else(|| unknown("vertex format", name, span.clone()))?;
        Ok(Column {
            location,
            ty,
            span,
            values: Vec::new(),
        })
    }

    pub(super) fn indices_section(
        &mut self,
        section: &Section<'s>,
        pipeline: &mut Pipeline,
    ) -> Parsed<()> {
        self.cursor = self.cursor.on(section.span.clone());
        let span = section.header_span.clone();
        if pipeline.indices.is_some() {
            return Err(duplicate("a section", "[indices]", span));
        }
        let mut values = Vec::new();
        loop {
            let token = self.cursor.next()?;
            match token.kind {
                TokenKind::EndOfLine => {}
                TokenKind::EndOfScript => break,
                TokenKind::Number(
                    literal @ Literal::Integer {
                        negative: false,
                        magnitude: 0..=65535,
                    },
                ) => values.push(literal),
                TokenKind::Number(other) => {
                    return Err(out_of_range(
                        "an index",
                        "an integer from 0 to 65535",
                        other,
                        token.span,
                    ));
                }
                other => return Err(expected("an index", other, token.span)),
            }
        }
        if values.is_empty() {
            return Err((
                span,
                Problem::Empty {
                    what: "list of indices",
                },
            ));
        }
        let ty = Type::Numeric(Numeric::vector(Scalar::Uint32, 1));
        let mut buffer = new_buffer("indices", ty, Layout::Std430, span.clone())?;
        buffer.elements = Some(self.checked_elements(&buffer, values.len() as u64, span)?);
        buffer.contents = Contents::Data(values);
        pipeline.indices = Some(self.add_buffer(buffer));
        Ok(())
    }
}

/// `float/vec3`: the width and kind of a component, and a type that tells how many there are.
fn gl_type(name: &str) -> Option<Type> {
    let (gl, glsl) = name.split_once('/')?;
    let scalar = match gl {
        "byte" => Scalar::Int8,
        "ubyte" => Scalar::Uint8,
        "short" => Scalar::Int16,
        "ushort" => Scalar::Uint16,
        "int" => Scalar::Int32,
        "uint" => Scalar::Uint32,
        "half" => Scalar::Float16,
        "float" => Scalar::Float,
        "double" => Scalar::Double,
        _ => return None,
    };
    let rows = match glsl {
        "int" | "uint" | "float" | "double" => 1,
        vector => {
            let plain = vector.strip_prefix(['i', 'u', 'd']).unwrap_or(vector);
            match plain {
                "vec2" => 2,
                "vec3" => 3,
                "vec4" => 4,
                _ => return None,
            }
        }
    };
    Some(Type::Numeric(Numeric::vector(scalar, rows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_gl_names_are_vectors() {
        let name = |pair: &str| gl_type(pair).map(|ty| ty.to_string());
        assert_eq!(name("float/vec3").as_deref(), Some("vec3<float>"));
        assert_eq!(name("ubyte/uint").as_deref(), Some("uint8"));
        assert_eq!(name("half/uvec4").as_deref(), Some("vec4<float16>"));
        assert_eq!(name("float/vec5"), None);
        assert_eq!(name("long/int"), None);
    }
}
