//! Render passes on the whole device: what few captures draw. Descriptors are packed here, programs are assembly.
//!
//! Each pass draws on a target of 16 by 16 32-bit integers and a depth target of floats: rectangles by RUN_FULLSCREEN, and what
//! vertices make by RUN_IDVS.
//!
//! Facts: hardware/graphics-model.md 4; graphics-framebuffer.md 5.1, 5.10; graphics-raster.md 4.6, 4.9; graphics-draw.md 3.17.

mod assembly_vectors;
mod attachments;
#[path = "../bench/mod.rs"]
mod bench;
mod blend_vectors;
mod commands;
mod counters;
mod descriptors;
mod every_format;
mod faults;
mod format_vectors;
mod forward_kill;
mod frame_shaders;
mod idvs;
mod interrupted;
mod long_streams;
mod pass;
mod pixel_history;
mod rectangles;
mod refused;
mod samples;
mod size_vectors;
mod stored_vectors;
mod tile_accesses;
mod told;
mod traced;
mod varyings;
#[path = "../vector_files/mod.rs"]
mod vector_files;
mod vectors;
mod vertices;
pub use pass::{Colour, Drawn, IndexBuffer, Other, Pass, Rectangle, Vertices, pixels};

use eitri_descriptors::framebuffer::Msaa;
use eitri_model::{Aim, Injection};

/// Pixels along a side of the target; one tile.
pub const SIDE: u32 = 16;
/// Bytes of a row, and of a surface, of both targets.
const ROW: u32 = 4 * SIDE;
const SURFACE: u32 = ROW * SIDE;

pub const COLOUR: u64 = 0x2000_0000;
const DEPTH: u64 = 0x2010_0000;
const STENCIL: u64 = DEPTH + 0x800;
/// A buffer for programs.
pub const BUFFER: u64 = 0x2020_0000;
pub const DONE: u64 = 0x2100_0000;
/// Where further colour targets lie.
const OTHERS: u64 = 0x2200_0000;
pub const HEAP: u64 = 0x3000_0000;
const CHUNK: u64 = 0x20_0000;
const HEAP_CONTEXT: u64 = 0x3100_0000;
/// Where an exception handler lies.
pub const HANDLER: u64 = 0x3200_0000;
const CODE: u64 = 0x4000_0000;
const TABLES: u64 = 0x4100_0000;

pub const FRAMEBUFFER: u64 = TABLES;
const FRAME_SHADERS: u64 = TABLES + 0x800;
pub const TILER: u64 = TABLES + 0xa00;
const TILER_HEAP: u64 = TABLES + 0xa80;
pub const SAMPLE_POSITIONS: u64 = TABLES + 0xb00;
const BLEND: u64 = TABLES + 0xc00;
const UNIFORMS: u64 = TABLES + 0xd00;
const DRAWS: u64 = TABLES + 0x1000;
const PROGRAMS: u64 = TABLES + 0x2000;
const DEPTH_STENCILS: u64 = TABLES + 0x3000;
/// Tables of resources: attributes in the first, buffers in the second.
const RESOURCES: u64 = TABLES + 0x3c00;

/// Words 2 and 3 of a BLEND descriptor that stores 32-bit integers without change.
pub const STORE: [u32; 2] = [0x19, 0x0308_5000];
/// What the colour target is cleared to.
pub const CLEAR: u32 = 0x0102_0304;

/// Runs a pass whose framebuffer has another word, and expects a diagnosis that names a field.
#[track_caller]
fn check_misfit(word: u64, change: impl Fn(u32) -> u32, field: &str) {
    let mut bench = Pass::default().submitted(|bench| {
        let address = FRAMEBUFFER + 4 * word;
        let changed = change(bench.get32(1, address));
        bench.put(1, address, &changed.to_le_bytes());
    });
    bench.drain(0);
    bench.expect_diagnosis(&format!(
        "the field {field} of the descriptor at 0x41000000"
    ));
}

#[test]
fn a_tile_that_its_allocation_does_not_hold_is_told() {
    // 16 by 16 pixels of 4 bytes, and no room.
    check_misfit(11, |word| word & 0x00ff_ffff, "Color Buffer Allocation");
}

#[test]
fn state_that_changes_nothing_here_is_told() {
    for (word, bit, field) in [
        (0, 9, "Downscale geometry"),
        (11, 17, "Blend suppress NaN"),
        (12, 9, "S Preload Enable"),
        (12, 19, "Z Preload Enable"),
        (12, 29, "Empty Tile Write Enable"),
    ] {
        check_misfit(
            word,
            |old| old | 1 << bit,
            &format!("{field} (not modelled)"),
        );
    }
}

#[test]
fn what_tile_buffers_do_not_hold_is_told() {
    let misfit = |pass: Pass, field: &str| {
        let mut bench = pass.submitted(|_| {});
        bench.drain(0);
        bench.expect_diagnosis(&format!(
            "the field {field} of the descriptor at 0x41000000"
        ));
    };
    // 32 KiB for colours, 16 KiB for depth and stencil.
    let more_colours = Pass {
        allocation: Some(33 << 10),
        ..Pass::default()
    };
    misfit(more_colours, "Color Buffer Allocation");
    // 4 bytes of 4 samples of 2,048 pixels.
    let more_depth = Pass {
        samples: 4,
        tile: 2048,
        allocation: Some(32 << 10),
        ..Pass::default()
    };
    misfit(more_depth, "Effective Tile Size");
    // Twice as large on a newer product.
    for (gpu, allocation) in [("G720", 64 << 10), ("G725", 64 << 10)] {
        let fits = Pass {
            gpu,
            allocation: Some(allocation),
            ..Pass::default()
        };
        fits.run();
        let allocation = Some(allocation + 1024);
        misfit(
            Pass {
                gpu,
                allocation,
                ..Pass::default()
            },
            "Color Buffer Allocation",
        );
    }
}

#[test]
fn samples_whose_surfaces_overlap_are_told() {
    for (word, field) in [
        (48 + 11, "Writeback Surface Stride"),
        (32 + 11, "Surface Stride"),
    ] {
        let pass = Pass {
            samples: 4,
            ..Pass::default()
        };
        let mut bench = pass.submitted(|bench| {
            // Depth has a surface for each sample, too.
            let zs = FRAMEBUFFER + 4 * 32;
            let layered = bench.get32(1, zs) | (Msaa::Layered as u32) << 8;
            bench.put(1, zs, &layered.to_le_bytes());
            bench.put(1, FRAMEBUFFER + 4 * word, &(SURFACE - 4).to_le_bytes());
        });
        bench.drain(0);
        bench.expect_diagnosis(&format!("the field {field} of the descriptor"));
    }
}

#[test]
fn attachments_whose_rows_overlap_are_told() {
    // Of the colour target, of depth, of stencil: one byte too few.
    check_misfit(48 + 10, |_| ROW - 1, "Writeback Row Stride");
    check_misfit(32 + 10, |_| ROW - 1, "Row Stride");
    check_misfit(32 + 14, |_| SIDE - 1, "Row Stride");
}

#[test]
fn a_fault_at_any_step_of_a_draw_ends_its_job_alone() {
    let fault = Injection::DrawStepFault { exception: 0x58 };
    let pass = Pass {
        uniforms: STORE.to_vec(),
        draws: vec![Rectangle {
            vertices: Some(Vertices {
                mode: 8,
                count: 3,
                program: "LEA_BUF_IMM.slot1.wait1 @r4:r5, r59, table:0xD, index:0x0
                    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
                    NOP.end",
                size: 1.0,
                flags: 0,
                indices: None,
                varying_bytes: 0,
            }),
            program: "MOV.i32 r0, r60\nOUTPUT",
            layers: 0,
            ..Rectangle::default()
        }],
        ..Pass::default()
    };
    let mut struck = 0;
    for nth in 1.. {
        let mut bench = pass.submitted(|_| {});
        bench.gpu.inject_aimed(fault, Aim::NOW.nth(nth));
        bench.wait(2000);
        let reported = bench.shared(bench::stream_output(0) + 0x80) & 0xff;
        if reported == 0 {
            assert_eq!(bench.get64(1, DONE), 1, "step {nth}");
            break;
        }
        assert_eq!(reported, 0x58, "step {nth}");
        struck += 1;
    }
    // Of the draw: fetch, allocation, a warp, three vertices and their triangle, the end; of the pass: eight steps of its tile.
    assert!((10..40).contains(&struck), "{struck} steps");
}

#[test]
fn a_wrong_field_of_a_framebuffer_is_named() {
    let mut bench = Pass::default().submitted(|bench| {
        // Tiles of 8 pixels.
        let word = bench.get32(1, FRAMEBUFFER + 4 * 11) & !(0xf << 9) | 3 << 9;
        bench.put(1, FRAMEBUFFER + 4 * 11, &word.to_le_bytes());
    });
    const DATA_INVALID_FAULT: u32 = 0x58;
    bench.poll_shared(bench::stream_output(0) + 0x80, 0xff, DATA_INVALID_FAULT);
    bench.expect_diagnosis("the field Effective Tile Size of the descriptor at 0x41000000");
}
