//! Edge functions: on which side of a line a point lies.
//!
//! E(p) = dx (y - ya) - dy (x - xa) is positive inside, for a shape traversed so that its area is positive.
//!
//! Facts: hardware/graphics-model.md 2.1, graphics-raster.md 4.18; widths in `fixed`.

use super::fixed::Point;
use super::tie::inclusive;
use eitri_descriptors::framebuffer::TieBreakRule;

/// A half plane of points, in the units of E: squares of 1/256 pixel.
///
/// |along_x|, |along_y| <= 2^30, |constant| <= 2^61: at any point within 2^29 of the origin |E| < 2^62.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Edge {
    /// Change of E for a step of 1/256 pixel to the right: -dy.
    pub(super) along_x: i64,
    /// Change of E for a step of 1/256 pixel down: dx.
    pub(super) along_y: i64,
    /// E at the origin.
    pub(super) constant: i64,
    /// The smallest E that is inside: 0 for an edge that owns its samples, else 1.
    pub(super) least: i64,
}

impl Edge {
    /// The edge from `a` to `b`, which excludes points exactly on it until a rule is given.
    pub(super) fn between(a: Point, b: Point) -> Edge {
        let (dx, dy) = a.vector(b);
        Edge {
            along_x: -dy,
            along_y: dx,
            constant: dy * i64::from(a.x) - dx * i64::from(a.y),
            least: 1,
        }
    }

    /// The same edge, owning its samples if the rule says so.
    pub(super) fn with_rule(self, rule: TieBreakRule) -> Edge {
        let owns = inclusive(rule, (self.along_y, -self.along_x));
        Edge {
            least: i64::from(!owns),
            ..self
        }
    }

    /// The edge from the other side.
    pub(super) fn reversed(self) -> Edge {
        Edge {
            along_x: -self.along_x,
            along_y: -self.along_y,
            constant: -self.constant,
            least: self.least,
        }
    }

    /// E at a point.
    #[inline]
    pub(super) fn at(&self, point: Point) -> i64 {
        self.step(point) + self.constant
    }

    /// Change of E for a step.
    #[inline]
    pub(super) fn step(&self, step: Point) -> i64 {
        self.along_x * i64::from(step.x) + self.along_y * i64::from(step.y)
    }

    /// Tells whether the half plane holds a point.
    #[inline]
    pub(super) fn holds(&self, point: Point) -> bool {
        self.at(point) >= self.least
    }
}
