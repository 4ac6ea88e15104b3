//! What is refused because the facts do not say what hardware does: each with a diagnosis that names it.

use super::bench::{Bench, stream_output};
use super::{DRAWS, FRAMEBUFFER, Pass, Rectangle, STORE, Vertices};

const DATA_INVALID_FAULT: u32 = 0x58;
const CS_INSTR_INVALID: u32 = 0x49;

#[test]
fn topologies_without_rules_are_named() {
    // Three kinds of lines and triangles with neighbours, polygons, quads.
    for mode in [3, 5, 9, 11, 13, 14] {
        for gpu in ["G610", "G615", "G720", "G925"] {
            let pass = Pass {
                gpu,
                uniforms: STORE.to_vec(),
                draws: vec![Rectangle {
                    vertices: Some(Vertices {
                        mode,
                        count: 6,
                        program: "NOP.end",
                        size: 1.0,
                        flags: 0,
                        indices: None,
                        varying_bytes: 0,
                    }),
                    program: "IADD_IMM.i32 r0, 0x0, #0x9\nOUTPUT",
                    layers: 0,
                    ..Rectangle::default()
                }],
                ..Pass::default()
            };
            let mut bench = pass.submitted(|_| {});
            bench.poll_shared(stream_output(0) + 0x80, 0xff, DATA_INVALID_FAULT);
            bench.expect_diagnosis(&format!("draw mode {mode} is known but not modelled"));
        }
    }
}

/// Runs a pass with one bit of its framebuffer set, and expects its fault and a diagnosis.
#[track_caller]
fn check_framebuffer(word: u64, bits: u32, told: &str) {
    let mut bench = Pass::default().submitted(|bench: &mut Bench| {
        let address = FRAMEBUFFER + 4 * word;
        let changed = bench.get32(1, address) | bits;
        bench.put(1, address, &changed.to_le_bytes());
    });
    bench.poll_shared(stream_output(0) + 0x80, 0xff, DATA_INVALID_FAULT);
    bench.expect_diagnosis(told);
}

#[test]
fn targets_of_ycbcr_and_of_fixed_rate_compression_are_named() {
    check_framebuffer(
        48,
        1 << 24,
        "the field YUV Enable (targets of YCbCr are not modelled) of the descriptor",
    );
    check_framebuffer(
        48,
        6,
        "the field Writeback Mode (AFRC is not modelled) of the descriptor",
    );
}

#[test]
fn a_tile_enable_map_is_named() {
    let bench = Pass::default().submitted_with(|words| {
        let fragment = words.iter_mut().find(|word| **word >> 56 == 7);
        *fragment.expect("RUN_FRAGMENT") |= 1;
    });
    check_refused(
        bench,
        "a pass with a tile enable map is known but not modelled",
    );
}

#[test]
fn tiling_of_positions_that_were_shaded_before_is_named() {
    let bench = Pass::default().submitted_with(|words| {
        let fragment = words.iter_mut().find(|word| **word >> 56 == 7);
        *fragment.expect("RUN_FRAGMENT") = 5 << 56;
    });
    check_refused(bench, "RUN_TILING is known but not modelled");
}

#[test]
fn fullscreen_draws_whose_descriptor_is_not_aligned_are_named() {
    let pass = Pass {
        uniforms: STORE.to_vec(),
        draws: vec![Rectangle {
            program: "IADD_IMM.i32 r0, 0x0, #0x9\nOUTPUT",
            ..Rectangle::default()
        }],
        ..Pass::default()
    };
    let moved = |words: &mut Vec<u64>| {
        // The move of the descriptor's address.
        let place = words.iter().position(|word| word << 32 >> 32 == DRAWS);
        words[place.expect("the address is moved to a register")] += 32;
    };
    let mut bench = pass.submitted_filled(|_| {}, moved);
    bench.poll_shared(stream_output(0) + 0x80, 0xff, DATA_INVALID_FAULT);
    bench.expect_diagnosis(&format!(
        "the descriptor at {:#x} is not aligned to 64",
        DRAWS + 32
    ));
}

#[test]
fn fullscreen_draws_have_as_many_uniforms_as_they_say() {
    for gpu in ["G610", "G720", "G925"] {
        for (uniform, there) in [(3, true), (4, false)] {
            let program: &'static str = match there {
                true => "MOV.i32 r0, u3\nOUTPUT",
                false => "MOV.i32 r0, u4\nOUTPUT",
            };
            let pass = Pass {
                gpu,
                uniforms: [&STORE[..], &[0, 0]].concat(),
                draws: vec![Rectangle {
                    program,
                    ..Rectangle::default()
                }],
                ..Pass::default()
            };
            let mut bench = pass.submitted(|_| {});
            bench.drain(0);
            let told = bench.report();
            let refused = told.contains("uniform word 4 lies beyond the uniforms of the job");
            assert_eq!(refused, !there, "{gpu}, u{uniform}: {told}");
        }
    }
}

#[track_caller]
fn check_refused(mut bench: Bench, told: &str) {
    bench.poll_shared(stream_output(0) + 0x84, 0xff, CS_INSTR_INVALID);
    bench.expect_diagnosis(told);
}
