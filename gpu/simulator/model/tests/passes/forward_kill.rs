//! Forward pixel kill: what a later draw replaces is not shaded, where both draws allow it.
//!
//! Facts: hardware/graphics-raster.md 4.10; hardware/csf-perfcnt.md (QUAD_FPK_KILLER).

use super::{BUFFER, Drawn, Pass, Rectangle, STORE, pixels};
use eitri_descriptors::raster::{DcdFlags0, PixelKill};
use eitri_descriptors::texture::Func;

/// Marks its pixel in the buffer, whose address is in u4, and stores 9.
const MARK: &str = "
    U16_TO_U32 r0, r59.h00
    U16_TO_U32 r1, r59.h10
    LSHIFT_OR.i32 r1, r1, 0x7060504.b00, r0
    SHADDX.u64 r2, u4, r1.w0, shift:0x2
    IADD_IMM.i32 r0, 0x0, #0x9
    STORE.i32.slot0.wait0 @r0, r2, offset:0
    OUTPUT";

/// Stores 7.
const SEVEN: &str = "
    IADD_IMM.i32 r0, 0x0, #0x7
    OUTPUT";

/// Discards everything.
const DISCARDS: &str = "
    IADD_IMM.i32 r0, 0x0, #0x7
    MOV.i32 r4, 0x0
    MOV.i32 r60, 0x0
    NOP.wait0126
    ATEST.wait0126 @r60, r60, r4, atest_datum.w0
    OUTPUT";

/// Adds 1 to what the tile holds: u3 names the own pixel of target 0.
const INCREMENT: &str = "
    MOV.i32 r0, u3
    NOP.wait
    LD_TILE.v4.u32.slot0.wait0 @r4:r5:r6:r7, r0, r60, u1
    IADD_IMM.i32 r0, r4, #0x1
    OUTPUT";

fn draw(program: &'static str, kills: bool, is_killed: bool) -> Rectangle {
    let usual = Rectangle::default();
    Rectangle {
        program,
        flags: DcdFlags0 {
            allow_forward_pixel_to_kill: kills,
            allow_forward_pixel_to_be_killed: is_killed,
            ..usual.flags
        },
        ..usual
    }
}

/// The pixels that the second draw covers.
const LOWER: [[u32; 2]; 2] = [[0, 6], [15, 15]];

fn pass(first: Rectangle, second: Rectangle) -> Pass {
    let [store, format] = STORE;
    let second = Rectangle {
        scissor: LOWER,
        ..second
    };
    Pass {
        uniforms: vec![store, format, 0, 0xff00_0000, BUFFER as u32, 0],
        draws: vec![first, second],
        ..Pass::default()
    }
}

/// Checks the picture, whose lower part is `below`; whether each pixel was marked.
#[track_caller]
fn check(mut drawn: Drawn, below: u32) -> Vec<bool> {
    let marked = |drawn: &mut Drawn, [x, y]: [u32; 2]| {
        drawn.bench.get32(1, BUFFER + 4 * u64::from(16 * y + x)) == 9
    };
    pixels()
        .map(|pixel| {
            let wanted = if pixel[1] < 6 { 9 } else { below };
            assert_eq!(drawn.colour(pixel, 0, 0), wanted, "{pixel:?}");
            marked(&mut drawn, pixel)
        })
        .collect()
}

#[test]
fn what_is_replaced_is_not_shaded_where_both_draws_allow_it() {
    for gpu in super::bench::EACH {
        for (kills, is_killed) in [(true, true), (true, false), (false, true), (false, false)] {
            let pass = Pass {
                gpu,
                ..pass(draw(MARK, true, is_killed), draw(SEVEN, kills, true))
            };
            let marked = check(pass.run(), 7);
            // The mark that is lost is what a driver must not ask for: such a draw has effects beside its colour.
            let wanted: Vec<bool> = pixels()
                .map(|[_, y]| y < 6 || !(kills && is_killed))
                .collect();
            assert_eq!(
                marked, wanted,
                "{gpu}, kills {kills}, is killed {is_killed}"
            );
        }
    }
}

#[test]
fn fragments_that_are_tested_late_kill_nothing() {
    let late = DcdFlags0 {
        pixel_kill_operation: PixelKill::ForceLate,
        ..draw(SEVEN, true, true).flags
    };
    let second = Rectangle {
        program: "NOP.wait0126
            MOV.i32 r4, 0x0
            ATEST.wait0126 @r60, r60, r4, atest_datum.w0
            IADD_IMM.i32 r0, 0x0, #0x7
            OUTPUT",
        flags: late,
        ..Rectangle::default()
    };
    let marked = check(pass(draw(MARK, true, true), second).run(), 7);
    assert!(marked.iter().all(|marked| *marked));
}

#[test]
fn a_draw_that_writes_no_target_kills_nothing() {
    let mut second = draw(SEVEN, true, true);
    second.targets = 0;
    let marked = check(pass(draw(MARK, true, true), second).run(), 9);
    assert!(marked.iter().all(|marked| *marked));
}

#[test]
fn fragments_that_fail_the_depth_test_kill_nothing() {
    let mut second = draw(SEVEN, true, true);
    second.depth.depth_function = Func::Never;
    let marked = check(pass(draw(MARK, true, true), second).run(), 9);
    assert!(marked.iter().all(|marked| *marked));
}

/// Runs a pass that is wrong, and expects its diagnosis.
#[track_caller]
fn check_misuse(second: Rectangle, reason: &str) {
    let mut bench = pass(draw(MARK, true, true), second).submitted(|_| {});
    bench.drain(0);
    bench.expect_diagnosis(
        "older fragments of the pixel were killed for one that does not replace them",
    );
    bench.expect_diagnosis(reason);
}

#[test]
fn a_draw_that_kills_and_does_not_replace_is_told() {
    check_misuse(draw(DISCARDS, true, true), "it was discarded");
    check_misuse(
        draw(INCREMENT, true, true),
        "it reads what they would have left",
    );
    // Where nothing was killed, nothing is lost.
    for second in [draw(DISCARDS, true, true), draw(INCREMENT, true, true)] {
        let pass = pass(draw(MARK, true, false), second);
        let mut drawn = pass.run();
        let [above, below] = [[3, 3], [3, 9]].map(|pixel| drawn.colour(pixel, 0, 0));
        assert!(above == 9 && [9, 10].contains(&below), "{above}, {below}");
    }
}

/// Who is to be tested late must be tested by the program (hardware/graphics-raster.md 4.17).
#[test]
fn a_program_without_the_late_tests_that_its_draw_asks_for_is_told() {
    let late = DcdFlags0 {
        pixel_kill_operation: PixelKill::ForceLate,
        zs_update_operation: PixelKill::ForceLate,
        ..draw(SEVEN, false, false).flags
    };
    for (flags, told) in [(late, true), (draw(SEVEN, false, false).flags, false)] {
        let second = Rectangle {
            program: SEVEN,
            flags,
            ..Rectangle::default()
        };
        let mut bench = pass(draw(MARK, false, false), second).submitted(|_| {});
        bench.drain(0);
        if told {
            bench.expect_diagnosis("no ATEST or ZS_EMIT makes the late tests");
        } else {
            bench.expect_no_diagnoses();
        }
    }
}
