//! Copies between buffers and images: every size of texels, both orders, levels, layers, slices, samples, aspects and blocks.

use super::super::bench::Bench;
use super::{flat, noise};
use crate::bench::OrFail;
use alloc::vec;
use alloc::vec::Vec;
use eitri_program::ImageDimension;
use eitri_runtime::{
    Accesses, Aspect, BufferImageCopy, ClearColor, Error, ImageCopy, ImageError, ImageInfo,
    ImageRange, ImageSubresource, Tiling,
};

const TILINGS: [Tiling; 2] = [Tiling::Linear, Tiling::UInterleaved];
const COPIES: Accesses = Accesses::ALL;

/// A box of elements in bytes without gaps, `size` bytes each: what a reference copies.
#[derive(Clone, Copy)]
struct Block {
    /// Elements along x and y of the whole.
    whole: [usize; 2],
    /// First element along x, y and z.
    first: [usize; 3],
}

/// Copies elements as a loop over all of them.
fn reference(
    size: usize,
    count: [usize; 3],
    (from, of): (&[u8], Block),
    (to, into): (&mut [u8], Block),
) {
    let place = |block: &Block, [x, y, z]: [usize; 3]| {
        let [width, height] = block.whole;
        let [first_x, first_y, first_z] = block.first;
        let row = (first_z + z) * height + first_y + y;
        (row * width + first_x + x) * size
    };
    for z in 0..count[2] {
        for y in 0..count[1] {
            for x in 0..count[0] {
                let (a, b) = (place(&of, [x, y, z]), place(&into, [x, y, z]));
                to[b..b + size].copy_from_slice(&from[a..a + size]);
            }
        }
    }
}

/// From a buffer with gaps into a tiled or linear image, from there into another, and back into a buffer.
pub(crate) fn texels_of_every_size_are_copied_between_all_orders() {
    let formats = [
        ("R8_UINT", 1),
        ("R8G8_UNORM", 2),
        ("R8G8B8_UNORM", 3),
        ("R8G8B8A8_UNORM", 4),
        ("R32G32_SFLOAT", 8),
        ("R32G32B32_UINT", 12),
        ("R32G32B32A32_SFLOAT", 16),
    ];
    let mut it = Bench::new();
    for (format, size) in formats {
        for (from, to) in TILINGS.into_iter().flat_map(|a| TILINGS.map(|b| (a, b))) {
            let first = flat(&it, format, [37, 21], from);
            let second = flat(&it, format, [29, 40], to);
            let [first, second] = [first, second].map(|info| it.new_image(info));
            let upload = noise(64 + 31 * 19 * size, size as u32);
            let source = it.bytes_buffer(&upload);
            let target = it.bytes_buffer(&noise(4096 * size, 77));
            let mut wanted = noise(4096 * size, 77);
            let mut of_first = it.fill_with_noise(first, (0, 0), Aspect::Color, 3);
            let mut of_second = it.fill_with_noise(second, (0, 0), Aspect::Color, 5);
            it.record(|recorder| {
                let copy = BufferImageCopy {
                    buffer_offset: 48,
                    row_length: 31,
                    offset: [5, 2, 0],
                    extent: [30, 18, 1],
                    ..BufferImageCopy::default()
                };
                recorder.copy_buffer_to_image(source, first, &copy)?;
                recorder.barrier(COPIES, COPIES)?;
                let copy = ImageCopy {
                    from_offset: [3, 1, 0],
                    to_offset: [1, 17, 0],
                    extent: [28, 20, 1],
                    ..ImageCopy::default()
                };
                recorder.copy_image(first, second, &copy)?;
                recorder.barrier(COPIES, COPIES)?;
                let copy = BufferImageCopy {
                    buffer_offset: 96,
                    row_length: 40,
                    offset: [0, 7, 0],
                    extent: [29, 33, 1],
                    ..BufferImageCopy::default()
                };
                recorder.copy_image_to_buffer(second, target, &copy)?;
                Ok(())
            });
            it.run();
            let block = |whole, [x, y]: [usize; 2]| Block {
                whole,
                first: [x, y, 0],
            };
            let of_buffer = (&upload[48..], block([31, 18], [0, 0]));
            let of_image = (&mut of_first[..], block([37, 21], [5, 2]));
            reference(size, [30, 18, 1], of_buffer, of_image);
            let of_image = (&of_first[..], block([37, 21], [3, 1]));
            let into = (&mut of_second[..], block([29, 40], [1, 17]));
            reference(size, [28, 20, 1], of_image, into);
            let of_image = (&of_second[..], block([29, 40], [0, 7]));
            let into = (&mut wanted[96..], block([40, 33], [0, 0]));
            reference(size, [29, 33, 1], of_image, into);
            let what = (format, from, to);
            assert!(
                it.slices(first, (0, 0), Aspect::Color) == of_first,
                "{what:?}: upload"
            );
            assert!(
                it.slices(second, (0, 0), Aspect::Color) == of_second,
                "{what:?}: copy"
            );
            let mut found = vec![0; wanted.len()];
            it.device
                .read_buffer(target, 0, &mut found)
                .or_fail("it is there");
            assert!(found == wanted, "{what:?}: download");
            // The storage has fewer places than all rounds take.
            for image in [first, second] {
                it.device.destroy_image(image).or_fail("no job uses it");
            }
            for buffer in [source, target] {
                it.device.destroy_buffer(buffer).or_fail("no job uses it");
            }
        }
    }
}

/// Layers of an array go to slices of a deep image, by levels, and back.
pub(crate) fn levels_layers_and_slices_are_copied() {
    let mut it = Bench::new();
    for tiling in TILINGS {
        let mut info = flat(&it, "R8G8B8A8_UNORM", [32, 24], tiling);
        (info.levels, info.layers) = (3, 5);
        let layered = it.new_image(info);
        info.layers = 1;
        (info.dimension, info.depth) = (ImageDimension::ThreeD, 8);
        let deep = it.new_image(info);
        let layers: Vec<Vec<u8>> = (0..5)
            .map(|layer| it.fill_with_noise(layered, (1, layer), Aspect::Color, layer + 1))
            .collect();
        let mut wanted = it.fill_with_noise(deep, (1, 0), Aspect::Color, 9);
        let others = it.fill_with_noise(deep, (0, 0), Aspect::Color, 10);
        let part = |level, layer, layers| ImageSubresource {
            aspect: None,
            level,
            layer,
            layers,
        };
        it.record(|recorder| {
            let copy = ImageCopy {
                from: part(1, 2, 3),
                from_offset: [1, 2, 0],
                to: part(1, 0, 1),
                to_offset: [4, 3, 1],
                extent: [10, 7, 3],
            };
            recorder.copy_image(layered, deep, &copy)?;
            recorder.barrier(COPIES, COPIES)?;
            let back = ImageCopy {
                from: part(1, 0, 1),
                from_offset: [4, 3, 2],
                to: part(0, 1, 2),
                to_offset: [0, 0, 0],
                extent: [10, 7, 2],
            };
            recorder.copy_image(deep, layered, &back)?;
            Ok(())
        });
        it.run();
        for (slice, layer) in layers[2..].iter().enumerate() {
            let from = Block {
                whole: [16, 12],
                first: [1, 2, 0],
            };
            let to = Block {
                whole: [16, 12],
                first: [4, 3, slice + 1],
            };
            reference(4, [10, 7, 1], (layer, from), (&mut wanted, to));
        }
        assert!(
            it.slices(deep, (1, 0), Aspect::Color) == wanted,
            "{tiling:?}: slices"
        );
        assert!(
            it.slices(deep, (0, 0), Aspect::Color) == others,
            "{tiling:?}: another level"
        );
        for layer in 1..3 {
            let found = it.slices(layered, (0, layer), Aspect::Color);
            let mut expected = vec![0; found.len()];
            let from = Block {
                whole: [16, 12],
                first: [4, 3, 1 + layer as usize],
            };
            let to = Block {
                whole: [32, 24],
                first: [0; 3],
            };
            reference(4, [10, 7, 1], (&wanted, from), (&mut expected, to));
            assert!(found == expected, "{tiling:?}: layer {layer}");
        }
    }
}

/// Depth and stencil lie in planes of their own, and are copied apart.
pub(crate) fn depth_and_stencil_are_copied_apart() {
    let mut it = Bench::new();
    for (format, tiling) in [
        ("D24_UNORM_S8_UINT", Tiling::UInterleaved),
        ("D32_SFLOAT_S8_UINT", Tiling::Linear),
    ] {
        let info = flat(&it, format, [20, 20], tiling);
        let [first, second] = [(); 2].map(|()| it.new_image(info));
        let depth = it.fill_with_noise(first, (0, 0), Aspect::Depth, 1);
        let stencil = it.fill_with_noise(first, (0, 0), Aspect::Stencil, 2);
        let other = it.fill_with_noise(second, (0, 0), Aspect::Depth, 3);
        it.fill_with_noise(second, (0, 0), Aspect::Stencil, 4);
        let target = it.bytes_buffer(&[0; 20 * 20]);
        let of = |aspect| ImageSubresource {
            aspect: Some(aspect),
            ..ImageSubresource::default()
        };
        it.record(|recorder| {
            let copy = ImageCopy {
                from: of(Aspect::Stencil),
                to: of(Aspect::Stencil),
                extent: [20, 20, 1],
                ..ImageCopy::default()
            };
            recorder.copy_image(first, second, &copy)?;
            recorder.barrier(COPIES, COPIES)?;
            let copy = BufferImageCopy {
                subresource: of(Aspect::Stencil),
                extent: [20, 20, 1],
                ..BufferImageCopy::default()
            };
            recorder.copy_image_to_buffer(second, target, &copy)?;
            Ok(())
        });
        it.run();
        assert!(
            it.slices(second, (0, 0), Aspect::Stencil) == stencil,
            "{format}"
        );
        assert!(
            it.slices(second, (0, 0), Aspect::Depth) == other,
            "{format}"
        );
        assert!(it.slices(first, (0, 0), Aspect::Depth) == depth, "{format}");
        let mut found = [0; 20 * 20];
        it.device
            .read_buffer(target, 0, &mut found)
            .or_fail("it is there");
        assert!(found[..] == stencil[..], "{format}: in the buffer");
    }
}

/// Blocks are copied whole, also where a level ends inside one, and into texels of as many bytes.
pub(crate) fn blocks_of_compressed_images_are_copied() {
    let mut it = Bench::new();
    for tiling in TILINGS {
        let info = flat(&it, "BC3_UNORM_BLOCK", [27, 22], tiling);
        let image = it.new_image(info);
        // 7 by 6 blocks.
        let mut blocks = it.fill_with_noise(image, (0, 0), Aspect::Color, 1);
        let upload = noise(16 * 5 * 3, 2);
        let source = it.bytes_buffer(&upload);
        let texels = flat(&it, "R32G32B32A32_UINT", [7, 6], Tiling::Linear);
        let texels = it.new_image(texels);
        it.record(|recorder| {
            let copy = BufferImageCopy {
                row_length: 20,
                offset: [12, 12, 0],
                extent: [15, 10, 1],
                ..BufferImageCopy::default()
            };
            recorder.copy_buffer_to_image(source, image, &copy)?;
            recorder.barrier(COPIES, COPIES)?;
            let copy = ImageCopy {
                extent: [27, 22, 1],
                ..ImageCopy::default()
            };
            recorder.copy_image(image, texels, &copy)?;
            Ok(())
        });
        it.run();
        let from = Block {
            whole: [5, 3],
            first: [0; 3],
        };
        let to = Block {
            whole: [7, 6],
            first: [3, 3, 0],
        };
        reference(16, [4, 3, 1], (&upload, from), (&mut blocks, to));
        assert!(
            it.slices(image, (0, 0), Aspect::Color) == blocks,
            "{tiling:?}"
        );
        assert!(
            it.slices(texels, (0, 0), Aspect::Color) == blocks,
            "{tiling:?}"
        );
    }
}

/// All samples of all layers are copied.
pub(crate) fn samples_are_copied() {
    let mut it = Bench::new();
    let mut info = flat(&it, "R16G16_UINT", [18, 9], Tiling::UInterleaved);
    (info.samples, info.layers) = (4, 2);
    let [first, second] = [(); 2].map(|()| it.new_image(info));
    let texels =
        [0, 1].map(|layer| it.fill_with_noise(first, (0, layer), Aspect::Color, layer + 1));
    let all = ImageSubresource {
        layers: 2,
        ..ImageSubresource::default()
    };
    it.record(|recorder| {
        let copy = ImageCopy {
            from: all,
            to: all,
            extent: [18, 9, 1],
            ..ImageCopy::default()
        };
        recorder.copy_image(first, second, &copy)?;
        Ok(())
    });
    it.run();
    let found = [0, 1].map(|layer| it.slices(second, (0, layer), Aspect::Color));
    assert!(found == texels, "samples differ");
}

/// Bytes at any place go to any place.
pub(crate) fn bytes_are_copied_wherever_they_are() {
    let mut it = Bench::new();
    let from = noise(3000, 1);
    let source = it.bytes_buffer(&from);
    let mut wanted = noise(3000, 2);
    let target = it.bytes_buffer(&wanted);
    let parts = [
        (100, 2001, 333),
        (16, 32, 512),
        (8, 904, 40),
        (1002, 1400, 86),
        (4, 1700, 0),
    ];
    it.record(|recorder| {
        for (from, to, bytes) in parts {
            recorder.copy_bytes((source, from), (target, to), bytes)?;
        }
        Ok(())
    });
    it.run();
    for (start, to, bytes) in parts.map(|(a, b, c)| (a as usize, b as usize, c as usize)) {
        wanted[to..to + bytes].copy_from_slice(&from[start..start + bytes]);
    }
    let mut found = vec![0; 3000];
    it.device
        .read_buffer(target, 0, &mut found)
        .or_fail("it is there");
    assert!(found == wanted, "bytes differ");
}

/// A copy sees what a clear has written, and a clear waits for a copy, in one recording and from one submission to the next.
pub(crate) fn copies_and_clears_are_ordered_by_barriers() {
    let mut it = Bench::new();
    let info = flat(&it, "R32_UINT", [64, 64], Tiling::UInterleaved);
    let image = it.new_image(info);
    let target = it.bytes_buffer(&[0; 4 * 64 * 64 * 4]);
    let transfers = Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE;
    it.record(|recorder| {
        for round in 0..4_u32 {
            recorder.barrier(transfers, transfers)?;
            let color = ClearColor::Uint([round + 1; 4]);
            recorder.clear_color_image(image, color, ImageRange::ALL)?;
            recorder.barrier(transfers, transfers)?;
            let copy = BufferImageCopy {
                buffer_offset: u64::from(round) * 64 * 64 * 4,
                extent: [64, 64, 1],
                ..BufferImageCopy::default()
            };
            recorder.copy_image_to_buffer(image, target, &copy)?;
        }
        Ok(())
    });
    for _ in 0..3 {
        it.run();
        let mut found = vec![0; 4 * 64 * 64 * 4];
        it.device
            .read_buffer(target, 0, &mut found)
            .or_fail("it is there");
        let rounds = found.chunks(64 * 64 * 4).zip(1..);
        for (bytes, round) in rounds {
            let all = super::words(bytes);
            assert!(all.iter().all(|word| *word == round), "round {round}");
        }
    }
}

/// What is not in the image or the buffer is refused, by name.
pub(crate) fn regions_that_are_nowhere_are_refused() {
    let mut it = Bench::new();
    let info = flat(&it, "R8G8B8A8_UNORM", [16, 16], Tiling::Linear);
    let image = it.new_image(info);
    let other = ImageInfo {
        format: it.format("R16_UINT"),
        ..info
    };
    let other = it.new_image(other);
    let buffer = it.bytes_buffer(&[0; 256]);
    let commands = it.commands;
    let mut refused = |copy: BufferImageCopy| {
        let recorded = it.device.record(commands, |recorder| {
            recorder
                .copy_buffer_to_image(buffer, image, &copy)
                .map(drop)
        });
        recorded.expect_err("refused")
    };
    let part = BufferImageCopy {
        extent: [4, 4, 1],
        ..BufferImageCopy::default()
    };
    let left = refused(BufferImageCopy {
        offset: [13, 0, 0],
        ..part
    });
    assert!(
        matches!(left, Error::Image(ImageError::Region { what: "x", .. })),
        "{left}"
    );
    let outside = refused(BufferImageCopy {
        row_length: 32,
        ..part
    });
    assert!(
        matches!(outside, Error::Outside { bytes: 400, .. }),
        "{outside}"
    );
    let misaligned = refused(BufferImageCopy {
        buffer_offset: 2,
        ..part
    });
    assert_eq!(misaligned, Error::Misaligned { offset: 2 });
    let recorded = it.device.record(commands, |recorder| {
        let copy = ImageCopy {
            extent: [4, 4, 1],
            ..ImageCopy::default()
        };
        recorder.copy_image(image, other, &copy).map(drop)
    });
    let error = recorded.expect_err("refused");
    assert!(
        matches!(error, Error::Image(ImageError::Incompatible { .. })),
        "{error}"
    );
}
