//! Compressed images: what passes write reads back through the plane of a texture.

use super::*;
use crate::tile::afbc::{AfbcHeader, AfbcSurface, AfbcTexel};

/// The bits of a texel of a compressed image.
#[track_caller]
fn texel(surface: &AfbcSurface, memory: &mut Array, at: [u32; 2]) -> u128 {
    let mut entry = [0; 16];
    memory
        .read(surface.entry_address(at), &mut entry)
        .expect("the header is there");
    let (address, bytes) = match surface.texel(&AfbcHeader::decode(entry), at) {
        AfbcTexel::At(address) => (address, surface.pixel_bytes),
        AfbcTexel::Packed(address) => (address, AfbcSurface::PACKED_BYTES),
        other => panic!("no texel at {at:?}: {other:?}"),
    };
    let mut bits = [0; 16];
    memory
        .read(address, &mut bits[..usize::from(bytes)])
        .expect("the body is there");
    surface.restored(u128::from_le_bytes(bits))
}

#[test]
fn compressed_colour_reads_back_through_the_plane_of_a_texture() {
    // As worked/mrt: tiled headers, 64 by 64 pixels; here RGBA8, whose groups are 8 by 8.
    let target = AfbcRgbRenderTarget {
        internal_format: Internal::R8G8B8A8,
        write_enable: true,
        writeback_format: ColorFormat::R8G8B8A8,
        writeback_block_format: BlockFormat::AfbcTiled,
        swizzle: Swizzle::IDENTITY,
        yuv_transform: true,
        compression_mode: AfbcCompressionMode::R8G8B8A8,
        header: Address(BASE),
        row_stride: 0x400,
        body_offset: 0x1000,
        ..AfbcRgbRenderTarget::default()
    };
    let target = packed(Arch::V11, target);
    let parameters = parameters([40, 24], 1, 256);
    let framebuffer = framebuffer(Arch::V11, parameters, None, &[target]);
    let mut memory = Array::new(BASE, 0x1000 + 64 * 1024);
    let clip = PixelBox::of(&framebuffer).expect("a box");
    let mut tile = TileBuffer::new(&framebuffer);
    let colour = |x: u32, y: u32| [x, y, x ^ y, 200].map(|code| f64::from(code) / 255.0);
    for (left, top) in [(0, 0), (16, 0), (32, 0), (0, 16), (16, 16), (32, 16)] {
        for index in 0..256 {
            let (x, y) = (index % 16, index / 16);
            let source = Source::Colour(colour(left + x, top + y));
            tile.write_opaque(&output(0, 0x0e_d000), Pixel { x, y }, 1, &source)
                .expect("a write");
        }
        write_back(&tile, &framebuffer, [left, top], clip, &mut memory).expect("memory is there");
    }
    let plane = AfbcPlane {
        ytr: true,
        tiled_header: true,
        compression_mode: AfbcCompressionMode::R8G8B8A8,
        pointer: Address(BASE),
        header_row_stride: 0x400,
        ..AfbcPlane::default()
    };
    let format = PixelFormat::of(0x0b_b000).expect("RGBA8 UNORM");
    let surface = AfbcSurface::of_plane(&plane, &format);
    for (x, y) in (0..24).flat_map(|y| (0..40).map(move |x| (x, y))) {
        let bits = texel(&surface, &mut memory, [x, y]);
        assert_eq!(format.unpack(bits), colour(x, y), "({x}, {y})");
    }
    // The transform is applied: the first bytes of the body are not the pixel's.
    let raw = &memory.bytes[0x1000 + 8..][..4];
    assert_ne!(raw, [2, 0, 2, 200]);
}

#[test]
fn compressed_depth_and_stencil_read_back() {
    let zs = AfbcZsTarget {
        write_format: Some(ZsFormat::D24),
        block_format: BlockFormat::AfbcTiled,
        header: Address(BASE),
        header_row_stride: 0x400,
        body_offset: 0x1000,
        ..AfbcZsTarget::default()
    };
    let s = AfbcSTarget {
        write_format: Some(SFormat::S8),
        block_format: BlockFormat::Afbc,
        header: Address(BASE + 0x8000),
        header_row_stride: 16,
        body_offset: 0x80,
        ..AfbcSTarget::default()
    };
    let extension = or(packed(Arch::V10, zs), packed(Arch::V10, s));
    let (tile, framebuffer) =
        of_extension(extension, ZInternalFormat::D24, |index| 0x1_0101 * index);
    let mut memory = Array::new(BASE, 0x9000);
    send(&tile, &framebuffer, &mut memory);
    let depth = AfbcPlane {
        tiled_header: true,
        compression_mode: AfbcCompressionMode::R8G8B8A8,
        pointer: Address(BASE),
        header_row_stride: 0x400,
        ..AfbcPlane::default()
    };
    let stencil = AfbcPlane {
        compression_mode: AfbcCompressionMode::S8,
        pointer: Address(BASE + 0x8000),
        header_row_stride: 16,
        ..AfbcPlane::default()
    };
    let [z24, s8] = [0x04_d000, 0x05_d002].map(|word| PixelFormat::of(word).expect("a format"));
    let depth = AfbcSurface::of_plane(&depth, &z24);
    let stencil = AfbcSurface::of_plane(&stencil, &s8);
    for index in 0..256_u32 {
        let at = [index % 16, index / 16];
        let found = z24.unpack(texel(&depth, &mut memory, at))[0];
        assert_eq!(
            found,
            f64::from(0x1_0101 * index) / f64::from(0xff_ffff),
            "{at:?}"
        );
        assert_eq!(texel(&stencil, &mut memory, at), index.into(), "{at:?}");
    }
}

/// A target of raw bits that is one superblock of 16 by 16 pixels, and the plane through which a texture reads it.
fn one_superblock(mode: AfbcCompressionMode) -> (AfbcRgbRenderTarget, AfbcPlane) {
    let target = AfbcRgbRenderTarget {
        internal_format: Internal::RAW32,
        write_enable: true,
        writeback_format: ColorFormat::RAW32,
        writeback_block_format: BlockFormat::Afbc,
        swizzle: Swizzle::IDENTITY,
        compression_mode: mode,
        header: Address(BASE),
        row_stride: 16,
        body_offset: 0x80,
        ..AfbcRgbRenderTarget::default()
    };
    let plane = AfbcPlane {
        compression_mode: mode,
        pointer: Address(BASE),
        header_row_stride: 16,
        ..AfbcPlane::default()
    };
    (target, plane)
}

#[test]
fn compressed_bits_of_three_components_have_three_in_the_body() {
    // R8G8B8_SNORM: raw bits of 32 in the tile and in the code of the write-back, 24 in the image.
    let (target, plane) = one_superblock(AfbcCompressionMode::R8G8B8);
    let target = packed(Arch::V10, target);
    let framebuffer = framebuffer(Arch::V10, parameters([16, 16], 1, 256), None, &[target]);
    // A header and a body of 3 bytes a pixel: a byte more is refused.
    let mut memory = Array::new(BASE, 0x80 + 3 * 256);
    let clip = PixelBox::of(&framebuffer).expect("a box");
    let mut tile = TileBuffer::new(&framebuffer);
    let colour = |index: u32| [1, 2, 3, 0].map(|part| f64::from(part * index % 127) / 127.0);
    for index in 0..256 {
        let pixel = Pixel {
            x: index % 16,
            y: index / 16,
        };
        tile.write_opaque(
            &output(0, 0x07_3000),
            pixel,
            1,
            &Source::Colour(colour(index)),
        )
        .expect("a write");
    }
    write_back(&tile, &framebuffer, [0, 0], clip, &mut memory).expect("memory is there");
    let format = PixelFormat::of(0x07_3010).expect("R8G8B8_SNORM");
    let surface = AfbcSurface::of_plane(&plane, &format);
    for index in 0..256 {
        let bits = texel(&surface, &mut memory, [index % 16, index / 16]);
        assert_eq!(
            format.unpack(bits)[..3],
            colour(index)[..3],
            "pixel {index}"
        );
    }
}

#[test]
fn an_area_that_begins_inside_of_a_superblock_has_its_header_written() {
    // Raw bits, 16 by 16 pixels: one superblock, of which the area has a corner.
    let (target, plane) = one_superblock(AfbcCompressionMode::R8G8B8A8);
    let parameters = FramebufferParameters {
        bound_min_x: 10,
        bound_min_y: 9,
        ..parameters([16, 16], 1, 256)
    };
    let target = packed(Arch::V10, target);
    let framebuffer = framebuffer(Arch::V10, parameters, None, &[target]);
    let mut memory = Array::new(BASE, 0x80 + 4 * 256);
    let clip = PixelBox::of(&framebuffer).expect("a box");
    let tile = TileBuffer::new(&framebuffer);
    write_back(&tile, &framebuffer, [0, 0], clip, &mut memory).expect("memory is there");
    let format = PixelFormat::of(0x0b_b000).expect("RGBA8 UNORM");
    let surface = AfbcSurface::of_plane(&plane, &format);
    // What was cleared is 0; memory began as other bytes.
    assert_eq!(texel(&surface, &mut memory, [10, 9]), 0);
    assert_eq!(texel(&surface, &mut memory, [15, 15]), 0);
}
