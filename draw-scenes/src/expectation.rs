//! What must come out, and the rules by which it is compared.
//!
//! Facts: shared/scenes/README.md ("What is expected").

use crate::error::Difference;
use crate::format::ImageFormat;
use crate::scene::Aspect;
use eitri_texels::Stored;
use sha2::{Digest, Sha256};
use std::fmt;

/// Where a result is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Layers of a level of an image.
    Image {
        /// Name of the image.
        image: String,
        /// The part of the texels.
        aspect: Aspect,
        /// The level.
        level: u32,
        /// The first layer.
        layer: u32,
        /// Layers.
        layers: u32,
    },
    /// Bytes of a buffer.
    Buffer {
        /// Name of the buffer.
        buffer: String,
        /// The first byte.
        offset: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The results of a query, as 64-bit words.
    Query {
        /// Name of the query.
        query: String,
    },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Image {
                image,
                aspect,
                level,
                layer,
                layers,
            } => {
                write!(f, "image {image}")?;
                match aspect {
                    Aspect::Color => {}
                    Aspect::Depth => f.write_str(" (depth)")?,
                    Aspect::Stencil => f.write_str(" (stencil)")?,
                    Aspect::DepthStencil => f.write_str(" (depth and stencil)")?,
                }
                if *level != 0 {
                    write!(f, ", level {level}")?;
                }
                match (layer, layers) {
                    (0, 1) => Ok(()),
                    (layer, 1) => write!(f, ", layer {layer}"),
                    (layer, layers) => {
                        write!(
                            f,
                            ", layers {layer} to {}",
                            layer + layers.saturating_sub(1)
                        )
                    }
                }
            }
            Target::Buffer {
                buffer, offset: 0, ..
            } => write!(f, "buffer {buffer}"),
            Target::Buffer { buffer, offset, .. } => {
                write!(f, "buffer {buffer} from byte {offset}")
            }
            Target::Query { query } => write!(f, "query {query}"),
        }
    }
}

/// The condition for a texel, or for a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The bytes are equal.
    Exact,
    /// Each component differs by so many steps of the format; of floats, by so much.
    Units {
        /// The most.
        max: f64,
    },
    /// `|got - expected| <= abs + rel |expected|` for each component: numbers of floats, steps of others.
    Float {
        /// The part of the tolerance that does not depend on the number.
        abs: f64,
        /// The part that grows with it.
        rel: f64,
    },
    /// The root of the mean squared difference of all components, normalised formats taken as 0 to 1.
    Rmse {
        /// The most.
        rmse: f64,
        /// The largest difference of one component, unless it is 0.
        max: f64,
    },
}

/// A comparison: its rule, and the texels that it leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The condition.
    pub rule: Rule,
    /// How many texels may fail it.
    pub allow_pixels: usize,
    /// For each texel, 0 if it is not compared; all are without.
    pub mask: Option<Vec<u8>>,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Rule::Exact => write!(f, "equal bytes"),
            Rule::Units { max: 1.0 } => write!(f, "a difference of at most 1 step"),
            Rule::Units { max } => write!(f, "a difference of at most {max} steps"),
            Rule::Float { abs, rel } => {
                write!(f, "a difference of at most {abs} + {rel} * |expected|")
            }
            Rule::Rmse { rmse, max: 0.0 } => write!(f, "a root mean square of at most {rmse}"),
            Rule::Rmse { rmse, max } => {
                write!(
                    f,
                    "a root mean square of at most {rmse}, {max} in one component"
                )
            }
        }
    }
}

impl fmt::Display for Comparison {
    /// What is allowed: `a difference of at most 1 step, in all texels but 4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rule)?;
        match self.allow_pixels {
            0 => {}
            1 => write!(f, ", in all texels but 1")?,
            count => write!(f, ", in all texels but {count}")?,
        }
        match self.mask {
            Some(_) => write!(f, "; some are left out"),
            None => Ok(()),
        }
    }
}

/// Contents that are expected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expected {
    Bytes(Vec<u8>),
    /// SHA-256 of contents that are large.
    Digest([u8; 32]),
    /// Whatever comes out is good.
    Anything,
}

/// Something that must come out.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Where it is found.
    pub target: Target,
    /// Who made it: `computed`, or the name of a driver.
    pub from: String,
    /// The comparison.
    pub comparison: Comparison,
    pub(crate) expected: Expected,
    /// The size of the contents.
    pub(crate) bytes: u64,
    /// What texels mean; none of buffers and queries.
    pub(crate) format: Option<ImageFormat>,
    /// Width and height of a level.
    pub(crate) extent: [u32; 2],
}

/// Pixels for people: red, green, blue and alpha of 8 bits, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four bytes for each.
    pub pixels: Vec<u8>,
}

/// Texels, or bytes, that break a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The number of the first, in the order of the contents.
    pub index: usize,
    /// Its place: x and y, and the number of the slice or layer.
    pub place: [usize; 3],
    /// What it is, as people see it.
    pub got: String,
    /// What it should be.
    pub expected: String,
    /// How many break the rule.
    pub count: usize,
    /// How many there are.
    pub of: usize,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, slice] = self.place;
        match (y, slice) {
            (0, 0) => write!(f, "at {x}")?,
            (y, 0) => write!(f, "at ({x}, {y})")?,
            (y, slice) => write!(f, "at ({x}, {y}) of slice {slice}")?,
        }
        let (got, expected) = (&self.got, &self.expected);
        write!(
            f,
            ": {got}, expected {expected}; {} of {} differ",
            self.count, self.of
        )
    }
}

impl Expectation {
    /// Bytes that a run must hand over for it, tightly packed as the scene's files are.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The contents that are expected; `None` where the scene has only their digest, or expects nothing in particular.
    pub fn contents(&self) -> Option<&[u8]> {
        match &self.expected {
            Expected::Bytes(bytes) => Some(bytes),
            Expected::Digest(_) | Expected::Anything => None,
        }
    }

    /// Compares what a run left behind.
    ///
    /// # Errors
    /// The first difference by the comparison's rule, or another size.
    pub fn check(&self, got: &[u8]) -> Result<(), Difference> {
        let target = || self.target.clone();
        if got.len() as u64 != self.bytes {
            return Err(Difference::Length {
                target: target(),
                found: got.len(),
                wanted: usize::try_from(self.bytes).unwrap_or(usize::MAX),
            });
        }
        let expected = match &self.expected {
            Expected::Bytes(bytes) => bytes,
            Expected::Anything => return Ok(()),
            Expected::Digest(wanted) => {
                let found: [u8; 32] = Sha256::digest(got).into();
                if found == *wanted {
                    return Ok(());
                }
                return Err(Difference::Digest {
                    target: target(),
                    found: hexadecimal(&found),
                    wanted: hexadecimal(wanted),
                });
            }
        };
        if let Rule::Rmse { rmse, .. } = self.comparison.rule {
            let found = self.root_mean_square(got, expected);
            if found.is_nan() || found > rmse {
                return Err(Difference::Mean {
                    target: target(),
                    found,
                    most: rmse,
                });
            }
        }
        match self.mismatch(got, expected) {
            Some(mismatch) => Err(Difference::Values {
                target: target(),
                mismatch: Box::new(mismatch),
            }),
            None => Ok(()),
        }
    }

    /// The first layer of contents as a picture; `None` of what is no image of colours.
    pub fn picture(&self, got: &[u8]) -> Option<Picture> {
        let Target::Image {
            aspect: Aspect::Color,
            ..
        } = self.target
        else {
            return None;
        };
        let [width, height] = self.extent;
        let pixels = self.format.as_ref()?.colors(got);
        let wanted = (width as usize)
            .checked_mul(height as usize)?
            .checked_mul(4)?;
        let pixels: Vec<u8> = pixels?.take(wanted).collect();
        (pixels.len() == wanted).then_some(Picture {
            width,
            height,
            pixels,
        })
    }

    /// Bytes of what is compared at a time: a texel, or of what has none, a byte.
    pub(crate) fn step(&self) -> usize {
        self.format
            .as_ref()
            .map_or(1, |format| format.bytes().max(1))
    }

    /// The pairs of texels that are compared, with their numbers.
    fn pairs<'t>(
        &'t self,
        got: &'t [u8],
        expected: &'t [u8],
    ) -> impl Iterator<Item = (usize, &'t [u8], &'t [u8])> {
        let step = self.step();
        let pairs = got.chunks(step).zip(expected.chunks(step)).enumerate();
        pairs
            .filter(|(index, _)| {
                let mask = self.comparison.mask.as_ref();
                mask.is_none_or(|mask| mask.get(*index) != Some(&0))
            })
            .map(|(index, (got, expected))| (index, got, expected))
    }

    pub(crate) fn components(&self, texel: &[u8]) -> Option<Vec<Stored>> {
        self.format.as_ref()?.components(texel)
    }

    fn holds(&self, got: &[u8], expected: &[u8]) -> bool {
        if got == expected {
            return true;
        }
        // The bits of a format that mean nothing may differ by every rule.
        let (Some(got), Some(expected)) = (self.components(got), self.components(expected)) else {
            return false;
        };
        let rule = self.comparison.rule;
        got.iter().zip(&expected).all(|(got, expected)| match rule {
            Rule::Exact => same(got.code, expected.code),
            Rule::Units { max } => within(got.code, expected.code, max),
            Rule::Float { abs, rel } => {
                within(got.code, expected.code, abs + rel * expected.code.abs())
            }
            Rule::Rmse { max, .. } => max == 0.0 || within(got.value, expected.value, max),
        })
    }

    fn root_mean_square(&self, got: &[u8], expected: &[u8]) -> f64 {
        let (mut sum, mut count) = (0.0, 0_usize);
        for (_, got, expected) in self.pairs(got, expected) {
            let (Some(got), Some(expected)) = (self.components(got), self.components(expected))
            else {
                continue;
            };
            for (got, expected) in got.iter().zip(&expected) {
                sum += (got.value - expected.value).powi(2);
                count += 1;
            }
        }
        (sum / count.max(1) as f64).sqrt()
    }

    fn mismatch(&self, got: &[u8], expected: &[u8]) -> Option<Mismatch> {
        let mut first = None;
        let (mut count, mut of) = (0, 0);
        for (index, got, expected) in self.pairs(got, expected) {
            of += 1;
            if !self.holds(got, expected) {
                count += 1;
                first.get_or_insert((index, got, expected));
            }
        }
        let (index, got, expected) = first.filter(|_| count > self.comparison.allow_pixels)?;
        Some(Mismatch {
            index,
            place: self.place(index),
            got: self.show(got),
            expected: self.show(expected),
            count,
            of,
        })
    }

    fn place(&self, index: usize) -> [usize; 3] {
        let [width, height] = self.extent.map(|side| side.max(1) as usize);
        [
            index % width,
            index / width % height,
            index / width / height,
        ]
    }

    /// A texel as people see it: its components, or of what has none, its bytes.
    fn show(&self, texel: &[u8]) -> String {
        match self.components(texel) {
            Some(components) => {
                let codes = components
                    .iter()
                    .map(|component| component.code.to_string());
                format!("({})", codes.collect::<Vec<_>>().join(", "))
            }
            None => hexadecimal(texel),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Equal numbers; a NaN equals a NaN, and the two zeros differ.
fn same(got: f64, expected: f64) -> bool {
    got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan())
}

/// Numbers that differ by at most so much; infinities equal themselves, a NaN equals a NaN.
fn within(got: f64, expected: f64, most: f64) -> bool {
    got == expected || (got.is_nan() && expected.is_nan()) || (got - expected).abs() <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(format: &str, expected: &[u8], rule: Rule) -> Expectation {
        Expectation {
            target: Target::Image {
                image: "c".to_owned(),
                aspect: Aspect::Color,
                level: 0,
                layer: 0,
                layers: 1,
            },
            from: "computed".to_owned(),
            comparison: Comparison {
                rule,
                allow_pixels: 0,
                mask: None,
            },
            expected: Expected::Bytes(expected.to_vec()),
            bytes: expected.len() as u64,
            format: ImageFormat::of(format, Aspect::Color),
            extent: [2, 1],
        }
    }

    #[test]
    fn what_is_allowed_is_said_in_words() {
        let words = |rule, allow_pixels, mask| {
            Comparison {
                rule,
                allow_pixels,
                mask,
            }
            .to_string()
        };
        assert_eq!(words(Rule::Exact, 0, None), "equal bytes");
        assert_eq!(
            words(Rule::Units { max: 1.0 }, 4, Some(vec![0])),
            "a difference of at most 1 step, in all texels but 4; some are left out"
        );
        let rule = Rule::Rmse {
            rmse: 0.01,
            max: 0.25,
        };
        assert_eq!(
            words(rule, 0, None),
            "a root mean square of at most 0.01, 0.25 in one component"
        );
    }

    #[test]
    fn exact_says_where_and_what() {
        let wanted = expectation("r8g8_uint", &[1, 2, 3, 4], Rule::Exact);
        assert_eq!(wanted.check(&[1, 2, 3, 4]), Ok(()));
        let error = wanted.check(&[1, 2, 3, 5]).unwrap_err().to_string();
        assert_eq!(
            error,
            "image c: at 1: (3, 5), expected (3, 4); 1 of 2 differ"
        );
        let error = wanted.check(&[1]).unwrap_err().to_string();
        assert_eq!(error, "image c has 1 bytes, 4 are expected");
    }

    #[test]
    fn units_are_steps_of_the_format() {
        let wanted = expectation("r8g8_unorm", &[10, 20, 30, 40], Rule::Units { max: 1.0 });
        assert_eq!(wanted.check(&[11, 19, 30, 41]), Ok(()));
        assert!(wanted.check(&[12, 20, 30, 40]).is_err());
    }

    #[test]
    fn floats_have_an_absolute_and_a_relative_part() {
        let bytes = |numbers: [f32; 2]| numbers.map(f32::to_le_bytes).concat();
        let rule = Rule::Float {
            abs: 0.5,
            rel: 0.25,
        };
        let wanted = expectation("r32_sfloat", &bytes([4.0, f32::NAN]), rule);
        assert_eq!(wanted.check(&bytes([5.5, f32::NAN])), Ok(()));
        assert!(wanted.check(&bytes([5.75, f32::NAN])).is_err());
        assert!(wanted.check(&bytes([4.0, 0.0])).is_err());
    }

    #[test]
    fn the_mean_and_the_largest_difference_are_bounded() {
        let rule = Rule::Rmse {
            rmse: 0.1,
            max: 0.0,
        };
        let mut wanted = expectation("r8_unorm", &[0, 0], rule);
        assert_eq!(wanted.check(&[36, 0]), Ok(()), "0.0998 is good");
        let error = wanted.check(&[40, 0]).unwrap_err().to_string();
        assert!(error.contains("0.110919, at most 0.1"), "{error}");
        wanted.comparison.rule = Rule::Rmse {
            rmse: 0.1,
            max: 0.125,
        };
        assert!(wanted.check(&[36, 0]).is_err(), "36 / 255 is more than 1/8");
    }

    #[test]
    fn a_mask_leaves_texels_out_and_a_few_may_fail() {
        let mut wanted = expectation("r8_uint", &[1, 2], Rule::Exact);
        wanted.comparison.mask = Some(vec![1, 0]);
        assert_eq!(wanted.check(&[1, 9]), Ok(()));
        assert!(wanted.check(&[9, 2]).is_err());
        wanted.comparison.mask = None;
        wanted.comparison.allow_pixels = 1;
        assert_eq!(wanted.check(&[1, 9]), Ok(()));
        assert!(wanted.check(&[9, 9]).is_err());
    }

    #[test]
    fn bits_that_mean_nothing_may_differ() {
        let mut wanted = expectation("r8_uint", &[1, 2, 3, 4], Rule::Exact);
        wanted.format = ImageFormat::of("d24_unorm_s8_uint", Aspect::Depth);
        assert_eq!(wanted.check(&[1, 2, 3, 99]), Ok(()));
        assert!(wanted.check(&[1, 2, 99, 4]).is_err());
    }

    #[test]
    fn large_contents_are_known_by_their_digest() {
        let mut wanted = expectation("r8_uint", &[1, 2], Rule::Exact);
        wanted.expected = Expected::Digest(Sha256::digest([1, 2]).into());
        assert_eq!(wanted.check(&[1, 2]), Ok(()));
        let error = wanted.check(&[1, 3]).unwrap_err().to_string();
        assert!(error.contains("SHA-256"), "{error}");
    }
}
