//! Attachments that do not stay inside of their own memory, in every layout.

use super::*;
use crate::tile::tests::{framebuffer, packed, parameters, rgba8};
use eitri_descriptors::framebuffer::{
    AfbcZsTarget, BlockFormat, FramebufferParameters, Msaa, STarget, ZsTarget,
};
use eitri_descriptors::plane::AfbcCompressionMode;
use eitri_descriptors::target::{AfbcRgbRenderTarget, RgbRenderTarget, RtBuffer};
use eitri_descriptors::{Address, Arch};
use std::vec;

const BASE: u64 = 0x10_0000;

/// A framebuffer of these targets with room in the tile buffer.
fn of_targets(size: [u32; 2], samples: u32, targets: &[[u32; 16]]) -> Framebuffer {
    let parameters = FramebufferParameters {
        color_buffer_allocation: 32 << 10,
        ..parameters(size, samples, 256)
    };
    framebuffer(Arch::V11, parameters, None, targets)
}

/// The field that a single target of 200 by 140 pixels is reported for.
fn misfit_of(target: RgbRenderTarget) -> Option<&'static str> {
    of_targets([200, 140], 1, &[packed(Arch::V11, target)]).misfit(None)
}

#[test]
fn rows_that_run_into_each_other_are_found_in_every_layout() {
    for (block, least) in [
        (BlockFormat::Linear, 4 * 200),
        (BlockFormat::TiledUInterleaved, 13 * 1024),
        // Two blocks of 128 by 128 pixels.
        (BlockFormat::Interleaved64k, 2 << 16),
    ] {
        assert_eq!(misfit_of(rgba8(block, BASE, least)), None, "{block:?}");
        let narrow = misfit_of(rgba8(block, BASE, least - 64));
        assert_eq!(narrow, Some("Writeback Row Stride"), "{block:?}");
    }
}

/// A compressed target of 200 by 140 pixels of four bytes.
fn compressed(
    tiled: bool,
    wide_block: bool,
    row_stride: u32,
    body_offset: u32,
) -> AfbcRgbRenderTarget {
    let plain = rgba8(BlockFormat::Linear, 0, 0);
    AfbcRgbRenderTarget {
        internal_format: plain.internal_format,
        write_enable: true,
        writeback_format: plain.writeback_format,
        writeback_block_format: if tiled {
            BlockFormat::AfbcTiled
        } else {
            BlockFormat::Afbc
        },
        swizzle: plain.swizzle,
        wide_block,
        compression_mode: AfbcCompressionMode::R8G8B8A8,
        header: Address(BASE),
        row_stride,
        body_offset,
        ..AfbcRgbRenderTarget::default()
    }
}

#[test]
fn headers_that_run_into_each_other_or_into_the_body_are_found() {
    // Rows of header entries, and how many: 13 by 9 superblocks, 7 by 18 wide ones, 2 by 2 groups of 8 by 8, one by 3 wide groups.
    for (tiled, wide, row, rows) in [
        (false, false, 13 * 16, 9),
        (false, true, 7 * 16, 18),
        (true, false, 2 * 1024, 2),
        (true, true, 1024, 3),
    ] {
        let misfit = |stride: u32, body: u32| {
            let target = packed(Arch::V11, compressed(tiled, wide, stride, body));
            of_targets([200, 140], 1, &[target]).misfit(None)
        };
        let case = (tiled, wide);
        assert_eq!(misfit(row, row * rows), None, "{case:?}");
        assert_eq!(misfit(row - 16, row * rows), Some("Row Stride"), "{case:?}");
        let short = misfit(row, row * rows - 16);
        assert_eq!(short, Some("Body Offset"), "{case:?}");
    }
}

#[test]
fn compressed_depth_and_stencil_have_fields_of_their_own_names() {
    let misfit = |stride: u32, body_offset: u32| {
        let depth = AfbcZsTarget {
            write_format: Some(ZsFormat::D32),
            block_format: BlockFormat::AfbcTiled,
            header: Address(BASE),
            header_row_stride: stride,
            body_offset,
            ..AfbcZsTarget::default()
        };
        with_extension(packed(Arch::V11, depth)).misfit(None)
    };
    assert_eq!(misfit(0x400, 0x400), None);
    assert_eq!(misfit(0x3f0, 0x400), Some("Header Row Stride"));
    assert_eq!(misfit(0x400, 0x3f0), Some("Body Offset"));
}

/// A framebuffer of 64 by 64 pixels that writes depth and stencil alone.
fn with_extension(extension: [u32; 16]) -> Framebuffer {
    let parameters = FramebufferParameters {
        z_write_enable: true,
        s_write_enable: true,
        color_buffer_allocation: 1024,
        ..parameters([64, 64], 1, 256)
    };
    let off = RgbRenderTarget {
        write_enable: false,
        ..rgba8(BlockFormat::Linear, 0, 256)
    };
    framebuffer(
        Arch::V11,
        parameters,
        Some(extension),
        &[packed(Arch::V11, off)],
    )
}

/// What two targets of 32 by 32 pixels share.
fn shared(one: RgbRenderTarget, other: RgbRenderTarget) -> Option<u64> {
    let targets = [one, other].map(|target| packed(Arch::V11, target));
    let overlap = of_targets([32, 32], 1, &targets).overlap()?;
    let both = [Attachment::Colour(0), Attachment::Colour(1)];
    assert_eq!(overlap.attachments, both);
    Some(overlap.address)
}

#[test]
fn targets_in_the_same_memory_are_found_in_every_layout() {
    for (block, row, bytes) in [
        (BlockFormat::Linear, 128, 128 * 32),
        (BlockFormat::TiledUInterleaved, 2048, 4096),
        (BlockFormat::Interleaved64k, 0x1_0000, 0x1_0000),
    ] {
        let target = |base: u64| rgba8(block, base, row);
        assert_eq!(
            shared(target(BASE), target(BASE + bytes)),
            None,
            "{block:?}"
        );
        assert_eq!(
            shared(target(BASE + bytes), target(BASE)),
            None,
            "{block:?}"
        );
        let last = BASE + bytes - 64;
        let found = shared(target(BASE), target(last));
        assert_eq!(found, Some(last), "{block:?}");
        let found = shared(target(last), target(BASE));
        assert_eq!(found, Some(last), "{block:?}");
    }
}

#[test]
fn targets_beside_each_other_in_one_image_share_nothing() {
    let left = rgba8(BlockFormat::Linear, BASE, 256);
    let right = |columns: u64| rgba8(BlockFormat::Linear, BASE + 4 * columns, 256);
    assert_eq!(shared(left, right(32)), None);
    assert_eq!(shared(left, right(31)), Some(BASE + 4 * 31));
}

#[test]
fn a_target_in_the_header_or_body_of_another_is_found() {
    // 4 entries of 16 bytes, 4 payloads of 1 KiB.
    let compressed = AfbcRgbRenderTarget {
        row_stride: 32,
        body_offset: 128,
        ..compressed(false, false, 0, 0)
    };
    let header = packed(Arch::V11, compressed);
    for (base, found) in [
        (BASE - 4096, None),
        (BASE - 4096 + 64, Some(BASE)),
        (BASE + 64, Some(BASE + 128)),
        (BASE + 128 + 4096 - 64, Some(BASE + 128 + 4096 - 64)),
        (BASE + 128 + 4096, None),
    ] {
        let linear = packed(Arch::V11, rgba8(BlockFormat::Linear, base, 128));
        let overlap = of_targets([32, 32], 1, &[header, linear]).overlap();
        assert_eq!(overlap.map(|it| it.address), found, "{base:#x}");
    }
}

#[test]
fn samples_of_one_target_in_the_memory_of_another_are_found() {
    let layered = RgbRenderTarget {
        writeback_msaa: Msaa::Layered,
        writeback_buffer: RtBuffer {
            base: Address(BASE),
            row_stride: 128,
            surface_stride: 0x2000,
            ..RtBuffer::default()
        },
        ..rgba8(BlockFormat::Linear, BASE, 128)
    };
    let resolved = |base: u64| RgbRenderTarget {
        writeback_msaa: Msaa::Average,
        ..rgba8(BlockFormat::Linear, base, 128)
    };
    for (base, found) in [
        // Between two samples, in the last one, behind it.
        (BASE + 0x1000, None),
        (BASE + 3 * 0x2000 + 0xf80, Some(BASE + 3 * 0x2000 + 0xf80)),
        (BASE + 3 * 0x2000 + 0x1000, None),
    ] {
        let targets = [layered, resolved(base)].map(|target| packed(Arch::V11, target));
        let parameters = FramebufferParameters {
            color_buffer_allocation: 32 << 10,
            ..parameters([32, 32], 4, 256)
        };
        let overlap = framebuffer(Arch::V11, parameters, None, &targets).overlap();
        assert_eq!(overlap.map(|it| it.address), found, "{base:#x}");
    }
}

#[test]
fn only_what_is_rendered_counts() {
    let targets = [BASE, BASE + 0x800].map(|base| {
        let target = rgba8(BlockFormat::Linear, base, 128);
        packed(Arch::V11, target)
    });
    for (rows, found) in [
        ([0, 15], None),
        ([16, 31], None),
        ([8, 24], Some(BASE + 0xc00)),
    ] {
        let parameters = FramebufferParameters {
            bound_min_y: rows[0],
            bound_max_y: rows[1],
            ..parameters([32, 32], 1, 256)
        };
        let overlap = framebuffer(Arch::V11, parameters, None, &targets).overlap();
        assert_eq!(overlap.map(|it| it.address), found, "{rows:?}");
    }
}

/// Depth and stencil, each with its base.
fn zs(depth: (ZsFormat, u64), stencil: (SFormat, u64)) -> Option<Overlap> {
    let zs = ZsTarget {
        write_format: Some(depth.0),
        block_format: BlockFormat::Linear,
        base: Address(depth.1),
        row_stride: 256,
        ..ZsTarget::default()
    };
    let s = STarget {
        write_format: Some(stencil.0),
        block_format: BlockFormat::Linear,
        base: Address(stencil.1),
        row_stride: 256,
        ..STarget::default()
    };
    let [zs, s] = [packed(Arch::V11, zs), packed(Arch::V11, s)];
    let both: Vec<u32> = zs.iter().zip(s).map(|(one, other)| one | other).collect();
    with_extension(both.try_into().expect("as many words")).overlap()
}

#[test]
fn depth_and_stencil_share_memory_in_one_interleaved_image_alone() {
    let interleaved = (SFormat::X24S8, BASE);
    assert_eq!(zs((ZsFormat::D24S8, BASE), interleaved), None);
    let overlap = zs((ZsFormat::D24X8, BASE), (SFormat::S8, BASE));
    let expected = Overlap {
        attachments: [Attachment::Depth, Attachment::Stencil],
        address: BASE,
    };
    assert_eq!(overlap, Some(expected));
    let apart = zs((ZsFormat::D24X8, BASE), (SFormat::S8, BASE + 256 * 64));
    assert_eq!(apart, None);
}

#[test]
fn attachments_have_names() {
    let mut names = vec![Attachment::Depth.name(), Attachment::Stencil.name()];
    names.extend((0..8).map(|number| Attachment::Colour(number).name()));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 10);
    assert_eq!(Attachment::Colour(7).name(), "color target 7");
}
