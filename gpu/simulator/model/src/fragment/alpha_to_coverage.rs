//! Alpha to coverage: which samples of a pixel an alpha covers.
//!
//! The pattern of 4 samples was measured on a Mali-G78; those of 2, 8 and 16 are inferred, and stand here alone so that a
//! board's answer replaces them. Facts: hardware/graphics-model.md 4.3.
// FACT: the order in which alpha covers samples at 2, 8 and 16 samples is inferred (hardware/graphics-model.md 4.3). Settled
// by the suite's `probe.alpha-to-coverage.N`, as far as the number of samples goes, on any board; which samples they are by reading them back.

/// Samples in the order in which a rising alpha covers them.
struct Pattern {
    /// For pixels of rank 1 and 2.
    even: &'static [u8],
    /// For pixels of rank 0 and 3.
    odd: &'static [u8],
}

/// The pattern of a number of samples; `None` if hardware has none of it.
#[rustfmt::skip]
fn pattern(samples: u32) -> Option<Pattern> {
    Some(match samples {
        // Measured.
        4  => Pattern { even: &[0, 2, 1, 3], odd: &[3, 1, 2, 0] },
        // Inferred.
        2  => Pattern { even: &[0, 1], odd: &[1, 0] },
        8  => Pattern { even: &[0, 1, 2, 3, 4, 5, 6, 7], odd: &[7, 6, 5, 4, 3, 2, 1, 0] },
        16 => Pattern {
            even: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
            odd:  &[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
        },
        _ => return None,
    })
}

/// The samples of the pixel at (x, y) that an alpha covers. Several pixels of a quad share the steps between two samples.
pub(crate) fn covered(samples: u32, alpha: f32, [x, y]: [u32; 2]) -> u16 {
    // Exact: an f32 times a small integer fits f64. What is no number is 0.
    let alpha = if alpha.is_nan() {
        0.0
    } else {
        f64::from(alpha).clamp(0.0, 1.0)
    };
    let Some(pattern) = pattern(samples) else {
        return u16::from(alpha >= 0.5);
    };
    let steps = libm::floor(alpha * f64::from(4 * samples) + 0.5) as u32;
    let (rank, order) = match (x & 1, y & 1) {
        (1, 0) => (0, pattern.odd),
        (0, 0) => (1, pattern.even),
        (1, _) => (2, pattern.even),
        (_, _) => (3, pattern.odd),
    };
    let count = (steps + 3 - rank) >> 2;
    let first = order.iter().take(count as usize);
    first.fold(0, |mask, sample| mask | 1 << sample)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::tests::{bits_of_hex, vectors};

    #[test]
    fn four_samples_are_covered_as_measured() {
        for case in &vectors("graphics-vectors2.json", "alpha_to_coverage_4x") {
            let alpha = f32::from_bits(bits_of_hex(&case["alpha"]));
            for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let expected = case["masks_2x2"][y as usize][x as usize].as_u64();
                let found = covered(4, alpha, [6 + x, 4 + y]);
                assert_eq!(Some(u64::from(found)), expected, "{case}: ({x}, {y})");
            }
        }
    }

    #[test]
    fn other_numbers_of_samples_are_covered_up_and_down() {
        // The pixels of rank 1 and 2 from the first sample on, those of rank 0 and 3 from the last one on.
        for samples in [2, 8, 16] {
            for step in 0..=4 * samples {
                let alpha = step as f32 / (4 * samples) as f32;
                for (pixel, rank, upwards) in [
                    ([1, 0], 0, false),
                    ([0, 0], 1, true),
                    ([1, 1], 2, true),
                    ([0, 1], 3, false),
                ] {
                    let count = (step + 3 - rank) / 4;
                    let low = (1_u32 << count) - 1;
                    let wanted = if upwards {
                        low
                    } else {
                        low << (samples - count)
                    };
                    let found = u32::from(covered(samples, alpha, pixel));
                    assert_eq!(found, wanted, "{samples} samples, step {step}, {pixel:?}");
                }
            }
        }
    }

    #[test]
    fn coverage_grows_with_alpha_from_nothing_to_everything() {
        for samples in [1, 2, 4, 8, 16] {
            let all = ((1_u32 << samples) - 1) as u16;
            for pixel in [[0, 0], [1, 0], [0, 1], [1, 1]] {
                let mut before = 0;
                for step in 0..=256 {
                    let mask = covered(samples, step as f32 / 256.0, pixel);
                    assert_eq!(mask & before, before, "{samples} samples, {step}/256");
                    before = mask;
                }
                assert_eq!(before, all);
                assert_eq!(covered(samples, -1.0, pixel), 0);
                assert_eq!(covered(samples, f32::NAN, pixel), 0);
                assert_eq!(covered(samples, 7.0, pixel), all);
            }
        }
        assert_eq!([0.49, 0.5].map(|alpha| covered(1, alpha, [0, 0])), [0, 1]);
    }
}
