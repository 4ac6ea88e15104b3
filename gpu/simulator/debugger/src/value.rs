//! Values as a person sees them: trees of parts, the text of each in a lane, and of all lanes together.
use eitri_shaderc::ir::source_names::{Sequence, SequenceKind, SourceType};
use eitri_texels::half;
use std::sync::Arc;

use crate::execution::{Execution, Object, ScalarPlace};

/// Most parts of a value that its text shows.
const MAX_SHOWN: usize = 16;

/// Where a value is.
#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// Scalar by scalar.
    Scalars(Vec<ScalarPlace>),
    /// In bytes, from there on.
    Bytes(Object, u64),
}

/// A variable or a part of one.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its name, or that of the part: `x`, `[3]`.
    pub name: String,
    /// Its type.
    pub ty: SourceType,
    /// Where it is.
    pub place: Place,
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Form {
    /// Scalars as their bits in hexadecimal.
    pub hex: bool,
}

/// A scalar with its meaning.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    /// True or false.
    Bool(bool),
    /// Any integer of up to 64 bits, of either sign.
    Int(i128),
    /// A float.
    Float(f64, u32),
}

impl Scalar {
    /// The scalar of a type with these bits; none of what is not a scalar.
    pub fn of(ty: &SourceType, bits: u64) -> Option<Scalar> {
        Some(match ty {
            SourceType::Bool => Scalar::Bool(bits != 0),
            SourceType::Int {
                bits: width,
                signed,
            } => {
                let spare = 64 - (*width).clamp(1, 64);
                Scalar::Int(match signed {
                    true => i128::from((bits << spare).cast_signed() >> spare),
                    false => i128::from(bits << spare >> spare),
                })
            }
            SourceType::Float { bits: 16 } => Scalar::Float(half::to_f32(bits as u16).into(), 16),
            SourceType::Float { bits: 64 } => Scalar::Float(f64::from_bits(bits), 64),
            SourceType::Float { .. } => Scalar::Float(f32::from_bits(bits as u32).into(), 32),
            SourceType::Opaque => Scalar::Int(bits.into()),
            SourceType::Sequence(_) | SourceType::Struct(_) => return None,
        })
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Bool(value) => value.fmt(f),
            Scalar::Int(value) => value.fmt(f),
            Scalar::Float(value, 64) => write!(f, "{value:?}"),
            Scalar::Float(value, _) => write!(f, "{:?}", *value as f32),
        }
    }
}

/// The name of a type, as WGSL has them.
pub fn type_name(ty: &SourceType) -> String {
    match ty {
        SourceType::Bool => "bool".to_owned(),
        SourceType::Int { bits, signed: true } => format!("i{bits}"),
        SourceType::Int { bits, .. } => format!("u{bits}"),
        SourceType::Float { bits } => format!("f{bits}"),
        SourceType::Opaque => "opaque".to_owned(),
        SourceType::Struct(_) => "struct".to_owned(),
        SourceType::Sequence(sequence) => {
            let count = sequence
                .count
                .map_or(String::new(), |count| count.to_string());
            match sequence.kind {
                SequenceKind::Vector => format!("vec{count}<{}>", type_name(&sequence.part)),
                SequenceKind::Matrix => format!("mat{count}<{}>", type_name(&sequence.part)),
                SequenceKind::Array if count.is_empty() => {
                    format!("array<{}>", type_name(&sequence.part))
                }
                SequenceKind::Array => format!("array<{}, {count}>", type_name(&sequence.part)),
            }
        }
    }
}

/// Bytes of a scalar in memory.
fn scalar_bytes(ty: &SourceType) -> u64 {
    match ty {
        SourceType::Int { bits, .. } | SourceType::Float { bits } => u64::from(*bits) / 8,
        SourceType::Opaque => 8,
        _ => 4,
    }
}

/// Bytes from the start of a value to the end of its last scalar; `rest` is what a buffer has left for an array without a count.
pub fn bytes_of(ty: &SourceType, rest: u64) -> u64 {
    match ty {
        SourceType::Sequence(sequence) => match sequence.count {
            None => rest,
            Some(0) => 0,
            Some(count) => {
                u64::from(sequence.stride) * u64::from(count - 1) + bytes_of(&sequence.part, rest)
            }
        },
        SourceType::Struct(members) => members
            .iter()
            .map(|member| {
                let offset = u64::from(member.offset);
                offset + bytes_of(&member.ty, rest.saturating_sub(offset))
            })
            .max()
            .unwrap_or(0),
        scalar => scalar_bytes(scalar),
    }
}

impl Node {
    /// A word of 32 bits.
    pub fn word(name: String, place: ScalarPlace) -> Node {
        Node {
            name,
            ty: SourceType::Int {
                bits: 32,
                signed: false,
            },
            place: Place::Scalars(vec![place]),
        }
    }

    /// Bytes of memory as a number, or as words if they are more than one number has.
    pub fn memory(name: String, object: Object, start: u64, bytes: u64) -> Node {
        let int = |bits| SourceType::Int {
            bits,
            signed: false,
        };
        let (bits, is_one) = match bytes {
            1 | 2 | 4 => (8 * bytes as u32, true),
            _ if bytes.is_multiple_of(4) => (32, false),
            _ => (8, false),
        };
        let ty = match is_one {
            true => int(bits),
            false => SourceType::Sequence(Sequence {
                kind: SequenceKind::Array,
                part: Arc::new(int(bits)),
                count: Some(u32::try_from(bytes / u64::from(bits / 8)).unwrap_or(u32::MAX)),
                stride: bits / 8,
            }),
        };
        Node {
            name,
            ty,
            place: Place::Bytes(object, start),
        }
    }

    /// Whether it has parts.
    pub fn has_parts(&self) -> bool {
        matches!(self.ty, SourceType::Sequence(_) | SourceType::Struct(_))
    }

    /// Number of parts.
    pub fn parts<E: Execution>(&self, execution: &E) -> u64 {
        match &self.ty {
            SourceType::Struct(members) => members.len() as u64,
            SourceType::Sequence(sequence) => match (sequence.count, &self.place) {
                (Some(count), _) => count.into(),
                (None, Place::Bytes(object, start)) => {
                    let rest = execution.size(*object).saturating_sub(*start);
                    rest / u64::from(sequence.stride.max(1))
                }
                (None, Place::Scalars(_)) => 0,
            },
            _ => 0,
        }
    }

    /// The part with that number; none beyond the last.
    pub fn part<E: Execution>(&self, execution: &E, number: u64) -> Option<Node> {
        if number >= self.parts(execution) {
            return None;
        }
        let (name, ty, before, offset) = match &self.ty {
            SourceType::Struct(members) => {
                let index = usize::try_from(number).ok()?;
                let member = members.get(index)?;
                let before = members[..index].iter().map(|own| own.ty.scalars()).sum();
                (
                    member.name.clone(),
                    &member.ty,
                    before,
                    u64::from(member.offset),
                )
            }
            SourceType::Sequence(sequence) => {
                let name = match sequence.kind {
                    SequenceKind::Vector => {
                        let letters = ["x", "y", "z", "w"];
                        letters.get(usize::try_from(number).ok()?)?.to_string()
                    }
                    SequenceKind::Matrix | SequenceKind::Array => format!("[{number}]"),
                };
                let before = sequence.part.scalars() * usize::try_from(number).ok()?;
                let offset = u64::from(sequence.stride) * number;
                (name, &*sequence.part, before, offset)
            }
            _ => return None,
        };
        let place = match &self.place {
            Place::Scalars(scalars) => {
                Place::Scalars(scalars.get(before..before + ty.scalars())?.to_vec())
            }
            Place::Bytes(object, start) => Place::Bytes(*object, start + offset),
        };
        Some(Node {
            name,
            ty: ty.clone(),
            place,
        })
    }

    /// The part with that name.
    pub fn named_part<E: Execution>(&self, execution: &E, name: &str) -> Option<Node> {
        let number = match &self.ty {
            SourceType::Struct(members) => members.iter().position(|member| member.name == name)?,
            SourceType::Sequence(sequence) if sequence.kind == SequenceKind::Vector => {
                let mut chars = name.chars();
                let (letter, rest) = (chars.next()?, chars.next());
                if rest.is_some() {
                    return None;
                }
                let sets = ["xyzw", "rgba", "stpq"];
                sets.iter().find_map(|set| set.find(letter))?
            }
            _ => return None,
        };
        self.part(execution, number as u64)
    }

    /// The scalar in a lane; none if it has no value, or is no scalar.
    pub fn scalar<E: Execution>(
        &self,
        execution: &E,
        thread: usize,
        lane: usize,
    ) -> Option<Scalar> {
        Scalar::of(&self.ty, self.bits(execution, thread, lane)?)
    }

    /// The bits of a scalar in a lane.
    fn bits<E: Execution>(&self, execution: &E, thread: usize, lane: usize) -> Option<u64> {
        match &self.place {
            Place::Scalars(scalars) => match scalars.as_slice() {
                [place] => execution.scalar(thread, lane, *place),
                _ => None,
            },
            Place::Bytes(object, start) => {
                let len = scalar_bytes(&self.ty);
                let bytes = execution.read(*object, *start, len)?;
                if bytes.len() as u64 != len {
                    return None;
                }
                let bytes = bytes.iter().rev();
                Some(bytes.fold(0, |word, byte| word << 8 | u64::from(*byte)))
            }
        }
    }

    /// The value in a lane as text: `-` where there is none.
    pub fn show<E: Execution>(&self, execution: &E, thread: usize, lane: usize) -> String {
        self.show_as(execution, thread, lane, Form::default())
    }

    /// The same in a form.
    pub fn show_as<E: Execution>(
        &self,
        execution: &E,
        thread: usize,
        lane: usize,
        form: Form,
    ) -> String {
        if !self.has_parts() {
            let text = match form.hex {
                true => self
                    .bits(execution, thread, lane)
                    .map(|bits| format!("{bits:#x}")),
                false => self
                    .scalar(execution, thread, lane)
                    .map(|scalar| scalar.to_string()),
            };
            return text.unwrap_or_else(|| "-".to_owned());
        }
        let count = self.parts(execution);
        let shown = (0..count.min(MAX_SHOWN as u64)).filter_map(|number| {
            let part = self.part(execution, number)?;
            let text = part.show_as(execution, thread, lane, form);
            Some(match self.ty {
                SourceType::Struct(_) => format!("{}: {text}", part.name),
                _ => text,
            })
        });
        let mut parts: Vec<String> = shown.collect();
        if count > MAX_SHOWN as u64 {
            parts.push(format!("... {count} in all"));
        }
        let text = parts.join(", ");
        match &self.ty {
            SourceType::Struct(_) => format!("{{{text}}}"),
            SourceType::Sequence(sequence) if sequence.kind == SequenceKind::Vector => {
                format!("({text})")
            }
            _ => format!("[{text}]"),
        }
    }

    /// The value in all lanes: once if they agree, else each; in parentheses those that do not run.
    pub fn show_lanes<E: Execution>(&self, execution: &E, thread: usize, running: u64) -> String {
        self.show_lanes_as(execution, thread, running, Form::default())
    }

    /// The same in a form.
    pub fn show_lanes_as<E: Execution>(
        &self,
        execution: &E,
        thread: usize,
        running: u64,
        form: Form,
    ) -> String {
        let count = execution.lanes(thread);
        let texts: Vec<String> = (0..count)
            .map(|lane| self.show_as(execution, thread, lane, form))
            .collect();
        join_lanes(&texts, running)
    }
}

/// Texts of all lanes as one: once if they agree, else each; in parentheses those that do not run.
pub(crate) fn join_lanes(texts: &[String], running: u64) -> String {
    let Some(first) = texts.first() else {
        return "-".to_owned();
    };
    if texts.iter().all(|text| text == first) {
        return first.clone();
    }
    let lanes = texts.iter().enumerate();
    let lanes = lanes.map(|(lane, text)| match running >> lane & 1 {
        1 => text.clone(),
        _ => format!("({text})"),
    });
    format!("<{}>", lanes.collect::<Vec<_>>().join(" "))
}
