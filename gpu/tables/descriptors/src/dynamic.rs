//! Access by name: structures whose fields people name at run time.
//!
//! The same rows as the typed structures, for `eitri pack`, `eitri unpack` and anything that prints memory.

use crate::arch::Arch;
use crate::descriptor::size;
use crate::error::{DescriptorError, FieldError, FieldProblem};
use crate::member::{load_lod, sign_extend, store_lod, store_signed};
use crate::row::{Kind, Layout, Row, same_name};
use crate::table::formats::VkFormat;
use crate::words::{bits, clear_bits, or_bits};
use thiserror::Error;

/// A field's value, without a type of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An unsigned number, an address, a flag as 0 or 1, or a number of an enumeration.
    Number(u64),
    /// A signed number.
    Signed(i64),
    /// A number with a fraction.
    Real(f64),
}

/// A name that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AccessError {
    /// The structure has no such field in that architecture.
    #[error("`{structure}` has no such field in {arch}")]
    NoField {
        /// The structure that was looked into.
        structure: &'static str,
        /// The architecture.
        arch: Arch,
    },
    /// The path goes on behind a field that is no structure, or ends at one that is.
    #[error("`{field}` is {what}")]
    Path {
        /// The field.
        field: &'static str,
        /// What it is, against the path.
        what: &'static str,
    },
    /// The text is no value of the field.
    #[error("`{field}` takes {wanted}")]
    Text {
        /// The field.
        field: &'static str,
        /// What it takes.
        wanted: &'static str,
    },
    /// The value is wrong.
    #[error(transparent)]
    Field(#[from] FieldError),
}

/// The words of one structure, and how to read and write its fields.
#[derive(Debug)]
pub struct Dynamic<'w> {
    layout: &'static Layout,
    arch: Arch,
    words: &'w mut [u32],
}

impl<'w> Dynamic<'w> {
    /// A structure with every stored bit 0, in the first words of `words`.
    ///
    /// # Errors
    /// [`DescriptorError::NotInArch`] or [`DescriptorError::Length`].
    pub fn zeroed(
        layout: &'static Layout,
        arch: Arch,
        words: &'w mut [u32],
    ) -> Result<Dynamic<'w>, DescriptorError> {
        let needed = size(layout, arch)?;
        let found = words.len() * 4;
        let Some(words) = words.get_mut(..needed.div_ceil(4)) else {
            let structure = layout.name;
            return Err(DescriptorError::Length {
                structure,
                needed,
                found,
            });
        };
        words.fill(0);
        Ok(Dynamic {
            layout,
            arch,
            words,
        })
    }

    /// A structure with every field at its default, in the first words of `words`.
    ///
    /// # Errors
    /// [`DescriptorError::NotInArch`] or [`DescriptorError::Length`].
    pub fn with_defaults(
        layout: &'static Layout,
        arch: Arch,
        words: &'w mut [u32],
    ) -> Result<Dynamic<'w>, DescriptorError> {
        let target = Dynamic::zeroed(layout, arch, words)?;
        match put_defaults(layout, arch, target.words, 0) {
            Ok(()) => Ok(target),
            Err(error) => Err(DescriptorError::Field {
                structure: layout.name,
                error,
            }),
        }
    }

    /// Sets the field at `path` (`Field`, or `Structure.Field`) from text: a number, `true`, a name of the field's
    /// enumeration, a Vulkan format.
    ///
    /// # Errors
    /// An [`AccessError`] that names the field.
    pub fn set_text(&mut self, path: &str, text: &str) -> Result<(), AccessError> {
        let (row, base) = resolve(self.layout, self.arch, path)?;
        let value = parse(&row, self.arch, text)?;
        self.put(&row, base, value)
    }

    /// Sets the field at `path`.
    ///
    /// # Errors
    /// An [`AccessError`] that names the field.
    pub fn set(&mut self, path: &str, value: Value) -> Result<(), AccessError> {
        let (row, base) = resolve(self.layout, self.arch, path)?;
        self.put(&row, base, value)
    }

    /// ORs `value` into the field at `path`, as packers do with alternatives that share bits. Numbers that an
    /// enumeration does not name are taken: what is compared with other packers' bytes may hold them.
    ///
    /// # Errors
    /// An [`AccessError`] that names the field.
    pub fn or(&mut self, path: &str, value: Value) -> Result<(), AccessError> {
        let (row, base) = resolve(self.layout, self.arch, path)?;
        let row = match row.kind {
            Kind::Enum(_) => Row {
                kind: Kind::Uint,
                ..row
            },
            _ => row,
        };
        let stored = store(&row, self.arch, value)?;
        or_bits(self.words, base + row.start, row.width, stored);
        Ok(())
    }

    /// The stored bits of the field at `path`.
    ///
    /// # Errors
    /// An [`AccessError`] that names the field.
    pub fn stored(&self, path: &str) -> Result<u64, AccessError> {
        let (row, base) = resolve(self.layout, self.arch, path)?;
        Ok(bits(self.words, base + row.start, row.width))
    }

    fn put(&mut self, row: &Row, base: u32, value: Value) -> Result<(), AccessError> {
        let stored = store(row, self.arch, value)?;
        let start = base.saturating_add(row.start);
        clear_bits(self.words, start, row.width);
        or_bits(self.words, start, row.width, stored);
        Ok(())
    }

    /// The words.
    pub fn words(&self) -> &[u32] {
        self.words
    }
}

/// The value of the field at `path`, of a structure in `words`.
///
/// # Errors
/// An [`AccessError`] that names the field, also where its bits mean nothing.
pub fn value(layout: &Layout, arch: Arch, words: &[u32], path: &str) -> Result<Value, AccessError> {
    let (row, base) = resolve(layout, arch, path)?;
    let stored = bits(words, base + row.start, row.width);
    Ok(match row.kind {
        Kind::Int => Value::Signed(sign_extend(stored, row.width)),
        Kind::Float => Value::Real(f32::from_bits(stored as u32).into()),
        Kind::Ulod => Value::Real(load_lod(&row, stored, false)),
        Kind::Slod => Value::Real(load_lod(&row, stored, true)),
        Kind::Enum(table) => {
            let value = row.load(stored)?;
            let problem = FieldProblem::NotInEnum {
                value,
                of: table.name,
            };
            let known = table.of_value(arch, value);
            known
                .map(|_| Value::Number(value))
                .ok_or(row.problem(problem))?
        }
        _ => Value::Number(row.load(stored)?),
    })
}

fn put_defaults(
    layout: &Layout,
    arch: Arch,
    words: &mut [u32],
    base: u32,
) -> Result<(), FieldError> {
    for row in layout.fields(arch) {
        match row.kind {
            Kind::Struct(inner) => put_defaults(inner, arch, words, base + row.start)?,
            // A default is written before its modifier; 0 stands for "none given".
            _ if row.default != 0 => {
                or_bits(words, base + row.start, row.width, store_default(&row)?);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The stored form of a default: those of fixed-point, signed and real fields are given in that form already.
fn store_default(row: &Row) -> Result<u64, FieldError> {
    match row.kind {
        Kind::Ulod | Kind::Slod | Kind::Int | Kind::Float => Ok(row.default),
        _ => row.store(row.default),
    }
}

/// The field at a path, and the first bit of the structure that it is in.
fn resolve(layout: &Layout, arch: Arch, path: &str) -> Result<(Row, u32), AccessError> {
    let structure = layout.name;
    let missing = AccessError::NoField { structure, arch };
    let (name, rest) = match path.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    let row = layout.field(arch, name).ok_or(missing)?;
    match (row.kind, rest) {
        (Kind::Struct(inner), Some(rest)) => {
            let (found, base) = resolve(inner, arch, rest)?;
            Ok((found, base + row.start))
        }
        (Kind::Struct(_), None) => Err(AccessError::Path {
            field: row.name,
            what: "a structure: name one of its fields after a dot",
        }),
        (_, Some(_)) => Err(AccessError::Path {
            field: row.name,
            what: "no structure: nothing can follow it",
        }),
        (_, None) => Ok((row, 0)),
    }
}

/// The stored form of a value.
fn store(row: &Row, arch: Arch, value: Value) -> Result<u64, AccessError> {
    let whole = || AccessError::Text {
        field: row.name,
        wanted: "a whole number",
    };
    let signed = |value: Value| match value {
        Value::Number(number) => i64::try_from(number).map_err(|_| whole()),
        Value::Signed(number) => Ok(number),
        Value::Real(number) if number as i64 as f64 == number => Ok(number as i64),
        Value::Real(_) => Err(whole()),
    };
    let unsigned = |value: Value| match value {
        Value::Number(number) => Ok(number),
        Value::Signed(number) => u64::try_from(number).map_err(|_| whole()),
        Value::Real(number) if number as u64 as f64 == number => Ok(number as u64),
        Value::Real(_) => Err(whole()),
    };
    let real = |value: Value| match value {
        Value::Number(number) => number as f64,
        Value::Signed(number) => number as f64,
        Value::Real(number) => number,
    };
    Ok(match (row.kind, value) {
        (Kind::Ulod, value) => store_lod(row, real(value), false),
        (Kind::Slod, value) => store_lod(row, real(value), true),
        (Kind::Float, value) => u64::from((real(value) as f32).to_bits()),
        (Kind::UintOrFloat, Value::Real(number)) => u64::from((number as f32).to_bits()),
        (Kind::Int, value) => store_signed(row, signed(value)?)?,
        (Kind::Enum(table), value) => {
            let number = unsigned(value)?;
            let stored = row.store(number)?;
            if table.of_value(arch, number).is_none() {
                let problem = FieldProblem::NotInEnum {
                    value: number,
                    of: table.name,
                };
                return Err(row.problem(problem).into());
            }
            stored
        }
        (_, value) => row.store(unsigned(value)?)?,
    })
}

/// Text to a value.
fn parse(row: &Row, arch: Arch, text: &str) -> Result<Value, AccessError> {
    if let Some(value) = number(text) {
        return Ok(value);
    }
    let wanted = |wanted| AccessError::Text {
        field: row.name,
        wanted,
    };
    match row.kind {
        Kind::Enum(table) => match table.of_name(arch, text) {
            Some(found) => Ok(Value::Number(found.value.into())),
            None => Err(wanted("a number, or a name of its enumeration")),
        },
        Kind::Bool => match text {
            "true" | "yes" | "on" => Ok(Value::Number(1)),
            "false" | "no" | "off" => Ok(Value::Number(0)),
            _ => Err(wanted("true or false")),
        },
        Kind::PixelFormat => match VkFormat::of_name(arch, text) {
            Some(format) => Ok(Value::Number(format.pixel_format().0.into())),
            None => Err(wanted("a number, or a Vulkan format")),
        },
        Kind::Swizzle => swizzle(text).ok_or(wanted("four of R, G, B, A, 0, 1")),
        _ => Err(wanted("a number")),
    }
}

/// `RGB1` and the like.
fn swizzle(text: &str) -> Option<Value> {
    if text.len() != 4 {
        return None;
    }
    let codes = text
        .chars()
        .enumerate()
        .try_fold(0, |codes, (place, letter)| {
            let code = "RGBA01".find(letter.to_ascii_uppercase())?;
            Some(codes | (code as u64) << (3 * place))
        });
    codes.map(Value::Number)
}

/// A number as people write it.
fn number(text: &str) -> Option<Value> {
    let hex = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    if let Some(digits) = hex {
        return u64::from_str_radix(digits, 16).ok().map(Value::Number);
    }
    if let Ok(value) = text.parse() {
        return Some(Value::Number(value));
    }
    if let Ok(value) = text.parse() {
        return Some(Value::Signed(value));
    }
    // `inf` and `nan` are names to a person, and numbers to this.
    text.parse().ok().map(Value::Real)
}

/// The structure or aggregate of that name: blanks, `_`, `-` and case don't count.
pub fn layout(name: &str) -> Option<&'static Layout> {
    let known = crate::table::LAYOUTS.iter().chain(crate::table::AGGREGATES);
    known.copied().find(|layout| same_name(layout.name, name))
}
