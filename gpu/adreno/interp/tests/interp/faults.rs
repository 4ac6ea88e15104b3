//! Each fault: a correct program passes, the same with one slot less or without a flag does not.

use crate::support::{assemble, execute, launch, memory};
use eitri_ir3_interp::{FaultKind, Launch, run};

const STORE: &str = "\nstib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1\nend";

/// `good` runs; with `from` in it replaced it faults.
#[track_caller]
fn check(good: &str, (from, to): (&str, &str), fault: impl Fn(FaultKind) -> bool) {
    if let Err(fault) = execute(good) {
        panic!("the correct program: {fault}");
    }
    let bad = good.replacen(from, to, 1);
    assert_ne!(bad, good, "`{from}` stands in the program");
    match execute(&bad) {
        Ok(_) => panic!("the program without `{from}` runs:\n{bad}"),
        Err(found) => assert!(fault(found.kind), "{found}"),
    }
}

const fn early(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::TooEarly { missing: 1, .. })
}

const fn no_ss(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::MissingSs { .. })
}

const fn no_sy(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::MissingSy { .. })
}

#[test]
fn arithmetic_needs_three_slots_before_arithmetic() {
    let good = format!("(nop3) add.u r2.x, r0.x, 1\nadd.u r1.x, r2.x, 1\n(rpt5)nop{STORE}");
    check(&good, ("(nop3)", "(nop2)"), early);
}

#[test]
fn an_accumulator_needs_one_slot() {
    let good = "mov.u32u32 r2.x, 1\nnop\nmad.u24 r1.x, r0.x, r0.x, r2.x\n(rpt5)nop\nend";
    check(good, ("\nnop", ""), early);
}

#[test]
fn memory_needs_six_slots() {
    let good = format!("add.u r1.x, r0.x, 1\n(rpt5)nop{STORE}");
    check(&good, ("(rpt5)", "(rpt4)"), early);
}

#[test]
fn a_branch_needs_six_slots() {
    let good = "cmps.u.lt p0.x, r0.x, 64\n(rpt5)nop\nbr p0.x, #done\nnop\ndone:\n(jp)end";
    check(good, ("(rpt5)", "(rpt4)"), early);
}

#[test]
fn an_address_register_needs_six_slots() {
    let good = "mov.u16u16 hr8.x, 0\n(rpt2)nop\nmova a0.x, hr8.x\n(rpt5)nop\nmov.u32u32 r1.x, c<a0.x + 1>\nend";
    check(good, ("(rpt5)", "(rpt4)"), early);
}

#[test]
fn a_half_of_a_full_result_needs_six_slots() {
    // hr2.x lies in r1.x.
    let good = "mov.u32u32 r1.x, 7\n(rpt5)nop\nadd.u hr8.x, hr0.z, h(1)\nend";
    if let Err(fault) = execute(good) {
        panic!("{fault}");
    }
    let same = "mov.u32u32 r0.y, 7\n(rpt5)nop\nadd.u hr8.x, hr0.z, h(1)\nend";
    check(same, ("(rpt5)", "(rpt4)"), early);
}

#[test]
fn steps_of_a_repeated_instruction_count_one_by_one() {
    let good = "(rpt1)mov.u32u32 r2.x, (r)c0.x\n(rpt1)nop\n(rpt1)add.u r1.x, (r)r2.x, 1\nend";
    check(good, ("(rpt1)nop", "nop"), early);
    // A step does not see what the step before it wrote.
    let chained = "(rpt1)mov.u32u32 r2.x, (r)c0.x\n(rpt2)nop\n(rpt1)add.u r2.y, r2.x, 1\nend";
    check(chained, ("r2.y, r2.x", "r2.y, (r)r2.x"), |kind| {
        matches!(
            kind,
            FaultKind::TooEarly {
                needed: 3,
                missing: 3,
                ..
            }
        )
    });
}

#[test]
fn a_special_function_needs_ss() {
    let good = format!("mov.f32f32 r2.x, (4.0)\n(rpt5)nop\nrcp r1.x, r2.x\n(ss)nop{STORE}");
    check(&good, ("(ss)", ""), no_ss);
}

#[test]
fn shared_memory_needs_ss() {
    let good =
        "mov.u32u32 r2.x, 0\n(rpt5)nop\nldl.u32 r1.x, l[r2.x], 1\n(ss)add.u r1.y, r1.x, 1\nend";
    check(good, ("(ss)", ""), no_ss);
}

#[test]
fn a_shared_register_needs_ss() {
    let good = "mov.u32u32 r48.w, r0.x\n(ss)mov.u32u32 r1.x, r48.w\nend";
    check(good, ("(ss)", ""), no_ss);
}

#[test]
fn a_buffer_needs_sy() {
    let good = "ldib.b.untyped.1d.u32.1.imm r1.x, r0.x, 0\n(sy)add.u r1.y, r1.x, 1\nend";
    check(good, ("(sy)", ""), no_sy);
    // A pending result is not overwritten, either.
    let good = "ldib.b.untyped.1d.u32.1.imm r1.x, r0.x, 0\n(sy)mov.u32u32 r1.x, 1\nend";
    check(good, ("(sy)", ""), no_sy);
}

#[test]
fn a_source_in_flight_needs_ss_before_it_is_written() {
    let good = "ldib.b.untyped.1d.u32.1.imm r1.x, r0.x, 0\n(ss)mov.u32u32 r0.x, 1\nend";
    check(good, ("(ss)", ""), |kind| {
        matches!(kind, FaultKind::WriteAfterRead { .. })
    });
}

#[test]
fn what_follows_a_barrier_waits() {
    let good = "bar.g\n(sy)(ss)nop\nend";
    let must_wait = |kind| matches!(kind, FaultKind::MustWait(_));
    check(good, ("(sy)", ""), must_wait);
    check(good, ("(ss)", ""), must_wait);
}

const DIVERGENT: &str = "
    cmps.u.lt p0.x, r0.x, 32
    mov.u32u32 r1.x, 1
    (rpt5)nop
    br !p0.x, #else
    mov.u32u32 r1.x, 2
    jump #done
else:
    (jp)mov.u32u32 r1.x, 3
done:
    (jp)(rpt5)nop
    stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1
    end";

#[test]
fn lanes_that_waited_need_a_join() {
    let no_join = |kind| kind == FaultKind::MissingJoin;
    check(DIVERGENT, ("(jp)mov", "mov"), no_join);
    check(DIVERGENT, ("(jp)(rpt5)", "(rpt5)"), no_join);
}

#[test]
fn the_branch_stack_has_a_depth() {
    let code = assemble(DIVERGENT);
    let deep = Launch {
        branch_stack: 1,
        ..launch()
    };
    run(&code, &deep, &mut memory()).expect("one place is enough");
    let shallow = Launch {
        branch_stack: 0,
        ..launch()
    };
    let fault = run(&code, &shallow, &mut memory()).expect_err("no place is not");
    assert_eq!(fault.kind, FaultKind::BranchStack { found: 1, room: 0 });
}

#[test]
fn those_that_leave_a_loop_one_by_one_wait_in_one_place() {
    // Lane n goes round n times.
    let code = assemble(
        "
        mov.u32u32 r1.x, 0
        (rpt2)nop
    head:
        cmps.u.lt p0.x, r1.x, r0.x
        add.u r1.x, r1.x, 1
        (rpt5)nop
        br p0.x, #head
        (jp)nop
        end",
    );
    let one = Launch {
        branch_stack: 1,
        ..launch()
    };
    run(&code, &one, &mut memory()).expect("all wait behind the loop");
}

#[test]
fn registers_and_constants_have_limits() {
    let code = assemble("mov.u32u32 r4.x, c15.w\nend");
    let fits = Launch {
        full_registers: 5,
        ..launch()
    };
    run(&code, &fits, &mut memory()).expect("r4 is the fifth");
    let small = Launch {
        full_registers: 4,
        ..launch()
    };
    let fault = run(&code, &small, &mut memory()).expect_err("it is beyond the footprint");
    assert!(
        matches!(fault.kind, FaultKind::Footprint { vec4: 4, .. }),
        "{fault}"
    );
    let short = Launch {
        constants: vec![0; 63],
        ..launch()
    };
    let fault = run(&code, &short, &mut memory()).expect_err("it is beyond the const file");
    assert!(
        matches!(fault.kind, FaultKind::Constant { number: 63, .. }),
        "{fault}"
    );
}

#[test]
fn a_barrier_is_for_all() {
    let good =
        "cmps.u.lt p0.x, r0.x, 64\n(rpt5)nop\nbr !p0.x, #out\nbar.g\n(sy)(ss)nop\nout:\n(jp)end";
    check(good, ("64", "32"), |kind| kind == FaultKind::Barrier);
}

#[test]
fn a_shared_register_takes_one_lane() {
    let good = "getone #skip\nmov.u32u32 r48.w, 7\nskip:\n(ss)(jp)nop\nend";
    check(good, ("getone #skip\n", ""), |kind| {
        kind == FaultKind::SharedWrite(64)
    });
}

#[test]
fn programs_end() {
    check("jump #over\nover:\nend", ("#over", "#0"), |kind| {
        kind == FaultKind::Endless(100_000)
    });
    check("nop\nend", ("\nend", ""), |kind| {
        kind == FaultKind::NoInstruction
    });
}

#[test]
fn a_fault_says_where_and_what() {
    let bad = "add.u r1.x, r0.x, 1\n(rpt4)nop\nstib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1\nend";
    let fault = execute(bad).expect_err("one slot is missing");
    assert_eq!(
        fault.to_string(),
        "workgroup 0,0,0, wave 0, instruction 2 `stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1`: r1.x was written by instruction 0 \
         and is read 1 slot(s) too early: 6 needed"
    );
}

/// What a program is stopped with, whatever it lacks.
#[track_caller]
fn stops(text: &str, fault: impl Fn(FaultKind) -> bool) {
    match execute(text) {
        Ok(_) => panic!("it runs:\n{text}"),
        Err(found) => assert!(fault(found.kind), "{found}"),
    }
}

#[test]
fn memory_has_limits() {
    let outside = |kind| matches!(kind, FaultKind::OutOfBounds { .. });
    stops(
        "mov.u32u32 r2.x, 0x8000\n(rpt5)nop\nldl.u32 r1.x, l[r2.x], 1\nend",
        outside,
    );
    stops(
        "mov.u32u32 r2.x, 0x1000\n(rpt5)nop\nstp.u32 p[r2.x], r0.x, 1\nend",
        outside,
    );
    stops(
        "mov.u32u32 r2.x, 16\nmov.u32u32 r2.y, 0\n(rpt5)nop\nldg.u32 r1.x, g[r2.x], 1\nend",
        outside,
    );
    stops(
        "mov.u32u32 r2.x, 2\n(rpt5)nop\nldl.u32 r1.x, l[r2.x], 1\nend",
        |kind| {
            matches!(
                kind,
                FaultKind::Alignment {
                    address: 2,
                    size: 4
                }
            )
        },
    );
    stops("ldib.b.untyped.1d.u32.1.imm r1.x, r0.x, 7\nend", |kind| {
        kind == FaultKind::Resource(eitri_ir3_interp::Place::Slot(7))
    });
    stops(
        "ldib.b.untyped.1d.u32.1.imm.base2 r1.x, r0.x, 7\nend",
        |kind| kind == FaultKind::Resource(eitri_ir3_interp::Place::Bindless { set: 2, index: 7 }),
    );
}

#[test]
fn a_uniform_index_is_uniform() {
    let good =
        "mov.u32u32 r1.x, 0\n(rpt5)nop\nldib.b.untyped.1d.u32.1.uniform r1.y, r0.x, r1.x\nend";
    check(good, ("r0.x, r1.x", "r1.x, r0.x"), |kind| {
        kind == FaultKind::NotUniform
    });
}

#[test]
fn what_the_facts_do_not_say_stops() {
    let unknown = |kind| matches!(kind, FaultKind::Unknown(_));
    stops("cmpv.f.lt r1.x, r0.x, r0.x\nend", unknown);
    stops("cbits.b r1.x, r0.x\nend", unknown);
    stops("add.u r1.x, (neg)r0.x, 1\nend", unknown);
    stops("min.f hr8.x, r0.x, r0.y\nend", unknown);
    // Only lane 0 of each quad is active, so that its neighbours have no value.
    let lonely = "getone #skip\nquad_shuffle.horiz (u32)(x)r1.x, r0.x\nskip:\n(jp)end";
    stops(lonely, unknown);
    stops("not.b p0.x, r0.x\nend", |kind| {
        kind == FaultKind::Predicate(u32::MAX)
    });
    let not_modelled = |kind| matches!(kind, FaultKind::NotModelled(_));
    stops("sam (f32)(xyzw)r1.x, r0.x, s#0, t#0\nend", not_modelled);
    stops("call #1\nend", not_modelled);
    let wild = "mov.u16u16 hr8.x, 400\n(rpt2)nop\nmova a0.x, hr8.x\n(rpt5)nop\nmov.u32u32 r1.x, r<a0.x>\nend";
    stops(wild, |kind| kind == FaultKind::Relative(400));
}

#[test]
fn words_that_no_compiler_writes_are_refused() {
    use eitri_ir3_interp::Code;
    use eitri_ir3_isa::Gen;
    // No instruction, and two constants in one.
    let unknown = Code::decode([0x2600_0000_0000_0000], Gen::A6xx).expect_err("no instruction");
    assert!(matches!(unknown.kind, FaultKind::Decode(_)), "{unknown}");
    let constants = Code::decode([0x4210_0000_1001_1000], Gen::A6xx).expect_err("two constants");
    assert!(matches!(constants.kind, FaultKind::Rule(_)), "{constants}");
}
