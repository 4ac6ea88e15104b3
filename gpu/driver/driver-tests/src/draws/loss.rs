//! Faults and losses at each step of a pass: a submission is lost as a whole, and what comes after it draws as if nothing had been.

use super::bench::{
    BLUE, BLUE_WORD, Bench, GREEN, RED, RED_WORD, SIDE, check, rectangle, vertices,
};
use crate::bench::{LIMIT, OrFail, diagnoses, inject, long, some, withdraw};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::{
    Accesses, ClearAttachment, ClearColor, ClearRect, CommandBuffer, Draw, Error, Fence,
    GraphicsPipelineInfo, Image, ImagePart, IndirectDraws, Instant, Occlusion, QueryPool, Rect,
    RenderingInfo, Status, TilerHeapConfig, Tiling, Topology,
};

/// Commands whose submissions have parts on all three streams: a copy, two passes of which the second needs the copy. Each pass
/// clears, draws what a buffer says, and counts what is seen.
struct Frame {
    commands: CommandBuffer,
    images: [Image; 2],
    queries: QueryPool,
}

const RIGHT: ClearRect = ClearRect {
    rect: Rect {
        x: (SIDE / 2) as i32,
        y: 0,
        width: SIDE / 2,
        height: SIDE,
    },
    layer: 0,
    layers: 1,
};
const GREEN_CLEAR: ClearAttachment = ClearAttachment::Color {
    location: 0,
    color: ClearColor::Float(GREEN),
};
const BLUE_CLEAR: ClearAttachment = ClearAttachment::Color {
    location: 0,
    color: ClearColor::Float(BLUE),
};

/// A device with frames.
struct Frames {
    bench: Bench,
    frames: Vec<Frame>,
}

impl Frames {
    fn new() -> Frames {
        Frames::on(Bench::new())
    }

    fn on(mut bench: Bench) -> Frames {
        let info = GraphicsPipelineInfo {
            topology: Topology::TriangleStrip,
            ..bench.info()
        };
        let pipeline = bench.pipeline(&info);
        let left = bench.buffer(&rectangle([-1.0, -1.0], [0.0, 1.0], 0.5, RED));
        // A draw, and one of nothing.
        let numbers = bench.buffer(&[4, 1, 0, 0, 4, 0, 0, 0]);
        let wrong = rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, GREEN);
        let frames = (0..3).map(|_| {
            let images = [0; 2].map(|_| bench.image("R8G8B8A8_UNORM", Tiling::UInterleaved));
            let copied = bench.buffer(&wrong);
            let made = bench.device.create_command_buffer(bench.space);
            let commands = made.or_fail("there is memory");
            let made = bench.device.create_query_pool(bench.space, 2);
            let queries = made.or_fail("there is memory");
            let draws = IndirectDraws {
                buffer: numbers,
                offset: 0,
                draws: 2,
                stride: 16,
                count: None,
            };
            let recorded = bench.device.record(commands, |recorder| {
                recorder.barrier(Accesses::VERTEX_READ, Accesses::TRANSFER_WRITE)?;
                recorder.copy_buffer((left, 0), (copied, 0), 128)?;
                recorder.reset_queries(queries, 0, 2)?;
                for ((image, vertices), query) in images.into_iter().zip([left, copied]).zip(0..) {
                    let mut pass = recorder.begin_rendering(&RenderingInfo {
                        colors: &[Some(Bench::blue(image))],
                        ..RenderingInfo::default()
                    })?;
                    pass.clear_attachments(&[GREEN_CLEAR], &[RIGHT])?
                        .clear_attachments(&[BLUE_CLEAR], &[RIGHT])?
                        .bind_pipeline(pipeline)?
                        .bind_vertex_buffer(0, vertices, 0)?
                        .begin_query(queries, query, Occlusion::Precise)?
                        .draw_indirect(draws)?
                        .end_query()?;
                    pass.end_rendering()?;
                    recorder.barrier(Accesses::TRANSFER_WRITE, Accesses::VERTEX_READ)?;
                }
                Ok(())
            });
            recorded.or_fail("it can be recorded");
            Frame {
                commands,
                images,
                queries,
            }
        });
        let frames = frames.collect();
        Frames { bench, frames }
    }

    fn submit(&mut self, number: usize) -> Result<Fence, Error> {
        let Bench { device, queue, .. } = &mut self.bench;
        device.submit(*queue, self.frames[number].commands)
    }

    /// Nothing of the pictures is left.
    fn clear(&mut self) {
        let all = Vec::from([0x55; (SIDE * SIDE * 4) as usize]);
        for image in self.frames.iter().flat_map(|frame| frame.images) {
            let cleared = self
                .bench
                .device
                .write_image(image, ImagePart::default(), &all);
            cleared.or_fail("no job is in flight");
        }
    }

    /// The pictures of a frame are right, and what its queries have counted.
    #[track_caller]
    fn check(&mut self, number: usize) {
        let mut counted = [None; 2];
        let queries = self.frames[number].queries;
        let found = self.bench.device.query_results(queries, 0, &mut counted);
        found.or_fail("there are two");
        assert_eq!(counted, [Some((SIDE * SIDE / 2).into()); 2], "samples");
        for image in self.frames[number].images {
            let texels = self.bench.texels(image);
            check(
                &texels,
                0,
                |x, _| if x < SIDE / 2 { RED_WORD } else { BLUE_WORD },
            );
        }
    }

    /// Polls for so long, so that groups come to their slots meanwhile.
    fn poll_for(&mut self, time: Duration) {
        let Bench {
            device, machine, ..
        } = &mut self.bench;
        let end = machine.time() + time;
        loop {
            let now = machine.time();
            if now >= end {
                return;
            }
            device.poll(Instant(now));
            machine.pass((end - now).min(Duration::from_micros(10)));
        }
    }

    /// Polls until none of them is pending.
    fn settle(&mut self, fences: &[Fence], injection: Option<Injection>, case: &str) {
        let Bench {
            device, machine, ..
        } = &mut self.bench;
        for _ in 0..40_000 {
            let pending = |fence: &&Fence| device.status(**fence) == Status::Pending;
            if !fences.iter().any(|fence| pending(&fence)) {
                return;
            }
            let next = device.poll(Instant(machine.time()));
            // What stays in force until it is taken back strikes once.
            if device.recoveries() > 0
                && let Some(injection) = injection
            {
                withdraw(machine, injection);
            }
            let now = machine.time();
            let step = next.at.unwrap_or(Instant(now)).0.saturating_sub(now);
            machine.pass(step.clamp(Duration::from_micros(1), Duration::from_millis(1)));
        }
        panic!(
            "{case}: it never ends: {:?}",
            diagnoses(&self.bench.machine)
        );
    }

    /// All frames again, on the queue that there is or on a new one: all are right.
    fn again(&mut self, case: &str) {
        // What was latched comes out now.
        if let Ok(fence) = self.submit(0) {
            self.settle(&[fence], None, case);
            self.bench.device.discard(fence);
        }
        self.clear();
        let first = match self.submit(0) {
            Ok(fence) => fence,
            Err(Error::QueueFailed { .. }) => {
                self.bench.renew_queue();
                self.submit(0).or_fail("it is new")
            }
            Err(error) => panic!("{case}: {error}"),
        };
        let others = [1, 2].map(|number| self.submit(number).or_fail("there is room"));
        let fences = [first, others[0], others[1]];
        self.settle(&fences, None, case);
        for (fence, number) in fences.into_iter().zip(0..) {
            let status = self.bench.device.status(fence);
            assert_eq!(
                status,
                Status::Done,
                "{case}: frame {number} of the second run"
            );
            self.check(number);
        }
    }
}

/// How long frames take that nothing strikes.
fn unharmed() -> Duration {
    let mut it = Frames::new();
    it.clear();
    let before = it.bench.machine.time();
    let fences = [0, 1, 2].map(|number| it.submit(number).or_fail("there is room"));
    it.settle(&fences, None, "unharmed");
    let took = it.bench.machine.time() - before;
    for (fence, number) in fences.into_iter().zip(0..) {
        assert_eq!(it.bench.device.status(fence), Status::Done);
        it.check(number);
    }
    assert_eq!(diagnoses(&it.bench.machine), [""; 0]);
    took
}

/// The GPU sees each word that is published before the CPU goes on: parts of a submission begin before the others are there.
pub(crate) fn parts_that_begin_before_the_others_are_submitted_wait_for_them() {
    // A heap that is too small with one pace, a large one with the other; both with both where there is time.
    for (pace, heaps) in [(5, 0..1), (100, 1..2)] {
        let pace = Duration::from_micros(pace);
        let heaps = if long() { 0..2 } else { heaps };
        for (chunks, seed) in [(2, 1), (8, 2)][heaps].iter().copied() {
            let case = format!("{pace:?}, {chunks} chunks");
            let mut it = Frames::on(Bench::behind_caches(chunks, seed));
            it.clear();
            it.bench.machine.set_pace(pace);
            for frames in [&[0, 1][..], &[0], &[0, 1, 2], &[2, 1, 0]] {
                let submitted = frames.iter().map(|number| it.submit(*number));
                let fences: Vec<_> = submitted.map(|it| it.or_fail("there is room")).collect();
                it.settle(&fences, None, &case);
                for (fence, number) in fences.into_iter().zip(frames) {
                    let status = it.bench.device.status(fence);
                    assert_eq!(status, Status::Done, "{case}: frame {number} of {frames:?}");
                    it.check(*number);
                }
                it.clear();
            }
            assert_eq!(diagnoses(&it.bench.machine), [""; 0], "{case}");
        }
    }
}

/// What became of three frames that a fault struck.
fn strike(injection: Injection, after: Duration) -> [u32; 2] {
    let case = format!("{injection:?} after {after:?}");
    let mut it = Frames::new();
    it.clear();
    let mut fences = Vec::from([0, 1].map(|number| it.submit(number).or_fail("there is room")));
    it.poll_for(after);
    inject(&it.bench.machine, injection);
    // Some strike at a doorbell.
    fences.extend(it.submit(2));
    it.settle(&fences, Some(injection), &case);
    withdraw(&it.bench.machine, injection);
    let mut ended = [0; 2];
    for (fence, number) in fences.iter().zip(0..) {
        match it.bench.device.status(*fence) {
            Status::Done => {
                ended[0] += 1;
                // Where caches can't be cleaned pictures are lost in them: a read says so.
                if injection != Injection::FlushNeverCompletes {
                    it.check(number);
                }
            }
            Status::Failed(fault) => {
                let text: String = format!("{fault}");
                assert!(!text.is_empty());
                ended[1] += 1;
                it.bench.device.discard(*fence);
            }
            status => panic!("{case}: {fence}: {status:?}"),
        }
    }
    it.again(&case);
    ended
}

pub(crate) fn a_submission_is_lost_as_a_whole_and_the_next_draws() {
    let took = unharmed();
    // Those that the driver hears of at once come first. Others take it a ping, which is many seconds of an image's time.
    let table = [
        Injection::GpuFault { exception: 0x80 },
        Injection::StreamFatal { exception: 0x41 },
        Injection::McuCrash,
        Injection::PingIgnored,
        Injection::TerminateIgnored,
        Injection::SuspendIgnored,
        Injection::PageFault { space: 1 },
        Injection::StreamFault { exception: 0x40 },
        Injection::JobFault { exception: 0x48 },
        Injection::FlushNeverCompletes,
        Injection::TilerOutOfMemory,
    ];
    let steps = if long() { 24 } else { 4 };
    for injection in some(&table, 3).iter().copied() {
        let mut all = [0; 2];
        for step in 0..steps {
            let ended = strike(injection, took * step / steps);
            all = [all[0] + ended[0], all[1] + ended[1]];
        }
        assert!(all[0] > 0, "{injection:?}: nothing ever ends well: {all:?}");
    }
}

/// A heap with no memory to lose has all of it again after each loss.
pub(crate) fn a_heap_has_its_memory_again_after_a_loss() {
    let took = unharmed();
    let mut it = Frames::on(Bench::with_chunks(2));
    for round in 0..8 {
        let case = format!("round {round}");
        let fences = Vec::from([0, 1].map(|number| it.submit(number).or_fail("there is room")));
        it.poll_for(took / 3 + took * round / 24);
        let injection = Injection::GpuFault { exception: 0x80 };
        inject(&it.bench.machine, injection);
        it.settle(&fences, Some(injection), &case);
        // If the frames were over before the fault could strike.
        withdraw(&it.bench.machine, injection);
        for fence in fences {
            it.bench.device.discard(fence);
        }
        it.again(&case);
        let info = it
            .bench
            .device
            .tiler_heap(it.bench.heap)
            .or_fail("it is there");
        assert_eq!((info.chunks, info.reserve), (2, 0), "{case}");
    }
}

/// Triangles of a draw whose vertices need more than a chunk of [`SMALL`].
const MANY: usize = 2000;
/// A heap without room for what is lost.
const SMALL: TilerHeapConfig = TilerHeapConfig {
    chunk_bytes: 128 << 10,
    initial: 4,
    most: 4,
    reserve: 0,
    passes: 4,
};

/// Vertices lie in the heap when the GPU is lost: they are void, and their memory is the heap's again.
pub(crate) fn losses_leave_the_heap_its_memory() {
    let mut it = Bench::new();
    let heap = it.device.create_tiler_heap(it.space, SMALL);
    let heap = heap.or_fail("there is memory");
    it.device
        .bind_tiler_heap(it.queue, heap)
        .or_fail("no job is in flight");
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = it.info();
    let pipeline = it.pipeline(&info);
    let corner = |x, y| ([x, y, 0.5, 1.0], RED);
    let one = [corner(-1.0, -1.0), corner(3.0, -1.0), corner(-1.0, 3.0)];
    // One that is seen, and many without extent: their vertices lie in the heap all the same.
    let rest = core::iter::repeat_n(one[0], 3 * (MANY - 1));
    let all: Vec<_> = one.iter().copied().chain(rest).collect();
    let buffer = it.buffer(&vertices(&all));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, buffer, 0)?
            .draw(Draw::of(3 * MANY as u32))?;
        pass.end_rendering()
    });
    let before = it.machine.time();
    it.run();
    let took = it.machine.time() - before;
    let mut lost = 0;
    for step in 1..32 {
        let fence = it.submit();
        it.device.poll(Instant(it.machine.time()));
        it.machine.pass(took * step / 256);
        inject(&it.machine, Injection::McuCrash);
        let status = it.device.wait(fence, LIMIT);
        lost += u32::from(matches!(status, Status::Failed(_)));
        it.device.discard(fence);
        // What came too late strikes now.
        let fence = it.submit();
        it.device.wait(fence, LIMIT);
        it.device.discard(fence);
        let chunks = it.device.tiler_heap(heap).or_fail("it is there").chunks;
        assert_eq!(chunks, SMALL.initial, "{step}: chunks that the GPU has");
        it.run();
        check(&it.texels(image), 0, |_, _| RED_WORD);
    }
    // Those that were over are no loss.
    assert!(lost > SMALL.most, "{lost} were lost");
}
