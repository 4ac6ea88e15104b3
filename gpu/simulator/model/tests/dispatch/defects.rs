//! Broken parts of the shader cores: what each does to the results of a program, and on which core.

use super::bench::Bench;
use super::{BUFFER, Dispatch};
use eitri_model::{Config, Defect, ShaderDefect};

/// Stores r9 and r41, which are written in the order of the lines that come before.
const STORES: &str = "
    SHADDX.u64 r0, u0, r60.w0, shift:0x3
    STORE.i32.slot0 @r9, r0, offset:0
    STORE.i32.slot0 @r41, r0, offset:4
    NOP.wait0
    NOP.end";

/// Both words of each thread of four workgroups of 16, which run on a core each, on a GPU with a defect.
fn stored(defect: ShaderDefect, text: &str) -> Vec<[u32; 2]> {
    let config = Config {
        defects: vec![Defect::Shader(defect)],
        ..Config::default()
    };
    let dispatch = Dispatch {
        groups: [4, 1, 1],
        ..Dispatch::default()
    };
    let mut bench = dispatch.prepare_in(Bench::booted_with(config), &format!("{text}{STORES}"));
    dispatch.submit(&mut bench);
    bench.drain(0);
    let word = |bench: &mut Bench, at| bench.get32(1, BUFFER + at);
    (0..64)
        .map(|thread| [0, 4].map(|at| word(&mut bench, 8 * thread + at)))
        .collect()
}

/// Checks that the threads of one workgroup have `broken`, and those of the other three `whole`.
#[track_caller]
fn check(defect: ShaderDefect, text: &str, whole: [u32; 2], broken: impl Fn(usize) -> [u32; 2]) {
    let stored = stored(defect, text);
    let groups = stored.as_chunks::<16>().0;
    let is_broken = |group: &&[[u32; 2]; 16]| {
        let mut lanes = group.iter().enumerate();
        lanes.all(|(lane, words)| *words == broken(lane))
    };
    let is_whole = |group: &&[[u32; 2]; 16]| **group == [whole; 16];
    assert_eq!(
        (
            groups.iter().filter(is_broken).count(),
            groups.iter().filter(is_whole).count()
        ),
        (1, 3),
        "workgroups with the defect and without it: {defect:?}{text}{stored:x?}"
    );
}

#[test]
fn mixed_registers_both_hold_what_was_written_last() {
    let defect = ShaderDefect::RegistersMixed {
        core: 16,
        one: 9,
        other: 41,
    };
    let one_last = "IADD_IMM.i32 r41, 0x0, #0x41\nIADD_IMM.i32 r9, 0x0, #0x9";
    check(defect, one_last, [9, 0x41], |_| [9, 9]);
    let other_last = "IADD_IMM.i32 r9, 0x0, #0x9\nIADD_IMM.i32 r41, 0x0, #0x41";
    check(defect, other_last, [9, 0x41], |_| [0x41, 0x41]);
    // What is written to another register changes neither.
    let third_last =
        format!("{one_last}\nIADD_IMM.i32 r10, 0x0, #0x10\nIADD_IMM.i32 r40, 0x0, #0x40");
    check(defect, &third_last, [9, 0x41], |_| [9, 9]);
}

#[test]
fn a_bit_of_a_register_sticks_in_one_lane() {
    let text = "IADD_IMM.i32 r9, 0x0, #0x9\nIADD_IMM.i32 r41, 0x0, #0x41";
    for (bit, value, broken) in [(0, false, 8), (1, true, 0xb), (31, true, 0x8000_0009)] {
        let defect = ShaderDefect::RegisterBit {
            core: 2,
            register: 9,
            lane: 5,
            bit,
            value,
        };
        check(defect, text, [9, 0x41], |lane| match lane {
            5 => [broken, 0x41],
            _ => [9, 0x41],
        });
    }
}
