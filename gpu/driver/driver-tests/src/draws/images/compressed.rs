//! Images that are compressed without loss: whatever is done to one is done to one that is not, and both hold the same.

use super::super::bench::{BLUE, Bench, RED, SIDE, rectangle};
use super::{flat, noise};
use crate::bench::OrFail;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use eitri_runtime::{
    Accesses, Aspect, BlitFilter, BlitRegion, Buffer, BufferImageCopy, ClearColor, ColorAttachment,
    DepthAttachment, Draw, Error, GraphicsPipeline, GraphicsPipelineInfo, Image, ImageCopy,
    ImageInfo, ImageRange, ImageSubresource, ImageUses, ImageView, LoadOp, Platform, Rect,
    RenderingInfo, Resolve, StencilAttachment, StoreOp, Tiling, Topology,
};

const ALL: Accesses = Accesses::ALL;
const TILINGS: [Tiling; 2] = [Tiling::Afbc, Tiling::UInterleaved];

/// All texels of a level of a layer, by a copy to a buffer.
fn downloaded<P: Platform>(
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
fn check_same<P: Platform>(
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
fn both<P: Platform>(it: &mut Bench<P>, info: ImageInfo) -> [Image; 2] {
    TILINGS.map(|tiling| it.new_image(ImageInfo { tiling, ..info }))
}

fn destroy<P: Platform>(it: &mut Bench<P>, images: &[Image]) {
    for image in images {
        it.device.destroy_image(*image).or_fail("no job uses it");
    }
}

/// From a buffer, to a compressed image and to one that is not, and back, at places that are no whole superblocks.
pub(crate) fn compressed_texels_are_copied_bit_by_bit() {
    let mut it = Bench::new();
    for (format, side) in [
        ("R8_SRGB", 40),
        ("R8G8_SNORM", 40),
        ("R5G6B5_UNORM_PACK16", 40),
        ("A1R5G5B5_UNORM_PACK16", 24),
        ("R8G8B8A8_UNORM", 80),
        ("B8G8R8A8_SRGB", 40),
        ("A2B10G10R10_UNORM_PACK32", 40),
        ("R16G16_SFLOAT", 40),
        ("R16G16B16A16_SFLOAT", 40),
        ("D16_UNORM", 40),
        ("S8_UINT", 40),
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

/// A rectangle over the middle of the picture.
fn middle(it: &mut Bench) -> (GraphicsPipeline, Buffer) {
    let pipeline = it.pipeline(&GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    });
    let corners = it.buffer(&rectangle([-0.4, -0.3], [0.3, 0.6], 0.5, RED));
    (pipeline, corners)
}

/// Clears of all and of an area, loads with and without draws, blits into a part.
pub(crate) fn compressed_images_are_cleared_blitted_and_rendered_in_part() {
    let mut it = Bench::new();
    let info = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::Afbc);
    let images = both(&mut it, info);
    let source = it.new_image(flat(&it, "R8G8B8A8_UNORM", [16, 16], Tiling::UInterleaved));
    it.fill_with_noise(source, (0, 0), Aspect::Color, 1);
    let (pipeline, corners) = middle(&mut it);
    for image in images {
        let attachment = |load| ColorAttachment {
            load,
            ..Bench::blue(image)
        };
        it.record(|recorder| {
            recorder.clear_color_image(
                image,
                ClearColor::Float([0.1, 0.2, 0.3, 0.4]),
                ImageRange::ALL,
            )?;
            recorder.barrier(ALL, ALL)?;
            // Nothing is drawn into most tiles, which stay.
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(attachment(LoadOp::Load))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, corners, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()?;
            recorder.barrier(ALL, ALL)?;
            let area = Some(Rect {
                x: 5,
                y: 35,
                width: 33,
                height: 14,
            });
            let clear = LoadOp::Clear(ClearColor::Float(BLUE));
            let pass = recorder.begin_rendering(&RenderingInfo {
                area,
                colors: &[Some(attachment(clear))],
                ..RenderingInfo::default()
            })?;
            pass.end_rendering()?;
            recorder.barrier(ALL, ALL)?;
            for (filter, [x, y]) in [(BlitFilter::Nearest, [3, 3]), (BlitFilter::Linear, [37, 9])] {
                let region = BlitRegion {
                    from: ImageSubresource::default(),
                    from_corners: [[2, 1, 0], [14, 13, 1]],
                    to: ImageSubresource::default(),
                    to_corners: [[x + 20, y, 0], [x, y + 18, 1]],
                };
                recorder.blit_image(source, image, filter, &region)?;
                recorder.barrier(ALL, ALL)?;
            }
            // Of itself, which is compressed or not.
            let region = BlitRegion {
                from: ImageSubresource::default(),
                from_corners: [[0, 0, 0], [32, 32, 1]],
                to: ImageSubresource::default(),
                to_corners: [[41, 33, 0], [57, 49, 1]],
            };
            recorder.blit_image(image, image, BlitFilter::Linear, &region)?;
            Ok(())
        });
        it.run();
    }
    let texels = check_same(&mut it, images, (0, 0), (Aspect::Color, "passes"));
    let texel = |x: usize, y: usize| &texels[(y * SIDE as usize + x) * 4..][..4];
    assert_eq!(texel(6, 36), [0, 0, 255, 255], "cleared in part");
    assert_eq!(texel(0, 63), [26, 51, 77, 102], "cleared at first");
}

/// Sixteen by eight pixels a tile: superblocks are larger.
pub(crate) fn compressed_images_are_rendered_with_small_tiles() {
    let mut it = Bench::new();
    let info = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::Afbc);
    let images = both(&mut it, info);
    let wide = flat(
        &it,
        "R32G32B32A32_SFLOAT",
        [SIDE, SIDE],
        Tiling::UInterleaved,
    );
    let others = [(); 7].map(|()| it.new_image(wide));
    let program = (
        super::super::shaders::vertices(it.arch()),
        super::super::shaders::color(it.arch()),
    );
    let formats: Vec<_> = core::iter::once("R8G8B8A8_UNORM")
        .chain(core::iter::repeat_n("R32G32B32A32_SFLOAT", 7))
        .map(|name| Some(it.format(name)))
        .collect();
    let pipeline = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        colors: formats.leak(),
        ..it.info()
    };
    let pipeline = it.pipeline_of(&program, &pipeline);
    let corners = it.buffer(&rectangle([-0.4, -0.3], [0.3, 0.6], 0.5, RED));
    for image in images {
        it.record(|recorder| {
            recorder.clear_color_image(image, ClearColor::Float(BLUE), ImageRange::ALL)?;
            recorder.barrier(ALL, ALL)?;
            let first = ColorAttachment {
                load: LoadOp::Load,
                ..Bench::blue(image)
            };
            let rest = others.map(|other| ColorAttachment {
                store: StoreOp::DontCare,
                ..Bench::blue(other)
            });
            let all: Vec<_> = core::iter::once(first).chain(rest).map(Some).collect();
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &all,
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?;
            pass.bind_vertex_buffer(0, corners, 0)?;
            pass.draw(Draw::of(4))?;
            pass.end_rendering()
        });
        it.run();
    }
    let texels = check_same(&mut it, images, (0, 0), (Aspect::Color, "small tiles"));
    assert_eq!(texels[..4], [0, 0, 255, 255], "a tile without geometry");
}

/// Samples become texels where they are written, and behind the pass if its area ends within superblocks.
pub(crate) fn samples_become_compressed_texels() {
    let mut it = Bench::new();
    let info = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::Afbc);
    let images = both(&mut it, info);
    let mut samples = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::UInterleaved);
    samples.samples = 4;
    let samples = it.new_image(samples);
    let pipeline = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        samples: 4,
        ..it.info()
    };
    let pipeline = it.pipeline(&pipeline);
    let corners = it.buffer(&rectangle([-0.41, -0.33], [0.32, 0.61], 0.5, RED));
    let part = Rect {
        x: 20,
        y: 3,
        width: 21,
        height: 40,
    };
    for area in [None, Some(part)] {
        for image in images {
            it.record(|recorder| {
                recorder.clear_color_image(image, ClearColor::Float([0.5; 4]), ImageRange::ALL)?;
                recorder.barrier(ALL, ALL)?;
                let color = ColorAttachment {
                    resolve: Some(Resolve::average(ImageView::of(image))),
                    store: StoreOp::DontCare,
                    ..Bench::blue(samples)
                };
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    area,
                    colors: &[Some(color)],
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(pipeline)?;
                pass.bind_vertex_buffer(0, corners, 0)?;
                pass.draw(Draw::of(4))?;
                pass.end_rendering()
            });
            it.run();
        }
        let texels = check_same(&mut it, images, (0, 0), (Aspect::Color, "resolves"));
        let first = if area.is_some() {
            [128; 4]
        } else {
            [0, 0, 255, 255]
        };
        assert_eq!(texels[..4], first, "{area:?}");
    }
}

/// Depth and stencil of which a part is cleared.
pub(crate) fn compressed_depth_and_stencil_are_cleared_in_part() {
    let mut it = Bench::new();
    let depths = flat(&it, "D16_UNORM", [SIDE, SIDE], Tiling::Afbc);
    let depths = both(&mut it, depths);
    let stencils = flat(&it, "S8_UINT", [SIDE, SIDE], Tiling::Afbc);
    let stencils = both(&mut it, stencils);
    for (depth, stencil) in depths.into_iter().zip(stencils) {
        it.record(|recorder| {
            recorder.clear_depth_stencil_image(depth, Some(0.25), None, ImageRange::ALL)?;
            recorder.clear_depth_stencil_image(stencil, None, Some(7), ImageRange::ALL)?;
            recorder.barrier(ALL, ALL)?;
            let store = StoreOp::Store;
            let pass = recorder.begin_rendering(&RenderingInfo {
                area: Some(Rect {
                    x: 9,
                    y: 17,
                    width: 30,
                    height: 22,
                }),
                depth: Some(DepthAttachment {
                    view: ImageView::of(depth),
                    load: LoadOp::Clear(0.75),
                    store,
                }),
                stencil: Some(StencilAttachment {
                    view: ImageView::of(stencil),
                    load: LoadOp::Clear(200),
                    store,
                }),
                ..RenderingInfo::default()
            })?;
            pass.end_rendering()
        });
        it.run();
    }
    let depth = check_same(
        &mut it,
        depths,
        (0, 0),
        (Aspect::Depth, "a clear of a part"),
    );
    let stencil = check_same(
        &mut it,
        stencils,
        (0, 0),
        (Aspect::Stencil, "a clear of a part"),
    );
    let at = |x: usize, y: usize| y * SIDE as usize + x;
    let depth = |x, y| u16::from_le_bytes([depth[at(x, y) * 2], depth[at(x, y) * 2 + 1]]);
    assert_eq!([depth(9, 17), depth(8, 17)], [49151, 16384]);
    assert_eq!([stencil[at(38, 38)], stencil[at(38, 39)]], [200, 7]);
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
        let found = found.strip_prefix("an AFBC image of format R8G8B8A8_UNORM: ");
        assert_eq!(found, Some(wanted));
    };
    let host =
        "the host can't read or write it: copy it to a buffer, or make it for ImageUses::HOST";
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
        "it is copied to compressed images with the same channels only: go through a buffer",
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
        "it is seen in formats with the same channels only: make it for ImageUses::OTHER_FORMATS",
    );
}
