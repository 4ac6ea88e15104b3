//! Files of a model: the container, buffers inside and outside of it, data URIs.
//!
//! Facts: glTF 2.0, "GLB File Format Specification", "Buffers and Buffer Views", "URIs".

use crate::error::{Fault, ModelError};
use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use gltf::buffer;
use std::borrow::Cow;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Most bytes of a file: a slip of the finger should not fill the memory.
const MAX_BYTES: u64 = 1 << 30;
/// "JSON" and "BIN" of chunks.
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;
/// Magic, version and length.
const HEADER: usize = 12;

/// Standard base64, with or without padding: files have both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// The parts of a file.
pub(crate) struct Container<'f> {
    pub(crate) json: &'f [u8],
    /// The binary chunk.
    pub(crate) binary: Option<&'f [u8]>,
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let fault = |cause| Fault::Read(path.to_owned(), cause);
    let file = std::fs::File::open(path).map_err(fault)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(fault)?;
    if bytes.len() as u64 > MAX_BYTES {
        let text = format!("it has more than {MAX_BYTES} bytes");
        return Err(fault(std::io::Error::other(text)));
    }
    Ok(bytes)
}

/// The parts of a file: of a binary one its chunks; any other is JSON.
pub(crate) fn container(bytes: &[u8]) -> Result<Container<'_>, Fault> {
    let Some(rest) = bytes.strip_prefix(b"glTF") else {
        return Ok(Container {
            json: bytes,
            binary: None,
        });
    };
    let cut = || Fault::invalid("the binary file was cut short");
    let (version, rest) = word(rest).ok_or_else(cut)?;
    let (length, _) = word(rest).ok_or_else(cut)?;
    if version != 2 {
        let what = format!("it is glTF of version {version}; version 2 is drawn");
        return Err(Fault::unsupported(what));
    }
    let all = bytes.get(HEADER..length as usize).ok_or_else(cut)?;
    let (kind, json, rest) = chunk(all).ok_or_else(cut)?;
    if kind != JSON {
        return Err(Fault::invalid("the first chunk is not JSON"));
    }
    let binary = match rest {
        [] => None,
        rest => {
            let (kind, binary, _) = chunk(rest).ok_or_else(cut)?;
            // Chunks of other kinds are to be ignored.
            (kind == BIN).then_some(binary)
        }
    };
    Ok(Container { json, binary })
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*word), rest))
}

/// The kind of a chunk, its bytes, and what follows.
fn chunk(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (length, rest) = word(bytes)?;
    let (kind, rest) = word(rest)?;
    let (inside, rest) = rest.split_at_checked(length as usize)?;
    Some((kind, inside, rest))
}

/// The bytes that a URI stands for: those inside of it, or a file beside the model.
pub(crate) fn resolve(model: &Path, uri: &str) -> Result<Vec<u8>, Fault> {
    if let Some(data) = uri.strip_prefix("data:") {
        let bad = |why: &str| Fault::invalid(format!("a data URI {why}"));
        let (kind, data) = data.split_once(',').ok_or_else(|| bad("has no comma"))?;
        if !kind.ends_with(";base64") {
            return Err(bad("is not base64"));
        }
        return BASE64
            .decode(data)
            .map_err(|error| bad(&format!("is not base64: {error}")));
    }
    if uri.contains(':') {
        return Err(Fault::unsupported(format!("the URI {uri}")));
    }
    let name = percent_decoded(uri)
        .ok_or_else(|| Fault::invalid(format!("the URI {uri} is not percent-encoded text")))?;
    let file = PathBuf::from(&name);
    // A model that came from elsewhere must not read what lies elsewhere.
    let beside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || !file.components().all(beside) {
        let what = format!("the URI {uri} leads out of the model's folder");
        return Err(Fault::invalid(what));
    }
    read(&model.parent().unwrap_or(Path::new("")).join(file))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, behind) = rest.split_first_chunk::<2>()?;
        let digit = |digit: u8| char::from(digit).to_digit(16);
        // Two digits are below 256.
        bytes.push((digit(digits[0])? * 16 + digit(digits[1])?) as u8);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

/// The contents of all buffers of a model.
pub(crate) struct Buffers<'f> {
    all: Vec<Cow<'f, [u8]>>,
}

impl<'f> Buffers<'f> {
    /// Reads all buffers.
    pub(crate) fn read(
        document: &gltf::Document,
        path: &Path,
        binary: Option<&'f [u8]>,
    ) -> Result<Buffers<'f>, ModelError> {
        let read = |buffer: buffer::Buffer<'_>| {
            let (index, length) = (buffer.index(), buffer.length());
            let bytes = match buffer.source() {
                buffer::Source::Bin => {
                    let bytes = binary.filter(|_| index == 0);
                    let none = || Fault::invalid(format!("buffers[{index}] has no contents"));
                    Cow::Borrowed(bytes.ok_or_else(none)?)
                }
                buffer::Source::Uri(uri) => Cow::Owned(resolve(path, uri)?),
            };
            if bytes.len() < length {
                let found = bytes.len();
                let what = format!("buffers[{index}] has {found} bytes, not {length}");
                return Err(Fault::invalid(what));
            }
            Ok(bytes)
        };
        let all = document.buffers().map(read).collect::<Result<_, Fault>>();
        all.map(|all| Buffers { all })
            .map_err(|fault| fault.of(path))
    }

    /// The bytes of a view.
    pub(crate) fn view(&self, view: &buffer::View<'_>) -> Result<&[u8], Fault> {
        let buffer = self.all.get(view.buffer().index());
        let end = view.offset().checked_add(view.length());
        let bytes = buffer
            .zip(end)
            .and_then(|(buffer, end)| buffer.get(view.offset()..end));
        bytes.ok_or_else(|| {
            let index = view.index();
            Fault::invalid(format!("bufferViews[{index}] ends behind its buffer"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_taken_apart_and_damage_is_an_error() {
        let mut file =
            b"glTF\x02\0\0\0\x24\0\0\0\x04\0\0\0JSON{}  \x04\0\0\0BIN\0\x01\x02\x03\x04".to_vec();
        let parts = container(&file).unwrap();
        assert_eq!(parts.json, b"{}  ");
        assert_eq!(parts.binary, Some(&[1, 2, 3, 4][..]));
        for length in 4..file.len() {
            assert!(container(&file[..length]).is_err(), "{length} bytes");
        }
        file[4] = 1;
        assert!(matches!(container(&file), Err(Fault::Unsupported(_))));
        // A length that is less than the header's own.
        file[4] = 2;
        file[8] = 3;
        assert!(container(&file).is_err());
    }

    #[test]
    fn uris_stay_beside_the_model() {
        let model = Path::new("m/x.gltf");
        let data = resolve(model, "data:application/octet-stream;base64,AQID").unwrap();
        assert_eq!(data, [1, 2, 3]);
        for uri in [
            "../x",
            "/etc/passwd",
            "%2e%2e/x",
            "",
            "data:,x",
            "data:;base64,!",
            "a%zz",
        ] {
            assert!(
                matches!(resolve(model, uri), Err(Fault::Invalid(_))),
                "{uri}"
            );
        }
        assert!(matches!(
            resolve(model, "http://x/y"),
            Err(Fault::Unsupported(_))
        ));
        assert!(
            matches!(resolve(model, "no%20such"), Err(Fault::Read(path, _)) if path.ends_with("no such"))
        );
    }
}
