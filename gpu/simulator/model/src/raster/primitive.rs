//! Primitive set-up: from stored positions to a shape and weights.
//!
//! Facts: hardware/graphics-model.md 1.4, 2; graphics-raster.md 4.2.

use super::bresenham::Bresenham;
use super::conservative;
use super::coverage::PixelBox;
use super::depth::DepthBias;
use super::edge::Edge;
use super::fixed::{Point, snap};
use super::inexact::is_wide;
use super::interpolate::{Corner, Gradient};
use super::line::{self, LineWidth};
use super::point::{self, PointSize};
use super::shape::{Asked, Bounds, Shape, area};
use eitri_descriptors::framebuffer::TieBreakRule;

/// The side of a primitive that is seen. Points and lines show their front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Facing {
    Front,
    Back,
}

impl Facing {
    /// Facing of a triangle with this signed area: negative is counter-clockwise on the screen.
    pub(crate) fn of(area: i64, front_ccw: bool) -> Facing {
        if (area < 0) == front_ccw {
            Facing::Front
        } else {
            Facing::Back
        }
    }
}

/// State that decides which samples a triangle covers, beside its corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TriangleRules {
    pub(crate) tie: TieBreakRule,
    /// DCD flags 0, bit 16.
    pub(crate) front_ccw: bool,
    /// DCD flags 0, bits 25:24 (v11 and later): covers every pixel that the triangle touches.
    pub(crate) conservative: bool,
}

/// State that decides which samples a line covers, beside its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineRules {
    pub(crate) tie: TieBreakRule,
    pub(crate) width: LineWidth,
    /// DCD flags 0, bit 13: a Bresenham line instead of a rectangle.
    pub(crate) bresenham: bool,
}

/// Test that decides coverage.
#[expect(
    clippy::large_enum_variant,
    reason = "one primitive at a time: a box would cost an allocation each"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Shape(Shape),
    Bresenham(Bresenham),
}

/// A primitive that is ready to be rasterised.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Primitive {
    pub(super) form: Form,
    pub(super) gradient: Gradient,
    /// Positions; those that the topology lacks are zero.
    pub(super) corners: [Corner; 3],
    /// For a clipped primitive: the parts of the original vertices in each corner.
    pub(super) origin: Option<[[f64; 3]; 3]>,
    pub(super) bias: f64,
    /// What varyings are multiplied by: 1 but where they drift.
    pub(super) drift: f64,
    /// The side that is seen.
    pub(crate) facing: Facing,
}

/// Pixels along an axis up to which varyings are exact, and what they are multiplied by beyond.
// FACT: of the drift two ramps were measured (hardware/graphics-model.md 3.1): one over 8192 pixels is exact, one over 12288 is too
// small by about 2^-10 of its value; what the circuit does is not known. Settled by ramps of other widths on a G610.
pub(super) const WIDEST_EXACT: f32 = 8192.0;
const DRIFT: f64 = 1.0 - 1.0 / 1024.0;

impl Primitive {
    /// Sets up a triangle. None if it has no area or a corner has no place in fixed point.
    pub(crate) fn triangle(corners: [Corner; 3], rules: TriangleRules) -> Option<Primitive> {
        let [a, b, c] = corners.map(|corner| place(&corner));
        let (a, b, c) = (a?, b?, c?);
        let signed = area(a, b, c);
        let shape = Shape::polygon(&[a, b, c], rules.tie)?;
        let opposite = [(b, c), (c, a), (a, b)].map(|(from, to)| {
            let edge = Edge::between(from, to);
            if signed > 0 { edge } else { edge.reversed() }
        });
        let shape = if rules.conservative {
            conservative::grown(&opposite, &Bounds::of(&[a, b, c]))
        } else {
            shape
        };
        Some(Primitive {
            form: Form::Shape(shape),
            gradient: Gradient::Triangle {
                opposite,
                area: signed.abs(),
            },
            corners,
            origin: None,
            bias: 0.0,
            drift: 1.0,
            facing: Facing::of(signed, rules.front_ccw),
        })
    }

    /// Sets up a point. None if its centre has no place in fixed point.
    pub(crate) fn point(centre: Corner, size: PointSize) -> Option<Primitive> {
        let shape = point::square(place(&centre)?, size);
        let corners = [centre, Corner::default(), Corner::default()];
        Some(Primitive::flat(
            Form::Shape(shape),
            Gradient::Constant,
            corners,
        ))
    }

    /// Sets up a line. None if it has no length or no width, or an end has no place in fixed point.
    pub(crate) fn line(ends: [Corner; 2], rules: LineRules) -> Option<Primitive> {
        let [a, b] = ends.map(|end| place(&end));
        let (a, b) = (a?, b?);
        let form = if rules.bresenham {
            Form::Bresenham(Bresenham::new(a, b, rules.width)?)
        } else {
            Form::Shape(line::rectangle(a, b, rules.width, rules.tie)?)
        };
        let gradient = Gradient::Segment {
            from: a,
            along: a.vector(b),
        };
        let corners = [ends[0], ends[1], Corner::default()];
        Some(Primitive::flat(form, gradient, corners))
    }

    /// Values come from the vertices before clipping: row n has their parts in corner n.
    pub(crate) fn clipped_from(self, parts: [[f64; 3]; 3]) -> Primitive {
        Primitive {
            origin: Some(parts),
            ..self
        }
    }

    /// Adds the depth bias of a draw.
    pub(crate) fn biased(self, bias: &DepthBias) -> Primitive {
        let bias = bias.of(&self);
        Primitive { bias, ..self }
    }

    /// Lets the varyings of a very wide triangle drift; depth and 1/w are exact.
    pub(crate) fn drifting(self) -> Primitive {
        let drift = match &self.gradient {
            Gradient::Triangle { .. } if is_wide(&self.corners) => DRIFT,
            _ => 1.0,
        };
        Primitive { drift, ..self }
    }

    /// Pixels that the primitive may touch. None if all of them lie outside 16-bit coordinates.
    pub(crate) fn touched(&self) -> Option<PixelBox> {
        PixelBox::around(match &self.form {
            Form::Shape(shape) => &shape.bounds,
            Form::Bresenham(line) => &line.bounds,
        })
    }

    /// Tells whether the primitive covers a point of the screen, samples set aside.
    pub(super) fn holds(&self, at: Point) -> bool {
        match &self.form {
            Form::Shape(shape) if shape.asked == Asked::Square => true,
            Form::Shape(shape) => shape.holds(at),
            Form::Bresenham(_) => true,
        }
    }

    /// A primitive without sides.
    fn flat(form: Form, gradient: Gradient, corners: [Corner; 3]) -> Primitive {
        Primitive {
            form,
            gradient,
            corners,
            origin: None,
            bias: 0.0,
            drift: 1.0,
            facing: Facing::Front,
        }
    }
}

/// A vertex in fixed point.
fn place(corner: &Corner) -> Option<Point> {
    Some(Point {
        x: snap(corner.x)?,
        y: snap(corner.y)?,
    })
}
