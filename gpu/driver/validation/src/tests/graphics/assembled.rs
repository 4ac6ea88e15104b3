//! Assembly: how vertices, indices and instances become primitives, which of these are seen, and where they go.

use super::canvas::{
    Canvas, RGBA8, SIDE, Vertex, check, cleared, format_of, on_canvas, rectangle, strip,
};
use super::picture::place;
use super::{BLUE, BLUE_WORD, END, GREEN, GREEN_WORD, HEAP, RED, RED_WORD, START};
use crate::bench::{Bench, words_of};
use crate::result::{Verdict, failed};
use alloc::vec;
use alloc::vec::Vec;
use eitri_draw_programs::Shader;
use eitri_runtime::{
    Buffer, ColorAttachment, Draw, Error, FrontFace, GraphicsPipeline, GraphicsPipelineInfo, Image,
    ImageInfo, ImagePart, ImageView, IndexType, LoadOp, Platform, Rect, RenderPass, RenderingInfo,
    Tiling, Topology, Viewport,
};

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assembly {
    /// Triangles of three vertices each.
    List,
    /// Triangles around the first vertex.
    Fan,
    /// Lines of two vertices each.
    Lines,
    /// Lines from each vertex to the next.
    LineStrip,
    /// Vertices from a later one on.
    FirstVertex,
    /// Indices of 8 bits.
    Index8,
    /// Indices of 16 bits.
    Index16,
    /// Indices of 32 bits.
    Index32,
    /// Indices from a later one on.
    FirstIndex,
    /// Something added to each index.
    VertexOffset,
    /// Strips that an index parts.
    Restart,
    /// Four instances, whose colours go on with each so many.
    Instances {
        /// So many.
        divisor: u32,
    },
    /// Instances from a later one on.
    FirstInstance,
    /// Faces that are left out.
    Cull {
        front: bool,
        back: bool,
        clockwise: bool,
    },
    /// A part of the target.
    Scissor,
    /// A quarter of the target.
    Viewport,
    /// A picture upside down.
    Turned,
    /// Colours from push constants.
    Push,
    /// What a pass has left.
    Load,
    /// The second level of an image.
    Level,
    /// The second layer of an image.
    Layer,
}

/// Sides of the picture in which something is drawn.
const LEFT: (u32, u32) = (0, SIDE / 4);
const RIGHT: (u32, u32) = (SIDE * 3 / 4, SIDE);

/// Corners of a column of pixels.
fn column((from, to): (u32, u32), color: [f32; 4]) -> [Vertex; 4] {
    let at = |pixels: u32| pixels as f32 / (SIDE / 2) as f32 - 1.0;
    rectangle([at(from), -1.0], [at(to), 1.0], 0.5, color)
}

/// A column to the left and one to the right: eight vertices.
fn columns() -> Vec<Vertex> {
    [column(LEFT, RED), column(RIGHT, RED)].concat()
}

fn is_in((from, to): (u32, u32), x: u32) -> bool {
    (from..to).contains(&x)
}

/// Draws in a pass of one target that is blue, and compares: red where `is_red` says so.
fn drawn<'d, P: Platform>(
    it: &mut Bench<'_, '_, 'd, P>,
    canvas: &mut Canvas,
    (pipeline, vertices): (GraphicsPipeline, Buffer),
    draw: impl FnOnce(&mut RenderPass<'_, '_, '_, 'd, P>) -> Result<(), Error>,
    is_red: impl Fn(u32, u32) -> bool,
) -> Verdict {
    let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
    canvas.run(it, |recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[cleared(image, BLUE)],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, vertices, 0)?;
        draw(&mut pass)?;
        pass.end_rendering()
    })?;
    check(it, (image, "the picture"), 0, |x, y| match is_red(x, y) {
        true => RED_WORD,
        false => BLUE_WORD,
    })
}

/// Tries one of them.
pub(super) fn assembly<P: Platform>(it: &mut Bench<'_, '_, '_, P>, what: Assembly) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| match what {
        Assembly::List | Assembly::Fan | Assembly::Lines | Assembly::LineStrip => {
            topology(it, canvas, what)
        }
        Assembly::Index8
        | Assembly::Index16
        | Assembly::Index32
        | Assembly::FirstIndex
        | Assembly::VertexOffset
        | Assembly::Restart => indices(it, canvas, what),
        Assembly::Instances { divisor } => instances(it, canvas, divisor, 0),
        Assembly::FirstInstance => instances(it, canvas, 1, 2),
        Assembly::Load => load(it, canvas),
        Assembly::Level | Assembly::Layer => part(it, canvas, what == Assembly::Level),
        _ => placed(it, canvas, what),
    })
}

fn topology<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
    what: Assembly,
) -> Verdict {
    let [a, b, c, d] = column(LEFT, RED);
    // A row of pixels, from the eighth to before the 24th, through their centres.
    let line = |pixels: i32| Vertex {
        at: place([pixels * 256, 10 * 256 + 128]),
        depth: 0.5,
        color: RED,
    };
    let (topology, vertices) = match what {
        Assembly::List => (Topology::TriangleList, vec![a, b, c, c, b, d]),
        Assembly::Fan => (Topology::TriangleFan, vec![a, b, d, c]),
        Assembly::Lines => {
            let lines = [8, 16, 16, 24].map(line);
            (Topology::LineList, lines.to_vec())
        }
        _ => (Topology::LineStrip, [8, 14, 24].map(line).to_vec()),
    };
    let info = GraphicsPipelineInfo {
        topology,
        ..GraphicsPipelineInfo::default()
    };
    let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
    let buffer = canvas.vertices(it, &vertices)?;
    let lines = matches!(what, Assembly::Lines | Assembly::LineStrip);
    let draw = Draw::of(vertices.len() as u32);
    drawn(
        it,
        canvas,
        (pipeline, buffer),
        |pass| pass.draw(draw).map(|_| ()),
        |x, y| match lines {
            true => y == 10 && (8..24).contains(&x),
            false => is_in(LEFT, x),
        },
    )
}

fn indices<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
    what: Assembly,
) -> Verdict {
    let restart = what == Assembly::Restart;
    let info = GraphicsPipelineInfo {
        primitive_restart: restart,
        ..strip()
    };
    let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
    let mut vertices = columns();
    // The vertex that the index which parts strips would name lies between them.
    vertices.resize(
        256,
        Vertex {
            at: [0.0, 0.0],
            depth: 0.5,
            color: RED,
        },
    );
    let vertices = canvas.vertices(it, &vertices)?;
    let (kind, mut list): (IndexType, Vec<u32>) = match what {
        Assembly::Index8 => (IndexType::Uint8, vec![4, 5, 6, 7]),
        Assembly::Index32 => (IndexType::Uint32, vec![4, 5, 6, 7]),
        Assembly::FirstIndex => (IndexType::Uint16, (0..8).collect()),
        Assembly::VertexOffset => (IndexType::Uint16, vec![0, 1, 2, 3]),
        Assembly::Restart => (IndexType::Uint8, vec![0, 1, 2, 3, 0xFF, 4, 5, 6, 7]),
        _ => (IndexType::Uint16, vec![4, 5, 6, 7]),
    };
    let count = if restart { list.len() as u32 } else { 4 };
    let bytes = match kind {
        IndexType::Uint8 => 1,
        IndexType::Uint16 => 2,
        IndexType::Uint32 => 4,
    };
    // A buffer has whole words.
    list.resize(list.len().next_multiple_of(4), 0);
    let list: Vec<u8> = list
        .iter()
        .flat_map(|index| index.to_le_bytes().into_iter().take(bytes))
        .collect();
    let list = canvas.buffer(it, &list)?;
    let draw = Draw {
        first: if what == Assembly::FirstIndex { 4 } else { 0 },
        vertex_offset: if what == Assembly::VertexOffset { 4 } else { 0 },
        ..Draw::of(count)
    };
    drawn(
        it,
        canvas,
        (pipeline, vertices),
        |pass| {
            pass.bind_index_buffer(list, 0, kind)?.draw_indexed(draw)?;
            Ok(())
        },
        |x, _| is_in(RIGHT, x) || restart && is_in(LEFT, x),
    )
}

/// Instances that cover each other: the last one's colour is seen.
fn instances<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
    divisor: u32,
    first: u32,
) -> Verdict {
    const INSTANCES: u32 = 4;
    let pipeline = canvas.instanced(it, divisor, &strip())?;
    let vertices = canvas.vertices(it, &column(LEFT, GREEN))?;
    let seen = first / divisor + (INSTANCES - 1) / divisor;
    let colors: Vec<Vertex> = (0..8)
        .map(|number| Vertex {
            at: START,
            depth: 0.0,
            color: if number == seen { RED } else { GREEN },
        })
        .collect();
    let colors = canvas.vertices(it, &colors)?;
    let draw = Draw {
        instances: INSTANCES,
        first_instance: first,
        ..Draw::of(4)
    };
    drawn(
        it,
        canvas,
        (pipeline, vertices),
        |pass| {
            pass.bind_vertex_buffer(1, colors, 0)?.draw(draw)?;
            Ok(())
        },
        |x, _| is_in(LEFT, x),
    )
}

/// What is left out, and where the rest goes.
fn placed<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
    what: Assembly,
) -> Verdict {
    let (front, back, clockwise) = match what {
        Assembly::Cull {
            front,
            back,
            clockwise,
        } => (front, back, clockwise),
        _ => (false, false, false),
    };
    let info = GraphicsPipelineInfo {
        cull_front: front,
        cull_back: back,
        front_face: match clockwise {
            true => FrontFace::Clockwise,
            false => FrontFace::CounterClockwise,
        },
        ..strip()
    };
    let shader = match what {
        Assembly::Push => Shader::PushedColor,
        _ => Shader::Color,
    };
    let pipeline = canvas.pipeline(it, shader, &info)?;
    let half = SIDE / 2;
    // Down, then to the right: against the clock, as it is seen.
    let corners = match what {
        Assembly::FirstVertex => columns(),
        Assembly::Cull { .. } | Assembly::Push => column(LEFT, RED).to_vec(),
        Assembly::Turned => rectangle(START, [1.0, 0.0], 0.5, RED).to_vec(),
        _ => rectangle(START, END, 0.5, RED).to_vec(),
    };
    let vertices = canvas.vertices(it, &corners)?;
    let draw = Draw {
        first: if what == Assembly::FirstVertex { 4 } else { 0 },
        ..Draw::of(4)
    };
    let red: Vec<u8> = RED.iter().flat_map(|it| it.to_le_bytes()).collect();
    drawn(
        it,
        canvas,
        (pipeline, vertices),
        |pass| {
            match what {
                Assembly::Scissor => {
                    pass.set_scissor(Rect {
                        x: 5,
                        y: 9,
                        width: 30,
                        height: 40,
                    });
                }
                Assembly::Viewport => {
                    pass.set_viewport(Viewport {
                        x: half as f32,
                        ..Viewport::of(half, half)
                    });
                }
                Assembly::Turned => {
                    pass.set_viewport(Viewport {
                        y: SIDE as f32,
                        height: -(SIDE as f32),
                        ..Viewport::of(SIDE, SIDE)
                    });
                }
                Assembly::Push => {
                    pass.push_constants(0, &red)?;
                }
                _ => {}
            }
            pass.draw(draw).map(|_| ())
        },
        |x, y| match what {
            Assembly::Scissor => (5..35).contains(&x) && (9..49).contains(&y),
            Assembly::Viewport => x >= half && y < half,
            Assembly::Turned => y >= half,
            Assembly::FirstVertex => is_in(RIGHT, x),
            Assembly::Push => is_in(LEFT, x),
            // Front faces go against the clock, unless it is said otherwise.
            _ => is_in(LEFT, x) && !(if clockwise { back } else { front }),
        },
    )
}

/// A pass goes on with what the one before has drawn.
fn load<P: Platform>(it: &mut Bench<'_, '_, '_, P>, canvas: &mut Canvas) -> Verdict {
    let pipeline = canvas.pipeline(it, Shader::Color, &strip())?;
    let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
    let first = canvas.vertices(it, &column(LEFT, RED))?;
    let second = canvas.vertices(it, &column(RIGHT, GREEN))?;
    canvas.draw(
        it,
        (&[cleared(image, BLUE)], None),
        &[(pipeline, first, Draw::of(4))],
    )?;
    let loaded = cleared(image, BLUE).map(|color| ColorAttachment {
        load: LoadOp::Load,
        ..color
    });
    canvas.draw(it, (&[loaded], None), &[(pipeline, second, Draw::of(4))])?;
    check(
        it,
        (image, "what two passes have drawn"),
        0,
        |x, _| match () {
            () if is_in(LEFT, x) => RED_WORD,
            () if is_in(RIGHT, x) => GREEN_WORD,
            () => BLUE_WORD,
        },
    )
}

/// The second level or layer of an image is drawn in; the first stays as it is.
fn part<P: Platform>(it: &mut Bench<'_, '_, '_, P>, canvas: &mut Canvas, level: bool) -> Verdict {
    let format = format_of(it, RGBA8)?;
    let (levels, layers) = if level { (2, 1) } else { (1, 2) };
    let image: Image = canvas.image_of(
        it,
        ImageInfo {
            levels,
            layers,
            tiling: Tiling::UInterleaved,
            ..ImageInfo::two_d(format, SIDE, SIDE)
        },
    )?;
    let view = ImageView {
        level: levels - 1,
        layer: layers - 1,
        ..ImageView::of(image)
    };
    let pipeline = canvas.pipeline(it, Shader::Color, &strip())?;
    let vertices = canvas.vertices(it, &rectangle(START, [0.0, 1.0], 0.5, RED))?;
    let color = cleared(image, BLUE).map(|color| ColorAttachment { view, ..color });
    canvas.draw(it, (&[color], None), &[(pipeline, vertices, Draw::of(4))])?;
    let side = SIDE >> (levels - 1);
    for (part, side, drawn) in [
        (ImagePart::default(), SIDE, false),
        (
            ImagePart {
                level: levels - 1,
                layer: layers - 1,
                ..ImagePart::default()
            },
            side,
            true,
        ),
    ] {
        let mut bytes = vec![0; 4 * (side * side) as usize];
        it.device.read_image(image, part, &mut bytes)?;
        for (number, found) in (0..).zip(words_of(&bytes)) {
            let (x, y) = (number % side, number / side);
            let wanted = match drawn {
                false => 0,
                true if x < side / 2 => RED_WORD,
                true => BLUE_WORD,
            };
            if found != wanted {
                return Err(failed!(
                    "level {}, layer {}: pixel {x}, {y} is {found:#010x}, expected {wanted:#010x}",
                    part.level,
                    part.layer
                ));
            }
        }
    }
    Ok(())
}
