//! Conservative rasterisation: pixels that a slightly grown triangle touches.
//!
//! Each edge is moved outwards by 1/512 pixel along the axis that it crosses more steeply. The pixel is covered if its square
//! meets the grown triangle, borders included. Two convex polygons meet unless the direction across a side of one of them
//! separates them: the three edges, and the two axes.
//!
//! Widths: edge functions are doubled, so that half a subpixel is whole: below 2^63 within 2^24 of the origin (|constant| of
//! an edge is at most 2^60). Corners of the grown triangle are quotients of products below 2^31 * 2^62, in i128.
//!
//! Facts: hardware/graphics-model.md 2.2, graphics-raster.md 4.1.

use super::edge::Edge;
use super::fixed::{Point, SUBPIXELS};
use super::shape::{Asked, Bounds, MOST_EDGES, Shape};

/// The pixels, by their upper left corners, that the grown triangle touches. `edges` are oriented; `bounds` are the triangle's.
pub(super) fn grown(edges: &[Edge; 3], bounds: &Bounds) -> Shape {
    let doubled = edges.map(|edge| {
        let growth = edge.along_x.abs().max(edge.along_y.abs());
        Edge {
            along_x: 2 * edge.along_x,
            along_y: 2 * edge.along_y,
            constant: 2 * edge.constant + growth,
            least: 0,
        }
    });
    let corners = [(0, 1), (1, 2), (2, 0)].map(|(a, b)| crossing(&doubled[a], &doubled[b]));
    let [first, rest @ ..] = corners;
    let around = rest.into_iter().fold(first, |around, corner| Bounds {
        min: Point {
            x: around.min.x.min(corner.min.x),
            y: around.min.y.min(corner.min.y),
        },
        max: Point {
            x: around.max.x.max(corner.max.x),
            y: around.max.y.max(corner.max.y),
        },
    });
    // The point of the square that lies deepest inside, as an offset from the corner that stands for it.
    let deepest = |along: i64| {
        if along > 0 {
            along * i64::from(SUBPIXELS)
        } else {
            0
        }
    };
    let mut half_planes = [Edge::default(); MOST_EDGES];
    for (plane, edge) in half_planes.iter_mut().zip(doubled) {
        *plane = Edge {
            constant: edge.constant + deepest(edge.along_x) + deepest(edge.along_y),
            ..edge
        };
    }
    let side = |along_x: i64, along_y: i64, constant: i32| Edge {
        along_x,
        along_y,
        constant: i64::from(constant),
        least: 0,
    };
    half_planes[3] = side(1, 0, SUBPIXELS - around.min.x);
    half_planes[4] = side(0, 1, SUBPIXELS - around.min.y);
    half_planes[5] = side(-1, 0, around.max.x);
    half_planes[6] = side(0, -1, around.max.y);
    let touched = Bounds {
        min: Point {
            x: around.min.x.min(bounds.min.x) - SUBPIXELS,
            y: around.min.y.min(bounds.min.y) - SUBPIXELS,
        },
        max: Point {
            x: around.max.x.max(bounds.max.x),
            y: around.max.y.max(bounds.max.y),
        },
    };
    Shape::new(&half_planes, touched, Asked::Square)
}

/// Crossing of two edges, as the range of subpixels around it: `min` rounded up, `max` rounded down.
///
/// Squares start at whole subpixels, so comparing with the rounded coordinates decides as the exact ones would.
fn crossing(a: &Edge, b: &Edge) -> Bounds {
    let wide = i128::from;
    // Not 0: edges of a triangle with an area are not parallel.
    let scale = wide(a.along_x) * wide(b.along_y) - wide(b.along_x) * wide(a.along_y);
    let x = wide(a.along_y) * wide(b.constant) - wide(b.along_y) * wide(a.constant);
    let y = wide(b.along_x) * wide(a.constant) - wide(a.along_x) * wide(b.constant);
    let (x, y, scale) = if scale < 0 {
        (-x, -y, -scale)
    } else {
        (x, y, scale)
    };
    let scale = scale.max(1);
    // Grown corners of slivers lie far away; a square never does.
    let far = 1 << 29;
    let down = |value: i128| value.div_euclid(scale).clamp(-far, far) as i32;
    let up = |value: i128| (-(-value).div_euclid(scale)).clamp(-far, far) as i32;
    Bounds {
        min: Point { x: up(x), y: up(y) },
        max: Point {
            x: down(x),
            y: down(y),
        },
    }
}
