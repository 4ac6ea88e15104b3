//! Passes that render to compressed images: in part, with small tiles, from several samples.

use super::super::super::bench::{BLUE, Bench, RED, RED_WORD, SIDE, rectangle};
use super::super::super::shaders;
use super::super::flat;
use super::{ALL, both, check_same};
use crate::bench::config;
use crate::machine::Machine;
use alloc::vec::Vec;
use eitri_model::{Config, Product};
use eitri_runtime::{
    Aspect, BlitFilter, BlitRegion, Buffer, ClearColor, ColorAttachment, DepthAttachment, Draw,
    GraphicsPipeline, GraphicsPipelineInfo, ImageRange, ImageSubresource, ImageUses, ImageView,
    LoadOp, Rect, RenderingInfo, Resolve, StencilAttachment, StoreOp, Tiling, Topology, ViewInfo,
};

/// A rectangle over the middle of the picture.
fn middle(it: &mut Bench) -> (GraphicsPipeline, Buffer) {
    let pipeline = it.pipeline(&GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    });
    let corners = it.buffer(&rectangle([-0.4, -0.3], [0.3, 0.6], 0.5, RED));
    (pipeline, corners)
}

/// On every generation: a picture is rendered to a texture that is compressed, or not, and the texture is drawn.
pub(crate) fn a_texture_that_is_rendered_compressed_is_drawn_alike() {
    let mut seen = Vec::new();
    for product in Product::all() {
        if product.needs_hash.is_some() {
            continue;
        }
        let mut it = Bench::on(Machine::new(Config {
            product,
            ..config()
        }));
        if seen.contains(&it.arch()) {
            continue;
        }
        seen.push(it.arch());
        let info = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::Linear);
        let rendered = info.for_uses(ImageUses::ATTACHMENT | ImageUses::SAMPLED);
        assert_eq!(rendered.tiling, Tiling::Afbc);
        let textures = both(&mut it, rendered);
        let (pipeline, corners) = middle(&mut it);
        let drawn = textures.map(|texture| {
            it.record(|recorder| {
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(Bench::blue(texture))],
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(pipeline)?
                    .bind_vertex_buffer(0, corners, 0)?
                    .draw(Draw::of(4))?;
                pass.end_rendering()
            });
            it.run();
            let view = ViewInfo::of(&rendered);
            super::super::views::drawn(&mut it, texture, &view)
        });
        let [compressed, plain] = &drawn;
        let wrong = compressed.iter().zip(plain).position(|(a, b)| a != b);
        assert_eq!(wrong, None, "{:?}", product.name());
        let reds = plain.iter().filter(|texel| **texel == RED_WORD).count();
        assert!((500..1000).contains(&reds), "{reds} pixels are red");
    }
    assert!(seen.len() >= 4, "only {seen:?}");
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
    assert_eq!(texel(0, 63), [26, 51, 76, 102], "cleared at first");
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
    let program = (shaders::vertices(it.arch()), shaders::color(it.arch()));
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
