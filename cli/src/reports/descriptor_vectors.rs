//! Descriptor vectors: packed examples in a file, checked one by one.
//!
//! Guarantees: a line a vector, whatever the file holds; never a panic.  Facts: hardware/descriptors.md 22.

use eitri_descriptors::{AccessError, Arch, DescriptorError, Dynamic, SUPPORTED, Value, layout};
use serde_json::Value as Json;
use thiserror::Error;

/// The largest structure is 128 bytes: 32 words.
const MOST_WORDS: usize = 32;
/// More than this is no descriptor, but a broken file.
const MOST_BYTES: usize = 1 << 20;

/// Why a vector is not as the tables say.
#[derive(Debug, Error)]
pub(crate) enum VectorError {
    /// The file does not have the form of hardware/descriptors.md 22.
    #[error("`{key}` is missing or is not {wanted}")]
    Form {
        key: &'static str,
        wanted: &'static str,
    },
    /// No such structure.
    #[error("no structure is called `{0}`")]
    Structure(String),
    /// A structure that does not exist there.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
    /// A field that can't take its value.
    #[error("{path}: {cause}")]
    Field { path: String, cause: AccessError },
    /// A field with a value that is neither a number, a flag, a name nor an object.
    #[error("{path}: no value: {value}")]
    NoValue { path: String, value: Json },
    /// A part that lies outside.
    #[error("`{structure}` at byte {offset} does not fit in {size} bytes")]
    Outside {
        structure: String,
        offset: usize,
        size: usize,
    },
    /// Other bytes.
    #[error("packs to {found}, expected {expected} (the first difference is byte {byte})")]
    Differs {
        found: String,
        expected: String,
        byte: usize,
    },
}

/// The name of a vector.
pub(crate) fn id(vector: &Json) -> &str {
    vector["id"].as_str().unwrap_or("(no id)")
}

/// Packs a vector's parts and compares them with its bytes.
pub(crate) fn check(vector: &Json) -> Result<(), VectorError> {
    let expected = text(vector, "hex")?.to_ascii_lowercase();
    let found = hex(&pack(vector)?);
    if found == expected {
        return Ok(());
    }
    let same = found
        .bytes()
        .zip(expected.bytes())
        .take_while(|(found, expected)| found == expected)
        .count();
    Err(VectorError::Differs {
        found,
        expected,
        byte: same / 2,
    })
}

/// The bytes of a vector: a field that is not listed has all-zero stored bits, and bytes outside parts are zero.
fn pack(vector: &Json) -> Result<Vec<u8>, VectorError> {
    let arch = arch(&vector["arch"])?;
    let size = count(&vector["size"], "size")?;
    let mut bytes = vec![0; size.min(MOST_BYTES)];
    let parts = vector["parts"].as_array().ok_or(VectorError::Form {
        key: "parts",
        wanted: "a list",
    })?;
    for part in parts {
        let structure = text(part, "struct")?;
        let offset = count(&part["offset"], "offset")?;
        let layout =
            layout(structure).ok_or_else(|| VectorError::Structure(structure.to_owned()))?;
        let mut words = [0; MOST_WORDS];
        let mut target = Dynamic::zeroed(layout, arch, &mut words)?;
        set_fields(&mut target, "", &part["fields"])?;
        let own: Vec<u8> = target
            .words()
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let length = layout.size(arch).map_or(own.len(), |bytes| bytes as usize);
        let place = offset
            .checked_add(length)
            .and_then(|end| bytes.get_mut(offset..end));
        let outside = || VectorError::Outside {
            structure: structure.to_owned(),
            offset,
            size,
        };
        for (to, from) in place.ok_or_else(outside)?.iter_mut().zip(own) {
            *to |= from;
        }
    }
    Ok(bytes)
}

fn set_fields(target: &mut Dynamic<'_>, prefix: &str, fields: &Json) -> Result<(), VectorError> {
    let fields = fields.as_object().ok_or(VectorError::Form {
        key: "fields",
        wanted: "an object",
    })?;
    for (name, field) in fields {
        let path = format!("{prefix}{name}");
        let done = match (field, number(field)) {
            (Json::Object(_), _) => {
                set_fields(target, &format!("{path}."), field)?;
                continue;
            }
            (Json::String(text), _) => target.set_text(&path, text),
            (_, Some(value)) => target.or(&path, value),
            (_, None) => {
                return Err(VectorError::NoValue {
                    path,
                    value: field.clone(),
                });
            }
        };
        done.map_err(|cause| VectorError::Field { path, cause })?;
    }
    Ok(())
}

fn number(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(flag) => Some(Value::Number((*flag).into())),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Some(Value::Number(number)),
            (None, Some(number)) => Some(Value::Signed(number)),
            (None, None) => number.as_f64().map(Value::Real),
        },
        _ => None,
    }
}

fn arch(json: &Json) -> Result<Arch, VectorError> {
    let text = json
        .as_str()
        .map_or_else(|| json.to_string(), str::to_owned);
    SUPPORTED.parse(&text).map_err(|_| VectorError::Form {
        key: "arch",
        wanted: "one of 10, 11, 12, 13",
    })
}

fn count(json: &Json, key: &'static str) -> Result<usize, VectorError> {
    let number = json
        .as_u64()
        .and_then(|number| usize::try_from(number).ok());
    number.ok_or(VectorError::Form {
        key,
        wanted: "a number of bytes",
    })
}

fn text<'j>(json: &'j Json, key: &'static str) -> Result<&'j str, VectorError> {
    json[key].as_str().ok_or(VectorError::Form {
        key,
        wanted: "a text",
    })
}

/// Lower-case digits, byte 0 first.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
