//! Plain rasteriser: asks every sample of every pixel. Too slow to run; the tests compare `coverage` with it.
//!
//! Facts: hardware/graphics-model.md 2.1 to 2.3.

use super::coverage::{PixelBox, Quad};
use super::fixed::Point;
use super::primitive::{Form, Primitive};
use super::samples::Sampling;
use super::shape::Asked;
use alloc::vec::Vec;

/// The quads of `within` in which the primitive covers a sample, row by row.
pub(super) fn cover(primitive: &Primitive, sampling: &Sampling, within: PixelBox) -> Vec<Quad> {
    let mut quads = Vec::new();
    for y in (within.min_y & !1..=within.max_y).step_by(2) {
        for x in (within.min_x & !1..=within.max_x).step_by(2) {
            let mut quad = Quad {
                x,
                y,
                coverage: [0; 4],
            };
            for lane in 0..4 {
                let (x, y) = quad.pixel(lane);
                if within.holds(i32::from(x), i32::from(y)) {
                    quad.coverage[lane] = pixel(primitive, sampling, x, y) & sampling.mask;
                }
            }
            if quad.coverage != [0; 4] {
                quads.push(quad);
            }
        }
    }
    quads
}

/// Samples of a pixel.
fn pixel(primitive: &Primitive, sampling: &Sampling, x: u16, y: u16) -> u16 {
    let corner = |dx: i32, dy: i32| Point {
        x: i32::from(x) * 256 + dx,
        y: i32::from(y) * 256 + dy,
    };
    let all = |covered: bool| if covered { sampling.full() } else { 0 };
    match &primitive.form {
        Form::Bresenham(line) => all(line.produces(i32::from(x), i32::from(y))),
        Form::Shape(shape) if shape.asked == Asked::Square => all(shape.holds(corner(0, 0))),
        Form::Shape(shape) if !sampling.each_sample => all(shape.holds(corner(128, 128))),
        Form::Shape(shape) => (0..sampling.count()).fold(0, |mask, sample| {
            let at = sampling.position(sample);
            mask | u16::from(shape.holds(corner(at.x, at.y))) << sample
        }),
    }
}
