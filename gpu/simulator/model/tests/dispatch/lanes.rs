//! Lanes: their ids, their ways apart and together, what one reads of another.

use super::{BUFFER, Dispatch, program};

#[test]
fn every_thread_stores_its_id() {
    let dispatch = Dispatch {
        size: [24, 1, 1],
        groups: [3, 1, 1],
        ..Dispatch::default()
    };
    let expected: Vec<u32> = (0..72).collect();
    dispatch.check(
        &program("STORE.i32.slot0 @r60, r0, offset:0\nNOP.end"),
        &expected,
    );
}

#[test]
fn ids_follow_the_workgroup_in_three_dimensions() {
    let dispatch = Dispatch {
        size: [4, 2, 3],
        groups: [2, 1, 2],
        ..Dispatch::default()
    };
    // word = local x | y << 16 ... stored per global linear index computed from ids: x + 8 * (y + 2 * z).
    let text = "
        LSHIFT_OR.i32 r4, r62, 0x01000000.b33, 0x0
        IADD.u32 r4, r4, r61
        LSHIFT_OR.i32 r4, r4, 0x03020100.b33, 0x0
        IADD.u32 r4, r4, r60
        SHADDX.u64 r0, u0, r4.w0, shift:0x2
        LSHIFT_OR.i32 r6, r56, 0x04000000.b33, r55
        LSHIFT_OR.i32 r6, r57, 0x10000000.b33, r6
        STORE.i32.slot0 @r6, r0, offset:0
        NOP.end";
    // Shift amounts that the table lacks come from uniforms instead.
    let text = text
        .replace("0x01000000.b33", "u2.b00")
        .replace("0x03020100.b33", "u2.b11")
        .replace("0x04000000.b33", "u2.b22")
        .replace("0x10000000.b33", "u2.b33");
    let dispatch = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 1 | 3 << 8 | 8 << 16 | 28 << 24, 0],
        ..dispatch
    };
    let mut expected = Vec::new();
    for z in 0..6u32 {
        for y in 0..2u32 {
            for x in 0..8u32 {
                expected.push((x % 4) | (y << 16) | ((z % 3) << 8) | ((x / 4) << 28));
            }
        }
    }
    dispatch.check(&text, &expected);
}

#[test]
fn branches_diverge_and_reconverge() {
    // Even lanes count to their id, odd lanes take 1000; all meet for WMASK.
    let text = program(
        "
        LSHIFT_AND.i32 r4, r60, 0x0.b00, 0x01000000.b3
        MOV.i32 r5, 0x0
        BRANCHZ.reconverge r4, offset:odd
        head:
        ICMP_OR.u32.ge.m1 r6, r5, r60, 0x0
        BRANCHZ.reconverge r6, offset:join
        IADD_IMM.i32 r5, r5, #1
        BRANCHZ.eq.reconverge 0x0, offset:head
        odd:
        IADD_IMM.i32.reconverge r5, 0x0, #1000
        join:
        IADD_IMM.i32 r7, 0x0, #1
        WMASK.subgroup16 r8, r7
        LSHIFT_OR.i32 r5, r8, u2.b00, r5
        STORE.i32.slot0 @r5, r0, offset:0
        NOP.end",
    )
    .replace("0x01000000.b3", "u3");
    let expected: Vec<u32> = (0..16)
        .map(|i| if i % 2 == 0 { i } else { 1000 } | 0xffff << 16)
        .collect();
    Dispatch {
        uniforms: vec![BUFFER as u32, 0, 16, 1],
        ..Dispatch::default()
    }
    .check(&text, &expected);
}

#[test]
fn lanes_that_end_early_leave_the_others() {
    let text = program(
        "
        IADD_IMM.i32 r5, 0x0, #7
        ICMP_OR.u32.lt.m1 r4, r60, r5, 0x0
        BRANCHZ.reconverge r4, offset:go
        NOP.end
        go:
        STORE.i32.slot0 @r5, r0, offset:0
        NOP.end",
    );
    let expected: Vec<u32> = (0..16).map(|i| if i < 7 { 7 } else { 0 }).collect();
    Dispatch::default().check(&text, &expected);
}

#[test]
fn lanes_read_one_another() {
    let text = program(
        "
        CLPER.i32.subgroup16.xor r4, r60, u2.b0
        CLPER.i32.subgroup4 r5, r60, u2.b1
        LSHIFT_OR.i32 r4, r5, u2.b22, r4
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end",
    );
    let expected: Vec<u32> = (0..16).map(|i: u32| i ^ 5 | (i / 4 * 4 + 2) << 8).collect();
    Dispatch {
        uniforms: vec![BUFFER as u32, 0, 5 | 2 << 8 | 8 << 16, 0],
        ..Dispatch::default()
    }
    .check(&text, &expected);
}

#[test]
fn float_policy_comes_from_the_program() {
    // Half of the smallest normal number is flushed in mode 1, and kept in mode 0.
    let text = program(
        "
        MOV.i32 r4, u2
        FMA.f32 r4, r4, u3, 0x0.neg
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end",
    );
    let dispatch = |mode: u32| Dispatch {
        size: [1, 1, 1],
        uniforms: vec![BUFFER as u32, 0, 0x0080_0000, 0x3f00_0000],
        program_word: 8 | 1 << 4 | mode << 17,
        ..Dispatch::default()
    };
    dispatch(0).check(&text, &[0x0040_0000]);
    dispatch(1).check(&text, &[0]);
}
