//! What a buffer holds before the dispatch: `BINDING=SOURCE` of the command line.

use crate::outcome::{Failure, FileError};
use miette::Diagnostic;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Most bytes that one buffer may have: the window of physical memory that the images give to the GPU is larger, but
/// a slip of the finger should not fill it.
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// A resource of a shader: `N` (set 0) or `SET:N`, of an array with the element: `SET:N[E]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BindingName {
    pub(crate) set: u32,
    pub(crate) binding: u32,
    pub(crate) element: u32,
}

impl BindingName {
    /// As an image that shows it reads it.
    pub(crate) fn words(self) -> String {
        format!("{} {} {}", self.set, self.binding, self.element)
    }

    /// A binding that is no array, or the first of one.
    pub(crate) const fn new(set: u32, binding: u32) -> BindingName {
        BindingName {
            set,
            binding,
            element: 0,
        }
    }
}

impl fmt::Display for BindingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.set, self.binding)?;
        match self.element {
            0 => Ok(()),
            element => write!(f, "[{element}]"),
        }
    }
}

impl FromStr for BindingName {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<BindingName, SourceError> {
        let (set, binding) = text.split_once(':').unwrap_or(("0", text));
        let (binding, element) = match binding.split_once('[') {
            // Without its bracket the element is no number.
            Some((binding, element)) => (binding, element.strip_suffix(']').unwrap_or("")),
            None => (binding, "0"),
        };
        match (set.parse(), binding.parse(), element.parse()) {
            (Ok(set), Ok(binding), Ok(element)) => Ok(BindingName {
                set,
                binding,
                element,
            }),
            _ => Err(SourceError::Binding {
                text: text.to_owned(),
            }),
        }
    }
}

/// What is wrong with a `BINDING=SOURCE` or `BINDING=FILE`.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
pub(crate) enum SourceError {
    #[error(
        "`{text}` is not a binding: write N for set 0, or SET:N, and [E] behind it for an element"
    )]
    Binding { text: String },
    #[error("`{text}` has no `=`: write BINDING=SOURCE, such as 0=input.bin or 1:2=zero:4096")]
    NoEquals { text: String },
    #[error("`{text}` has nothing behind its `=`")]
    Empty { text: String },
    #[error("`{text}` is not a number of {what}")]
    Number { text: String, what: &'static str },
    #[error("source `{kind}:{rest}` has the wrong number of parts: write {usage}")]
    Parts {
        kind: &'static str,
        rest: String,
        usage: &'static str,
    },
    #[error("`{text}` is not an even number of hex digits")]
    Hex { text: String },
    #[error("a buffer of {bytes} bytes: the most is {MAX_BYTES}")]
    TooLarge { bytes: u64 },
}

/// Where the bytes of a buffer come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    File(String),
    Zero {
        bytes: u64,
    },
    IotaU32 {
        count: u64,
    },
    IotaF32 {
        count: u64,
    },
    /// 32-bit words, all alike.
    Fill {
        word: u32,
        count: u64,
    },
    Random {
        seed: u64,
        count: u64,
    },
    Hex(Vec<u8>),
}

/// How sources are written, for `--help` and for errors: kind and usage, a row each.
#[rustfmt::skip]
pub(crate) const USAGE: &[(&str, &str)] = &[
    ("file",       "FILE or file:FILE (`-` is standard input)"),
    ("zero",       "zero:BYTES"),
    ("iota-u32",   "iota-u32:COUNT (words 0, 1, 2, …)"),
    ("iota-f32",   "iota-f32:COUNT (0.0, 1.0, 2.0, …)"),
    ("fill-u32",   "fill-u32:VALUE:COUNT"),
    ("fill-i32",   "fill-i32:VALUE:COUNT"),
    ("fill-f32",   "fill-f32:VALUE:COUNT"),
    ("random-u32", "random-u32:SEED:COUNT"),
    ("hex",        "hex:DIGITS"),
];

/// `BINDING=SOURCE`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BufferArgument {
    pub(crate) name: BindingName,
    pub(crate) source: Source,
}

impl FromStr for BufferArgument {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<BufferArgument, SourceError> {
        let (name, source) = split_assignment(text)?;
        Ok(BufferArgument {
            name: name.parse()?,
            source: source.parse()?,
        })
    }
}

/// `BINDING=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SaveArgument {
    pub(crate) name: BindingName,
    pub(crate) path: String,
}

impl FromStr for SaveArgument {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<SaveArgument, SourceError> {
        let (name, path) = split_assignment(text)?;
        Ok(SaveArgument {
            name: name.parse()?,
            path: path.to_owned(),
        })
    }
}

pub(crate) fn split_assignment(text: &str) -> Result<(&str, &str), SourceError> {
    match text.split_once('=') {
        Some((name, value)) if !value.is_empty() => Ok((name, value)),
        Some(_) => Err(SourceError::Empty {
            text: text.to_owned(),
        }),
        _ => Err(SourceError::NoEquals {
            text: text.to_owned(),
        }),
    }
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Source, SourceError> {
        let known = text.split_once(':').and_then(|(kind, rest)| {
            let row = USAGE.iter().find(|(name, _)| *name == kind)?;
            Some((*row, rest))
        });
        // A path may hold a colon itself: only a known kind makes it a source.
        let Some(((kind, usage), rest)) = known else {
            return Ok(Source::File(text.to_owned()));
        };
        let one = |what| match rest.contains(':') {
            true => Err(wrong_parts(kind, rest, usage)),
            false => number(rest, what),
        };
        let two = || match rest.split_once(':') {
            Some((value, count)) if !count.contains(':') => Ok((value, number(count, "words")?)),
            _ => Err(wrong_parts(kind, rest, usage)),
        };
        let source = match kind {
            "file" => Source::File(rest.to_owned()),
            "zero" => Source::Zero {
                bytes: one("bytes")?,
            },
            "iota-u32" => Source::IotaU32 {
                count: one("words")?,
            },
            "iota-f32" => Source::IotaF32 {
                count: one("words")?,
            },
            "random-u32" => {
                let (seed, count) = two()?;
                Source::Random {
                    seed: number(seed, "seed")?,
                    count,
                }
            }
            "hex" => Source::Hex(hex_bytes(rest)?),
            _ => {
                let (value, count) = two()?;
                let word = fill_word(kind, value)?;
                Source::Fill { word, count }
            }
        };
        match source.byte_count() {
            Some(bytes) if bytes > MAX_BYTES => Err(SourceError::TooLarge { bytes }),
            _ => Ok(source),
        }
    }
}

fn fill_word(kind: &'static str, value: &str) -> Result<u32, SourceError> {
    let error = |what| SourceError::Number {
        text: value.to_owned(),
        what,
    };
    match kind {
        "fill-f32" => {
            let value: f32 = value.parse().map_err(|_| error("32-bit float"))?;
            Ok(value.to_bits())
        }
        "fill-i32" => {
            let value: i32 = value.parse().map_err(|_| error("32-bit signed integer"))?;
            Ok(value.cast_unsigned())
        }
        _ => u32::try_from(number(value, "32-bit unsigned integer")?)
            .map_err(|_| error("32-bit unsigned integer")),
    }
}

fn wrong_parts(kind: &'static str, rest: &str, usage: &'static str) -> SourceError {
    SourceError::Parts {
        kind,
        rest: rest.to_owned(),
        usage,
    }
}

/// A number as people write it: decimal or `0x…`, `_` allowed, and `k`, `M` for 2^10 and 2^20.
fn number(text: &str, what: &'static str) -> Result<u64, SourceError> {
    let error = || SourceError::Number {
        text: text.to_owned(),
        what,
    };
    let plain = text.replace('_', "");
    let (digits, scale) = match plain.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => match plain.strip_suffix('M') {
            Some(digits) => (digits, 1 << 20),
            None => (plain.as_str(), 1),
        },
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    value
        .ok()
        .and_then(|value: u64| value.checked_mul(scale))
        .ok_or_else(error)
}

/// Bytes written as hex digits; blanks, `_` and a leading `0x` are allowed.
pub(crate) fn hex_bytes(text: &str) -> Result<Vec<u8>, SourceError> {
    let error = || SourceError::Hex {
        text: text.to_owned(),
    };
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let digits = digits.chars().filter(|c| !c.is_whitespace() && *c != '_');
    let nibbles: Option<Vec<u32>> = digits.map(|c| c.to_digit(16)).collect();
    let nibbles = nibbles.ok_or_else(error)?;
    let (pairs, []) = nibbles.as_chunks::<2>() else {
        return Err(error());
    };
    // Each nibble is below 16, so a pair fits a byte.
    Ok(pairs
        .iter()
        .map(|[high, low]| (high << 4 | low) as u8)
        .collect())
}

impl Source {
    /// Bytes that the source makes, where that is known without reading anything.
    fn byte_count(&self) -> Option<u64> {
        match self {
            Source::File(_) => None,
            Source::Zero { bytes } => Some(*bytes),
            Source::Hex(bytes) => Some(bytes.len() as u64),
            Source::IotaU32 { count }
            | Source::IotaF32 { count }
            | Source::Fill { count, .. }
            | Source::Random { count, .. } => Some(count.saturating_mul(4)),
        }
    }

    /// Makes or reads the bytes.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let words = |count: u64, word: &mut dyn FnMut(u64) -> u32| {
            (0..count)
                .flat_map(|index| word(index).to_le_bytes())
                .collect()
        };
        Ok(match self {
            Source::File(path) => read(path)?,
            // `from_str` has bounded the counts, so they fit the address space.
            Source::Zero { bytes } => vec![0; *bytes as usize],
            Source::Hex(bytes) => bytes.clone(),
            Source::IotaU32 { count } => words(*count, &mut |index| index as u32),
            Source::IotaF32 { count } => words(*count, &mut |index| (index as f32).to_bits()),
            Source::Fill { word, count } => words(*count, &mut |_| *word),
            Source::Random { seed, count } => {
                let mut state = *seed;
                words(*count, &mut |_| split_mix(&mut state))
            }
        })
    }
}

/// A file's bytes, at most [`MAX_BYTES`]; `-` is standard input.
pub(crate) fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let read = match path {
        "-" => read_bounded(std::io::stdin().lock()),
        _ => std::fs::File::open(path).and_then(read_bounded),
    };
    let bytes = read.map_err(|cause| {
        Failure::refused(FileError {
            action: "read",
            path: if path == "-" {
                "standard input".to_owned()
            } else {
                path.to_owned()
            },
            cause,
        })
    })?;
    match bytes.len() as u64 {
        0..=MAX_BYTES => Ok(bytes),
        bytes => Err(Failure::refused(SourceError::TooLarge { bytes })),
    }
}

/// All that there is, up to one byte more than may be: a device file need not end.
fn read_bounded(from: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(from, MAX_BYTES + 1), &mut bytes)?;
    Ok(bytes)
}

/// SplitMix64, high half: the same numbers on every machine and in every release.
fn split_mix(state: &mut u64) -> u32 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, bytes: &[u8]) {
        let argument: BufferArgument = text.parse().unwrap();
        assert_eq!(argument.source.bytes().unwrap(), bytes, "{text}");
    }

    #[track_caller]
    fn refused(text: &str, message: &str) {
        let error = text.parse::<BufferArgument>().unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn sources_make_the_bytes_they_say() {
        check("0=zero:3", &[0; 3]);
        check("0=iota-u32:2", &[0, 0, 0, 0, 1, 0, 0, 0]);
        check("0=iota-f32:2", &[0, 0, 0, 0, 0, 0, 0x80, 0x3F]);
        check("0=fill-f32:1.5:1", &[0, 0, 0xC0, 0x3F]);
        check("0=fill-i32:-2:1", &[0xFE, 0xFF, 0xFF, 0xFF]);
        check("0=hex:0x01 02", &[1, 2]);
        assert_eq!("3:4".parse(), Ok(BindingName::new(3, 4)));
        assert_eq!(
            "odd:name.bin".parse(),
            Ok(Source::File("odd:name.bin".to_owned()))
        );
        assert_eq!("zero:4k".parse(), Ok(Source::Zero { bytes: 4096 }));
    }

    #[test]
    fn slips_are_told_apart() {
        refused(
            "0",
            "`0` has no `=`: write BINDING=SOURCE, such as 0=input.bin or 1:2=zero:4096",
        );
        refused(
            "x=zero:4",
            "`x` is not a binding: write N for set 0, or SET:N, and [E] behind it for an element",
        );
        refused("0=zero:many", "`many` is not a number of bytes");
        refused(
            "0=fill-f32:1.0",
            "source `fill-f32:1.0` has the wrong number of parts: write fill-f32:VALUE:COUNT",
        );
        refused("0=hex:123", "`123` is not an even number of hex digits");
        refused(
            "0=zero:99999M",
            "a buffer of 104856551424 bytes: the most is 268435456",
        );
    }
}
