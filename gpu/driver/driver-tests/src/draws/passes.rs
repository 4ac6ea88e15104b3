//! Several passes, and passes beside what the stream copies: who waits for whom.

use super::bench::{BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use super::shaders;
use crate::bench::{LIMIT, OrFail, diagnoses};
use alloc::vec::Vec;
use eitri_descriptors::texture::Func;
use eitri_runtime::{
    Access, Accesses, BindingElement, ColorAttachment, CommandError, DepthAttachment, DepthState,
    Draw, Error, GraphicsError, GraphicsPipelineInfo, ImageInfo, ImageView, LoadOp, RenderingInfo,
    Resolve, ResolveMode, SemaphorePoint, ShaderStage, Status, StoreOp, SubmitInfo, Tiling,
    Topology, Unsupported,
};

const ALL: [f32; 2] = [-1.0, -1.0];
const END: [f32; 2] = [1.0, 1.0];

fn strip(info: GraphicsPipelineInfo<'static>) -> GraphicsPipelineInfo<'static> {
    GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..info
    }
}

/// A pass reads, texel by texel, what the pass before has drawn; over and over, so that texels that were fetched before are old.
pub(crate) fn a_pass_sees_what_another_has_drawn() {
    for tiling in [Tiling::Linear, Tiling::UInterleaved] {
        let mut it = Bench::new();
        let (first, second) = (
            it.image("R8G8B8A8_UNORM", tiling),
            it.image("R8G8B8A8_UNORM", tiling),
        );
        let info = strip(it.info());
        let draw = it.pipeline(&info);
        let programs = (shaders::vertices(it.arch()), shaders::fetched(it.arch()));
        let read = it.pipeline_of(&programs, &info);
        let set = it.device.create_graphics_set(read, 0).or_fail("it has one");
        let bound = it.device.bind_in_stages(set, |device, set| {
            device.bind_image(set, BindingElement::first(0), first)
        });
        bound.or_fail("it is an image");
        let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.5, RED));
        let upper = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, GREEN));
        let all = it.buffer(&rectangle(ALL, END, 0.5, RED));
        it.record(|recorder| {
            for buffer in [left, upper] {
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(Bench::blue(first))],
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(draw)?
                    .bind_vertex_buffer(0, buffer, 0)?
                    .draw(Draw::of(4))?;
                pass.end_rendering()?;
                let sampled = Accesses::SAMPLED_READ.in_stage(ShaderStage::Fragment);
                recorder.barrier(Accesses::COLOR_WRITE, sampled)?;
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(Bench::blue(second))],
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(read)?
                    .bind_descriptor_set(set)?
                    .bind_vertex_buffer(0, all, 0)?
                    .draw(Draw::of(4))?;
                pass.end_rendering()?;
                recorder.barrier(sampled, Accesses::COLOR_WRITE)?;
            }
            Ok(())
        });
        for _ in 0..3 {
            it.run();
            let texels = it.texels(second);
            check(&texels, 0, |_, y| {
                if y < SIDE / 2 { GREEN_WORD } else { BLUE_WORD }
            });
        }
    }
}

/// Vertices that the stream has copied, before the pass and between two, and before the next submission.
pub(crate) fn a_draw_sees_what_was_copied_before() {
    let mut it = Bench::new();
    let (first, second) = (
        it.image("R8G8B8A8_UNORM", Tiling::Linear),
        it.image("R8G8B8A8_UNORM", Tiling::Linear),
    );
    let info = strip(it.info());
    let pipeline = it.pipeline(&info);
    let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.5, RED));
    let upper = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, GREEN));
    let vertices = it.buffer(&[0; 32]);
    // So that copying takes longer than a pass that waits for nothing.
    let long = [(); 2].map(|()| it.buffer(&[0; 4096]));
    it.record(|recorder| {
        for (from, image) in [(left, first), (upper, second)] {
            recorder.barrier(Accesses::VERTEX_READ, Accesses::TRANSFER_WRITE)?;
            recorder.copy_buffer((long[0], 0), (long[1], 0), 4 * 4096)?;
            recorder.copy_buffer((from, 0), (vertices, 0), 128)?;
            recorder.barrier(Accesses::TRANSFER_WRITE, Accesses::VERTEX_READ)?;
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, vertices, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()?;
        }
        Ok(())
    });
    let fences: Vec<_> = (0..4).map(|_| it.submit()).collect();
    for fence in fences {
        let status = it.device.wait(fence, LIMIT);
        assert_eq!(status, Status::Done, "{:?}", diagnoses(&it.machine));
    }
    assert_eq!(diagnoses(&it.machine), [""; 0]);
    let texels = it.texels(first);
    check(
        &texels,
        0,
        |x, _| if x < SIDE / 2 { RED_WORD } else { BLUE_WORD },
    );
    let texels = it.texels(second);
    check(&texels, 0, |_, y| {
        if y < SIDE / 2 { GREEN_WORD } else { BLUE_WORD }
    });
}

/// A submission with passes has one fence, waits as a whole, and signals when all of it is done.
pub(crate) fn a_pass_waits_and_signals_as_a_whole() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = strip(it.info());
    let pipeline = it.pipeline(&info);
    let buffer = it.buffer(&rectangle(ALL, END, 0.5, RED));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, buffer, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    let semaphore = it.device.create_semaphore(0).or_fail("there is memory");
    let mapped = it
        .device
        .map_semaphore(semaphore, it.space, Access::ReadWrite);
    mapped.or_fail("there is memory");
    let at = |value| [SemaphorePoint { semaphore, value }];
    let info = SubmitInfo {
        waits: &at(1),
        signals: &at(2),
        ..SubmitInfo::default()
    };
    let submitted = it.device.submit_with(it.queue, it.commands, info);
    let fence = submitted.or_fail("there is room");
    let soon = core::time::Duration::from_millis(5);
    assert_eq!(it.device.wait(fence, soon), Status::Pending);
    assert_eq!(it.device.semaphore_value(semaphore), Ok(0));
    it.device
        .signal_semaphore(semaphore, 1)
        .or_fail("it is there");
    assert_eq!(it.device.wait(fence, LIMIT), Status::Done);
    assert_eq!(it.device.semaphore_value(semaphore), Ok(2));
    let texels = it.texels(image);
    check(&texels, 0, |_, _| RED_WORD);
}

/// What neither the hardware's fixed functions nor the driver do is told by its name.
pub(crate) fn what_can_not_be_rendered_is_refused() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let mut refused = |info: &RenderingInfo<'_>| {
        let commands = it.commands;
        let recorded = it.device.record(commands, |recorder| {
            recorder.begin_rendering(info).map(drop)
        });
        match recorded {
            Err(Error::Command(CommandError::Graphics(error))) => error,
            other => panic!("{other:?}"),
        }
    };
    let nothing = refused(&RenderingInfo::default());
    assert_eq!(nothing, GraphicsError::Attachments { found: 0, most: 8 });
    let mut color = Bench::blue(image);
    color.view = ImageView {
        level: 1,
        ..ImageView::of(image)
    };
    let error = refused(&RenderingInfo {
        colors: &[Some(color)],
        ..RenderingInfo::default()
    });
    assert!(
        matches!(error, GraphicsError::NoPart { level: 1, .. }),
        "{error}"
    );
    let mut color = Bench::blue(image);
    color.resolve = Some(Resolve {
        view: color.view,
        mode: ResolveMode::Min,
    });
    let error = refused(&RenderingInfo {
        colors: &[Some(color)],
        ..RenderingInfo::default()
    });
    let what = Unsupported::ResolveMode;
    assert!(
        matches!(error, GraphicsError::Unsupported { what: it, .. } if it == what),
        "{error}"
    );
}

/// A set that lacks the image which the fragments fetch.
pub(crate) fn a_draw_without_its_image_is_refused() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let programs = (shaders::vertices(it.arch()), shaders::fetched(it.arch()));
    let pipeline = it.pipeline_of(&programs, &strip(it.info()));
    let set = it.device.create_graphics_set(pipeline, 0);
    let set = set.or_fail("it has one");
    let all = it.buffer(&rectangle(ALL, END, 0.5, RED));
    let recorded = it.device.record(it.commands, |recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_descriptor_set(set)?
            .bind_vertex_buffer(0, all, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    let missing = CommandError::Missing {
        set: 0,
        binding: 0,
        element: 0,
    };
    assert_eq!(recorded, Err(Error::from(missing)));
}

/// A pass goes on with what another has left: colours of two targets, and depths.
pub(crate) fn a_pass_begins_with_what_was_there() {
    for tiling in [Tiling::Linear, Tiling::UInterleaved] {
        let mut it = Bench::new();
        let first = it.image("R8G8B8A8_UNORM", tiling);
        let second = it.image("B8G8R8A8_UNORM", tiling);
        let depths = it.image("D32_SFLOAT", tiling);
        let colors = [it.format("R8G8B8A8_UNORM"), it.format("B8G8R8A8_UNORM")].map(Some);
        let info = GraphicsPipelineInfo {
            colors: &colors,
            depth: Some(DepthState {
                compare: Func::Less,
                write: true,
            }),
            has_depth: true,
            ..strip(it.info())
        };
        let programs = (shaders::vertices(it.arch()), shaders::two_colors(it.arch()));
        let pipeline = it.pipeline_of(&programs, &info);
        let yellow = [1.0, 1.0, 0.0, 1.0];
        let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.25, yellow));
        let upper = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, RED));
        it.record(|recorder| {
            let view = ImageView::of(depths);
            for (vertices, loads) in [(left, false), (upper, true)] {
                let mut colors = [Bench::blue(first), Bench::blue(second)];
                let mut depth = DepthAttachment {
                    view,
                    load: LoadOp::Clear(1.0),
                    store: StoreOp::Store,
                };
                if loads {
                    let written = Accesses::COLOR_WRITE | Accesses::DEPTH_STENCIL_WRITE;
                    let read = Accesses::COLOR_READ | Accesses::DEPTH_STENCIL_READ;
                    recorder.barrier(written, read | written)?;
                    for color in &mut colors {
                        color.load = LoadOp::Load;
                    }
                    depth.load = LoadOp::Load;
                }
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &colors.map(Some),
                    depth: Some(depth),
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(pipeline)?
                    .bind_vertex_buffer(0, vertices, 0)?
                    .draw(Draw::of(4))?;
                pass.end_rendering()?;
            }
            Ok(())
        });
        for _ in 0..2 {
            it.run();
            let half = SIDE / 2;
            let place = |x: u32, y: u32| (x < half, y < half);
            // The first target has green alone, the second one all.
            let texels = it.texels(first);
            check(&texels, 0, |x, y| match place(x, y) {
                (true, _) => GREEN_WORD,
                (false, true) => 0xFF00_0000,
                (false, false) => BLUE_WORD,
            });
            let texels = it.texels(second);
            check(&texels, 0, |x, y| match place(x, y) {
                (true, _) => 0xFFFF_FF00,
                (false, true) => 0xFFFF_0000,
                (false, false) => 0xFF00_00FF,
            });
            let texels = it.texels(depths);
            let [near, far, none] = [0.25_f32, 0.5, 1.0].map(f32::to_bits);
            check(&texels, 0, |x, y| match place(x, y) {
                (true, _) => near,
                (false, true) => far,
                (false, false) => none,
            });
        }
    }
}

/// Samples are kept from one pass to the next, which averages them.
pub(crate) fn samples_are_kept_between_passes() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = ImageInfo {
        samples: 4,
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(it.format("R8G8B8A8_UNORM"), SIDE, SIDE)
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
    let left = it.buffer(&rectangle(ALL, [edge, 1.0], 0.5, RED));
    let upper = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, GREEN));
    it.record(|recorder| {
        let color = Bench::blue(samples);
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, left, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()?;
        recorder.barrier(Accesses::COLOR_WRITE, Accesses::COLOR_READ)?;
        let color = ColorAttachment {
            load: LoadOp::Load,
            resolve: Some(Resolve::average(ImageView::of(image))),
            store: StoreOp::DontCare,
            ..color
        };
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, upper, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 1, |x, y| {
        match (y < SIDE / 2, x.cmp(&(SIDE / 2))) {
            (true, _) => GREEN_WORD,
            (_, core::cmp::Ordering::Less) => RED_WORD,
            (_, core::cmp::Ordering::Equal) => 0xFF80_0080,
            (_, core::cmp::Ordering::Greater) => BLUE_WORD,
        }
    });
}

/// What samples or loads what a pass has drawn stands behind an invalidation of the caches that are only read through, which
/// results tell only on a GPU that has them; nothing else does.
pub(crate) fn caches_are_invalidated_before_what_reads_through_them() {
    let sampled = Accesses::SAMPLED_READ.in_stage(ShaderStage::Fragment);
    let cases = [
        (Some((Accesses::COLOR_WRITE, sampled)), true),
        (Some((Accesses::COLOR_WRITE, Accesses::COLOR_READ)), true),
        (Some((Accesses::COLOR_WRITE, Accesses::COLOR_WRITE)), false),
        (Some((sampled, Accesses::COLOR_WRITE)), false),
        (None, false),
    ];
    for (barrier, expected) in cases {
        let (mut it, log) = Bench::recorded();
        let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
        let pipeline = it.pipeline(&strip(it.info()));
        let buffer = it.buffer(&rectangle(ALL, END, 0.5, RED));
        log.take_stored();
        it.record(|recorder| {
            for number in 0..2 {
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(Bench::blue(image))],
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(pipeline)?
                    .bind_vertex_buffer(0, buffer, 0)?
                    .draw(Draw::of(4))?;
                pass.end_rendering()?;
                if let Some((before, after)) = barrier.filter(|_| number == 0) {
                    recorder.barrier(before, after)?;
                }
            }
            Ok(())
        });
        // RUN_FRAGMENT and FLUSH_CACHE2 without its register (hardware/command-stream.md 3.6 and 3.7); data may look like them.
        let (run, flush) = (0x0700_0000_0000_0000, 0x2400_0000_0000_0200);
        let stored = log.take_stored().into_iter();
        let told = stored.map(|word| {
            if word >> 56 == 0x24 {
                word & !(0xFF << 40)
            } else {
                word
            }
        });
        let told: Vec<u64> = told.filter(|word| [run, flush].contains(word)).collect();
        // Both passes have one handler for a tiler without memory, which stands first: a first render, or another, then a flush.
        let all = if expected {
            &[run, run, flush, run, flush, run][..]
        } else {
            &[run, run, flush, run, run]
        };
        assert_eq!(told, all, "{barrier:?}");
        it.run();
        assert_eq!(log.violations(), [""; 0]);
    }
}
