//! Lines: their width, and the rectangle of a line.
//!
//! Facts: hardware/graphics-model.md 2.4, graphics-draw.md 3.11.

use super::fixed::Point;
use super::shape::Shape;
use eitri_descriptors::framebuffer::TieBreakRule;

/// Width of a line in 1/128 pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineWidth {
    parts: i32,
}

impl LineWidth {
    /// Clamps a width to 0 to 7.9921875 and rounds it to 1/128 pixel, ties to even. NaN gives 0.
    pub(crate) fn new(width: f32) -> LineWidth {
        let width = if width.is_nan() { 0.0 } else { width };
        let clamped = f64::from(width).clamp(0.0, 7.992_187_5);
        LineWidth {
            parts: libm::rint(clamped * 128.0) as i32,
        }
    }

    /// Width of a Bresenham line: whole pixels, ties to even, one at least.
    pub(super) fn pixels(self) -> i32 {
        (libm::rint(f64::from(self.parts) / 128.0) as i32).max(1)
    }
}

/// The rectangle of a line: the segment, widened by half the width to either side, its ends perpendicular.
///
/// The corners are rounded to 1/256 pixel. Both sides are moved by the same rounded vector, which gives the same corners as
/// rounding each: ends are whole subpixels, and half a subpixel is never the exact distance (a half can't be k p / h with
/// a Pythagorean triple's odd h). None if the line has no length or no width.
pub(super) fn rectangle(a: Point, b: Point, width: LineWidth, rule: TieBreakRule) -> Option<Shape> {
    let (dx, dy) = a.vector(b);
    let (dx, dy) = (dx as f64, dy as f64);
    let length = libm::hypot(dx, dy);
    if length == 0.0 {
        return None;
    }
    // Half a width of n/128 pixel is n subpixels.
    let half = f64::from(width.parts);
    let normal_x = libm::rint(-dy / length * half) as i32;
    let normal_y = libm::rint(dx / length * half) as i32;
    let moved = |from: Point, sign: i32| Point {
        x: from.x + sign * normal_x,
        y: from.y + sign * normal_y,
    };
    let corners = [moved(a, 1), moved(b, 1), moved(b, -1), moved(a, -1)];
    Shape::polygon(&corners, rule)
}
