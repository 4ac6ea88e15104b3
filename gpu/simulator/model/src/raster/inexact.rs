//! Where a primitive's pixels rest on what is not established: its edges on samples, its ramps, the guard band.
//!
//! Facts: hardware/graphics-raster.md 4.4, graphics-model.md 3.1, graphics-draw.md 3.24.

use super::fixed::{Point, SUBPIXELS, snap};
use super::interpolate::Corner;
use super::primitive::WIDEST_EXACT;
use super::samples::Sampling;

/// Whether an extent of a triangle is so wide that its ramps drift.
pub(crate) fn is_wide(corners: &[Corner]) -> bool {
    let extent = |axis: fn(&Corner) -> f32| {
        let places = corners.iter().map(axis);
        let least = places.clone().fold(f32::INFINITY, f32::min);
        places.fold(f32::NEG_INFINITY, f32::max) - least
    };
    extent(|corner| corner.x).max(extent(|corner| corner.y)) > WIDEST_EXACT
}

/// Whether an edge of a triangle may go through a sample: on its line, which is longer than it, lies one.
pub(crate) fn edges_may_hold_samples(corners: &[Corner], sampling: &Sampling) -> bool {
    let place = |corner: &Corner| {
        Some(Point {
            x: snap(corner.x)?,
            y: snap(corner.y)?,
        })
    };
    let Some(places) = corners
        .iter()
        .map(place)
        .collect::<Option<alloc::vec::Vec<_>>>()
    else {
        return false;
    };
    let next = places.iter().cycle().skip(1);
    let edges: alloc::vec::Vec<(Point, Point)> =
        places.iter().copied().zip(next.copied()).collect();
    let samples = (0..sampling.count()).map(|sample| sampling.position(sample));
    samples.into_iter().any(|sample| {
        let holds = |(from, to): &(Point, Point)| line_holds(*from, *to, sample);
        edges.iter().any(holds)
    })
}

/// Whether a line goes through the sample of any pixel: dx (y + 256 j) = dy (x + 256 i) has a solution in integers.
fn line_holds(from: Point, to: Point, sample: Point) -> bool {
    let (dx, dy) = from.vector(to);
    let (x, y) = from.vector(sample);
    let step = i64::from(SUBPIXELS) * greatest_divisor(dx, dy);
    step != 0 && (dx * y - dy * x) % step == 0
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Point {
        Point { x, y }
    }

    #[test]
    fn sides_between_pixels_hold_no_centre_and_the_diagonal_does() {
        let centre = at(128, 128);
        assert!(!line_holds(at(0, 0), at(25_600, 0), centre));
        assert!(line_holds(at(0, 0), at(25_600, 25_600), centre));
        assert!(line_holds(at(0, 128), at(25_600, 128), centre));
        assert!(!line_holds(at(0, 64), at(25_600, 25_600 + 64), centre));
        assert!(!line_holds(at(7, 7), at(7, 7), centre), "no line");
    }
}
