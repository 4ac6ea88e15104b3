//! Gradients of cubes: what a change of the direction is on the face that the direction points to.
//!
//! Needs: a direction that is not null.  Guarantees: on an edge of two faces those of one of them.
//! Facts: hardware/compiler-isel.md 12 (cubes: lower first); hardware/graphics-model.md 5.3 (faces and their axes).

use crate::ir::{Alu, Builder, Value};

/// The face that a direction points to, by selects.
struct Face {
    /// The direction points most along z; along y, if it does not.
    along_z: Value,
    along_y: Value,
    /// 1 over the largest component.
    inverse: Value,
    /// What a change of each coordinate on the face is multiplied with: half of it, with the sign of the coordinate's axis.
    scales: [Value; 2],
    /// The other components of the direction over the largest one.
    slopes: [Value; 2],
}

impl Face {
    fn of(b: &mut Builder<'_>, direction: [Value; 3]) -> Face {
        let [x, y, z] = direction.map(|component| b.alu(Alu::FAbs, &[component]));
        let [z_x, z_y, y_x] = [(z, x), (z, y), (y, x)].map(|(a, c)| b.alu(Alu::FGe, &[a, c]));
        let along_z = b.alu(Alu::BAnd, &[z_x, z_y]);
        let mut face = Face {
            along_z,
            along_y: y_x,
            inverse: x,
            scales: [x; 2],
            slopes: [x; 2],
        };
        let [largest, across, down] = face.components(b, direction);
        face.inverse = b.alu(Alu::FRcp, &[largest]);
        face.slopes = [across, down].map(|other| b.alu(Alu::FMul, &[other, face.inverse]));
        // Along x s is -z and t -y, along y x and z, along z x and -y; of s on z and x, and of t on y, the sign of the largest counts.
        let half = b.float(0.5);
        let signed = b.alu(Alu::FMul, &[face.inverse, half]);
        let unsigned = b.alu(Alu::FAbs, &[signed]);
        let negative = [signed, unsigned].map(|scale| b.alu(Alu::FNeg, &[scale]));
        let s = b.select(y_x, unsigned, negative[0]);
        let t = b.select(y_x, signed, negative[1]);
        face.scales = [
            b.select(along_z, signed, s),
            b.select(along_z, negative[1], t),
        ];
        face
    }

    /// Of three components that along the largest, and those along the coordinates of the face.
    fn components(&self, b: &mut Builder<'_>, [x, y, z]: [Value; 3]) -> [Value; 3] {
        let y_or_x = b.select(self.along_y, y, x);
        let x_or_z = b.select(self.along_y, x, z);
        let z_or_y = b.select(self.along_y, z, y);
        [
            b.select(self.along_z, z, y_or_x),
            b.select(self.along_z, x, x_or_z),
            b.select(self.along_z, y, z_or_y),
        ]
    }
}

/// What the two coordinates on the face, 0 to 1, change by with a change of the direction: for each change that is given.
pub(super) fn on_face(
    b: &mut Builder<'_>,
    direction: [Value; 3],
    changes: [[Value; 3]; 2],
) -> [[Value; 2]; 2] {
    let face = Face::of(b, direction);
    changes.map(|change| {
        let [largest, across, down] = face.components(b, change);
        let others = [across, down];
        std::array::from_fn(|coordinate| {
            let tilted = b.alu(Alu::FMul, &[face.slopes[coordinate], largest]);
            let moved = b.alu(Alu::FSub, &[others[coordinate], tilted]);
            b.alu(Alu::FMul, &[moved, face.scales[coordinate]])
        })
    })
}
