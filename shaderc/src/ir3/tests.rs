//! Passes on small programs as text, each on its own; what a line becomes stands beside it.

use super::allocate::allocate;
use super::expand_lanes::expand_lanes;
use super::fold_repeats::fold_repeats;
use super::insert_nops::insert_nops;
use super::insert_sync::insert_sync;
use super::legalise::legalise;
use super::lower_branches::{end_once, lower_branches};
use super::mark_joins::mark_joins;
use super::mir::Ir3;
use super::pack::pack;
use super::schedule::schedule;
use crate::machine::parse::{check, read};
use crate::machine::thread_jumps::thread_jumps;
use crate::pass::Runner;
use crate::target::Target;
use proptest::prelude::*;

#[test]
fn legalise_puts_constants_where_instructions_read_them() {
    check::<Ir3>(
        "half %2 %3
        b0:                               ; expect: immediate 0 = 0x12345
          %1 = add.u %0, #0x7             ; expect: add.u %0, 7
          %4 = add.u %0, #0x12345         ; expect: add.u %0, c0.x
          %5 = shrm #0x3, %0, #0xff       ; expect: shrm 3, %0, 255
          %6 = shrm #0x3, %0, #0xffff     ; expect: = mov.u32 65535
          %7 = rcp #0x40400000            ; expect: = mov.u32 1077936128
          %8 = mov.u32 #0x40400000        ; expect: mov.u32 1077936128
          end",
        legalise,
    );
}

#[test]
fn legalise_gives_halves_floats_as_words_and_integers_as_they_are() {
    check::<Ir3>(
        "half %0 %1 %2 %3 %4
        b0:                               ; expect: immediate 0 = 0x40480000
          %1 = add.f %0, #0x4240          ; expect: add.f %0, c0.x
          %2 = add.u %0, #0xffff          ; expect: add.u %0, -1
          %3 = mad.f16 %0, %0, #0x4240    ; expect: mad.f16 %0, %0, c0.x
          %4 = and.b %0, #0x7fff          ; expect: and.b %0, c0.y
          end",
        legalise,
    );
    let mut function = read::<Ir3>("half %0 %1\nb0:\n  %1 = and.b %0, #0x7fff\n  end");
    legalise(&mut function);
    assert_eq!(function.extra.immediates, [0x7fff]);
}

#[test]
fn schedule_fills_the_time_until_a_load_is_there() {
    check::<Ir3>(
        "b0:
          %2 = ldib.b.u32 %0, 0, set:0, space:buffer  ; expect: %2 = ldib.b.u32
          %3 = add.u %2, 1                            ; expect: %4 = add.u
          %4 = add.u %1, 2                            ; expect: %3 = add.u
          %5 = add.u %3, %4                           ; expect: %5 = add.u
          stib.b.u32 %0, 0, @%5, set:0, space:buffer
          end",
        |function| assert!(schedule(function)),
    );
}

#[test]
fn schedule_keeps_accesses_to_one_memory_in_order() {
    check::<Ir3>(
        "b0:
          stib.b.u32 %0, 0, @%1, set:0, space:buffer  ; expect: stib.b.u32 %0
          %2 = ldib.b.u32 %0, 0, set:0, space:buffer  ; expect: %2 = ldib.b.u32
          stib.b.u32 %1, 0, @%2, set:0, space:buffer  ; expect: stib.b.u32 %1
          end",
        |function| assert!(!schedule(function)),
    );
}

#[test]
fn allocate_spills_halves_at_their_own_width() {
    let loads: String = (1..=12)
        .map(|number| {
            format!(
                "  %{number} = ldl.u16 %0, offset:{}, space:shared\n",
                2 * number
            )
        })
        .collect();
    let stores: String = (1..=12)
        .map(|number| {
            format!(
                "  stl.u16 %0, @%{number}, offset:{}, space:shared\n",
                64 - 2 * number
            )
        })
        .collect();
    let halves: Vec<String> = (1..=12).map(|number| format!("%{number}")).collect();
    let mut function = read::<Ir3>(&format!(
        "half {}\npreload %0 = r0.x\nb0:\n{loads}  bar\n{stores}  end\n",
        halves.join(" ")
    ));
    let device = eitri_ir3_isa::device::find("a660").expect("it is one");
    let mut runner = Runner::new(Target::ir3(*device), &[]);
    let allocated = allocate(&mut function, &device.parts, Some(5), &mut runner);
    allocated.expect("there is memory");
    let text = function.to_string();
    assert!(text.contains("stp.u16"), "{text}");
    assert!(text.contains("ldp.u16"), "{text}");
}

#[test]
fn end_once_leaves_one_end_that_branches_reach_at_once() {
    check::<Ir3>(
        "b0:
          branch !p0.x, b1, b2        ; expect: br !p0.x, to:b2
        b1:
          end
        b2:                           ; expect: b1:
          r0.x = add.u r0.x, 1        ; expect: r0.x = add.u
          end                         ; expect: b2:
        ",
        |function| {
            assert!(end_once(function));
            thread_jumps(function);
            lower_branches(function);
            let jumps = function.to_string().matches("jump to:").count();
            assert_eq!(jumps, 0, "{function}");
        },
    );
}

#[test]
fn lower_branches_asks_the_opposite_where_the_way_falls_through() {
    check::<Ir3>(
        "b0:
          branch p0.x, b1, b2         ; expect: br !p0.x, to:b2
        b1:
          r0.x = add.u r0.x, 1
          branch p0.x, b0, b3         ; expect: br p0.x, to:b0
        b2:                           ; expect: jump to:b3
          jump b0                     ; expect: jump to:b0
        b3:
          end",
        lower_branches,
    );
}

#[test]
fn expand_lanes_takes_a_ballot_where_the_condition_holds() {
    check::<Ir3>(
        "b0:
          r1.x:r1.y:p0.x = ballot r0.x, r2.x  ; expect: p0.x = cmps.u.ne r0.x, 0
          r3.x = add.u r1.x, 1                ; expect: movmsk
          end                                 ; expect: r3.x = add.u
        ",
        |function| assert!(expand_lanes(function)),
    );
}

#[test]
fn insert_sync_waits_for_each_class_of_results() {
    check::<Ir3>(
        "b0:
          r0.x = ldib.b.u32 r1.x, 0, set:0, space:buffer
          r2.x = rcp r1.y
          r3.x = add.u r2.x, 1                        ; expect: r3.x = (ss)add.u
          r3.y = add.u r3.x, 1                        ; expect: r3.y = add.u
          r3.z = add.u r0.x, 1                        ; expect: r3.z = (sy)add.u
          end",
        insert_sync,
    );
}

#[test]
fn insert_sync_waits_for_a_load_behind_an_atomic() {
    check::<Ir3>(
        "b0:
          r0.x = ldib.b.u32 r1.x, 0, set:0, space:buffer
          atomic.b.add.u32 r1.x, 1, @r2.x:r2.y, set:0, space:buffer
          r3.x = add.u r0.x, 1                        ; expect: r3.x = (sy)add.u
          atomic.b.add.u32 r1.x, 1, @r4.x:r4.y, set:0, space:buffer
          r3.y = add.u r4.x, 1                        ; expect: r3.y = (sy)add.u
          end",
        insert_sync,
    );
}

#[test]
fn insert_sync_keeps_what_is_still_to_be_read() {
    check::<Ir3>(
        "b0:
          stib.b.u32 r1.x, 0, @r2.x, set:0, space:buffer
          hr5.x = mov.u16 hr6.x                       ; expect: hr5.x = mov.u16
          hr4.y = mov.u16 hr6.x                       ; expect: hr4.y = (ss)mov.u16
          r9.x = rcp r8.x
          r8.x = mov.u32 5                            ; expect: r8.x = (ss)mov.u32
          end",
        insert_sync,
    );
}

#[test]
fn insert_sync_waits_before_an_access_in_a_slot_of_its_own() {
    check::<Ir3>(
        "b0:
          r0.x = rcp r1.y                                 ; expect: r0.x = rcp
          stib.b.u32 r1.x, 0, @r0.x, set:0, space:buffer  ; expect: (ss)nop
          bar                                             ; expect: bar
          r1.x = mov.u32 5                                ; expect: r1.x = (sy)(ss)mov.u32
          end",
        insert_sync,
    );
}

#[test]
fn insert_sync_waits_before_a_texture_in_a_slot_of_its_own() {
    check::<Ir3>(
        "b0:
          r4.x = rcp r1.y                                 ; expect: r4.x = rcp
          r0.x:r0.y:r0.z:r0.w = isam.f32 0, at r4.x:r4.y, set:0, space:constant  ; expect: (ss)nop
                                                          ; expect: = isam
          r4.x = mov.u32 5                                ; expect: r4.x = (ss)mov.u32
          r0.x = mov.u32 5                                ; expect: r0.x = (sy)mov.u32
          end",
        insert_sync,
    );
}

#[test]
fn insert_sync_waits_behind_a_barrier_on_one_way() {
    check::<Ir3>(
        "b0:
          branch p0.x, b1, b2
        b1:
          r0.x = mov.u32 5                                ; expect: r0.x = mov.u32
          jump b3
        b2:
          bar                                             ; expect: bar
          jump b3
        b3:
          r1.x = mov.u32 5                                ; expect: r1.x = (sy)(ss)mov.u32
          end",
        |function| {
            lower_branches(function);
            insert_sync(function);
        },
    );
}

#[test]
fn insert_sync_waits_behind_a_size_at_once() {
    check::<Ir3>(
        "b0:
          r0.x:r0.y = resinfo.b.u32 0, set:0, space:constant  ; expect: resinfo.b
                                                          ; expect: (ss)nop
          r1.x = mov.u32 5                                ; expect: r1.x = mov.u32
          r1.y = mov.u32 r0.x                             ; expect: r1.y = mov.u32
          end",
        insert_sync,
    );
}

#[test]
fn insert_sync_follows_a_loop_round() {
    check::<Ir3>(
        "b0:
          jump b1
        b1:
          r2.x = add.u r0.x, 1                            ; expect: r2.x = (sy)(ss)add.u
          r0.x = ldib.b.u32 r2.x, 0, set:0, space:buffer
          branch p0.x, b1, b2
        b2:
          end",
        |function| {
            lower_branches(function);
            insert_sync(function);
        },
    );
}

/// Finding D4 of the third review: lanes that all leave b1 for b4 let those run that wait at b3, past the flag of b2.
#[test]
fn insert_sync_waits_where_other_lanes_go_on() {
    check::<Ir3>(
        "b0:
          branch !p0.x, b3, b1
        b1:
          r54.x = mov.u32 r1.x                            ; expect: r54.x = mov.u32 r1.x
          branch !p0.y, b4, b2
        b2:
          r2.x = mov.u32 r54.x                            ; expect: r2.x = (ss)mov.u32
          jump b3
        b3:
          r54.x = mov.u32 r3.x                            ; expect: r54.x = (ss)mov.u32
          jump b4
        b4:
          end",
        |function| {
            lower_branches(function);
            insert_sync(function);
        },
    );
}

#[test]
fn fold_repeats_steps_through_registers_in_a_row() {
    check::<Ir3>(
        "b0:
          r0.x = add.u r1.x, r2.x   ; expect: r0.x = (rpt2)add.u (r)r1.x, r2.x
          r0.y = add.u r1.y, r2.x
          r0.z = add.u r1.z, r2.x
          end                       ; expect: end",
        |function| assert!(fold_repeats(function)),
    );
}

#[test]
fn fold_repeats_steps_through_halves() {
    check::<Ir3>(
        "b0:
          hr0.w = mad.f16 hr4.x, hr8.x, hr12.z  ; expect: hr0.w = (rpt1)mad.f16 (r)hr4.x, hr8.x, (r)hr12.z
          hr1.x = mad.f16 hr4.y, hr8.x, hr12.w
          hr1.y = add.f hr4.y, hr1.x            ; expect: hr1.y = add.f hr4.y
          end",
        |function| assert!(fold_repeats(function)),
    );
}

#[test]
fn fold_repeats_leaves_halves_beside_words_apart() {
    let text = "b0:
          r0.x = mov.u16u32 hr4.x
          hr0.y = mov.u16 hr4.y
          end";
    assert!(!fold_repeats(&mut read::<Ir3>(text)));
}

#[test]
fn fold_repeats_keeps_apart_what_reads_an_earlier_step() {
    for second in ["r0.y = add.u r0.x, r2.x", "r0.y = add.u r2.y, r1.y"] {
        let text = format!("b0:\n  r0.x = add.u r1.x, r2.x\n  {second}\n  end");
        assert!(!fold_repeats(&mut read::<Ir3>(&text)), "{text}");
    }
    // The third goes on in another way than the second.
    check::<Ir3>(
        "b0:
          r0.x = add.u r1.x, r2.x   ; expect: (rpt1)add.u (r)r1.x, r2.x
          r0.y = add.u r1.y, r2.x
          r0.z = add.u r1.y, r2.x   ; expect: r0.z = add.u r1.y, r2.x
          end",
        |function| assert!(fold_repeats(function)),
    );
}

#[test]
fn fold_repeats_runs_at_most_four_as_one() {
    check::<Ir3>(
        "b0:
          r0.x = add.u r5.x, r9.x   ; expect: r0.x = (rpt3)add.u (r)r5.x, r9.x
          r0.y = add.u r5.y, r9.x
          r0.z = add.u r5.z, r9.x
          r0.w = add.u r5.w, r9.x
          r1.x = add.u r6.x, r9.x   ; expect: r1.x = add.u r6.x, r9.x
          end",
        |function| assert!(fold_repeats(function)),
    );
}

#[test]
fn insert_nops_keeps_arithmetic_apart() {
    check::<Ir3>(
        "b0:
          r0.x = add.u r1.x, 1                ; expect: r0.x = (nop3)add.u
          r0.y = add.u r0.x, 1                ; expect: r0.y = (nop1)add.u
          r2.x = mad.f32 r2.y, r2.z, r0.y     ; expect: r2.x = (nop3)mad.f32
          r2.w = rcp r2.x                     ; expect: (rpt2)nop
          end                                 ; expect: rcp",
        insert_nops,
    );
}

#[test]
fn insert_nops_gives_a_change_of_width_three_more() {
    check::<Ir3>(
        "b0:
          hr0.x = add.u hr4.x, 1              ; expect: hr0.x = (nop3)add.u
          hr6.x = add.u hr0.x, 1              ; expect: hr6.x = (nop2)add.u
          r5.x = add.u r0.x, 1                ; expect: r5.x = (nop3)add.u
          hr7.x = add.u hr10.y, 1             ; expect: (rpt2)nop
          end                                 ; expect: hr7.x = add.u",
        insert_nops,
    );
}

#[test]
fn insert_nops_counts_on_both_ways_to_a_place() {
    check::<Ir3>(
        "b0:
          p0.x = cmps.u.lt.p r1.x, 5          ; expect: p0.x = (nop3)cmps.u.lt.p
          br p0.x, to:b2                      ; expect: (rpt2)nop
          branch p0.x, b2, b1                 ; expect: br p0.x
        b1:
          r0.x = add.u r1.x, 1                ; expect: r0.x = add.u
          jump b2
        b2:                                   ; expect: (rpt2)nop
          r2.x = add.u r0.x, 1                ; expect: r2.x = add.u r0.x
          end",
        insert_nops,
    );
}

#[test]
fn mark_joins_marks_where_lanes_wait() {
    check::<Ir3>(
        "b0:
          branch !p0.x, b2, b1        ; expect: br !p0.x
        b1:
          r0.x = add.u r0.x, 1        ; expect: r0.x = add.u
          jump b2
        b2:
          r1.x = add.u r0.x, 1        ; expect: r1.x = (jp)add.u
          end",
        |function| {
            lower_branches(function);
            mark_joins(function);
            assert_eq!(function.extra.branch_stack, 1);
        },
    );
}

#[test]
fn mark_joins_marks_where_lanes_wait_if_both_ways_lead_up() {
    check::<Ir3>(
        "b0:
          r0.x = add.u r0.x, 1        ; expect: r0.x = add.u
          jump b1
        b1:
          r1.x = add.u r0.x, 1        ; expect: r1.x = add.u
          branch p0.y, b3, b2         ; expect: br p0.y, to:b3
        b2:
          branch p0.x, b0, b1         ; expect: br p0.x, to:b0
                                      ; expect: (jp)jump to:b1
        b3:
          r2.x = add.u r0.x, 1        ; expect: r2.x = (jp)add.u
          end",
        |function| {
            lower_branches(function);
            mark_joins(function);
            assert_eq!(function.extra.branch_stack, 2);
        },
    );
}

/// Terminators by two random numbers each, so that the targets of a branch are anywhere.
fn random_flow(choices: &[(u8, u8, u8)]) -> String {
    let last = choices.len();
    let block = |(number, (kind, a, b)): (usize, &(u8, u8, u8))| {
        let [a, b] = [a, b].map(|to| usize::from(*to) % (last + 1));
        let end = match kind % 4 {
            _ if a == b => format!("jump b{a}"),
            0 => format!("jump b{}", number + 1),
            1 => format!("branch p0.x, b{a}, b{b}"),
            2 if a != number + 1 => format!("branch !p0.x, b{a}, b{}", number + 1),
            _ => format!("branch all p0.x, b{a}, b{b}"),
        };
        format!("b{number}:\n  r0.x = add.u r0.x, 1\n  {end}\n")
    };
    let blocks: String = choices.iter().enumerate().map(block).collect();
    format!("{blocks}b{last}:\n  end\n")
}

proptest! {
    /// The checker knows the wave's rule alone.
    #[test]
    fn mark_joins_satisfies_the_checker(choices in prop::collection::vec(any::<(u8, u8, u8)>(), 1..24)) {
        let text = random_flow(&choices);
        let mut function = read::<Ir3>(&text);
        lower_branches(&mut function);
        insert_sync(&mut function);
        insert_nops(&mut function);
        mark_joins(&mut function);
        let words = pack(&function).expect("its branches are short");
        let depth = function.extra.branch_stack;
        prop_assert_eq!(super::check::check(&words, depth), Ok(()), "{}", function);
    }
}
