//! `--push`: push constants as hex digits, as typed values, or by the names that the shader gives them.

use crate::input::buffer_source::{BindingName, hex_bytes};
use crate::input::nearest;
use crate::input::shader_file::Shader;
use crate::outcome::Failure;
use eitri_shaderc::reflect::{Member, Type, reflect};
use eitri_shaderc::spirv::error::Error as SpirvError;
use miette::Diagnostic;
use std::collections::BTreeMap;
use std::str::FromStr;
use thiserror::Error;

/// `--push`, as far as it can be read without the shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PushArgument {
    /// The bytes themselves.
    Bytes(Vec<u8>),
    /// `NAME=VALUE`, in the order of the command line.
    Named(Vec<(String, String)>),
    /// The address of a buffer, and so many bytes more: for the checkers, since a job can't be given one.
    Address(BindingName, u64),
}

/// What is wrong with `--push`.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
pub(crate) enum PushError {
    #[error(transparent)]
    Hex(#[from] crate::input::buffer_source::SourceError),
    #[error("`{value}` is not a value of type {ty}")]
    #[diagnostic(help(
        "types are u8, i8, u16, i16, u32, i32, f32, u64, i64, f64 and bool; a vector's parts are separated by `:`"
    ))]
    Value { value: String, ty: String },
    #[error("`{text}` is not NAME=VALUE")]
    #[diagnostic(help("--push a=2.0,n=1024, --push f32:2.0,u32:1024 or --push 0000004000040000"))]
    Form { text: String },
    #[error("{path}: the shader has no push constants")]
    None { path: String },
    #[error("{path}: no push constant is called `{name}`")]
    #[diagnostic(help("{help}"))]
    Unknown {
        path: String,
        name: String,
        help: String,
    },
    #[error("{path}: push constant `{name}` is given twice")]
    Twice { path: String, name: String },
    #[error("{path}: no value for push constants {}", names.join(", "))]
    Missing { path: String, names: Vec<String> },
    #[error("{path}: push constant `{name}` is {ty}: only numbers and vectors have values here")]
    #[diagnostic(help("give all push constants as hex digits, lowest byte first"))]
    Composite {
        path: String,
        name: String,
        ty: String,
    },
}

/// The shader can't be read for its names.
#[derive(Debug, Error, Diagnostic)]
#[error("{path}: {cause}")]
struct Unreadable {
    path: String,
    cause: SpirvError,
}

impl FromStr for PushArgument {
    type Err = PushError;

    fn from_str(text: &str) -> Result<PushArgument, PushError> {
        if let Some(address) = text.strip_prefix('@') {
            let (name, plus) = address.split_once('+').unwrap_or((address, "0"));
            let plus = plus.parse().map_err(|_| PushError::Form {
                text: text.to_owned(),
            })?;
            return Ok(PushArgument::Address(name.parse()?, plus));
        }
        if text.contains('=') {
            let pairs = text.split(',').map(|part| {
                let (name, value) = part.split_once('=').ok_or_else(|| PushError::Form {
                    text: part.to_owned(),
                })?;
                Ok((name.trim().to_owned(), value.trim().to_owned()))
            });
            return pairs.collect::<Result<_, _>>().map(PushArgument::Named);
        }
        if !text.contains(':') {
            return Ok(PushArgument::Bytes(hex_bytes(text)?));
        }
        let mut bytes = Vec::new();
        for part in text.split(',') {
            // The check above is of the whole text.
            let (ty, value) = part.split_once(':').unwrap_or(("", part));
            bytes.extend(scalar(ty.trim(), value.trim())?);
        }
        Ok(PushArgument::Bytes(bytes))
    }
}

impl PushArgument {
    /// The buffer whose address it is, and how far behind its start.
    pub(crate) fn address(&self) -> Option<(BindingName, u64)> {
        match self {
            PushArgument::Address(name, plus) => Some((*name, *plus)),
            PushArgument::Bytes(_) | PushArgument::Named(_) => None,
        }
    }

    /// The bytes for a shader, of which names are looked up.
    pub(crate) fn bytes(
        &self,
        shader: &Shader,
        entry: Option<&str>,
        specialisation: &BTreeMap<u32, u32>,
    ) -> Result<Vec<u8>, Failure> {
        let pairs = match self {
            PushArgument::Bytes(bytes) => return Ok(bytes.clone()),
            PushArgument::Named(pairs) => pairs,
            PushArgument::Address(..) => return Ok(vec![0; 8]),
        };
        let path = shader.path.clone();
        let found = reflect(&shader.spirv, entry, specialisation).map_err(|cause| {
            let path = path.clone();
            Failure::refused(Unreadable { path, cause })
        })?;
        named(path, found.push_constants.as_ref(), pairs).map_err(Failure::refused)
    }
}

/// The bytes of a block of push constants, of `NAME=VALUE`.
fn named(
    path: String,
    block: Option<&Type>,
    pairs: &[(String, String)],
) -> Result<Vec<u8>, PushError> {
    let Some(Type::Struct { members, .. }) = block else {
        return Err(PushError::None { path });
    };
    let mut bytes = Vec::new();
    for (index, (name, value)) in pairs.iter().enumerate() {
        let Some(member) = members.iter().find(|member| member.name == *name) else {
            let names: Vec<&str> = members.iter().map(|it| it.name.as_str()).collect();
            let all = format!("there are {}", names.join(", "));
            let help = nearest::suggestion(name, names, &all);
            let name = name.clone();
            return Err(PushError::Unknown { path, name, help });
        };
        if pairs.iter().take(index).any(|(other, _)| other == name) {
            let name = name.clone();
            return Err(PushError::Twice { path, name });
        }
        let value = value_of(&path, member, value)?;
        let start = member.offset.unwrap_or(0) as usize;
        let end = start + value.len();
        bytes.resize(bytes.len().max(end), 0);
        if let Some(place) = bytes.get_mut(start..end) {
            place.copy_from_slice(&value);
        }
    }
    let is_given = |member: &&Member| pairs.iter().any(|(name, _)| *name == member.name);
    let missing = members.iter().filter(|member| !is_given(member));
    let names: Vec<String> = missing.map(|member| member.name.clone()).collect();
    match names.is_empty() {
        true => Ok(bytes),
        false => Err(PushError::Missing { path, names }),
    }
}

fn value_of(path: &str, member: &Member, value: &str) -> Result<Vec<u8>, PushError> {
    let composite = || PushError::Composite {
        path: path.to_owned(),
        name: member.name.clone(),
        ty: member.ty.to_string(),
    };
    match &member.ty {
        Type::Scalar { name, .. } => scalar(name, value),
        Type::Vector { component, count } => {
            let Type::Scalar { name, .. } = &**component else {
                return Err(composite());
            };
            let parts: Vec<&str> = value.split(':').collect();
            if parts.len() != *count as usize {
                return Err(PushError::Value {
                    value: value.to_owned(),
                    ty: member.ty.to_string(),
                });
            }
            let parts = parts.into_iter().map(|part| scalar(name, part));
            parts.collect::<Result<Vec<_>, _>>().map(|all| all.concat())
        }
        _ => Err(composite()),
    }
}

/// The bytes of a number.
fn scalar(ty: &str, value: &str) -> Result<Vec<u8>, PushError> {
    let wrong = || PushError::Value {
        value: value.to_owned(),
        ty: ty.to_owned(),
    };
    let integer = || match value.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).map_err(|_| wrong()),
        None => value.parse::<i128>().map_err(|_| wrong()),
    };
    macro_rules! integer {
        ($ty:ty) => {
            <$ty>::try_from(integer()?)
                .map_err(|_| wrong())?
                .to_le_bytes()
                .to_vec()
        };
    }
    Ok(match ty {
        "u8" => integer!(u8),
        "i8" => integer!(i8),
        "u16" => integer!(u16),
        "i16" => integer!(i16),
        "u32" => integer!(u32),
        "i32" => integer!(i32),
        "u64" | "ptr" => integer!(u64),
        "i64" => integer!(i64),
        "f32" => value
            .parse::<f32>()
            .map_err(|_| wrong())?
            .to_le_bytes()
            .to_vec(),
        "f64" => value
            .parse::<f64>()
            .map_err(|_| wrong())?
            .to_le_bytes()
            .to_vec(),
        // A bool of a block is a word.
        "bool" => u32::from(value.parse::<bool>().map_err(|_| wrong())?)
            .to_le_bytes()
            .to_vec(),
        _ => return Err(wrong()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<Vec<u8>, String> {
        match text.parse::<PushArgument>() {
            Ok(PushArgument::Bytes(bytes)) => Ok(bytes),
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn an_address_is_that_of_a_buffer() {
        let of = |text: &str| text.parse::<PushArgument>().map(|push| push.address());
        assert_eq!(of("@0+256"), Ok(Some((BindingName::new(0, 0), 256))));
        assert_eq!(of("@1:2"), Ok(Some((BindingName::new(1, 2), 0))));
        assert_eq!(of("00"), Ok(None));
        assert!(of("@0+x").is_err());
    }

    fn block() -> Type {
        let scalar = |name: &str| Type::Scalar {
            name: name.to_owned(),
            bytes: 4,
        };
        let member = |name: &str, offset: u32, ty: Type| Member {
            name: name.to_owned(),
            offset: Some(offset),
            ty,
        };
        let vector = Type::Vector {
            component: Box::new(scalar("f32")),
            count: 2,
        };
        Type::Struct {
            name: "Push".to_owned(),
            members: vec![
                member("a", 0, scalar("f32")),
                member("n", 4, scalar("u32")),
                member("at", 8, vector),
            ],
        }
    }

    fn named(text: &str) -> Result<Vec<u8>, String> {
        let Ok(PushArgument::Named(pairs)) = text.parse() else {
            return Err(format!("{text} has no names"));
        };
        let bytes = super::named("x.comp".to_owned(), Some(&block()), &pairs);
        bytes.map_err(|error| error.to_string())
    }

    #[test]
    fn bytes_are_digits_or_typed_values() {
        assert_eq!(bytes("00ff"), Ok(vec![0, 255]));
        assert_eq!(
            bytes("f32:2.0,u32:0x10"),
            Ok(vec![0, 0, 0, 64, 16, 0, 0, 0])
        );
        assert_eq!(bytes("i16:-2, u8:7"), Ok(vec![254, 255, 7]));
        assert!(
            bytes("u8:256")
                .unwrap_err()
                .contains("not a value of type u8")
        );
        assert!(bytes("f33:1").unwrap_err().contains("type f33"));
        assert!(bytes("xyz").unwrap_err().contains("hex digits"));
    }

    #[test]
    fn names_are_those_of_the_shader() {
        let expected = [0, 0, 0, 64, 9, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 63].to_vec();
        assert_eq!(named("n=9,a=2.0,at=1:0.5"), Ok(expected));
        assert!(named("n=1,a=2,at=1").unwrap_err().contains("not a value"));
        assert!(named("n=1,b=2").unwrap_err().contains("called `b`"));
        assert!(named("n=1,n=2").unwrap_err().contains("given twice"));
        assert!(named("n=1").unwrap_err().contains("push constants a, at"));
    }
}
