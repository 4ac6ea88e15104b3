//! Gradients of cubes: what a change of the direction is on the face that the direction points to.
//!
//! Needs: a direction that is not null.  Guarantees: on an edge of two faces those of one of them.
//! Facts: hardware/compiler-isel.md 12 (cubes: lower first); hardware/graphics-model.md 5.3 (faces and their axes).

use crate::ir::{Alu, Builder, Dim, Value};

/// The operands of a sample by gradients: what coordinates change by along x, then along y; of a cube those on the face, 0 to 1.
pub(crate) fn gradients(
    b: &mut Builder<'_>,
    dim: Dim,
    coordinates: &[Value],
    changes: &[Vec<Value>; 2],
) -> Vec<Value> {
    let [x, y] = changes;
    let three = |all: &[Value]| all.first_chunk::<3>().copied();
    match (dim, three(coordinates), three(x), three(y)) {
        (Dim::Cube, Some(direction), Some(x), Some(y)) => {
            let face = Face::of(b, direction);
            [x, y].map(|change| face.moved(b, change)).concat()
        }
        _ => changes.concat(),
    }
}

/// The axis along which a direction points most: z, or y if it is not z, or x.
struct Axis {
    z: Value,
    y: Value,
}

impl Axis {
    fn of(b: &mut Builder<'_>, direction: [Value; 3]) -> Axis {
        let [x, y, z] = direction.map(|component| b.alu(Alu::FAbs, &[component]));
        let [z_x, z_y, y_x] = [(z, x), (z, y), (y, x)].map(|(a, c)| b.alu(Alu::FGe, &[a, c]));
        Axis {
            z: b.alu(Alu::BAnd, &[z_x, z_y]),
            y: y_x,
        }
    }

    /// The value of the axis, of values for x, y and z.
    fn select(&self, b: &mut Builder<'_>, [x, y, z]: [Value; 3]) -> Value {
        let other = b.select(self.y, y, x);
        b.select(self.z, z, other)
    }

    /// Of three components that along the axis, and those along the two coordinates of the face.
    fn parts(&self, b: &mut Builder<'_>, [x, y, z]: [Value; 3]) -> [Value; 3] {
        [[x, y, z], [z, x, x], [y, z, y]].map(|of| self.select(b, of))
    }
}

/// The face that a direction points to.
struct Face {
    axis: Axis,
    /// The components of the direction along the face's coordinates over that along the axis.
    slopes: [Value; 2],
    /// What a change of these is multiplied with: half of 1 over the component along the axis, with the sign that the face gives
    /// the coordinate.
    scales: [Value; 2],
}

impl Face {
    fn of(b: &mut Builder<'_>, direction: [Value; 3]) -> Face {
        let axis = Axis::of(b, direction);
        let [along, s, t] = axis.parts(b, direction);
        let inverse = b.alu(Alu::FRcp, &[along]);
        let half = b.float(0.5);
        let signed = b.alu(Alu::FMul, &[inverse, half]);
        let unsigned = b.alu(Alu::FAbs, &[signed]);
        let [minus_signed, minus] = [signed, unsigned].map(|scale| b.alu(Alu::FNeg, &[scale]));
        Face {
            slopes: [s, t].map(|part| b.alu(Alu::FMul, &[part, inverse])),
            // s is -z over x, x over the size of y, x over z; t is -y over the size of x, z over y, -y over the size of z.
            scales: [
                axis.select(b, [minus_signed, unsigned, signed]),
                axis.select(b, [minus, signed, minus]),
            ],
            axis,
        }
    }

    /// What the two coordinates change by with the direction.
    fn moved(&self, b: &mut Builder<'_>, change: [Value; 3]) -> [Value; 2] {
        let [along, s, t] = self.axis.parts(b, change);
        let parts = [s, t];
        std::array::from_fn(|coordinate| {
            let tilted = b.alu(Alu::FMul, &[self.slopes[coordinate], along]);
            let moved = b.alu(Alu::FSub, &[parts[coordinate], tilted]);
            b.alu(Alu::FMul, &[moved, self.scales[coordinate]])
        })
    }
}
