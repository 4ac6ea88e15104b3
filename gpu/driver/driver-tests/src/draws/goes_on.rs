//! Passes that go on from the last draw of another, and draws that change little: each is drawn once, and in the next block of memory
//! where one is full.

use super::bench::{BLUE_WORD, Bench, RED, RED_WORD, SIDE, check, rectangle};
use super::secondaries::column;
use super::shaders;
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_runtime::{
    BindingElement, BlendComponent, BlendFactor, BlendOp, Buffer, ColorBlend, Draw,
    GraphicsPipeline, GraphicsPipelineInfo, GraphicsSet, Image, ImagePart, Rect, RenderingInfo,
    Tiling, Topology,
};

/// Two passes to images of their own, which draw the texels of a set.
struct Passes {
    images: [Image; 2],
    pipeline: GraphicsPipeline,
    set: GraphicsSet,
    all: Buffer,
}

impl Passes {
    /// They add a quarter of red to what is there.
    fn new(it: &mut Bench) -> Passes {
        let add = BlendComponent {
            src: BlendFactor::One,
            dst: BlendFactor::One,
            op: BlendOp::Add,
        };
        let blend = ColorBlend {
            equations: Some([add; 2]),
            write_mask: 0xF,
        };
        let info = GraphicsPipelineInfo {
            topology: Topology::TriangleStrip,
            blends: &[blend],
            ..it.info()
        };
        let programs = (shaders::vertices(it.arch()), shaders::fetched(it.arch()));
        let pipeline = it.pipeline_of(&programs, &info);
        let source = it.image("R8G8B8A8_UNORM", Tiling::Linear);
        let texels = [0x40, 0, 0, 0].repeat((SIDE * SIDE) as usize);
        let written = it.device.write_image(source, ImagePart::default(), &texels);
        written.or_fail("it fits");
        let set = it.device.create_graphics_set(pipeline, 0);
        let set = set.or_fail("it has one");
        let bound = it.device.bind_in_stages(set, |device, set| {
            device.bind_image(set, BindingElement::first(0), source)
        });
        bound.or_fail("it is an image");
        Passes {
            images: [(); 2].map(|()| it.image("R8G8B8A8_UNORM", Tiling::UInterleaved)),
            pipeline,
            set,
            all: it.buffer(&rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, RED)),
        }
    }

    /// Records both, with one draw each.
    fn record(&self, it: &mut Bench) {
        it.record(|recorder| {
            for image in self.images {
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(Bench::blue(image))],
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(self.pipeline)?
                    .bind_descriptor_set(self.set)?
                    .bind_vertex_buffer(0, self.all, 0)?
                    .draw(Draw::of(4))?;
                pass.end_rendering()?;
            }
            Ok(())
        });
    }
}

/// What a draw adds to the picture is there once, also where the pass goes on from the draw of the pass before.
pub(crate) fn a_pass_that_goes_on_draws_once() {
    let mut it = Bench::new();
    let passes = Passes::new(&mut it);
    passes.record(&mut it);
    it.run();
    for image in passes.images {
        check(&it.texels(image), 0, |_, _| BLUE_WORD | 0x40);
    }
}

/// Draws in one pass, with push constants and vertices of their own.
const DRAWS: u32 = 240;
const COLUMNS: u32 = 8;

/// Draws go on in further blocks of memory with what was loaded before.
pub(crate) fn draws_that_change_go_on_in_further_blocks() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let programs = (
        shaders::vertices(it.arch()),
        shaders::pushed_color(it.arch()),
    );
    let pipeline = it.pipeline_of(&programs, &info);
    let columns = (0..COLUMNS).map(|number| it.buffer(&column(number, RED)));
    let columns: Vec<Buffer> = columns.collect();
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?;
        for (draw, column) in (1..=DRAWS).zip(columns.iter().cycle()) {
            let red = draw as f32 / 255.0;
            let color: Vec<u8> = [red, 0.0, 0.0, 1.0]
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect();
            pass.push_constants(0, &color)?
                .bind_vertex_buffer(0, *column, 0)?
                .draw(Draw::of(4))?;
        }
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    let last = |column| DRAWS - COLUMNS + 1 + column;
    check(&texels, 0, |x, _| 0xFF00_0000 | last(x / (SIDE / COLUMNS)));
}

/// Each of many draws has a scissor of its own, and state that is set anew: their instructions do not fit one block either.
pub(crate) fn draws_with_state_of_their_own_go_on_in_further_blocks() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let all = it.buffer(&rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, RED));
    // Each pixel but every third.
    let is_drawn = |pixel: u32| !pixel.is_multiple_of(3);
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, all, 0)?;
        for number in (0..2 * SIDE * SIDE).filter(|number| is_drawn(number % (SIDE * SIDE))) {
            let pixel = number % (SIDE * SIDE);
            pass.set_scissor(Rect {
                x: (pixel % SIDE) as i32,
                y: (pixel / SIDE) as i32,
                width: 1,
                height: 1,
            });
            pass.draw(Draw::of(4))?;
        }
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 0, |x, y| {
        let pixel = y * SIDE + x;
        if is_drawn(pixel) { RED_WORD } else { BLUE_WORD }
    });
}
