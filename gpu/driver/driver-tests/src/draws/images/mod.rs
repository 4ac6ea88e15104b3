//! Images outside of draws: copies, clears, blits, resolves, levels and views, with texels that are worked out here.

mod compressed;
mod copies;
mod imported;
mod resolves;
mod tile_passes;
mod views;

pub(crate) use compressed::*;
pub(crate) use copies::*;
pub(crate) use imported::*;
pub(crate) use resolves::*;
pub(crate) use tile_passes::*;
pub(crate) use views::*;

use super::bench::Bench;
use crate::bench::OrFail;
use alloc::vec;
use alloc::vec::Vec;
use eitri_runtime::{Aspect, Buffer, Image, ImageInfo, ImagePart, Platform, Tiling};

/// Bytes that do not repeat soon.
fn noise(length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

impl<P: Platform> Bench<P> {
    fn new_image(&mut self, info: ImageInfo) -> Image {
        let made = self.device.create_image(self.space, info);
        made.or_fail("there can be such an image")
    }

    fn bytes_buffer(&mut self, bytes: &[u8]) -> Buffer {
        let made = self
            .device
            .create_buffer(self.space, bytes.len().next_multiple_of(4) as u64);
        let buffer = made.or_fail("there is memory");
        self.device
            .write_buffer(buffer, 0, bytes)
            .or_fail("it fits");
        buffer
    }

    /// All slices of a level of a layer, of an aspect.
    fn slices(&mut self, image: Image, (level, layer): (u32, u32), aspect: Aspect) -> Vec<u8> {
        let info = self.device.image_info(image).or_fail("it is there");
        let length = info
            .aspect_bytes(aspect, level)
            .or_fail("it has the aspect");
        let mut all = Vec::new();
        for slice in 0..info.slices(level) {
            let mut bytes = vec![0; length as usize];
            let part = ImagePart {
                aspect: Some(aspect),
                level,
                layer,
                slice,
            };
            self.device
                .read_image(image, part, &mut bytes)
                .or_fail("it is there");
            all.extend(bytes);
        }
        all
    }

    /// Writes noise into all slices of a level of a layer, and gives it.
    fn fill_with_noise(
        &mut self,
        image: Image,
        (level, layer): (u32, u32),
        aspect: Aspect,
        seed: u32,
    ) -> Vec<u8> {
        let info = self.device.image_info(image).or_fail("it is there");
        let length = info
            .aspect_bytes(aspect, level)
            .or_fail("it has the aspect");
        let all = noise(length as usize * info.slices(level) as usize, seed);
        for (bytes, slice) in all.chunks(length as usize).zip(0..) {
            let part = ImagePart {
                aspect: Some(aspect),
                level,
                layer,
                slice,
            };
            self.device
                .write_image(image, part, bytes)
                .or_fail("it fits");
        }
        all
    }
}

/// An image of two dimensions of a format.
fn flat<P: Platform>(it: &Bench<P>, format: &str, size: [u32; 2], tiling: Tiling) -> ImageInfo {
    let [width, height] = size;
    ImageInfo {
        tiling,
        ..ImageInfo::two_d(it.format(format), width, height)
    }
}

/// The 32-bit words of texels.
fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
