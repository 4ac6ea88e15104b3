//! Types as people and tools see them.

use std::fmt;

/// A type, with the layout that the module gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A scalar, by its usual name: `bool`, `u32`, `f16`, …; `ptr` for an address.
    Scalar {
        /// The name.
        name: String,
        /// Its size.
        bytes: u64,
    },
    /// A vector.
    Vector {
        /// Of what.
        component: Box<Type>,
        /// How many.
        count: u32,
    },
    /// A matrix.
    Matrix {
        /// A column vector.
        column: Box<Type>,
        /// How many.
        count: u32,
        /// Bytes from one column (of row-major ones: row) to the next.
        stride: Option<u32>,
        /// Whether rows lie together.
        row_major: bool,
    },
    /// An array.
    Array {
        /// Of what.
        element: Box<Type>,
        /// How many; none for a runtime array, or a length that is not known.
        count: Option<u32>,
        /// Bytes from one element to the next.
        stride: Option<u32>,
    },
    /// A struct.
    Struct {
        /// Its name; may be empty.
        name: String,
        /// Its members.
        members: Vec<Member>,
    },
    /// An image, sampler or the like, in words such as `image2D rgba8`.
    Opaque {
        /// The words.
        name: String,
    },
}

/// A member of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name; may be empty.
    pub name: String,
    /// Bytes from the start of the struct.
    pub offset: Option<u32>,
    /// Its type.
    pub ty: Type,
}

impl Type {
    /// Bytes from the first to the last of it; a runtime array at the end counts as empty.
    pub fn bytes(&self) -> u64 {
        match self {
            Type::Scalar { bytes, .. } => *bytes,
            Type::Vector { component, count } => component.bytes().saturating_mul((*count).into()),
            Type::Matrix {
                column,
                count,
                stride,
                row_major,
            } => {
                let (count, rows, scalar) = match &**column {
                    Type::Vector {
                        component,
                        count: rows,
                    } => (*count, *rows, component.bytes()),
                    other => (*count, 1, other.bytes()),
                };
                let (lines, length) = match row_major {
                    true => (rows, count),
                    false => (count, rows),
                };
                let line = scalar * u64::from(length);
                let stride = stride.map_or(line, u64::from);
                stride * u64::from(lines.saturating_sub(1)) + line
            }
            Type::Array {
                element,
                count,
                stride,
            } => match count {
                None | Some(0) => 0,
                Some(count) => {
                    let bytes = element.bytes();
                    let stride = stride.map_or(bytes, u64::from);
                    stride
                        .saturating_mul(u64::from(count - 1))
                        .saturating_add(bytes)
                }
            },
            Type::Struct { members, .. } => {
                let ends = members.iter().map(|member| {
                    u64::from(member.offset.unwrap_or(0)).saturating_add(member.ty.bytes())
                });
                ends.max().unwrap_or(0)
            }
            Type::Opaque { .. } => 0,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar { name, .. } | Type::Opaque { name } => f.write_str(name),
            Type::Vector { component, count } => write!(f, "vec{count}<{component}>"),
            Type::Matrix { column, count, .. } => match &**column {
                Type::Vector {
                    component,
                    count: rows,
                } => write!(f, "mat{count}x{rows}<{component}>"),
                other => write!(f, "mat{count}x1<{other}>"),
            },
            Type::Array {
                element,
                count: Some(count),
                ..
            } => write!(f, "array<{element}, {count}>"),
            Type::Array { element, .. } => write!(f, "array<{element}>"),
            Type::Struct { name, .. } if name.is_empty() => f.write_str("struct"),
            Type::Struct { name, .. } => write!(f, "struct {name}"),
        }
    }
}
