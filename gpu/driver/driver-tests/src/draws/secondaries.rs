//! Draws of secondary command buffers, against the pictures that they make where they are recorded in a pass.

use super::bench::{BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use super::buffer_words::{check_quarters, table};
use super::shaders;
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_descriptors::formats::VkFormat;
use eitri_runtime::{
    Accesses, Buffer, ClearAttachment, ClearColor, ClearRect, CommandBuffer, Draw,
    GraphicsPipeline, GraphicsPipelineInfo, Image, ImageInfo, IndirectDraws, InheritedRendering,
    Rect, RenderingInfo, Tiling, Topology,
};

/// Columns of a picture.
const COLUMNS: u32 = 8;
const WIDTH: u32 = SIDE / COLUMNS;

/// A column of the picture, as four vertices of a strip.
pub(super) fn column(number: u32, color: [f32; 4]) -> Vec<u32> {
    let at = |number: u32| number as f32 * 2.0 / COLUMNS as f32 - 1.0;
    rectangle([at(number), -1.0], [at(number + 1), 1.0], 0.5, color)
}

/// What the draws of these tests inherit.
pub(super) fn inherited(it: &Bench) -> InheritedRendering<'static> {
    InheritedRendering {
        width: SIDE,
        height: SIDE,
        colors: it.info().colors,
        ..InheritedRendering::default()
    }
}

pub(super) fn strips(it: &Bench) -> GraphicsPipelineInfo<'static> {
    GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    }
}

pub(super) fn commands(it: &mut Bench) -> CommandBuffer {
    let made = it.device.create_command_buffer(it.space);
    made.or_fail("there is memory")
}

/// A pipeline of strips, the red columns 1 to 5, and column 0 in green.
pub(super) struct Columns {
    pub(super) pipeline: GraphicsPipeline,
    red: [Buffer; 5],
    green: Buffer,
}

impl Columns {
    pub(super) fn new(it: &mut Bench) -> Columns {
        let info = strips(it);
        Columns {
            pipeline: it.pipeline(&info),
            red: [1, 2, 3, 4, 5].map(|number| it.buffer(&column(number, RED))),
            green: it.buffer(&column(0, GREEN)),
        }
    }
}

/// Draws of a secondary, of one that it calls, and of the pass itself, which goes on with what was bound there; with a scissor that is
/// the secondary's alone, a clear, indirect draws, and a condition around and in the secondary.
pub(crate) fn draws_of_secondaries_take_their_place_in_a_pass() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let Columns {
        pipeline,
        red: [first, second, third, fourth, fifth],
        green,
    } = Columns::new(&mut it);
    let word = it.buffer(&[1]);
    let numbers = it.buffer(&[4, 1, 0, 0]);
    let inherited = inherited(&it);
    let [outer, inner] = [(); 2].map(|()| commands(&mut it));
    let clear = ClearAttachment::Color {
        location: 0,
        color: ClearColor::Float(GREEN),
    };
    let rect = |number: u32, layers| ClearRect {
        rect: Rect {
            x: (number * WIDTH) as i32,
            y: 0,
            width: WIDTH,
            height: SIDE,
        },
        layer: 0,
        layers,
    };
    let upper_half = Rect {
        width: SIDE,
        height: SIDE / 2,
        ..Rect::default()
    };
    let recorded = it.device.record_draws(inner, &inherited, |pass| {
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, second, 0)?
            .set_scissor(upper_half)
            .draw(Draw::of(4))?
            .clear_attachments(&[clear], &[rect(6, 1)])?
            .begin_conditional(word, 0, false)?
            .bind_vertex_buffer(0, third, 0)?
            .draw_indirect(IndirectDraws {
                buffer: numbers,
                offset: 0,
                draws: 1,
                stride: 16,
                count: None,
            })
            .map(drop)
    });
    recorded.or_fail("it can be recorded");
    let recorded = it.device.record_draws(outer, &inherited, |pass| {
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, fourth, 0)?
            .draw(Draw::of(4))?
            .bind_vertex_buffer(0, first, 0)?
            .draw(Draw::of(4))?
            .execute(inner)?
            .draw(Draw {
                count: 3,
                ..Draw::of(4)
            })?
            .bind_vertex_buffer(0, fourth, 0)?
            .draw(Draw::of(4))
            .map(drop)
    });
    recorded.or_fail("it can be recorded");
    it.record(|recorder| {
        recorder.barrier(Accesses::TRANSFER_WRITE, Accesses::INDIRECT_READ)?;
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, fifth, 0)?
            .draw(Draw::of(4))?
            .begin_conditional(word, 0, true)?
            .execute(outer)?
            .end_conditional();
        // The same numbers as the draw before, which registers do not hold any more; over all of the picture's height.
        pass.draw(Draw::of(4))?
            .bind_vertex_buffer(0, green, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()?;
        // A pass of nothing else.
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(eitri_runtime::ColorAttachment {
                load: eitri_runtime::LoadOp::Load,
                ..Bench::blue(image)
            })],
            ..RenderingInfo::default()
        })?;
        pass.begin_conditional(word, 0, false)?
            .execute(outer)?
            .end_conditional();
        pass.end_rendering()
    });
    for value in [1_u32, 0, 7] {
        let written = it.device.write_buffer(word, 0, &value.to_le_bytes());
        written.or_fail("it fits");
        it.run();
        let texels = it.texels(image);
        check(&texels, 0, |x, y| match (x / WIDTH, value) {
            (0, _) => GREEN_WORD,
            (1 | 4 | 5, _) => RED_WORD,
            (2, _) if y < SIDE / 2 => RED_WORD,
            // It depends on the word being 0 and not 0 where it was called by the first pass.
            (3, 1 | 7) if y < SIDE / 2 => RED_WORD,
            (6, _) => GREEN_WORD,
            _ => BLUE_WORD,
        });
    }
}

/// One secondary in two passes, between which a copy changes the words that both of its stages read, and in many submissions; it has
/// more draws than one block.
pub(crate) fn secondaries_have_the_words_of_buffers_of_their_call() {
    const DRAWS: usize = 400;
    let mut it = Bench::new();
    let images: [Image; 2] = [(); 2].map(|()| it.image("R8G8B8A8_UNORM", Tiling::Linear));
    let info = strips(&it);
    let programs = (
        shaders::placed_vertices(it.arch()),
        shaders::table_color(it.arch()),
    );
    let pipeline = it.pipeline_of(&programs, &info);
    let quarter = it.buffer(&rectangle([-0.5, -0.5], [0.5, 0.5], 0.5, GREEN));
    let high = (SIDE * 3 / 4) as f32;
    let words = it.buffer(&table([0.0; 2], [0.0; 4]));
    let others = it.buffer(&table([high, high], RED));
    let set = it.device.create_graphics_set(pipeline, 0);
    let set = set.or_fail("there is memory");
    let bound = it
        .device
        .bind_in_stages(set, |device, set| device.bind_buffer(set, 0, words));
    bound.or_fail("it fits");
    let inherited = inherited(&it);
    let draws = commands(&mut it);
    for _ in 0..2 {
        let recorded = it.device.record_draws(draws, &inherited, |pass| {
            pass.bind_pipeline(pipeline)?
                .bind_descriptor_set(set)?
                .bind_vertex_buffer(0, quarter, 0)?;
            for number in 0..DRAWS {
                // Each has other uniforms, and so room of its own.
                let last = number + 1 == DRAWS;
                pass.set_scissor(Rect {
                    width: if last { SIDE } else { 1 },
                    height: SIDE,
                    ..Rect::default()
                })
                .bind_vertex_buffer(0, quarter, 0)?
                .draw(Draw::of(4))?;
            }
            Ok(())
        });
        recorded.or_fail("it can be recorded");
    }
    it.record(|recorder| {
        for (number, image) in images.into_iter().enumerate() {
            if number > 0 {
                let shaders = Accesses::SHADER_READ;
                recorder.barrier(shaders, Accesses::TRANSFER_WRITE)?;
                recorder.copy_buffer((others, 0), (words, 0), 32)?;
                recorder.barrier(Accesses::TRANSFER_WRITE, shaders)?;
            }
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.execute(draws)?;
            pass.end_rendering()?;
        }
        Ok(())
    });
    check_quarters(&mut it, words, images);
}

/// Draws of a secondary go to each view of the pass that calls them.
pub(crate) fn secondaries_draw_to_every_view() {
    let mut it = Bench::new();
    let format = it.format("R8G8B8A8_UNORM");
    let info = ImageInfo {
        layers: 2,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let image = it.device.create_image(it.space, info);
    let image = image.or_fail("there is memory");
    let Columns { pipeline, red, .. } = Columns::new(&mut it);
    let view_mask = 0b11;
    let inherited = InheritedRendering {
        view_mask,
        ..inherited(&it)
    };
    let draws = commands(&mut it);
    let recorded = it.device.record_draws(draws, &inherited, |pass| {
        pass.bind_pipeline(pipeline)?;
        for buffer in red {
            pass.bind_vertex_buffer(0, buffer, 0)?.draw(Draw::of(4))?;
        }
        Ok(())
    });
    recorded.or_fail("it can be recorded");
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            view_mask,
            ..RenderingInfo::default()
        })?;
        pass.execute(draws)?;
        pass.end_rendering()
    });
    it.run();
    for layer in 0..2 {
        let texels = it.texels_of(image, layer);
        check(&texels, 0, |x, _| match x / WIDTH {
            1..=5 => RED_WORD,
            _ => BLUE_WORD,
        });
    }
}

/// Draws are recorded before the device has a heap, a pipeline or a pass.
pub(crate) fn a_secondary_may_be_the_first_that_a_device_draws() {
    let clear = ClearAttachment::Color {
        location: 0,
        color: ClearColor::Float(GREEN),
    };
    let rect = ClearRect {
        rect: Rect {
            width: SIDE,
            height: SIDE / 2,
            ..Rect::default()
        },
        layer: 0,
        layers: 1,
    };
    let (mut it, draws) = Bench::behind(|device, space| {
        let draws = device
            .create_command_buffer(space)
            .or_fail("there is memory");
        let arch = device.properties().arch;
        let inherited = InheritedRendering {
            width: SIDE,
            height: SIDE,
            colors: &[VkFormat::of_name(arch, "R8G8B8A8_UNORM")],
            ..InheritedRendering::default()
        };
        let recorded = device.record_draws(draws, &inherited, |pass| {
            pass.clear_attachments(&[clear], &[rect]).map(drop)
        });
        recorded.or_fail("it can be recorded");
        draws
    });
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.execute(draws)?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 0, |_, y| match y < SIDE / 2 {
        true => GREEN_WORD,
        false => BLUE_WORD,
    });
}
