//! triangle: no vertex buffers, a colour a corner.

use super::screen_triangle::{Corner, inside};
use super::{BACKGROUND, DrawnDemo, byte, picture};

/// The corners of `cli/demo/triangle.vert` in pixels.
const CORNERS: [(f64, f64); 3] = [(64.0, 12.0), (112.0, 108.0), (16.0, 108.0)];

pub(super) fn demo() -> DrawnDemo {
    let corners = CORNERS.map(|(x, y)| Corner {
        x,
        y,
        z: 0.0,
        over_w: 1.0,
    });
    DrawnDemo {
        name: "triangle",
        what: "a triangle: vertices, interpolation",
        attributes: &[],
        vertices: Vec::new(),
        count: 3,
        frames: Vec::new(),
        texels: Vec::new(),
        depth: false,
        expected: picture(|x, y| match inside(corners, x, y) {
            Some(found) => {
                let [red, green, blue] = found.weights.map(byte);
                [red, green, blue, 255]
            }
            None => BACKGROUND,
        }),
        allowed: 0,
    }
}
