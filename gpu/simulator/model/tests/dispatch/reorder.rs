//! Messages to memory come late, and turns are drawn, where that is asked for: a missing wait or barrier shows.
//!
//! Facts: hardware/valhall-isa.md 6; memory-model.md 4.

use super::{BUFFER, Bench, DONE, Dispatch};
use eitri_csf::registers::address_space as aspace;
use eitri_model::{Config, Engine};

/// Seeds that a test draws orders from.
const SEEDS: std::ops::Range<u64> = 0..64;

fn bench(seed: u64) -> Bench {
    Bench::booted_with(Config {
        reorder: Some(seed),
        ..Config::default()
    })
}

/// The first `count` words of the buffer after the job.
#[track_caller]
fn words(bench: Bench, dispatch: &Dispatch, text: &str, count: u64) -> Vec<u32> {
    let mut bench = dispatch.prepare_in(bench, text);
    dispatch.submit(&mut bench);
    bench.drain(0);
    assert_eq!(bench.get64(1, DONE), 1, "\n{}", bench.report());
    bench.expect_no_diagnoses();
    (0..count)
        .map(|index| bench.get32(1, BUFFER + 4 * index))
        .collect()
}

/// What comes out for each seed, each result once.
#[track_caller]
fn outcomes(dispatch: &Dispatch, text: &str, count: u64) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = SEEDS
        .map(|seed| words(bench(seed), dispatch, text, count))
        .collect();
    all.sort();
    all.dedup();
    all
}

fn one_thread() -> Dispatch {
    Dispatch {
        size: [1, 1, 1],
        ..Dispatch::default()
    }
}

/// Stores 7 to the first word and loads it again. `wait` is behind the store.
fn store_and_load(wait: &str) -> String {
    format!(
        "MOV.i32 r4, 0x0
        IADD_IMM.i32 r4, r4, #0x7
        STORE.i32.slot0{wait} @r4, u0, offset:0
        LOAD.i32.unsigned.slot1.wait1 @r5, u0, offset:0
        STORE.i32.slot2 @r5, u0, offset:4
        NOP.end"
    )
}

#[test]
fn a_load_passes_a_store_that_was_not_waited_for() {
    let all = outcomes(&one_thread(), &store_and_load(""), 2);
    assert_eq!(all, [[7, 0], [7, 7]]);
    let all = outcomes(&one_thread(), &store_and_load(".wait0"), 2);
    assert_eq!(all, [[7, 7]]);
}

#[test]
fn a_wait_for_another_slot_leaves_a_store_where_it_was() {
    let text = |wait: &str| {
        format!(
            "IADD_IMM.i32 r4, 0x0, #7
            STORE.i32.slot0 @r4, u0, offset:0
            LOAD.i32.unsigned.slot1.{wait} @r5, u0, offset:256
            LOAD.i32.unsigned.slot2.wait2 @r5, u0, offset:0
            STORE.i32.slot2 @r5, u0, offset:4
            NOP.end"
        )
    };
    assert_eq!(outcomes(&one_thread(), &text("wait1"), 2), [[7, 0], [7, 7]]);
    assert_eq!(outcomes(&one_thread(), &text("wait01"), 2), [[7, 7]]);
}

#[test]
fn stores_of_one_slot_have_no_order() {
    let text = |wait: &str| {
        format!(
            "MOV.i32 r4, 0x0
            IADD_IMM.i32 r4, r4, #0x1
            IADD_IMM.i32 r5, r4, #0x1
            STORE.i32.slot0{wait} @r4, u0, offset:0
            STORE.i32.slot0 @r5, u0, offset:0
            NOP.end"
        )
    };
    assert_eq!(outcomes(&one_thread(), &text(""), 1), [[1], [2]]);
    assert_eq!(outcomes(&one_thread(), &text(".wait0"), 1), [[2]]);
}

#[test]
fn staging_registers_are_those_of_the_time_of_sending() {
    let text = "
        MOV.i32 r4, 0x0
        IADD_IMM.i32 r4, r4, #0x1
        STORE.i32.slot0 @r4, u0, offset:0
        IADD_IMM.i32 r4, r4, #0x1
        STORE.i32.slot1 @r4, u0, offset:4
        MOV.i32 r4, 0x0
        NOP.end";
    assert_eq!(outcomes(&one_thread(), text, 2), [[1, 2]]);
}

/// Workgroup 0 writes data, then a flag; workgroup 1 reads the flag, then the data, and keeps both. `writer` and `reader` are behind the
/// first access of each.
fn passing(writer: &str, reader: &str) -> String {
    format!(
        "BRANCHZ.eq.reconverge r57, offset:writes
        NOP
        NOP
        NOP
        NOP
        LOAD.i32.unsigned.slot0{reader} @r4, u0, offset:4
        LOAD.i32.unsigned.slot1.wait01 @r5, u0, offset:0
        STORE.i32.slot0 @r4, u0, offset:8
        STORE.i32.slot1 @r5, u0, offset:12
        NOP.end
        writes:
        MOV.i32 r4, 0x0
        IADD_IMM.i32 r4, r4, #0x1
        STORE.i32.slot0{writer} @r4, u0, offset:0
        STORE.i32.slot1 @r4, u0, offset:4
        NOP.end"
    )
}

#[test]
fn a_flag_passes_its_data_where_either_side_does_not_wait() {
    let dispatch = Dispatch {
        groups: [2, 1, 1],
        ..one_thread()
    };
    // A seed of a hundred shows it, or fewer.
    let passed = |writer, reader| {
        let text = passing(writer, reader);
        (0..2048).any(|seed| words(bench(seed), &dispatch, &text, 4) == [1, 1, 1, 0])
    };
    assert!(passed("", ""));
    assert!(passed("", ".wait0"));
    assert!(passed(".wait0", ""));
    let all = outcomes(&dispatch, &passing(".wait0", ".wait0"), 4);
    // All that may be seen is seen: nothing, the data alone, both.
    assert_eq!(all, [[1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1]]);
}

#[test]
fn warps_of_a_workgroup_meet_with_what_they_have_waited_for() {
    // Each thread writes its number, and reads that of the last.
    let text = |wait: &str| {
        format!(
            "SHADDX.u64 r0, u0, r60.w0, shift:0x2
            STORE.i32.slot0{wait} @r60, r0, offset:0
            BARRIER.slot7.wait
            LOAD.i32.unsigned.slot0.wait0 @r5, u2, offset:0
            STORE.i32.slot0 @r5, r0, offset:128
            NOP.end"
        )
    };
    let dispatch = Dispatch {
        size: [32, 1, 1],
        uniforms: vec![BUFFER as u32, 0, BUFFER as u32 + 4 * 31, 0],
        ..Dispatch::default()
    };
    let all = outcomes(&dispatch, &text(".wait0"), 64);
    let expected: Vec<u32> = (0..32).chain([31; 32]).collect();
    assert_eq!(all, [expected]);
}

#[test]
fn lanes_that_go_apart_end_with_what_they_have_sent() {
    let dispatch = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 1, 0],
        ..Dispatch::default()
    };
    let text = "
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        STORE.i32.slot0 @r60, r0, offset:0
        LSHIFT_AND.i32 r10, r60, 0x0.b00, u2
        BRANCHZ.eq.reconverge r10, offset:even
        NOP.end
        even:
        STORE.i32.slot1 @r60, r0, offset:64
        NOP.end";
    let even = |lane: u32| if lane.is_multiple_of(2) { lane } else { 0 };
    let expected: Vec<u32> = (0..16).chain((0..16).map(even)).collect();
    assert_eq!(outcomes(&dispatch, text, 32), [expected]);
}

#[test]
fn a_late_result_is_that_of_the_lanes_that_asked_for_it() {
    let dispatch = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 1, 0],
        ..Dispatch::default()
    };
    // Odd lanes load a word that nobody has written; even ones take 9 meanwhile.
    let text = "
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        IADD_IMM.i32 r4, 0x0, #7
        LSHIFT_AND.i32 r10, r60, 0x0.b00, u2
        BRANCHZ.eq.reconverge r10, offset:even
        LOAD.i32.unsigned.slot0 @r4, u0, offset:256
        BRANCHZ.eq.reconverge 0x0, offset:join
        even:
        IADD_IMM.i32.reconverge r4, 0x0, #9
        join:
        NOP.wait0
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end";
    let of = |lane: u32| if lane.is_multiple_of(2) { 9 } else { 0 };
    let expected: Vec<u32> = (0..16).map(of).collect();
    assert_eq!(outcomes(&dispatch, text, 16), [expected]);
}

#[test]
fn atomics_of_all_threads_are_counted_once() {
    let dispatch = Dispatch {
        size: [64, 1, 1],
        groups: [4, 1, 1],
        ..Dispatch::default()
    };
    let text = "
        ATOM1_RETURN.i32.slot0.ainc @r4, u0, offset:0
        ATOM1_RETURN.i32.slot1.ainc @r5, u0, offset:0
        NOP.end";
    assert_eq!(outcomes(&dispatch, text, 1), [[512]]);
}

#[test]
fn a_message_that_fails_late_is_named() {
    let text = "
        STORE.i32.slot0 @r60, u2, offset:0
        NOP
        NOP
        NOP.wait0
        NOP.end";
    let dispatch = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 0x7000_0000, 0],
        ..one_thread()
    };
    for seed in SEEDS {
        let mut bench = dispatch.prepare_in(bench(seed), text);
        dispatch.submit(&mut bench);
        bench.wait(1000);
        assert_ne!(bench.get64(1, DONE), 1, "seed {seed}");
        let address = bench.read64(aspace::AS_FAULTADDRESS.at(1));
        assert_eq!(address, 0x7000_0000, "seed {seed}: {}", bench.report());
    }
}

#[test]
fn a_register_that_is_read_before_its_wait_has_its_old_value_for_some_seeds() {
    let text = "
        MOV.i32 r4, 0x0
        LOAD.i32.unsigned.slot0 @r4, u0, offset:0
        MOV.i32 r5, r4
        NOP.wait0
        STORE.i32.slot0 @r5, u0, offset:4
        NOP.end";
    let mut seen = Vec::new();
    for seed in SEEDS {
        let dispatch = one_thread();
        let mut bench = dispatch.prepare_in(bench(seed), text);
        bench.put_words(1, BUFFER, &[9]);
        dispatch.submit(&mut bench);
        bench.drain(0);
        seen.push(bench.get32(1, BUFFER + 4));
        bench.expect_diagnosis("r4 is read before the message on slot 0");
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [0, 9]);
}

#[test]
fn a_seed_gives_the_same_by_each_engine() {
    let dispatch = Dispatch {
        groups: [2, 1, 1],
        ..one_thread()
    };
    for seed in SEEDS {
        let by = |engine: Engine| {
            let bench = Bench::booted_with(Config {
                reorder: Some(seed),
                engine,
                ..Config::default()
            });
            words(bench, &dispatch, &passing("", ""), 4)
        };
        assert_eq!(by(Engine::Interpret), by(Engine::Simd), "seed {seed}");
    }
}
