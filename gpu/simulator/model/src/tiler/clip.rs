//! Clipping: primitives that reach behind the eye, or further than fixed point does, become polygons that do not.
//!
//! A vertex as the shader stored it is (X, Y, Z, R) with R = 1/w. The homogeneous point is (X w, Y w, Z w, w). New vertices
//! are linear in it, and so are the values that belong to them: each corner of a clipped polygon knows its parts of the
//! original vertices. Computed in f64; the corners are rounded to f32 once, as stored positions are.
//!
//! Facts: hardware/graphics-model.md 1.2 (last item), 1.3; graphics-raster.md 4.18.

use crate::raster::{Corner, SNAP_LIMIT};
use alloc::vec::Vec;

/// The least w of what is kept: 1/32768, since drivers clamp 1/w there (free choice).
const LEAST_W: f64 = 1.0 / 32768.0;
/// Pixels from the origin that primitives beyond [`SNAP_LIMIT`] are clipped to (free choice; the hardware's is not known).
const GUARD: f64 = 262_144.0;

/// Whether a corner of what was cut lies where the guard band ends.
pub(crate) fn lies_on_guard_band(corners: &[Corner]) -> bool {
    let guard = GUARD as f32;
    let on = |corner: &Corner| corner.x.abs() >= guard || corner.y.abs() >= guard;
    corners.iter().any(on)
}

/// A corner of a clipped primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClippedCorner {
    pub(crate) position: Corner,
    /// Parts of the original vertices in this corner; their sum is 1.
    pub(crate) parts: [f64; 3],
}

/// Result of clipping a primitive.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clipped {
    /// Nothing is left.
    Dropped,
    /// Nothing was cut off.
    Whole,
    /// A line, or a convex polygon with the primitive's orientation.
    Cut(Vec<ClippedCorner>),
}

/// A point in homogeneous space, with its parts of the original vertices.
#[derive(Clone, Copy, Debug)]
struct Homogeneous {
    x: f64,
    y: f64,
    z: f64,
    w: f64,
    parts: [f64; 3],
}

/// Clips a point, a line or a triangle: 1, 2 or 3 corners.
///
/// Dropped are primitives behind the eye, and those with a corner that is no number or infinite (free choice). A corner with
/// R = 0 is infinitely far away; it drops its primitive too (free choice; Vulkan leaves it undefined).
pub(crate) fn clip(corners: &[Corner]) -> Clipped {
    let finite =
        |corner: &Corner| corner.x.is_finite() && corner.y.is_finite() && corner.inv_w.is_finite();
    if !corners.iter().all(finite) || corners.iter().any(|corner| corner.inv_w == 0.0) {
        return Clipped::Dropped;
    }
    let behind = corners.iter().filter(|corner| corner.inv_w < 0.0).count();
    if behind == corners.len() {
        return Clipped::Dropped;
    }
    let far = |corner: &Corner| corner.x.abs() >= SNAP_LIMIT || corner.y.abs() >= SNAP_LIMIT;
    if behind == 0 && !corners.iter().any(far) {
        return Clipped::Whole;
    }
    if corners.len() == 1 {
        // So far outside that no size of a point reaches a framebuffer.
        return Clipped::Dropped;
    }
    let mut polygon: Vec<Homogeneous> = homogeneous(corners);
    if behind > 0 {
        polygon = keep(&polygon, |point| point.w - LEAST_W);
    }
    let projected: Vec<Corner> = polygon.iter().map(Homogeneous::project).collect();
    if projected.iter().any(far) {
        polygon = keep(&polygon, |point| GUARD * point.w - point.x);
        polygon = keep(&polygon, |point| GUARD * point.w + point.x);
        polygon = keep(&polygon, |point| GUARD * point.w - point.y);
        polygon = keep(&polygon, |point| GUARD * point.w + point.y);
    }
    if polygon.len() < corners.len() {
        return Clipped::Dropped;
    }
    let corner = |point: &Homogeneous| ClippedCorner {
        position: point.project(),
        parts: point.parts,
    };
    Clipped::Cut(polygon.iter().map(corner).collect())
}

fn homogeneous(corners: &[Corner]) -> Vec<Homogeneous> {
    let point = |(index, corner): (usize, &Corner)| {
        let w = 1.0 / f64::from(corner.inv_w);
        let mut parts = [0.0; 3];
        if let Some(part) = parts.get_mut(index) {
            *part = 1.0;
        }
        Homogeneous {
            x: f64::from(corner.x) * w,
            y: f64::from(corner.y) * w,
            z: f64::from(corner.z) * w,
            w,
            parts,
        }
    };
    corners.iter().enumerate().map(point).collect()
}

impl Homogeneous {
    fn project(&self) -> Corner {
        Corner {
            x: (self.x / self.w) as f32,
            y: (self.y / self.w) as f32,
            z: (self.z / self.w) as f32,
            inv_w: (1.0 / self.w) as f32,
        }
    }

    /// The point a part of the way to another one.
    fn towards(&self, other: &Homogeneous, part: f64) -> Homogeneous {
        let mix = |a: f64, b: f64| a + part * (b - a);
        Homogeneous {
            x: mix(self.x, other.x),
            y: mix(self.y, other.y),
            z: mix(self.z, other.z),
            w: mix(self.w, other.w),
            parts: core::array::from_fn(|vertex| mix(self.parts[vertex], other.parts[vertex])),
        }
    }
}

/// The part of a polygon (or of a line: two points) where a linear function is at least 0.
fn keep(points: &[Homogeneous], side: impl Fn(&Homogeneous) -> f64) -> Vec<Homogeneous> {
    let mut kept = Vec::new();
    // A line has one segment, a polygon one from each corner.
    let segments = if points.len() == 2 { 1 } else { points.len() };
    for (index, from) in points.iter().enumerate() {
        let at_from = side(from);
        if at_from >= 0.0 {
            kept.push(*from);
        }
        if index >= segments {
            continue;
        }
        let to = &points[(index + 1) % points.len()];
        let at_to = side(to);
        if (at_from < 0.0) != (at_to < 0.0) {
            kept.push(from.towards(to, at_from / (at_from - at_to)));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f32, y: f32, z: f32, w: f32) -> Corner {
        Corner {
            x,
            y,
            z,
            inv_w: 1.0 / w,
        }
    }

    #[test]
    fn primitives_in_front_are_whole_and_those_behind_are_dropped() {
        let front = [
            corner(1.0, 2.0, 0.5, 1.0),
            corner(9.0, 2.0, 0.5, 4.0),
            corner(1.0, 8.0, 0.5, 2.0),
        ];
        assert_eq!(clip(&front), Clipped::Whole);
        let behind = front.map(|it| Corner {
            inv_w: -it.inv_w,
            ..it
        });
        assert_eq!(clip(&behind), Clipped::Dropped);
        assert_eq!(clip(&behind[..1]), Clipped::Dropped);
    }

    #[test]
    fn corners_without_a_place_drop_their_primitive() {
        let good = [
            corner(1.0, 2.0, 0.5, 1.0),
            corner(9.0, 2.0, 0.5, 4.0),
            corner(1.0, 8.0, 0.5, 2.0),
        ];
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for member in 0..3 {
                let mut corners = good;
                match member {
                    0 => corners[1].x = bad,
                    1 => corners[2].y = bad,
                    _ => corners[0].inv_w = bad,
                }
                assert_eq!(clip(&corners), Clipped::Dropped, "{corners:?}");
            }
        }
        let mut corners = good;
        corners[1].inv_w = 0.0;
        assert_eq!(clip(&corners), Clipped::Dropped);
        // A depth that is no number is clamped later.
        corners = good;
        corners[1].z = f32::NAN;
        assert_eq!(clip(&corners), Clipped::Whole);
    }

    /// Values of the original vertices that make each member of a new corner, in homogeneous space.
    fn parts_agree(corners: &[Corner], polygon: &[ClippedCorner]) {
        for new in polygon {
            let mut sums = [0.0; 4];
            for (corner, part) in corners.iter().zip(new.parts) {
                let w = 1.0 / f64::from(corner.inv_w);
                for (sum, value) in sums.iter_mut().zip([corner.x, corner.y, corner.z, 1.0]) {
                    *sum += part * f64::from(value) * w;
                }
            }
            let [x, y, z, w] = sums;
            let got = [
                new.position.x,
                new.position.y,
                new.position.z,
                new.position.inv_w,
            ];
            for (got, expected) in got.into_iter().zip([x / w, y / w, z / w, 1.0 / w]) {
                let error = (f64::from(got) - expected).abs();
                assert!(
                    error <= expected.abs() * 1e-6 + 1e-6,
                    "{new:?}: {got}, wanted {expected}"
                );
            }
            let total: f64 = new.parts.iter().sum();
            assert!(
                (total - 1.0).abs() < 1e-12,
                "parts of {new:?} sum to {total}"
            );
        }
    }

    #[test]
    fn a_triangle_that_reaches_behind_the_eye_is_cut_at_the_least_w() {
        // Homogeneous points (0, 0, 0, 1), (8, 0, 0, 1), (0, 8, 0, -1): two edges cross w = 1/32768.
        let corners = [
            corner(0.0, 0.0, 0.0, 1.0),
            corner(8.0, 0.0, 0.0, 1.0),
            corner(0.0, -8.0, 0.0, -1.0),
        ];
        let Clipped::Cut(polygon) = clip(&corners) else {
            panic!("two corners are in front")
        };
        assert_eq!(polygon.len(), 4);
        parts_agree(&corners, &polygon);
        assert_eq!(polygon[2].position.inv_w, 32768.0, "{polygon:?}");
        assert_eq!(polygon[3].position.inv_w, 32768.0, "{polygon:?}");
        // One corner in front leaves a triangle.
        let corners = [
            corners[2],
            corners[0],
            Corner {
                x: -8.0,
                ..corners[2]
            },
        ];
        let Clipped::Cut(polygon) = clip(&corners) else {
            panic!("one corner is in front")
        };
        assert_eq!(polygon.len(), 3);
        parts_agree(&corners, &polygon);
    }

    #[test]
    fn lines_are_cut_as_segments() {
        let ends = [corner(4.0, 4.0, 0.25, 1.0), corner(4.0, 8.0, 0.75, -2.0)];
        let Clipped::Cut(line) = clip(&ends) else {
            panic!("one end is in front")
        };
        assert_eq!(line.len(), 2);
        assert_eq!(line[0].position, ends[0]);
        assert_eq!(line[1].position.inv_w, 32768.0);
        parts_agree(&ends, &line);
        let turned = [ends[1], ends[0]];
        let Clipped::Cut(line) = clip(&turned) else {
            panic!("one end is in front")
        };
        assert_eq!(line[1].position, ends[0]);
        parts_agree(&turned, &line);
    }

    #[test]
    fn primitives_far_outside_are_cut_to_the_guard_band() {
        let far = 1.0e7;
        let corners = [
            corner(-far, -far, 0.5, 1.0),
            corner(far, -far, 0.5, 1.0),
            corner(0.0, far, 0.5, 1.0),
        ];
        let Clipped::Cut(polygon) = clip(&corners) else {
            panic!("the origin lies inside")
        };
        let limit = GUARD as f32;
        for it in &polygon {
            assert!(
                it.position.x.abs() <= limit && it.position.y.abs() <= limit,
                "{it:?}"
            );
        }
        parts_agree(&corners, &polygon);
        // Beside all of the guard band.
        let beside = corners.map(|it| Corner {
            x: it.x + 4.0e7,
            ..it
        });
        assert_eq!(clip(&beside), Clipped::Dropped);
    }
}
