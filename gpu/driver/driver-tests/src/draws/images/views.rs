//! Views: a fragment shader fetches what a view shows, texel by texel.

use super::super::bench::{Bench, RED, SIDE, check, rectangle};
use super::super::shaders;
use super::{flat, words};
use crate::bench::OrFail;
use eitri_program::ImageDimension;
use eitri_runtime::{
    Aspect, BindingElement, Component, Draw, GraphicsPipelineInfo, Image, ImageRange,
    RenderingInfo, Tiling, Topology, ViewInfo,
};

/// Draws the texels of a view, which has as many as the picture.
pub(super) fn drawn(it: &mut Bench, image: Image, view: &ViewInfo) -> alloc::vec::Vec<u32> {
    let target = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let programs = (shaders::vertices(it.arch()), shaders::fetched(it.arch()));
    let pipeline = it.pipeline_of(&programs, &info);
    let set = it.device.create_graphics_set(pipeline, 0);
    let set = set.or_fail("it has one");
    let bound = it.device.bind_in_stages(set, |device, set| {
        device.bind_view(set, BindingElement::first(0), image, view)
    });
    bound.or_fail("there is such a view");
    let all = it.buffer(&rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, RED));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(target))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_descriptor_set(set)?
            .bind_vertex_buffer(0, all, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    it.texels(target)
}

/// A level of a layer, and the same of several layers, whose planes are not among the image's own.
pub(crate) fn a_view_shows_a_level_of_some_layers() {
    let mut it = Bench::new();
    let mut info = flat(
        &it,
        "R8G8B8A8_UNORM",
        [2 * SIDE, 2 * SIDE],
        Tiling::UInterleaved,
    );
    (info.levels, info.layers) = (3, 4);
    let image = it.new_image(info);
    let texels = words(&it.fill_with_noise(image, (1, 2), Aspect::Color, 1));
    for layers in [1, 2] {
        let view = ViewInfo {
            range: ImageRange {
                level: 1,
                levels: 1,
                layer: 2,
                layers,
            },
            ..ViewInfo::of(&info)
        };
        let found = drawn(&mut it, image, &view);
        check(&found, 0, |x, y| texels[(y * SIDE + x) as usize]);
    }
}

/// Components in another order, and another format of as many bytes.
pub(crate) fn a_view_has_its_own_components_and_format() {
    let mut it = Bench::new();
    let info = flat(&it, "R32_UINT", [SIDE, SIDE], Tiling::UInterleaved);
    let image = it.new_image(info);
    let texels = words(&it.fill_with_noise(image, (0, 0), Aspect::Color, 2));
    let view = ViewInfo {
        format: Some(it.format("R8G8B8A8_UNORM")),
        swizzle: [
            Component::Alpha,
            Component::One,
            Component::Red,
            Component::Zero,
        ],
        ..ViewInfo::of(&info)
    };
    let found = drawn(&mut it, image, &view);
    check(&found, 0, |x, y| {
        let [red, _, _, alpha] = texels[(y * SIDE + x) as usize].to_le_bytes();
        u32::from_le_bytes([alpha, 255, red, 0])
    });
}

/// A slice of a deep image as an image of two dimensions.
pub(crate) fn a_view_shows_a_slice() {
    let mut it = Bench::new();
    let mut info = flat(&it, "R8G8B8A8_UNORM", [SIDE, SIDE], Tiling::UInterleaved);
    (info.dimension, info.depth) = (ImageDimension::ThreeD, 5);
    let image = it.new_image(info);
    let texels = words(&it.fill_with_noise(image, (0, 0), Aspect::Color, 3));
    let view = ViewInfo {
        dimension: ImageDimension::TwoD,
        range: ImageRange {
            level: 0,
            levels: 1,
            layer: 3,
            layers: 2,
        },
        ..ViewInfo::of(&info)
    };
    let found = drawn(&mut it, image, &view);
    let skipped = 3 * SIDE * SIDE;
    check(&found, 0, |x, y| texels[(skipped + y * SIDE + x) as usize]);
}

/// Views with the same planes share them, and those go with the image.
pub(crate) fn views_share_planes_which_go_with_the_image() {
    let mut it = Bench::new();
    let mut info = flat(&it, "R8G8B8A8_UNORM", [16, 16], Tiling::Linear);
    (info.levels, info.layers) = (2, 6);
    let programs = (shaders::vertices(it.arch()), shaders::fetched(it.arch()));
    let graphics = it.info();
    let pipeline = it.pipeline_of(&programs, &graphics);
    let set = it.device.create_graphics_set(pipeline, 0);
    let set = set.or_fail("it has one");
    let round = |device: &mut super::super::bench::Up<crate::machine::Host>, layers| {
        let made = device.create_image(it.space, info);
        let image = made.or_fail("there is memory");
        for layers in layers {
            let view = ViewInfo {
                range: ImageRange {
                    level: 1,
                    levels: 1,
                    layer: 0,
                    layers,
                },
                ..ViewInfo::of(&info)
            };
            let bound = device.bind_in_stages(set, |device, set| {
                device.bind_view(set, BindingElement::first(0), image, &view)
            });
            bound.or_fail("there is such a view");
        }
        device.destroy_image(image).or_fail("no job uses it");
    };
    // Far more than there are places for objects, if views left planes behind or did not share them.
    for _ in 0..200 {
        round(&mut it.device, alloc::vec![2, 3, 2, 3, 2, 3, 4, 2]);
    }
}
