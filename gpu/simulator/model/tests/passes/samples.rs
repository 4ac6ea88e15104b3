//! Programs that run for each sample.

use super::{BUFFER, CLEAR, Pass, Rectangle, SAMPLE_POSITIONS, STORE, pixels};
use eitri_descriptors::raster::DcdFlags0;

/// Stores what the table of sample positions holds for the sample: u3 is 31.
const POSITION: &str = "
    RSHIFT_AND.i32 r0, r61, 0x13121110.b00, u3
    LSHIFT_OR.i32 r4, r0, 0x3020100.b22, 0x0
    MOV.i32 r5, 0x0
    MOV.i32 r2, sample.w0
    MOV.i32 r3, sample.w1
    SHADDX.s64 r2, r2, r4, shift:0x0
    LOAD.i32.unsigned.slot0.wait0 @r0, r2, offset:0
    OUTPUT";

/// A rectangle over a target of four samples, each of which the program sees or all at once.
fn drawn(per_sample: bool) -> super::Drawn {
    let usual = Rectangle::default();
    let [mode, format] = STORE;
    let pass = Pass {
        samples: 4,
        uniforms: vec![mode, format, 0, 31],
        draws: vec![Rectangle {
            program: POSITION,
            flags: DcdFlags0 {
                evaluate_per_sample: per_sample,
                ..usual.flags
            },
            scissor: [[1, 1], [14, 14]],
            ..usual
        }],
        ..Pass::default()
    };
    // Not the standard positions: what is read is memory.
    pass.run_with(|bench| {
        for sample in 0..4_u32 {
            let entry = 0x0101_0000 * (sample + 1) + 7;
            let address = SAMPLE_POSITIONS + 4 * u64::from(sample);
            bench.put(1, address, &entry.to_le_bytes());
        }
    })
}

#[test]
fn each_sample_has_a_run_that_knows_its_number() {
    let mut drawn = drawn(true);
    for [x, y] in pixels() {
        let inside = (1..=14).contains(&x) && (1..=14).contains(&y);
        for sample in 0..4 {
            let position = 0x0101_0000 * (sample + 1) + 7;
            let wanted = if inside { position } else { CLEAR };
            assert_eq!(
                drawn.colour([x, y], sample, 0),
                wanted,
                "({x}, {y}) {sample}"
            );
        }
    }
}

#[test]
fn one_run_for_all_samples_is_sample_0() {
    let mut drawn = drawn(false);
    for sample in 0..4 {
        assert_eq!(
            drawn.colour([7, 7], sample, 0),
            0x0101_0007,
            "sample {sample}"
        );
    }
}

#[test]
fn a_program_runs_once_for_each_covered_sample() {
    // Adds 1 to the first word of the buffer.
    const COUNT: &str = "
        IADD_IMM.i32 r4, 0x0, #0x1
        ATOM.i32.slot0.aadd @r4, u4, offset:0
        IADD_IMM.i32 r0, 0x0, #0x9
        OUTPUT";
    let usual = Rectangle::default();
    let [mode, format] = STORE;
    for (per_sample, runs) in [(true, 4), (false, 1)] {
        let pass = Pass {
            samples: 4,
            uniforms: vec![mode, format, 0, 0, BUFFER as u32, 0],
            draws: vec![Rectangle {
                program: COUNT,
                flags: DcdFlags0 {
                    evaluate_per_sample: per_sample,
                    ..usual.flags
                },
                scissor: [[1, 1], [14, 14]],
                ..usual.clone()
            }],
            ..Pass::default()
        };
        let mut drawn = pass.run();
        let counted = drawn.bench.get32(1, BUFFER);
        assert_eq!(counted, 14 * 14 * runs, "for each sample: {per_sample}");
    }
}
