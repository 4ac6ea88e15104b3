//! Coverage, depth and bias of drawn primitives against vectors that were computed elsewhere.
//!
//! Each vector is a pass on the whole device: vertices are shaded, culled and binned, fragments shaded, the tile written back.
//! Facts: data/graphics-vectors.json and graphics-vectors2.json; `about` in them explains the members.

use super::vector_files::{FIRST, SECOND, decimal, float, list, number};
use super::{BUFFER, CLEAR, Drawn, Pass, Rectangle, STORE, SURFACE, Vertices, pixels};
use eitri_descriptors::framebuffer::{SamplePattern, TieBreakRule, ZInternalFormat, ZsFormat};
use eitri_descriptors::raster::{DcdFlags0, DepthStencil, PixelKill};
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

/// Stores 9.
const NINE: &str = "
    IADD_IMM.i32 r0, 0x0, #0x9
    OUTPUT";

/// Stores fragment W, 1/w at the pixel.
const FRAGMENT_W: &str = "
    LD_VAR_SPECIAL.v2.f32.center.clobber.slot0.wait0126 @r0:r1, r61, index:0x2
    OUTPUT";

const POINTS: u32 = 1;
const TRIANGLES: u32 = 8;

/// A pass of one draw of vertices with a fragment program.
fn pass(mode: u32, count: u32, size: f32, program: &'static str) -> Pass {
    let [store, format] = STORE;
    Pass {
        uniforms: vec![store, format, 0, 0, BUFFER as u32, 0],
        draws: vec![Rectangle {
            vertices: Some(Vertices {
                mode,
                count,
                program: POSITION,
                size,
                flags: 0,
                indices: None,
                varying_bytes: 0,
            }),
            program,
            layers: 0,
            ..Rectangle::default()
        }],
        ..Pass::default()
    }
}

/// Runs a pass whose vertices have these positions: x, y, z, 1/w.
#[track_caller]
fn drawn(pass: &Pass, positions: &[[f32; 4]]) -> Drawn {
    pass.run_with(|bench| {
        for (number, position) in (0..).zip(positions) {
            let bytes: Vec<u8> = position.iter().flat_map(|it| it.to_le_bytes()).collect();
            bench.put(1, BUFFER + 16 * number, &bytes);
        }
    })
}

/// The triangle of a vector; its depths and 1/w where it has them.
pub fn corners(vector: &Value) -> [[f32; 4]; 3] {
    let optional = |name: &str, index: usize, usual: f32| match &vector[name] {
        Value::Null => usual,
        list => float(&list[index]),
    };
    [0, 1, 2].map(|index| {
        let xy = [0, 1].map(|axis| float(&vector["xy"][index][axis]));
        let (z, w) = (optional("z", index, 0.5), optional("inv_w", index, 1.0));
        [xy[0], xy[1], z, w]
    })
}

/// Samples of a pattern, and the pattern.
fn samples(vector: &Value) -> (u32, SamplePattern) {
    let code = number(&vector["pattern"]);
    let count = [1, 4, 4, 8, 16][code as usize];
    (
        count,
        SamplePattern::from_number(code).expect("a pattern's code"),
    )
}

/// Which samples of the first `side` rows and columns hold 9, as the vectors print them.
fn covered(drawn: &mut Drawn, samples: u32, side: u32) -> Vec<String> {
    let mut mask = |x: u32, y: u32| {
        let covered = (0..samples).filter(|sample| drawn.colour([x, y], *sample, 0) == 9);
        covered.fold(0_u32, |mask, sample| mask | 1 << sample)
    };
    let mut row = |y: u32| {
        let masks: Vec<String> = (0..side).map(|x| format!("{:x}", mask(x, y))).collect();
        masks.join(" ")
    };
    (0..side).map(&mut row).collect()
}

fn expected(vector: &Value, side: u32) -> Vec<String> {
    match vector["rows"].as_array() {
        Some(rows) => rows
            .iter()
            .map(|row| row.as_str().expect("a row").to_string())
            .collect(),
        // Without an area nothing is drawn.
        None => vec![vec!["0"; side as usize].join(" "); side as usize],
    }
}

#[test]
fn drawn_triangles_cover_the_samples_of_every_vector() {
    // 16 samples of a layer, one after another.
    const { assert!(16 * SURFACE <= 0x1_0000) };
    for vector in list(FIRST, "triangle_coverage") {
        let (samples, pattern) = samples(&vector);
        let pass = Pass {
            samples,
            pattern,
            tie: TieBreakRule::from_number(number(&vector["tie"])).expect("a code"),
            ..pass(TRIANGLES, 3, 1.0, NINE)
        };
        let mut drawn = drawn(&pass, &corners(&vector));
        let found = covered(&mut drawn, samples, 16);
        assert_eq!(found, expected(&vector, 16), "rows of {vector}");
    }
}

#[test]
fn drawn_points_cover_the_samples_of_every_vector() {
    for vector in list(SECOND, "point_coverage") {
        let (samples, pattern) = samples(&vector);
        let pass = Pass {
            samples,
            pattern,
            ..pass(POINTS, 1, float(&vector["size"]), NINE)
        };
        let centre = [float(&vector["x"]), float(&vector["y"]), 0.5, 1.0];
        let mut drawn = drawn(&pass, &[centre]);
        let found = covered(&mut drawn, samples, 8);
        assert_eq!(found, expected(&vector, 8), "rows of {vector}");
    }
}

/// The usual draw, which writes depth whatever was there.
fn writes_depth(mut pass: Pass, depth: DepthStencil) -> Pass {
    let draw = &mut pass.draws[0];
    draw.depth = DepthStencil {
        depth_write_enable: true,
        ..depth
    };
    pass
}

#[test]
fn drawn_depths_and_ws_agree_with_every_vector() {
    for vector in list(FIRST, "barycentric") {
        let usual = Rectangle::default();
        let pass = writes_depth(pass(TRIANGLES, 3, 1.0, FRAGMENT_W), usual.depth);
        let mut drawn = drawn(&pass, &corners(&vector));
        let pixel = [0, 1].map(|axis| number(&vector["pixel"][axis]));
        // The vectors extrapolate where the triangle does not cover the pixel's centre.
        let w = drawn.colour(pixel, 0, 0);
        if w == CLEAR {
            continue;
        }
        for (name, found) in [
            ("frag_z", drawn.depth(pixel)),
            ("frag_w", f32::from_bits(w)),
        ] {
            let (found, wanted) = (f64::from(found), decimal(&vector[name]));
            assert!(
                (found - wanted).abs() <= wanted.abs() * 1e-7,
                "{name} {found}: {vector}"
            );
        }
    }
}

#[test]
fn biased_depths_agree_with_every_vector() {
    for vector in list(SECOND, "depth_bias") {
        let (depth_format, bytes, most) = match vector["format"].as_str() {
            Some("D16") => ((ZInternalFormat::D16, ZsFormat::D16), 2, 65535.0),
            Some("D24") => ((ZInternalFormat::D24, ZsFormat::D24X8), 4, 16_777_215.0),
            _ => ((ZInternalFormat::D32, ZsFormat::D32), 4, 0.0),
        };
        let depth = DepthStencil {
            depth_bias_enable: true,
            depth_units: float(&vector["units"]),
            depth_factor: float(&vector["factor"]),
            depth_bias_clamp: float(&vector["clamp"]),
            ..Rectangle::default().depth
        };
        let pass = Pass {
            depth_format,
            ..writes_depth(pass(TRIANGLES, 3, 1.0, NINE), depth)
        };
        let corners = corners(&vector);
        let mut drawn = drawn(&pass, &corners);
        let bias = decimal(&vector["bias"]);
        let drawn_at = |drawn: &mut Drawn, pixel: [u32; 2]| drawn.colour(pixel, 0, 0) == 9;
        let mut checked = 0;
        for pixel in pixels() {
            if !drawn_at(&mut drawn, pixel) {
                continue;
            }
            // All triangles have corners at (0, 0), (16, 0) and (0, 16).
            let [x, y] = pixel.map(|at| (f64::from(at) + 0.5) / 16.0);
            let [a, b, c] = corners.map(|corner| f64::from(corner[2]));
            let wanted = (a + (b - a) * x + (c - a) * y + bias).clamp(0.0, 1.0);
            let code = drawn.depth_code(pixel, bytes);
            let (found, unit) = match most {
                0.0 => (f64::from(f32::from_bits(code)), 1e-7),
                most => (f64::from(code) / most, 0.5001 / most),
            };
            assert!(
                (found - wanted).abs() <= unit,
                "{pixel:?} {found}, wanted {wanted}: {vector}"
            );
            checked += 1;
        }
        assert!(checked > 100, "{checked} pixels are drawn: {vector}");
    }
}

/// Derives coverage from the alpha in u6, and stores 9.
const COVERAGE: &str = "
    MOV.i32 r4, u6
    NOP.wait0126
    ATEST.wait0126 @r60, r60, r4, atest_datum.w0
    IADD_IMM.i32 r0, 0x0, #0x9
    OUTPUT";

#[test]
fn alpha_covers_the_samples_of_every_vector() {
    for vector in list(SECOND, "alpha_to_coverage_4x") {
        let [store, format] = STORE;
        let alpha = float(&vector["alpha"]).to_bits();
        let pass = Pass {
            samples: 4,
            uniforms: vec![store, format, 0, 0, 0, 0, alpha, 0],
            draws: vec![Rectangle {
                program: COVERAGE,
                flags: DcdFlags0 {
                    multisample_enable: true,
                    shader_modifies_coverage: true,
                    alpha_to_coverage: true,
                    pixel_kill_operation: PixelKill::ForceLate,
                    zs_update_operation: PixelKill::ForceLate,
                    ..DcdFlags0::default()
                },
                ..Rectangle::default()
            }],
            ..Pass::default()
        };
        let mut drawn = pass.run();
        for [x, y] in pixels() {
            let covered = (0..4).filter(|sample| drawn.colour([x, y], *sample, 0) == 9);
            let mask = covered.fold(0, |mask, sample| mask | 1 << sample);
            let wanted = number(&vector["masks_2x2"][y as usize % 2][x as usize % 2]);
            assert_eq!(mask, wanted, "({x}, {y}): {vector}");
        }
    }
}

/// hardware/graphics-draw.md 3.10: a bit for each bound, and one of the descriptor for both.
#[test]
fn depths_beyond_a_bound_are_culled_where_the_draw_asks_for_it() {
    // Depth grows from 0 at the left to 1 at the right.
    let corners = [
        [0.0, 0.0, 0.0, 1.0],
        [32.0, 0.0, 2.0, 1.0],
        [0.0, 32.0, 0.0, 1.0],
    ];
    for (gpu, by_descriptor) in [("G610", false), ("G610", true), ("G925", true)] {
        for (low, high) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut pass = Pass {
                gpu,
                ..pass(TRIANGLES, 3, 1.0, NINE)
            };
            let draw = &mut pass.draws[0];
            draw.range = [0.25, 0.75];
            draw.depth.depth_cull_enable = by_descriptor;
            let vertices = draw.vertices.as_mut().expect("it has some");
            vertices.flags = u32::from(low) << 16 | u32::from(high) << 17;
            let mut drawn = drawn(&pass, &corners);
            let columns: Vec<u32> = (0..16)
                .filter(|x| drawn.colour([*x, 3], 0, 0) == 9)
                .collect();
            let first = if by_descriptor && low { 4 } else { 0 };
            let end = if by_descriptor && high { 12 } else { 16 };
            let wanted: Vec<u32> = (first..end).collect();
            assert_eq!(
                columns, wanted,
                "{gpu}: low {low}, high {high}, descriptor {by_descriptor}"
            );
        }
    }
}
