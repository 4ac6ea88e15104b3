//! A failed pass in words, and as the numbers of an error's code.

use crate::graphics::failed_pass::{
    DrawsKnownBy, FailedCode, FailedDraws, FailedPass, FailedPassWords, PassPart, PixelRange,
};
use crate::handle::GraphicsPipeline;
use core::fmt;

pub(crate) static WORDS: FailedPassWords = FailedPassWords { text, code };

/// The value that says nothing but where.
pub(super) const fn failed_in(pass: u32, passes: u32, part: PassPart) -> FailedPass {
    FailedPass {
        pass,
        passes,
        part,
        draws: None,
        pipeline: None,
        code: None,
        pixels: None,
        words: &WORDS,
    }
}

const fn part_name(part: PassPart) -> &'static str {
    match part {
        PassPart::Vertices => "vertices",
        PassPart::Fragments => "fragments",
    }
}

/// One or two lines; the second says what the draws were concluded from.
fn text(it: &FailedPass, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "in the {} of pass {}", part_name(it.part), it.pass)?;
    match it.passes {
        0 | 1 => {}
        2 => f.write_str(" or the next one")?,
        passes => write!(f, " or one of the next {}", passes.saturating_sub(1))?,
    }
    if let Some(FailedDraws {
        first, last, count, ..
    }) = it.draws
    {
        match count {
            1 => write!(f, ": draw {first}")?,
            _ => write!(
                f,
                ": one of {count} draws, from draw {first} to draw {last}"
            )?,
        }
    }
    if let Some(GraphicsPipeline(key)) = it.pipeline {
        write!(f, ", with pipeline {}", key.index())?;
    }
    if let Some(FailedCode { stage, offset }) = it.code {
        let stage = match stage {
            PassPart::Vertices => "vertex",
            PassPart::Fragments => "fragment",
        };
        write!(f, ", at {offset:#x} of its {stage} shader's code")?;
    }
    if let Some(range) = it.pixels {
        pixels(&range, f)?;
    }
    match it.draws.map(|draws| draws.by) {
        Some(DrawsKnownBy::Instruction) => {
            f.write_str("\n  concluded from the instruction at which the stream stood")
        }
        Some(DrawsKnownBy::Code) => f.write_str("\n  concluded from the code that failed"),
        Some(DrawsKnownBy::Address) => {
            f.write_str("\n  concluded from the memory that the draws name")
        }
        Some(DrawsKnownBy::Turn) => {
            f.write_str("\n  concluded from the draws before it, which had ended")
        }
        Some(DrawsKnownBy::Order) | None => Ok(()),
    }
}

fn pixels(range: &PixelRange, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let PixelRange {
        image,
        first: [left, top],
        last: [right, bottom],
        level,
        layer,
    } = range;
    write!(f, ", at ")?;
    if range.first == range.last {
        write!(f, "pixel ({left}, {top})")?;
    } else {
        write!(f, "pixels ({left}, {top}) to ({right}, {bottom})")?;
    }
    write!(f, " of image {image}")?;
    if (*level, *layer) != (0, 0) {
        write!(f, ", level {level}, layer {layer}")?;
    }
    Ok(())
}

/// The numbers, in the order in which [`read`] takes them.
fn code(it: &FailedPass, put: &mut dyn FnMut(u64)) {
    for number in [it.pass, it.passes, part_number(it.part)] {
        put(number.into());
    }
    put(it.draws.is_some().into());
    if let Some(draws) = it.draws {
        for number in [draws.first, draws.last, draws.count] {
            put(number.into());
        }
        put(match draws.by {
            DrawsKnownBy::Instruction => 0,
            DrawsKnownBy::Code => 1,
            DrawsKnownBy::Address => 2,
            DrawsKnownBy::Order => 3,
            DrawsKnownBy::Turn => 4,
        });
    }
    put(it.pipeline.map_or(0, GraphicsPipeline::to_bits));
    put(it.code.is_some().into());
    if let Some(at) = it.code {
        put(part_number(at.stage).into());
        put(at.offset.into());
    }
    put(it.pixels.is_some().into());
    if let Some(range) = it.pixels {
        let ([left, top], [right, bottom]) = (range.first, range.last);
        for number in [range.image, left, top, right, bottom, range.layer] {
            put(number.into());
        }
        put(range.level.into());
    }
}

const fn part_number(part: PassPart) -> u32 {
    match part {
        PassPart::Vertices => 0,
        PassPart::Fragments => 1,
    }
}

/// Reads the numbers back.
pub(crate) fn read(next: &mut dyn FnMut() -> Option<u64>) -> Option<FailedPass> {
    let part = |number: u64| match number {
        0 => Some(PassPart::Vertices),
        1 => Some(PassPart::Fragments),
        _ => None,
    };
    let pass = next()?.try_into().ok()?;
    let passes = next()?.try_into().ok()?;
    let mut it = failed_in(pass, passes, part(next()?)?);
    if flag(next()?)? {
        it.draws = Some(FailedDraws {
            first: next()?.try_into().ok()?,
            last: next()?.try_into().ok()?,
            count: next()?.try_into().ok()?,
            by: match next()? {
                0 => DrawsKnownBy::Instruction,
                1 => DrawsKnownBy::Code,
                2 => DrawsKnownBy::Address,
                3 => DrawsKnownBy::Order,
                4 => DrawsKnownBy::Turn,
                _ => return None,
            },
        });
    }
    it.pipeline = GraphicsPipeline::from_bits(next()?);
    if flag(next()?)? {
        it.code = Some(FailedCode {
            stage: part(next()?)?,
            offset: next()?.try_into().ok()?,
        });
    }
    if flag(next()?)? {
        let mut short = || u16::try_from(next()?).ok();
        let (image, left, top) = (short()?, short()?, short()?);
        let (right, bottom, layer) = (short()?, short()?, short()?);
        it.pixels = Some(PixelRange {
            image,
            first: [left, top],
            last: [right, bottom],
            level: short()?.try_into().ok()?,
            layer,
        });
    }
    Some(it)
}

fn flag(number: u64) -> Option<bool> {
    (number < 2).then_some(number == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    fn read_all(numbers: &[u64]) -> Option<FailedPass> {
        let mut numbers = numbers.iter().copied();
        read(&mut || numbers.next())
    }

    /// What is read of numbers is written as the same numbers.
    #[track_caller]
    fn check(numbers: &[u64], text: &str) -> FailedPass {
        let it = read_all(numbers).expect("a failed pass");
        let mut written = Vec::new();
        code(&it, &mut |number| written.push(number));
        assert_eq!(written, numbers);
        assert_eq!(it.to_string(), text);
        let less = numbers.split_last().map(|(_, less)| less).expect("some");
        assert_eq!(read_all(less), None, "the last number is missing");
        it
    }

    #[test]
    fn a_failed_pass_is_written_and_read_with_all_that_is_known() {
        let plain = check(&[3, 1, 0, 0, 0, 0, 0], "in the vertices of pass 3");
        assert_eq!((plain.draws, plain.code, plain.pixels), (None, None, None));
        check(
            &[3, 2, 1, 0, 0, 0, 0],
            "in the fragments of pass 3 or the next one",
        );
        check(
            &[3, 4, 1, 0, 0, 0, 0],
            "in the fragments of pass 3 or one of the next 3",
        );
        let how = [
            (
                0,
                DrawsKnownBy::Instruction,
                "\n  concluded from the instruction at which the stream stood",
            ),
            (
                1,
                DrawsKnownBy::Code,
                "\n  concluded from the code that failed",
            ),
            (
                2,
                DrawsKnownBy::Address,
                "\n  concluded from the memory that the draws name",
            ),
            (3, DrawsKnownBy::Order, ""),
            (
                4,
                DrawsKnownBy::Turn,
                "\n  concluded from the draws before it, which had ended",
            ),
        ];
        for (number, by, words) in how {
            let text = std::format!(
                "in the fragments of pass 0: one of 2 draws, from draw 5 to draw 7{words}"
            );
            let it = check(&[0, 1, 1, 1, 5, 7, 2, number, 0, 0, 0], &text);
            let draws = FailedDraws {
                first: 5,
                last: 7,
                count: 2,
                by,
            };
            assert_eq!(it.draws, Some(draws));
        }
        let text = "in the fragments of pass 0: draw 5, at 0x48 of its vertex shader's code";
        let it = check(&[0, 1, 1, 1, 5, 5, 1, 3, 0, 1, 0, 0x48, 0], text);
        let stage = PassPart::Vertices;
        assert_eq!(
            it.code,
            Some(FailedCode {
                stage,
                offset: 0x48
            })
        );
        let text =
            "in the fragments of pass 0, at pixels (1, 2) to (3, 4) of image 9, level 6, layer 5";
        let it = check(&[0, 1, 1, 0, 0, 0, 1, 9, 1, 2, 3, 4, 5, 6], text);
        let pixels = PixelRange {
            image: 9,
            first: [1, 2],
            last: [3, 4],
            level: 6,
            layer: 5,
        };
        assert_eq!(it.pixels, Some(pixels));
        let text = "in the fragments of pass 0, at pixel (1, 2) of image 9";
        check(&[0, 1, 1, 0, 0, 0, 1, 9, 1, 2, 1, 2, 0, 0], text);
    }

    #[test]
    fn numbers_that_mean_nothing_are_no_failed_pass() {
        assert_eq!(read_all(&[0, 1, 2, 0, 0, 0, 0]), None, "no such part");
        assert_eq!(read_all(&[0, 1, 1, 2, 0, 0, 0]), None, "neither yes nor no");
        let how = [0, 1, 1, 1, 5, 5, 1, 5, 0, 0, 0];
        assert_eq!(read_all(&how), None, "known by nothing");
    }
}
