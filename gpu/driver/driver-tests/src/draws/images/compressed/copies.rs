//! Copies of compressed texels, what is seen of them, and what is refused.

use super::super::super::bench::{Bench, SIDE, check};
use super::super::views::drawn;
use super::super::{flat, noise, words};
use super::{ALL, both, check_same, destroy};
use crate::bench::OrFail;
use alloc::string::ToString;
use alloc::vec;
use eitri_runtime::{
    Aspect, BufferImageCopy, ClearColor, ColorAttachment, Error, ImageCopy, ImageSubresource,
    ImageUses, ImageView, RenderingInfo, Tiling, ViewInfo,
};

/// From a buffer, to a compressed image and to one that is not, and back, at places that are no whole superblocks.
pub(crate) fn compressed_texels_are_copied_bit_by_bit() {
    let mut it = Bench::new();
    for (format, side) in [
        ("R8_SRGB", 24),
        ("R8G8_SNORM", 24),
        ("R5G6B5_UNORM_PACK16", 24),
        ("A1R5G5B5_UNORM_PACK16", 24),
        ("R8G8B8A8_UNORM", 72),
        ("B8G8R8A8_SRGB", 24),
        ("A2B10G10R10_UNORM_PACK32", 24),
        ("R16G16_SFLOAT", 24),
        ("R16G16B16A16_SFLOAT", 24),
        ("D16_UNORM", 24),
        ("S8_UINT", 24),
    ] {
        let info = flat(&it, format, [side, side - 3], Tiling::Afbc);
        let aspect = info.aspects()[0];
        let size = info.format.block_bytes as usize;
        let [image, like] = both(&mut it, info);
        let [other, other_like] = both(&mut it, info);
        let upload = noise((side * side) as usize * size + 48, side);
        let buffer = it.bytes_buffer(&upload);
        it.record(|recorder| {
            for (image, other) in [(image, other), (like, other_like)] {
                // All of it, and again in part.
                for (offset, extent) in [([0, 0, 0], [side, side - 3, 1]), ([5, 7, 0], [14, 10, 1])]
                {
                    let region = BufferImageCopy {
                        buffer_offset: 48,
                        row_length: side - offset[0],
                        offset,
                        extent,
                        ..BufferImageCopy::default()
                    };
                    recorder.copy_buffer_to_image(buffer, image, &region)?;
                    recorder.barrier(ALL, ALL)?;
                }
                let region = ImageCopy {
                    from_offset: [3, 1, 0],
                    to_offset: [2, 6, 0],
                    extent: [18, 13, 1],
                    ..ImageCopy::default()
                };
                recorder.copy_image(image, other, &region)?;
                recorder.barrier(ALL, ALL)?;
            }
            // Between the two kinds, both ways.
            for (from, to) in [
                (like, other),
                (like, other_like),
                (other, like),
                (other_like, image),
            ] {
                let region = ImageCopy {
                    from_offset: [1, 2, 0],
                    to_offset: [4, 9, 0],
                    extent: [11, 9, 1],
                    ..ImageCopy::default()
                };
                recorder.copy_image(from, to, &region)?;
                recorder.barrier(ALL, ALL)?;
            }
            Ok(())
        });
        it.run();
        let found = check_same(&mut it, [image, like], (0, 0), (aspect, "copies"));
        check_same(
            &mut it,
            [other, other_like],
            (0, 0),
            (aspect, "copies of copies"),
        );
        let row = side as usize * size;
        assert!(
            found[..row] == upload[48..48 + row],
            "{format}: the first row"
        );
        destroy(&mut it, &[image, like, other, other_like]);
        it.device.destroy_buffer(buffer).or_fail("no job uses it");
    }
}

/// Levels of several layers, each from the one before.
pub(crate) fn compressed_levels_and_layers_are_made_of_each_other() {
    let mut it = Bench::new();
    let mut info = flat(&it, "R8G8B8A8_UNORM", [40, 24], Tiling::Afbc);
    (info.levels, info.layers) = (4, 2);
    let images = both(&mut it, info);
    let upload = noise(40 * 24 * 4 * 2, 3);
    let buffer = it.bytes_buffer(&upload);
    for image in images {
        it.record(|recorder| {
            let region = BufferImageCopy {
                subresource: ImageSubresource {
                    layers: 2,
                    ..ImageSubresource::default()
                },
                extent: [40, 24, 1],
                ..BufferImageCopy::default()
            };
            recorder.copy_buffer_to_image(buffer, image, &region)?;
            recorder.barrier(ALL, ALL)?;
            recorder.generate_levels(image)?;
            Ok(())
        });
        it.run();
    }
    for level in 0..4 {
        for layer in 0..2 {
            check_same(&mut it, images, (level, layer), (Aspect::Color, "levels"));
        }
    }
}

/// The host's caches hold nothing that the GPU does not see, and the other way.
pub(crate) fn compressed_images_are_seen_behind_caches() {
    let mut it = Bench::behind_caches(2, 7);
    let info = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::Afbc);
    let images = both(&mut it, info);
    // A new one is zeros.
    check_same(&mut it, images, (0, 0), (Aspect::Color, "new"));
    let upload = noise((SIDE * SIDE * 4) as usize, 5);
    let buffer = it.bytes_buffer(&upload);
    for image in images {
        it.record(|recorder| {
            let region = BufferImageCopy {
                offset: [3, 3, 0],
                extent: [50, 41, 1],
                ..BufferImageCopy::default()
            };
            recorder.copy_buffer_to_image(buffer, image, &region)?;
            Ok(())
        });
        it.run();
    }
    check_same(&mut it, images, (0, 0), (Aspect::Color, "uploads"));
}

/// A shader fetches what a copy has brought into a compressed image.
pub(crate) fn compressed_texels_are_fetched_by_shaders() {
    let mut it = Bench::new();
    let info = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::Afbc);
    let image = it.new_image(info);
    let upload = noise((SIDE * SIDE * 4) as usize, 9);
    let buffer = it.bytes_buffer(&upload);
    it.record(|recorder| {
        let region = BufferImageCopy {
            extent: [SIDE, SIDE, 1],
            ..BufferImageCopy::default()
        };
        recorder.copy_buffer_to_image(buffer, image, &region)?;
        Ok(())
    });
    it.run();
    let texels = words(&upload);
    let found = drawn(&mut it, image, &ViewInfo::of(&info));
    check(&found, 0, |x, y| texels[(y * SIDE + x) as usize]);
}

/// What needs texels in an order that others know is refused, and the use that would have allowed it is named.
pub(crate) fn what_a_compressed_image_can_not_do_is_named() {
    let mut it = Bench::new();
    let info = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::Linear);
    let info = info.for_uses(ImageUses::ATTACHMENT | ImageUses::SAMPLED | ImageUses::TRANSFER);
    assert_eq!(info.tiling, Tiling::Afbc);
    let image = it.new_image(info);
    let mut bytes = vec![0; (SIDE * SIDE * 4) as usize];
    let refused = |result: Result<(), Error>, wanted: &str| {
        let found = result
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        let found = found.strip_prefix("the image, of format R8G8B8A8_UNORM, ");
        assert_eq!(found, Some(wanted));
    };
    let host = "is compressed (AFBC), so that the host can't read or write it: copy it to a buffer, or \
        make it for ImageUses::HOST";
    refused(
        it.device.read_image(image, Default::default(), &mut bytes),
        host,
    );
    refused(
        it.device.write_image(image, Default::default(), &bytes),
        host,
    );
    let other = flat(&it, "R16G16_UINT", [SIDE, SIDE], Tiling::Afbc);
    let other = it.new_image(other);
    let copied = it.device.record(it.commands, |recorder| {
        let region = ImageCopy {
            extent: [16, 16, 1],
            ..ImageCopy::default()
        };
        recorder.copy_image(image, other, &region)?;
        Ok(())
    });
    refused(
        copied,
        "is compressed (AFBC) and is copied to such images with the same channels only: go through a buffer",
    );
    let format = it.format("R32_UINT");
    let rendered = it.device.record(it.commands, |recorder| {
        let view = ImageView {
            format: Some(format),
            ..ImageView::of(image)
        };
        let color = ColorAttachment::cleared(view, ClearColor::Uint([0; 4]));
        let pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        pass.end_rendering()
    });
    refused(
        rendered,
        "is compressed (AFBC), so that it has views with the same channels only: make it for ImageUses::OTHER_FORMATS",
    );
}
