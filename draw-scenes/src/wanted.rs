//! Expectations for a board, which compares bytes and does not know this crate.

use crate::expectation::{Expectation, Expected, Rule};
use crate::format::ImageFormat;
use eitri_drawing::{Nearness, Wanted};

/// How far a picture that is compared with nothing may be from the model's on a board: steps of each byte, and one texel of so many
/// that may be anything.
const PICTURE_STEPS: u8 = 2;
const PICTURE_TEXELS: usize = 50;

impl Expectation {
    /// What a board is told to compare with, which does not know this crate. `drawn` are contents that were found good here: they
    /// stand in for those that the scene does not hold, or which only its own rule can be compared with.
    pub fn wanted<'w>(&'w self, drawn: &'w [u8]) -> Wanted<'w> {
        let texels = drawn.len() / self.step();
        // Of what is compared with nothing, two GPUs may round differently, and put a few texels at edges elsewhere.
        let rule = match self.expected {
            Expected::Anything => Nearness::Steps {
                steps: PICTURE_STEPS,
                texels: (texels / PICTURE_TEXELS).try_into().unwrap_or(u32::MAX),
            },
            _ => self.nearness(),
        };
        Wanted {
            bytes: match rule {
                Nearness::Steps { .. } => self.contents().unwrap_or(drawn),
                Nearness::Other => drawn,
            },
            mask: self.comparison.mask.as_deref().unwrap_or(&[]),
            texel_bytes: self.step().try_into().unwrap_or(u32::MAX),
            row_texels: match self.components(drawn.get(..self.step()).unwrap_or(&[])) {
                Some(_) => self.extent[0],
                None => 0,
            },
            rule,
        }
    }

    /// The rule as one of bytes, where it is one.
    fn nearness(&self) -> Nearness {
        let texels = self.comparison.allow_pixels.try_into().unwrap_or(u32::MAX);
        let padded = self.format.as_ref().is_some_and(ImageFormat::is_padded);
        let of_bytes = self
            .components(&vec![0; self.step()])
            .is_some_and(|all| all.len() == self.step());
        match self.comparison.rule {
            Rule::Exact if !padded => Nearness::Steps { steps: 0, texels },
            Rule::Units { max: most }
            | Rule::Float {
                abs: most,
                rel: 0.0,
            } if of_bytes => {
                // Codes are whole numbers.
                let steps = most.floor().clamp(0.0, 255.0) as u8;
                Nearness::Steps { steps, texels }
            }
            _ => Nearness::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expectation::{Comparison, Target};
    use crate::scene::Aspect;

    fn expectation(format: &str, expected: Expected, rule: Rule) -> Expectation {
        let aspect = match format.starts_with(['d', 'x']) {
            true => Aspect::Depth,
            false => Aspect::Color,
        };
        Expectation {
            target: Target::Query {
                query: "q".to_owned(),
            },
            from: String::new(),
            comparison: Comparison {
                rule,
                allow_pixels: 3,
                mask: None,
            },
            expected,
            bytes: 400,
            format: ImageFormat::of(format, aspect),
            extent: [10, 10],
        }
    }

    #[track_caller]
    fn check(format: &str, rule: Rule, nearness: Nearness) {
        let expected = Expected::Bytes(vec![1; 400]);
        let expectation = expectation(format, expected, rule);
        let wanted = expectation.wanted(&[2; 400]);
        assert_eq!(wanted.rule, nearness, "{format}, {rule:?}");
        let first = if nearness == Nearness::Other { 2 } else { 1 };
        assert_eq!((wanted.bytes[0], wanted.row_texels), (first, 10));
    }

    #[test]
    fn rules_of_bytes_are_kept_and_others_named() {
        let steps = |steps| Nearness::Steps { steps, texels: 3 };
        let units = Rule::Units { max: 2.5 };
        check("r8g8b8a8_unorm", Rule::Exact, steps(0));
        check("r32_sfloat", Rule::Exact, steps(0));
        check("r8g8b8a8_srgb", units, steps(2));
        check("r16g16_unorm", units, Nearness::Other);
        check(
            "r8g8b8a8_unorm",
            Rule::Float { abs: 1.0, rel: 0.0 },
            steps(1),
        );
        check(
            "r32_sfloat",
            Rule::Float { abs: 1.0, rel: 0.0 },
            Nearness::Other,
        );
        let mean = Rule::Rmse {
            rmse: 0.1,
            max: 0.0,
        };
        check("r8g8b8a8_unorm", mean, Nearness::Other);
        // Eight bits of it mean nothing.
        check("x8_d24_unorm_pack32", Rule::Exact, Nearness::Other);
    }

    #[test]
    fn what_a_scene_does_not_hold_is_what_was_drawn() {
        let of = |expected| expectation("r8g8b8a8_srgb", expected, Rule::Exact);
        let drawn = [7; 400];
        assert_eq!(of(Expected::Digest([0; 32])).wanted(&drawn).bytes, drawn);
        let picture = of(Expected::Anything);
        let wanted = picture.wanted(&drawn);
        assert_eq!(wanted.bytes, drawn);
        assert_eq!(wanted.texel_bytes, 4);
        let rule = Nearness::Steps {
            steps: 2,
            texels: 2,
        };
        assert_eq!(wanted.rule, rule);
    }
}
