//! Passes that are interrupted: by a heap that runs out again and again, by suspends, and by both. The picture is always the same.
//!
//! The host's answers to an exhausted heap are a chunk at once, a chunk later, and a refusal: then the stream's exception handler
//! renders what there is, gives the chunks back, and tiling goes on with an empty list.
//!
//! Facts: hardware/graphics.md 2.2, 2.8; csf-scheduling.md 3.4, 7; command-stream.md 1.12.

use super::bench::{Bench, group_input, stream_input, stream_output};
use super::{
    BUFFER, CLEAR, COLOUR, DONE, FRAMEBUFFER, HANDLER, HEAP, HEAP_CONTEXT, IndexBuffer, Pass, ROW,
    Rectangle, SIDE, STORE, TILER, Vertices, pixels,
};
use eitri_cs::Arch;
use eitri_cs::enums::{FlushMode, OtherFlushMode};
use eitri_cs::instr::{
    FinishFragment, FlushCache2, HeapSet, Instr as Command, LoadMultiple, Move32, ReqResource,
    RunFragment, SetExceptionHandler, SetSbEntry, StoreMultiple, Wait,
};
use eitri_cs::{Pair, Reg, RegMask, Slot, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_descriptors::framebuffer::PrePostFrameShaderMode as Mode;
use eitri_model::{Aim, Injection};
use eitri_model::{Event, JobKind, Sink};
use std::sync::{Arc, Mutex};

/// Stores position `vertex` of the buffer, whose address is in u4.
const POSITION: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    NOP.end";

/// Stores fragment Z, by which triangles differ.
const DEPTH: &str = "
    LD_VAR_SPECIAL.v2.f32.center.clobber.slot0.wait0126 @r0:r1, r61, index:0x3
    OUTPUT";

/// Loads what memory holds of the pixel: u6 is the target.
const LOAD: &str = "
    U16_TO_U32 r0, r59.h00
    U16_TO_U32 r1, r59.h10
    LSHIFT_OR.i32 r1, r1, 0x7060504.b00, r0
    LSHIFT_OR.i32 r0, r1, 0x3020100.b22, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u6, r0.w0, shift:0x0
    LOAD.i32.unsigned.slot0.wait0126 @r0, r2, offset:0
    OUTPUT";

const TRIANGLES: u32 = 8;
/// Topologies whose primitives share vertices, some of which are carried from one run of vertices to the next: a strip and a loop of
/// lines, a strip and a fan of triangles.
const CHAINS: [u32; 4] = [4, 6, 10, 12];
const TILER_OOM: u32 = 1 << 26;

/// Pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// What the host does when a heap is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Chunk,
    LateChunk,
    Refusal,
}

const ANSWERS: [Answer; 3] = [Answer::Chunk, Answer::LateChunk, Answer::Refusal];

/// A pass of many triangles in one draw, which loads what memory holds first.
fn pass(triangles: u32) -> Pass {
    let [store, format] = STORE;
    let load = Rectangle {
        program: LOAD,
        ..Rectangle::default()
    };
    Pass {
        uniforms: vec![store, format, 0, 0, BUFFER as u32, 0, COLOUR as u32, 0],
        frames: vec![(0, Mode::Always, load)],
        draws: vec![Rectangle {
            vertices: Some(Vertices {
                mode: TRIANGLES,
                count: 3 * triangles,
                program: POSITION,
                size: 1.0,
                flags: 0,
                indices: None,
                varying_bytes: 0,
            }),
            program: DEPTH,
            layers: 0,
            ..Rectangle::default()
        }],
        buffer: (48 * u64::from(triangles)).next_multiple_of(0x1000),
        handler: handler(),
        ..Pass::default()
    }
}

/// Renders what the tiler has listed, gives its chunks back and empties the list; the registers of the draw are as before.
fn handler() -> Vec<u64> {
    let mut words = Vec::new();
    let mut push = |instr: Command| words.push(instr.encode(Arch::V10).expect("legal"));
    let set = |register: u8, immediate: u32| -> Command {
        let destination = Reg::new(register);
        Move32 {
            destination,
            immediate,
        }
        .into()
    };
    let pair = |register: u8| Pair::new(register).expect("even");
    let slot = |endpoint: u8| -> Command {
        SetSbEntry {
            endpoint_entry: Slot::new(endpoint).expect("a slot"),
            ..SetSbEntry::default()
        }
        .into()
    };
    let wait = |mask: u16| -> Command {
        Wait {
            wait_mask: SlotMask::new(mask),
            ..Wait::default()
        }
        .into()
    };
    // Not the slot of the tiling job, which waits for this handler.
    push(slot(4));
    push(set(40, FRAMEBUFFER as u32 | 1 | 1 << 1));
    push(set(42, 0));
    push(set(43, (SIDE - 1) | (SIDE - 1) << 16));
    push(RunFragment::default().into());
    push(wait(1 << 4));
    push(set(70, TILER as u32));
    push(set(71, 0));
    push(
        LoadMultiple {
            base_register: Reg::new(76),
            address: pair(70),
            mask: RegMask::new(0xf),
            offset: 40,
        }
        .into(),
    );
    push(wait(1));
    push(
        FinishFragment {
            first_heap_chunk: pair(76),
            last_heap_chunk: pair(78),
            ..FinishFragment::default()
        }
        .into(),
    );
    for register in 76..80 {
        push(set(register, 0));
    }
    for (offset, mask) in [(0, 3), (40, 0xf)] {
        push(
            StoreMultiple {
                base_register: Reg::new(76),
                address: pair(70),
                mask: RegMask::new(mask),
                offset,
            }
            .into(),
        );
    }
    push(wait(1));
    push(set(72, 0));
    push(
        FlushCache2 {
            l2_flush_mode: FlushMode::CleanAndInvalidate,
            lsc_flush_mode: FlushMode::CleanAndInvalidate,
            other_flush_mode: OtherFlushMode::Invalidate,
            latest_flush_id: Reg::new(72),
            ..FlushCache2::default()
        }
        .into(),
    );
    push(wait(1));
    push(set(40, TILER as u32));
    push(slot(3));
    words
}

/// Positions of triangles anywhere around the target, each with a depth of its own.
fn positions(triangles: u32) -> Vec<u8> {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let mut bytes = Vec::new();
    for triangle in 0..triangles {
        let z = (triangle + 1) as f32 / (triangles + 1) as f32;
        for _ in 0..3 {
            let at = [(); 2].map(|()| numbers.below(24 * 256) as f32 / 256.0 - 4.0);
            for part in [at[0], at[1], z, 1.0] {
                bytes.extend(part.to_le_bytes());
            }
        }
    }
    bytes
}

/// Where indices lie, behind the positions of 300 triangles, and the flag by which all ones restart.
const INDICES: u64 = BUFFER + 0x4000;
const RESTART: u32 = 1 << 19;

/// Indices of two runs, of which the first one ends early.
fn two_runs(count: u32) -> Vec<u8> {
    let indices = (0..10).chain([u16::MAX]).chain(10..count as u16);
    indices.flat_map(u16::to_le_bytes).collect()
}

/// A pass under way.
struct Drawing {
    bench: Bench,
    chunk: u64,
    chunks: u64,
    /// Times that the heap was exhausted.
    exhausted: u32,
    /// The address space of the group: 1 or 2.
    space: u32,
}

impl Drawing {
    #[track_caller]
    fn submit(pass: &Pass, triangles: u32) -> Drawing {
        let bytes = positions(triangles);
        let bench = pass.submitted(|bench| {
            for (page, bytes) in (0..).zip(bytes.chunks(4096)) {
                bench.put(1, BUFFER + 4096 * page, bytes);
            }
            if pass.draws[0]
                .vertices
                .as_ref()
                .is_some_and(|it| it.indices.is_some())
            {
                bench.put(1, INDICES, &two_runs(3 * triangles));
            }
            for [x, y] in pixels() {
                let at = COLOUR + u64::from(y * ROW + 4 * x);
                bench.put(1, at, &CLEAR.to_le_bytes());
            }
        });
        Drawing {
            bench,
            chunk: pass.chunk,
            chunks: 1,
            exhausted: 0,
            space: 1,
        }
    }

    fn is_done(&mut self) -> bool {
        self.bench.get64(1, DONE) == 1
    }

    fn asks(&mut self) -> bool {
        let bench = &mut self.bench;
        (bench.shared(stream_input(0)) ^ bench.shared(stream_output(0))) & TILER_OOM != 0
    }

    fn answer(&mut self, answer: Answer) {
        self.exhausted += 1;
        let chunk = match answer {
            Answer::Refusal => 0,
            Answer::Chunk | Answer::LateChunk => {
                let address = HEAP + self.chunks * self.chunk;
                self.chunks += 1;
                self.bench.map(1, address, self.chunk, Attributes::CACHED);
                address | self.chunk >> 12
            }
        };
        let bench = &mut self.bench;
        if answer == Answer::LateChunk {
            bench.wait(700);
            assert_eq!(bench.get64(1, DONE), 0, "it ended without memory");
        }
        bench.shared_write64(stream_input(0) + 0x20, chunk);
        bench.shared_write64(stream_input(0) + 0x28, chunk);
        let (req, ack) = (
            bench.shared(stream_input(0)),
            bench.shared(stream_output(0)),
        );
        bench.shared_write(stream_input(0), req & !TILER_OOM | ack & TILER_OOM);
        let doorbells = bench.shared(group_input(0) + 8);
        bench.shared_write(group_input(0) + 8, doorbells ^ 1);
        bench.ring_group(0);
        // Until it is taken: the doorbell's bit is turned once for each request.
        let rung = bench.shared(0x2008);
        bench.poll_shared(0x6008, 1, rung & 1);
    }

    /// Suspends the group, wherever its jobs are, and resumes it with its memory in another address space.
    #[track_caller]
    fn suspend_and_resume(&mut self) {
        let bench = &mut self.bench;
        bench.request_state(0, 2);
        bench.wait(50);
        bench.flush();
        bench.disable_space(self.space);
        self.space = 3 - self.space;
        bench.roots[2] = bench.roots[1];
        bench.enable_space(self.space);
        bench.configure_group(0);
        bench.shared_write(group_input(0) + 0x50, self.space);
        bench.request_state(0, 3);
    }

    /// Waits for the end and reads the picture.
    #[track_caller]
    fn picture(mut self) -> Vec<u32> {
        self.bench.drain(0);
        assert!(self.is_done(), "\n{}", self.bench.report());
        self.bench.expect_no_diagnoses();
        self.bench.flush();
        pixels()
            .map(|[x, y]| self.bench.get32(1, COLOUR + u64::from(y * ROW + 4 * x)))
            .collect()
    }

    /// Draws to the end with these answers: how often the heap was exhausted, and the picture.
    #[track_caller]
    fn finish(mut self, mut answer: impl FnMut() -> Answer) -> (u32, Vec<u32>) {
        for _ in 0..2_000_000 {
            if self.is_done() {
                return (self.exhausted, self.picture());
            }
            self.bench.wait(20);
            if self.asks() {
                self.answer(answer());
            }
        }
        panic!("the pass does not end\n{}", self.bench.report());
    }
}

/// The picture of a heap that is large enough, over which something is drawn everywhere.
#[track_caller]
fn undisturbed(triangles: u32) -> Vec<u32> {
    let picture = undisturbed_of(pass(triangles), triangles);
    assert!(!picture.contains(&CLEAR));
    picture
}

/// The picture of a heap that is large enough.
#[track_caller]
fn undisturbed_of(pass: Pass, triangles: u32) -> Vec<u32> {
    let pass = Pass {
        chunk: (1024 * u64::from(triangles))
            .next_multiple_of(0x1_0000)
            .min(0xff_f000),
        ..pass
    };
    let (exhausted, picture) = Drawing::submit(&pass, triangles).finish(|| Answer::Chunk);
    assert!(exhausted <= 8, "{exhausted} chunks of the largest size");
    picture
}

/// Triangles, and bytes of a chunk, which runs out again and again.
fn scene() -> (u32, u64) {
    match eitri_testdata::long() {
        true => (50_000, 0x2_0000),
        false => (1000, 0x4000),
    }
}

#[test]
fn every_chunk_is_exhausted_and_the_picture_is_the_same() {
    let (triangles, chunk) = scene();
    let wanted = undisturbed(triangles);
    for answer in ANSWERS {
        let pass = Pass {
            chunk,
            ..pass(triangles)
        };
        let (exhausted, picture) = Drawing::submit(&pass, triangles).finish(|| answer);
        assert!(exhausted > 8, "{answer:?}: exhausted {exhausted} times");
        assert!(picture == wanted, "{answer:?}: another picture");
    }
}

#[test]
fn vertices_that_are_carried_on_outlive_an_exhausted_heap() {
    const COUNT: u32 = 300;
    for mode in CHAINS {
        let pass = || {
            let mut pass = pass(COUNT);
            let vertices = pass.draws[0].vertices.as_mut().expect("it has some");
            vertices.mode = mode;
            vertices.count += 1;
            vertices.flags |= RESTART;
            vertices.indices = Some(IndexBuffer {
                address: INDICES,
                index_bytes: 2,
                bytes: 2 * vertices.count,
            });
            pass.buffer = 0x5000;
            pass
        };
        let wanted = undisturbed_of(pass(), COUNT);
        for answer in ANSWERS {
            let pass = Pass {
                chunk: 0x4000,
                ..pass()
            };
            let (exhausted, picture) = Drawing::submit(&pass, COUNT).finish(|| answer);
            assert!(
                exhausted > 4,
                "mode {mode}, {answer:?}: exhausted {exhausted} times"
            );
            assert!(
                picture == wanted,
                "mode {mode}, {answer:?}: another picture"
            );
        }
    }
}

/// Starts a second stream of the group, which installs the exception handler.
fn install_handler(bench: &mut Bench) {
    let handler = handler();
    bench.put_words(1, HANDLER, &handler);
    let set = |register: u8, immediate: u32| -> Command {
        let destination = Reg::new(register);
        Move32 {
            destination,
            immediate,
        }
        .into()
    };
    let pair = Pair::new(66).expect("even");
    let instructions: [Command; 8] = [
        ReqResource {
            fragment: true,
            ..ReqResource::default()
        }
        .into(),
        set(66, HEAP_CONTEXT as u32),
        set(67, 0),
        HeapSet { address: pair }.into(),
        set(66, HANDLER as u32),
        set(67, 0),
        set(68, 8 * handler.len() as u32),
        SetExceptionHandler {
            address: pair,
            length: Reg::new(68),
            ..SetExceptionHandler::default()
        }
        .into(),
    ];
    let words = instructions.map(|it| it.encode(Arch::V10).expect("legal"));
    let (ring, input) = bench.second_stream();
    bench.put_words(1, ring, &words);
    bench.put(0, input, &(8 * words.len() as u64).to_le_bytes());
    let doorbells = bench.shared(group_input(0) + 8);
    bench.shared_write(group_input(0) + 8, doorbells ^ 1 << 1);
    bench.ring_group(0);
}

#[test]
fn a_refused_request_stays_pending_until_a_stream_has_a_handler() {
    const TRIANGLES: u32 = 300;
    let wanted = undisturbed(TRIANGLES);
    let pass = Pass {
        chunk: 0x4000,
        handler: Vec::new(),
        ..pass(TRIANGLES)
    };
    let mut drawing = Drawing::submit(&pass, TRIANGLES);
    while !drawing.asks() {
        drawing.bench.wait(20);
    }
    drawing.answer(Answer::Refusal);
    drawing.bench.wait(20_000);
    assert!(!drawing.is_done(), "it ended without memory");
    let output = stream_output(0);
    let faults = [0x80, 0x84].map(|offset| drawing.bench.shared(output + offset));
    assert_eq!(faults, [0, 0], "{}", drawing.bench.report());
    install_handler(&mut drawing.bench);
    let (exhausted, picture) = drawing.finish(|| Answer::Refusal);
    assert!(exhausted > 1, "{exhausted}");
    assert!(picture == wanted, "another picture");
}

/// An allocation that an injection lets fail is as one of a heap without chunks: what is listed before is rendered.
#[test]
fn a_handler_renders_what_is_listed_before_an_injected_failure() {
    const TRIANGLES: u32 = 100;
    let wanted = undisturbed(TRIANGLES);
    for nth in [1, 2, 40, 90] {
        let pass = Pass {
            chunk: 0xff_f000,
            ..pass(TRIANGLES)
        };
        let mut drawing = Drawing::submit(&pass, TRIANGLES);
        let (injection, aim) = (Injection::TilerOutOfMemory, Aim::NOW.nth(nth));
        drawing.bench.gpu.inject_aimed(injection, aim);
        let (exhausted, picture) = drawing.finish(|| Answer::Refusal);
        assert_eq!(exhausted, 1, "allocation {nth}");
        assert!(picture == wanted, "allocation {nth}: another picture");
    }
}

#[test]
fn a_seed_answers_exhausted_heaps_and_the_picture_is_the_same() {
    let (triangles, chunk) = scene();
    let wanted = undisturbed(triangles);
    let seeds = if eitri_testdata::long() { 20 } else { 5 };
    for seed in 1..=seeds {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let pass = Pass {
            chunk,
            ..pass(triangles)
        };
        let answer = || ANSWERS[numbers.below(3) as usize];
        let (_, picture) = Drawing::submit(&pass, triangles).finish(answer);
        assert!(picture == wanted, "seed {seed}: another picture");
    }
}

/// The jobs that have begun and not ended, by their numbers.
#[derive(Clone, Default)]
struct Begun(Arc<Mutex<Vec<(u64, JobKind)>>>);

impl Begun {
    fn has(&self, kind: JobKind) -> bool {
        let jobs = self.0.lock().expect("nobody panics with it");
        jobs.iter().any(|(_, of)| *of == kind)
    }
}

impl Sink for Begun {
    fn event(&mut self, _: u64, event: Event) {
        let mut jobs = self.0.lock().expect("nobody panics with it");
        match event {
            Event::JobStarted { number, kind, .. } => jobs.push((number, kind)),
            Event::JobEnded { number, .. } => jobs.retain(|(of, _)| *of != number),
            _ => {}
        }
    }

    fn wants_instructions(&self) -> bool {
        false
    }
}

#[test]
fn groups_are_suspended_in_the_middle_of_their_jobs_and_the_picture_is_the_same() {
    const TRIANGLES: u32 = 1000;
    let wanted = undisturbed(TRIANGLES);
    let seeds = if eitri_testdata::long() { 200 } else { 12 };
    let mut suspends = 0;
    // In the middle of tiling, and of fragment work, that of handlers included.
    let mut in_the_middle = [0; 2];
    for seed in 1..=seeds {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let pass = Pass {
            chunk: 0x4000,
            ..pass(TRIANGLES)
        };
        let mut drawing = Drawing::submit(&pass, TRIANGLES);
        let begun = Begun::default();
        drawing.bench.gpu.trace_to(Some(Box::new(begun.clone())));
        while !drawing.is_done() {
            drawing.bench.wait(1 + numbers.below(4));
            // A request that is not answered comes again after the resume.
            if numbers.below(2) == 0 && !drawing.is_done() {
                let kinds = [JobKind::Draw, JobKind::Fragment];
                for (count, kind) in in_the_middle.iter_mut().zip(kinds) {
                    *count += u32::from(begun.has(kind));
                }
                drawing.suspend_and_resume();
                suspends += 1;
                drawing.bench.wait(20);
            }
            if drawing.asks() {
                drawing.answer(ANSWERS[numbers.below(3) as usize]);
            }
        }
        let picture = drawing.picture();
        assert!(picture == wanted, "seed {seed}: another picture");
    }
    assert!(suspends > 2 * seeds, "{suspends} suspends");
    assert!(
        in_the_middle.iter().all(|count| *count >= 10),
        "{in_the_middle:?} suspends in the middle of tiling and of fragment work"
    );
}

#[test]
fn any_number_of_cores_draws_the_same_picture() {
    const TRIANGLES: u32 = 300;
    let wanted = undisturbed(TRIANGLES);
    for cores in [1, 0x4, 0x5, 0x4_0005, 0x5_0005] {
        let pass = Pass {
            cores,
            ..pass(TRIANGLES)
        };
        let (_, picture) = Drawing::submit(&pass, TRIANGLES).finish(|| Answer::Chunk);
        assert!(picture == wanted, "cores {cores:#x}: another picture");
    }
}
