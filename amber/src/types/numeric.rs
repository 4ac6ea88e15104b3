//! Scalars, vectors and matrices, by name and in memory.

use super::{Component, Element, Layout, Scalar};
use crate::words::Word;
use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A scalar (one column, one row), a vector (one column) or a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numeric {
    /// The type of a component.
    pub scalar: Scalar,
    /// 1 to 4.
    pub columns: u8,
    /// 1 to 4.
    pub rows: u8,
    /// Marked `[]`: an element of a runtime array, which STD140 pads.
    pub is_array: bool,
}

impl Numeric {
    /// A vector, or a scalar for one row.
    pub fn vector(scalar: Scalar, rows: u8) -> Numeric {
        Numeric {
            scalar,
            columns: 1,
            rows,
            is_array: false,
        }
    }

    /// The image format that it is another name of; matrices and elements of arrays have none.
    pub(crate) fn format_name(&self) -> Option<String> {
        let channels = "RGBA".chars().take(self.rows.into());
        let bits = 8 * self.scalar.bytes();
        let kind = match self.scalar {
            scalar if scalar.is_float() => "SFLOAT",
            scalar if scalar.is_signed() => "SINT",
            _ => "UINT",
        };
        let channels: String = channels.map(|channel| format!("{channel}{bits}")).collect();
        (self.columns == 1 && !self.is_array).then(|| format!("{channels}_{kind}"))
    }

    /// Reads `float`, `vec3<int8>`, `mat4x2<double>` and each of them with `[]`.
    pub fn named(name: &str) -> Option<Numeric> {
        let (name, is_array) = match name.strip_suffix("[]") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let (columns, rows, scalar) = match name.split_once('<') {
            None => (1, 1, name),
            Some((shape, rest)) => {
                let scalar = rest.strip_suffix('>')?;
                match (shape.strip_prefix("vec"), shape.strip_prefix("mat")) {
                    (Some(rows), _) => (1, size(rows)?, scalar),
                    (_, Some(shape)) => {
                        let (columns, rows) = shape.split_once('x')?;
                        (size(columns)?, size(rows)?, scalar)
                    }
                    _ => return None,
                }
            }
        };
        Some(Numeric {
            scalar: Scalar::named(scalar)?,
            columns,
            rows,
            is_array,
        })
    }

    /// Bytes from the start of one column to the next.
    pub(crate) fn column_stride(&self, layout: Layout) -> usize {
        let padded = self.columns > 1 && layout == Layout::Std140;
        let slots = match self.rows {
            _ if padded || (self.is_array && layout == Layout::Std140) => 4,
            3 => 4,
            rows => rows.into(),
        };
        slots * self.scalar.bytes()
    }

    pub(crate) fn element(&self, layout: Layout) -> Element {
        let column_stride = self.column_stride(layout);
        let column = |column: usize| {
            (0..usize::from(self.rows)).map(move |row| Component {
                offset: column * column_stride + row * self.scalar.bytes(),
                scalar: self.scalar,
            })
        };
        Element {
            components: (0..usize::from(self.columns)).flat_map(column).collect(),
            stride: usize::from(self.columns) * column_stride,
        }
    }
}

/// A number of columns or rows: 2, 3 or 4.
fn size(text: &str) -> Option<u8> {
    text.parse()
        .ok()
        .filter(|size| (2..=4).contains(size) && text.len() == 1)
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scalar = self.scalar.text();
        match (self.columns, self.rows) {
            (1, 1) => f.write_str(scalar)?,
            (1, rows) => write!(f, "vec{rows}<{scalar}>")?,
            (columns, rows) => write!(f, "mat{columns}x{rows}<{scalar}>")?,
        }
        f.write_str(if self.is_array { "[]" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn strides(name: &str, std430: usize, std140: usize) {
        let numeric = Numeric::named(name).unwrap_or_else(|| panic!("{name} is not known"));
        assert_eq!(numeric.to_string(), name);
        assert_eq!(
            numeric.element(Layout::Std430).stride,
            std430,
            "{name} STD430"
        );
        assert_eq!(
            numeric.element(Layout::Std140).stride,
            std140,
            "{name} STD140"
        );
    }

    /// The table of the language reference, section 6.2.
    #[test]
    fn strides_are_those_of_the_reference() {
        strides("float", 4, 4);
        strides("float[]", 4, 16);
        strides("int8[]", 1, 4);
        strides("int64[]", 8, 32);
        strides("vec2<float>", 8, 8);
        strides("vec2<float>[]", 8, 16);
        strides("vec3<float>", 16, 16);
        strides("vec3<float16>", 8, 8);
        strides("vec4<uint8>", 4, 4);
        strides("mat2x2<float>", 16, 32);
        strides("mat2x2<int8>", 4, 8);
        strides("mat3x2<float>", 24, 48);
        strides("mat2x3<float>", 32, 32);
        strides("mat4x4<double>", 128, 128);
    }

    #[test]
    fn other_names_are_none() {
        for name in [
            "vec1<float>",
            "vec5<int8>",
            "mat2<float>",
            "vec2<vec2<float>>",
            "uint24",
            "bool",
            "vec2 <float>",
            "vec02<float>",
            "float[][]",
        ] {
            assert_eq!(Numeric::named(name), None, "{name}");
        }
    }
}
