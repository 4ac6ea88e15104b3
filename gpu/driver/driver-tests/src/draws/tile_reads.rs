//! Passes in one: draws that read what draws before have left in the tile at the same pixel.

use super::bench::{BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use super::shaders;
use crate::bench::OrFail;
use eitri_runtime::{
    Accesses, ColorAttachment, CommandError, Draw, Error, GraphicsError, GraphicsPipelineInfo,
    InheritedRendering, Rect, RenderingInfo, StoreOp, Tiling, Topology,
};

/// A first target is drawn, read and drawn again, and read in another place, by the pass and by a secondary; it is never stored.
pub(crate) fn draws_read_what_is_in_the_tile() {
    let mut it = Bench::new();
    let first = it.image("R8G8B8A8_UNORM", Tiling::UInterleaved);
    let second = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let colors = [Some(it.format("R8G8B8A8_UNORM")); 2];
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        colors: &colors,
        ..it.info()
    };
    let vertices = shaders::vertices(it.arch());
    // Its colour goes to target 0 alone.
    let writes = it.pipeline_of(&(vertices, shaders::color(it.arch())), &info);
    let reads = it.pipeline_of(&(vertices, shaders::tile_swapped(it.arch())), &info);
    let all = [RED, GREEN].map(|color| it.buffer(&rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, color)));
    let [red, green] = all;
    let (attachments, after) = (Accesses::COLOR_WRITE, Accesses::INPUT_ATTACHMENT_READ);
    let columns = |x: u32, width| Rect {
        x: x as i32,
        y: 0,
        width,
        height: SIDE,
    };
    let inherited = InheritedRendering {
        width: SIDE,
        height: SIDE,
        colors: &colors,
        ..InheritedRendering::default()
    };
    let made = it.device.create_command_buffer(it.space);
    let secondary = made.or_fail("there is memory");
    let recorded = it.device.record_draws(secondary, &inherited, |pass| {
        pass.barrier(attachments, after)?
            .bind_pipeline(reads)?
            .bind_vertex_buffer(0, red, 0)?
            .set_scissor(columns(SIDE / 2, SIDE / 4))
            .draw(Draw::of(4))
            .map(drop)
    });
    recorded.or_fail("it can be recorded");
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[
                Some(ColorAttachment {
                    store: StoreOp::DontCare,
                    ..Bench::blue(first)
                }),
                Some(Bench::blue(second)),
            ],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(writes)?
            .bind_vertex_buffer(0, red, 0)?
            .draw(Draw::of(4))?
            .barrier(attachments, after)?
            .bind_pipeline(reads)?
            .set_scissor(columns(0, SIDE / 2))
            .draw(Draw::of(4))?
            .barrier(after, attachments)?
            .bind_pipeline(writes)?
            .bind_vertex_buffer(0, green, 0)?
            .set_scissor(columns(0, SIDE))
            .draw(Draw::of(4))?
            .execute(secondary)?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(second);
    check(&texels, 0, |x, _| match x / (SIDE / 4) {
        0 | 1 => GREEN_WORD,
        2 => RED_WORD,
        _ => BLUE_WORD,
    });
}

/// What a pass can't order within itself is refused.
pub(crate) fn a_barrier_in_a_pass_orders_attachments_alone() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let refused = || {
        Err(Error::from(CommandError::from(
            GraphicsError::BarrierInPass,
        )))
    };
    let commands = it.commands;
    for (before, after, expected) in [
        (
            Accesses::COLOR_WRITE,
            Accesses::INPUT_ATTACHMENT_READ,
            Ok(()),
        ),
        (
            Accesses::DEPTH_STENCIL_WRITE | Accesses::COLOR_WRITE,
            Accesses::INPUT_ATTACHMENT_READ | Accesses::DEPTH_STENCIL_READ,
            Ok(()),
        ),
        (Accesses::NONE, Accesses::NONE, Ok(())),
        (Accesses::COLOR_WRITE, Accesses::SAMPLED_READ, refused()),
        (Accesses::STORAGE_WRITE, Accesses::COLOR_READ, refused()),
        (Accesses::ALL, Accesses::ALL, refused()),
    ] {
        let found = it.device.record(commands, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.barrier(before, after)?;
            pass.end_rendering()
        });
        assert_eq!(found, expected, "{before:?} {after:?}");
    }
}
