//! Assembly of primitives against vectors that were computed elsewhere, as fragments see it.
//!
//! Vertex `index` lies on a circle and has 1/w of `index` + 1. Each fragment of primitive `p` stores its own 1/w and its facing
//! in the place of `p` and its pixel: corners in another number, place or turn give other values. Which corner provokes shows by
//! the primitive id that vertices give.
//!
//! Facts: hardware/graphics-draw.md 3.3, 3.4, 3.20; hardware/graphics-model.md 1.1, 1.4, 3.1.

use super::bench::EACH;
use super::vector_files::{FIRST, list, numbers};
use super::{BUFFER, CLEAR, Drawn, IndexBuffer, Pass, Rectangle, STORE, Vertices, pixels};
use serde_json::Value;

/// Stores position `vertex` of the buffer, whose address is in u4.
const POSITION: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    NOP.end";

/// As [`POSITION`], with the vertex's own number as primitive id.
const NUMBERED: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    MOV.i32 r12, r60
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    IADD_IMM.i32 r6, r59, #0x4
    LEA_BUF_IMM.slot1 @r6:r7, r6, table:0xD, index:0x0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    STORE.i32.istream.slot2 @r12, r6, offset:12
    NOP.end";

/// Stores 1/w and facing at u6, 8 bytes for each primitive and pixel.
const FRAGMENT: &str = "
    U16_TO_U32 r0, r59.h00
    U16_TO_U32 r1, r59.h10
    LSHIFT_OR.i32 r1, r1, 0x7060504.b00, r0
    LSHIFT_OR.i32 r0, r57, 0xB0A0908.b00, r1
    SHADDX.u64 r2, u6, r0.w0, shift:0x3
    LD_VAR_SPECIAL.v2.f32.center.clobber.slot0.wait0126 @r4:r5, r61, index:0x2
    MOV.i32 r5, r58
    STORE.i64.slot0.wait0 @r4:r5, r2, offset:0
    IADD_IMM.i32 r0, 0x0, #0x9
    OUTPUT";

/// Stores the primitive id.
const ID: &str = "
    MOV.i32 r0, r57
    OUTPUT";

/// Primitive flags: ids reach fragments, and come from vertices; restart.
const IDS: u32 = 1 << 13;
const IDS_OF_VERTICES: u32 = 1 << 14;
const RESTART: u32 = 1 << 19;

const INDICES: u64 = BUFFER + 0x800;
const RESULTS: u64 = BUFFER + 0x1000;

/// Where a vertex is: on a circle, at a multiple of 1/256.
fn place(index: u32) -> [f64; 2] {
    let angle = f64::from(index) * 0.7;
    [8.0 + 7.0 * angle.cos(), 8.0 + 7.0 * angle.sin()].map(|at| (at * 256.0).round() / 256.0)
}

fn mode(topology: &str) -> u32 {
    match topology {
        "points" => 1,
        "lines" => 2,
        "line_strip" => 4,
        "triangles" => 8,
        "triangle_strip" => 10,
        "triangle_fan" => 12,
        other => panic!("no topology {other}"),
    }
}

/// Draws a vector's vertices on a product, by indices of so many bytes.
#[track_caller]
fn drawn(
    vector: &Value,
    (gpu, index_bytes): (&'static str, u32),
    first: bool,
    program: [&'static str; 2],
    flags: u32,
) -> Drawn {
    let restart = vector["restart"].as_u64();
    let indices = numbers(&vector["indices"]);
    let bytes: Vec<u8> = indices
        .iter()
        .flat_map(|index| {
            // All ones restart, whatever the size.
            let index = if Some(u64::from(*index)) == restart {
                u32::MAX
            } else {
                *index
            };
            index.to_le_bytes().into_iter().take(index_bytes as usize)
        })
        .collect();
    let restarts = if restart.is_some() { RESTART } else { 0 };
    let [store, format] = STORE;
    let pass = Pass {
        gpu,
        first_provoking: first,
        uniforms: vec![store, format, 0, 0, BUFFER as u32, 0, RESULTS as u32, 0],
        draws: vec![Rectangle {
            vertices: Some(Vertices {
                mode: mode(vector["topology"].as_str().expect("a name")),
                count: indices.len() as u32,
                program: program[0],
                size: 1.0,
                flags: IDS | restarts | flags,
                indices: Some(IndexBuffer {
                    address: INDICES,
                    index_bytes,
                    bytes: bytes.len() as u32,
                }),
                varying_bytes: 0,
            }),
            program: program[1],
            layers: 0,
            ..Rectangle::default()
        }],
        ..Pass::default()
    };
    pass.run_with(|bench| {
        for index in 0..9 {
            let [x, y] = place(index).map(|at| at as f32);
            let position = [x, y, 0.5, index as f32 + 1.0];
            let position: Vec<u8> = position.iter().flat_map(|it| it.to_le_bytes()).collect();
            bench.put(1, BUFFER + 16 * u64::from(index), &position);
        }
        bench.put(1, INDICES, &bytes);
    })
}

/// 1/w at the centre of a pixel of a primitive with these corners.
fn inverse_w(corners: &[u32], [x, y]: [u32; 2]) -> f64 {
    let at = [x, y].map(|at| f64::from(at) + 0.5);
    let w = |corner: usize| f64::from(corners[corner]) + 1.0;
    let places: Vec<[f64; 2]> = corners.iter().map(|corner| place(*corner)).collect();
    match places[..] {
        [_] => w(0),
        [a, b] => {
            let along = [b[0] - a[0], b[1] - a[1]];
            let from = [at[0] - a[0], at[1] - a[1]];
            let dot = |p: [f64; 2], q: [f64; 2]| p[0] * q[0] + p[1] * q[1];
            let t = (dot(from, along) / dot(along, along)).clamp(0.0, 1.0);
            w(0) * (1.0 - t) + w(1) * t
        }
        [a, b, c] => {
            let (whole, [u, v, t]) = (
                area(a, b, c),
                [area(b, c, at), area(c, a, at), area(a, b, at)],
            );
            (w(0) * u + w(1) * v + w(2) * t) / whole
        }
        _ => panic!("{corners:?} is no primitive"),
    }
}

/// Twice the area of a triangle, positive where it turns clockwise on the screen.
fn area(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
}

/// The primitives of a vector, and the pixels that each covered.
#[track_caller]
fn check_primitives(vector: &Value, how: (&'static str, u32)) -> Vec<(Vec<u32>, Vec<[u32; 2]>)> {
    let mut drawn = drawn(vector, how, true, [POSITION, FRAGMENT], 0);
    let primitives = vector["primitives"].as_array().expect("primitives");
    let mut covered = Vec::new();
    for (id, corners) in (0..).zip(primitives) {
        let corners = numbers(corners);
        let mut its = Vec::new();
        for [x, y] in pixels() {
            let at = RESULTS + 8 * u64::from(id << 8 | y << 4 | x);
            let [w, back] = [0, 4].map(|word| drawn.bench.get32(1, at + word));
            if w == 0 {
                continue;
            }
            its.push([x, y]);
            let (found, wanted) = (f64::from(f32::from_bits(w)), inverse_w(&corners, [x, y]));
            assert!(
                (found - wanted).abs() < 1e-5,
                "1/w {found}, wanted {wanted} at ({x}, {y}) of {corners:?}: {vector}"
            );
            if let [a, b, c] = corners[..] {
                // The usual flags: what turns clockwise is the front.
                let front = area(place(a), place(b), place(c)) > 0.0;
                assert_eq!(back == 0, front, "facing of {corners:?}: {vector}");
            }
        }
        let mut apart = corners.clone();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(
            its.is_empty(),
            apart.len() < corners.len(),
            "pixels of {corners:?}: {vector}"
        );
        covered.push((corners, its));
    }
    // There is no further primitive.
    let beyond = RESULTS + 8 * ((primitives.len() as u64) << 8);
    assert!(
        (0..256).all(|pixel| drawn.bench.get64(1, beyond + 8 * pixel) == 0),
        "one more primitive: {vector}"
    );
    covered
}

#[test]
fn drawn_primitives_have_the_corners_of_every_vector() {
    for vector in list(FIRST, "primitive_assembly") {
        for how in [("G610", 1), ("G615", 4), ("G720", 2), ("G925", 4)] {
            check_primitives(&vector, how);
        }
    }
}

/// Which corner of a primitive provokes (hardware/graphics-draw.md 3.20); fans are listed with the shared corner last.
fn provoking(topology: &str, corners: &[u32], id: usize, first: bool) -> u32 {
    let corner = match (topology, first) {
        ("points", _) | (_, true) => 0,
        ("triangles", false) => 2,
        // An odd triangle of a strip is listed as (i, i + 2, i + 1).
        ("triangle_strip", false) if id.is_multiple_of(2) => 2,
        _ => 1,
    };
    corners[corner]
}

#[test]
fn first_and_last_corners_provoke_as_every_vector_lists_them() {
    for vector in list(FIRST, "primitive_assembly") {
        let topology = vector["topology"].as_str().expect("a name");
        for (gpu, first) in EACH.into_iter().zip([true, false, true, false]) {
            let covered = check_primitives(&vector, (gpu, 2));
            let mut drawn = drawn(&vector, (gpu, 2), first, [NUMBERED, ID], IDS_OF_VERTICES);
            for pixel in pixels() {
                // Later primitives lie above earlier ones. Odd and even count from the last restart.
                let above = covered
                    .iter()
                    .rposition(|(_, pixels)| pixels.contains(&pixel));
                let wanted = above.map_or(CLEAR, |id| {
                    let number = number_in_run(&vector, &covered, id);
                    provoking(topology, &covered[id].0, number, first)
                });
                assert_eq!(
                    drawn.colour(pixel, 0, 0),
                    wanted,
                    "{pixel:?}, first {first}: {vector}"
                );
            }
        }
    }
}

/// Number of a primitive in its run, which a restart begins anew.
fn number_in_run(vector: &Value, covered: &[(Vec<u32>, Vec<[u32; 2]>)], id: usize) -> usize {
    let Some(restart) = vector["restart"].as_u64() else {
        return id;
    };
    let indices = numbers(&vector["indices"]);
    let before = indices
        .iter()
        .position(|index| u64::from(*index) == restart);
    let corners = covered.first().map_or(1, |(corners, _)| corners.len());
    // Primitives of a strip in front of the restart: none of fewer vertices than one needs.
    let in_front = before.map_or(0, |count| (count + 1).saturating_sub(corners));
    if id < in_front { id } else { id - in_front }
}
