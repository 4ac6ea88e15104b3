//! Initial contents of a buffer: rules that make bytes (shared/kernels/README.md, "Initial contents"; shared/scenes/README.md,
//! "Contents").

use crate::element::{Element, f16_bits};
use crate::pcg32::Pcg32;
use serde::{Deserialize, Deserializer, de};

/// What a buffer holds before the dispatch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contents {
    /// Zero bytes.
    Zero,
    /// 32-bit words that grow by a step, modulo 2^32.
    Iota {
        /// The first word.
        start: u32,
        /// What each next one is larger by.
        step: u32,
    },
    /// 32-bit words, all alike.
    Fill(u32),
    /// These bytes.
    #[serde(deserialize_with = "hex")]
    Hex(Vec<u8>),
    /// These 32-bit reals.
    F32(Vec<f32>),
    /// These 32-bit integers.
    U32(Vec<u32>),
    /// The contents of a file in the case's folder.
    File(String),
    /// Numbers from the generator.
    Pcg32(Generator),
}

/// How the generator's outputs become elements; which members go together is checked by [`Contents::bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Generator {
    /// Where the generator starts.
    pub seed: u64,
    /// The type of the elements.
    #[serde(rename = "as")]
    pub element: Element,
    /// Reduce outputs modulo this.
    #[serde(rename = "mod")]
    pub modulus: Option<u64>,
    /// Then add this.
    pub add: Option<i64>,
    /// Then multiply by this: reals only.
    pub scale: Option<f64>,
    /// Reals between this…
    pub min: Option<f64>,
    /// …and this.
    pub max: Option<f64>,
}

/// Why contents can't be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentsError {
    /// A modulus of 0.
    #[error("`mod` is 0")]
    Modulus,
    /// Members that don't go together.
    #[error("numbers `as` {element} need {wanted}")]
    Members {
        /// The element type.
        element: String,
        /// What is missing or too much.
        wanted: &'static str,
    },
    /// The wrong number of digits, or of elements.
    #[error("`{list}` has {found} bytes, the binding {wanted}")]
    Length {
        /// The kind of list.
        list: &'static str,
        /// Bytes that are given.
        found: usize,
        /// Bytes that the binding has.
        wanted: usize,
    },
    /// Only who knows the folder can read a file.
    #[error("the contents of `{name}` are in a file")]
    File {
        /// Its name.
        name: String,
    },
}

impl Contents {
    /// These contents for a buffer of `size` bytes.
    ///
    /// # Errors
    /// Members of a generator that don't go together, `hex` of another length, or [`Contents::File`].
    pub fn bytes(&self, size: usize) -> Result<Vec<u8>, ContentsError> {
        Ok(match self {
            Contents::Zero => vec![0; size],
            Contents::Iota { start, step } => {
                let next = |word: &u32| Some(word.wrapping_add(*step));
                words(std::iter::successors(Some(*start), next), size)
            }
            Contents::Fill(word) => words(std::iter::repeat(*word), size),
            Contents::Hex(bytes) => whole("hex", bytes.clone(), size)?,
            Contents::F32(reals) => {
                let words = reals.iter().map(|real| real.to_bits());
                whole("f32", words.flat_map(u32::to_le_bytes).collect(), size)?
            }
            Contents::U32(words) => {
                let words = words.iter().copied();
                whole("u32", words.flat_map(u32::to_le_bytes).collect(), size)?
            }
            Contents::File(name) => return Err(ContentsError::File { name: name.clone() }),
            Contents::Pcg32(generator) => generator.bytes(size)?,
        })
    }
}

/// The bytes of a list that must have exactly so many.
fn whole(list: &'static str, bytes: Vec<u8>, wanted: usize) -> Result<Vec<u8>, ContentsError> {
    let found = bytes.len();
    if found == wanted {
        return Ok(bytes);
    }
    Err(ContentsError::Length {
        list,
        found,
        wanted,
    })
}

fn words(words: impl Iterator<Item = u32>, size: usize) -> Vec<u8> {
    words.flat_map(u32::to_le_bytes).take(size).collect()
}

/// What a generator does to each output.
enum Recipe {
    /// Integers: ((u mod m) + k), its low bits.
    Integer { modulus: Option<u64>, add: i64 },
    /// Reals: ((u mod m) + k) * s.
    Steps { modulus: u64, add: f64, scale: f64 },
    /// Reals between two bounds.
    Between { min: f64, max: f64 },
}

impl Generator {
    fn recipe(&self) -> Result<Recipe, ContentsError> {
        let error = |wanted| {
            Err(ContentsError::Members {
                element: format!("{:?}", self.element).to_lowercase(),
                wanted,
            })
        };
        if self.modulus == Some(0) {
            return Err(ContentsError::Modulus);
        }
        match (
            self.element.is_real(),
            self.modulus,
            self.scale,
            (self.min, self.max),
        ) {
            (false, modulus, None, (None, None)) => Ok(Recipe::Integer {
                modulus,
                add: self.add.unwrap_or(0),
            }),
            (false, ..) => error("no `scale`, `min` or `max`"),
            (true, Some(modulus), scale, (None, None)) => Ok(Recipe::Steps {
                modulus,
                add: self.add.unwrap_or(0) as f64,
                scale: scale.unwrap_or(1.0),
            }),
            (true, None, None, (Some(min), Some(max))) if self.add.is_none() => {
                Ok(Recipe::Between { min, max })
            }
            (true, ..) => error("either `mod`, or `min` and `max`"),
        }
    }

    fn bytes(&self, size: usize) -> Result<Vec<u8>, ContentsError> {
        let recipe = self.recipe()?;
        let mut generator = Pcg32::new(self.seed);
        let mut bytes = Vec::with_capacity(size);
        while bytes.len() < size {
            let output = u64::from(generator.step());
            let bits = match recipe {
                Recipe::Integer { modulus, add } => {
                    let reduced = modulus.map_or(output, |modulus| output % modulus);
                    reduced.wrapping_add_signed(add) as u32
                }
                Recipe::Steps {
                    modulus,
                    add,
                    scale,
                } => self.real(((output % modulus) as f64 + add) * scale),
                Recipe::Between { min, max } => {
                    let fraction = (output / 256) as f64 / 16_777_216.0;
                    self.real(min + (max - min) * fraction)
                }
            };
            let element = bits.to_le_bytes();
            bytes.extend(element.iter().take(self.element.bytes()));
        }
        bytes.truncate(size);
        Ok(bytes)
    }

    /// A real number's bits, rounded to the element's type.
    fn real(&self, value: f64) -> u32 {
        match self.element {
            Element::F16 => f16_bits(value).into(),
            _ => (value as f32).to_bits(),
        }
    }
}

/// The bytes that hex digits stand for, for `#[serde(deserialize_with)]`.
///
/// # Errors
/// What is no text, or not an even number of hex digits.
pub fn hex<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| {
        let byte = digit(high)? << 4 | digit(low)?;
        Some(byte as u8)
    });
    match bytes.collect() {
        Some(bytes) if rest.is_empty() => Ok(bytes),
        _ => Err(de::Error::custom(format!(
            "`{}` is not an even number of hex digits",
            text.chars().take(40).collect::<String>()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn bytes(json: &str, size: usize) -> Vec<u8> {
        let contents: Contents = serde_json::from_str(json).unwrap();
        contents.bytes(size).unwrap()
    }

    #[track_caller]
    fn refused(json: &str, part: &str) {
        let contents: Result<Contents, _> = serde_json::from_str(json);
        let text = match contents {
            Err(error) => error.to_string(),
            Ok(contents) => contents.bytes(8).unwrap_err().to_string(),
        };
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }

    fn f32s(bytes: &[u8]) -> Vec<f32> {
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|word| f32::from_le_bytes(*word)).collect()
    }

    #[test]
    fn rules_make_bytes() {
        assert_eq!(bytes(r#""zero""#, 3), [0, 0, 0]);
        let iota = r#"{"iota": {"start": 4294967295, "step": 2}}"#;
        assert_eq!(bytes(iota, 8), [255, 255, 255, 255, 1, 0, 0, 0]);
        assert_eq!(bytes(r#"{"fill": 258}"#, 6), [2, 1, 0, 0, 2, 1]);
        assert_eq!(bytes(r#"{"hex": "0aFF"}"#, 2), [10, 255]);
        assert_eq!(f32s(&bytes(r#"{"f32": [0.5, -2]}"#, 8)), [0.5, -2.0]);
        assert_eq!(bytes(r#"{"u32": [258]}"#, 4), [2, 1, 0, 0]);
        let small = r#"{"pcg32": {"seed": 1, "as": "u8", "mod": 10, "add": 1}}"#;
        // 0x9b6bdda9 and 0x0c31fc48 modulo 10, and 1.
        assert_eq!(bytes(small, 2), [8, 1]);
        let steps = r#"{"pcg32": {"seed": 1, "as": "f32", "mod": 8, "add": -4, "scale": 0.25}}"#;
        assert_eq!(f32s(&bytes(steps, 8)), [-0.75, -1.0]);
        let between = r#"{"pcg32": {"seed": 1, "as": "f32", "min": -1, "max": 1}}"#;
        let wanted = -1.0 + 2.0 * (f64::from(0x9b6b_dda9u32 / 256) / 16_777_216.0);
        assert_eq!(f32s(&bytes(between, 4)), [wanted as f32]);
        let half = r#"{"pcg32": {"seed": 1, "as": "f16", "mod": 8, "add": -4, "scale": 0.25}}"#;
        assert_eq!(bytes(half, 4), [0x00, 0xba, 0x00, 0xbc]);
    }

    #[test]
    fn bad_rules_are_refused() {
        refused(r#"{"hex": "0"}"#, "not an even number of hex digits");
        refused(r#"{"hex": "zz"}"#, "not an even number of hex digits");
        refused(r#"{"hex": "00"}"#, "`hex` has 1 bytes, the binding 8");
        refused(r#"{"f32": [1]}"#, "`f32` has 4 bytes, the binding 8");
        refused(r#"{"random": 1}"#, "unknown variant `random`");
        refused(
            r#"{"pcg32": {"seed": 1, "as": "u32", "mod": 0}}"#,
            "`mod` is 0",
        );
        refused(
            r#"{"pcg32": {"seed": 1, "as": "f32"}}"#,
            "`as` f32 need either `mod`, or `min` and `max`",
        );
        refused(
            r#"{"pcg32": {"seed": 1, "as": "u32", "min": 1}}"#,
            "`as` u32 need no `scale`",
        );
        refused(
            r#"{"pcg32": {"seed": 1, "as": "f64"}}"#,
            "unknown variant `f64`",
        );
    }
}
