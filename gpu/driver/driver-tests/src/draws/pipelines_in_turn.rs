//! Draws of several pipelines in one pass: each has its own uniforms, and memory of its threads.

use super::bench::{BLUE, BLUE_WORD, Bench, GREEN_WORD, RED, RED_WORD, SIDE, check, vertices};
use super::buffer_words::table;
use super::secondaries::column;
use super::shaders;
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_program::GraphicsProgram;
use eitri_runtime::{
    BindingElement, Draw, GraphicsPipeline, GraphicsPipelineInfo, ImagePart, RenderingInfo, Tiling,
    Topology,
};

fn strips(
    it: &mut Bench,
    programs: &(GraphicsProgram<'static>, GraphicsProgram<'static>),
) -> GraphicsPipeline {
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    it.pipeline_of(programs, &info)
}

/// Pipelines draw as many vertices from the same first instance, which says where: behind one whose uniforms the stream fills, which
/// draws in the middle whatever the instance is, and behind each other.
pub(crate) fn another_pipeline_has_the_first_instance_of_its_draw() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    // Red above, green below.
    let source = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let texel = |at: u32| match at < SIDE * SIDE / 2 {
        true => RED_WORD,
        false => GREEN_WORD,
    };
    let bytes: Vec<u8> = (0..SIDE * SIDE)
        .flat_map(|at| texel(at).to_le_bytes())
        .collect();
    let written = it.device.write_image(source, ImagePart::default(), &bytes);
    written.or_fail("it fits");
    let programs = (
        shaders::instance_placed_vertices(it.arch()),
        shaders::fetched(it.arch()),
    );
    let [first, second] = [(); 2].map(|()| strips(&mut it, &programs));
    let fetched = it.device.create_graphics_set(first, 0);
    let fetched = fetched.or_fail("there is memory");
    let bound = it.device.bind_in_stages(fetched, |device, set| {
        device.bind_image(set, BindingElement::first(0), source)
    });
    bound.or_fail("it is an image");
    let programs = (
        shaders::vertices(it.arch()),
        shaders::table_color(it.arch()),
    );
    let filled = strips(&mut it, &programs);
    let words = it.buffer(&table([0.0; 2], RED));
    let tables = it.device.create_graphics_set(filled, 0);
    let tables = tables.or_fail("there is memory");
    let bound = it
        .device
        .bind_in_stages(tables, |device, set| device.bind_buffer(set, 0, words));
    bound.or_fail("it fits");
    // Eight pixels to the right of the place, in the upper and in the lower half.
    let half = |top: f32| {
        let corner = |x: f32, y: f32| ([x, y, 0.5, 1.0], BLUE);
        vertices(&[
            corner(0.0, top),
            corner(0.0, top + 1.0),
            corner(0.25, top),
            corner(0.25, top + 1.0),
        ])
    };
    let upper = it.buffer(&half(-1.0));
    let lower = it.buffer(&half(0.0));
    let places = [8, 32, 48];
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        for place in places {
            let draw = Draw {
                first_instance: (place as f32).to_bits(),
                ..Draw::of(4)
            };
            pass.bind_pipeline(filled)?
                .bind_descriptor_set(tables)?
                .bind_vertex_buffer(0, upper, 0)?
                .draw(draw)?
                .bind_pipeline(first)?
                .bind_descriptor_set(fetched)?
                .draw(draw)?
                .bind_pipeline(second)?
                .bind_vertex_buffer(0, lower, 0)?
                .draw(draw)?;
        }
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    let drawn = |x: u32| places.iter().any(|place| (*place..*place + 8).contains(&x));
    check(&texels, 0, |x, y| match (drawn(x), y < SIDE / 2) {
        (false, _) => BLUE_WORD,
        (true, true) => RED_WORD,
        (true, false) => GREEN_WORD,
    });
}

/// Two pipelines have the length of a buffer among their uniforms, in turn: that of the set which is bound at the draw.
pub(crate) fn pipelines_in_turn_have_the_lengths_of_their_buffers() {
    const LENGTHS: [u32; 2] = [64, 192];
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let programs = (
        shaders::vertices(it.arch()),
        shaders::length_color(it.arch()),
    );
    let pipelines = [(); 2].map(|()| strips(&mut it, &programs));
    let sets = LENGTHS.map(|length| {
        let buffer = it.buffer(&[0; 64][..length as usize / 4]);
        let set = it.device.create_graphics_set(pipelines[0], 0);
        let set = set.or_fail("there is memory");
        let bound = it
            .device
            .bind_in_stages(set, |device, set| device.bind_buffer(set, 0, buffer));
        bound.or_fail("it fits");
        set
    });
    // Pipeline and set of each column: both change, one alone, and none.
    let columns = [
        (0, 0),
        (1, 0),
        (1, 1),
        (0, 1),
        (0, 0),
        (0, 0),
        (1, 1),
        (0, 0),
    ];
    let buffers = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| it.buffer(&column(number, RED)));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        for ((pipeline, set), buffer) in columns.into_iter().zip(buffers) {
            pass.bind_pipeline(pipelines[pipeline])?
                .bind_descriptor_set(sets[set])?
                .bind_vertex_buffer(0, buffer, 0)?
                .draw(Draw::of(4))?;
        }
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 0, |x, _| {
        let (_, set) = columns[(x * columns.len() as u32 / SIDE) as usize];
        0xFF00_0000 + LENGTHS[set] * 0x0001_0101
    });
}

/// Fragments that keep their colour in memory of their own for a while, beside others that do not, and in a pass that goes on from such
/// a draw.
pub(crate) fn fragments_with_memory_of_their_own_draw_the_same() {
    let mut it = Bench::new();
    let images = [(); 4].map(|()| it.image("R8G8B8A8_UNORM", Tiling::Linear));
    let arch = it.arch();
    let plain = strips(&mut it, &(shaders::vertices(arch), shaders::color(arch)));
    let spilled = strips(
        &mut it,
        &(shaders::vertices(arch), shaders::spilled_color(arch)),
    );
    // A colour that differs from pixel to pixel.
    let corner = |x: f32, y: f32| {
        let color = [(x + 1.0) / 2.0, (y + 1.0) / 2.0, 0.25, 1.0];
        ([x, y, 0.5, 1.0], color)
    };
    let half = |left: f32| {
        vertices(&[
            corner(left, -1.0),
            corner(left, 1.0),
            corner(left + 1.0, -1.0),
            corner(left + 1.0, 1.0),
        ])
    };
    let halves = [-1.0, 0.0].map(|left| it.buffer(&half(left)));
    it.record(|recorder| {
        let orders = [
            [plain, plain],
            [spilled, spilled],
            [spilled, plain],
            [plain, spilled],
        ];
        for (image, order) in images.into_iter().zip(orders) {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            for (pipeline, vertices) in order.into_iter().zip(halves) {
                pass.bind_pipeline(pipeline)?
                    .bind_vertex_buffer(0, vertices, 0)?
                    .draw(Draw::of(4))?;
            }
            pass.end_rendering()?;
        }
        Ok(())
    });
    it.run();
    let wanted = it.texels(images[0]);
    assert!(wanted.iter().all(|texel| *texel != BLUE_WORD));
    for image in &images[1..] {
        let texels = it.texels(*image);
        check(&texels, 0, |x, y| wanted[(y * SIDE + x) as usize]);
    }
}
