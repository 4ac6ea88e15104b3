//! Tie-break rule: which edges own the samples that lie exactly on them.
//!
//! The code names a half-open half circle of edge directions. An edge that two triangles share has opposite directions in
//! them, and each half circle holds exactly one of the two: a sample on the edge belongs to exactly one triangle.
//!
//! Facts: hardware/graphics-raster.md 4.4, graphics-model.md 2.1.

use eitri_descriptors::framebuffer::TieBreakRule;

/// A half circle of directions (dx, dy), y down: the open half plane that `inside` points into, and one of the two
/// directions on its border.
struct HalfCircle {
    inside: (i64, i64),
    border: (i64, i64),
}

/// Directions of inclusive edges, by code.
// FACT: the half circles are inferred from the names of the codes and from what drivers want of codes 2 and 3
// (hardware/graphics-raster.md 4.4). Settled by the suite's `probe.tie-rule` for the code of the driver, and by
// a draw for each other code, on any board.
#[rustfmt::skip]
const INCLUSIVE: [HalfCircle; 8] = [
    HalfCircle { inside: ( 0,  1), border: ( 1,  0) }, // [   0, 180)
    HalfCircle { inside: ( 0,  1), border: (-1,  0) }, // (   0, 180]
    HalfCircle { inside: ( 0, -1), border: (-1,  0) }, // [-180,   0)
    HalfCircle { inside: ( 0, -1), border: ( 1,  0) }, // (-180,   0]
    HalfCircle { inside: (-1,  0), border: ( 0,  1) }, // [  90, 270)
    HalfCircle { inside: (-1,  0), border: ( 0, -1) }, // (  90, 270]
    HalfCircle { inside: ( 1,  0), border: ( 0, -1) }, // [ -90,  90)
    HalfCircle { inside: ( 1,  0), border: ( 0,  1) }, // ( -90,  90]
];

/// Tells whether samples on an edge with this direction are covered. The shape is traversed so that its area is positive.
pub(super) fn inclusive(rule: TieBreakRule, (dx, dy): (i64, i64)) -> bool {
    let half = &INCLUSIVE[rule.number() as usize & 7];
    let along = |(x, y): (i64, i64)| dx * x + dy * y;
    let depth = along(half.inside);
    depth > 0 || (depth == 0 && along(half.border) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First angle of each code's half circle in degrees, from the facts.
    const START: [i64; 8] = [0, 0, -180, -180, 90, 90, -90, -90];

    #[test]
    fn every_code_is_the_half_circle_of_its_angles() {
        let directions = [
            (1, 0, 0),
            (3, 3, 45),
            (0, 2, 90),
            (-1, 1, 135),
            (-5, 0, 180),
            (-1, -1, 225),
            (0, -7, 270),
            (2, -2, 315),
        ];
        for code in 0..8 {
            let rule = TieBreakRule::from_number(code).expect("all eight codes are values");
            for (dx, dy, degrees) in directions {
                // Degrees past the first angle: 0 is in for even codes, 180 for odd ones.
                let past = (degrees - START[code as usize]).rem_euclid(360);
                let expected = if code % 2 == 0 {
                    past < 180
                } else {
                    past > 0 && past <= 180
                };
                assert_eq!(
                    inclusive(rule, (dx, dy)),
                    expected,
                    "code {code}, {degrees} degrees"
                );
            }
        }
    }
}
