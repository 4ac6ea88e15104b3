//! Failures that name the pass, the draw, the pipeline and the pixel, while the passes before are right.

use super::bench::{
    BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, Up, check, rectangle,
};
use super::shaders;
use crate::bench::{LIMIT, OrFail, by_form, inject, long, some, withdraw};
use crate::machine::{Host, Machine};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::{GraphicsUnit, Injection, MemoryUnit};
use eitri_runtime::{
    Accesses, BindingElement, Cause, ClearAttachment, ClearColor, ClearRect, Draw, DrawsKnownBy,
    Error, FailedDraws, FailedPass, Fence, GraphicsPipeline, GraphicsPipelineInfo, GraphicsSet,
    Image, IndirectDraws, InheritedRendering, Instant, JobFault, PassPart, PixelRange, Recovery,
    Rect, RenderingInfo, ShaderStage, Status, Tiling, Topology,
};

/// Three passes, each to an image of its own. The second has three draws, of which the one in the middle samples what the first pass
/// has drawn.
pub(super) struct Frame {
    pub(super) bench: Bench,
    images: [Image; 3],
    pub(super) plain: GraphicsPipeline,
    pub(super) samples: GraphicsPipeline,
    pub(super) set: GraphicsSet,
}

/// Draws of the passes.
const DRAWS: [u32; 3] = [1, 3, 2];
/// The pass with the draw that samples, and the number of that draw.
const SAMPLING: (u32, u32) = (1, 1);

impl Frame {
    pub(super) fn new() -> Frame {
        Frame::of(Bench::new())
    }

    fn of(mut bench: Bench) -> Frame {
        let it = &mut bench;
        let info = GraphicsPipelineInfo {
            topology: Topology::TriangleStrip,
            ..it.info()
        };
        let plain = it.pipeline(&info);
        let programs = (shaders::vertices(it.arch()), shaders::fetched(it.arch()));
        let samples = it.pipeline_of(&programs, &info);
        let images = [0; 3].map(|_| it.image("R8G8B8A8_UNORM", Tiling::UInterleaved));
        let set = it.device.create_graphics_set(samples, 0);
        let set = set.or_fail("it has one");
        let bound = it.device.bind_in_stages(set, |device, set| {
            device.bind_image(set, BindingElement::first(0), images[0])
        });
        bound.or_fail("it is an image");
        let rectangles = [
            ([-1.0, -1.0], [0.0, 1.0], RED),
            ([-1.0, -1.0], [1.0, 0.0], GREEN),
            ([-1.0, 0.0], [0.0, 1.0], RED),
            ([0.0, 0.0], [1.0, 1.0], GREEN),
        ];
        let [left, upper, lower_left, lower_right] =
            rectangles.map(|(from, to, color)| it.buffer(&rectangle(from, to, 0.5, color)));
        let passes = [
            &[(plain, left)][..],
            &[(plain, upper), (samples, lower_left), (plain, lower_right)],
            &[(plain, left), (plain, lower_right)],
        ];
        it.record(|recorder| {
            for (image, draws) in images.into_iter().zip(passes) {
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(Bench::blue(image))],
                    ..RenderingInfo::default()
                })?;
                pass.bind_descriptor_set(set)?;
                for (pipeline, buffer) in draws {
                    pass.bind_pipeline(*pipeline)?
                        .bind_vertex_buffer(0, *buffer, 0)?
                        .draw(Draw::of(4))?;
                }
                pass.end_rendering()?;
                let sampled = Accesses::SAMPLED_READ.in_stage(ShaderStage::Fragment);
                recorder.barrier(Accesses::COLOR_WRITE, sampled)?;
            }
            Ok(())
        });
        Frame {
            bench,
            images,
            plain,
            samples,
            set,
        }
    }

    /// The picture of a pass is right.
    #[track_caller]
    fn check(&mut self, pass: u32) {
        let texels = self.bench.texels(self.images[pass as usize]);
        check(&texels, 0, |x, y| {
            let (left, upper) = (x < SIDE / 2, y < SIDE / 2);
            match (pass, left, upper) {
                (0, true, _) | (1, true, false) | (2, true, _) => RED_WORD,
                (1, _, true) | (1 | 2, false, false) => GREEN_WORD,
                _ => BLUE_WORD,
            }
        });
    }

    /// Polls for so long.
    fn poll_for(&mut self, time: Duration) {
        let (device, machine): (&mut Up<Host>, &Machine) =
            (&mut self.bench.device, &self.bench.machine);
        let end = machine.time() + time;
        while machine.time() < end {
            device.poll(Instant(machine.time()));
            machine.pass((end - machine.time().min(end)).min(Duration::from_micros(5)));
        }
    }

    /// Lets an injection strike so long after a submission; what became of it. It is taken back, and the next submission is right.
    pub(super) fn strike(&mut self, injection: Injection, after: Duration) -> Status {
        let case = format!("{injection:?} after {after:?}");
        let fence = self.bench.submit();
        self.poll_for(after);
        inject(&self.bench.machine, injection);
        let status = self.bench.device.wait(fence, Duration::from_secs(30));
        withdraw(&self.bench.machine, injection);
        if let Status::Failed(JobFault {
            pass: Some(pass),
            recovery,
            ..
        }) = status
        {
            for innocent in innocents(&pass, recovery) {
                self.check(innocent);
            }
        }
        self.again(fence, &case, status);
        status
    }

    /// The next submission is right, on a new queue if that one is dead. What was latched comes out before. A dead queue keeps the fault
    /// that stopped it, with the pass.
    fn again(&mut self, fence: Fence, case: &str, status: Status) {
        self.bench.device.discard(fence);
        for _ in 0..3 {
            let it = &mut self.bench;
            let fence = match it.device.submit(it.queue, it.commands) {
                Ok(fence) => fence,
                Err(Error::QueueFailed { fault, .. }) => {
                    if let Status::Failed(first) = status
                        && (first.job, first.sub_queue) == (fault.job, fault.sub_queue)
                    {
                        assert_eq!(fault.pass, first.pass, "{case}");
                    }
                    it.renew_queue();
                    continue;
                }
                Err(error) => panic!("{case}: {error}"),
            };
            if it.device.wait(fence, LIMIT) == Status::Done {
                (0..3).for_each(|pass| self.check(pass));
                return;
            }
            it.device.discard(fence);
        }
        panic!("{case}: no frame is drawn again");
    }
}

/// The passes that are right although another has failed: those that were over, and where the queue goes on those that read nothing of it.
fn innocents(failed: &FailedPass, recovery: Recovery) -> impl Iterator<Item = u32> {
    let (first, end) = (failed.pass, failed.pass + failed.passes);
    let over = if failed.part == PassPart::Fragments {
        first
    } else {
        0
    };
    let goes_on = recovery == Recovery::Continue;
    let reads = move |pass: u32| pass == SAMPLING.0 && first == 0;
    (0..3).filter(move |pass| {
        let outside = *pass < first || *pass >= end;
        *pass < over || goes_on && outside && !reads(*pass)
    })
}

pub(super) fn failed(status: Status, injection: Injection) -> (JobFault, FailedPass) {
    match status {
        Status::Failed(fault) => {
            let pass = fault
                .pass
                .unwrap_or_else(|| panic!("{injection:?}: {fault}"));
            (fault, pass)
        }
        status => panic!("{injection:?}: {status:?}"),
    }
}

/// What fails only in one draw names it, by its code or by the memory that it names.
pub(crate) fn the_draw_that_failed_is_named_with_its_pipeline() {
    let mut it = Frame::new();
    let injection = Injection::UnitFault {
        unit: GraphicsUnit::Textures,
    };
    let (fault, pass) = failed(it.strike(injection, Duration::ZERO), injection);
    let (number, draw) = SAMPLING;
    assert_eq!((pass.pass, pass.part), (number, PassPart::Fragments));
    let known = FailedDraws {
        first: draw,
        last: draw,
        count: 1,
        by: DrawsKnownBy::Code,
    };
    assert_eq!((pass.draws, pass.pipeline), (Some(known), Some(it.samples)));
    let code = pass.code.or_fail("the fault names an instruction");
    assert_eq!(code.stage, PassPart::Fragments);
    let text = fault.to_string();
    let words = format!(
        "in the fragments of pass 1: draw 1, with pipeline {}, at {:#x} of its fragment shader's code",
        it.samples.to_bits() as u16,
        code.offset
    );
    assert!(text.contains(&words), "no `{words}` in\n{text}");
}

/// Of draws in turn the one that fails, or never ends, is known by those that have ended before it.
pub(crate) fn a_draw_in_turn_that_fails_or_hangs_is_known() {
    let mut it = Frame::new();
    let (plain, image) = (it.plain, it.images[0]);
    let all = it
        .bench
        .buffer(&rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, RED));
    // In the second pass.
    it.bench.record(|recorder| {
        for in_turn in [false, true] {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            if in_turn {
                pass.draw_in_turn()?;
            }
            pass.bind_pipeline(plain)?.bind_vertex_buffer(0, all, 0)?;
            for _ in 0..4 {
                pass.draw(Draw::of(4))?;
            }
            pass.end_rendering()?;
            recorder.barrier(Accesses::COLOR_WRITE, Accesses::VERTEX_READ)?;
        }
        Ok(())
    });
    let before = it.bench.machine.time();
    it.bench.run();
    let took = it.bench.machine.time() - before;
    let picture = it.bench.texels(image);
    check(&picture, 0, |_, _| RED_WORD);
    let tiler = Injection::UnitFault {
        unit: GraphicsUnit::Tiler,
    };
    let steps = if long() { 32 } else { 6 };
    // The steps at which a draw in turn was struck: what hangs takes long, so one of them is enough.
    let mut struck: Vec<u32> = (0..steps).collect();
    for injection in [tiler, Injection::JobsHang] {
        let mut known = Vec::new();
        for step in core::mem::take(&mut struck) {
            let fence = it.bench.submit();
            it.poll_for(took * step / steps);
            inject(&it.bench.machine, injection);
            let status = it.bench.device.wait(fence, Duration::from_secs(30));
            withdraw(&it.bench.machine, injection);
            it.bench.device.discard(fence);
            if let Status::Failed(JobFault {
                pass: Some(pass), ..
            }) = status
                && (pass.pass, pass.passes, pass.part) == (1, 1, PassPart::Vertices)
            {
                let draws = pass.draws.or_fail("the pass has draws");
                let found = (draws.count, draws.by);
                assert_eq!(found, (1, DrawsKnownBy::Turn), "{injection:?}");
                known.push(draws.first);
                if struck.is_empty() || long() {
                    struck.push(step);
                }
            }
            if injection == Injection::JobsHang {
                it.bench.renew_queue();
            }
            let last = it.bench.submit();
            let status = it.bench.device.wait(last, LIMIT);
            assert_eq!(status, Status::Done, "{injection:?}: the next one");
        }
        assert!(
            known.is_sorted(),
            "later faults strike later draws: {known:?}"
        );
        assert!(!known.is_empty(), "{injection:?} strikes no draw in turn");
    }
}

/// Draws are counted as they were recorded: those of a buffer as one, those of a secondary where it is executed, clears and draws of
/// nothing not at all.
pub(crate) fn draws_are_numbered_as_they_were_recorded() {
    let mut it = Frame::new();
    let (plain, samples, set) = (it.plain, it.samples, it.set);
    let (bench, image) = (&mut it.bench, it.images[1]);
    let all = bench.buffer(&rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, RED));
    let numbers = bench.buffer(&[4, 1, 0, 0, 4, 1, 0, 0]);
    let format = Some(bench.format("R8G8B8A8_UNORM"));
    let inherited = InheritedRendering {
        width: SIDE,
        height: SIDE,
        colors: &[format],
        ..InheritedRendering::default()
    };
    let made = bench.device.create_command_buffer(bench.space);
    let secondary = made.or_fail("there is memory");
    let recorded = bench.device.record_draws(secondary, &inherited, |pass| {
        pass.bind_pipeline(plain)?
            .bind_vertex_buffer(0, all, 0)?
            .draw(Draw::of(4))
            .map(drop)
    });
    recorded.or_fail("it can be recorded");
    let clear = ClearAttachment::Color {
        location: 0,
        color: ClearColor::Float(GREEN),
    };
    let rect = ClearRect {
        rect: Rect {
            x: 0,
            y: 0,
            width: SIDE,
            height: SIDE,
        },
        layer: 0,
        layers: 1,
    };
    bench.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(plain)?
            .bind_vertex_buffer(0, all, 0)?
            .draw_indirect(IndirectDraws {
                buffer: numbers,
                offset: 0,
                draws: 2,
                stride: 16,
                count: None,
            })?
            .clear_attachments(&[clear], &[rect])?
            .draw(Draw::of(0))?
            .execute(secondary)?
            .bind_pipeline(samples)?
            .bind_descriptor_set(set)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    let injection = Injection::UnitFault {
        unit: GraphicsUnit::Textures,
    };
    let fence = it.bench.submit();
    inject(&it.bench.machine, injection);
    let status = it.bench.device.wait(fence, LIMIT);
    withdraw(&it.bench.machine, injection);
    let (fault, pass) = failed(status, injection);
    let draw = pass.draws.and_then(|draws| draws.only());
    assert_eq!((pass.pass, draw), (0, Some(2)), "{fault}");
    assert_eq!(pass.pipeline, Some(samples));
}

/// An access to the image that one draw alone samples names the draw. The unit's first access is to the descriptor of the image's plane.
pub(crate) fn an_access_that_failed_names_the_draw_with_its_image() {
    let mut it = Frame::new();
    let injection = Injection::UnitPageFault {
        unit: MemoryUnit::Texture,
    };
    let (fault, pass) = failed(it.strike(injection, Duration::ZERO), injection);
    let (number, draw) = SAMPLING;
    assert_eq!(
        (pass.pass, pass.part),
        (number, PassPart::Fragments),
        "{fault}"
    );
    let draws = pass.draws.or_fail("the pass has draws");
    assert_eq!(
        (draws.only(), draws.by),
        (Some(draw), DrawsKnownBy::Address)
    );
    assert_eq!((pass.pipeline, pass.pixels), (Some(it.samples), None));
    let words = "concluded from the memory that the draws name";
    assert!(
        fault.to_string().contains(words),
        "no `{words}` in\n{fault}"
    );
}

/// A tile that can't be written names the pixels of the attachment, and any draw of the pass may be it.
pub(crate) fn a_tile_that_is_not_written_names_its_pixels() {
    let mut it = Frame::new();
    let injection = Injection::UnitPageFault {
        unit: MemoryUnit::TileBuffer,
    };
    let (fault, pass) = failed(it.strike(injection, Duration::ZERO), injection);
    assert_eq!((pass.pass, pass.part), (0, PassPart::Fragments));
    let pixels: PixelRange = pass.pixels.or_fail("the address is in an image");
    assert_eq!(pixels.image, it.images[0].to_bits() as u16);
    let draws = pass.draws.or_fail("the pass has a draw");
    assert_eq!((draws.only(), pass.pipeline), (Some(0), Some(it.plain)));
    let [x, y] = pixels.first;
    assert!(
        u32::from(x.max(y)) < SIDE && pixels.first == pixels.last,
        "{pixels:?}"
    );
    let words = format!("at pixel ({x}, {y}) of image {}", pixels.image);
    assert!(
        fault.to_string().contains(&words),
        "no `{words}` in\n{fault}"
    );
}

/// What each kind of fault has struck, whenever it strikes: passes and draws that there are, with their pipelines, and the passes
/// before are right.
pub(crate) fn every_fault_at_every_step_names_its_pass() {
    let mut it = Frame::new();
    let before = it.bench.machine.time();
    it.bench.run();
    let took = it.bench.machine.time() - before;
    let units = GraphicsUnit::ALL.map(|unit| Injection::UnitFault { unit });
    let memory = MemoryUnit::ALL.map(|unit| Injection::UnitPageFault { unit });
    let others = [
        Injection::JobFault { exception: 0x58 },
        Injection::DrawStepFault { exception: 0x58 },
        Injection::StreamFault { exception: 0x4B },
        Injection::StreamFatal { exception: 0x49 },
        Injection::BusError { space: 1 },
        Injection::PageFault { space: 1 },
        Injection::JobsHang,
    ];
    let all: Vec<_> = [&units[..], &memory, &others].concat();
    // One of each part: the tiler, the writing of tiles, a job as a whole, memory, and what never ends.
    let few = [units[1], memory[3], units[9], others[0], others[6]];
    let steps = by_form(24, 2, 1);
    let kinds = if long() { &all[..] } else { some(&few, 2) };
    for injection in kinds.iter().copied() {
        let mut named = 0;
        for step in 0..steps {
            let Status::Failed(fault) = it.strike(injection, took * step / steps) else {
                continue;
            };
            let case = format!("{injection:?} at step {step}: {fault}");
            let Some(pass) = fault.pass else {
                // The stream's own failures may be at an instruction of no pass.
                let of_stream = match fault.cause {
                    Cause::Exception(it) => (0x40..0x50).contains(&it.exception.0),
                    Cause::Mmu(_) | Cause::Gpu(_) => true,
                    _ => false,
                };
                assert!(of_stream, "{case}: no pass is named");
                continue;
            };
            named += 1;
            let most = DRAWS.get(pass.pass as usize).copied();
            let most = most.unwrap_or_else(|| panic!("{case}: no such pass"));
            assert!((1..=4).contains(&pass.passes), "{case}");
            if let Some(draws) = pass.draws {
                assert!(draws.first <= draws.last && draws.last < most, "{case}");
                assert!(
                    (1..=draws.last - draws.first + 1).contains(&draws.count),
                    "{case}"
                );
                if let Some(draw) = draws.only() {
                    let samples = (pass.pass, draw) == SAMPLING;
                    let pipeline = if samples { it.samples } else { it.plain };
                    assert_eq!(pass.pipeline, Some(pipeline), "{case}");
                }
            }
        }
        // No pass has queries, depth, or reads its tile.
        let nothing = [
            GraphicsUnit::Queries,
            GraphicsUnit::TileBuffer,
            GraphicsUnit::DepthStencil,
        ];
        let by_chance = [
            Injection::StreamFault { exception: 0x4B },
            Injection::StreamFatal { exception: 0x49 },
            Injection::BusError { space: 1 },
            Injection::PageFault { space: 1 },
        ];
        let harmless = nothing.map(|unit| Injection::UnitFault { unit });
        if long() && !harmless.contains(&injection) && !by_chance.contains(&injection) {
            assert!(named > 0, "{injection:?} never names a pass");
        }
    }
}
