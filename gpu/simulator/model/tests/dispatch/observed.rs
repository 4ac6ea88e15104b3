//! Observed accesses: what who checks memory is told, and which values of memory that nobody wrote decide something.

use super::bench::Bench;
use super::typed::{R32_UINT, uniforms};
use super::{BUFFER, CODE, DONE, Dispatch};
use eitri_model::{
    Config, Decides, Engine, Event, MemoryAct, MemorySort, Nanoseconds, Sink, UndefinedUse,
    WarpAccess, WorkgroupPlace, WorkgroupStep,
};
use std::cell::RefCell;
use std::rc::Rc;

/// What was told.
#[derive(Default)]
struct Told {
    /// Of each message the act, the sort of memory, and the lanes that accessed something.
    messages: Vec<(MemoryAct, MemorySort, usize)>,
    /// Lanes and addresses of all messages.
    accesses: Vec<(u8, u64)>,
    steps: Vec<WorkgroupStep>,
    undefined: Vec<UndefinedUse>,
}

struct Listener(Rc<RefCell<Told>>);

impl Sink for Listener {
    fn event(&mut self, _: Nanoseconds, _: Event) {}

    fn wants_instructions(&self) -> bool {
        false
    }

    fn wants_accesses(&self) -> bool {
        true
    }

    fn workgroup(&mut self, _: WorkgroupPlace, step: WorkgroupStep) {
        self.0.borrow_mut().steps.push(step);
    }

    fn accesses(&mut self, access: &WarpAccess<'_>) {
        let sort = access.own.sort(access.accesses[0].address);
        let message = (access.act, sort, access.accesses.len());
        let mut told = self.0.borrow_mut();
        told.messages.push(message);
        let lanes = access.accesses.iter();
        told.accesses.extend(lanes.map(|it| (it.lane, it.address)));
    }

    fn undefined(&mut self, used: &UndefinedUse) {
        self.0.borrow_mut().undefined.push(*used);
    }
}

/// r2:r3 = address of the thread's word of shared memory, r0:r1 of the buffer.
const SHARED: &str = "
    SHADDX.u64 r0, u0, r60.w0, shift:0x2
    LSHIFT_OR.i32 r4, r60, 0x03020100.b22, 0x0
    IADD.u32 r2, workgroup_local_pointer.w0, r4
    MOV.i32 r3, workgroup_local_pointer.w1
";

fn told_by(engine: Engine, text: &str) -> Told {
    let dispatch = Dispatch {
        workgroup_bytes: 256,
        thread_bytes: 16,
        uniforms: uniforms(&[R32_UINT as u32, 0]),
        ..Dispatch::default()
    };
    let config = Config {
        engine,
        ..Config::default()
    };
    let text = format!("{SHARED}{text}\nNOP.end");
    let mut bench = dispatch.prepare_in(Bench::booted_with(config), &text);
    let told = Rc::new(RefCell::new(Told::default()));
    bench.gpu.trace_to(Some(Box::new(Listener(told.clone()))));
    dispatch.submit(&mut bench);
    bench.drain(0);
    assert_eq!(bench.get64(1, DONE), 1, "{}", bench.report());
    bench.gpu.trace_to(None);
    drop(bench);
    Rc::into_inner(told).map_or_else(Told::default, RefCell::into_inner)
}

/// What is decided by undefined values, each kind once, by each engine.
#[track_caller]
fn check_decided(text: &str, expected: &[Decides]) {
    for engine in [Engine::Interpret, Engine::Simd] {
        let name = format!("{engine:?}");
        let told = told_by(engine, text);
        let mut decided: Vec<Decides> = told.undefined.iter().map(|it| it.decides).collect();
        decided.sort();
        decided.dedup();
        assert_eq!(decided, expected, "{name}: {:x?}", told.undefined);
    }
}

#[test]
fn messages_and_barriers_are_told_with_their_memory() {
    let told = told_by(
        Engine::default(),
        "STORE.i32.slot0 @r60, r2, offset:0
        NOP.wait0
        BARRIER.slot7.wait
        LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
        NOP.wait0
        STORE.i32.slot0.force @r6, thread_local_pointer.w0, offset:4
        ATOM1_RETURN.i32.slot0.ainc @r8, u0, offset:64",
    );
    let expected = [
        (MemoryAct::Write, MemorySort::Shared, 16),
        (MemoryAct::Read, MemorySort::Shared, 16),
        (MemoryAct::Write, MemorySort::Scratch, 16),
        (MemoryAct::Atomic, MemorySort::Global, 16),
    ];
    assert_eq!(told.messages, expected);
    let steps = [
        WorkgroupStep::Begun { entry: CODE },
        WorkgroupStep::Barrier,
        WorkgroupStep::Ended,
    ];
    assert_eq!(told.steps, steps);
}

#[test]
fn each_access_is_told_with_its_lane() {
    // Words by plain messages; the same words by messages that convert them.
    for text in [
        "LOAD.i32.unsigned.slot0 @r4, r0, offset:0",
        "LD_CVT.u32.slot0 @r4, r0, u2, offset:0x0",
        "ST_CVT.u32.slot0 @r60, r0, u2, offset:0x0",
    ] {
        let told = told_by(Engine::default(), text);
        let wanted: Vec<(u8, u64)> = (0..16)
            .map(|lane| (lane, BUFFER + 4 * u64::from(lane)))
            .collect();
        assert_eq!(told.accesses, wanted, "{text}");
    }
}

#[test]
fn shared_memory_that_nobody_wrote_decides_what_is_stored() {
    let text = "
        LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:4
        NOP.wait0
        IADD.u32 r6, r6, r60
        STORE.i32.slot0 @r6, r0, offset:0";
    check_decided(text, &[Decides::Store]);
    let used = &told_by(Engine::default(), text).undefined[0];
    assert_eq!(used.thread, 0);
    assert_eq!((used.load.sort, used.load.offset), (MemorySort::Shared, 4));
    check_decided(
        &format!("STORE.i32.slot1 @r60, r2, offset:4\nNOP.wait1\n{text}"),
        &[],
    );
}

#[test]
fn what_is_masked_or_overwritten_decides_nothing() {
    check_decided(
        "LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
        NOP.wait0
        LSHIFT_AND.i32 r7, r6, 0x0.b00, 0x0
        STORE.i32.slot0 @r7, r0, offset:0
        MOV.i32 r6, r60
        STORE.i32.slot0 @r6, r0, offset:0",
        &[],
    );
}

#[test]
fn what_is_the_same_whatever_memory_held_is_defined() {
    // x ^ x, over two instructions.
    check_decided(
        "LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
        NOP.wait0
        IADD.u32 r7, r6, r60
        ISUB.u32 r7, r7, r6
        STORE.i32.slot0 @r7, r0, offset:0",
        &[],
    );
}

#[test]
fn branches_and_addresses_are_decided() {
    check_decided(
        "LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
        NOP.wait0
        BRANCHZ.reconverge r6, offset:past
        NOP
        past:
        NOP",
        &[Decides::Branch],
    );
    check_decided(
        "LOAD.i8.unsigned.slot0.w0 @r6, r2, offset:0
        NOP.wait0
        IADD.u64 r8, r0, r6.w0
        LOAD.i8.unsigned.slot0.w0 @r10, r8, offset:0
        NOP.wait0",
        &[Decides::Address],
    );
}

#[test]
fn undefined_values_are_followed_through_shared_and_scratch_memory() {
    check_decided(
        "LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
        NOP.wait0
        STORE.i32.slot0 @r6, r2, offset:64
        STORE.i32.slot0.force @r6, thread_local_pointer.w0, offset:4
        NOP.wait0
        LOAD.i32.unsigned.slot0.w0 @r7, r2, offset:64
        NOP.wait0
        BRANCHZ.reconverge r7, offset:past
        NOP
        past:
        LOAD.i32.unsigned.slot0.w0 @r8, thread_local_pointer.w0, offset:4
        NOP.wait0
        STORE.i32.slot0 @r8, r0, offset:0",
        &[Decides::Branch, Decides::Store],
    );
    check_decided(
        "LOAD.i32.unsigned.slot0.w0 @r8, thread_local_pointer.w0, offset:4
        NOP.wait0
        STORE.i32.slot0 @r8, r0, offset:0",
        &[Decides::Store],
    );
}

#[test]
fn an_atomic_on_memory_that_nobody_wrote_leaves_it_undefined() {
    let count = "
        ATOM1_RETURN.i32.slot0.ainc @r6, r2, offset:0
        NOP.wait0
        LOAD.i32.unsigned.slot0.w0 @r7, r2, offset:0
        NOP.wait0
        STORE.i32.slot0 @r7, r0, offset:0";
    check_decided(count, &[Decides::Store]);
    check_decided(
        &format!("MOV.i32 r6, 0x0\nSTORE.i32.slot0 @r6, r2, offset:0\nNOP.wait0{count}"),
        &[],
    );
    let global = "
        LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
        NOP.wait0
        ATOM.i32.slot0.aadd @r6, u0, offset:64
        NOP.wait0";
    check_decided(global, &[Decides::Atomic]);
}

#[test]
fn a_value_of_another_lane_is_undefined_where_it_is_taken() {
    // Only lane 0 has written its word: all may take it, and nobody that of lane 1.
    let text = |lane: &str| {
        format!(
            "BRANCHZ.reconverge r60, offset:past
            STORE.i32.slot0 @r60, r2, offset:0
            NOP.wait0
            NOP.reconverge
            past:
            LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
            NOP.wait0
            CLPER.i32.subgroup16 r6, r6, {lane}
            STORE.i32.slot0 @r6, r0, offset:0"
        )
    };
    check_decided(&text("0x0.b0"), &[]);
    check_decided(&text("0x01000000.b3"), &[Decides::Store]);
}
