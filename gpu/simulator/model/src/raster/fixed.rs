//! Fixed point: screen coordinates in 1/256 pixel.
//!
//! Widths: the clipper keeps |X|, |Y| < 2^21 pixels, so |x|, |y| <= 2^29. A difference of two is below 2^30 + 1, a product of
//! two differences below 2^61, and a sum of two products below 2^62: edge functions fit an i64 with a bit to spare.
//!
//! Facts: hardware/graphics-raster.md 4.1, graphics-model.md 1.3 item 4, 1.4.

/// Subpixels of a pixel's side.
pub(crate) const SUBPIXELS: i32 = 256;

/// Pixels from the origin beyond which the clipper clips.
// FACT: the hardware's guard band is not known (hardware/graphics-draw.md 3.24); free choice of graphics-model.md 1.3. Settled
// by the suite's `probe.guard-band` on any board.
pub(crate) const SNAP_LIMIT: f32 = 2_097_152.0;

/// A position in 1/256 pixel; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) x: i32,
    pub(crate) y: i32,
}

impl Point {
    /// The vector from `self` to `to`.
    pub(crate) fn vector(self, to: Point) -> (i64, i64) {
        (
            i64::from(to.x) - i64::from(self.x),
            i64::from(to.y) - i64::from(self.y),
        )
    }
}

/// A screen coordinate rounded to the nearest 1/256 pixel, ties to even. None if it is no number or beyond [`SNAP_LIMIT`].
pub(super) fn snap(coordinate: f32) -> Option<i32> {
    // Exact: a power of two scales an f32 within an f64.
    let scaled = f64::from(coordinate) * f64::from(SUBPIXELS);
    if coordinate.abs() < SNAP_LIMIT {
        Some(libm::rint(scaled) as i32)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_round_to_the_nearest_subpixel_and_ties_to_even() {
        let ties = [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2)];
        for (subpixels, expected) in ties {
            assert_eq!(snap(subpixels / 256.0), Some(expected), "{subpixels}/256");
        }
        assert_eq!(snap(-32768.0), Some(-8_388_608));
        assert_eq!(snap(SNAP_LIMIT - 0.25), Some(536_870_848));
    }

    #[test]
    fn coordinates_without_a_place_are_refused() {
        for coordinate in [f32::NAN, f32::INFINITY, -SNAP_LIMIT, SNAP_LIMIT] {
            assert_eq!(snap(coordinate), None, "{coordinate}");
        }
    }
}
