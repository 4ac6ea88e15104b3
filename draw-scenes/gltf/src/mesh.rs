//! Geometry of a primitive: vertices in one form, and a list of triangles or lines.
//!
//! Facts: glTF 2.0, "Meshes": what each mode is, flat normals where there are none, tangents.

use crate::accessor;
use crate::error::Fault;
use crate::file::Buffers;
use crate::matrix::{Vector, cross, direction, dot, scaled, subtract};
use gltf::mesh::{Mode, Primitive, Semantic};

/// Floats of a vertex.
const FLOATS: usize = 18;
/// Bytes of a vertex.
pub(crate) const STRIDE: u32 = 4 * FLOATS as u32;
/// Attributes of vertices, from location 0 on: how many floats each has.
pub(crate) const ATTRIBUTES: [u32; 5] = [3, 3, 4, 4, 4];

/// A vertex, as the shader takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 3],
    pub(crate) normal: [f32; 3],
    /// The last is the sign of the bitangent.
    pub(crate) tangent: [f32; 4],
    /// Two places in textures.
    pub(crate) places: [[f32; 2]; 2],
    pub(crate) color: [f32; 4],
}

impl Vertex {
    /// The bytes, in the order of [`ATTRIBUTES`].
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> {
        let [first, second] = self.places;
        let parts = self.position.into_iter().chain(self.normal);
        let parts = parts.chain(self.tangent).chain(first).chain(second);
        parts.chain(self.color).flat_map(f32::to_le_bytes)
    }
}

/// What vertices make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Triangles,
    Lines,
}

/// A primitive.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) shape: Shape,
    pub(crate) vertices: Vec<Vertex>,
    /// Three for a triangle, two for a line.
    pub(crate) indices: Vec<u32>,
}

/// Reads a primitive. `tangents` is the set of texture coordinates of a normal map, if it has one.
pub(crate) fn read(
    buffers: &Buffers<'_>,
    primitive: &Primitive<'_>,
    tangents: Option<u32>,
) -> Result<Geometry, Fault> {
    let attributes = Attributes::read(buffers, primitive)?;
    let count = attributes.positions.len();
    let order: Vec<u32> = match primitive.indices() {
        Some(accessor) => accessor::indices(buffers, &accessor)?,
        // An accessor has fewer elements than fit.
        None => (0..count as u32).collect(),
    };
    if let Some(index) = order.iter().find(|index| **index as usize >= count) {
        let what = format!("a primitive has the index {index} and {count} vertices");
        return Err(Fault::invalid(what));
    }
    let (shape, indices) = list(primitive.mode(), &order)?;
    let vertices = (0..count).map(|at| attributes.vertex(at)).collect();
    let mut geometry = Geometry {
        shape,
        vertices,
        indices,
    };
    if shape == Shape::Triangles {
        let flat = attributes.normals.is_none();
        let made = tangents.filter(|_| flat || attributes.tangents.is_none());
        if flat || made.is_some() {
            geometry.part_triangles();
        }
        if flat {
            geometry.make_normals();
        }
        if let Some(set) = made {
            geometry.make_tangents(set as usize);
        }
    }
    Ok(geometry)
}

/// What a primitive says of its vertices.
struct Attributes {
    positions: Vec<[f32; 3]>,
    normals: Option<Vec<[f32; 3]>>,
    tangents: Option<Vec<[f32; 4]>>,
    places: [Option<Vec<[f32; 2]>>; 2],
    colors: Option<Vec<[f32; 4]>>,
}

impl Attributes {
    fn read(buffers: &Buffers<'_>, primitive: &Primitive<'_>) -> Result<Attributes, Fault> {
        let of = |semantic| primitive.get(&semantic);
        let positions =
            of(Semantic::Positions).ok_or_else(|| Fault::invalid("a primitive has no POSITION"))?;
        let positions = accessor::floats(buffers, &positions)?;
        let normals = of(Semantic::Normals);
        let tangents = of(Semantic::Tangents);
        let places = [0, 1].map(|set| {
            let place = of(Semantic::TexCoords(set));
            place.map(|it| accessor::floats(buffers, &it)).transpose()
        });
        let [first, second] = places;
        let colors = of(Semantic::Colors(0)).map(|colors| match accessor::width(&colors) {
            3 => accessor::floats::<3>(buffers, &colors).map(|colors| {
                let colors = colors.into_iter();
                colors
                    .map(|[red, green, blue]| [red, green, blue, 1.0])
                    .collect()
            }),
            _ => accessor::floats(buffers, &colors),
        });
        let attributes = Attributes {
            normals: normals
                .map(|it| accessor::floats(buffers, &it))
                .transpose()?,
            tangents: tangents
                .map(|it| accessor::floats(buffers, &it))
                .transpose()?,
            places: [first?, second?],
            colors: colors.transpose()?,
            positions,
        };
        let [first, second] = &attributes.places;
        let lengths = [
            attributes.normals.as_ref().map(Vec::len),
            attributes.tangents.as_ref().map(Vec::len),
            first.as_ref().map(Vec::len),
            second.as_ref().map(Vec::len),
            attributes.colors.as_ref().map(Vec::len),
        ];
        let wanted = attributes.positions.len();
        match lengths.iter().flatten().find(|length| **length != wanted) {
            Some(found) => Err(Fault::invalid(format!(
                "a primitive has attributes of {wanted} and of {found} vertices"
            ))),
            None => Ok(attributes),
        }
    }

    fn vertex(&self, at: usize) -> Vertex {
        fn of<T: Copy>(all: Option<&Vec<T>>, at: usize, or: T) -> T {
            all.and_then(|all| all.get(at)).copied().unwrap_or(or)
        }
        let [first, second] = &self.places;
        Vertex {
            position: of(Some(&self.positions), at, [0.0; 3]),
            normal: of(self.normals.as_ref(), at, [0.0; 3]),
            tangent: of(self.tangents.as_ref(), at, [1.0, 0.0, 0.0, 1.0]),
            places: [first, second].map(|places| of(places.as_ref(), at, [0.0; 2])),
            color: of(self.colors.as_ref(), at, [1.0; 4]),
        }
    }
}

/// What a mode makes of vertices in this order, as a list.
fn list(mode: Mode, order: &[u32]) -> Result<(Shape, Vec<u32>), Fault> {
    let all = order.windows(3).enumerate();
    Ok(match mode {
        Mode::Points => return Err(Fault::unsupported("primitives of mode POINTS")),
        Mode::Lines => (Shape::Lines, order.as_chunks::<2>().0.concat()),
        Mode::LineStrip => (Shape::Lines, order.windows(2).flatten().copied().collect()),
        Mode::LineLoop => {
            let ends = order.last().zip(order.first());
            let last = ends
                .filter(|_| order.len() > 1)
                .map(|(last, first)| [*last, *first]);
            let strip = order.windows(2).flatten().copied();
            (
                Shape::Lines,
                strip.chain(last.into_iter().flatten()).collect(),
            )
        }
        Mode::Triangles => (Shape::Triangles, order.as_chunks::<3>().0.concat()),
        Mode::TriangleStrip => {
            let triangles = all.flat_map(|(at, corners)| match at % 2 {
                0 => [corners[0], corners[1], corners[2]],
                _ => [corners[0], corners[2], corners[1]],
            });
            (Shape::Triangles, triangles.collect())
        }
        Mode::TriangleFan => {
            let pairs = order.get(1..).unwrap_or_default().windows(2);
            let triangles = pairs.flat_map(|pair| [pair[0], pair[1], order[0]]);
            (Shape::Triangles, triangles.collect())
        }
    })
}

impl Geometry {
    /// Gives each triangle vertices of its own.
    fn part_triangles(&mut self) {
        let vertices = self.indices.iter();
        // Each index was found to be below the number of vertices.
        let vertices = vertices.filter_map(|index| self.vertices.get(*index as usize).copied());
        self.vertices = vertices.collect();
        self.indices = (0..self.vertices.len() as u32).collect();
    }

    /// Gives each triangle the normal of its plane.
    fn make_normals(&mut self) {
        for triangle in self.vertices.as_chunks_mut::<3>().0 {
            let [a, b, c] = triangle.map(|vertex| vertex.position.map(f64::from));
            let normal = direction(cross(subtract(b, a), subtract(c, a)));
            // Of a triangle without area nothing is seen.
            let normal = normal.unwrap_or([0.0, 0.0, 1.0]).map(|part| part as f32);
            for vertex in triangle {
                vertex.normal = normal;
            }
        }
    }

    /// Gives each vertex of a triangle the direction in which the first texture coordinate grows, at a right angle to its normal.
    fn make_tangents(&mut self, set: usize) {
        for triangle in self.vertices.as_chunks_mut::<3>().0 {
            let [a, b, c] = triangle.map(|vertex| vertex.position.map(f64::from));
            let [at_a, at_b, at_c] = triangle.map(|vertex| vertex.places[set & 1].map(f64::from));
            let (ab, ac) = (subtract(b, a), subtract(c, a));
            let [[u_b, v_b], [u_c, v_c]] =
                [at_b, at_c].map(|at| [at[0] - at_a[0], at[1] - at_a[1]]);
            let turn = u_b * v_c - u_c * v_b;
            let along = |of_b: f64, of_c: f64| subtract(scaled(ab, of_b), scaled(ac, of_c));
            // Both up to the same factor, whose sign is that of `turn`.
            let along_u = scaled(along(v_c, v_b), turn.signum());
            let along_v = scaled(along(-u_c, -u_b), turn.signum());
            for vertex in triangle {
                vertex.tangent = tangent(vertex.normal.map(f64::from), along_u, along_v);
            }
        }
    }
}

fn tangent(normal: Vector, along_u: Vector, along_v: Vector) -> [f32; 4] {
    let upright = subtract(along_u, scaled(normal, dot(normal, along_u)));
    // Where coordinates say nothing, any direction along the surface will do.
    let other = match normal[0].abs() < 0.5 {
        true => cross(normal, [1.0, 0.0, 0.0]),
        false => cross(normal, [0.0, 1.0, 0.0]),
    };
    let tangent = direction(upright)
        .or(direction(other))
        .unwrap_or([1.0, 0.0, 0.0]);
    // v grows downwards in a picture, and the y of its normals upwards.
    let sign = match dot(cross(normal, tangent), along_v) > 0.0 {
        true => -1.0,
        false => 1.0,
    };
    let [x, y, z] = tangent.map(|part| part as f32);
    [x, y, z, sign]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_become_lists() {
        let order = [5, 6, 7, 8, 9];
        let of = |mode| list(mode, &order).unwrap().1;
        assert_eq!(of(Mode::Triangles), [5, 6, 7]);
        assert_eq!(of(Mode::TriangleStrip), [5, 6, 7, 6, 8, 7, 7, 8, 9]);
        assert_eq!(of(Mode::TriangleFan), [6, 7, 5, 7, 8, 5, 8, 9, 5]);
        assert_eq!(of(Mode::Lines), [5, 6, 7, 8]);
        assert_eq!(of(Mode::LineStrip), [5, 6, 6, 7, 7, 8, 8, 9]);
        assert_eq!(of(Mode::LineLoop), [5, 6, 6, 7, 7, 8, 8, 9, 9, 5]);
        assert!(matches!(
            list(Mode::Points, &order),
            Err(Fault::Unsupported(_))
        ));
        assert!(list(Mode::TriangleFan, &[]).unwrap().1.is_empty());
    }

    #[test]
    fn tangents_follow_the_first_coordinate() {
        let vertex = |position: [f32; 3], place: [f32; 2]| Vertex {
            position,
            normal: [0.0, 0.0, 1.0],
            tangent: [0.0; 4],
            places: [place, [0.0; 2]],
            color: [1.0; 4],
        };
        let corners = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0]];
        for (places, wanted) in [
            ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1.0, 0.0, 0.0, -1.0]),
            // As pictures are seen: v grows against y.
            ([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]], [1.0, 0.0, 0.0, 1.0]),
            // Mirrored along u.
            ([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [-1.0, 0.0, 0.0, -1.0]),
            // u along y, v along x.
            ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0.0, 1.0, 0.0, 1.0]),
        ] {
            let pairs = corners.iter().zip(places);
            let mut geometry = Geometry {
                shape: Shape::Triangles,
                vertices: pairs
                    .map(|(corner, place)| vertex(*corner, place))
                    .collect(),
                indices: vec![0, 1, 2],
            };
            geometry.make_tangents(0);
            for vertex in &geometry.vertices {
                let near = vertex
                    .tangent
                    .iter()
                    .zip(wanted)
                    .all(|(a, b)| (a - b).abs() < 1e-6);
                assert!(near, "{places:?}: {:?}, not {wanted:?}", vertex.tangent);
            }
        }
    }
}
