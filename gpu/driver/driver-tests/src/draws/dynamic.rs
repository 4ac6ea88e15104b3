//! State that a pass sets in place of its pipeline's, and draws that depend on a word in memory.

use super::bench::{BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use crate::bench::OrFail;
use eitri_descriptors::raster::StencilOp;
use eitri_descriptors::texture::Func;
use eitri_runtime::{
    Accesses, ClearAttachment, ClearColor, ClearRect, DepthAttachment, DepthBias, DepthState, Draw,
    FrontFace, GraphicsPipelineInfo, ImageView, IndexType, IndirectDraws, LoadOp, Rect,
    RenderingInfo, StencilAttachment, StencilFace, StencilState, StoreOp, Tiling, Topology,
};

const ALL: [f32; 2] = [-1.0, -1.0];
const END: [f32; 2] = [1.0, 1.0];
const CELL: u32 = SIDE / 4;

/// A rectangle in a column of four.
fn column(number: u32, depth: f32, color: [f32; 4]) -> alloc::vec::Vec<u32> {
    let left = number as f32 / 2.0 - 1.0;
    rectangle([left, -1.0], [left + 0.5, 1.0], depth, color)
}

/// Faces are left out as it was set last, topologies and restart are those of the moment; a pipeline brings its own again.
pub(crate) fn faces_and_topologies_are_those_of_the_moment() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = it.info();
    let pipeline = it.pipeline(&info);
    let other = it.pipeline(&info);
    let columns = [0, 1, 2, 3].map(|number| it.buffer(&column(number, 0.5, RED)));
    // Two triangles with a restart between them.
    let indices = it.buffer(&[1 << 16, 2 | 0xFFFF << 16, 2 | 1 << 16, 3]);
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .set_topology(Topology::TriangleStrip)?
            .set_cull_mode(false, true)
            .bind_vertex_buffer(0, columns[0], 0)?
            .draw(Draw::of(4))?
            .set_front_face(FrontFace::Clockwise)
            .bind_vertex_buffer(0, columns[1], 0)?
            .draw(Draw::of(4))?
            .set_cull_mode(true, false)
            .set_primitive_restart(true)
            .bind_index_buffer(indices, 0, IndexType::Uint16)?
            .bind_vertex_buffer(0, columns[2], 0)?
            .draw_indexed(Draw::of(7))?
            .bind_pipeline(other)?
            .bind_vertex_buffer(0, columns[3], 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    // The last is a list again: one triangle above the diagonal, whose pixels are not looked at on the diagonal itself.
    check(&texels, 0, |x, y| match x / CELL {
        0 | 2 => RED_WORD,
        1 => BLUE_WORD,
        _ => texels[(y * SIDE + x) as usize],
    });
    let last = |x: u32, y: u32| texels[(y * SIDE + x) as usize];
    assert_eq!(last(SIDE - CELL, 0), RED_WORD, "a triangle of the list");
    assert_eq!(last(SIDE - 1, SIDE - 1), BLUE_WORD, "and not another");
    let commands = it.commands;
    let recorded = it.device.record(commands, |recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?;
        pass.set_topology(Topology::LineList).map(drop)
    });
    assert!(recorded.is_err(), "lines are no triangles");
}

/// Tests of depth, its bias, and tests of stencil are those of the moment.
pub(crate) fn tests_are_those_of_the_moment() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::UInterleaved);
    let depths = it.image("D32_SFLOAT", Tiling::UInterleaved);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        has_depth: true,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.25, RED));
    let all = it.buffer(&rectangle(ALL, END, 0.5, GREEN));
    let upper = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, RED));
    let test = |compare| {
        Some(DepthState {
            compare,
            write: true,
        })
    };
    let bias = DepthBias {
        constant: -1_000_000.0,
        ..DepthBias::default()
    };
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
        pass.bind_pipeline(pipeline)?
            .set_depth_test(test(Func::Less))
            .bind_vertex_buffer(0, left, 0)?
            .draw(Draw::of(4))?
            .bind_vertex_buffer(0, all, 0)?
            .draw(Draw::of(4))?
            .bind_vertex_buffer(0, upper, 0)?
            .draw(Draw::of(4))?
            .set_depth_bias(Some(bias))
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    // Without the bias the third rectangle is as deep as the second.
    check(&texels, 0, |x, y| {
        if x < SIDE / 2 || y < SIDE / 2 {
            RED_WORD
        } else {
            GREEN_WORD
        }
    });
}

/// A pipeline without a test of stencil is given one, and its references.
pub(crate) fn stencil_tests_are_those_of_the_moment() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::UInterleaved);
    let marks = it.image("S8_UINT", Tiling::UInterleaved);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        has_stencil: true,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.5, RED));
    let all = it.buffer(&rectangle(ALL, END, 0.5, GREEN));
    let face = |compare, pass| {
        let face = StencilFace {
            compare,
            fail: StencilOp::Keep,
            depth_fail: StencilOp::Keep,
            pass,
            compare_mask: 0xFF,
            write_mask: 0xFF,
            reference: 7,
        };
        Some(StencilState {
            front: face,
            back: face,
        })
    };
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
        pass.bind_pipeline(pipeline)?
            .set_stencil_test(face(Func::Always, StencilOp::Replace))
            .bind_vertex_buffer(0, left, 0)?
            .draw(Draw::of(4))?
            .set_stencil_test(face(Func::Equal, StencilOp::Keep))
            .set_stencil_reference(3, 3)
            .bind_vertex_buffer(0, all, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(
        &texels,
        0,
        |x, _| {
            if x < SIDE / 2 { RED_WORD } else { GREEN_WORD }
        },
    );
}

/// What a word says is drawn: plain draws, indirect ones and clears; the draws behind are not harmed.
pub(crate) fn draws_depend_on_a_word_in_memory() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let columns = [0, 1, 3].map(|number| it.buffer(&column(number, 0.5, RED)));
    let green = it.buffer(&column(3, 0.5, GREEN));
    let before = it.buffer(&column(0, 0.5, [0.0, 0.0, 1.0, 1.0]));
    let word = it.buffer(&[9, 1]);
    let numbers = it.buffer(&[4, 1, 0, 0]);
    let draws = IndirectDraws {
        buffer: numbers,
        offset: 0,
        draws: 1,
        stride: 16,
        count: None,
    };
    let clear = ClearAttachment::Color {
        location: 0,
        color: ClearColor::Float(RED),
    };
    let rect = ClearRect {
        rect: Rect {
            x: (CELL * 2) as i32,
            y: 0,
            width: CELL,
            height: SIDE,
        },
        layer: 0,
        layers: 1,
    };
    it.record(|recorder| {
        recorder.barrier(Accesses::TRANSFER_WRITE, Accesses::INDIRECT_READ)?;
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        // As many vertices as the next draw, which depends on the word.
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, before, 0)?
            .draw(Draw::of(4))?
            .begin_conditional(word, 4, false)?
            .bind_vertex_buffer(0, columns[0], 0)?
            .draw(Draw::of(4))?
            .bind_vertex_buffer(0, columns[1], 0)?
            .draw_indirect(draws)?
            .clear_attachments(&[clear], &[rect])?
            .begin_conditional(word, 4, true)?
            .bind_vertex_buffer(0, columns[2], 0)?
            .draw(Draw::of(4))?
            .end_conditional();
        pass.bind_vertex_buffer(0, green, 0)?;
        pass.set_scissor(Rect {
            width: SIDE,
            height: CELL,
            ..Rect::default()
        });
        pass.draw(Draw::of(4))?;
        pass.end_rendering()
    });
    for value in [1_u32, 0, 77] {
        it.device
            .write_buffer(word, 4, &value.to_le_bytes())
            .or_fail("it fits");
        it.run();
        let texels = it.texels(image);
        check(&texels, 0, |x, y| match (x / CELL, value) {
            (3, _) if y < CELL => GREEN_WORD,
            (3, 0) => RED_WORD,
            (3, _) | (_, 0) => BLUE_WORD,
            _ => RED_WORD,
        });
    }
}
