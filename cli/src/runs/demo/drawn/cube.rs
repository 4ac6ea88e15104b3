//! cube: attributes, a uniform buffer, a texture, perspective, depth.

use super::screen_triangle::{Corner, inside};
use super::{BACKGROUND, DrawnDemo, SIDE, byte, bytes_of, picture};

/// Texels along a side of the texture.
pub(super) const TEXELS: u32 = 8;
/// Pictures of a whole turn.
const FRAMES: u32 = 40;
/// The turn of the first picture.
const FIRST: f64 = 0.6;

/// A side: the direction that it looks to, and its two edges, so that a corner is the sum of the three with signs; and how light it is.
type Side = ([f64; 3], [f64; 3], [f64; 3], f64);

const SIDES: [Side; 6] = [
    ([0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], 0.85),
    ([0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], 0.6),
    ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], 0.7),
    ([-1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0], 0.75),
    ([0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0], 1.0),
    ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], 0.45),
];

/// The corners of a side's two triangles, by the signs of its edges.
const CORNERS: [(f64, f64); 6] = [
    (-1.0, -1.0),
    (1.0, -1.0),
    (1.0, 1.0),
    (-1.0, -1.0),
    (1.0, 1.0),
    (-1.0, 1.0),
];

/// A corner of the cube: place, place in the texture, light.
struct Vertex {
    position: [f64; 3],
    texel: [f64; 2],
    light: f64,
}

fn vertices() -> Vec<Vertex> {
    let sides = SIDES.iter();
    let all = sides.flat_map(|(out, across, down, light)| {
        CORNERS.iter().map(move |(u, v)| Vertex {
            position: [0, 1, 2].map(|axis| out[axis] + u * across[axis] + v * down[axis]),
            texel: [u * 0.5 + 0.5, v * 0.5 + 0.5],
            light: *light,
        })
    });
    all.collect()
}

/// Rows times columns.
type Matrix = [[f64; 4]; 4];

fn product(a: Matrix, b: Matrix) -> Matrix {
    let cell = |row: usize, column: usize| (0..4).map(|at| a[row][at] * b[at][column]).sum();
    [0, 1, 2, 3].map(|row| [0, 1, 2, 3].map(|column| cell(row, column)))
}

/// From the cube's own coordinates to clip coordinates, after a turn by `angle`. y points down, as in Vulkan.
fn view(angle: f64) -> Matrix {
    let (sin, cos) = angle.sin_cos();
    let turn = [
        [cos, 0.0, sin, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [-sin, 0.0, cos, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ];
    let (sin, cos) = 0.5_f64.sin_cos();
    // Seen from above, four units away.
    let tilt = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, cos, -sin, 0.0],
        [0.0, sin, cos, 4.5],
        [0.0, 0.0, 0.0, 1.0],
    ];
    let (near, far, scale) = (1.0, 10.0, 1.9);
    let depth = far / (far - near);
    let perspective = [
        [scale, 0.0, 0.0, 0.0],
        [0.0, scale, 0.0, 0.0],
        [0.0, 0.0, depth, -near * depth],
        [0.0, 0.0, 1.0, 0.0],
    ];
    product(perspective, product(tilt, turn))
}

/// A matrix as GLSL has it: column by column.
fn uniforms(matrix: Matrix) -> Vec<u8> {
    let columns = (0..4).flat_map(|column| matrix.map(|row| row[column] as f32));
    bytes_of(columns)
}

/// A texel: a chequered pattern with a border, brighter to the right and to the bottom.
fn texel(x: u32, y: u32) -> [u8; 4] {
    let last = TEXELS - 1;
    if x == 0 || y == 0 || x == last || y == last {
        return [250, 240, 220, 255];
    }
    // Both are below 8.
    let (right, down) = (x as u8 * 20, y as u8 * 20);
    match (x + y) % 2 {
        0 => [40 + right, 90, 60 + down, 255],
        _ => [230, 120 + down, 40, 255],
    }
}

/// Where a corner is on the screen.
fn on_screen(matrix: Matrix, [x, y, z]: [f64; 3]) -> Corner {
    let clip = matrix.map(|row| row[0] * x + row[1] * y + row[2] * z + row[3]);
    let [x, y, z, w] = clip;
    let half = f64::from(SIDE) / 2.0;
    Corner {
        x: half + half * x / w,
        y: half + half * y / w,
        z: z / w,
        over_w: 1.0 / w,
    }
}

/// The picture of the cube after a turn, by a CPU.
fn expected(matrix: Matrix) -> Vec<[u8; 4]> {
    let vertices = vertices();
    let (triangles, _) = vertices.as_chunks::<3>();
    let triangles: Vec<(&[Vertex; 3], [Corner; 3])> = triangles
        .iter()
        .map(|triangle| {
            let corner = |at: usize| on_screen(matrix, triangle[at].position);
            (triangle, [0, 1, 2].map(corner))
        })
        .collect();
    picture(|x, y| {
        let hits = triangles
            .iter()
            .filter_map(|(triangle, corners)| Some((triangle, inside(*corners, x, y)?)));
        let nearest = hits.min_by(|(_, a), (_, b)| a.depth.total_cmp(&b.depth));
        let Some((triangle, found)) = nearest else {
            return BACKGROUND;
        };
        let mix = |of: &dyn Fn(&Vertex) -> f64| -> f64 {
            let pairs = found.weights.iter().zip(triangle.iter());
            pairs.map(|(weight, vertex)| weight * of(vertex)).sum()
        };
        let place = |axis: usize| {
            let place = mix(&|vertex| vertex.texel[axis]) * f64::from(TEXELS);
            (place as u32).min(TEXELS - 1)
        };
        let light = mix(&|vertex| vertex.light);
        let [red, green, blue, _] = texel(place(0), place(1));
        let [red, green, blue] =
            [red, green, blue].map(|part| byte(f64::from(part) / 255.0 * light));
        [red, green, blue, 255]
    })
}

pub(super) fn demo() -> DrawnDemo {
    let turn = std::f64::consts::TAU / f64::from(FRAMES);
    let angles = (0..FRAMES).map(|frame| FIRST + f64::from(frame) * turn);
    let vertices = vertices();
    let floats = vertices.iter().flat_map(|vertex| {
        let all = vertex.position.iter().chain(&vertex.texel);
        all.copied().chain([vertex.light]).map(|value| value as f32)
    });
    let places = (0..TEXELS).flat_map(|y| (0..TEXELS).map(move |x| texel(x, y)));
    DrawnDemo {
        name: "cube",
        what: "a cube that turns: a texture, perspective, depth",
        attributes: &[3, 2, 1],
        vertices: bytes_of(floats),
        count: SIDES.len() as u32 * CORNERS.len() as u32,
        frames: angles.map(|angle| uniforms(view(angle))).collect(),
        texels: places.flatten().collect(),
        depth: true,
        expected: expected(view(FIRST)),
        // Of some 5000, where a texel or a side ends within a rounding of a pixel's centre.
        allowed: 60,
    }
}
