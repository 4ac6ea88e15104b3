//! Headers against the vectors; surfaces written and read back.

use super::*;
use crate::tile::tests::vectors;
use eitri_descriptors::Address;
use std::vec::Vec;

fn rgba8() -> PixelFormat {
    PixelFormat::of(187 << 12).expect("RGBA8 UNORM")
}

#[test]
fn headers_are_read_and_written_as_the_vectors_have_them() {
    for case in &vectors("graphics-vectors.json", "afbc_header") {
        let digits = case["header"].as_str().expect("a string");
        let digits = u128::from_str_radix(digits, 16).expect("hexadecimal digits");
        let bytes = digits.to_be_bytes();
        let header = AfbcHeader::decode(bytes);
        assert_eq!(
            Some(u64::from(header.offset)),
            case["offset"].as_u64(),
            "{case}"
        );
        let sizes: Vec<u64> = header.sizes.iter().map(|size| u64::from(*size)).collect();
        let expected: Vec<u64> = case["sizes"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|size| size.as_u64().expect("a number"))
            .collect();
        assert_eq!(sizes, expected, "{case}");
        assert_eq!(
            Some(header.solid_colour().is_some()),
            case["solid"].as_bool()
        );
        let payload = header.payload_before(SUBBLOCKS, 4).next_multiple_of(16);
        assert_eq!(
            Some(payload),
            case["payload_bytes_bpp32"].as_u64(),
            "{case}"
        );
        assert_eq!(header.encode(), bytes, "{case}");
    }
}

#[test]
fn a_zeroed_header_is_a_solid_superblock_of_zeros() {
    let header = AfbcHeader::decode([0; 16]);
    let plane = AfbcPlane::default();
    let surface = AfbcSurface::of_plane(&plane, &rgba8());
    assert_eq!(surface.texel(&header, [3, 3]), AfbcTexel::Solid(0));
    let mut bytes = [0; 16];
    bytes[8..12].copy_from_slice(&[1, 2, 3, 4]);
    let header = AfbcHeader::decode(bytes);
    assert_eq!(
        surface.texel(&header, [0, 0]),
        AfbcTexel::Solid(0x0403_0201)
    );
    assert_eq!(header.encode(), bytes);
}

#[test]
fn a_compressed_subblock_is_not_read() {
    let mut header = AfbcHeader::of_size(0x100, UNCOMPRESSED);
    header.sizes[1] = 17;
    let surface = AfbcSurface::of_plane(&AfbcPlane::default(), &rgba8());
    assert_eq!(surface.texel(&header, [0, 0]), AfbcTexel::At(0x100));
    assert_eq!(surface.texel(&header, [4, 0]), AfbcTexel::Compressed);
    // The third subblock begins after 64 bytes and 17.
    assert_eq!(
        surface.texel(&header, [8, 0]),
        AfbcTexel::At(0x100 + 64 + 17)
    );
}

/// The places of all pixels of an image of `size` are its own, beyond the headers, and a reader finds each.
#[track_caller]
fn check_places(surface: AfbcSurface, size: [u32; 2], header_bytes: u64) {
    let pixels = || (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y]));
    let mut all: Vec<u64> = pixels().map(|at| surface.written_address(at)).collect();
    for at in pixels() {
        let entry = surface.entry_address(at) - surface.header;
        assert!(
            entry < header_bytes && entry.is_multiple_of(16),
            "entry of {at:?}"
        );
        let header = surface.written_entry(at).expect("an entry");
        let header = AfbcHeader::decode(header.encode());
        let place = AfbcTexel::At(surface.written_address(at));
        assert_eq!(surface.texel(&header, at), place, "{at:?}");
    }
    all.sort_unstable();
    let bytes = u64::from(surface.pixel_bytes);
    let body = surface.header + surface.body_offset;
    assert!(all[0] >= body && all.windows(2).all(|pair| pair[0] + bytes <= pair[1]));
    let extent = u64::from(size[0] * size[1]) * bytes;
    assert_eq!(all.last().map(|last| last + bytes - body), Some(extent));
}

#[test]
fn plain_and_tiled_surfaces_give_each_pixel_its_place() {
    let plain = AfbcSurface {
        header: 0x8000,
        row_stride: 4 * 16,
        body_offset: 0x200,
        superblock: Superblock::SQUARE,
        tiled: false,
        pixel_bytes: 4,
        packed: false,
        transform: None,
    };
    check_places(plain, [64, 48], 12 * 16);
    let wide = AfbcSurface {
        superblock: Superblock::WIDE,
        row_stride: 2 * 16,
        ..plain
    };
    check_places(wide, [64, 24], 6 * 16);
    // Groups of 4 by 4 at more than 32 bits a pixel (worked/mrt: row stride 256 for 64 pixels).
    let tiled = AfbcSurface {
        tiled: true,
        pixel_bytes: 8,
        row_stride: 256,
        ..plain
    };
    check_places(tiled, [64, 64], 256);
    // Groups of 8 by 8: a row of them has 0x400 bytes for 64 pixels, padded to 128.
    let depth = AfbcSurface {
        tiled: true,
        pixel_bytes: 3,
        row_stride: 0x400,
        body_offset: 0x1000,
        ..plain
    };
    check_places(depth, [128, 128], 0x400);
}

#[test]
fn the_transform_is_undone_exactly() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    use AfbcCompressionMode as M;
    for mode in [
        M::R5G6B5,
        M::R4G4B4A4,
        M::R5G5B5A1,
        M::R8G8B8,
        M::R8G8B8A8,
        M::R10G10B10A2,
        M::R11G11B10,
        M::R16G16B16,
        M::R16G16B16A16,
    ] {
        let widths = channel_widths(mode).expect("a mode of colours");
        let surface = AfbcSurface::of_plane(
            &AfbcPlane {
                ytr: true,
                compression_mode: mode,
                pointer: Address(0),
                ..AfbcPlane::default()
            },
            &rgba8(),
        );
        let bits: u32 = widths.iter().map(|width| u32::from(*width)).sum();
        let mut moved = false;
        for _ in 0..2_000 {
            let pixel = u128::from(next()) & ((1 << bits) - 1);
            let written = surface.transformed(pixel);
            assert_eq!(surface.restored(written), pixel, "{mode:?} {pixel:#x}");
            assert_eq!(written >> bits, 0, "{mode:?} {pixel:#x}");
            moved |= written != pixel;
        }
        assert!(moved, "{mode:?} is transformed");
    }
}

/// The same texture may be depth that was written alone, or beside stencil.
#[test]
fn depth_of_24_bits_takes_as_many_bytes_as_its_header_says() {
    let format = PixelFormat::of(77 << 12).expect("Z24X8 UNORM");
    let plane = AfbcPlane {
        compression_mode: AfbcCompressionMode::R8G8B8A8,
        ..AfbcPlane::default()
    };
    let surface = AfbcSurface::of_plane(&plane, &format);
    let alone = AfbcSurface {
        pixel_bytes: 3,
        ..surface
    };
    let at = [5, 1];
    let entry = alone.written_entry(at).expect("an entry");
    let place = AfbcTexel::Packed(alone.written_address(at));
    assert_eq!(surface.texel(&entry, at), place);
    // Drivers copy it as three bytes.
    let bytes = PixelFormat::of(147 << 12 | 16).expect("R8G8B8 UINT");
    let copied = AfbcSurface::of_plane(&plane, &bytes);
    assert_eq!(copied.texel(&entry, at), place);
    let beside = AfbcSurface {
        packed: false,
        ..surface
    };
    let entry = beside.written_entry(at).expect("an entry");
    let place = AfbcTexel::At(beside.written_address(at));
    assert_eq!(surface.texel(&entry, at), place);
}
