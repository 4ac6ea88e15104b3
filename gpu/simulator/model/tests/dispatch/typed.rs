//! Typed memory: texel buffers, images, fetched textures, counters. Expected values are computed here from the facts.
//!
//! Facts: hardware/valhall-isa.md 11.4 to 11.6, 11.10, 11.12; hardware/descriptors.md 8, 9.1, 10.2.

use eitri_csf::command::GpuCommand;
use eitri_csf::registers::control::GPU_COMMAND;

use super::{BUFFER, Bench, DESCRIPTORS, DONE, Dispatch};

/// The first descriptor of the table that the buffers leave free, and its index.
pub(super) const FREE: (u64, u32) = (DESCRIPTORS + 0x140, 2);
const PLANES: u64 = DESCRIPTORS + 0x400;
const TILED: u64 = BUFFER + 0x1_0000;
pub(super) const LINEAR: u64 = BUFFER + 0x2_0000;

const RGBA8: u32 = 0x0b_b000;
const BGRA8: u32 = 0x0b_b004;
pub(super) const R32_UINT: u64 = 0x08_5010;

/// Runs a program after `fill` has put what it needs into memory.
#[track_caller]
pub(super) fn run(dispatch: &Dispatch, text: &str, fill: impl Fn(&mut Bench)) -> Bench {
    run_on("G610", dispatch, text, fill)
}

/// As [`run`], on another product.
#[track_caller]
pub(super) fn run_on(
    gpu: &str,
    dispatch: &Dispatch,
    text: &str,
    fill: impl Fn(&mut Bench),
) -> Bench {
    let mut bench = dispatch.prepare_on(gpu, text);
    fill(&mut bench);
    dispatch.submit(&mut bench);
    bench.drain(0);
    assert_eq!(bench.get64(1, DONE), 1, "\n{}", bench.report());
    bench.expect_no_diagnoses();
    bench
}

pub(super) fn uniforms(more: &[u32]) -> Vec<u32> {
    [&[BUFFER as u32, (BUFFER >> 32) as u32], more].concat()
}

#[test]
fn a_texel_buffer_is_loaded_and_stored_by_its_conversion_word() {
    let dispatch = Dispatch {
        uniforms: uniforms(&[RGBA8, BGRA8]),
        ..Dispatch::default()
    };
    // Elements of 8 bytes: the first word is read as RGBA8, the second written as BGRA8.
    let text = "
        LEA_BUF_IMM.slot0.wait0 @r0:r1, r60, table:0x1, index:0x1
        LD_CVT.f32.v4.slot0.wait0 @r4:r5:r6:r7, r0, u2, offset:0x0
        ST_CVT.f32.v4.slot0.wait0 @r4:r5:r6:r7, r0, u3, offset:0x4
        NOP.end";
    let texel = |index: u32| 0x8040_2000 + index;
    let mut bench = run(&dispatch, text, |bench| {
        for index in 0..16 {
            bench.put(
                1,
                BUFFER + 8 * u64::from(index),
                &texel(index).to_le_bytes(),
            );
        }
    });
    for index in 0..16 {
        let [r, g, b, a] = texel(index).to_le_bytes();
        let got = bench.get32(1, BUFFER + 8 * u64::from(index) + 4);
        assert_eq!(got, u32::from_le_bytes([b, g, r, a]), "element {index}");
    }
}

/// A texture of 32 x 32 texels of a format, without its plane, whose address it gives.
pub(super) fn plane_of(bench: &mut Bench, number: u64, format: u64, interleave: u64) -> u64 {
    let plane = PLANES + 64 * number;
    bench.put_words(
        1,
        FREE.0 + 32 * number,
        &[
            2 | 2 << 4 | format << 10 | (31 | 31 << 16) << 32,
            0x688 | interleave,
            plane,
            0,
        ],
    );
    plane
}

/// A texture of 32 x 32 R32_UINT texels, and its plane.
pub(super) fn texture(bench: &mut Bench, number: u64, order: u64, pointer: u64, row_stride: u64) {
    let interleave = if order == 2 { 0 } else { 1 << 12 };
    let plane = plane_of(bench, number, R32_UINT, interleave);
    bench.put_words(
        1,
        plane,
        &[
            10 | 1 << 4 | order << 8 | 2 << 24 | 4096 << 32,
            pointer,
            row_stride,
            (31 | 31 << 16) << 32,
        ],
    );
}

/// What the tiled texture holds at a texel.
fn texel(x: u32, y: u32) -> u32 {
    1000 * y + x
}

/// Bytes from the start of a u-interleaved plane of 32 x 32 words to a texel, bit by bit as the facts have it.
fn tiled_offset(x: u32, y: u32) -> u64 {
    let mut index = 0;
    for bit in 0..4 {
        index += ((x >> bit & 1) ^ (y >> bit & 1)) << (2 * bit);
        index += (y >> bit & 1) << (2 * bit + 1);
    }
    let tile = 2 * (y / 16) + x / 16;
    u64::from(4 * (256 * tile + index))
}

fn fill_textures(bench: &mut Bench) {
    texture(bench, 0, 1, TILED, 2048);
    texture(bench, 1, 2, LINEAR, 128);
    for y in 0..32 {
        for x in 0..32 {
            bench.put(1, TILED + tiled_offset(x, y), &texel(x, y).to_le_bytes());
        }
    }
}

#[test]
fn a_tiled_texture_is_fetched_and_a_linear_image_stored() {
    let (table, index) = (1, FREE.1);
    let dispatch = Dispatch {
        groups: [3, 1, 1],
        uniforms: uniforms(&[table << 27 | index << 16, 0]),
        ..Dispatch::default()
    };
    // Row 21; threads beyond 31 lie outside: they read 0 and store nothing.
    let text = "
        MOV.i32 r4, r60
        IADD_IMM.i32 r5, 0x0, #0x15
        IADD_IMM.i32 r2, r60, #0x150000
        TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u2
        LEA_TEX_IMM.slot0.wait0 @r12:r13:r14, r2, 0x0, table:0x1, index:0x3
        ST_CVT.auto.slot0.wait0 @r8, r12, r14, offset:0x0
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        STORE.i32.slot0.wait0 @r8, r0, offset:0
        NOP.end";
    let mut bench = run(&dispatch, text, fill_textures);
    for x in 0..48 {
        let expected = if x < 32 { texel(x, 21) } else { 0 };
        let stored = bench.get32(1, LINEAR + 128 * 21 + 4 * u64::from(x));
        assert_eq!(stored, expected, "column {x} of the image");
        let fetched = bench.get32(1, BUFFER + 4 * u64::from(x));
        assert_eq!(fetched, expected, "column {x} as fetched");
    }
}

#[test]
fn lanes_that_choose_textures_have_the_format_of_their_own() {
    let (table, index) = (1, FREE.1);
    let dispatch = Dispatch {
        uniforms: uniforms(&[table << 27 | index << 16, 0, 1 << 16]),
        ..Dispatch::default()
    };
    // Row 0 of the first texture in even lanes, and of the second in odd ones.
    let text = "
        LSHIFT_AND.i32 r2, r60, 0x13121110.b00, u4
        LSHIFT_OR.i32 r2, r2, 0x3020100.b00, u2
        MOV.i32 r3, 0x0
        MOV.i32 r4, r60
        MOV.i32 r5, 0x0
        TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, r2
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        STORE.i32.slot0.wait0 @r8, r0, offset:0
        NOP.end";
    let word = |x: u32| 0x0102_0300 + x;
    let mut bench = run(&dispatch, text, |bench| {
        texture(bench, 0, 2, LINEAR, 128);
        texture(bench, 1, 2, LINEAR, 128);
        plane_of(bench, 1, u64::from(RGBA8), 0);
        for x in 0..32 {
            bench.put(1, LINEAR + 4 * u64::from(x), &word(x).to_le_bytes());
        }
    });
    for x in 0..16 {
        let red = (word(x) & 0xff) as f32 / 255.0;
        let expected = if x % 2 == 0 { word(x) } else { red.to_bits() };
        let fetched = bench.get32(1, BUFFER + 4 * u64::from(x));
        assert_eq!(fetched, expected, "lane {x}");
    }
}

#[test]
fn an_image_is_loaded_by_its_coordinates() {
    let dispatch = Dispatch {
        uniforms: uniforms(&[]),
        ..Dispatch::default()
    };
    // Column 9, rows 24 to 39: those from 32 on lie outside.
    let text = "
        IADD_IMM.i32 r4, r60, #0x18
        MKVEC.v2i16 r2, u2.h00, r4.h00
        LD_TEX_IMM.u32.slot0.wait0 @r8, r2, 0x0, index:0x2, table:0x1
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        STORE.i32.slot0.wait0 @r8, r0, offset:0
        NOP.end";
    let dispatch = Dispatch {
        uniforms: uniforms(&[9, 0]),
        ..dispatch
    };
    let mut bench = run(&dispatch, text, fill_textures);
    for row in 24..40 {
        let expected = if row < 32 { texel(9, row) } else { 0 };
        let got = bench.get32(1, BUFFER + 4 * u64::from(row - 24));
        assert_eq!(got, expected, "row {row}");
    }
}

#[test]
fn time_moves_between_two_reads_of_the_counter() {
    let text = "
        LD_GCLK.u64.slot0.cycle_counter.wait0 @r0:r1
        LD_GCLK.u64.slot0.cycle_counter.wait0 @r2:r3
        ISUB.u64 r4, r2, r0
        SHADDX.u64 r6, u0, r60.w0, shift:0x3
        STORE.i64.slot0.wait0 @r4:r5, r6, offset:0
        NOP.end";
    let mut bench = run(&Dispatch::default(), text, |bench| {
        bench.write(GPU_COMMAND, GpuCommand::Time(true).word());
    });
    let passed = bench.get64(1, BUFFER);
    assert!((1..100).contains(&passed), "{passed} cycles passed");
}

#[test]
fn attributes_lie_where_their_components_may() {
    let dispatch = Dispatch {
        uniforms: uniforms(&[]),
        ..Dispatch::default()
    };
    let text = "
        LD_ATTR_IMM.v4.f32.slot0.wait0 @r4:r5:r6:r7, r60, r61, index:0x2, table:0x1
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        STORE.i32.slot0.wait0 @r5, r0, offset:0
        NOP.end";
    // Four bytes each, from an odd address on: 16 vertices behind the results.
    let first: u64 = 0x1001;
    let mut bench = run(&dispatch, text, |bench| {
        let attribute = [
            5 | 1 << 4 | 1 << 8 | u64::from(RGBA8) << 10 | 1 << 32,
            first,
            4,
            0,
        ];
        bench.put_words(1, FREE.0, &attribute);
        // Buffer 0 of the table is too small for that.
        bench.put_words(1, FREE.0 - 64, &[9 | 1 << 4 | 0x2000 << 32, BUFFER, 0, 0]);
        for vertex in 0..16_u64 {
            let texel = [7, 15 * vertex as u8, 9, 11];
            bench.put(1, BUFFER + first + 4 * vertex, &texel);
        }
    });
    for vertex in 0..16_u64 {
        let green = f32::from_bits(bench.get32(1, BUFFER + 4 * vertex));
        assert_eq!(green, (15 * vertex) as f32 / 255.0, "vertex {vertex}");
    }
}

/// What a sampler that compares for equality gives for references 0, 0.5, 1, 1.5, over a texture of one depth.
fn compared(format: u64, clump: u64, texel: &[u8]) -> [f32; 4] {
    let sampler = FREE.1 + 1;
    let dispatch = Dispatch {
        uniforms: uniforms(&[1 << 27 | FREE.1 << 16 | 1 << 11 | sampler, 0]),
        ..Dispatch::default()
    };
    // The reference is half of the lane's number.
    let text = "
        MOV.i32 r2, r60
        U32_TO_F32 r2, r2
        IADD_IMM.i32 r3, 0x0, #0x3F000000
        FMA.f32 r6, r2, r3, 0x0
        MOV.i32 r4, 0x0
        MOV.i32 r5, 0x0
        TEX_SINGLE.slot0.reserved.32.2d.shadow.zero.wait0 @r8:r9:r10:r11, @r4:r5:r6, u2
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        STORE.i32.slot0.wait0 @r8, r0, offset:0
        NOP.end";
    let mut bench = run(&dispatch, text, |bench| {
        let plane = plane_of(bench, 0, format, 0);
        let words = [
            10 | 1 << 4 | 2 << 8 | clump << 24 | 4096 << 32,
            LINEAR,
            128,
            0,
        ];
        bench.put_words(1, plane, &words);
        bench.put(1, LINEAR, texel);
        // Nearest, clamped to the edge, normalised; equality.
        let sampler = [0x5a89_9901 | 2 << (32 + 13), 0, 0, 0];
        bench.put_words(1, FREE.0 + 32, &sampler);
    });
    std::array::from_fn(|lane| f32::from_bits(bench.get32(1, BUFFER + 4 * lane as u64)))
}

#[test]
fn references_are_limited_where_depth_is_a_fraction() {
    // D16 of 1: 1 and 1.5 are equal to it. A float of 1: 1 alone is.
    let fraction = compared(0x04_b000, 1, &[0xff, 0xff]);
    assert_eq!(fraction, [0.0, 0.0, 1.0, 1.0]);
    let float = compared(0x04_c000, 2, &1.0_f32.to_le_bytes());
    assert_eq!(float, [0.0, 0.0, 1.0, 0.0]);
}
