//! Sample patterns, and which of a pixel's points are tested.
//!
//! Facts: hardware/graphics-raster.md 4.3, 4.5 (multisample enable); graphics-model.md 2.1.

use super::fixed::{Point, SUBPIXELS};
use eitri_descriptors::framebuffer::SamplePattern;

/// Offset of a sample from the pixel's centre, in 1/16 pixel.
type Offset = (i8, i8);

/// Centre of a pixel, in 1/256 pixel from its upper left corner.
pub(super) const CENTRE: Point = Point { x: 128, y: 128 };

#[rustfmt::skip]
const SINGLE: [Offset; 1] = [(0, 0)];
#[rustfmt::skip]
const ORDERED_4: [Offset; 4] = [(-4, -4), (4, -4), (-4, 4), (4, 4)];
#[rustfmt::skip]
const ROTATED_4: [Offset; 4] = [(-2, -6), (6, -2), (-6, 2), (2, 6)];
#[rustfmt::skip]
const D3D_8: [Offset; 8] = [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)];
#[rustfmt::skip]
const D3D_16: [Offset; 16] = [
    (1, 1), (-1, -3), (-3, 2), (4, -1), (-5, -2), (2, 5), (5, 3), (3, -5),
    (-2, 6), (0, -7), (-4, -6), (-6, 4), (-8, 0), (7, -4), (6, 7), (-7, -8),
];
#[rustfmt::skip]
const ROTATED_2: [Offset; 2] = [(4, 4), (-4, -4)];

/// Samples of the largest pattern.
pub(super) const MOST_SAMPLES: usize = D3D_16.len();

/// The samples of a pattern in order.
const fn offsets(pattern: SamplePattern) -> &'static [Offset] {
    match pattern {
        SamplePattern::SingleSampled => &SINGLE,
        SamplePattern::Ordered4xGrid => &ORDERED_4,
        SamplePattern::Rotated4xGrid => &ROTATED_4,
        SamplePattern::D3D8xGrid => &D3D_8,
        SamplePattern::D3D16xGrid => &D3D_16,
        SamplePattern::Rotated2xGrid => &ROTATED_2,
    }
}

/// Tests that a draw makes of a pixel of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampling {
    /// Positions of the target's samples.
    pub(crate) pattern: SamplePattern,
    /// Multisample enable (DCD flags 0, bit 19): tests each sample. Else the pixel's centre is tested for all samples.
    // FACT: what a draw without multisampling covers of a multisampled target is inferred (hardware/graphics-raster.md 4.5).
    // Settled by such a draw on any board.
    pub(crate) each_sample: bool,
    /// Sample mask (DCD flags 1, bits 15:0).
    pub(crate) mask: u16,
}

impl Sampling {
    /// Samples of a pixel of the target.
    pub(crate) fn count(&self) -> usize {
        offsets(self.pattern).len()
    }

    /// All samples of a pixel: bit n is sample n.
    pub(crate) fn full(&self) -> u16 {
        u16::MAX >> (16 - self.count())
    }

    /// Position of a sample, from the pixel's upper left corner. Samples that the pattern lacks lie at the centre.
    pub(crate) fn position(&self, sample: usize) -> Point {
        let offset = offsets(self.pattern).get(sample).copied();
        let (x, y) = offset.unwrap_or((0, 0));
        Point {
            x: (i32::from(x) + 8) * 16,
            y: (i32::from(y) + 8) * 16,
        }
    }

    /// Position where the depth of a sample is computed: its own, or the centre if only the centre is tested (free choice).
    pub(crate) fn depth_position(&self, sample: usize) -> Point {
        if self.each_sample {
            self.position(sample)
        } else {
            CENTRE
        }
    }
}

/// Upper left corner of a pixel.
pub(super) fn corner_of(x: i32, y: i32) -> Point {
    Point {
        x: x * SUBPIXELS,
        y: y * SUBPIXELS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns in the order of their codes: samples, and the first and last position.
    #[test]
    fn positions_are_those_of_the_memory_table() {
        let expected = [
            (1, (128, 128), (128, 128)),
            (4, (64, 64), (192, 192)),
            (4, (96, 32), (160, 224)),
            (8, (144, 80), (240, 16)),
            (16, (144, 144), (16, 0)),
            (2, (192, 192), (64, 64)),
        ];
        for (code, (count, first, last)) in expected.into_iter().enumerate() {
            let pattern = SamplePattern::from_number(code as u32).expect("six patterns");
            let sampling = Sampling {
                pattern,
                each_sample: true,
                mask: 0xffff,
            };
            let at = |sample| (sampling.position(sample).x, sampling.position(sample).y);
            assert_eq!(sampling.count(), count, "{pattern:?}");
            assert_eq!(sampling.full().count_ones() as usize, count, "{pattern:?}");
            assert_eq!((at(0), at(count - 1)), (first, last), "{pattern:?}");
        }
    }
}
