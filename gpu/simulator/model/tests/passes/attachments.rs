//! Attachments that do not lie where a pass can write them.
//!
//! Facts: hardware/graphics-framebuffer.md 5.3, 5.6, 5.8; gpu-mmu.md 8.

use super::bench::{Bench, stream_output};
use super::{COLOUR, DEPTH, FRAMEBUFFER, Other, Pass, Rectangle, SIDE, STORE, SURFACE, pixels};
use eitri_csf::registers::address_space as aspace;
use eitri_csf::registers::interrupts::{MMU_IRQ_CLEAR, MMU_IRQ_RAWSTAT};
use eitri_descriptors::framebuffer::BlockFormat;
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat};

/// Words of a framebuffer: the base of the first target, and of the second.
const FIRST_BASE: u64 = 48 + 8;
const SECOND_BASE: u64 = 64 + 8;
/// The base of depth, and of stencil.
const DEPTH_BASE: u64 = 32 + 8;
const STENCIL_BASE: u64 = 32 + 12;
/// Pages of which none is mapped.
const NOWHERE: u64 = 0x7777_0000;

fn put_base(bench: &mut Bench, word: u64, address: u64) {
    bench.put(1, FRAMEBUFFER + 4 * word, &address.to_le_bytes());
}

/// A pass that clears two targets.
fn two_targets() -> Pass {
    Pass {
        others: vec![Other {
            internal: ColorBufferInternalFormat::RAW32,
            format: ColorFormat::RAW32,
            bytes: 4,
            clear: [7; 4],
        }],
        ..Pass::default()
    }
}

/// Runs a pass of which one attachment lies elsewhere, and expects a diagnosis.
#[track_caller]
fn check_overlap(pass: &Pass, word: u64, address: u64, told: &str) {
    let mut bench = pass.submitted(|bench| put_base(bench, word, address));
    bench.drain(0);
    bench.expect_diagnosis(told);
}

#[test]
fn attachments_that_are_written_to_each_others_memory_are_told() {
    let last = COLOUR + u64::from(SURFACE) - 64;
    check_overlap(
        &two_targets(),
        SECOND_BASE,
        last,
        "color target 0 and color target 1 of a pass are both written at 0x200003c0",
    );
    check_overlap(
        &Pass::default(),
        DEPTH_BASE,
        COLOUR,
        "color target 0 and depth of a pass are both written at 0x20000000",
    );
    check_overlap(
        &Pass::default(),
        STENCIL_BASE,
        DEPTH + 64,
        "depth and stencil of a pass are both written at 0x20100040",
    );
    // One behind the other.
    two_targets().run_with(|bench| put_base(bench, SECOND_BASE, COLOUR + u64::from(SURFACE)));
}

/// Runs a pass of which one attachment lies where nothing is mapped: what the host sees, and that nothing else is written meanwhile.
#[track_caller]
fn check_unmapped(pass: &Pass, word: u64, attachment: &str) {
    let mut bench = pass.submitted(|bench| put_base(bench, word, NOWHERE));
    bench.poll(MMU_IRQ_RAWSTAT, 1 << 1, 1 << 1);
    let status = bench.read(aspace::AS_FAULTSTATUS.at(1));
    const WRITE: u32 = 3;
    assert_eq!(status >> 8 & 3, WRITE, "{attachment}");
    // The tile buffer of core 0.
    assert_eq!(status >> 16, 0x00C0, "{attachment}");
    assert_eq!(
        bench.read64(aspace::AS_FAULTADDRESS.at(1)) & !0xfff,
        NOWHERE
    );
    let note = format!("the write-back of {attachment} fails in the tile at (0, 0)");
    assert!(bench.notes().contains(&note), "{}", bench.notes());
    bench.expect_no_diagnoses();
    // The space is taken away, as drivers do, and the job fails.
    bench.write(MMU_IRQ_CLEAR, 1 << 1);
    bench.disable_space(1);
    bench.wait(1000);
    let fault = bench.shared(stream_output(0) + 0x80);
    assert_eq!(fault & 0xf8, 0xC0, "{attachment}: a translation fault");
}

#[test]
fn an_attachment_that_nothing_is_mapped_for_is_named_with_its_tile() {
    check_unmapped(&two_targets(), FIRST_BASE, "color target 0");
    check_unmapped(&two_targets(), SECOND_BASE, "color target 1");
    check_unmapped(&Pass::default(), DEPTH_BASE, "depth");
    check_unmapped(&Pass::default(), STENCIL_BASE, "stencil");
}

#[test]
fn an_image_that_ends_before_its_last_tiles_is_told_at_the_first_that_is_missing() {
    // Four by four tiles, of which the first three rows are mapped: 16 KiB of 256 by 64 bytes.
    let side = 4 * SIDE;
    let pass = Pass {
        size: [side; 2],
        target: NOWHERE,
        writes_zs: false,
        ..Pass::default()
    };
    let mut bench = pass.submitted(|bench| {
        let attributes = eitri_csf::page_table::Attributes::CACHED;
        bench.map(1, NOWHERE, 0x3000, attributes);
    });
    bench.poll(MMU_IRQ_RAWSTAT, 1 << 1, 1 << 1);
    assert_eq!(
        bench.read64(aspace::AS_FAULTADDRESS.at(1)) & !0xfff,
        NOWHERE + 0x3000
    );
    let notes = bench.notes();
    assert!(
        notes.contains("the write-back of color target 0 fails in the tile at (0, 48)"),
        "{notes}"
    );
}

#[test]
fn rows_of_blocks_of_64_kib_that_overlap_are_told() {
    // 256 columns of four bytes are two blocks of 64 KiB.
    let pass = Pass {
        size: [256, SIDE],
        writes_zs: false,
        boxes: vec![[[0, 0], [SIDE - 1, SIDE - 1]]],
        clean_tiles: false,
        ..Pass::default()
    };
    for (stride, told) in [(1_u32 << 16, true), (2 << 16, false)] {
        let mut bench = pass.submitted(|bench| {
            let word = FRAMEBUFFER + 4 * (48 + 1);
            let blocks = (BlockFormat::Interleaved64k as u32) << 8;
            let changed = bench.get32(1, word) & !(0xf << 8) | blocks;
            bench.put(1, word, &changed.to_le_bytes());
            bench.put(1, FRAMEBUFFER + 4 * (48 + 10), &stride.to_le_bytes());
        });
        bench.drain(0);
        match told {
            true => bench.expect_diagnosis("the field Writeback Row Stride of the descriptor"),
            false => bench.expect_no_diagnoses(),
        }
    }
}

#[test]
fn checksums_are_ignored_and_every_touched_tile_is_written() {
    // A table of zeros, which no tile is compared with, where nothing is mapped.
    const CHECKSUMS: u32 = 3 << 30;
    const EMPTY_TILES: u32 = 3 << 28;
    let pass = Pass {
        uniforms: STORE.to_vec(),
        draws: vec![Rectangle {
            program: "IADD_IMM.i32 r0, 0x0, #0x9\nOUTPUT",
            ..Rectangle::default()
        }],
        clean_tiles: false,
        ..Pass::default()
    };
    for bits in [CHECKSUMS, CHECKSUMS | EMPTY_TILES] {
        let mut drawn = pass.run_with(|bench| {
            let word = FRAMEBUFFER + 4 * 12;
            let changed = bench.get32(1, word) | bits;
            bench.put(1, word, &changed.to_le_bytes());
            put_base(bench, 32 + 4, NOWHERE);
        });
        for pixel in pixels() {
            assert_eq!(drawn.colour(pixel, 0, 0), 9, "{pixel:?}, {bits:#x}");
        }
    }
}
