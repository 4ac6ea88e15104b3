//! Coverage: the quads of a box that a primitive touches, with the covered samples of each pixel.
//!
//! Descends from 16x16 pixels to 4x4 (the quads of one warp) to the 2x2 quad. A block is rejected when an edge function is
//! negative over the range of its tested points, and an edge is not asked again where it is positive over that range. Both
//! decisions are exact integers, so the result is that of asking each sample (`plain`, which the tests compare with).
//!
//! Order of quads: blocks of 16x16 row by row, in each its blocks of 4x4 row by row, in each its quads row by row.
//!
//! Facts: hardware/graphics-model.md 2.1, 3.3.

use super::edge::Edge;
use super::fixed::{Point, SUBPIXELS};
use super::primitive::{Form, Primitive};
use super::samples::{CENTRE, MOST_SAMPLES, Sampling, corner_of};
use super::shape::{Asked, Bounds, MOST_EDGES, Shape};
use alloc::vec::Vec;

/// Pixels of a block's side, from the largest down. The last one is the quad.
const BLOCKS: [i32; 3] = [16, 4, 2];

/// A rectangle of pixels, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PixelBox {
    pub(crate) min_x: u16,
    pub(crate) min_y: u16,
    pub(crate) max_x: u16,
    pub(crate) max_y: u16,
}

impl PixelBox {
    /// Pixels of both boxes. None if there are none, also where a box has its ends the wrong way round.
    pub(crate) fn intersection(self, other: PixelBox) -> Option<PixelBox> {
        let both = PixelBox {
            min_x: self.min_x.max(other.min_x),
            min_y: self.min_y.max(other.min_y),
            max_x: self.max_x.min(other.max_x),
            max_y: self.max_y.min(other.max_y),
        };
        (both.min_x <= both.max_x && both.min_y <= both.max_y).then_some(both)
    }

    /// Tells whether the box holds a pixel.
    pub(crate) fn holds(&self, x: i32, y: i32) -> bool {
        let columns = i32::from(self.min_x)..=i32::from(self.max_x);
        let rows = i32::from(self.min_y)..=i32::from(self.max_y);
        columns.contains(&x) && rows.contains(&y)
    }

    /// Pixels whose square meets `bounds`. None if all of them lie outside 16-bit coordinates.
    pub(super) fn around(bounds: &Bounds) -> Option<PixelBox> {
        let pixel = |subpixels: i32| subpixels.div_euclid(SUBPIXELS);
        let clamped = |pixel: i32| pixel.clamp(0, i32::from(u16::MAX)) as u16;
        let last = i32::from(u16::MAX);
        let (min, max) = (bounds.min, bounds.max);
        let visible = |min: i32, max: i32| pixel(max) >= 0 && pixel(min) <= last && min <= max;
        (visible(min.x, max.x) && visible(min.y, max.y)).then(|| PixelBox {
            min_x: clamped(pixel(min.x)),
            min_y: clamped(pixel(min.y)),
            max_x: clamped(pixel(max.x)),
            max_y: clamped(pixel(max.y)),
        })
    }
}

/// Four pixels that share a place in a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quad {
    /// Column of lane 0: even.
    pub(crate) x: u16,
    /// Row of lane 0: even.
    pub(crate) y: u16,
    /// Covered samples of each lane: 0 upper left, 1 upper right, 2 lower left, 3 lower right. Bit n is sample n.
    pub(crate) coverage: [u16; 4],
}

impl Quad {
    /// Pixel of a lane.
    pub(crate) fn pixel(&self, lane: usize) -> (u16, u16) {
        (self.x | (lane & 1) as u16, self.y | (lane >> 1 & 1) as u16)
    }
}

/// Appends the quads of `within` in which the primitive covers a sample.
///
/// `within` is the intersection of tile, scissor, bound box of the framebuffer and box of the fragment job.
pub(crate) fn cover(
    primitive: &Primitive,
    sampling: &Sampling,
    within: PixelBox,
    quads: &mut Vec<Quad>,
) {
    let touched = primitive.touched();
    let Some(within) = touched.and_then(|touched| touched.intersection(within)) else {
        return;
    };
    let extent = match &primitive.form {
        Form::Shape(shape) => extent(shape.asked, sampling),
        Form::Bresenham(_) => Bounds::of(&[CENTRE]),
    };
    let descent = Descent {
        form: &primitive.form,
        sampling,
        within,
        extent,
        asked: AskedPoints::of(&primitive.form, sampling),
    };
    let undecided = match &primitive.form {
        Form::Shape(shape) => u8::MAX >> (8 - shape.edges().len()),
        Form::Bresenham(_) => 0,
    };
    let first = |min: u16| i32::from(min) & !(BLOCKS[0] - 1);
    for y in (first(within.min_y)..=i32::from(within.max_y)).step_by(BLOCKS[0] as usize) {
        for x in (first(within.min_x)..=i32::from(within.max_x)).step_by(BLOCKS[0] as usize) {
            descent.block((x, y), 0, undecided, quads);
        }
    }
}

/// Range of the points of a pixel that are asked, from its upper left corner.
fn extent(asked: Asked, sampling: &Sampling) -> Bounds {
    match asked {
        Asked::Square => Bounds::of(&[Point::default()]),
        Asked::Samples if sampling.each_sample => {
            let points = (0..sampling.count()).map(|sample| sampling.position(sample));
            let points: Vec<Point> = points.collect();
            Bounds::of(&points)
        }
        Asked::Samples => Bounds::of(&[CENTRE]),
    }
}

/// Part of a descent that stays the same while blocks get smaller.
struct Descent<'a> {
    form: &'a Form,
    sampling: &'a Sampling,
    within: PixelBox,
    extent: Bounds,
    asked: AskedPoints,
}

impl Descent<'_> {
    /// Covers the block of size `BLOCKS[level]` at a pixel. Bit n of `undecided`: edge n has points on both sides so far.
    fn block(&self, (x, y): (i32, i32), level: usize, undecided: u8, quads: &mut Vec<Quad>) {
        let side = BLOCKS[level];
        let touches = x <= i32::from(self.within.max_x)
            && y <= i32::from(self.within.max_y)
            && x + side > i32::from(self.within.min_x)
            && y + side > i32::from(self.within.min_y);
        if !touches {
            return;
        }
        let mut undecided = undecided;
        if let Form::Shape(shape) = self.form {
            let (first, last) = (corner_of(x, y), corner_of(x + side - 1, y + side - 1));
            let range = Bounds {
                min: add(first, self.extent.min),
                max: add(last, self.extent.max),
            };
            for (index, edge) in shape.edges().iter().enumerate() {
                if undecided >> index & 1 == 0 {
                    continue;
                }
                let (least, most) = values_over(edge, &range);
                if most < edge.least {
                    return;
                }
                if least >= edge.least {
                    undecided &= !(1 << index);
                }
            }
        }
        let Some(next) = BLOCKS.get(level + 1) else {
            self.quad((x, y), undecided, quads);
            return;
        };
        for inner_y in (y..y + side).step_by(*next as usize) {
            for inner_x in (x..x + side).step_by(*next as usize) {
                self.block((inner_x, inner_y), level + 1, undecided, quads);
            }
        }
    }

    fn quad(&self, (x, y): (i32, i32), undecided: u8, quads: &mut Vec<Quad>) {
        let full = self.sampling.full();
        let covered = match self.form {
            Form::Shape(shape) => self.covered(shape, (x, y), undecided),
            Form::Bresenham(line) => LANES.map(|[right, below]| {
                if line.produces(x + right, y + below) {
                    full
                } else {
                    0
                }
            }),
        };
        let mut coverage = [0; 4];
        for ((coverage, covered), [right, below]) in coverage.iter_mut().zip(covered).zip(LANES) {
            if self.within.holds(x + right, y + below) {
                *coverage = covered & self.sampling.mask;
            }
        }
        if coverage != [0; 4] {
            // A pixel inside the box has 16-bit coordinates, and lane 0 is not beyond it.
            let (x, y) = (x as u16, y as u16);
            quads.push(Quad { x, y, coverage });
        }
    }

    /// Samples of the lanes of a quad that the undecided edges of a shape hold.
    fn covered(&self, shape: &Shape, (x, y): (i32, i32), undecided: u8) -> [u16; 4] {
        let full = self.sampling.full();
        let asked = &self.asked;
        let all = u16::MAX >> (16 - asked.count);
        let mut covered = [all; 4];
        let corner = corner_of(x, y);
        for (index, edge) in shape.edges().iter().enumerate() {
            if undecided >> index & 1 == 0 {
                continue;
            }
            let offsets = &asked.offsets[index][..asked.count];
            let at_corner = edge.at(corner);
            let pixel = i64::from(SUBPIXELS);
            for (covered, [right, below]) in covered.iter_mut().zip(LANES) {
                let (right, below) = (i64::from(right) * pixel, i64::from(below) * pixel);
                let at_pixel = at_corner + right * edge.along_x + below * edge.along_y;
                let held = offsets.iter().enumerate().fold(0, |held, (point, offset)| {
                    held | u16::from(at_pixel + offset >= edge.least) << point
                });
                *covered &= held;
            }
        }
        if asked.each_sample {
            return covered;
        }
        covered.map(|covered| if covered == 0 { 0 } else { full })
    }
}

/// Pixels of a quad's lanes, right of and below its first.
const LANES: [[i32; 2]; 4] = [[0, 0], [1, 0], [0, 1], [1, 1]];

/// The points of a pixel that are asked, and what edge functions change by from the pixel's corner to each.
struct AskedPoints {
    count: usize,
    /// Whether they are the samples; else one point decides for all samples.
    each_sample: bool,
    offsets: [[i64; MOST_SAMPLES]; MOST_EDGES],
}

impl AskedPoints {
    fn of(form: &Form, sampling: &Sampling) -> AskedPoints {
        let mut asked = AskedPoints {
            count: 1,
            each_sample: false,
            offsets: [[0; MOST_SAMPLES]; MOST_EDGES],
        };
        let Form::Shape(shape) = form else {
            return asked;
        };
        if shape.asked == Asked::Samples && sampling.each_sample {
            (asked.count, asked.each_sample) = (sampling.count(), true);
        }
        for (edge, offsets) in shape.edges().iter().zip(&mut asked.offsets) {
            for (sample, offset) in offsets.iter_mut().enumerate().take(asked.count) {
                let point = match shape.asked {
                    Asked::Square => Point::default(),
                    Asked::Samples if sampling.each_sample => sampling.position(sample),
                    Asked::Samples => CENTRE,
                };
                *offset = edge.at(point) - edge.constant;
            }
        }
        asked
    }
}

/// Smallest and largest value of an edge function over a range of points: a linear function takes them at corners.
fn values_over(edge: &Edge, range: &Bounds) -> (i64, i64) {
    let ends = |along: i64, min: i32, max: i32| {
        let (a, b) = (along * i64::from(min), along * i64::from(max));
        (a.min(b), a.max(b))
    };
    let (least_x, most_x) = ends(edge.along_x, range.min.x, range.max.x);
    let (least_y, most_y) = ends(edge.along_y, range.min.y, range.max.y);
    (
        edge.constant + least_x + least_y,
        edge.constant + most_x + most_y,
    )
}

fn add(a: Point, b: Point) -> Point {
    Point {
        x: a.x + b.x,
        y: a.y + b.y,
    }
}
