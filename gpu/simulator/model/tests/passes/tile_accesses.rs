//! Programs that write the tile by ST_TILE: samples, pixels and targets that they name.
//!
//! Facts: hardware/graphics-model.md 4.5; valhall-isa.md 11.8.

use super::{CLEAR, Other, Pass, Rectangle, STORE, pixels};
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat};

/// Stores 9 to the sample and target that u3 names, of the own pixel, with coverage 0xffff.
const STORES: &str = "
    IADD_IMM.i32 r4, 0x0, #0x9
    MOV.i32 r5, 0x0
    MOV.i32 r6, 0x0
    MOV.i32 r7, 0x0
    MOV.i32 r0, u3
    NOP.wait
    ST_TILE.v4.u32.slot0.wait0 @r4:r5:r6:r7, r0, r60, u1
    NOP.end";

const GENERATIONS: [&str; 4] = ["G610", "G615", "G720", "G925"];
/// The own pixel, and all samples.
const OWN: u32 = 0xff << 24;
const ALL_SAMPLES: u32 = 0xff;

fn pass(gpu: &'static str, samples: u32, names: u32) -> Pass {
    let [store, format] = STORE;
    Pass {
        gpu,
        samples,
        uniforms: vec![store, format, 0, names],
        draws: vec![Rectangle {
            program: STORES,
            scissor: [[3, 2], [9, 12]],
            targets: 0b11,
            ..Rectangle::default()
        }],
        ..Pass::default()
    }
}

fn is_inside([x, y]: [u32; 2]) -> bool {
    (3..=9).contains(&x) && (2..=12).contains(&y)
}

#[test]
fn the_named_sample_is_stored_or_all() {
    for gpu in GENERATIONS {
        for sample in [0, 2, 3, ALL_SAMPLES] {
            let mut drawn = pass(gpu, 4, OWN | sample).run();
            for pixel in pixels() {
                let found = [0, 1, 2, 3].map(|of| drawn.colour(pixel, of, 0));
                let wanted = [0, 1, 2, 3].map(|of| {
                    let named = sample == ALL_SAMPLES || sample == of;
                    if is_inside(pixel) && named { 9 } else { CLEAR }
                });
                assert_eq!(found, wanted, "{gpu}, sample {sample}, {pixel:?}");
            }
        }
    }
}

#[test]
fn the_named_target_is_stored() {
    for gpu in GENERATIONS {
        let other = Other {
            internal: ColorBufferInternalFormat::RAW32,
            format: ColorFormat::RAW32,
            bytes: 4,
            clear: [5; 4],
        };
        let pass = Pass {
            others: vec![other],
            ..pass(gpu, 1, OWN | 1 << 8)
        };
        let mut drawn = pass.run();
        for [x, y] in pixels() {
            let at = Other::address(0) + u64::from(64 * y + 4 * x);
            let wanted = if is_inside([x, y]) { 9 } else { 5 };
            assert_eq!(drawn.bench.get32(1, at), wanted, "{gpu}, ({x}, {y})");
            assert_eq!(drawn.colour([x, y], 0, 0), CLEAR, "{gpu}, ({x}, {y})");
        }
    }
}

#[test]
fn a_target_that_is_not_there_is_told() {
    let mut bench = pass("G610", 1, OWN | 3 << 8).submitted(|_| {});
    bench.drain(0);
    bench.expect_diagnosis("the framebuffer has no such target");
}
