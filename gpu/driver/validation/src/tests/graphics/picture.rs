//! The triangle of the tests, and which pixels are in it.
//!
//! Facts: hardware/graphics-model.md 2.1 (edge functions, 1/256 of a pixel).

use super::canvas::SIDE;

/// Units of a pixel.
const UNITS: i64 = 256;

/// Its corners, in 1/256 of a pixel: no centre of a pixel lies on an edge.
pub(super) const TRIANGLE: [[i32; 2]; 3] = [[1600, 2003], [15001, 5100], [7000, 15302]];

/// A place in clip coordinates: exactly, as floats have room for it.
pub(super) fn place(corner: [i32; 2]) -> [f32; 2] {
    corner.map(|units| units as f32 / (SIDE as f32 * 128.0) - 1.0)
}

/// On which side of the line from `a` to `b` a point is, and how far, in units of area.
fn side(a: [i64; 2], b: [i64; 2], point: [i64; 2]) -> i64 {
    (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
}

/// The centre of a pixel on the inner side of the edge opposite to each corner, as areas.
fn areas(x: u32, y: u32) -> [i64; 3] {
    let [a, b, c] = TRIANGLE.map(|corner| corner.map(i64::from));
    let centre = [x, y].map(|pixel| i64::from(pixel) * UNITS + UNITS / 2);
    [side(b, c, centre), side(c, a, centre), side(a, b, centre)]
}

/// How much of each corner's colour a pixel of the triangle has, of 255; `None` outside of it.
pub(super) fn shares(x: u32, y: u32) -> Option<[u8; 3]> {
    let areas = areas(x, y);
    let inside = areas.iter().all(|area| *area > 0);
    let all: i64 = areas.iter().sum();
    inside.then(|| areas.map(|area| ((area * 255 * 2 + all) / (all * 2)) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_centre_is_on_an_edge_and_the_triangle_covers_many_tiles() {
        let pixels = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
        let mut inside = 0;
        for (x, y) in pixels {
            let areas = areas(x, y);
            assert!(!areas.contains(&0), "{x}, {y}: {areas:?}");
            inside += u32::from(shares(x, y).is_some());
        }
        // Half of what its corners span, by the same edge function.
        let [a, b, c] = TRIANGLE.map(|corner| corner.map(i64::from));
        let pixels = side(a, b, c) as f64 / 2.0 / (UNITS * UNITS) as f64;
        assert!(
            (f64::from(inside) - pixels).abs() < 16.0,
            "{inside} of {pixels}"
        );
    }

    #[test]
    fn places_are_exact() {
        for units in 0..=(SIDE * 256) as i32 {
            let [x, _] = place([units; 2]);
            assert_eq!((x + 1.0) * 32.0 * 256.0, units as f32);
        }
    }
}
