//! State of draws: what is read of buffers, what is tested, how colours are blended.

use super::bench::{BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use super::shaders;
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_descriptors::raster::StencilOp;
use eitri_descriptors::texture::Func;
use eitri_runtime::{
    BlendComponent, BlendFactor, BlendOp, ClearColor, ColorAttachment, ColorBlend, DepthAttachment,
    DepthState, Draw, FrontFace, GraphicsPipelineInfo, Image, ImageInfo, ImagePart, ImageView,
    IndexType, LoadOp, Rect, RenderingInfo, Resolve, StencilAttachment, StencilFace, StencilState,
    StoreOp, Tiling, Topology, Viewport,
};

/// A strip of two triangles.
fn strip(info: GraphicsPipelineInfo<'static>) -> GraphicsPipelineInfo<'static> {
    GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..info
    }
}

const ALL: [f32; 2] = [-1.0, -1.0];
const END: [f32; 2] = [1.0, 1.0];

/// Indices name vertices from an offset on, instances have elements of their own from the first instance on.
pub(crate) fn indices_and_instances_choose_their_elements() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = it.info();
    let programs = (
        shaders::moved_vertices(it.arch()),
        shaders::color(it.arch()),
    );
    let pipeline = it.pipeline_of(&programs, &info);
    // Two rectangles of a quarter's size in the upper left corner; the second one is the one that is drawn.
    let mut words = rectangle(ALL, [-0.5, -0.5], 0.5, GREEN);
    words.extend(rectangle(ALL, [-0.5, -0.5], 0.5, RED));
    let vertices = it.buffer(&words);
    let places = [[9.0_f32, 9.0], [0.5, 0.0], [0.0, 1.0], [1.5, 1.5]];
    let words = places
        .iter()
        .flat_map(|[x, y]| [x.to_bits(), y.to_bits(), 0, 0]);
    let places = it.buffer(&words.collect::<Vec<u32>>());
    let indices: [u16; 7] = [77, 0, 1, 2, 2, 1, 3];
    let words = indices.chunks(2).map(|two| {
        let [low, high] = [0, 1].map(|at| u32::from(two.get(at).copied().unwrap_or(0)));
        low | high << 16
    });
    let indices = it.buffer(&words.collect::<Vec<u32>>());
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, vertices, 0)?
            .bind_vertex_buffer(1, places, 0)?
            .bind_index_buffer(indices, 0, IndexType::Uint16)?
            .draw_indexed(Draw {
                count: 6,
                instances: 3,
                first: 1,
                vertex_offset: 4,
                first_instance: 1,
            })?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    let quarter = SIDE / 4;
    check(&texels, 0, |x, y| match (x / quarter, y / quarter) {
        (1, 0) | (0, 2) | (3, 3) => RED_WORD,
        _ => BLUE_WORD,
    });
}

/// Draws that differ in push constants alone each have their own, over several blocks of commands; a pass begins with zeros.
pub(crate) fn draws_have_the_push_constants_of_their_moment() {
    const CELL: u32 = SIDE / 8;
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let other = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let programs = (
        shaders::vertices(it.arch()),
        shaders::pushed_color(it.arch()),
    );
    let info = strip(it.info());
    let pipeline = it.pipeline_of(&programs, &info);
    let all = it.buffer(&rectangle(ALL, END, 0.5, GREEN));
    let is_red = |x: u32, y: u32| (x + 3 * y) % 5 < 2;
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, all, 0)?;
        // The last of many draws is the one that is seen.
        for (cell, round) in (0..64).flat_map(|cell| (0..24).rev().map(move |round| (cell, round)))
        {
            let (x, y) = (cell % 8, cell / 8);
            if round == 23 {
                pass.set_scissor(Rect {
                    x: (x * CELL) as i32,
                    y: (y * CELL) as i32,
                    width: CELL,
                    height: CELL,
                });
            }
            let color = if is_red(x + round, y) { RED } else { GREEN };
            let bytes = color.map(f32::to_le_bytes);
            // Half of them, and then the others.
            let (first, second) = bytes.as_flattened().split_at(8);
            pass.push_constants(0, first)?
                .push_constants(8, second)?
                .draw(Draw::of(4))?;
        }
        pass.end_rendering()?;
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(other))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, all, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 0, |x, y| {
        if is_red(x / CELL, y / CELL) {
            RED_WORD
        } else {
            GREEN_WORD
        }
    });
    let texels = it.texels(other);
    check(&texels, 0, |_, _| 0);
}

/// The nearer of two rectangles is seen, whichever is drawn first, and its depth stands in the image.
pub(crate) fn the_nearer_one_is_seen() {
    for tiling in [Tiling::Linear, Tiling::UInterleaved] {
        let mut it = Bench::new();
        let image = it.image("R8G8B8A8_UNORM", tiling);
        let depths = it.image("D32_SFLOAT", tiling);
        let info = GraphicsPipelineInfo {
            depth: Some(DepthState {
                compare: Func::Less,
                write: true,
            }),
            has_depth: true,
            ..strip(it.info())
        };
        let pipeline = it.pipeline(&info);
        let left = it.buffer(&rectangle(ALL, [0.5, 1.0], 0.25, RED));
        let right = it.buffer(&rectangle([-0.5, -1.0], END, 0.5, GREEN));
        for order in [[left, right], [right, left]] {
            it.record(|recorder| {
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(Bench::blue(image))],
                    depth: Some(DepthAttachment {
                        view: ImageView::of(depths),
                        load: LoadOp::Clear(1.0),
                        store: StoreOp::Store,
                    }),
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(pipeline)?;
                for buffer in order {
                    pass.bind_vertex_buffer(0, buffer, 0)?.draw(Draw::of(4))?;
                }
                pass.end_rendering()
            });
            it.run();
            let is_near = |x| x < SIDE * 3 / 4;
            let texels = it.texels(image);
            check(
                &texels,
                0,
                |x, _| if is_near(x) { RED_WORD } else { GREEN_WORD },
            );
            let texels = it.texels(depths);
            let [near, far] = [0.25_f32, 0.5].map(f32::to_bits);
            check(&texels, 0, |x, _| if is_near(x) { near } else { far });
        }
    }
}

/// A rectangle marks where another may be, on either side of its face.
pub(crate) fn stencil_keeps_others_out() {
    for front_face in [FrontFace::CounterClockwise, FrontFace::Clockwise] {
        stencil_of_a_side(front_face);
    }
}

fn stencil_of_a_side(front_face: FrontFace) {
    let is_front = front_face == FrontFace::CounterClockwise;
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::UInterleaved);
    let format = it.format("S8_UINT");
    let info = ImageInfo {
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let marks = it
        .device
        .create_image(it.space, info)
        .or_fail("there is memory");
    let face = |compare, pass, reference| StencilFace {
        compare,
        fail: StencilOp::Keep,
        depth_fail: StencilOp::Keep,
        pass,
        compare_mask: 0xFF,
        write_mask: 0xFF,
        reference,
    };
    // The side that is not seen would let nothing through.
    let other = face(Func::Never, StencilOp::Zero, 9);
    let stencil = |face| GraphicsPipelineInfo {
        stencil: Some(StencilState {
            front: if is_front { face } else { other },
            back: if is_front { other } else { face },
        }),
        has_stencil: true,
        front_face,
        ..strip(it.info())
    };
    let mark = stencil(face(Func::Always, StencilOp::Replace, 0));
    let within = stencil(face(Func::Equal, StencilOp::IncrSat, 3));
    let (mark, within) = (it.pipeline(&mark), it.pipeline(&within));
    let (front, back) = if is_front { (5, 9) } else { (9, 5) };
    let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.5, RED));
    let all = it.buffer(&rectangle(ALL, END, 0.5, GREEN));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            stencil: Some(StencilAttachment {
                view: ImageView::of(marks),
                load: LoadOp::Clear(3),
                store: StoreOp::Store,
            }),
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(mark)?
            .set_stencil_reference(front, back)
            .bind_vertex_buffer(0, left, 0)?
            .draw(Draw::of(4))?
            // It has a reference of its own: what was set was set for the other.
            .bind_pipeline(within)?
            .bind_vertex_buffer(0, all, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    let is_left = |x| x < SIDE / 2;
    check(
        &texels,
        0,
        |x, _| if is_left(x) { RED_WORD } else { GREEN_WORD },
    );
    let mut bytes = [0; (SIDE * SIDE) as usize];
    it.device
        .read_image(marks, ImagePart::default(), &mut bytes)
        .or_fail("it is there");
    let texels: Vec<u32> = bytes.iter().map(|byte| (*byte).into()).collect();
    check(&texels, 0, |x, _| if is_left(x) { 5 } else { 4 });
}

/// Half red over blue, a sum, and single channels.
pub(crate) fn colors_are_blended() {
    let sum = BlendComponent {
        src: BlendFactor::One,
        dst: BlendFactor::One,
        op: BlendOp::Add,
    };
    let constant = BlendComponent {
        src: BlendFactor::Constant,
        dst: BlendFactor::OneMinusConstant,
        op: BlendOp::Add,
    };
    let half = [1.0, 0.0, 0.0, 0.5];
    let cases = [
        (Some(BlendComponent::OVER), 0xF, 0xBF80_0080),
        (Some(sum), 0xF, 0xFFFF_00FF),
        (None, 0x1, 0xFFFF_00FF),
        (Some(constant), 0x7, 0xFFBF_0040),
    ];
    for (equation, write_mask, expected) in cases {
        let mut it = Bench::new();
        let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
        let blend = ColorBlend {
            equations: equation.map(|it| [it; 2]),
            write_mask,
        };
        let info = GraphicsPipelineInfo {
            blends: &[blend],
            ..strip(it.info())
        };
        let pipeline = it.pipeline(&info);
        let buffer = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.5, half));
        it.record(|recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .set_blend_constants([0.25; 4])?
                .bind_vertex_buffer(0, buffer, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()
        });
        it.run();
        let texels = it.texels(image);
        check(
            &texels,
            1,
            |x, _| if x < SIDE / 2 { expected } else { BLUE_WORD },
        );
    }
}

/// Draws the upper half of these targets by a program that stores colours 0 and 1: green, and yellow.
fn draw_two_colors(it: &mut Bench, targets: &[Option<(Image, &'static str)>]) {
    let formats = targets.iter().map(|it| it.map(|(_, name)| name));
    let formats: Vec<_> = formats
        .map(|name| name.map(|name| it.format(name)))
        .collect();
    let colors = targets
        .iter()
        .map(|it| it.map(|(image, _)| Bench::blue(image)));
    let colors: Vec<_> = colors.collect();
    let info = GraphicsPipelineInfo {
        colors: &formats,
        ..strip(it.info())
    };
    let programs = (shaders::vertices(it.arch()), shaders::two_colors(it.arch()));
    let pipeline = it.pipeline_of(&programs, &info);
    let buffer = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, [1.0, 1.0, 0.0, 1.0]));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &colors,
            // A pass without attachments has to say.
            area: Some(Rect {
                width: SIDE,
                height: SIDE,
                ..Rect::default()
            }),
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, buffer, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
}

/// Checks that the upper half has one colour, and the lower half another.
#[track_caller]
fn check_halves(it: &mut Bench, image: Image, [upper, lower]: [u32; 2]) {
    let texels = it.texels(image);
    check(&texels, 0, |_, y| if y < SIDE / 2 { upper } else { lower });
}

/// Two targets of different formats, of which one is not written everywhere.
pub(crate) fn several_targets_have_their_own_colors() {
    let mut it = Bench::new();
    let names = ["R8G8B8A8_UNORM", "B8G8R8A8_UNORM"];
    let first = it.image(names[0], Tiling::UInterleaved);
    let second = it.image(names[1], Tiling::Linear);
    draw_two_colors(
        &mut it,
        &[Some((first, names[0])), Some((second, names[1]))],
    );
    check_halves(&mut it, first, [GREEN_WORD, BLUE_WORD]);
    check_halves(&mut it, second, [0xFFFF_FF00, 0xFF00_00FF]);
}

/// The program stores colours 0 and 1; the pass has the first alone, the second alone, or none.
pub(crate) fn colors_without_a_target_go_nowhere() {
    let name = "R8G8B8A8_UNORM";
    for (place, upper) in [(0, GREEN_WORD), (1, 0xFF00_FFFF)] {
        let mut it = Bench::new();
        let image = it.image(name, Tiling::UInterleaved);
        let mut targets = [None; 2];
        targets[place] = Some((image, name));
        draw_two_colors(&mut it, &targets[..=place]);
        check_halves(&mut it, image, [upper, BLUE_WORD]);
    }
    draw_two_colors(&mut Bench::new(), &[]);
}

/// Four samples are averaged into an image of one; what one triangle's edge cuts is between both colours.
pub(crate) fn samples_are_averaged() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let format = it.format("R8G8B8A8_UNORM");
    let info = ImageInfo {
        samples: 4,
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let samples = it
        .device
        .create_image(it.space, info)
        .or_fail("there is memory");
    let info = GraphicsPipelineInfo {
        samples: 4,
        ..strip(it.info())
    };
    let pipeline = it.pipeline(&info);
    // The edge goes through the middle of a column of pixels: two samples of four are left of it.
    let middle = (SIDE / 2) as f32 + 0.5;
    let edge = middle / (SIDE / 2) as f32 - 1.0;
    let buffer = it.buffer(&rectangle(ALL, [edge, 1.0], 0.5, RED));
    it.record(|recorder| {
        let color = ColorAttachment {
            resolve: Some(Resolve::average(ImageView::of(image))),
            store: StoreOp::DontCare,
            ..Bench::blue(samples)
        };
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, buffer, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 1, |x, _| match x.cmp(&(SIDE / 2)) {
        core::cmp::Ordering::Less => RED_WORD,
        core::cmp::Ordering::Equal => 0xFF80_0080,
        core::cmp::Ordering::Greater => BLUE_WORD,
    });
}

/// Scissor, viewport and render area, and the sides of faces.
pub(crate) fn only_what_is_to_be_drawn_is_drawn() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        cull_back: true,
        front_face: FrontFace::CounterClockwise,
        ..strip(it.info())
    };
    let front = it.pipeline(&info);
    let back = GraphicsPipelineInfo {
        front_face: FrontFace::Clockwise,
        ..info
    };
    let back = it.pipeline(&back);
    let red = it.buffer(&rectangle(ALL, END, 0.5, RED));
    let green = it.buffer(&rectangle(ALL, END, 0.5, GREEN));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        let scissor = Rect {
            x: 8,
            y: -5,
            width: 16,
            height: 21,
        };
        pass.bind_pipeline(front)?
            .set_scissor(scissor)
            .bind_vertex_buffer(0, red, 0)?
            .draw(Draw::of(4))?
            .bind_pipeline(back)?
            .bind_vertex_buffer(0, green, 0)?
            .draw(Draw::of(4))?;
        let viewport = Viewport {
            x: 32.0,
            y: 64.0,
            width: 32.0,
            height: -16.0,
            depth: [0.0, 1.0],
        };
        let all = Rect {
            width: SIDE,
            height: SIDE,
            ..Rect::default()
        };
        // Upside down the back is in front.
        pass.set_scissor(all)
            .set_viewport(viewport)
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 0, |x, y| {
        if (8..24).contains(&x) && y < 16 {
            RED_WORD
        } else if x >= 32 && y >= 48 {
            GREEN_WORD
        } else {
            BLUE_WORD
        }
    });
    // Outside of the area all stays.
    it.record(|recorder| {
        let clear = ClearColor::Float(GREEN);
        let area = Rect {
            x: 16,
            y: 16,
            width: 16,
            height: 8,
        };
        let pass = recorder.begin_rendering(&RenderingInfo {
            area: Some(area),
            colors: &[Some(ColorAttachment::cleared(ImageView::of(image), clear))],
            ..RenderingInfo::default()
        })?;
        pass.end_rendering()
    });
    it.run();
    let before = texels;
    let texels = it.texels(image);
    check(&texels, 0, |x, y| {
        if (16..32).contains(&x) && (16..24).contains(&y) {
            GREEN_WORD
        } else {
            before[(y * SIDE + x) as usize]
        }
    });
}
