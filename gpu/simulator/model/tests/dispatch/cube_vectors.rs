//! Cubes against vectors that were computed elsewhere: faces, and what lies beyond their edges and corners.
//!
//! Facts: hardware/valhall-isa.md 9.8, graphics-texture.md 7.6; data/graphics-vectors.json and graphics-vectors2.json.

use super::texture_vectors::{
    HANDLE, Image, LOAD, PAYLOADS, Plane, STORE, sampled, sampled_on, sampler,
};
use super::typed::{run, uniforms};
use super::vector_files::{FIRST, SECOND, decimal, integer as number, list};
use super::{BUFFER, Dispatch};
use eitri_descriptors::RawOrFloat;
use eitri_descriptors::texture::{Sampler, TextureDimension, WrapMode};

const CUBE: &str = "TEX_SINGLE.slot0.reserved.32.cube.zero.wait0 @r8:r9:r10:r11, @r4:r5, u2";

/// The coordinate word of a cube: the face above the bits of s.
fn face_word(face: u32, s: f32) -> u32 {
    face << 29 | s.to_bits() & 0x1fff_ffff
}

/// A cube whose texels are 64 times the face, plus their number in it.
fn numbered_cube(size: u32) -> Image {
    let face = |face: u32| {
        let row = |y: u32| (0..size).map(move |x| (64 * face + size * y + x) as f32);
        Plane((0..size).map(|y| row(y).collect()).collect())
    };
    Image {
        dimension: TextureDimension::Cube,
        size: [size, size],
        levels: 1,
        planes: (0..6).map(face).collect(),
    }
}

#[test]
fn taps_beyond_the_edges_of_faces_agree_with_every_vector() {
    for vector in list(SECOND, "cube_seam") {
        let size = number(&vector["size"]);
        let [face, i, j] = ["face", "i", "j"].map(|name| number(&vector[name]));
        let texel = |face: i64, x: i64, y: i64| (64 * face + size * y + x) as f64;
        // On the edge of the face, half of the weight is beyond it; along an edge that is not exceeded, in the middle of a texel.
        let at = |index: i64| match index {
            -1 => 0.0,
            index if index == size => 1.0,
            index => (index as f32 + 0.5) / size as f32,
        };
        let payload = [face_word(face as u32, at(i)), at(j).to_bits(), 0];
        let cube = numbered_cube(size as u32);
        let found = sampled(&cube, &sampler(false), CUBE, &[payload])[0][0];
        let (x, y) = (i.clamp(0, size - 1), j.clamp(0, size - 1));
        let inner = texel(face, x, y);
        match vector["result"].as_array() {
            Some(result) => {
                let beyond = texel(number(&result[0]), number(&result[1]), number(&result[2]));
                assert_eq!(f64::from(found), (inner + beyond) / 2.0, "{vector}");
            }
            None => {
                // A corner counts as the mean of the other three taps: the four together are that mean. A tap across an edge is
                // what an edge without a corner gives, which other vectors are about.
                let across = |i: i64, j: i64| {
                    let payload = [face_word(face as u32, at(i)), at(j).to_bits(), 0];
                    let half = sampled(&cube, &sampler(false), CUBE, &[payload])[0][0];
                    2.0 * f64::from(half) - inner
                };
                let wanted = (inner + across(i, y) + across(x, j)) / 3.0;
                assert!(
                    (f64::from(found) - wanted).abs() < 1e-4,
                    "{found}, wanted {wanted}: {vector}"
                );
            }
        }
    }
}

#[test]
fn every_corner_of_every_face_is_the_mean_of_the_three_texels_that_meet_there() {
    for size in [2, 5] {
        let cube = numbered_cube(size);
        let last = size - 1;
        // Coordinates on an edge, and the texel inside of it.
        let ends = [(0.0, 0), (1.0, last)];
        let middle = |texel: u32| (texel as f32 + 0.5) / size as f32;
        for face in 0..6 {
            for ((s, x), (t, y)) in ends.iter().flat_map(|s| ends.map(|t| (*s, t))) {
                // The corner, and both edges beside it, in the middle of the texel inside.
                let places = [(s, t), (s, middle(y)), (middle(x), t)];
                let payloads = places.map(|(s, t)| [face_word(face, s), t.to_bits(), 0]);
                let found = sampled(&cube, &sampler(false), CUBE, &payloads);
                let [corner, one, other] = [0, 1, 2].map(|place| f64::from(found[place][0]));
                let inner = f64::from(64 * face + size * y + x);
                // On an edge half of the weight is beyond it.
                let wanted = (inner + (2.0 * one - inner) + (2.0 * other - inner)) / 3.0;
                assert!(
                    (corner - wanted).abs() < 1e-4,
                    "face {face} of {size} by {size}, corner ({s}, {t}): {corner}, wanted {wanted}"
                );
            }
        }
    }
}

/// The compiler's sequence for a direction in r4 to r6 (valhall-isa.md 9.8); u6 is one half, u7 the mask of s.
const DIRECTION: &str = "
    CUBEFACE1 r12, r4, r5, r6
    CUBEFACE2 r13, r4, r5, r6
    CUBE_SSEL r14, r6, r4, r13
    CUBE_TSEL r15, r5, r6, r13
    FRCP.f32 r12, r12
    FMA.f32 r12, r12, u6, 0x0.neg
    FMA.f32.clamp_0_1 r14, r12, r14, u6
    FMA.f32.clamp_0_1 r15, r12, r15, u6";

#[test]
fn directions_have_the_face_and_place_of_every_vector() {
    let vectors = list(FIRST, "cube_face");
    let dispatch = Dispatch {
        groups: [vectors.len().div_ceil(16) as u32, 1, 1],
        uniforms: uniforms(&[
            HANDLE,
            0,
            PAYLOADS as u32,
            (PAYLOADS >> 32) as u32,
            0.5_f32.to_bits(),
            0x1fff_ffff,
        ]),
        ..Dispatch::default()
    };
    let text = format!(
        "{LOAD}\n{DIRECTION}
        MOV.i32 r8, r13
        MOV.i32 r9, r14
        MOV.i32 r10, r15
        MOV.i32 r11, 0x0\n{STORE}"
    );
    let mut bench = run(&dispatch, &text, |bench| {
        for (thread, vector) in (0..).zip(&vectors) {
            let bytes: Vec<u8> = [0, 1, 2]
                .into_iter()
                .flat_map(|axis| (decimal(&vector["dir"][axis]) as f32).to_le_bytes())
                .collect();
            bench.put(1, PAYLOADS + 16 * thread, &bytes);
        }
    });
    for (thread, vector) in (0..).zip(&vectors) {
        let [face, s, t] = [0, 4, 8].map(|at| bench.get32(1, BUFFER + 16 * thread + at));
        assert_eq!(
            i64::from(face >> 29),
            number(&vector["face"]),
            "face: {vector}"
        );
        for (name, found) in [("s", s), ("t", t)] {
            let (found, wanted) = (f64::from(f32::from_bits(found)), decimal(&vector[name]));
            // FRCP is exact to a unit in the last place.
            assert!(
                (found - wanted).abs() <= 1e-6,
                "{name} {found}, wanted {wanted}: {vector}"
            );
        }
    }
}

#[test]
fn directions_are_projected_onto_the_face_and_place_of_every_vector() {
    const SIZE: u32 = 8;
    const SINGLE: &str = "TEX_SINGLE.slot0.reserved.32.cube.projection_enable.zero.wait0 @r8:r9:r10:r11, @r4:r5:r6, u2";
    const GATHER: &str = "TEX_GATHER.slot0.reserved.32.cube.projection_enable.gather4_r.wait0 @r8:r9:r10:r11, @r4:r5:r6, u2";
    let vectors = list(FIRST, "cube_face");
    let cube = numbered_cube(SIZE);
    let directions: Vec<[u32; 3]> = vectors
        .iter()
        .map(|vector| [0, 1, 2].map(|axis| (decimal(&vector["dir"][axis]) as f32).to_bits()))
        .collect();
    // The same places by the words that programs of v10 make of face and coordinates.
    let places: Vec<[u32; 3]> = vectors
        .iter()
        .map(|vector| {
            let [s, t] = ["s", "t"].map(|name| decimal(&vector[name]) as f32);
            [face_word(number(&vector["face"]) as u32, s), t.to_bits(), 0]
        })
        .collect();
    // Coordinates are rounded to 256ths of a texel, so that the last bits of a quotient do not count.
    let linear = Sampler {
        seamless_cube_map: true,
        ..sampler(false)
    };
    for gpu in ["G720", "G725"] {
        let found = sampled_on(gpu, &cube, &linear, (SINGLE, &directions));
        let wanted = sampled_on(gpu, &cube, &linear, (CUBE, &places));
        for ((vector, found), wanted) in vectors.iter().zip(found).zip(wanted) {
            assert_eq!(found, wanted, "{gpu}: {vector}");
        }
        let found = sampled_on(gpu, &cube, &linear, (GATHER, &directions));
        let four = GATHER.replace(".projection_enable", "").replace(":r6", "");
        let wanted = sampled_on(gpu, &cube, &linear, (&four, &places));
        for ((vector, found), wanted) in vectors.iter().zip(found).zip(wanted) {
            assert_eq!(found, wanted, "gather on {gpu}: {vector}");
        }
    }
}

#[test]
fn faces_without_seams_wrap_on_their_own() {
    const SIZE: u32 = 4;
    // On the left edge of face 1, in the middle of row 2: half of the weight is beyond the edge.
    let payload = [face_word(1, 0.0), (2.5_f32 / 4.0).to_bits(), 0];
    let texel = |x: u32| f64::from(64 + SIZE * 2 + x);
    for (mode, beyond) in [
        (WrapMode::ClampToEdge, texel(0)),
        (WrapMode::Repeat, texel(SIZE - 1)),
        (WrapMode::ClampToBorder, 1000.0),
    ] {
        let own = Sampler {
            wrap_mode_s: mode,
            wrap_mode_t: mode,
            seamless_cube_map: false,
            border_color_r: RawOrFloat(1000.0_f32.to_bits()),
            ..sampler(false)
        };
        let found = sampled(&numbered_cube(SIZE), &own, CUBE, &[payload])[0][0];
        assert_eq!(f64::from(found), (texel(0) + beyond) / 2.0, "{mode:?}");
    }
}
