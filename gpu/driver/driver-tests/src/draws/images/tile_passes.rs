//! Clears, blits and generated levels, which are passes that draw nothing.

use super::super::bench::Bench;
use super::{flat, words};
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_program::ImageDimension;
use eitri_runtime::{
    Accesses, Aspect, BlitFilter, BlitRegion, ClearColor, ImageRange, ImageSubresource, Tiling,
};

const TILINGS: [Tiling; 2] = [Tiling::Linear, Tiling::UInterleaved];

/// Levels and layers of a range are cleared, and no others; more layers than a pass has.
pub(crate) fn ranges_of_an_image_are_cleared() {
    let mut it = Bench::new();
    for tiling in TILINGS {
        let mut info = flat(&it, "B8G8R8A8_UNORM", [20, 12], tiling);
        (info.levels, info.layers) = (3, 12);
        let image = it.new_image(info);
        it.record(|recorder| {
            let color = ClearColor::Float([1.0, 0.5, 0.25, 0.0]);
            let range = ImageRange {
                level: 1,
                levels: 2,
                layer: 2,
                layers: ImageRange::REMAINING,
            };
            recorder.clear_color_image(image, color, range)?;
            Ok(())
        });
        it.run();
        for level in 0..3 {
            for layer in 0..12 {
                let texels = words(&it.slices(image, (level, layer), Aspect::Color));
                let cleared = level >= 1 && layer >= 2;
                let wanted = if cleared { 0x00FF_8040 } else { 0 };
                let wrong = texels.iter().find(|texel| **texel != wanted);
                assert_eq!(wrong, None, "{tiling:?} level {level} layer {layer}");
            }
        }
    }
}

/// Slices of a deep image, integers, samples.
pub(crate) fn images_of_every_kind_are_cleared() {
    let mut it = Bench::new();
    let mut deep = flat(&it, "R16G16_SINT", [9, 9], Tiling::UInterleaved);
    (deep.dimension, deep.depth, deep.levels) = (ImageDimension::ThreeD, 12, 2);
    let mut samples = flat(&it, "R32_UINT", [9, 9], Tiling::UInterleaved);
    samples.samples = 4;
    let row = it.format("R8_UINT");
    let mut row = eitri_runtime::ImageInfo::two_d(row, 33, 1);
    row.dimension = ImageDimension::OneD;
    let [deep, samples, row] = [deep, samples, row].map(|info| it.new_image(info));
    it.record(|recorder| {
        let level = ImageRange {
            levels: 1,
            ..ImageRange::ALL
        };
        recorder.clear_color_image(deep, ClearColor::Int([-2, 3, 0, 0]), level)?;
        recorder.clear_color_image(samples, ClearColor::Uint([7; 4]), ImageRange::ALL)?;
        recorder.clear_color_image(row, ClearColor::Uint([9; 4]), ImageRange::ALL)?;
        Ok(())
    });
    it.run();
    let texels = words(&it.slices(deep, (0, 0), Aspect::Color));
    assert_eq!(texels.len(), 9 * 9 * 12);
    assert!(texels.iter().all(|texel| *texel == 0x0003_FFFE), "slices");
    let below = it.slices(deep, (1, 0), Aspect::Color);
    assert!(below.iter().all(|byte| *byte == 0), "another level");
    let texels = words(&it.slices(samples, (0, 0), Aspect::Color));
    assert_eq!(texels.len(), 9 * 9 * 4);
    assert!(texels.iter().all(|texel| *texel == 7), "samples");
    let texels = it.slices(row, (0, 0), Aspect::Color);
    assert!(texels.iter().all(|texel| *texel == 9), "one dimension");
}

/// Depth is cleared without stencil, and stencil without depth.
pub(crate) fn depth_and_stencil_are_cleared_apart() {
    let mut it = Bench::new();
    let info = flat(&it, "D32_SFLOAT_S8_UINT", [24, 24], Tiling::UInterleaved);
    let [first, second, third] = [(); 3].map(|()| it.new_image(info));
    let stencil = it.fill_with_noise(first, (0, 0), Aspect::Stencil, 1);
    let depth = it.fill_with_noise(second, (0, 0), Aspect::Depth, 2);
    it.record(|recorder| {
        let all = ImageRange::ALL;
        recorder.clear_depth_stencil_image(first, Some(0.25), None, all)?;
        recorder.clear_depth_stencil_image(second, None, Some(0xA5), all)?;
        recorder.clear_depth_stencil_image(third, Some(0.75), Some(0x5A), all)?;
        Ok(())
    });
    it.run();
    let depths = |it: &mut Bench, image| words(&it.slices(image, (0, 0), Aspect::Depth));
    let all = |words: Vec<u32>, value: f32| words.iter().all(|word| *word == value.to_bits());
    assert!(all(depths(&mut it, first), 0.25), "depth alone");
    assert!(it.slices(first, (0, 0), Aspect::Stencil) == stencil);
    assert!(it.slices(second, (0, 0), Aspect::Depth) == depth);
    let stencils = it.slices(second, (0, 0), Aspect::Stencil);
    assert!(stencils.iter().all(|it| *it == 0xA5), "stencil alone");
    assert!(all(depths(&mut it, third), 0.75), "both");
    let stencils = it.slices(third, (0, 0), Aspect::Stencil);
    assert!(stencils.iter().all(|it| *it == 0x5A), "both");
}

fn part(level: u32, layer: u32) -> ImageSubresource {
    ImageSubresource {
        level,
        layer,
        ..ImageSubresource::default()
    }
}

/// Twice as large, mirrored along both axes, into a part of a layer of another order of components.
pub(crate) fn boxes_are_scaled_mirrored_and_converted() {
    let mut it = Bench::new();
    for tiling in TILINGS {
        let mut info = flat(&it, "R8G8B8A8_UNORM", [16, 16], tiling);
        info.layers = 2;
        let from = it.new_image(info);
        let info = flat(&it, "B8G8R8A8_UNORM", [40, 40], Tiling::UInterleaved);
        let to = it.new_image(info);
        it.fill_with_noise(from, (0, 0), Aspect::Color, 1);
        let texels = words(&it.fill_with_noise(from, (0, 1), Aspect::Color, 2));
        let before = words(&it.fill_with_noise(to, (0, 0), Aspect::Color, 3));
        it.record(|recorder| {
            let region = BlitRegion {
                from: part(0, 1),
                from_corners: [[2, 3, 0], [12, 13, 1]],
                to: part(0, 0),
                to_corners: [[30, 7, 0], [10, 27, 1]],
            };
            recorder.blit_image(from, to, BlitFilter::Nearest, &region)?;
            Ok(())
        });
        it.run();
        let found = words(&it.slices(to, (0, 0), Aspect::Color));
        for (number, texel) in found.iter().enumerate() {
            let (x, y) = (number % 40, number / 40);
            let inside = (10..30).contains(&x) && (7..27).contains(&y);
            let wanted = if inside {
                let (x, y) = (2 + (29 - x) / 2, 3 + (y - 7) / 2);
                let [red, green, blue, alpha] = texels[y * 16 + x].to_le_bytes();
                u32::from_le_bytes([blue, green, red, alpha])
            } else {
                before[number]
            };
            assert_eq!(*texel, wanted, "{tiling:?} ({x}, {y})");
        }
    }
}

/// Half as large by a linear filter: each texel is the mean of four.
pub(crate) fn a_linear_blit_means_neighbours() {
    let mut it = Bench::new();
    let from = flat(&it, "R32_SFLOAT", [16, 12], Tiling::UInterleaved);
    let to = flat(&it, "R32_SFLOAT", [8, 6], Tiling::Linear);
    let [from, to] = [from, to].map(|info| it.new_image(info));
    let value = |x: usize, y: usize| (x * x + 3 * y) as f32;
    let texels = (0..12).flat_map(|y| (0..16).map(move |x| value(x, y)));
    let bytes: Vec<u8> = texels.flat_map(f32::to_le_bytes).collect();
    it.device
        .write_image(from, Default::default(), &bytes)
        .or_fail("it fits");
    it.record(|recorder| {
        let region = BlitRegion {
            from: part(0, 0),
            from_corners: [[0, 0, 0], [16, 12, 1]],
            to: part(0, 0),
            to_corners: [[0, 0, 0], [8, 6, 1]],
        };
        recorder.blit_image(from, to, BlitFilter::Linear, &region)?;
        Ok(())
    });
    it.run();
    let found = words(&it.slices(to, (0, 0), Aspect::Color));
    for (number, texel) in found.iter().enumerate() {
        let (x, y) = (2 * (number % 8), 2 * (number / 8));
        let sum = value(x, y) + value(x + 1, y) + value(x, y + 1) + value(x + 1, y + 1);
        assert_eq!(f32::from_bits(*texel), sum / 4.0, "({x}, {y})");
    }
}

/// Slices of a deep image are chosen, and mixed, as texels are.
pub(crate) fn slices_are_scaled_too() {
    let mut it = Bench::new();
    let mut info = flat(&it, "R32_SFLOAT", [4, 4], Tiling::UInterleaved);
    (info.dimension, info.depth) = (ImageDimension::ThreeD, 8);
    let from = it.new_image(info);
    info.depth = 4;
    let [nearest, linear] = [(); 2].map(|()| it.new_image(info));
    for slice in 0..8 {
        let value = (slice * slice) as f32;
        let bytes: Vec<u8> = [value; 16].iter().flat_map(|it| it.to_le_bytes()).collect();
        let part = eitri_runtime::ImagePart {
            slice,
            ..Default::default()
        };
        it.device.write_image(from, part, &bytes).or_fail("it fits");
    }
    it.record(|recorder| {
        let region = |first, last| BlitRegion {
            from: part(0, 0),
            from_corners: [[0, 0, first], [4, 4, last]],
            to: part(0, 0),
            to_corners: [[0, 0, 0], [4, 4, 4]],
        };
        recorder.blit_image(from, nearest, BlitFilter::Nearest, &region(8, 4))?;
        recorder.blit_image(from, linear, BlitFilter::Linear, &region(0, 8))?;
        Ok(())
    });
    it.run();
    let values = |it: &mut Bench, image| -> Vec<f32> {
        let texels = words(&it.slices(image, (0, 0), Aspect::Color));
        texels
            .chunks(16)
            .map(|slice| f32::from_bits(slice[0]))
            .collect()
    };
    assert_eq!(values(&mut it, nearest), [49.0, 36.0, 25.0, 16.0]);
    let means = [0.0 + 1.0, 4.0 + 9.0, 16.0 + 25.0, 36.0 + 49.0].map(|sum: f32| sum / 2.0);
    assert_eq!(values(&mut it, linear), means);
}

/// Depth goes to another level by the nearest texel.
pub(crate) fn depth_is_blitted_to_a_level() {
    let mut it = Bench::new();
    let mut info = flat(&it, "D16_UNORM", [16, 16], Tiling::UInterleaved);
    info.levels = 2;
    let image = it.new_image(info);
    let above = it.fill_with_noise(image, (0, 0), Aspect::Depth, 4);
    it.record(|recorder| {
        let of = |level| ImageSubresource {
            aspect: Some(Aspect::Depth),
            ..part(level, 0)
        };
        let region = BlitRegion {
            from: of(0),
            from_corners: [[0, 0, 0], [8, 8, 1]],
            to: of(1),
            to_corners: [[8, 8, 0], [0, 0, 1]],
        };
        recorder.blit_image(image, image, BlitFilter::Nearest, &region)?;
        Ok(())
    });
    it.run();
    let found = it.slices(image, (1, 0), Aspect::Depth);
    for (number, texel) in found.chunks(2).enumerate() {
        let (x, y) = (7 - number % 8, 7 - number / 8);
        let at = (y * 16 + x) * 2;
        assert_eq!(*texel, above[at..at + 2], "({x}, {y})");
    }
}

/// Each level is the mean of the one before, in all layers.
pub(crate) fn levels_are_generated() {
    check_levels(false);
}

/// The same where a level was read before it is generated: the next one is made of what is written then, not of what caches have.
pub(crate) fn levels_are_generated_of_what_was_written_last() {
    check_levels(true);
}

fn check_levels(reads_before: bool) {
    let mut it = Bench::new();
    let mut info = flat(&it, "R32_SFLOAT", [16, 8], Tiling::UInterleaved);
    (info.levels, info.layers) = (5, 2);
    let image = it.new_image(info);
    for layer in 0..2 {
        let texels = (0..16 * 8).map(|number| (number * (layer + 1)) as f32);
        let bytes: Vec<u8> = texels.flat_map(f32::to_le_bytes).collect();
        let part = eitri_runtime::ImagePart {
            layer,
            ..Default::default()
        };
        it.device
            .write_image(image, part, &bytes)
            .or_fail("it fits");
    }
    let other = flat(&it, "R32_SFLOAT", [8, 4], Tiling::UInterleaved);
    let other = it.new_image(other);
    it.record(|recorder| {
        recorder.barrier(Accesses::HOST_WRITE, Accesses::TRANSFER_READ)?;
        if reads_before {
            let of = |level| ImageSubresource {
                level,
                ..ImageSubresource::default()
            };
            let region = BlitRegion {
                from: of(1),
                from_corners: [[0, 0, 0], [8, 4, 1]],
                to: of(0),
                to_corners: [[0, 0, 0], [8, 4, 1]],
            };
            recorder.blit_image(image, other, BlitFilter::Nearest, &region)?;
            recorder.barrier(Accesses::TRANSFER_READ, Accesses::TRANSFER_WRITE)?;
        }
        recorder.generate_levels(image)?;
        Ok(())
    });
    it.run();
    let mut size = [16, 8];
    for level in 1..5 {
        let above = size;
        size = size.map(|it| (it / 2).max(1));
        for layer in 0..2 {
            let of = |it: &mut Bench, level| -> Vec<f32> {
                let texels = words(&it.slices(image, (level, layer), Aspect::Color));
                texels.into_iter().map(f32::from_bits).collect()
            };
            let before = of(&mut it, level - 1);
            let found = of(&mut it, level);
            for (number, texel) in found.iter().enumerate() {
                let (x, y) = (2 * (number % size[0]), 2 * (number / size[0]));
                let at = |x: usize, y: usize| {
                    let (x, y) = (x.min(above[0] - 1), y.min(above[1] - 1));
                    before[y * above[0] + x]
                };
                let mean = (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)) / 4.0;
                assert_eq!(*texel, mean, "level {level} layer {layer} ({x}, {y})");
            }
        }
    }
}
