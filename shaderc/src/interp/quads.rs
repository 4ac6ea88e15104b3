//! Levels by derivatives: what a lane's coordinates differ by from those of the lanes beside it in its quad.
//!
//! Needs: coordinates of all lanes that run the operation together.  Guarantees: a lane beside that doesn't run it counts as
//! one with the same coordinates.
//! Facts: none of the hardware; the formulas are Vulkan's (level of detail operation).
use super::lanes::Mask;
use crate::ir::Dim;
use eitri_texels::Image;

/// Coordinates as an operation has them.
pub(super) type Coordinates = [f64; 3];

/// The derivatives of a lane's coordinates along x and along y.
pub(super) fn derivatives(
    lane: usize,
    mask: Mask,
    of: impl Fn(usize) -> Coordinates,
) -> [Coordinates; 2] {
    let own = of(lane);
    [1, 2].map(|beside| {
        let other = lane ^ beside;
        let other = match mask.has(other as u64) {
            true => of(other),
            false => own,
        };
        std::array::from_fn(|axis| (other[axis] - own[axis]).abs())
    })
}

/// The level of an image that derivatives of coordinates ask for.
pub(super) fn level(image: &Image, unnormalized: bool, dim: Dim, along: [Coordinates; 2]) -> f64 {
    let sizes = image.sizes(0);
    let longest = along.map(|derivatives| {
        let axes = dim.sizes();
        let squares = (0..axes).map(|axis| {
            let scale = match unnormalized {
                true => 1.0,
                false => f64::from(sizes[axis]),
            };
            (derivatives[axis] * scale).powi(2)
        });
        squares.sum::<f64>().sqrt()
    });
    longest[0].max(longest[1]).log2()
}

/// A direction as coordinates on the face that `own` points to, 0 to 1 on the face itself.
pub(super) fn on_face(own: Coordinates, direction: Coordinates) -> Coordinates {
    let sizes = own.map(f64::abs);
    let major = match sizes {
        [x, y, z] if z >= x && z >= y => 2,
        [x, y, _] if y >= x => 1,
        _ => 0,
    };
    let [s, t] = match major {
        0 => [2, 1],
        1 => [0, 2],
        _ => [0, 1],
    };
    let by = direction[major].abs();
    let on = |axis: usize| 0.5 * (direction[axis] / by + 1.0);
    [on(s), on(t), 0.0]
}
