//! Jobs that nothing orders overlap, where that is asked for: a missing wait between two that depend on each other shows.
//!
//! Facts: hardware/command-stream.md 1.6 (4).

use super::{BUFFER, Bench, DONE, Dispatch};
use eitri_model::Config;

/// Adds one to the first word of the buffer, as code does that is alone there.
const INCREMENT: &str = "
    MOV.i32 r0, u0
    MOV.i32 r1, u1
    LOAD.i32.unsigned.slot0.wait0 @r4, r0, offset:0
    IADD_IMM.i32 r4, r4, #0x1
    STORE.i32.slot0.wait0 @r4, r0, offset:0
    NOP.end";

const JOBS: usize = 8;

/// What the word is after so many jobs.
#[track_caller]
fn run(overlap: Option<u64>, waits: bool) -> u32 {
    let dispatch = Dispatch {
        size: [1, 1, 1],
        ..Dispatch::default()
    };
    let bench = Bench::booted_with(Config {
        overlap,
        ..Config::default()
    });
    let mut bench = dispatch.prepare_in(bench, INCREMENT);
    dispatch.submit_times(&mut bench, JOBS, waits);
    bench.drain(0);
    assert_eq!(bench.get64(1, DONE), 1, "\n{}", bench.report());
    bench.expect_no_diagnoses();
    bench.get32(1, BUFFER)
}

#[test]
fn jobs_that_depend_on_each_other_and_do_not_wait_lose_what_others_wrote() {
    assert_eq!(run(None, false), JOBS as u32, "one after the other");
    let sums: Vec<u32> = (0..8).map(|seed| run(Some(seed), false)).collect();
    let wrong = sums.iter().filter(|sum| **sum < JOBS as u32).count();
    assert!(wrong >= 6, "most seeds show it: {sums:?}");
}

#[test]
fn jobs_that_wait_for_each_other_are_right_in_any_case() {
    for seed in 0..8 {
        assert_eq!(run(Some(seed), true), JOBS as u32, "seed {seed}");
    }
}

#[test]
fn a_seed_gives_the_same_each_time() {
    let sums = [0; 4].map(|_| run(Some(3), false));
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
}
