//! Interpolation: weights of a primitive's vertices at a point, and values made of them.
//!
//! Weights are exact integers (edge functions, projections). Values are computed from them in f64; the caller rounds a value
//! once, to the format of its destination. Weights are not divided by their total first, so that a value at a vertex, and a
//! value that all vertices share, is exact after that rounding.
//!
//! Points outside the primitive extrapolate: helper lanes and the centres of partly covered pixels need that.
//!
//! Facts: hardware/graphics-model.md 2.3, 2.4, 3.1; graphics-raster.md 4.7.

use super::edge::Edge;
use super::fixed::Point;
use super::primitive::{Form, Primitive};
use super::samples::{CENTRE, MOST_SAMPLES, Sampling, corner_of};
use alloc::vec::Vec;

/// Position of a vertex as the shader stored it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Corner {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
    /// 1/w.
    pub(crate) inv_w: f32,
}

/// Place in a pixel where a value is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// The centre. For a draw that is evaluated per sample, CENTER is [`Evaluation::Sample`].
    Centre,
    /// A sample of the pattern.
    Sample(u8),
    /// The centre if the primitive covers it, else the first covered sample; the centre where nothing is covered.
    // FACT: which covered sample it is is not known (hardware/graphics-raster.md 4.7). Settled by a ramp read with centroid
    // interpolation on any board.
    Centroid,
    /// Signed 1/256 pixel from the upper left corner.
    Explicit { x: i16, y: i16 },
}

impl Evaluation {
    /// The point, for a pixel and its covered samples.
    pub(crate) fn point(
        self,
        primitive: &Primitive,
        sampling: &Sampling,
        pixel: (u16, u16),
        covered: u16,
    ) -> Point {
        let corner = corner_of(i32::from(pixel.0), i32::from(pixel.1));
        let at = |offset: Point| Point {
            x: corner.x + offset.x,
            y: corner.y + offset.y,
        };
        match self {
            Evaluation::Centre => at(CENTRE),
            Evaluation::Sample(sample) => at(sampling.position(usize::from(sample))),
            Evaluation::Centroid if covered == 0 || primitive.holds(at(CENTRE)) => at(CENTRE),
            Evaluation::Centroid => at(sampling.position(covered.trailing_zeros() as usize)),
            Evaluation::Explicit { x, y } => at(Point {
                x: i32::from(x),
                y: i32::from(y),
            }),
        }
    }
}

/// Rule by which weights follow from a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gradient {
    /// Edge functions, each of the edge opposite to a vertex; their sum is the area.
    Triangle { opposite: [Edge; 3], area: i64 },
    /// Projection onto the segment from a point along a vector.
    Segment { from: Point, along: (i64, i64) },
    /// The vertex alone.
    Constant,
}

impl Gradient {
    /// Weights of the vertices at a point, and their sum.
    ///
    /// Widths: edge functions as in `edge`. A projection is a sum of two products below 2^61, as is the squared length.
    #[inline]
    pub(super) fn weights(&self, at: Point) -> ([i64; 3], i64) {
        match self {
            Gradient::Triangle { opposite, area } => {
                (opposite.each_ref().map(|edge| edge.at(at)), *area)
            }
            Gradient::Segment { from, along } => {
                let (px, py) = from.vector(at);
                let length = along.0 * along.0 + along.1 * along.1;
                let passed = (px * along.0 + py * along.1).clamp(0, length);
                ([length - passed, passed, 0], length)
            }
            Gradient::Constant => ([1, 0, 0], 1),
        }
    }
}

/// Weights of a primitive's vertices at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weights {
    linear: [f64; 3],
    total: f64,
    /// Weights of the vertices that the shader stored, perspective included.
    perspective: [f64; 3],
    z: [f64; 3],
    inv_w: [f64; 3],
    bias: f64,
    drift: f64,
}

impl Primitive {
    /// Weights of the vertices at a point.
    #[inline]
    pub(crate) fn weights(&self, at: Point) -> Weights {
        let (linear, total) = self.gradient.weights(at);
        let linear = linear.map(|weight| weight as f64);
        let inv_w = self.corners.map(|corner| f64::from(corner.inv_w));
        let divided: [f64; 3] = core::array::from_fn(|corner| linear[corner] * inv_w[corner]);
        let perspective = match &self.origin {
            None => divided,
            Some(parts) => core::array::from_fn(|vertex| {
                (0..3)
                    .map(|corner| divided[corner] * parts[corner][vertex])
                    .sum()
            }),
        };
        Weights {
            linear,
            total: total as f64,
            perspective,
            z: self.corners.map(|corner| f64::from(corner.z)),
            inv_w,
            bias: self.bias,
            drift: self.drift,
        }
    }

    /// Depth without bias at a point: what [`Weights::depth`] gives there.
    #[inline]
    pub(super) fn depth_at(&self, at: Point) -> f64 {
        let (linear, total) = self.gradient.weights(at);
        let linear = linear.map(|weight| weight as f64);
        let z = self.corners.map(|corner| f64::from(corner.z));
        weighted_sum(linear, z) / total as f64
    }

    /// Depths without bias around points, at the same offsets from each.
    pub(super) fn depths_around<'p>(&'p self, offsets: &'p [Point]) -> DepthsAround<'p> {
        let mut steps = [[0; 3]; MOST_SAMPLES];
        if let Gradient::Triangle { opposite, .. } = &self.gradient {
            for (steps, offset) in steps.iter_mut().zip(offsets) {
                *steps = opposite.each_ref().map(|edge| edge.step(*offset));
            }
        }
        DepthsAround {
            primitive: self,
            offsets,
            steps,
        }
    }

    /// Coordinates in a point's square at a point of the screen: 0 to 1 from left and from the top. None if this is no point.
    pub(crate) fn point_coordinate(&self, at: Point) -> Option<[f64; 2]> {
        let (Form::Shape(shape), Gradient::Constant) = (&self.form, &self.gradient) else {
            return None;
        };
        let bounds = &shape.bounds;
        let side = f64::from(bounds.max.x - bounds.min.x);
        Some([
            f64::from(at.x - bounds.min.x) / side,
            f64::from(at.y - bounds.min.y) / side,
        ])
    }
}

/// Depths of a primitive around points: at each the same offsets, at most [`MOST_SAMPLES`].
pub(super) struct DepthsAround<'p> {
    primitive: &'p Primitive,
    offsets: &'p [Point],
    /// By offset: how much each of the three edge functions changes from the point to there.
    steps: [[i64; 3]; MOST_SAMPLES],
}

impl DepthsAround<'_> {
    /// Adds the depths around a point to `depths`: what [`Primitive::depth_at`] gives at each offset from it.
    #[inline]
    pub(super) fn add(&self, point: Point, depths: &mut Vec<f64>) {
        let Gradient::Triangle { opposite, area } = &self.primitive.gradient else {
            depths.extend(self.offsets.iter().map(|offset| {
                self.primitive.depth_at(Point {
                    x: point.x + offset.x,
                    y: point.y + offset.y,
                })
            }));
            return;
        };
        let weights = opposite.each_ref().map(|edge| edge.at(point));
        let z = self.primitive.corners.map(|corner| f64::from(corner.z));
        let steps = self.steps.iter().take(self.offsets.len());
        depths.extend(steps.map(|steps| {
            let linear = core::array::from_fn(|vertex| (weights[vertex] + steps[vertex]) as f64);
            weighted_sum(linear, z) / *area as f64
        }));
    }
}

impl Weights {
    /// Depth without bias.
    pub(crate) fn depth(&self) -> f64 {
        weighted_sum(self.linear, self.z) / self.total
    }

    /// FRAG_Z: depth with bias, not clamped.
    pub(crate) fn biased_depth(&self) -> f64 {
        self.depth() + self.bias
    }

    /// FRAG_W: 1/w.
    pub(crate) fn inv_w(&self) -> f64 {
        weighted_sum(self.linear, self.inv_w) / self.total
    }

    /// Perspective-correct value of what the shader stored for the primitive's vertices.
    ///
    /// `values` has one for each vertex of the primitive: 1 for a point, 2 for a line.
    pub(crate) fn perspective(&self, values: &[f64]) -> f64 {
        self.perspective_over(values, self.perspective_total())
    }

    /// What [`Weights::perspective_over`] divides by: the same for all values at the point.
    #[inline]
    pub(crate) fn perspective_total(&self) -> f64 {
        weighted_sum(self.linear, self.inv_w)
    }

    /// [`Weights::perspective`] with the total at hand.
    #[inline]
    pub(crate) fn perspective_over(&self, values: &[f64], total: f64) -> f64 {
        let products = self.perspective.iter().zip(values);
        let sum: f64 = products.map(|(weight, value)| weight * value).sum();
        sum * self.drift / total
    }
}

/// Sum of the vertices' values, each times its weight.
#[inline]
fn weighted_sum(weights: [f64; 3], values: [f64; 3]) -> f64 {
    let products = weights.into_iter().zip(values);
    products.map(|(weight, value)| weight * value).sum()
}
