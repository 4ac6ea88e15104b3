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
    // Each pair of texels that differ, with the first place.
    let mut wrong: Vec<([usize; 2], [&[u8]; 2])> = Vec::new();
    let pairs = found.chunks(size).zip(wanted.chunks(size));
    for (number, (found, wanted)) in pairs.enumerate() {
        let pair = [found, wanted];
        let known = wrong.iter().any(|(_, other)| *other == pair);
        if found != wanted && !known && wrong.len() < 8 {
            wrong.push(([number % width, number / width], pair));
        }
    }
    assert_eq!(wrong, [], "{what} {part:?} of {}", info.format.name);
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
