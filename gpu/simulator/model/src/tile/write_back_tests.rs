//! What reaches memory: formats, swizzles, samples, depth and stencil, compressed images.

use super::*;
use crate::shader::PixelFormat;
use crate::tile::layout::{Order, element_offset};
use crate::tile::tests::{Array, framebuffer, packed, parameters, rgba8};
use crate::tile::{Conversion, Output, Source, StoredZs};
use eitri_descriptors::attachment_formats::{TARGET_FORMATS, Writeback};
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::framebuffer::{
    AfbcSTarget, AfbcZsTarget, BlockFormat, FramebufferParameters, Msaa, SFormat, STarget, ZsTarget,
};
use eitri_descriptors::plane::{AfbcCompressionMode, AfbcPlane};
use eitri_descriptors::target::{
    AfbcRgbRenderTarget, ColorBufferInternalFormat as Internal, ColorFormat, FloatColorFormat,
    RgbRenderTarget, RtBuffer,
};
use eitri_descriptors::{Address, Arch, Swizzle};

const BASE: u64 = 0x4000;

fn output(target: u8, word: u32) -> Output {
    Output {
        target,
        components: 4,
        conversion: Conversion::of(word),
    }
}

/// A framebuffer of one target with tiles of 16 by 16 pixels of one sample, or less of more.
fn of_target(target: [u32; 16], size: [u32; 2], samples: u32) -> Framebuffer {
    let parameters = parameters(size, samples, 256 / samples);
    framebuffer(Arch::V11, parameters, None, &[target])
}

fn send(tile: &TileBuffer, framebuffer: &Framebuffer, memory: &mut Array) {
    let clip = PixelBox::of(framebuffer).expect("a box");
    write_back(tile, framebuffer, [0, 0], clip, memory).expect("memory is there");
}

/// The selectors that put a colour where an order reads it: the inverse of the order, of blendable formats.
fn inverse_swizzle(order: u32) -> Swizzle {
    let selectors: [u16; 4] = match order {
        0 | 16 => [0, 1, 2, 3],
        4 | 20 => [2, 1, 0, 3],
        8 => [3, 0, 1, 2],
        12 => [3, 2, 1, 0],
        229 => [3, 4, 4, 4],
        other => panic!("order {other} is no target's"),
    };
    let bits = (0..4).fold(0, |bits, index| bits | selectors[index] << (3 * index));
    Swizzle(bits)
}

/// The target of a format of the table in linear memory.
fn target_of(format: &VkFormat) -> RgbRenderTarget {
    let row = format.target().expect("a colour target");
    let blendable = row
        .internal_format()
        .and_then(|row| row.blendable)
        .is_some();
    RgbRenderTarget {
        internal_format: row.internal,
        writeback_format: ColorFormat::from_number(row.writeback.number()).expect("a code"),
        writeback_float_format: match row.writeback {
            Writeback::Float(format) => Some(format),
            Writeback::Integer(_) => None,
        },
        srgb: format.srgb,
        swizzle: if blendable {
            inverse_swizzle(format.order)
        } else {
            Swizzle::IDENTITY
        },
        ..rgba8(BlockFormat::Linear, BASE, 256)
    }
}

#[test]
fn every_format_reads_back_from_memory_as_it_was_written() {
    for row in TARGET_FORMATS {
        let name = row.name;
        let format = VkFormat::of_name(Arch::V11, name).expect(name);
        let reader = PixelFormat::of(format.pixel_format().0).expect(name);
        let framebuffer = of_target(packed(Arch::V11, target_of(format)), [16, 16], 1);
        let mut tile = TileBuffer::new(&framebuffer);
        let colour = if reader.is_integer() {
            [1.0, 2.0, 3.0, 1.0]
        } else {
            // Codes of every width, and exact in every float.
            [1.0, 0.0, 1.0, 1.0]
        };
        let pixel = Pixel { x: 3, y: 2 };
        // Raw formats have no swizzle: the program's order is memory's.
        let raw = row
            .internal_format()
            .is_some_and(|row| row.blendable.is_none());
        let given = if raw && matches!(format.order, 4 | 20) {
            [colour[2], colour[1], colour[0], colour[3]]
        } else {
            colour
        };
        tile.write_opaque(
            &output(0, row.conversion.0),
            pixel,
            1,
            &Source::Colour(given),
        )
        .expect(name);
        let mut memory = Array::new(BASE, 256 * 16);
        send(&tile, &framebuffer, &mut memory);
        let size = usize::from(reader.bytes());
        // A8 is read by its own clump, of one byte.
        let size = if name == "A8_UNORM" { 1 } else { size };
        assert_eq!(size as u32, format.block_bytes, "{name}");
        let at = 2 * 256 + 3 * size;
        let mut texel = [0; 16];
        texel[..size].copy_from_slice(&memory.bytes[at..at + size]);
        let found = reader.unpack(u128::from_le_bytes(texel));
        if name == "A8_UNORM" {
            assert_eq!(texel[0], 0xff, "{name}");
            continue;
        }
        // Components that the format lacks read 0, 0, 1.
        let lacks = |component: usize| reader.channel_bits(component) == 0;
        let expected = core::array::from_fn(|index| match index {
            3 if lacks(3) => 1.0,
            _ if lacks(index) => 0.0,
            _ => colour[index],
        });
        assert_eq!(found, expected, "{name}");
        // The pixel after it is the clear colour's.
        assert_ne!(memory.bytes[at + 16 * size - 3 * size - 1], 0xcc, "{name}");
    }
}

/// The first pixel of a target of four samples with these codes, written so.
fn resolved(change: impl Fn(&mut RgbRenderTarget), word: u32, values: [f64; 4]) -> [u8; 8] {
    let mut target = RgbRenderTarget {
        writeback_msaa: Msaa::Average,
        ..rgba8(BlockFormat::Linear, BASE, 256)
    };
    change(&mut target);
    let framebuffer = of_target(packed(Arch::V11, target), [8, 8], 4);
    let mut tile = TileBuffer::new(&framebuffer);
    for (sample, value) in values.into_iter().enumerate() {
        let source = Source::Colour([value, 0.0, value, 1.0]);
        let pixel = Pixel { x: 0, y: 0 };
        tile.write_opaque(&output(0, word), pixel, 1 << sample, &source)
            .expect("a write");
    }
    let mut memory = Array::new(BASE, 256 * 8);
    send(&tile, &framebuffer, &mut memory);
    core::array::from_fn(|at| memory.bytes[at])
}

#[test]
fn samples_are_averaged_once_and_to_nearest_even() {
    let code = |code: i32| f64::from(code) / 255.0;
    let average = |codes: [i32; 4]| resolved(|_| {}, 0x0e_d000, codes.map(code))[0];
    assert_eq!(average([0, 0, 255, 255]), 128);
    assert_eq!(average([1, 0, 0, 1]), 0);
    assert_eq!(average([1, 1, 2, 2]), 2);
    assert_eq!(average([3, 3, 3, 2]), 3);
    let first = resolved(
        |it| it.writeback_msaa = Msaa::Single,
        0x0e_d000,
        [1.0, 0.0, 0.0, 0.0],
    );
    assert_eq!(first[..4], [255, 0, 255, 255]);
}

#[test]
fn srgb_samples_are_averaged_as_light() {
    let srgb = resolved(|it| it.srgb = true, 0x1e_d000, [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(srgb[..4], [188, 0, 188, 255]);
}

#[test]
fn float_samples_are_averaged_where_the_architecture_can() {
    let float = |it: &mut RgbRenderTarget| {
        it.internal_format = Internal::RGBA16F;
        it.writeback_format = ColorFormat::R8G8B8A8;
        it.writeback_float_format = Some(FloatColorFormat::RGBA16F);
    };
    let halves = resolved(float, 0x0d_f000, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(halves, [0x00, 0x41, 0, 0, 0x00, 0x41, 0x00, 0x3c]);
    let mut target = RgbRenderTarget {
        writeback_msaa: Msaa::Average,
        ..rgba8(BlockFormat::Linear, BASE, 256)
    };
    float(&mut target);
    let error = super::super::tests::decode_error(Arch::V10, &[packed(Arch::V10, target)]);
    let expected = super::super::framebuffer::FramebufferError::AverageNotLegal { target: 0 };
    assert_eq!(error, Some(expected));
}

#[test]
fn layered_targets_have_a_surface_a_sample() {
    let target = RgbRenderTarget {
        writeback_msaa: Msaa::Layered,
        writeback_buffer: RtBuffer {
            base: Address(BASE),
            row_stride: 1024,
            surface_stride: 1024,
            ..RtBuffer::default()
        },
        ..rgba8(BlockFormat::TiledUInterleaved, BASE, 1024)
    };
    let framebuffer = of_target(packed(Arch::V11, target), [8, 8], 4);
    let mut tile = TileBuffer::new(&framebuffer);
    for sample in 0..4 {
        let source = Source::Colour([f64::from(sample + 1) / 255.0; 4]);
        tile.write_opaque(
            &output(0, 0x0e_d000),
            Pixel { x: 2, y: 0 },
            1 << sample,
            &source,
        )
        .expect("a write");
    }
    let mut memory = Array::new(BASE, 4096);
    send(&tile, &framebuffer, &mut memory);
    for sample in 0..4_u8 {
        let at = 1024 * usize::from(sample) + 4 * 4;
        assert_eq!(memory.bytes[at..at + 4], [sample + 1; 4], "sample {sample}");
    }
}

#[test]
fn only_pixels_of_the_box_are_written() {
    let parameters = FramebufferParameters {
        bound_min_x: 3,
        bound_min_y: 2,
        bound_max_x: 9,
        bound_max_y: 40,
        ..parameters([16, 8], 1, 256)
    };
    let target = packed(Arch::V10, rgba8(BlockFormat::Linear, BASE, 64));
    let framebuffer = framebuffer(Arch::V10, parameters, None, &[target]);
    let mut memory = Array::new(BASE, 64 * 8);
    send(&TileBuffer::new(&framebuffer), &framebuffer, &mut memory);
    for (index, pixel) in memory.bytes.chunks(4).enumerate() {
        let inside = (3..=9).contains(&(index % 16)) && index / 16 >= 2;
        assert_eq!(pixel != [0xcc; 4], inside, "pixel {index}");
    }
    let area = PixelBox {
        min: [0, 0],
        max: [2, 2],
    };
    let apart = PixelBox {
        min: [3, 0],
        max: [4, 2],
    };
    assert_eq!(area.intersection(apart), None);
}

#[test]
fn a_refused_write_is_reported_and_a_disabled_target_writes_nothing() {
    let target = packed(Arch::V10, rgba8(BlockFormat::Linear, BASE, 64));
    let framebuffer = framebuffer(Arch::V10, parameters([16, 16], 1, 256), None, &[target]);
    let tile = TileBuffer::new(&framebuffer);
    let clip = PixelBox::of(&framebuffer).expect("a box");
    let mut memory = Array::new(BASE, 64);
    let refused = write_back(&tile, &framebuffer, [0, 0], clip, &mut memory);
    assert!(refused.is_err(), "one row of memory is not enough");
    let off = RgbRenderTarget {
        write_enable: false,
        ..rgba8(BlockFormat::Linear, BASE, 64)
    };
    let framebuffer = of_target(packed(Arch::V11, off), [16, 16], 1);
    let mut nothing = Array::new(BASE, 0);
    send(&tile, &framebuffer, &mut nothing);
}

/// A tile of 16 by 16 pixels, each with its own depth and stencil, and its framebuffer.
fn of_extension(
    extension: [u32; 16],
    format: ZInternalFormat,
    code: impl Fn(u32) -> u32,
) -> (TileBuffer, Framebuffer) {
    let parameters = FramebufferParameters {
        z_internal_format: format,
        z_write_enable: true,
        s_write_enable: true,
        ..parameters([16, 16], 1, 256)
    };
    let target = RgbRenderTarget {
        write_enable: false,
        ..rgba8(BlockFormat::Linear, 0, 64)
    };
    let target = packed(Arch::V10, target);
    let framebuffer = framebuffer(Arch::V10, parameters, Some(extension), &[target]);
    let mut tile = TileBuffer::new(&framebuffer);
    for index in 0..256 {
        let pixel = Pixel {
            x: index % 16,
            y: index / 16,
        };
        let value = StoredZs {
            depth: code(index),
            stencil: index as u8,
        };
        tile.zs_of_pixel(pixel).expect("a pixel")[0] = value;
    }
    (tile, framebuffer)
}

fn or(left: [u32; 16], right: [u32; 16]) -> [u32; 16] {
    core::array::from_fn(|index| left[index] | right[index])
}

#[test]
fn depth_and_stencil_of_two_planes_are_written_apart() {
    let zs = ZsTarget {
        write_format: Some(ZsFormat::D24X8),
        block_format: BlockFormat::TiledUInterleaved,
        base: Address(BASE),
        row_stride: 1024,
        ..ZsTarget::default()
    };
    let s = STarget {
        write_format: Some(SFormat::S8),
        block_format: BlockFormat::Linear,
        base: Address(BASE + 1024),
        row_stride: 64,
        ..STarget::default()
    };
    let extension = or(packed(Arch::V10, zs), packed(Arch::V10, s));
    let (tile, framebuffer) = of_extension(extension, ZInternalFormat::D24, |index| index << 12);
    let mut memory = Array::new(BASE, 1024 + 64 * 16);
    send(&tile, &framebuffer, &mut memory);
    for index in 0..256_u32 {
        let [x, y] = [index % 16, index / 16];
        let at = element_offset(Order::UInterleaved, 1024, 4, [x, y]).expect("an offset");
        let depth = &memory.bytes[at as usize..][..4];
        assert_eq!(depth, (index << 12).to_le_bytes(), "depth of ({x}, {y})");
        let stencil = memory.bytes[(1024 + 64 * y + x) as usize];
        assert_eq!(u32::from(stencil), index, "stencil of ({x}, {y})");
    }
}

#[test]
fn interleaved_stencil_takes_the_top_byte_and_depth_leaves_it() {
    let zs = ZsTarget {
        write_format: Some(ZsFormat::D24S8),
        block_format: BlockFormat::Linear,
        base: Address(BASE),
        row_stride: 64,
        ..ZsTarget::default()
    };
    let s = STarget {
        write_format: Some(SFormat::X24S8),
        block_format: BlockFormat::Linear,
        base: Address(BASE),
        row_stride: 64,
        ..STarget::default()
    };
    let extension = or(packed(Arch::V10, zs), packed(Arch::V10, s));
    let (tile, mut framebuffer) = of_extension(extension, ZInternalFormat::D24, |index| index);
    let mut memory = Array::new(BASE, 1024);
    send(&tile, &framebuffer, &mut memory);
    assert_eq!(memory.bytes[4 * 77..][..4], [77, 0, 0, 77]);
    framebuffer.stencil = None;
    let mut memory = Array::new(BASE, 1024);
    send(&tile, &framebuffer, &mut memory);
    assert_eq!(memory.bytes[4 * 77..][..4], [77, 0, 0, 0xcc]);
}

#[test]
fn other_depth_formats_have_their_own_bytes() {
    for (format, internal, code, bytes) in [
        (
            ZsFormat::D16,
            ZInternalFormat::D16,
            0xabcd,
            &[0xcd, 0xab][..],
        ),
        (
            ZsFormat::D32,
            ZInternalFormat::D32,
            0x3f80_0000,
            &[0, 0, 0x80, 0x3f],
        ),
        // Pairs that drivers don't make are converted.
        (
            ZsFormat::D16,
            ZInternalFormat::D32,
            0x3f80_0000,
            &[0xff, 0xff],
        ),
        (
            ZsFormat::D32,
            ZInternalFormat::D24,
            0xff_ffff,
            &[0, 0, 0x80, 0x3f],
        ),
    ] {
        let zs = ZsTarget {
            write_format: Some(format),
            block_format: BlockFormat::Linear,
            base: Address(BASE),
            row_stride: 64,
            ..ZsTarget::default()
        };
        let (tile, framebuffer) = of_extension(packed(Arch::V10, zs), internal, |_| code);
        let mut memory = Array::new(BASE, 1024);
        send(&tile, &framebuffer, &mut memory);
        assert_eq!(
            &memory.bytes[..bytes.len()],
            bytes,
            "{format:?} of {internal:?}"
        );
    }
}

#[cfg(test)]
#[path = "write_back_afbc_tests.rs"]
mod afbc;
