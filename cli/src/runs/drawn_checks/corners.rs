//! Corners of a primitive in clip space: what fragments find of it, at any place of the window.
//!
//! Guarantees: computed in binary64 from the homogeneous coordinates, so that a corner behind the eye needs no clipping. It tells
//! nothing of coverage, which the model has told.

use eitri_shaderc::interp::{Draw, Outputs, Primitive};
use eitri_shaderc::ir::Output;
use std::collections::BTreeMap;

/// A shaded vertex: window coordinates times w, w, and what it hands on.
#[derive(Clone, Debug, Default)]
pub(super) struct Corner {
    /// x, y and z in the window times w, and w.
    position: [f64; 4],
    varyings: BTreeMap<u8, Vec<u32>>,
    pub(super) point_size: f32,
}

impl Corner {
    /// A vertex as its shader left it.
    pub(super) fn new(outputs: &Outputs, draw: &Draw) -> Corner {
        let mut corner = Corner {
            point_size: 1.0,
            ..Corner::default()
        };
        for (output, words) in outputs {
            match output {
                Output::Position => {
                    let clip: [f64; 4] = std::array::from_fn(|axis| {
                        words
                            .get(axis)
                            .map_or(0.0, |word| f32::from_bits(*word).into())
                    });
                    for axis in 0..3 {
                        let [scale, offset] = [draw.viewport_scale, draw.viewport_offset]
                            .map(|all| f64::from(all[axis]));
                        corner.position[axis] = clip[axis] * scale + clip[3] * offset;
                    }
                    corner.position[3] = clip[3];
                }
                Output::PointSize => {
                    corner.point_size = words.first().map_or(1.0, |word| f32::from_bits(*word));
                }
                Output::Varying { location, .. } => {
                    corner.varyings.insert(*location, words.clone());
                }
                _ => {}
            }
        }
        corner
    }

    fn word(&self, location: u8, component: u8) -> u32 {
        let words = self.varyings.get(&location);
        let word = words.and_then(|words| words.get(usize::from(component)));
        word.copied().unwrap_or(0)
    }

    /// The place in the window.
    fn window(&self) -> [f64; 2] {
        [
            self.position[0] / self.position[3],
            self.position[1] / self.position[3],
        ]
    }
}

/// A point, a line or a triangle.
#[derive(Debug)]
pub(super) struct Corners {
    pub(super) corners: Vec<Corner>,
    pub(super) provoking: usize,
    /// Locations that are interpolated without regard to perspective.
    pub(super) noperspective: u64,
}

/// The determinant of three columns.
fn determinant(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1])
        + c[0] * (a[1] * b[2] - a[2] * b[1])
}

impl Corners {
    /// By corner, its weight divided by its w; the sum is 1/w at the place.
    fn weights(&self, at: [f32; 2]) -> [f64; 3] {
        let at = at.map(f64::from);
        let part = |share: f64, corner: &Corner| share / corner.position[3];
        match self.corners.as_slice() {
            [only] => [part(1.0, only), 0.0, 0.0],
            [a, b] => {
                let (from, to) = (a.window(), b.window());
                let along = [to[0] - from[0], to[1] - from[1]];
                let length = along[0] * along[0] + along[1] * along[1];
                let passed = (at[0] - from[0]) * along[0] + (at[1] - from[1]) * along[1];
                let share = if length > 0.0 {
                    (passed / length).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                [part(1.0 - share, a), part(share, b), 0.0]
            }
            [a, b, c, ..] => {
                let column = |corner: &Corner| {
                    let [x, y, _, w] = corner.position;
                    [x, y, w]
                };
                let (a, b, c) = (column(a), column(b), column(c));
                let place = [at[0], at[1], 1.0];
                let all = determinant(a, b, c);
                [
                    determinant(place, b, c) / all,
                    determinant(a, place, c) / all,
                    determinant(a, b, place) / all,
                ]
            }
            [] => [0.0; 3],
        }
    }

    fn sum(&self, at: [f32; 2], value: impl Fn(&Corner) -> f64) -> f64 {
        let weights = self.weights(at);
        let corners = self.corners.iter().zip(weights);
        corners.map(|(corner, weight)| weight * value(corner)).sum()
    }

    /// A component of a location at a place, as a number.
    pub(super) fn value(&self, location: u8, component: u8, at: [f32; 2]) -> f64 {
        let float = |corner: &Corner| f64::from(f32::from_bits(corner.word(location, component)));
        let reciprocal = self.sum(at, |_| 1.0);
        match self.noperspective >> location & 1 {
            // Whoever asks multiplies by 1/w.
            1 => self.sum(at, |corner| float(corner) * corner.position[3]) / reciprocal,
            _ => self.sum(at, float) / reciprocal,
        }
    }

    /// The place of a pixel's centre in a point.
    pub(super) fn point(&self, pixel: [u32; 2]) -> [f32; 2] {
        let Some(corner) = self.corners.first() else {
            return [0.5; 2];
        };
        let (centre, size) = (corner.window(), f64::from(corner.point_size.max(1.0)));
        std::array::from_fn(|axis| {
            ((f64::from(pixel[axis]) + 0.5 - centre[axis]) / size + 0.5).clamp(0.0, 1.0) as f32
        })
    }
}

impl Primitive for Corners {
    fn flat(&self, location: u8, component: u8) -> u32 {
        let corner = self.corners.get(self.provoking);
        corner.map_or(0, |corner| corner.word(location, component))
    }

    fn interpolated(&self, location: u8, component: u8, at: [f32; 2]) -> u32 {
        (self.value(location, component, at) as f32).to_bits()
    }

    fn reciprocal_w(&self, at: [f32; 2]) -> f32 {
        self.sum(at, |_| 1.0) as f32
    }

    fn depth(&self, at: [f32; 2]) -> f32 {
        self.sum(at, |corner| corner.position[2]) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(position: [f32; 4], value: f32) -> Corner {
        let outputs = vec![
            (Output::Position, position.map(f32::to_bits).to_vec()),
            (
                Output::Varying {
                    location: 0,
                    count: 1,
                    relaxed: false,
                },
                vec![value.to_bits()],
            ),
        ];
        let draw = Draw {
            viewport_scale: [8.0, 8.0, 1.0],
            viewport_offset: [8.0, 8.0, 0.0],
            ..Draw::default()
        };
        Corner::new(&outputs, &draw)
    }

    #[test]
    fn a_corner_behind_the_eye_needs_no_clipping() {
        let corners = Corners {
            corners: vec![
                corner([-1.0, -1.0, 0.0, 1.0], 0.0),
                corner([1.0, -1.0, 0.0, 1.0], 1.0),
                // Behind: w is negative.
                corner([0.0, 3.0, 0.0, -1.0], 0.5),
            ],
            provoking: 1,
            noperspective: 0,
        };
        // On the edge of the first two corners.
        let value = f32::from_bits(corners.interpolated(0, 0, [4.0, 0.0]));
        assert!((value - 0.25).abs() < 1e-6, "{value}");
        assert_eq!(f32::from_bits(corners.flat(0, 0)), 1.0);
        assert!((corners.reciprocal_w([4.0, 0.0]) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn lines_and_points_have_values_too() {
        let line = Corners {
            corners: vec![
                corner([-1.0, 0.0, 0.0, 1.0], 0.0),
                corner([1.0, 0.0, 0.0, 1.0], 4.0),
            ],
            provoking: 0,
            noperspective: 0,
        };
        assert_eq!(f32::from_bits(line.interpolated(0, 0, [4.0, 8.5])), 1.0);
        let point = Corners {
            corners: vec![corner([0.0, 0.0, 0.25, 1.0], 7.0)],
            provoking: 0,
            noperspective: 0,
        };
        assert_eq!(f32::from_bits(point.interpolated(0, 0, [8.5, 8.5])), 7.0);
        assert_eq!(point.depth([8.0, 8.0]), 0.25);
        assert_eq!(point.point([8, 8]), [1.0, 1.0]);
    }
}
