//! Samples of a pixel: the pattern for each number of them, and the table of their positions.
//!
//! Facts: hardware/graphics-raster.md 4.3.

use eitri_descriptors::Arch;
use eitri_descriptors::framebuffer::SamplePattern;

/// Words of the table of a pattern.
pub(crate) const WORDS: usize = 64;
/// Where the table has the pattern's origin.
const ORIGIN: usize = 32;

/// The pattern of so many samples; `None` where there is none.
pub(crate) fn pattern(arch: Arch, samples: u32) -> Option<SamplePattern> {
    Some(match samples {
        1 => SamplePattern::SingleSampled,
        2 if arch >= Arch::V12 => SamplePattern::Rotated2xGrid,
        4 => SamplePattern::Rotated4xGrid,
        8 => SamplePattern::D3D8xGrid,
        16 => SamplePattern::D3D16xGrid,
        _ => return None,
    })
}

/// Offsets from the centre of the pixel along x and y, in sixteenths of it.
fn offsets(pattern: SamplePattern) -> &'static [[i8; 2]] {
    match pattern {
        SamplePattern::SingleSampled => &[[0, 0]],
        SamplePattern::Ordered4xGrid => &[[-4, -4], [4, -4], [-4, 4], [4, 4]],
        SamplePattern::Rotated4xGrid => &[[-2, -6], [6, -2], [-6, 2], [2, 6]],
        SamplePattern::D3D8xGrid => &[
            [1, -3],
            [-1, 3],
            [5, 1],
            [-3, -5],
            [-5, 5],
            [-7, -1],
            [3, 7],
            [7, -7],
        ],
        SamplePattern::D3D16xGrid => &[
            [1, 1],
            [-1, -3],
            [-3, 2],
            [4, -1],
            [-5, -2],
            [2, 5],
            [5, 3],
            [3, -5],
            [-2, 6],
            [0, -7],
            [-4, -6],
            [-6, 4],
            [-8, 0],
            [7, -4],
            [6, 7],
            [-7, -8],
        ],
        SamplePattern::Rotated2xGrid => &[[4, 4], [-4, -4]],
    }
}

/// The table of positions: x in the low half of a word, y in the high half, in 256ths of a pixel from its corner.
pub(crate) fn table(pattern: SamplePattern) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let place = |offset: i8| (i32::from(offset).wrapping_add(8).wrapping_mul(16)) as u32 & 0xffff;
    let word = |[x, y]: [i8; 2]| place(x) | place(y) << 16;
    for (to, offset) in words.iter_mut().zip(offsets(pattern)) {
        *to = word(*offset);
    }
    if let Some(origin) = words.get_mut(ORIGIN) {
        *origin = word([0, 0]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// hardware/worked/triangle-noafbc.json: sample locations.
    #[test]
    fn tables_are_as_a_driver_writes_them() {
        let single = table(SamplePattern::SingleSampled);
        assert_eq!(
            (single[0], single[1], single[32]),
            (0x0080_0080, 0, 0x0080_0080)
        );
        let four = table(SamplePattern::Rotated4xGrid);
        assert_eq!(four[0], 0x0020_0060, "-2, -6");
        assert_eq!(pattern(Arch::V11, 2), None);
        assert_eq!(pattern(Arch::V12, 2), Some(SamplePattern::Rotated2xGrid));
    }
}
