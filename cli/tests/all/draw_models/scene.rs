//! A scene as the tests describe it: what the file writer and the CPU's picture are both made from.

/// A vector of three.
pub type Vector = [f64; 3];
/// Columns of an affine map.
pub type Matrix = [[f64; 4]; 4];

/// The map that leaves everything where it is.
pub const IDENTITY: Matrix = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0, 1.0],
];

/// A vertex.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    pub position: Vector,
    pub normal: Vector,
    /// The last is the sign of the bitangent.
    pub tangent: [f64; 4],
    pub place: [f64; 2],
    pub color: [f64; 4],
}

/// Texels of 8 bits, and how they are read.
#[derive(Clone, Debug)]
pub struct Texture {
    pub width: usize,
    pub texels: Vec<[u8; 4]>,
    /// Whether four texels are mixed; none is otherwise. There are no levels.
    pub linear: bool,
    /// Whether the picture is repeated; its edge is otherwise.
    pub repeat: bool,
}

/// How alpha is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    Opaque,
    Mask(f64),
    Blend,
}

/// A material.
#[derive(Clone, Debug)]
pub struct Surface {
    pub base: [f64; 4],
    pub metallic: f64,
    pub roughness: f64,
    pub emissive: Vector,
    pub alpha: Alpha,
    pub double_sided: bool,
    pub unlit: bool,
    pub base_texture: Option<Texture>,
    pub metal_texture: Option<Texture>,
    /// With the scale of x and y.
    pub normal_texture: Option<(Texture, f64)>,
    /// With its strength.
    pub occlusion_texture: Option<(Texture, f64)>,
    pub emissive_texture: Option<Texture>,
}

/// A grey surface without textures.
pub fn plain(base: [f64; 4]) -> Surface {
    Surface {
        base,
        metallic: 0.0,
        roughness: 0.6,
        emissive: [0.0; 3],
        alpha: Alpha::Opaque,
        double_sided: false,
        unlit: false,
        base_texture: None,
        metal_texture: None,
        normal_texture: None,
        occlusion_texture: None,
        emissive_texture: None,
    }
}

/// Something that stands somewhere.
#[derive(Clone, Debug)]
pub struct Part {
    pub corners: Vec<Corner>,
    /// Three for each triangle.
    pub indices: Vec<usize>,
    pub surface: Surface,
    pub world: Matrix,
}

/// The camera at `place`, which looks along -z after a turn around y to the left.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    pub place: Vector,
    pub turn: f64,
    /// Half of the height at a distance of 1; of one that sees in parallel, half of the height.
    pub half_height: f64,
    pub parallel: bool,
}

/// The numbers that the command is given.
pub const LIGHT: Vector = [0.3, 0.5, 0.9];
pub const LIGHT_COLOR: Vector = [0.9, 0.8, 0.7];
pub const ENVIRONMENT: Vector = [0.1, 0.15, 0.25];

/// A rectangle in the plane z = 0, seen from +z; texture coordinates run from (0, 0) at the upper left to `repeats`.
pub fn quad(half: [f64; 2], repeats: f64, surface: Surface) -> Part {
    let corner = |x: f64, y: f64| Corner {
        position: [x * half[0], y * half[1], 0.0],
        normal: [0.0, 0.0, 1.0],
        tangent: [1.0, 0.0, 0.0, 1.0],
        place: [(x + 1.0) / 2.0 * repeats, (1.0 - y) / 2.0 * repeats],
        color: [1.0; 4],
    };
    Part {
        corners: vec![
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
        ],
        indices: vec![0, 1, 2, 0, 2, 3],
        surface,
        world: IDENTITY,
    }
}

/// A turn around y, counter-clockwise as seen from above, and then a move.
pub fn turned(angle: f64, [x, y, z]: Vector) -> Matrix {
    let (sin, cos) = angle.sin_cos();
    [
        [cos, 0.0, -sin, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [sin, 0.0, cos, 0.0],
        [x, y, z, 1.0],
    ]
}

/// Where a vector goes: a point with 1, a direction with 0.
pub fn mapped(map: &Matrix, [x, y, z]: Vector, w: f64) -> Vector {
    [0, 1, 2].map(|row| map[0][row] * x + map[1][row] * y + map[2][row] * z + map[3][row] * w)
}
