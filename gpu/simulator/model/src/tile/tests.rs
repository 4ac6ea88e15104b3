//! Whole paths: a framebuffer's words, a tile, memory.

use super::*;
use eitri_descriptors::framebuffer::{BlockFormat, FramebufferParameters, ZInternalFormat};
use eitri_descriptors::target::{
    ColorBufferInternalFormat, ColorFormat, RgbRenderTarget, RtBuffer, RtClear,
};
use eitri_descriptors::{Address, Arch, Descriptor, Swizzle};
use std::vec;
use std::vec::Vec;

/// A list of a file of vectors.
#[track_caller]
pub(crate) fn vectors(file: &str, list: &str) -> Vec<serde_json::Value> {
    let path = eitri_testdata::kept(file);
    let text = std::fs::read_to_string(&path).expect("testdata keeps the file");
    let mut vectors: serde_json::Value = serde_json::from_str(&text).expect("the file is JSON");
    let list = vectors[list].take();
    let serde_json::Value::Array(list) = list else {
        panic!("{file} has no such list: {list}");
    };
    list
}

/// The number of a string of hexadecimal digits, with or without 0x.
#[track_caller]
pub(crate) fn bits_of_hex(value: &serde_json::Value) -> u32 {
    let digits = value.as_str().expect("a string");
    u32::from_str_radix(digits.trim_start_matches("0x"), 16).expect("hexadecimal digits")
}

/// Memory from an address on.
pub(crate) struct Array {
    pub(crate) base: u64,
    pub(crate) bytes: Vec<u8>,
}

/// An access outside of the array.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unmapped(u64);

impl Array {
    pub(crate) fn new(base: u64, bytes: usize) -> Array {
        Array {
            base,
            bytes: vec![0xcc; bytes],
        }
    }

    fn range(&mut self, address: u64, bytes: usize) -> Result<&mut [u8], Unmapped> {
        let start = address.wrapping_sub(self.base) as usize;
        let end = start.saturating_add(bytes);
        self.bytes.get_mut(start..end).ok_or(Unmapped(address))
    }
}

impl Array {
    pub(crate) fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
        bytes.copy_from_slice(self.range(address, bytes.len())?);
        Ok(())
    }
}

impl GpuMemory for Array {
    type Refusal = Unmapped;

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        self.range(address, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }
}

/// Parameters of a framebuffer of one target without depth.
pub(crate) fn parameters(size: [u32; 2], samples: u32, tile: u32) -> FramebufferParameters {
    FramebufferParameters {
        width: size[0],
        height: size[1],
        bound_max_x: size[0] - 1,
        bound_max_y: size[1] - 1,
        sample_count: samples,
        effective_tile_size: tile,
        render_target_count: 1,
        z_internal_format: ZInternalFormat::D24,
        ..FramebufferParameters::default()
    }
}

/// The framebuffer of parameters and packed targets, through the words of its descriptor.
#[track_caller]
pub(crate) fn framebuffer(
    arch: Arch,
    parameters: FramebufferParameters,
    extension: Option<[u32; 16]>,
    targets: &[[u32; 16]],
) -> Framebuffer {
    let parameters = FramebufferParameters {
        render_target_count: targets.len() as u32,
        has_zs_crc_extension: extension.is_some(),
        ..parameters
    };
    let mut words = vec![0; 32];
    parameters.pack(arch, &mut words).expect("parameters pack");
    words.extend(extension.iter().flatten());
    words.extend(targets.iter().flatten());
    let tag = 1 | u64::from(extension.is_some()) << 1 | (targets.len() as u64 - 1) << 2;
    let span = FramebufferSpan::of(arch, 0x1_0000 | tag).expect("a tagged pointer");
    assert_eq!((span.address, span.words()), (0x1_0000, words.len()));
    Framebuffer::decode(arch, span, &words).expect("a framebuffer")
}

/// The error of a framebuffer with these targets.
pub(crate) fn decode_error(
    arch: Arch,
    targets: &[[u32; 16]],
) -> Option<framebuffer::FramebufferError> {
    let parameters = FramebufferParameters {
        render_target_count: targets.len() as u32,
        ..parameters([16, 16], 4, 64)
    };
    let mut words = vec![0; 32];
    parameters.pack(arch, &mut words).expect("parameters pack");
    words.extend(targets.iter().flatten());
    let tag = 1 | (targets.len() as u64 - 1) << 2;
    let span = FramebufferSpan::of(arch, tag).expect("a tagged pointer");
    Framebuffer::decode(arch, span, &words).err()
}

pub(crate) fn packed<T: Descriptor>(arch: Arch, descriptor: T) -> [u32; 16] {
    let mut words = [0; 16];
    descriptor
        .pack(arch, &mut words)
        .expect("a descriptor packs");
    words
}

/// An R8G8B8A8 target.
pub(crate) fn rgba8(block: BlockFormat, base: u64, row_stride: u32) -> RgbRenderTarget {
    RgbRenderTarget {
        internal_format: ColorBufferInternalFormat::R8G8B8A8,
        write_enable: true,
        writeback_format: ColorFormat::R8G8B8A8,
        writeback_block_format: block,
        swizzle: Swizzle::IDENTITY,
        writeback_buffer: RtBuffer {
            base: Address(base),
            row_stride,
            ..RtBuffer::default()
        },
        clear: RtClear {
            color_0: 0xff00_00ff,
            color_1: 0xff00_00ff,
            color_2: 0xff00_00ff,
            color_3: 0xff00_00ff,
        },
        ..RgbRenderTarget::default()
    }
}

/// Draws one green pixel into a red picture of 20 by 18 pixels, and writes all of its tiles.
fn red_with_a_green_pixel(block: BlockFormat, row_stride: u32, bytes: usize) -> Array {
    let target = packed(Arch::V10, rgba8(block, 0x4000, row_stride));
    let framebuffer = framebuffer(Arch::V10, parameters([20, 18], 1, 256), None, &[target]);
    let mut memory = Array::new(0x4000, bytes);
    let clip = PixelBox::of(&framebuffer).expect("a box");
    let mut tile = TileBuffer::new(&framebuffer);
    for origin in [[0, 0], [16, 0], [0, 16], [16, 16]] {
        tile.clear();
        if origin == [16, 0] {
            let operand = BlendOperand::decode(Arch::V10, 0x000e_d000_0000_0019);
            let Ok(BlendOperand::Opaque(output)) = operand else {
                panic!("0x19 is opaque: {operand:?}");
            };
            let green = Source::Colour([0.0, 1.0, 0.0, 1.0]);
            tile.write_opaque(&output, Pixel { x: 1, y: 5 }, 1, &green)
                .expect("target 0 is there");
        }
        write_back(&tile, &framebuffer, origin, clip, &mut memory).expect("memory is there");
    }
    memory
}

#[test]
fn a_cleared_picture_with_one_pixel_reaches_linear_memory() {
    let memory = red_with_a_green_pixel(BlockFormat::Linear, 128, 128 * 18);
    for y in 0..18 {
        for x in 0..32 {
            let at = 128 * y + 4 * x;
            let expected = match (x, y) {
                (17, 5) => [0, 0xff, 0, 0xff],
                // Beyond the box memory stays.
                (20.., _) => [0xcc; 4],
                _ => [0xff, 0, 0, 0xff],
            };
            assert_eq!(memory.bytes[at..at + 4], expected, "pixel ({x}, {y})");
        }
    }
}

#[test]
fn a_cleared_picture_with_one_pixel_reaches_u_interleaved_memory() {
    let memory = red_with_a_green_pixel(BlockFormat::TiledUInterleaved, 2048, 4096);
    for y in 0..32 {
        for x in 0..32 {
            let at = layout::element_offset(layout::Order::UInterleaved, 2048, 4, [x, y]);
            let at = at.expect("an offset") as usize;
            let expected = match (x, y) {
                (17, 5) => [0, 0xff, 0, 0xff],
                (20.., _) | (_, 18..) => [0xcc; 4],
                _ => [0xff, 0, 0, 0xff],
            };
            assert_eq!(memory.bytes[at..at + 4], expected, "pixel ({x}, {y})");
        }
    }
    // The pixel's place by hand: second tile, x 1, y 5.
    assert_eq!(
        memory.bytes[1024 + 4 * 0b11_0010..][..4],
        [0, 0xff, 0, 0xff]
    );
}
