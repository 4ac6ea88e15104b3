//! How long jobs take: expected cycles follow from the program and the rates of the units.
//!
//! Facts: hardware/compiler-optimization.md 3.

use super::bench::counting::total;
use super::counters::counted;
use super::{Dispatch, program};
use std::fmt::Write;

/// Cycles for which a job of these many workgroups of 256 threads was on the GPU.
#[track_caller]
fn cycles(gpu: &str, groups: u32, text: &str) -> f64 {
    of_size(gpu, [256, groups], text)
}

#[track_caller]
fn of_size(gpu: &str, [threads, groups]: [u32; 2], text: &str) -> f64 {
    let dispatch = Dispatch {
        size: [threads, 1, 1],
        groups: [groups, 1, 1],
        ..Dispatch::default()
    };
    let mut bench = counted(&dispatch, gpu, text);
    total(&mut bench, 0, "ITER_COMP_ACTIVE").into()
}

/// A program with so many of an instruction.
fn times(count: usize, line: &str) -> String {
    let mut text = String::new();
    for _ in 0..count {
        writeln!(text, "{line}").expect("strings grow");
    }
    text + "NOP.end"
}

/// What an instruction of a warp adds, in cycles of one core of a G610 that is full of warps.
#[track_caller]
fn cost(line: &str) -> f64 {
    let groups = 64;
    let spent = |count| cycles("G610", groups, &times(count, line));
    let warps = f64::from(groups * 256 / 16);
    let more = 200;
    4.0 * (spent(more + 8) - spent(8)) / (more as f64 * warps)
}

#[track_caller]
fn close(got: f64, expected: f64) {
    assert!(
        (got / expected - 1.0).abs() < 0.05,
        "{got} cycles, and not about {expected}"
    );
}

#[test]
fn arithmetic_goes_at_the_rate_of_its_unit() {
    // Four warps a cycle: 64 lanes.
    close(cost("FMA.f32 r4, r5, r6, r7"), 0.25);
    // Twice the operations at the same rate.
    close(cost("FMA.v2f16 r4, r5, r6, r7"), 0.25);
    close(cost("IADD.u32 r4, r5, r6"), 0.25);
    // One warp a cycle.
    close(cost("IMUL.i32 r4, r5, r6"), 1.0);
    // FMA and CVT share what is issued.
    close(cost("FMA.f32 r4, r5, r6, r7\nIADD.u32 r8, r5, r6"), 0.5);
    // A multiplication with an addition, as of integers: the addition is free beside it.
    close(cost("IMUL.i32 r4, r5, r6\nIADD.u32 r8, r5, r6"), 1.0);
}

#[test]
fn peaks_are_those_of_the_documented_rates() {
    // Operations a cycle of the four cores of a G610, a multiply-add being two; at 1 GHz they are billions a second.
    let peak = |line: &str, operations: f64| 4.0 * 16.0 * operations / cost(line);
    close(peak("FMA.f32 r4, r5, r6, r7", 2.0), 512.0);
    close(peak("FMA.v2f16 r4, r5, r6, r7", 4.0), 1024.0);
    close(peak("IMUL.i32 r4, r5, r6\nIADD.u32 r8, r4, r6", 2.0), 128.0);
}

#[test]
fn more_cores_are_faster() {
    let text = |count| times(count, "FMA.f32 r4, r5, r6, r7");
    // Less what a job takes at least: cores are powered on first.
    let spent = |gpu| cycles(gpu, 192, &text(208)) - cycles(gpu, 192, &text(8));
    let [one, four, twelve] = ["G310", "G610", "G925"].map(spent);
    close(one / four, 4.0);
    // A core of v13 multiplies and adds with twice the lanes.
    close(one / twelve, 24.0);
}

#[test]
fn a_warp_alone_waits_for_itself() {
    let spent = |count| of_size("G610", [16, 1], &times(count, "FMA.f32 r4, r5, r6, r4"));
    close((spent(408) - spent(8)) / 400.0, 4.0);
    // Another on the same core goes on meanwhile.
    let spent = |count| of_size("G610", [32, 1], &times(count, "FMA.f32 r4, r5, r6, r4"));
    close((spent(408) - spent(8)) / 400.0, 4.0);
}

#[test]
fn a_message_takes_a_cycle_for_each_line_that_it_touches() {
    let spent = |stride: u32, count: usize| {
        let address = format!("SHADDX.u64 r0, u0, r60.w0, shift:0x{stride}\n");
        let text = address + &times(count, "LOAD.i32.unsigned.slot0 @r4, r0, offset:0");
        cycles("G310", 16, &text)
    };
    let cost = |stride| (spent(stride, 108) - spent(stride, 8)) / (100.0 * 256.0);
    // Words side by side are one line, words 64 bytes apart sixteen.
    close(cost(2), 1.0);
    close(cost(3), 2.0);
    close(cost(6), 16.0);
}

#[test]
fn memory_moves_as_much_as_it_can() {
    // Each thread stores a word in a line of its own: a line comes, and leaves when the job is flushed.
    let text = program(
        "SHADDX.u64 r0, u0, r60.w0, shift:0x6\nSTORE.i32.slot0 @r60, r0, offset:0\nNOP.end",
    );
    let spent = cycles("G610", 64, &text) - cycles("G610", 8, &text);
    close(spent, 56.0 * 256.0 * 64.0 / 27.0);
}
