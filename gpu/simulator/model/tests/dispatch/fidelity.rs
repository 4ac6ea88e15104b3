//! Values that are not exact: which instructions they come from, and what they reach.
//!
//! Facts: hardware/valhall-isa.md 8.5, 9 and 17, whose tags say what is established.

use super::bench::Bench;
use super::{Dispatch, program};
use eitri_model::{Config, Inexact, Reached};

/// Runs a program and says what each row that it met has reached.
#[track_caller]
fn met(text: &str) -> Vec<(Inexact, Reached)> {
    let config = Config {
        fidelity: true,
        ..Config::default()
    };
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare_in(Bench::booted_with(config), &program(text));
    dispatch.submit(&mut bench);
    bench.drain(0);
    bench.expect_no_diagnoses();
    let met = bench.gpu.fidelity().met();
    // What firmware and registers rest on is not the program's.
    let met = met.filter(|(_, met)| met.first.is_some());
    met.map(|(one, met)| (one, met.reached)).collect()
}

/// A reciprocal of the lane's number, in r4.
const RECIPROCAL: &str = "
    U32_TO_F32 r4, r60
    FRCP.f32 r4, r4
";

#[test]
fn what_is_computed_exactly_meets_nothing() {
    let text = "
        IADD_IMM.i32 r4, r60, #3
        U32_TO_F32 r4, r4
        FADD.f32 r4, r4, r4
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end";
    assert_eq!(met(text), []);
}

#[test]
fn a_reciprocal_reaches_the_memory_that_it_is_stored_to() {
    let text = format!("{RECIPROCAL} STORE.i32.slot0 @r4, r0, offset:0\nNOP.end");
    let memory = Reached {
        memory: true,
        ..Reached::default()
    };
    assert_eq!(met(&text), [(Inexact::ReciprocalAccuracy, memory)]);
}

#[test]
fn a_value_that_is_overwritten_reaches_nothing() {
    let text = format!(
        "{RECIPROCAL}
        IADD_IMM.i32 r4, r60, #3
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end"
    );
    let nothing = Reached::default();
    assert_eq!(met(&text), [(Inexact::ReciprocalAccuracy, nothing)]);
}

#[test]
fn a_value_is_followed_through_memory_to_a_branch_and_to_an_address() {
    let text = format!(
        "{RECIPROCAL}
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.wait0
        LOAD.i32.unsigned.slot0.w0 @r6, r0, offset:0
        NOP.wait0
        LSHIFT_AND.i32 r6, r6, 0x0.b00, 0x0
        BRANCHZ.reconverge r6, offset:past
        NOP
        past:
        IADD.u64 r8, r0, r6.w0
        LOAD.i32.unsigned.slot0.w0 @r10, r8, offset:0
        NOP.wait0
        NOP.end"
    );
    let reached = Reached {
        branch: true,
        address: true,
        memory: true,
        ..Reached::default()
    };
    assert_eq!(met(&text), [(Inexact::ReciprocalAccuracy, reached)]);
}

#[test]
fn the_order_of_lanes_in_an_atomic_reaches_what_is_made_of_its_result() {
    let text = "
        ATOM1_RETURN.i32.slot0.ainc @r6, u0, offset:64
        NOP.wait0
        STORE.i32.slot0 @r6, r0, offset:0
        NOP.end";
    let memory = Reached {
        memory: true,
        ..Reached::default()
    };
    assert_eq!(met(text), [(Inexact::LaneOrder, memory)]);
}

#[test]
fn times_are_those_of_the_cost_model() {
    let text = "
        LD_GCLK.u64.slot0.cycle_counter @r4:r5
        NOP.wait0
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end";
    let met = met(text);
    assert_eq!(met.len(), 1, "{met:?}");
    assert_eq!(met[0].0, Inexact::Clocks);
    assert!(met[0].1.memory);
}
