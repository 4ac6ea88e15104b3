//! Depth: bias of a triangle, clamping, and the samples that depth culling removes.
//!
//! Quantising belongs to the tile buffer, which knows the format.
//!
//! Facts: hardware/graphics-model.md 1.3 item 3, 3.2; graphics-raster.md 4.8.

use super::coverage::Quad;
use super::fixed::Point;
use super::interpolate::Gradient;
use super::primitive::Primitive;
use super::samples::{MOST_SAMPLES, Sampling, corner_of};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use eitri_descriptors::framebuffer::ZInternalFormat;

/// Lanes of a quad.
const LANES: usize = 4;

/// Depth bias of a draw (words 5 to 7 of the depth and stencil descriptor, where word 4 enables it).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DepthBias {
    pub(crate) units: f32,
    pub(crate) factor: f32,
    /// Upper limit if positive, lower limit if negative, no limit if 0.
    pub(crate) clamp: f32,
    /// Format of the depth in the tile buffer.
    pub(crate) format: ZInternalFormat,
}

impl DepthBias {
    /// Bias that is added to the depth of a triangle; 0 for points and lines, which are not biased.
    pub(super) fn of(&self, primitive: &Primitive) -> f64 {
        let Gradient::Triangle { opposite, area } = &primitive.gradient else {
            return 0.0;
        };
        let z = primitive.corners.map(|corner| corner.z);
        // Change of depth for a step of one pixel: 256 steps of an edge function.
        let slope = |along: [i64; 3]| {
            let change = along.into_iter().zip(z);
            let sum: f64 = change.map(|(along, z)| along as f64 * f64::from(z)).sum();
            (sum * 256.0 / *area as f64).abs()
        };
        let across = slope(opposite.each_ref().map(|edge| edge.along_x));
        let down = slope(opposite.each_ref().map(|edge| edge.along_y));
        let slope = f64::from(self.factor) * across.max(down);
        self.limited(slope + f64::from(self.units) * self.unit(z))
    }

    /// Bias of a rectangle that covers pixels whole: a polygon of depth 0 without a slope.
    ///
    /// PanVK 26.2 clears depth on v12 and later with such a draw: infinite units, and the wanted depth as the limit.
    pub(crate) fn of_rectangle(&self) -> f64 {
        self.limited(f64::from(self.units) * self.unit([0.0; 3]))
    }

    /// Bias between its limits.
    fn limited(&self, bias: f64) -> f64 {
        let limit = f64::from(self.clamp);
        if limit > 0.0 {
            bias.min(limit)
        } else if limit < 0.0 {
            bias.max(limit)
        } else {
            bias
        }
    }

    /// The smallest difference of depths that the format resolves around a triangle's largest depth.
    fn unit(&self, z: [f32; 3]) -> f64 {
        match self.format {
            ZInternalFormat::D16 => libm::exp2(-16.0),
            ZInternalFormat::D24 => libm::exp2(-24.0),
            ZInternalFormat::D32 => {
                let largest = z.into_iter().fold(0.0, |most: f32, z| most.max(z.abs()));
                // The exponent as stored; 0 and subnormal numbers count as the least normal one: 2^-149.
                let exponent = (largest.to_bits() >> 23 & 0xff).max(1);
                libm::scalbn(1.0, exponent as i32 - 127 - 23)
            }
        }
    }
}

/// Depths that a draw keeps: r44 and r45, or the viewport's on v12 and later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DepthBounds {
    pub(crate) low: f32,
    pub(crate) high: f32,
    /// Culls depths below `low`.
    pub(crate) cull_low: bool,
    /// Culls depths above `high`.
    pub(crate) cull_high: bool,
}

impl DepthBounds {
    /// Tells whether depth culling keeps an unbiased depth. NaN is kept only if neither side culls (free choice).
    #[inline]
    pub(crate) fn keep(&self, depth: f64) -> bool {
        (!self.cull_low || depth >= f64::from(self.low))
            && (!self.cull_high || depth <= f64::from(self.high))
    }

    /// Removes the samples of a quad whose depth is culled, by its depths without bias.
    ///
    /// Culling samples instead of clipping the primitive is a free choice; the pictures differ in samples exactly on the
    /// border at most.
    fn cull(&self, depths: &[f64], quad: &mut Quad) {
        if !self.cull_low && !self.cull_high {
            return;
        }
        let lanes = depths.chunks_exact((depths.len() / LANES).max(1));
        for (covered, depths) in quad.coverage.iter_mut().zip(lanes) {
            let kept = depths.iter().enumerate().fold(0, |kept, (sample, depth)| {
                kept | u16::from(self.keep(*depth)) << sample
            });
            *covered &= kept;
        }
    }
}

/// Depths at the samples of the lanes of several quads, lane by lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Depths {
    /// Samples of a lane.
    samples: usize,
    values: Vec<f64>,
}

impl Depths {
    /// The depths of so many quads whose samples all have the same one.
    pub(crate) fn of_rectangle(quads: usize, samples: usize, depth: f64) -> Depths {
        Depths {
            samples,
            values: vec![depth; quads * LANES * samples],
        }
    }

    /// The depths of some of the quads, by their numbers.
    pub(crate) fn of_quads(&self, quads: Range<usize>) -> Depths {
        let each = LANES * self.samples;
        let values = self.values.get(quads.start * each..quads.end * each);
        Depths {
            samples: self.samples,
            values: values.unwrap_or_default().to_vec(),
        }
    }

    /// The depths of a lane; none if there is no such lane.
    #[inline]
    pub(crate) fn of_lane(&self, lane: usize) -> &[f64] {
        let first = lane * self.samples;
        let values = self.values.get(first..first + self.samples);
        values.unwrap_or_default()
    }
}

/// Removes the samples that depth culling removes, and the quads that are left with none; the depths of the others: with bias,
/// not clamped.
pub(crate) fn depths_after_culling(
    primitive: &Primitive,
    sampling: &Sampling,
    bounds: &DepthBounds,
    quads: &mut Vec<Quad>,
) -> Depths {
    let samples = sampling.count();
    let each = LANES * samples;
    let mut offsets = [Point::default(); MOST_SAMPLES];
    for (sample, offset) in offsets.iter_mut().enumerate() {
        *offset = sampling.depth_position(sample);
    }
    let around = primitive.depths_around(&offsets[..samples]);
    let mut values = Vec::with_capacity(quads.len() * each);
    quads.retain_mut(|quad| {
        let first = values.len();
        for lane in 0..LANES {
            let (x, y) = quad.pixel(lane);
            around.add(corner_of(i32::from(x), i32::from(y)), &mut values);
        }
        bounds.cull(&values[first..], quad);
        let is_left = quad.coverage != [0; LANES];
        if !is_left {
            values.truncate(first);
        }
        is_left
    });
    for depth in &mut values {
        *depth += primitive.bias;
    }
    Depths { samples, values }
}
