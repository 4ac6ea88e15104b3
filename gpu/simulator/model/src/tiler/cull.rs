//! Culling: what of an assembled primitive reaches the bins.
//!
//! Facts: hardware/graphics-model.md 1.3, 1.4; graphics-raster.md 4.2.

use super::clip::{Clipped, ClippedCorner, clip};
use crate::raster::{
    Corner, DepthBounds, Facing, LineRules, LineWidth, PixelBox, PointSize, Primitive,
    TriangleRules,
};
use alloc::vec::Vec;
use eitri_descriptors::framebuffer::TieBreakRule;

/// State that culls the primitives of a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CullRules {
    /// Scissor, framebuffer and viewport box together.
    pub(crate) area: PixelBox,
    /// DCD flags 0, bits 16 to 18. The cull bits apply to triangles only.
    pub(crate) front_ccw: bool,
    pub(crate) cull_front: bool,
    pub(crate) cull_back: bool,
    /// Primitives wholly beyond a side that culls are dropped; what crosses it is decided by sample.
    pub(crate) depth: DepthBounds,
    /// Conservative triangles touch more pixels.
    pub(crate) conservative: bool,
    pub(crate) line_width: LineWidth,
    pub(crate) bresenham: bool,
}

/// A primitive, or a piece of a clipped one, that touches a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Survivor {
    /// Positions; those that the topology lacks are zero.
    pub(crate) corners: [Corner; 3],
    /// For a piece: the parts of the original vertices in each corner.
    pub(crate) parts: Option<[[f64; 3]; 3]>,
    /// Pixels that the primitive may touch.
    pub(crate) bounds: PixelBox,
}

/// What becomes of a primitive.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    /// It is seen, whole or in pieces, which show one side.
    Visible(Facing, Vec<Survivor>),
    /// It lies outside of the area, has no extent, or shows a side that is culled.
    Culled,
    /// It lies beyond a depth that culls, or where nothing is seen: behind the eye, or infinitely far.
    Clipped,
}

impl Fate {
    fn of(pieces: impl Iterator<Item = Result<(Facing, Survivor), Fate>>) -> Fate {
        let (mut left, mut side, mut dropped) = (Vec::new(), Facing::Front, None);
        for piece in pieces {
            match piece {
                Ok((facing, survivor)) => {
                    side = facing;
                    left.push(survivor);
                }
                Err(fate) => dropped = dropped.or(Some(fate)),
            }
        }
        match left.is_empty() {
            true => dropped.unwrap_or(Fate::Clipped),
            false => Fate::Visible(side, left),
        }
    }
}

/// Keeps what is visible of a primitive with 1 (point), 2 (line) or 3 corners.
///
/// `size` is the size of a point. A clipped triangle becomes the fan of its polygon from the first corner.
pub(crate) fn cull(corners: &[Corner], size: PointSize, rules: &CullRules) -> Fate {
    let cut = match clip(corners) {
        Clipped::Dropped => return Fate::Clipped,
        Clipped::Whole => {
            let mut all = [Corner::default(); 3];
            for (to, from) in all.iter_mut().zip(corners) {
                *to = *from;
            }
            let survivor = survive(all, corners.len(), None, size, rules);
            return Fate::of([survivor].into_iter());
        }
        Clipped::Cut(cut) => cut,
    };
    let piece = |pieces: &[ClippedCorner]| {
        let mut all = [Corner::default(); 3];
        let mut parts = [[0.0; 3]; 3];
        for (index, corner) in pieces.iter().enumerate().take(3) {
            all[index] = corner.position;
            parts[index] = corner.parts;
        }
        survive(all, pieces.len(), Some(parts), size, rules)
    };
    if corners.len() == 2 {
        return Fate::of([piece(&cut)].into_iter());
    }
    let [first, rest @ ..] = cut.as_slice() else {
        return Fate::Clipped;
    };
    let fan = rest.windows(2).map(|pair| [*first, pair[0], pair[1]]);
    Fate::of(fan.map(|triangle| piece(&triangle)))
}

fn survive(
    corners: [Corner; 3],
    count: usize,
    parts: Option<[[f64; 3]; 3]>,
    size: PointSize,
    rules: &CullRules,
) -> Result<(Facing, Survivor), Fate> {
    let depth = &rules.depth;
    let used = &corners[..count.min(3)];
    let all = |beyond: &dyn Fn(f32) -> bool| used.iter().all(|corner| beyond(corner.z));
    if (depth.cull_low && all(&|z| z < depth.low)) || (depth.cull_high && all(&|z| z > depth.high))
    {
        return Err(Fate::Clipped);
    }
    // The framebuffer's tie-break rule is not known here; it decides samples, not the pixels that may be touched.
    let tie = TieBreakRule::Minus180In0Out;
    let [a, b, _] = corners;
    let primitive = match count {
        1 => Primitive::point(a, size),
        2 => {
            let (width, bresenham) = (rules.line_width, rules.bresenham);
            Primitive::line(
                [a, b],
                LineRules {
                    tie,
                    width,
                    bresenham,
                },
            )
        }
        _ => {
            let (front_ccw, conservative) = (rules.front_ccw, rules.conservative);
            let triangle = TriangleRules {
                tie,
                front_ccw,
                conservative,
            };
            Primitive::triangle(corners, triangle)
        }
    };
    let primitive = primitive.ok_or(Fate::Culled)?;
    let culled = match primitive.facing {
        Facing::Front => rules.cull_front,
        Facing::Back => rules.cull_back,
    };
    if count >= 3 && culled {
        return Err(Fate::Culled);
    }
    let bounds = primitive.touched();
    let bounds = bounds.and_then(|bounds| bounds.intersection(rules.area));
    let survivor = Survivor {
        corners,
        parts,
        bounds: bounds.ok_or(Fate::Culled)?,
    };
    Ok((primitive.facing, survivor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::raster::{Evaluation, Sampling, cover};
    use eitri_descriptors::Arch;
    use eitri_descriptors::framebuffer::SamplePattern;

    const AREA: PixelBox = PixelBox {
        min_x: 0,
        min_y: 0,
        max_x: 63,
        max_y: 63,
    };

    fn rules() -> CullRules {
        CullRules {
            area: AREA,
            front_ccw: true,
            cull_front: false,
            cull_back: false,
            depth: DepthBounds {
                low: 0.0,
                high: 1.0,
                cull_low: true,
                cull_high: true,
            },
            conservative: false,
            line_width: LineWidth::new(1.0),
            bresenham: false,
        }
    }

    fn corner(x: f32, y: f32, z: f32) -> Corner {
        Corner {
            x,
            y,
            z,
            inv_w: 1.0,
        }
    }

    /// Clockwise on a screen whose y grows downwards.
    fn triangle() -> [Corner; 3] {
        [
            corner(4.0, 4.0, 0.5),
            corner(20.0, 4.0, 0.5),
            corner(4.0, 20.0, 0.5),
        ]
    }

    fn survivors(corners: &[Corner], size: f32, rules: &CullRules) -> Vec<Survivor> {
        match cull(corners, PointSize::new(size, Arch::V10), rules) {
            Fate::Visible(_, survivors) => survivors,
            Fate::Culled | Fate::Clipped => Vec::new(),
        }
    }

    fn left(corners: &[Corner], rules: &CullRules) -> usize {
        survivors(corners, 1.0, rules).len()
    }

    #[test]
    fn a_primitive_is_dropped_for_its_reason() {
        let size = PointSize::new(1.0, Arch::V10);
        let fate = |change: &dyn Fn(&mut Corner), cull_back| {
            let mut corners = triangle();
            corners.iter_mut().for_each(change);
            let rules = CullRules {
                cull_back,
                ..rules()
            };
            match cull(&corners, size, &rules) {
                Fate::Visible(side, _) => std::format!("{side:?}"),
                other => std::format!("{other:?}"),
            }
        };
        assert_eq!(fate(&|_| {}, false), "Back", "clockwise");
        assert_eq!(fate(&|_| {}, true), "Culled", "its side");
        assert_eq!(fate(&|it| it.x += 1000.0, false), "Culled", "outside");
        assert_eq!(fate(&|it| it.z = 2.0, false), "Clipped", "too far");
        assert_eq!(fate(&|it| it.z = -0.5, false), "Clipped", "too near");
        assert_eq!(fate(&|it| it.z = 1.0, false), "Back", "as far as may be");
        assert_eq!(fate(&|it| it.z = 0.0, false), "Back", "as near as may be");
        assert_eq!(fate(&|it| it.inv_w = -1.0, false), "Clipped", "behind");
    }

    #[test]
    fn culled_sides_are_those_that_the_winding_says() {
        for (front_ccw, front, back, clockwise_left) in [
            (true, false, false, 1),
            (true, true, false, 1),
            (true, false, true, 0),
            (false, true, false, 0),
            (false, false, true, 1),
            (true, true, true, 0),
        ] {
            let rules = CullRules {
                front_ccw,
                cull_front: front,
                cull_back: back,
                ..rules()
            };
            let about = std::format!("{rules:?}");
            assert_eq!(
                left(&triangle(), &rules),
                clockwise_left,
                "clockwise, {about}"
            );
            let [a, b, c] = triangle();
            let other = if front && back {
                0
            } else if front || back {
                1 - clockwise_left
            } else {
                1
            };
            assert_eq!(
                left(&[a, c, b], &rules),
                other,
                "counter-clockwise, {about}"
            );
            assert_eq!(left(&[a, b], &rules), 1, "lines have no sides, {about}");
            assert_eq!(left(&[a], &rules), 1, "points have no sides, {about}");
        }
    }

    #[test]
    fn primitives_without_extent_are_dropped() {
        let [a, b, _] = triangle();
        assert_eq!(
            left(&[a, b, corner(12.0, 4.0, 0.5)], &rules()),
            0,
            "a triangle without area"
        );
        assert_eq!(left(&[a, a], &rules()), 0, "a line without length");
        let thin = CullRules {
            line_width: LineWidth::new(0.0),
            ..rules()
        };
        assert_eq!(left(&[a, b], &thin), 0, "a line without width");
    }

    #[test]
    fn primitives_beyond_a_depth_that_culls_are_dropped() {
        let at = |depths: [f32; 3]| {
            let mut corners = triangle();
            for (corner, z) in corners.iter_mut().zip(depths) {
                corner.z = z;
            }
            corners
        };
        let open = CullRules {
            depth: DepthBounds {
                cull_low: false,
                cull_high: false,
                ..rules().depth
            },
            ..rules()
        };
        for (depths, expected) in [
            ([-0.5, -1.0, -0.1], 0),
            ([1.5, 2.0, 1.1], 0),
            ([-1.0, 2.0, -1.0], 1),
            ([0.0, 0.0, 0.0], 1),
        ] {
            assert_eq!(left(&at(depths), &rules()), expected, "{depths:?}");
            assert_eq!(
                left(&at(depths), &open),
                1,
                "{depths:?} with no side culling"
            );
        }
        assert_eq!(
            left(&[corner(4.0, 4.0, 1.5)], &rules()),
            0,
            "a point beyond"
        );
    }

    #[test]
    fn bounds_are_the_touched_pixels_inside_the_area() {
        let bounds = |corners: &[Corner], size: f32| {
            let left = survivors(corners, size, &rules());
            left.first().map(|it| {
                (
                    it.bounds.min_x,
                    it.bounds.min_y,
                    it.bounds.max_x,
                    it.bounds.max_y,
                )
            })
        };
        assert_eq!(bounds(&triangle(), 1.0), Some((4, 4, 20, 20)));
        assert_eq!(bounds(&[corner(60.5, 2.5, 0.5)], 9.0), Some((56, 0, 63, 7)));
        assert_eq!(bounds(&[corner(-20.0, 2.5, 0.5)], 9.0), None);
        // The centre lies outside, the square does not.
        assert_eq!(bounds(&[corner(-2.0, 2.5, 0.5)], 9.0), Some((0, 0, 2, 7)));
        let far = [
            corner(1000.0, 1.0, 0.5),
            corner(1100.0, 1.0, 0.5),
            corner(1000.0, 9.0, 0.5),
        ];
        assert_eq!(bounds(&far, 1.0), None);
    }

    #[test]
    fn a_clipped_triangle_becomes_the_fan_of_its_polygon_and_keeps_its_side() {
        let mut corners = triangle();
        corners[2].inv_w = -0.25;
        let pieces = survivors(&corners, 1.0, &rules());
        assert_eq!(pieces.len(), 2, "{pieces:?}");
        assert!(pieces.iter().all(|piece| piece.parts.is_some()));
        let front = CullRules {
            cull_front: true,
            ..rules()
        };
        let back = CullRules {
            cull_back: true,
            ..rules()
        };
        let (front, back) = (left(&corners, &front), left(&corners, &back));
        assert_eq!(front + back, 2, "both pieces show the same side");
        assert!(front == 0 || back == 0, "both pieces show the same side");
    }

    /// Weights of three homogeneous points at a point of the screen, in space: the third member of the answer's sum is w.
    fn weights_in_space(corners: &[Corner; 3], x: f64, y: f64) -> [f64; 3] {
        let column = |it: &Corner| {
            let w = 1.0 / f64::from(it.inv_w);
            [f64::from(it.x) * w, f64::from(it.y) * w, w]
        };
        let [a, b, c] = corners.each_ref().map(column);
        let cross = |p: [f64; 3], q: [f64; 3]| {
            [
                p[1] * q[2] - p[2] * q[1],
                p[2] * q[0] - p[0] * q[2],
                p[0] * q[1] - p[1] * q[0],
            ]
        };
        let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
        let volume = dot(a, cross(b, c));
        let ray = [x, y, 1.0];
        [cross(b, c), cross(c, a), cross(a, b)].map(|normal| dot(normal, ray) / volume)
    }

    /// Pieces of triangles that reach behind the eye cover what the whole one does, with its values.
    #[test]
    fn pieces_cover_and_interpolate_as_the_whole_triangle_does_in_space() {
        let mut random = Random::new(12);
        let (mut inside, mut cut) = (0, 0);
        for round in 0..2000 {
            let corners: [Corner; 3] = core::array::from_fn(|_| {
                let mut part = |range: u64| random.below(range) as f32 / 16.0;
                let (x, y) = (part(2048) - 32.0, part(2048) - 32.0);
                let w = 0.25 + part(64);
                let behind = part(16) < 0.4;
                Corner {
                    x,
                    y,
                    z: 0.5,
                    inv_w: if behind { -1.0 / w } else { 1.0 / w },
                }
            });
            let pieces = survivors(&corners, 1.0, &rules());
            cut += usize::from(pieces.iter().any(|piece| piece.parts.is_some()));
            let values = [1.0, -2.0, 5.0];
            for (x, y) in (0..64u16).map(|number| (number % 8 * 8, number / 8 * 8)) {
                let at = |dx: f64, dy: f64| {
                    let weights = weights_in_space(
                        &corners,
                        f64::from(x) + 0.5 + dx,
                        f64::from(y) + 0.5 + dy,
                    );
                    let total: f64 = weights.iter().sum();
                    let sum: f64 = weights
                        .iter()
                        .zip(values)
                        .map(|(weight, value)| weight * value)
                        .sum();
                    (weights, sum / total)
                };
                // All around the centre, in front of the eye.
                let near =
                    [(-0.1, -0.1), (0.1, -0.1), (-0.1, 0.1), (0.1, 0.1)].map(|(dx, dy)| at(dx, dy));
                let (weights, value) = at(0.0, 0.0);
                let all = |sign: f64| {
                    near.iter()
                        .all(|(weights, _)| weights.iter().all(|it| it * sign > 0.0))
                };
                if !all(1.0) || weights.iter().sum::<f64>() > 1000.0 {
                    continue;
                }
                inside += 1;
                let spread = near
                    .iter()
                    .map(|(_, other)| (other - value).abs())
                    .fold(1e-4, f64::max);
                let mut found = 0;
                for piece in &pieces {
                    let triangle = TriangleRules {
                        tie: TieBreakRule::Minus180In0Out,
                        front_ccw: true,
                        conservative: false,
                    };
                    let set_up = Primitive::triangle(piece.corners, triangle).expect("it survived");
                    let set_up = set_up.clipped_from(piece.parts.unwrap_or(WHOLE));
                    let sampling = Sampling {
                        pattern: SamplePattern::SingleSampled,
                        each_sample: true,
                        mask: 1,
                    };
                    let within = PixelBox {
                        min_x: x,
                        min_y: y,
                        max_x: x,
                        max_y: y,
                    };
                    let mut quads = Vec::new();
                    cover(&set_up, &sampling, within, &mut quads);
                    if quads.is_empty() {
                        continue;
                    }
                    found += 1;
                    let at = Evaluation::Centre.point(&set_up, &sampling, (x, y), 1);
                    let got = set_up.weights(at).perspective(&values);
                    assert!(
                        (got - value).abs() <= spread,
                        "round {round}: {got} at {x}, {y}, wanted {value}: {corners:?}"
                    );
                }
                assert_eq!(
                    found, 1,
                    "round {round}: pieces that cover {x}, {y} of {corners:?}"
                );
            }
        }
        assert!(
            inside > 2000 && cut > 500,
            "{inside} points inside, {cut} triangles cut"
        );
    }

    /// Parts of the vertices in the corners of a triangle that is not cut.
    const WHOLE: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
}
