//! Vectors and matrices in double precision, column by column as glTF has them.

/// A vector of three.
pub(crate) type Vector = [f64; 3];

/// An affine map or a projection: four columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Matrix(pub(crate) [[f64; 4]; 4]);

pub(crate) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn subtract(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn scaled(a: Vector, factor: f64) -> Vector {
    a.map(|part| part * factor)
}

pub(crate) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The vector of length 1 in this direction; `None` of one that has no direction.
pub(crate) fn direction(a: Vector) -> Option<Vector> {
    let length = dot(a, a).sqrt();
    (length.is_normal()).then(|| scaled(a, 1.0 / length))
}

impl Matrix {
    pub(crate) const IDENTITY: Matrix = Matrix([
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]);

    /// A matrix as glTF files have it.
    pub(crate) fn of(columns: [[f32; 4]; 4]) -> Matrix {
        Matrix(columns.map(|column| column.map(f64::from)))
    }

    /// The map that does `first` and then this.
    pub(crate) fn after(&self, first: &Matrix) -> Matrix {
        Matrix(first.0.map(|column| self.times(column)))
    }

    pub(crate) fn times(&self, vector: [f64; 4]) -> [f64; 4] {
        let row = |row: usize| (0..4).map(|at| self.0[at][row] * vector[at]).sum();
        [row(0), row(1), row(2), row(3)]
    }

    /// Where a point goes by an affine map.
    pub(crate) fn point(&self, [x, y, z]: Vector) -> Vector {
        let [x, y, z, _] = self.times([x, y, z, 1.0]);
        [x, y, z]
    }

    /// The images of the three axes.
    pub(crate) fn axes(&self) -> [Vector; 3] {
        let [x, y, z, _] = self.0.map(|[x, y, z, _]| [x, y, z]);
        [x, y, z]
    }

    /// The determinant of the linear part: negative where it mirrors.
    pub(crate) fn determinant(&self) -> f64 {
        let [x, y, z] = self.axes();
        dot(cross(x, y), z)
    }

    /// The map of normals: the inverse of the linear part, transposed, times its determinant, which does not change directions but
    /// for its sign.
    pub(crate) fn of_normals(&self) -> [Vector; 3] {
        let [x, y, z] = self.axes();
        let sign = self.determinant().signum();
        [cross(y, z), cross(z, x), cross(x, y)].map(|column| scaled(column, sign))
    }

    /// The inverse of an affine map; `None` if it flattens space.
    pub(crate) fn inverse(&self) -> Option<Matrix> {
        let determinant = self.determinant();
        if !determinant.is_normal() {
            return None;
        }
        let [x, y, z] = self.axes();
        // Rows of the inverse of the linear part.
        let rows =
            [cross(y, z), cross(z, x), cross(x, y)].map(|row| scaled(row, 1.0 / determinant));
        let [from_x, from_y, from_z, _] = self.0[3];
        let moved = rows.map(|row| -dot(row, [from_x, from_y, from_z]));
        let column = |at: usize| [rows[0][at], rows[1][at], rows[2][at], 0.0];
        let [x, y, z] = moved;
        Some(Matrix([column(0), column(1), column(2), [x, y, z, 1.0]]))
    }

    /// The bytes of a `mat4x4<f32>`.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> {
        let numbers = self.0.into_iter().flatten();
        numbers.flat_map(|number| (number as f32).to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: Matrix = Matrix([
        [0.0, 2.0, 0.0, 0.0],
        [-1.0, 0.5, 0.0, 0.0],
        [0.0, 0.0, -3.0, 0.0],
        [4.0, 5.0, 6.0, 1.0],
    ]);

    #[test]
    fn the_inverse_undoes_a_map() {
        let inverse = MAP.inverse().unwrap();
        for (got, wanted) in inverse.after(&MAP).0.iter().zip(&Matrix::IDENTITY.0) {
            for (got, wanted) in got.iter().zip(wanted) {
                assert!((got - wanted).abs() < 1e-12, "{inverse:?}");
            }
        }
        assert_eq!(Matrix([[0.0; 4]; 4]).inverse(), None);
    }

    #[test]
    fn normals_stay_upright_on_what_is_mapped() {
        // The plane through these has this normal, before and after.
        let (a, b) = ([1.0, 2.0, 3.0], [-2.0, 1.0, 0.5]);
        let normal = cross(a, b);
        let [x, y, z] = MAP.of_normals();
        let mapped = add(
            add(scaled(x, normal[0]), scaled(y, normal[1])),
            scaled(z, normal[2]),
        );
        let linear = |v| subtract(MAP.point(v), MAP.point([0.0; 3]));
        assert!(dot(mapped, linear(a)).abs() < 1e-9);
        assert!(dot(mapped, linear(b)).abs() < 1e-9);
    }
}
