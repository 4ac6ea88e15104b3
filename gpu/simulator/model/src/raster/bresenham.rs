//! Bresenham lines: the pixels whose diamonds a line exits.
//!
//! The diamond of a pixel is |x - cx| + |y - cy| < 1/2. A line that moves mostly along x produces one pixel of each column
//! whose centre it passes: there it is inside the diamond of that row, and exits it unless it ends in it. It also produces
//! the pixel that it starts in, if it starts inside its diamond. Once past a column's centre it enters no other diamond of
//! that column. Points exactly on a border are decided as if the line were moved by (-e, -e^2) for an infinitesimal e,
//! as Vulkan's rule does.
//!
//! Widths: subpixel coordinates are at most 2^29 + 2^12, differences below 2^31, products below 2^61 in i64.
//!
//! Facts: hardware/graphics-model.md 2.4, graphics-raster.md 4.15 (diamond exit, width along the minor axis).

use super::fixed::{Point, SUBPIXELS};
use super::line::LineWidth;
use super::shape::Bounds;

/// Half a pixel.
const HALF: i64 = 128;

/// A line with an axis along which it mostly moves, in 1/256 pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bresenham {
    /// Ends, moved along the minor axis so that the replicated pixels lie around the line.
    from: Point,
    to: Point,
    /// Crosses columns; else the line crosses rows.
    along_x: bool,
    /// Pixels along the minor axis.
    pixels: i32,
    pub(super) bounds: Bounds,
}

impl Bresenham {
    /// The line from `a` to `b`. None if it has no length.
    pub(super) fn new(a: Point, b: Point, width: LineWidth) -> Option<Bresenham> {
        let (dx, dy) = a.vector(b);
        if dx == 0 && dy == 0 {
            return None;
        }
        let along_x = dx.abs() >= dy.abs();
        let pixels = width.pixels();
        let shift = (pixels - 1) * SUBPIXELS / 2;
        let moved = |point: Point| {
            if along_x {
                Point {
                    y: point.y - shift,
                    ..point
                }
            } else {
                Point {
                    x: point.x - shift,
                    ..point
                }
            }
        };
        let (from, to) = (moved(a), moved(b));
        let ends = Bounds::of(&[from, to]);
        // Produced pixels hold a point of the line, or lie up to a width beside one.
        let reach = pixels * SUBPIXELS;
        let bounds = Bounds {
            min: Point {
                x: ends.min.x - SUBPIXELS,
                y: ends.min.y - SUBPIXELS,
            },
            max: Point {
                x: ends.max.x + reach,
                y: ends.max.y + reach,
            },
        };
        Some(Bresenham {
            from,
            to,
            along_x,
            pixels,
            bounds,
        })
    }

    /// Tells whether the line produces a pixel.
    pub(super) fn produces(&self, x: i32, y: i32) -> bool {
        let (step, minor) = if self.along_x { (x, y) } else { (y, x) };
        self.first_at(step)
            .is_some_and(|first| (first..first + self.pixels).contains(&minor))
    }

    /// The row that the line produces in a column (or the column in a row, if it moves mostly along y).
    fn first_at(&self, step: i32) -> Option<i32> {
        let centre = i64::from(step) * 256 + HALF;
        let (from, from_minor) = self.split(self.from);
        let (to, _) = self.split(self.to);
        // Moved by -e, a point on the centre line lies before it.
        let passes = if from < to {
            from <= centre && to > centre
        } else {
            from > centre && to <= centre
        };
        let minor = if passes {
            self.crossing(centre)
        } else {
            // Moved, a start on the border of two pixels lies in the one before it.
            let pixel = |subpixels: i64| (subpixels - 1).div_euclid(256);
            let minor = pixel(from_minor) as i32;
            let starts_here = pixel(from) == i64::from(step);
            if !starts_here || !self.in_diamond(self.from, step, minor) {
                return None;
            }
            minor
        };
        (!self.in_diamond(self.to, step, minor)).then_some(minor)
    }

    /// Coordinates along the major and the minor axis.
    fn split(&self, point: Point) -> (i64, i64) {
        let (x, y) = (i64::from(point.x), i64::from(point.y));
        if self.along_x { (x, y) } else { (y, x) }
    }

    /// The pixel along the minor axis in which the line passes a centre line.
    fn crossing(&self, centre: i64) -> i32 {
        let (from, from_minor) = self.split(self.from);
        let (to, to_minor) = self.split(self.to);
        let (major, minor) = (to - from, to_minor - from_minor);
        // At the centre line: from_minor + (centre - from) * minor / major, in subpixels.
        let (numerator, denominator) = if major > 0 {
            (from_minor * major + (centre - from) * minor, major)
        } else {
            (-from_minor * major - (centre - from) * minor, -major)
        };
        let pixel = numerator.div_euclid(denominator * 256);
        let on_border = numerator.rem_euclid(denominator * 256) == 0;
        // Moved by (-e, -e^2): along y, a border moves left. Along x it moves up, unless the line rises with x by e's share.
        let rises = self.along_x && (minor > 0) == (major > 0) && minor != 0;
        (pixel - i64::from(on_border && !rises)) as i32
    }

    /// Tells whether a moved point lies in the diamond of a pixel.
    fn in_diamond(&self, point: Point, step: i32, minor: i32) -> bool {
        let (column, row) = if self.along_x {
            (step, minor)
        } else {
            (minor, step)
        };
        let across = i64::from(point.x) - (i64::from(column) * 256 + HALF);
        let down = i64::from(point.y) - (i64::from(row) * 256 + HALF);
        let distance = across.abs() + down.abs();
        distance < HALF || (distance == HALF && across > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The pixels of a line three wide, from the middle of one pixel to that of another.
    fn wide([from, to]: [[i32; 2]; 2]) -> Vec<[i32; 2]> {
        let middle = |[x, y]: [i32; 2]| Point {
            x: x * SUBPIXELS + SUBPIXELS / 2,
            y: y * SUBPIXELS + SUBPIXELS / 2,
        };
        let line = Bresenham::new(middle(from), middle(to), LineWidth::new(3.0));
        let line = line.expect("it has a length");
        let pixels = (0..16).flat_map(|x| (0..16).map(move |y| [x, y]));
        pixels.filter(|[x, y]| line.produces(*x, *y)).collect()
    }

    #[test]
    fn the_width_lies_around_the_line_along_the_minor_axis() {
        // The pixel in whose diamond a line ends is not produced.
        let three = |middle: i32| middle - 1..=middle + 1;
        let columns = |row: fn(i32) -> i32| -> Vec<[i32; 2]> {
            let pixels = (2..=6).flat_map(|x| three(row(x)).map(move |y| [x, y]));
            pixels.collect()
        };
        assert_eq!(wide([[2, 8], [7, 8]]), columns(|_| 8));
        // As far along one axis as along the other: x is the major one.
        assert_eq!(wide([[2, 2], [7, 7]]), columns(|x| x));
        let rows: Vec<[i32; 2]> = three(8)
            .flat_map(|x| (2..=6).map(move |y| [x, y]))
            .collect();
        assert_eq!(wide([[8, 2], [8, 7]]), rows);
    }
}
