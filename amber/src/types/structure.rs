//! Structs: std140 and std430, with offsets where the script gives them.

use super::{Component, Element, Layout, MAX_BYTES, Type};
use crate::error::Problem;
#[cfg(feature = "host")]
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A struct of the script.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Bytes from one to the next, if the script says it.
    pub stride: Option<u64>,
    /// At least one.
    pub members: Vec<Member>,
    /// Values that one takes, those of nested structs included: at most [`super::MAX_COMPONENTS`].
    pub components: u64,
    /// Structs within each other: at least 1, at most [`super::MAX_NESTING`].
    pub nesting: u32,
}

/// A member of a struct.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// A scalar, vector, matrix, or a struct.
    pub ty: Type,
    /// Bytes from the start of the struct, if the script says it.
    pub offset: Option<u64>,
}

const TOO_LARGE: Problem = Problem::TooLarge {
    what: "a struct",
    most: MAX_BYTES,
};

impl Struct {
    pub(crate) fn same_as(&self, other: &Struct) -> bool {
        self.stride == other.stride
            && self.members.len() == other.members.len()
            && self
                .members
                .iter()
                .zip(&other.members)
                .all(|(a, b)| a.offset == b.offset && a.ty.same_as(&b.ty))
    }

    pub(crate) fn element(&self, layout: Layout) -> Result<Element, Problem> {
        let mut components = Vec::new();
        let mut end = 0u64;
        for member in &self.members {
            let inner = member.ty.element(layout)?;
            let start = match member.offset {
                Some(offset) if offset < end => {
                    return Err(Problem::Range {
                        what: "OFFSET",
                        range: "at or after the end of the member before",
                        found: offset.to_string(),
                    });
                }
                Some(offset) => offset,
                None => end.next_multiple_of(alignment(&member.ty, layout)),
            };
            let bytes = used_bytes(&member.ty, &inner);
            end = start
                .checked_add(bytes)
                .filter(|end| *end <= MAX_BYTES)
                .ok_or(TOO_LARGE)?;
            // At most MAX_BYTES, as just checked.
            let start = start as usize;
            components.extend(inner.components.iter().map(|component| Component {
                offset: start + component.offset,
                ..*component
            }));
        }
        let stride = match self.stride {
            Some(stride) if stride < end => {
                return Err(Problem::Range {
                    what: "STRIDE",
                    range: "at least the size of the members",
                    found: stride.to_string(),
                });
            }
            Some(stride) => stride,
            None => end.next_multiple_of(self.alignment(layout)),
        };
        match stride <= MAX_BYTES {
            true => Ok(Element {
                components,
                stride: stride as usize,
            }),
            false => Err(TOO_LARGE),
        }
    }

    fn alignment(&self, layout: Layout) -> u64 {
        let members = self.members.iter();
        let most = members.map(|member| alignment(&member.ty, layout)).max();
        let most = most.unwrap_or(1);
        match layout {
            Layout::Std140 => most.next_multiple_of(16),
            Layout::Std430 => most,
        }
    }
}

/// Bytes that a member takes before the next may begin: a scalar may stand in the last quarter of a three-component vector.
fn used_bytes(ty: &Type, element: &Element) -> u64 {
    match ty {
        Type::Numeric(numeric)
            if numeric.rows == 3 && numeric.columns == 1 && !numeric.is_array =>
        {
            3 * numeric.scalar.bytes() as u64
        }
        _ => element.stride as u64,
    }
}

/// A type's base alignment in bytes.
fn alignment(ty: &Type, layout: Layout) -> u64 {
    match ty {
        Type::Numeric(numeric) => {
            let slots = match numeric.rows {
                3 => 4,
                rows => u64::from(rows),
            };
            let bytes = slots * numeric.scalar.bytes() as u64;
            match layout {
                Layout::Std140 if numeric.is_array || numeric.columns > 1 => {
                    bytes.next_multiple_of(16)
                }
                _ => bytes,
            }
        }
        Type::Format(format) => {
            let element = format.element();
            let widest = element
                .components
                .iter()
                .map(|part| part.scalar.bytes())
                .max();
            widest.unwrap_or(1) as u64
        }
        Type::Struct(structure) => structure.alignment(layout),
    }
}

/// The depth of a struct with these members, or the reason why it is too deep.
#[cfg(feature = "host")]
pub(crate) fn nesting(members: &[Member]) -> Result<u32, Problem> {
    let inner = members.iter().map(|member| match &member.ty {
        Type::Struct(inner) => inner.nesting,
        _ => 0,
    });
    let nesting = inner.max().unwrap_or(0) + 1;
    match nesting <= super::MAX_NESTING {
        true => Ok(nesting),
        false => Err(Problem::Range {
            what: "structs within each other",
            range: "at most 64",
            found: nesting.to_string(),
        }),
    }
}

/// The components of a struct, or the reason why it has too many.
#[cfg(feature = "host")]
pub(crate) fn count(members: &[Member]) -> Result<u64, Problem> {
    let total = members.iter().try_fold(0u64, |total, member| {
        let total = total.checked_add(member.ty.components())?;
        (total <= super::MAX_COMPONENTS).then_some(total)
    });
    total.ok_or(Problem::Range {
        what: "components of a struct",
        range: "at most 65536",
        found: "more".to_owned(),
    })
}

impl From<Struct> for Type {
    fn from(structure: Struct) -> Type {
        Type::Struct(Arc::new(structure))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Numeric;
    use super::*;

    fn numeric(name: &str) -> Type {
        Type::Numeric(Numeric::named(name).unwrap())
    }

    fn structure(members: &[Type]) -> Type {
        let members: Vec<Member> = members
            .iter()
            .enumerate()
            .map(|(index, ty)| Member {
                name: format!("m{index}"),
                ty: ty.clone(),
                offset: None,
            })
            .collect();
        Type::from(Struct {
            name: "s".to_owned(),
            stride: None,
            components: count(&members).unwrap(),
            nesting: nesting(&members).unwrap(),
            members,
        })
    }

    #[track_caller]
    fn check(ty: &Type, layout: Layout, stride: usize, offsets: &[usize]) {
        let element = ty.element(layout).unwrap();
        let found: Vec<usize> = element.components.iter().map(|part| part.offset).collect();
        assert_eq!(
            (element.stride, &found[..]),
            (stride, offsets),
            "{layout:?}"
        );
    }

    /// The table of the language reference, section 6.3.
    #[test]
    fn structs_lie_as_in_the_reference() {
        use Layout::{Std140, Std430};
        let vec2 = structure(&[numeric("int32"), numeric("vec2<float>"), numeric("float")]);
        check(&vec2, Std140, 32, &[0, 8, 12, 16]);
        check(&vec2, Std430, 24, &[0, 8, 12, 16]);
        let vec3 = structure(&[numeric("int32"), numeric("vec3<float>"), numeric("float")]);
        check(&vec3, Std140, 32, &[0, 16, 20, 24, 28]);
        check(&vec3, Std430, 32, &[0, 16, 20, 24, 28]);
        let matrix = structure(&[numeric("int32"), numeric("mat2x2<float>"), numeric("float")]);
        check(&matrix, Std140, 64, &[0, 16, 20, 32, 36, 48]);
        check(&matrix, Std430, 32, &[0, 8, 12, 16, 20, 24]);
        let inner = structure(&[numeric("int32"), numeric("int32"), numeric("float")]);
        let nested = structure(&[numeric("int32"), inner, numeric("float")]);
        check(&nested, Std140, 48, &[0, 16, 20, 24, 32]);
        check(&nested, Std430, 20, &[0, 4, 8, 12, 16]);
        let pair = structure(&[numeric("float"), numeric("float")]);
        let pairs = structure(&[pair, numeric("float")]);
        check(&pairs, Std140, 32, &[0, 4, 16]);
        check(&pairs, Std430, 12, &[0, 4, 8]);
    }

    #[test]
    fn offsets_may_not_go_back() {
        let members = vec![
            Member {
                name: "a".to_owned(),
                ty: numeric("vec4<float>"),
                offset: None,
            },
            Member {
                name: "b".to_owned(),
                ty: numeric("float"),
                offset: Some(8),
            },
        ];
        let components = count(&members).unwrap();
        let back = Struct {
            nesting: nesting(&members).unwrap(),
            name: "s".to_owned(),
            stride: None,
            members,
            components,
        };
        let problem = back.element(Layout::Std430).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "OFFSET must be at or after the end of the member before, not 8"
        );
    }
}
