//! Images that are compressed without loss: whatever is done to one is done to one that is not, and both hold the same.

mod copies;
mod passes;

pub(crate) use copies::*;
pub(crate) use passes::*;

use super::super::bench::Bench;
use crate::bench::OrFail;
use alloc::vec;
use alloc::vec::Vec;
use eitri_runtime::{
    Accesses, Aspect, BufferImageCopy, Image, ImageInfo, ImageSubresource, Platform, Tiling,
};

pub(super) const ALL: Accesses = Accesses::ALL;
const TILINGS: [Tiling; 2] = [Tiling::Afbc, Tiling::UInterleaved];

/// All texels of a level of a layer, by a copy to a buffer.
pub(super) fn downloaded<P: Platform>(
    it: &mut Bench<P>,
    image: Image,
    (level, layer): (u32, u32),
    aspect: Aspect,
) -> Vec<u8> {
    let info = it.device.image_info(image).or_fail("it is there");
    let length = info.aspect_bytes(aspect, level).or_fail("it has it") as usize;
    let buffer = it.bytes_buffer(&vec![0xCD; length]);
    let [width, height, _] = info.level_size(level);
    it.record(|recorder| {
        let region = BufferImageCopy {
            subresource: ImageSubresource {
                aspect: Some(aspect),
                level,
                layer,
                layers: 1,
            },
            extent: [width, height, 1],
            ..BufferImageCopy::default()
        };
        recorder.copy_image_to_buffer(image, buffer, &region)?;
        Ok(())
    });
    it.run();
    let mut bytes = vec![0; length];
    it.device
        .read_buffer(buffer, 0, &mut bytes)
        .or_fail("it is there");
    it.device.destroy_buffer(buffer).or_fail("no job uses it");
    bytes
}

/// Checks that two images hold the same.
#[track_caller]
pub(super) fn check_same<P: Platform>(
    it: &mut Bench<P>,
    [first, second]: [Image; 2],
    part: (u32, u32),
    (aspect, what): (Aspect, &str),
) -> Vec<u8> {
    let info = it.device.image_info(first).or_fail("it is there");
    let [found, wanted] = [first, second].map(|image| downloaded(it, image, part, aspect));
    let size = info.format.block_bytes as usize;
    let width = info.level_size(part.0)[0] as usize;
    let wrong = found.chunks(size).zip(wanted.chunks(size));
    let wrong = wrong
        .enumerate()
        .find(|(_, (found, wanted))| found != wanted);
    let wrong = wrong.map(|(texel, both)| ((texel % width, texel / width), both));
    assert_eq!(wrong, None, "{what} {part:?} of {}", info.format.name);
    wanted
}

/// An image of each tiling.
pub(super) fn both<P: Platform>(it: &mut Bench<P>, info: ImageInfo) -> [Image; 2] {
    TILINGS.map(|tiling| it.new_image(ImageInfo { tiling, ..info }))
}

pub(super) fn destroy<P: Platform>(it: &mut Bench<P>, images: &[Image]) {
    for image in images {
        it.device.destroy_image(*image).or_fail("no job uses it");
    }
}
