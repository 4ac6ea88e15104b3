//! Cubes: their faces, the face that a direction meets, and the texels of other faces that a place beyond an edge means.
//!
//! Never: reads memory or filters; `sampling` asks here where a sampler is seamless.
//! Facts: hardware/valhall-isa.md 9.8 (faces); hardware/graphics-model.md 5.3 (directions); hardware/graphics-texture.md 7.6 (edges).

use super::texture::Texel;

/// The axis that a face lies on with its sign, then where its columns and rows go: axis and sign each (valhall-isa.md 9.8).
pub(crate) const FACES: [[(usize, i64); 3]; 6] = [
    [(0, 1), (2, -1), (1, -1)],
    [(0, -1), (2, 1), (1, -1)],
    [(1, 1), (0, 1), (2, 1)],
    [(1, -1), (0, 1), (2, -1)],
    [(2, 1), (0, 1), (1, -1)],
    [(2, -1), (0, -1), (1, -1)],
];

/// The face that a direction meets, and where on it: both coordinates from 0 to 1.
pub(super) fn face_and_place(direction: [f32; 3]) -> (u32, [f32; 3]) {
    let size = direction.map(|along| libm::fabs(along.into()));
    let [x, y, z] = size;
    // The last of equal axes wins; what is no number lies on the last.
    let axis = if size.iter().any(|size| size.is_nan()) || z >= x.max(y) {
        2
    } else if y >= x {
        1
    } else {
        0
    };
    let is_negative = direction[axis] < 0.0;
    let face = 2 * axis + usize::from(is_negative);
    let [_, column, row] = FACES[face];
    let along = |(axis, sign): (usize, i64)| {
        let place = sign as f64 * f64::from(direction[axis]) / size[face / 2];
        ((place + 1.0) / 2.0) as f32
    };
    (face as u32, [along(column), along(row), 0.0])
}

/// The texels that a place on a face means: beyond an edge one of the next face, as far from the edge. Filters go one texel beyond;
/// probes of an anisotropic sample, which lie on the plane of the face, half of a step, and at most the whole next face. Of three
/// texels as many count as is said.
// FACT: what a tap beyond a corner of a cube gives, where no texel is, is not published (hardware/graphics-texture.md 7.6);
// the mean of the three texels that meet there is taken, as APIs allow. Settled by sampling a cube of six colours towards
// a corner on any board.
pub(super) fn texels_across_edges(
    place: [i64; 3],
    layer: u32,
    level: u32,
    size: i64,
) -> (usize, [(Texel, f64); 3]) {
    let (cube, face) = (layer / 6, layer % 6);
    let outside = |at: i64| !(0..size).contains(&at);
    let [x, y, _] = place.map(|at| at.clamp(-size, 2 * size - 1));
    let texel = |face: u32, x: i64, y: i64| Texel {
        at: [x, y, 0],
        layer: 6 * cube + face,
        level,
        sample: 0,
    };
    let across = |x: i64, y: i64| {
        let (face, x, y) = over_the_edge(face, x, y, size);
        texel(face, x, y)
    };
    let one = |texel: Texel| (1, [(texel, 1.0); 3]);
    match (outside(x), outside(y)) {
        (false, false) => one(texel(face, x, y)),
        (true, true) => {
            let (inner_x, inner_y) = (x.clamp(0, size - 1), y.clamp(0, size - 1));
            let third = 1.0 / 3.0;
            let texels = [
                texel(face, inner_x, inner_y),
                across(x, inner_y),
                across(inner_x, y),
            ];
            (3, texels.map(|texel| (texel, third)))
        }
        _ => one(across(x, y)),
    }
}

/// A texel beyond an edge, folded onto the face that begins there. Lengths are halves of texels from the middle.
fn over_the_edge(face: u32, x: i64, y: i64, size: i64) -> (u32, i64, i64) {
    let [(major, sign), column, row] = FACES[face as usize % 6];
    let (s, t) = (2 * x + 1 - size, 2 * y + 1 - size);
    let mut at = [0; 3];
    at[column.0] = column.1 * s;
    at[row.0] = row.1 * t;
    // The axis along which it has left becomes the one that it lies on, and its way beyond goes along the old one.
    let left = if s.abs() > size { column.0 } else { row.0 };
    let beyond = at[left].abs() - size;
    at[left] = at[left].signum() * size;
    at[major] = sign * (size - beyond);
    let found = FACES
        .iter()
        .position(|[(axis, sign), ..]| *axis == left && at[left].signum() == *sign)
        .unwrap_or(0);
    let [_, column, row] = FACES[found];
    let texel = |(axis, sign): (usize, i64)| (sign * at[axis] + size - 1) / 2;
    (found as u32, texel(column), texel(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_of_nothing_lies_on_the_last_axis_and_not_behind_it() {
        for zero in [0.0, -0.0] {
            assert_eq!(face_and_place([zero; 3]).0, 4);
        }
        let faces = [
            [1.0, 0.5, 0.0],
            [-1.0, 0.5, 0.0],
            [0.5, 1.0, 0.0],
            [0.5, -1.0, 0.0],
        ];
        assert_eq!(
            faces.map(|direction| face_and_place(direction).0),
            [0, 1, 2, 3]
        );
    }

    #[test]
    fn beyond_the_edge_of_a_face_the_next_one_begins() {
        // Right of +X lies -Z, left of it +Z; above it +Y, whose last column it is, from the bottom up.
        assert_eq!(over_the_edge(0, 4, 1, 4), (5, 0, 1));
        assert_eq!(over_the_edge(0, -1, 1, 4), (4, 3, 1));
        assert_eq!(over_the_edge(0, 1, -1, 4), (2, 3, 2));
        // And back again: every texel beyond an edge has the one that it left beyond its own.
        for face in 0..6 {
            for (x, y) in (0..4).flat_map(|i| [(-1, i), (4, i), (i, -1), (i, 4)]) {
                let (next, nx, ny) = over_the_edge(face, x, y, 4);
                assert_ne!(next, face);
                let inner = (x.clamp(0, 3), y.clamp(0, 3));
                let around = [(-1, ny), (4, ny), (nx, -1), (nx, 4)];
                let back = around
                    .into_iter()
                    .any(|(x, y)| over_the_edge(next, x, y, 4) == (face, inner.0, inner.1));
                assert!(
                    back,
                    "face {face}, ({x}, {y}) leads to {next}, ({nx}, {ny})"
                );
            }
        }
    }

    #[test]
    fn a_probe_far_beyond_the_edge_of_a_face_lies_as_far_on_the_next_one() {
        // Anisotropic samples go up to half of a face beyond: from +X to the right onto -Z, to the left onto +Z.
        let texel = |x: i64| {
            let (count, found) = texels_across_edges([x, 1, 0], 0, 0, 4);
            let only = found[0].0;
            (count, only.layer, only.at)
        };
        assert_eq!([4, 5, 6].map(texel), [0, 1, 2].map(|x| (1, 5, [x, 1, 0])));
        assert_eq!(
            [-1, -2, -3].map(texel),
            [3, 2, 1].map(|x| (1, 4, [x, 1, 0]))
        );
    }
}
