//! Shape: a convex region of the screen, as the half planes that it is the intersection of.
//!
//! Triangles, points, rectangular lines and conservatively grown triangles all are shapes, so that one algorithm covers them.
//!
//! Facts: hardware/graphics-model.md 2.

use super::edge::Edge;
use super::fixed::Point;
use eitri_descriptors::framebuffer::TieBreakRule;

/// Half planes of a shape: three grown edges and four sides of a box at most.
pub(super) const MOST_EDGES: usize = 7;

/// Part of a pixel that is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Samples, or the centre for all of them.
    Samples,
    /// The upper left corner, for all samples: edges are moved so that it stands for the pixel's square.
    Square,
}

/// Range of points that holds a shape, in 1/256 pixel, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) min: Point,
    pub(super) max: Point,
}

impl Bounds {
    /// The smallest bounds that hold all of the points.
    pub(super) fn of(points: &[Point]) -> Bounds {
        let first = points.first().copied().unwrap_or_default();
        let start = Bounds {
            min: first,
            max: first,
        };
        points.iter().fold(start, |bounds, point| Bounds {
            min: Point {
                x: bounds.min.x.min(point.x),
                y: bounds.min.y.min(point.y),
            },
            max: Point {
                x: bounds.max.x.max(point.x),
                y: bounds.max.y.max(point.y),
            },
        })
    }
}

/// A convex region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    edges: [Edge; MOST_EDGES],
    count: usize,
    pub(super) bounds: Bounds,
    pub(super) asked: Asked,
}

impl Shape {
    /// The intersection of half planes; those beyond [`MOST_EDGES`] are dropped.
    pub(super) fn new(half_planes: &[Edge], bounds: Bounds, asked: Asked) -> Shape {
        let mut edges = [Edge::default(); MOST_EDGES];
        for (to, from) in edges.iter_mut().zip(half_planes) {
            *to = *from;
        }
        Shape {
            edges,
            count: half_planes.len().min(MOST_EDGES),
            bounds,
            asked,
        }
    }

    /// The triangle or parallelogram with these corners, in either orientation. None if it has no area.
    pub(super) fn polygon(corners: &[Point], rule: TieBreakRule) -> Option<Shape> {
        let [a, b, c, ..] = *corners else { return None };
        let area = area(a, b, c);
        if area == 0 {
            return None;
        }
        let mut edges = [Edge::default(); MOST_EDGES];
        let next = corners.iter().cycle().skip(1);
        for (edge, (a, b)) in edges.iter_mut().zip(corners.iter().zip(next)) {
            let forwards = Edge::between(*a, *b);
            let oriented = if area > 0 {
                forwards
            } else {
                forwards.reversed()
            };
            *edge = oriented.with_rule(rule);
        }
        let edges = &edges[..corners.len().min(MOST_EDGES)];
        Some(Shape::new(edges, Bounds::of(corners), Asked::Samples))
    }

    /// The half planes.
    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges[..self.count]
    }

    /// Tells whether the shape holds a point.
    pub(super) fn holds(&self, point: Point) -> bool {
        self.edges().iter().all(|edge| edge.holds(point))
    }
}

/// Twice the signed area of a triangle: positive if it is clockwise on a screen whose y grows downwards.
pub(super) fn area(a: Point, b: Point, c: Point) -> i64 {
    let (bx, by) = a.vector(b);
    let (cx, cy) = a.vector(c);
    bx * cy - cx * by
}
