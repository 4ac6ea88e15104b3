//! Varyings: from a vertex program through interpolation to fragments.
//!
//! Passes are of v12, where one program stores positions and varyings; the passes of captures have those of v10.
//! Facts: hardware/graphics-model.md 3.1; hardware/graphics-compiler.md 1.3.

use super::bench::Bench;
use super::descriptors::put;
use super::vector_files::{FIRST, decimal, float, list, number};
use super::vectors::corners;
use super::{BUFFER, CLEAR, Drawn, Pass, RESOURCES, Rectangle, SIDE, STORE, Vertices};
use eitri_csf::page_table::Attributes;
use eitri_descriptors::PixelFormat;
use eitri_descriptors::raster::DepthStencil;
use eitri_descriptors::resource::{Attribute, AttributeFrequency, AttributeType};
use eitri_isa::Arch;
use eitri_model::Inexact;

/// Stores position `vertex` of the buffer, whose address is in u4, and the value 256 bytes behind it as varying.
const POSITION: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LOAD.i32.unsigned.slot0 @r12, r2, offset:256
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    LEA_BUF_IMM.slot1.wait01 @r6:r7, r59, table:0xD, index:0x1
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    STORE.i32.estream.slot2 @r12, r6, offset:0
    NOP.end";

/// Stores the varying at the pixel's centre.
const VALUE: &str = "
    LD_VAR_BUF_IMM.f32.slot0.src_f32.center.clobber.wait0126 @r0, r61, index:0x0
    OUTPUT";

const TRIANGLES: u32 = 8;

/// A pass that draws a triangle whose vertices have a varying.
fn pass(gpu: &'static str) -> Pass {
    let [store, format] = STORE;
    Pass {
        gpu,
        writes_zs: false,
        uniforms: vec![store, format, 0, 0, BUFFER as u32, 0],
        draws: vec![Rectangle {
            vertices: Some(Vertices {
                mode: TRIANGLES,
                count: 3,
                program: POSITION,
                size: 1.0,
                flags: 0,
                indices: None,
                varying_bytes: 4,
            }),
            program: VALUE,
            layers: 0,
            ..Rectangle::default()
        }],
        ..Pass::default()
    }
}

#[track_caller]
fn drawn(
    pass: &Pass,
    positions: [[f32; 4]; 3],
    values: [f32; 3],
    fill: impl Fn(&mut Bench),
) -> Drawn {
    pass.run_with(|bench| {
        for (number, (position, value)) in (0..).zip(positions.iter().zip(values)) {
            let bytes: Vec<u8> = position.iter().flat_map(|it| it.to_le_bytes()).collect();
            bench.put(1, BUFFER + 16 * number, &bytes);
            bench.put(1, BUFFER + 256 + 16 * number, &value.to_le_bytes());
        }
        fill(bench);
    })
}

#[test]
fn varyings_agree_with_every_vector() {
    let mut checked = 0;
    for vector in list(FIRST, "barycentric") {
        for gpu in ["G720", "G925"] {
            let values = [0, 1, 2].map(|index| float(&vector["attr"][index]));
            let mut drawn = drawn(&pass(gpu), corners(&vector), values, |_| {});
            let pixel = [0, 1].map(|axis| number(&vector["pixel"][axis]));
            // The vectors extrapolate where the triangle does not cover the pixel's centre.
            let found = drawn.colour(pixel, 0, 0);
            if found == CLEAR {
                continue;
            }
            let (found, wanted) = (f64::from(f32::from_bits(found)), decimal(&vector["value"]));
            let near = (found - wanted).abs() <= wanted.abs() * 1e-7;
            assert!(near, "{found} on {gpu}: {vector}");
            checked += 1;
        }
    }
    assert!(checked >= 8, "{checked} pixels are covered");
}

/// As [`POSITION`], with two words as varyings.
const TWO_WORDS: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LOAD.i64.unsigned.slot0 @r12:r13, r2, offset:256
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    LEA_BUF_IMM.slot1.wait01 @r6:r7, r59, table:0xD, index:0x1
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    STORE.i64.estream.slot2 @r12:r13, r6, offset:0
    NOP.end";

/// Corners of a triangle that covers the target.
const COVERING: [[f32; 4]; 3] = [
    [0.0, 0.0, 0.5, 1.0],
    [64.0, 0.0, 0.5, 1.0],
    [0.0, 64.0, 0.5, 1.0],
];

/// A pass that draws a triangle whose vertices have two words as varyings.
fn of_two_words(program: &'static str) -> Pass {
    let mut pass = pass("G720");
    let draw = &mut pass.draws[0];
    draw.program = program;
    draw.vertices = draw.vertices.take().map(|vertices| Vertices {
        program: TWO_WORDS,
        varying_bytes: 8,
        ..vertices
    });
    pass
}

/// Stores the second word in odd columns and the first in the others: u3 is 4.
const WORD_OF_COLUMN: &str = "
    LSHIFT_AND.i32 r4, r59, 0x3020100.b22, u3
    LD_VAR_BUF.f32.slot0.src_f32.center.clobber.wait0126 @r0, r61, r4
    OUTPUT";

#[test]
fn lanes_may_read_varyings_at_places_of_their_own() {
    let mut pass = of_two_words(WORD_OF_COLUMN);
    pass.uniforms[3] = 4;
    let mut drawn = drawn(&pass, COVERING, [3.0; 3], |bench| {
        for vertex in 0..3 {
            bench.put(1, BUFFER + 260 + 16 * vertex, &7.0_f32.to_le_bytes());
        }
    });
    for x in 0..SIDE {
        let wanted = if x % 2 == 0 { 3.0_f32 } else { 7.0 };
        assert_eq!(drawn.colour([x, 5], 0, 0), wanted.to_bits(), "column {x}");
    }
}

/// What a program reads of a varying that an attribute describes, at this place among the vertices' two words. Each vertex has other
/// bits in the last byte of both.
#[track_caller]
fn described(load: &str, (format, offset): (u32, i32), words: [u32; 2]) -> u32 {
    let program = format!("{load}\nOUTPUT");
    let mut pass = of_two_words(Box::leak(program.into_boxed_str()));
    pass.attribute = Some([[0.0; 4]; 4]);
    let mut drawn = drawn(&pass, COVERING, [0.0; 3], |bench| {
        for vertex in 0..3_u64 {
            for (number, word) in (0..).zip(words) {
                let bytes = (word ^ vertex as u32).to_le_bytes();
                bench.put(1, BUFFER + 256 + 16 * vertex + 4 * number, &bytes);
            }
        }
        // Of a vertex packet, whose varyings begin at 1024 (hardware/descriptors.md 7).
        let attribute = Attribute {
            attribute_type: AttributeType::VertexPacket,
            format: PixelFormat(format << 12),
            table: 61,
            frequency: AttributeFrequency::Vertex,
            offset: 1024 + offset,
            ..Attribute::default()
        };
        put(bench, Arch::V12, RESOURCES + 0x40, &attribute);
    });
    drawn.colour([5, 5], 0, 0)
}

#[test]
fn attributes_of_vertex_packets_say_where_a_varying_is_and_what_it_holds() {
    const SMOOTH: &str =
        "LD_VAR_IMM.slot0.f32.center.clobber.wait0126 @r0, r61, table:0x0, index:0x0";
    const FLAT: &str = "LD_VAR_FLAT_IMM.slot0.u32.wait0126 @r0, table:0x0, index:0x0";
    const SIGNED: &str = "LD_VAR_FLAT_IMM.slot0.s32.wait0126 @r0, table:0x0, index:0x0";
    let [r32_float, r16_float, r32_uint, r16_uint, r16_sint] = [167, 199, 133, 132, 196];
    // What the vertices change is the last place of a float.
    let wide = described(SMOOTH, (r32_float, 4), [0, 7.0_f32.to_bits()]);
    assert!((f32::from_bits(wide) - 7.0).abs() < 1e-5, "{wide:#x}");
    let narrow = described(SMOOTH, (r16_float, 2), [0x4100_0000, 0]);
    assert_eq!(f32::from_bits(narrow), 2.5);
    // The last vertex provokes: its number is 2.
    assert_eq!(
        described(FLAT, (r32_uint, 4), [0, 0x9876_5430]),
        0x9876_5432
    );
    assert_eq!(described(FLAT, (r16_uint, 0), [0x1234_fff0, 0]), 0xfff2);
    assert_eq!(described(FLAT, (r16_uint, 2), [0x9234_fff0, 0]), 0x9234);
    assert_eq!(
        described(SIGNED, (r16_sint, 2), [0x9234_fff0, 0]),
        0xffff_9234
    );
}

/// Pixels along the ramp.
const WIDE: u32 = 12288;
/// Where its target lies.
const TARGET: u64 = 0x80_0000_0000;

/// The value of the last pixel of a ramp that has the value 0.5 in its first, 1.5 in the second and so on.
#[track_caller]
fn end_of_ramp(gpu: &'static str, biased: bool) -> f32 {
    let size = [WIDE, SIDE];
    let mut pass = Pass {
        size,
        target: TARGET,
        clean_tiles: false,
        boxes: vec![[[WIDE - SIDE, 0], [WIDE - 1, SIDE - 1]]],
        ..pass(gpu)
    };
    let draw = &mut pass.draws[0];
    draw.scissor = [[0, 0], size.map(|side| side - 1)];
    // A bias of nothing.
    draw.depth = DepthStencil {
        depth_bias_enable: biased,
        ..draw.depth
    };
    let wide = WIDE as f32;
    // Twice as wide as the framebuffer, and twice as high, so that the last column is covered.
    let at = |x: f32, y: f32| [x, y, 0.5, 1.0];
    let corners = [at(0.0, 0.0), at(2.0 * wide, 0.0), at(0.0, 64.0)];
    let mut drawn = drawn(&pass, corners, [0.0, 2.0 * wide, 0.0], |bench| {
        bench.map(1, TARGET, u64::from(4 * WIDE * SIDE), Attributes::CACHED);
    });
    f32::from_bits(drawn.bench.get32(1, TARGET + 4 * u64::from(WIDE - 1)))
}

#[test]
fn varyings_of_wide_primitives_drift_where_the_gpu_is_named_so() {
    let exact = WIDE as f32 - 0.5;
    assert_eq!(end_of_ramp("G720", false), exact);
    assert_eq!(end_of_ramp("G720,drift", true), exact, "with depth bias");
    let drifted = end_of_ramp("G720,drift", false);
    // By 2^-10 of the value, as measured.
    let wanted = exact * (1.0 - 1.0 / 1024.0);
    assert!((drifted - wanted).abs() < 0.2, "{drifted}, wanted {wanted}");
}

#[test]
fn the_centroid_of_several_samples_is_told_as_not_exact() {
    for (samples, at, told) in [
        (1, "center.clobber", false),
        (1, "centroid.clobber", false),
        (4, "center.clobber", false),
        (4, "sample.clobber", false),
        (4, "centroid.clobber", true),
        (4, "centroid.store", true),
    ] {
        let program = VALUE.replace("center.clobber", at);
        let mut pass = Pass {
            samples,
            fidelity: true,
            ..pass("G720")
        };
        pass.draws[0].program = Box::leak(program.into_boxed_str());
        let corners = [
            [0.0, 0.0, 0.5, 1.0],
            [16.0, 0.25, 0.5, 1.0],
            [0.25, 16.0, 0.5, 1.0],
        ];
        let drawn = drawn(&pass, corners, [1.0; 3], |_| {});
        let mut met = drawn.bench.gpu.fidelity().met();
        let found = met.any(|(one, _)| one == Inexact::Centroid);
        assert_eq!(found, told, "{at} of {samples} samples");
    }
}

/// What a program stores for a pixel of a target of four samples; u6 is `operand`. Without divisions: the varying is 16 times the
/// column, and the row.
#[track_caller]
fn stored(program: String, operand: u32) -> f32 {
    let mut pass = Pass {
        samples: 4,
        ..pass("G720")
    };
    pass.uniforms.push(operand);
    pass.draws[0].program = Box::leak(program.into_boxed_str());
    let corners = [
        [0.0, 0.0, 0.5, 1.0],
        [64.0, 0.0, 0.5, 1.0],
        [0.0, 64.0, 0.5, 1.0],
    ];
    let mut drawn = drawn(&pass, corners, [0.0, 1024.0, 64.0], |_| {});
    f32::from_bits(drawn.colour([5, 9], 0, 0))
}

/// The program's operand says where: the sample's number in bits 20:16, or a place of 1/256 pixel for each axis.
#[test]
fn varyings_are_taken_where_the_operand_says() {
    let rotated =
        [[-2, -6], [6, -2], [-6, 2], [2, 6]].map(|at: [i32; 2]| at.map(|it| 128 + 16 * it));
    let explicit = [[0, 0], [128, 64], [-32, 300]];
    // Other bits of the operand say nothing of a sample.
    let by_number = (0..)
        .zip(rotated)
        .map(|(sample, at)| ("sample", 0xFFE0_FFFF | sample << 16, at));
    let by_place =
        explicit.map(|at| ("explicit", at[0] as u32 & 0xFFFF | (at[1] as u32) << 16, at));
    for (mode, operand, [x, y]) in by_number.chain(by_place) {
        let program = VALUE
            .replace("center", mode)
            .replace("r61", "r1")
            .replace("LD_VAR", "MOV.i32 r1, u6\n    LD_VAR");
        let found = stored(program, operand);
        let at = |pixel: i32, offset: i32| (256 * pixel + offset) as f32 / 256.0;
        let wanted = 16.0 * at(5, x) + at(9, y);
        assert_eq!(found, wanted, "{mode} {operand:#010x}");
    }
}

/// `retrieve` interpolates at the place that a load with `store` has kept, `clobber` at its own.
#[test]
fn a_place_that_is_kept_is_where_the_next_load_is() {
    const FIRST: &str = "LD_VAR_BUF_IMM.f32.slot0.src_f32.sample.store.wait0126 @r2, r1, index:0x0";
    const NEXT: &str =
        "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.retrieve.wait0126 @r0, r61, index:0x0";
    const OTHER: &str =
        "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.clobber.wait0126 @r0, r61, index:0x0";
    // The third sample is 6/16 left of the centre, and 2/16 below it.
    let (kept, centre) = (16.0 * 5.125 + 9.625, 16.0 * 5.5 + 9.5);
    for (next, wanted) in [(NEXT, kept), (OTHER, centre)] {
        let program = format!("MOV.i32 r1, u6\n{FIRST}\n{next}\nOUTPUT");
        let found = stored(program, 2 << 16);
        assert_eq!(found, wanted, "{next}");
    }
}
