//! Faults of fragments: who failed, and where.

use super::bench::stream_output;
use super::{DONE, Pass, Rectangle, STORE};
use eitri_descriptors::Arch;
use eitri_model::{Aim, GraphicsUnit, Injection};

/// Loads from an address that nothing maps.
const STRAY: &str = "
    MOV.i32 r4, 0x0
    MOV.i32 r5, 0x0
    LOAD.i32.unsigned.slot0.wait0 @r0, r4, offset:0
    OUTPUT";

#[test]
fn a_fault_of_a_fragment_is_noted_with_its_draw_primitive_and_pixel() {
    let innocent = Rectangle {
        scissor: [[0, 0], [3, 3]],
        ..Rectangle::default()
    };
    let stray = Rectangle {
        program: STRAY,
        scissor: [[8, 4], [11, 7]],
        ..Rectangle::default()
    };
    let pass = Pass {
        draws: vec![innocent, stray],
        ..Pass::default()
    };
    let mut bench = pass.submitted(|_| {});
    bench.wait(1_000_000);
    let notes = bench.notes();
    let place = notes.split("fails for ").nth(1).unwrap_or_default();
    assert!(
        place.starts_with("pixel (8, 4) of primitive 0 of the draw at 0x"),
        "{notes}"
    );
}

#[test]
fn a_draw_of_another_generation_is_told() {
    for (gpu, described, part) in [
        ("G610", Arch::V12, "the field FAU of the descriptor"),
        ("G615", Arch::V13, "the field FAU of the descriptor"),
        ("G720", Arch::V10, "beyond the uniforms of the job"),
        ("G925", Arch::V11, "beyond the uniforms of the job"),
    ] {
        let pass = Pass {
            gpu,
            described: Some(described),
            uniforms: STORE.to_vec(),
            draws: vec![Rectangle {
                program: "IADD_IMM.i32 r0, 0x0, #0x9\nOUTPUT",
                ..Rectangle::default()
            }],
            ..Pass::default()
        };
        let mut bench = pass.submitted(|_| {});
        bench.wait(3000);
        bench.expect_diagnosis(part);
    }
}

#[test]
fn a_rectangle_fails_at_each_layer_that_it_is_entered_in() {
    const LAYERS: u32 = 3;
    let pass = Pass {
        layers: LAYERS,
        uniforms: STORE.to_vec(),
        draws: vec![Rectangle {
            program: "IADD_IMM.i32 r0, 0x0, #0x9\nOUTPUT",
            layers: 0b111,
            ..Rectangle::default()
        }],
        ..Pass::default()
    };
    let unit = GraphicsUnit::Tiler;
    for (injection, exception, last) in [
        (Injection::UnitFault { unit }, 0x5A, LAYERS),
        // Steps of the tiles follow.
        (Injection::DrawStepFault { exception: 0x59 }, 0x59, u32::MAX),
    ] {
        for nth in 1..=LAYERS + 1 {
            let mut bench = pass.submitted(|_| {});
            bench.gpu.inject_aimed(injection, Aim::NOW.nth(nth));
            bench.wait(2000);
            let reported = bench.shared(stream_output(0) + 0x80) & 0xff;
            let strikes = nth <= last;
            assert_eq!(reported == exception, strikes, "{injection:?} {nth}");
            assert_eq!(bench.get64(1, DONE) == 1, !strikes, "{injection:?} {nth}");
        }
    }
}
