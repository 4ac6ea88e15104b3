//! Detail: how far a step across the quad goes in a texture, and the level and probes that follow from it.
//!
//! Never: reads memory, or limits a level; the sampler does.
//! Facts: hardware/graphics-model.md 5.1 (2 and 3), 5.2 (free choice), 5.3.

use super::cube::FACES;
use super::float::{Format as Float, Round, narrow, wide16};
use super::sampling::{Coordinates, Footing};

/// A level of one, in 8.8 fixed point.
const ONE: f64 = 256.0;

/// What coordinates change by from a pixel to the next one, along x and along y.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Steps([[f64; 3]; 2]);

/// Where an anisotropic sample takes its probes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Probes {
    /// The level without any bias, 8 bits below the point.
    pub(crate) level: i64,
    pub(crate) count: u32,
    /// From the place half of this in front of the coordinates to the one half of it behind.
    pub(crate) way: [f64; 3],
}

impl Steps {
    /// Between the first, the right and the lower thread of a quad.
    pub(crate) fn of_quad(quad: [&Coordinates; 3], cube: bool) -> Steps {
        let [first, right, lower] = quad;
        Steps([right, lower].map(|other| {
            let there = if cube && other.face != first.face {
                on_face(other, first.face)
            } else {
                other.at.map(f64::from)
            };
            core::array::from_fn(|axis| there[axis] - f64::from(first.at[axis]))
        }))
    }

    /// Given: along x and along y of each coordinate.
    pub(crate) fn of_derivatives(pairs: &[[f32; 2]; 3]) -> Steps {
        Steps([0, 1].map(|step: usize| pairs.map(|pair| f64::from(pair[step]))))
    }

    /// Their lengths in texels.
    fn lengths(&self, footing: &Footing) -> [f64; 2] {
        self.0.map(|step| {
            let axes = step.iter().zip(footing.size).take(footing.axes);
            let squares = axes.map(|(along, size)| {
                let texels = along * f64::from(size);
                texels * texels
            });
            libm::sqrt(squares.sum())
        })
    }

    /// Probes along the longer one, at most so many; one probe has the level that the longer one asks for.
    pub(crate) fn probes(&self, footing: &Footing, most: u32) -> Probes {
        let [x, y] = self.lengths(footing);
        let (longer, shorter) = (x.max(y), x.min(y));
        let ratio = libm::ceil(longer / shorter);
        // Nothing divided by nothing is one probe; something by nothing as many as there may be.
        let count = if ratio.is_nan() { 1.0 } else { ratio };
        let count = count.clamp(1.0, f64::from(most.max(1)));
        Probes {
            level: level_of(longer / count),
            count: count as u32,
            way: self.0[usize::from(y > x)],
        }
    }
}

impl Default for Probes {
    fn default() -> Probes {
        Probes::one(0)
    }
}

impl Probes {
    /// A sample at the coordinates themselves.
    pub(crate) fn one(level: i64) -> Probes {
        Probes {
            level,
            count: 1,
            way: [0.0; 3],
        }
    }

    /// The gradient descriptor that asks for them.
    // FACT: what a gradient descriptor holds beside the level in its low half is not published (hardware/valhall-isa.md 11.10): no
    // driver reads it. Here the number of probes but one lies above the level, the way in two halves in the second word; a third
    // coordinate has no way. Settled by reading one back on any board.
    pub(crate) fn descriptor(&self) -> [u32; 2] {
        let half = |value: f64| narrow(value, 0, Float::Binary16, Round::NearestEven);
        let level = self.level.clamp(i16::MIN.into(), i16::MAX.into());
        [
            level as u32 & 0xffff | (self.count - 1) << 16,
            half(self.way[0]) | half(self.way[1]) << 16,
        ]
    }

    /// What a gradient descriptor asks for.
    pub(crate) fn of_descriptor([first, second]: [u32; 2]) -> Probes {
        Probes {
            level: i64::from(first as i16),
            count: (first >> 16 & 0x1f) + 1,
            way: [wide16(second as u16), wide16((second >> 16) as u16), 0.0],
        }
    }

    /// The coordinates of each probe.
    pub(crate) fn places(self, at: &Coordinates) -> impl Iterator<Item = Coordinates> {
        (0..self.count).map(move |probe| {
            let part = (f64::from(probe) + 0.5) / f64::from(self.count) - 0.5;
            let moved = |axis: usize| (f64::from(at.at[axis]) + part * self.way[axis]) as f32;
            Coordinates {
                at: [moved(0), moved(1), moved(2)],
                ..*at
            }
        })
    }
}

/// The logarithm of a length in texels. Nothing moves: as fine as there is.
fn level_of(length: f64) -> i64 {
    let level = libm::log2(length) * ONE;
    let level = if level.is_nan() { 0.0 } else { level };
    libm::rint(level.clamp(-32768.0, 32767.0)) as i64
}

/// A place on one face of a cube as a place on the plane of another one.
fn on_face(place: &Coordinates, face: u32) -> [f64; 3] {
    let face_of = |face: u32| FACES[face as usize % 6];
    let [(major, sign), column, row] = face_of(place.face);
    let [s, t, _] = place.at.map(|at| 2.0 * f64::from(at) - 1.0);
    let mut direction = [0.0; 3];
    direction[major] = sign as f64;
    direction[column.0] = column.1 as f64 * s;
    direction[row.0] = row.1 as f64 * t;
    let [(major, sign), column, row] = face_of(face);
    // Of a direction that points away from the face only how long it is can be used.
    let length = libm::fabs(direction[major] * sign as f64).max(f64::MIN_POSITIVE);
    let along = |(axis, sign): (usize, i64)| (sign as f64 * direction[axis] / length + 1.0) / 2.0;
    [along(column), along(row), 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const FOOTING: Footing = Footing {
        size: [16, 16, 1],
        levels: 5,
        layers: 6,
        lod: [0, 1024],
        axes: 2,
        cube: false,
        integer: false,
    };

    fn at(x: f32, y: f32, face: u32) -> Coordinates {
        Coordinates {
            at: [x, y, 0.0],
            face,
            ..Coordinates::default()
        }
    }

    #[test]
    fn the_longer_step_asks_for_the_level() {
        let (first, right, lower) = (at(0.5, 0.5, 0), at(0.75, 0.5, 0), at(0.5, 0.625, 0));
        let steps = Steps::of_quad([&first, &right, &lower], false);
        // Four texels along x, two along y.
        assert_eq!(steps.probes(&FOOTING, 1).level, 512);
        let still = Steps::of_quad([&first; 3], false);
        assert_eq!(still.probes(&FOOTING, 1).level, -32768);
    }

    #[test]
    fn probes_share_the_longer_step() {
        // Eight texels along x, and one along y.
        let steps = Steps::of_derivatives(&[[0.5, 0.0], [0.0, 0.0625], [0.0, 0.0]]);
        let all = steps.probes(&FOOTING, 16);
        assert_eq!((all.count, all.level, all.way), (8, 0, [0.5, 0.0, 0.0]));
        let four = steps.probes(&FOOTING, 4);
        assert_eq!((four.count, four.level), (4, 256));
        let places: Vec<f32> = four.places(&at(0.5, 0.25, 0)).map(|it| it.at[0]).collect();
        assert_eq!(places, [0.3125, 0.4375, 0.5625, 0.6875]);
        // Nothing along y: as many as there may be. Nothing at all: one.
        let line = Steps::of_derivatives(&[[0.5, 0.0], [0.0, 0.0], [0.0, 0.0]]);
        assert_eq!(line.probes(&FOOTING, 16).count, 16);
        assert_eq!(Steps::default().probes(&FOOTING, 16).count, 1);
    }

    #[test]
    fn a_gradient_descriptor_keeps_probes() {
        let probes = Probes {
            level: -300,
            count: 16,
            way: [0.25, -0.5, 0.0],
        };
        assert_eq!(Probes::of_descriptor(probes.descriptor()), probes);
        assert_eq!(Probes::one(7).descriptor(), [7, 0]);
    }

    #[test]
    fn a_neighbour_on_another_face_is_seen_from_the_own_one() {
        // On +X near its right edge, where -Z begins: s grows towards -Z.
        let edge = 1.0 - 1.0 / 64.0;
        let (first, right) = (at(edge, 0.5, 0), at(1.0 / 64.0, 0.5, 5));
        let steps = Steps::of_quad([&first, &right, &first], true);
        let level = steps.probes(&FOOTING, 1).level;
        // About half of a texel, not all of the face.
        assert!((-280..-220).contains(&level), "{level}");
    }
}
