//! Each rule on a program that breaks it and on its twin that does not.

use eitri_isa::{Instr, Syntax};
use eitri_waits::{Arch, Code, Finding, Jump, Kind, Stage, check};

/// Where programs stand.
const BASE: u64 = 0x4000;

fn words(text: &str) -> Vec<u64> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let word = |line| {
        Instr::assemble(line, Arch::V10, Syntax::Mesa24)
            .unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    lines.map(word).collect()
}

fn findings(stage: Stage, text: &str) -> Vec<Finding> {
    check(&Code {
        arch: Arch::V10,
        stage,
        base: BASE,
        words: &words(text),
    })
    .findings
}

#[track_caller]
fn found(stage: Stage, text: &str, expected: &[Kind]) -> Vec<Finding> {
    let found = findings(stage, text);
    let kinds: Vec<Kind> = found.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, expected, "{found:#x?}");
    found
}

/// Checks a program, and then the same with the wait at `^` put back.
#[track_caller]
fn broken(stage: Stage, text: &str, wait: &str, expected: &[Kind]) {
    found(stage, &text.replace('^', ""), expected);
    found(stage, &text.replace('^', wait), &[]);
}

#[test]
fn a_result_is_read_before_its_wait() {
    let kind = Kind::ReadBeforeWait {
        register: 3,
        slot: 1,
    };
    let text = "
        LOAD.i64.unsigned.slot1 @r2:r3, r0, offset:0
        MOV.i32^ r6, r7
        FADD.f32 r4, r5, r3
        NOP.end";
    broken(Stage::Compute, text, ".wait1", &[kind]);
    // Any wait with the slot in it is one, also the message's own; another slot's is none.
    broken(Stage::Compute, text, ".wait012", &[kind]);
    found(Stage::Compute, &text.replace('^', ".wait02"), &[kind]);
    let own = text.replace('^', "").replace("slot1", "slot1.wait1");
    found(Stage::Compute, &own, &[]);
}

#[test]
fn a_register_is_written_before_the_wait_for_its_message() {
    let kind = Kind::WriteBeforeWait {
        register: 2,
        slot: 0,
    };
    let text = "
        LOAD.i32.unsigned.slot0^ @r2, r0, offset:0
        MOV.i32 r2, 0x0
        NOP.end";
    broken(Stage::Compute, text, ".wait0", &[kind]);
    // Another message to the same register.
    let text = "
        LOAD.i32.unsigned.slot0^ @r2, r0, offset:0
        LOAD.i32.unsigned.slot1 @r2, r0, offset:4
        NOP.end";
    broken(Stage::Compute, text, ".wait0", &[kind]);
}

#[test]
fn a_register_that_a_message_reads_may_be_written_at_once() {
    let text = "
        STORE.i32.slot0 @r2, r0, offset:0
        MOV.i32 r2, 0x0
        NOP.end";
    found(Stage::Compute, text, &[]);
}

#[test]
fn a_half_that_a_message_writes_blocks_the_register() {
    let text = "
        LOAD.i16.unsigned.h0.slot0^ @r2, r0, offset:0
        MOV.i32 r3, r2
        NOP.end";
    let kind = Kind::ReadBeforeWait {
        register: 2,
        slot: 0,
    };
    broken(Stage::Compute, text, ".wait0", &[kind]);
}

#[test]
fn paths_that_meet_are_joined() {
    // One side waits, the other jumps over the wait.
    let text = "
        LOAD.i32.unsigned.slot0 @r2, r0, offset:0
        BRANCHZ.reconverge r4, offset:2
        NOP.wait0
        NOP.reconverge
        MOV.i32 r3, r2
        NOP.end";
    let kind = Kind::ReadBeforeWait {
        register: 2,
        slot: 0,
    };
    let found = found(Stage::Compute, text, &[kind]);
    assert_eq!(found[0].address, BASE + 0x20);
    assert_eq!(found[0].message, Some(BASE));
    let jump = Jump {
        from: BASE + 8,
        to: BASE + 0x20,
    };
    assert_eq!(found[0].path, [jump]);
}

#[test]
fn a_loop_brings_the_message_of_the_round_before() {
    let text = "
        MOV.i32 r3, r2
        LOAD.i32.unsigned.slot2^ @r2, r0, offset:0
        BRANCHZ.reconverge r4, offset:-3
        NOP.end";
    let kind = Kind::ReadBeforeWait {
        register: 2,
        slot: 2,
    };
    // The load itself meets the one before, too.
    let again = Kind::WriteBeforeWait {
        register: 2,
        slot: 2,
    };
    broken(Stage::Compute, text, ".wait2", &[kind, again]);
    let back = Jump {
        from: BASE + 0x10,
        to: BASE,
    };
    for finding in findings(Stage::Compute, &text.replace('^', "")) {
        assert_eq!(
            (finding.message, finding.path),
            (Some(BASE + 8), vec![back])
        );
    }
}

#[test]
fn what_no_path_reaches_is_not_judged() {
    let text = "
        LOAD.i32.unsigned.slot0 @r2, r0, offset:0
        BRANCHZ.eq 0x0, offset:1
        MOV.i32 r3, r2
        NOP.end";
    found(Stage::Compute, text, &[]);
}

#[test]
fn accesses_to_the_same_bytes_are_in_order() {
    let text = "
        STORE.i32.slot0^ @r2, r0, offset:4
        LOAD.i64.unsigned.slot1 @r4:r5, r0, offset:0
        NOP.end";
    let kind = Kind::MemoryBeforeWait { slot: 0 };
    broken(Stage::Compute, text, ".wait0", &[kind]);
    // Loads among themselves, other bytes, and a new address need nothing.
    let loads = text
        .replace('^', "")
        .replace("STORE.i32", "LOAD.i32.unsigned");
    found(Stage::Compute, &loads, &[]);
    let apart = text.replace('^', "").replace("offset:4", "offset:8");
    found(Stage::Compute, &apart, &[]);
    let moved = text
        .replace('^', "")
        .replace("LOAD.i64", "MOV.i32 r1, r3\nLOAD.i64");
    found(Stage::Compute, &moved, &[]);
}

#[test]
fn a_barrier_waits_before_and_after() {
    let text = "
        STORE.i32.slot1^ @r2, r0, offset:0
        BARRIER.slot7.wait
        NOP.end";
    let kind = Kind::BarrierBeforeWait { slot: 1 };
    broken(Stage::Compute, text, ".wait1", &[kind]);
    let text = "
        BARRIER.slot7^
        LOAD.i32.unsigned.slot0 @r2, r0, offset:0
        NOP.end";
    // The load, and the end after it.
    broken(
        Stage::Compute,
        text,
        ".wait",
        &[Kind::AfterBarrier, Kind::AfterBarrier],
    );
    found(Stage::Compute, "BARRIER.slot7\nNOP.wait\nNOP.end", &[]);
    found(Stage::Compute, "BARRIER.slot7.end", &[Kind::AfterBarrier]);
}

#[test]
fn fragments_wait_for_older_ones() {
    let text = "
        NOP^
        ATEST.wait0 @r60, r60, 0x3F800000, atest_datum.w0
        NOP.end";
    let kind = Kind::FragmentOrder { slot: 6 };
    broken(Stage::Fragment, text, ".wait0126", &[kind]);
    // A blend shader's caller has waited.
    found(Stage::Blend, &text.replace('^', ""), &[]);
}

#[test]
fn hidden_coordinates_are_replaced_after_the_loads_that_use_them() {
    let text = "
        LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store^ @r0:r1, r61, index:0x0
        LD_VAR_BUF_IMM.f32.slot1.v2.src_f32.sample.store @r2:r3, r61, index:0x8
        NOP.end";
    let kind = Kind::VaryingBeforeWait { slot: 0 };
    broken(Stage::Fragment, text, ".wait0", &[kind]);
    let kept = text
        .replace('^', "")
        .replace("sample.store", "center.retrieve");
    found(Stage::Fragment, &kept, &[]);
}

#[test]
fn control_flow_stays_in_the_program() {
    found(Stage::Compute, "MOV.i32 r0, r1", &[Kind::NoEnd]);
    found(
        Stage::Compute,
        "BRANCHZ.reconverge r0, offset:7\nNOP.end",
        &[Kind::NoEnd],
    );
    let mut code = words("MOV.i32 r0, r1");
    code.push(0x7ff_ffff_ffff_ffff);
    let report = check(&Code {
        arch: Arch::V10,
        stage: Stage::Compute,
        base: 0,
        words: &code,
    });
    assert!(
        matches!(
            report.findings[..],
            [Finding {
                kind: Kind::NoInstruction { .. },
                ..
            }]
        ),
        "{report:?}"
    );
}

#[test]
fn nothing_is_no_program_and_has_no_finding() {
    found(Stage::Compute, "", &[]);
}

#[test]
fn a_blend_shader_returns_and_is_recognised() {
    let text = "
        NOP
        BRANCHZI.absolute r48, r48
        NOP.end";
    let code = words(text);
    assert_eq!(Stage::guess(&code, Arch::V10), Stage::Blend);
    let report = check(&Code {
        arch: Arch::V10,
        stage: Stage::Blend,
        base: 0,
        words: &code,
    });
    assert_eq!((report.findings, report.unfollowed), (vec![], vec![]));
}

proptest::proptest! {
    /// Whatever the words are: an end, and no panic.
    #[test]
    fn any_words_are_judged(words in proptest::collection::vec(proptest::num::u64::ANY, 0..40), seed: u64) {
        let mut code = words;
        // Among random words, branches that lead somewhere.
        for (index, word) in code.iter_mut().enumerate() {
            if seed >> (index % 64) & 1 != 0 {
                *word = *word & 0x7807_ffff_0000_00ff | 0x001f_c000_0000_0000;
            }
        }
        for arch in [Arch::V9, Arch::V10, Arch::V12, Arch::V14] {
            for stage in [Stage::Compute, Stage::Fragment, Stage::Blend] {
                check(&Code { arch, stage, base: 0, words: &code });
            }
        }
    }
}
