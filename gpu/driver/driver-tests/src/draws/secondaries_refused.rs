//! Secondary command buffers that a pass can't run, and what these can't have.

use super::bench::{Bench, RED, SIDE};
use super::secondaries::{Columns, column, commands, inherited, strips};
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_runtime::{
    Attachment, CommandBuffer, CommandError, DepthAttachment, Draw, Error, GraphicsError,
    GraphicsPipelineInfo, ImageView, Inherited, InheritedRendering, Occlusion, RenderingInfo,
    Tiling, Unsupported,
};

/// What a pass can't run is refused, by what is wrong with it; so is what a secondary can't have.
pub(crate) fn secondaries_of_other_passes_are_refused() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::UInterleaved);
    let depth = it.image("D32_SFLOAT", Tiling::UInterleaved);
    let Columns { pipeline, .. } = Columns::new(&mut it);
    let pool = it.device.create_query_pool(it.space, 1);
    let pool = pool.or_fail("there is memory");
    let usual = inherited(&it);
    let draws = commands(&mut it);
    let colors = [Some(Bench::blue(image))];
    let plain = RenderingInfo {
        colors: &colors,
        ..RenderingInfo::default()
    };
    let differs = |what| Err(GraphicsError::NotInherited { what });
    let other = [Some(it.format("R8G8B8A8_SRGB"))];
    let two = [usual.colors[0], usual.colors[0]];
    let mut cases = Vec::from([
        (usual, Ok(())),
        (
            InheritedRendering {
                colors: &other,
                ..usual
            },
            differs(Inherited::Attachment(Attachment::Color(0))),
        ),
        (
            InheritedRendering {
                colors: &two,
                ..usual
            },
            differs(Inherited::Attachment(Attachment::Color(1))),
        ),
        (
            InheritedRendering {
                has_depth: true,
                ..usual
            },
            differs(Inherited::Attachment(Attachment::Depth)),
        ),
        (
            InheritedRendering {
                has_stencil: true,
                ..usual
            },
            differs(Inherited::Attachment(Attachment::Stencil)),
        ),
        (
            InheritedRendering {
                samples: 4,
                ..usual
            },
            differs(Inherited::Samples),
        ),
        (
            InheritedRendering {
                width: SIDE + 1,
                ..usual
            },
            differs(Inherited::Size),
        ),
        (
            InheritedRendering {
                view_mask: 1,
                ..usual
            },
            differs(Inherited::Views),
        ),
        (
            InheritedRendering { layers: 2, ..usual },
            differs(Inherited::Layers),
        ),
    ]);
    for (inherited, expected) in cases.drain(..) {
        let recorded = it.device.record_draws(draws, &inherited, |_| Ok(()));
        recorded.or_fail("it can be recorded");
        let found = it.device.record(it.commands, |recorder| {
            let mut pass = recorder.begin_rendering(&plain)?;
            pass.execute(draws)?;
            pass.end_rendering()
        });
        let expected = expected.map_err(|error| Error::from(CommandError::from(error)));
        assert_eq!(found, expected);
    }
    let refused = |error: GraphicsError| Err(Error::from(CommandError::from(error)));
    // Passes with more than the draws have.
    let recorded = it.device.record_draws(draws, &usual, |_| Ok(()));
    recorded.or_fail("it can be recorded");
    let more = RenderingInfo {
        depth: Some(DepthAttachment::transient(ImageView::of(depth), 1.0)),
        ..plain
    };
    let found = it.device.record(it.commands, |recorder| {
        recorder.begin_rendering(&more)?.execute(draws).map(drop)
    });
    let what = Inherited::Attachment(Attachment::Depth);
    assert_eq!(found, refused(GraphicsError::NotInherited { what }));
    // Queries.
    let no_queries = refused(GraphicsError::Unsupported {
        what: Unsupported::SecondaryQuery,
        target: None,
    });
    let found = it.device.record(it.commands, |recorder| {
        let mut pass = recorder.begin_rendering(&plain)?;
        pass.begin_query(pool, 0, Occlusion::Any)?;
        pass.execute(draws).map(drop)
    });
    assert_eq!(found, no_queries);
    let found = it.device.record_draws(draws, &usual, |pass| {
        pass.begin_query(pool, 0, Occlusion::Any).map(drop)
    });
    assert_eq!(found, no_queries);
    let found = it.device.record_draws(draws, &usual, |pass| {
        pass.write_timestamp(pool, 0).map(drop)
    });
    assert_eq!(found, no_queries);
    // A pipeline for other passes; too many colours; nothing that has pixels.
    let depth_only = InheritedRendering {
        colors: &[],
        has_depth: true,
        ..usual
    };
    let found = it.device.record_draws(draws, &depth_only, |pass| {
        pass.bind_pipeline(pipeline).map(drop)
    });
    assert_eq!(found, refused(GraphicsError::Compatible));
    let nine = [None; 9];
    let many = InheritedRendering {
        colors: &nine,
        ..usual
    };
    let found = it.device.record_draws(draws, &many, |_| Ok(()));
    let (most, all) = (8, 9);
    assert_eq!(
        found,
        refused(GraphicsError::Attachments { found: all, most })
    );
    let empty = InheritedRendering { height: 0, ..usual };
    let found = it.device.record_draws(draws, &empty, |_| Ok(()));
    assert_eq!(found, refused(GraphicsError::Area));
    commands_of_other_kinds_are_refused(&mut it, draws, &plain, &usual);
    provoking_vertices_agree(&mut it, draws, &plain, &usual);
}

/// Neither are draws run by a queue or by commands, nor other commands by a pass; what calls draws goes when they are recorded again.
fn commands_of_other_kinds_are_refused(
    it: &mut Bench,
    draws: CommandBuffer,
    plain: &RenderingInfo<'_>,
    usual: &InheritedRendering<'_>,
) {
    let recorded = it.device.record_draws(draws, usual, |_| Ok(()));
    recorded.or_fail("it can be recorded");
    let found = it.device.submit(it.queue, draws);
    assert_eq!(found, Err(Error::from(CommandError::Secondary)));
    let run = |recorder: &mut eitri_runtime::Recorder<'_, '_, 'static, _>| {
        recorder.execute(draws).map(drop)
    };
    let found = it.device.record(it.commands, run);
    let wanted = CommandError::from(GraphicsError::OnlyDraws);
    assert_eq!(found, Err(Error::from(wanted)));
    let callers = it.commands;
    let recorded = it.device.record(callers, |recorder| {
        let mut pass = recorder.begin_rendering(plain)?;
        pass.execute(draws)?;
        pass.end_rendering()
    });
    recorded.or_fail("it can be recorded");
    let recorded = it.device.record_draws(draws, usual, |_| Ok(()));
    recorded.or_fail("it can be recorded");
    let found = it.device.submit(it.queue, callers);
    assert_eq!(found, Err(Error::NotRecorded));
    let itself = it
        .device
        .record_draws(draws, usual, |pass| pass.execute(draws).map(drop));
    assert_eq!(itself, Err(Error::NotRecorded));
    let compute = it.device.record_secondary(draws, |_| Ok(()));
    compute.or_fail("it can be recorded");
    let found = it.device.record(callers, |recorder| {
        recorder.begin_rendering(plain)?.execute(draws).map(drop)
    });
    let wanted = CommandError::from(GraphicsError::NotDraws);
    assert_eq!(found, Err(Error::from(wanted)));
}

/// Draws of a secondary and of its pass have the same provoking vertex.
fn provoking_vertices_agree(
    it: &mut Bench,
    draws: CommandBuffer,
    plain: &RenderingInfo<'_>,
    usual: &InheritedRendering<'_>,
) {
    let info = strips(it);
    let first = it.pipeline(&info);
    let last = it.pipeline(&GraphicsPipelineInfo {
        last_vertex_provokes: true,
        ..info
    });
    let buffer = it.buffer(&column(1, RED));
    let recorded = it.device.record_draws(draws, usual, |pass| {
        pass.bind_pipeline(last)?
            .bind_vertex_buffer(0, buffer, 0)?
            .draw(Draw::of(4))
            .map(drop)
    });
    recorded.or_fail("it can be recorded");
    let wanted = Error::from(CommandError::from(GraphicsError::ProvokingVertex));
    for (pipeline, expected) in [(first, Err(wanted)), (last, Ok(()))] {
        let found = it.device.record(it.commands, |recorder| {
            let mut pass = recorder.begin_rendering(plain)?;
            pass.execute(draws)?
                .bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, buffer, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()
        });
        assert_eq!(found, expected);
    }
}
