//! Passes on small programs as text, and all of them on random ones.

use proptest::prelude::*;

use crate::machine::parse;
use crate::valhall::lower_branches::lower_branches;
use crate::valhall::mir::Function;
use crate::valhall::registers::allocate::AllocateOptions;
use crate::valhall::tests::random_function::{Random, allocate_all};
use crate::valhall::waits::assign_slots::assign_slots;
use crate::valhall::waits::check_waits::{Fences, Unsafe, check_waits};
use crate::valhall::waits::insert_flow::insert_flow;
use crate::valhall::waits::insert_waits::insert_waits;
use crate::valhall::waits::mark_last_use::mark_last_use;

/// Runs the passes after allocation on a text whose lines say what becomes of them.
#[track_caller]
fn check(text: &str) {
    parse::check(text, |function: &mut Function| {
        let fences = finish(function);
        assert_eq!(check_waits(function, &fences), Ok(()), "{function}");
    });
}

pub(in crate::valhall) fn finish(function: &mut Function) -> Fences {
    lower_branches(function);
    assign_slots(function);
    let fences = Fences::of(function);
    insert_waits(function);
    insert_flow(function);
    mark_last_use(function);
    fences
}

#[test]
fn a_reader_waits_on_the_instruction_before() {
    check(
        "b0:
          r0 = LD_BUFFER.i32.unsigned r4, u0, space:buffer  ; expect: LD_BUFFER.i32.unsigned ^r4, u0, space:buffer, slot:0
          r1 = IADD.u32 r5, r5                              ; expect: IADD.u32.wait0 ^r5, ^r5
          r2 = IADD.u32 r0, r1
          STORE.i32 @r2, [r8:r9], imm:0, space:buffer       ; expect: STORE.i32.end @r2, ^[r8:r9]
          end",
    );
}

/// What comes round differs from what is known in the register alone: the slot is the same, and so is the memory.
#[test]
fn a_reader_in_a_loop_waits_for_another_load_of_the_round_before() {
    check(
        "b0:
          r0 = LD_BUFFER.i32 r4, u0, space:buffer
          jump b1
        b1:
          r5 = IADD.u32 r6, r6
          jump b2
        b2:
          r7 = IADD.u32 r1, r1  ; expect: r7 = IADD.u32
          branch r9, b3, b4
        b3:
          r1 = LD_BUFFER.i32 r4, u0, space:buffer
          jump b1
        b4:
          r2 = IADD.u32 r0, r7
          STORE.i32 @r2, [r8:r9], imm:0, space:buffer
          end",
    );
}

#[test]
fn a_register_that_is_being_loaded_is_not_overwritten() {
    check(
        "b0:
          r0 = LD_BUFFER.i32 r4, u0, space:buffer  ; expect: LD_BUFFER.i32.wait0
          r0 = MOV.i32 r5                          ; expect: r0 = MOV.i32.end
          end",
    );
}

#[test]
fn a_load_waits_for_a_store_but_constants_do_not() {
    check(
        "b0:
          STORE.i32 @r2, [r8:r9], imm:0, space:buffer  ; expect: STORE.i32 @r2
          r0 = LD_BUFFER.i32 r4, u0, space:constant    ; expect: LD_BUFFER.i32.wait2
          r1 = LD_BUFFER.i32 r4, u0, space:buffer
          end",
    );
}

#[test]
fn an_atomic_load_waits_for_others_that_may_be_of_its_word() {
    check(
        "b0:
          r0 = LD_BUFFER.i32 r4, u0, space:buffer, volatile, atomic  ; expect: LD_BUFFER.i32.wait0
          r1 = LD_BUFFER.i32 r5, u0, space:buffer, volatile, atomic  ; expect: LD_BUFFER.i32.end
          end",
    );
    check(
        "b0:
          r0 = LD_BUFFER.i32 r4, u0, space:buffer, volatile, atomic  ; expect: LD_BUFFER.i32 r4
          r1 = LD_BUFFER.i32 r4, u0, space:buffer, volatile          ; expect: LD_BUFFER.i32 ^r4
          r2 = LOAD.i32 r5, imm:0, space:shared, volatile, atomic    ; expect: LOAD.i32.wait0
          r3 = LOAD.i32 r5, imm:0, space:shared, volatile, atomic    ; expect: LOAD.i32.end
          end",
    );
}

/// What is under way comes round, and is of another round.
#[test]
fn an_atomic_load_in_a_loop_waits_for_that_of_the_round_before() {
    check(
        "b0:
          jump b1
        b1:
          r5 = IADD.u32 r6, r6  ; expect: r5 = IADD.u32.wait0
          r0 = LD_BUFFER.i32 r4, u0, space:buffer, volatile, atomic
          branch r9, b1, b2
        b2:
          end",
    );
}

#[test]
fn spill_slots_are_told_apart() {
    check(
        "b0:
          STORE.i32 @r2, thread_local_pointer, imm:0, space:spill  ; expect: STORE.i32 @r2
          r0 = LOAD.i32 thread_local_pointer, imm:4, space:spill   ; expect: LOAD.i32.wait2
          r1 = LOAD.i32 thread_local_pointer, imm:0, space:spill
          end",
    );
}

#[test]
fn a_barrier_waits_before_and_after() {
    check(
        "b0:
          STORE.i32 @r2, [r8:r9], imm:0, space:shared  ; expect: STORE.i32.wait2
          BARRIER                                      ; expect: BARRIER.wait slot:7
          r0 = LOAD.i32 [r8:r9], imm:0, space:shared   ; expect: LOAD.i32.end ^[r8:r9]
          end",
    );
}

#[test]
fn a_fence_waits_for_accesses_to_the_memory_that_it_is_about() {
    check(
        "b0:
          STORE.i32 @r2, [r8:r9], imm:0, space:buffer  ; expect: STORE.i32 @r2
          FENCE space:shared
          r0 = LOAD.i32 [r8:r9], imm:0, space:shared   ; expect: LOAD.i32.end
          end",
    );
    check(
        "b0:
          STORE.i32 @r3, [r8:r9], imm:4, space:shared  ; expect: STORE.i32 @r3
          STORE.i32 @r2, [r8:r9], imm:0, space:buffer  ; expect: STORE.i32.wait1 @r2
          FENCE space:shared
          r0 = LOAD.i32 [r8:r9], imm:0, space:shared   ; expect: LOAD.i32.end
          end",
    );
    for (fence, wait) in [("FENCE space:buffer", "wait2"), ("FENCE", "wait02")] {
        check(&format!(
            "b0:
              r1 = LOAD.i32 [r8:r9], imm:4, space:shared
              STORE.i32 @r2, [r8:r9], imm:0, space:buffer  ; expect: STORE.i32.{wait} @
              {fence}
              r0 = LOAD.i32 [r8:r9], imm:0, space:shared   ; expect: LOAD.i32.end
              end"
        ));
    }
}

#[test]
fn a_barrier_that_nothing_follows_is_followed_by_the_end() {
    check(
        "b0:
          BARRIER  ; expect: BARRIER.wait slot:7
          end      ; expect: NOP.end",
    );
}

#[test]
fn a_message_in_a_loop_is_waited_for_on_the_way_round() {
    check(
        "b0:
          jump b1                              ; expect: NOP.reconverge
        b1:                                    ; expect: b1:
          r1 = IADD.u32 r0, r0                 ; expect: r1 = IADD.u32
          r0 = LD_BUFFER.i32 r4, u0, space:buffer  ; expect: LD_BUFFER.i32.wait0
          branch r5, b1, b2                    ; expect: BRANCHZ.reconverge r5, to:b1
        b2:
          end                                  ; expect: NOP.end",
    );
}

#[test]
fn a_join_is_waited_for_where_the_message_was_sent() {
    check(
        "b0:
          branch r5, b1, b2
        b1:
          r0 = LD_BUFFER.i32 r4, u0, space:buffer  ; expect: LD_BUFFER.i32.wait0
          r1 = MOV.i32 u0                          ; expect: MOV.i32.reconverge
          jump b2
        b2:                                        ; expect: b2:
          r2 = IADD.u32 r0, r1                     ; expect: r2 = IADD.u32
          STORE.i32 @r2, [r8:r9], imm:0, space:buffer
          end",
    );
}

#[test]
fn an_if_reconverges_at_the_branch_and_at_both_ends() {
    check(
        "b0:
          branch r5, b1, b2            ; expect: BRANCHZ.eq.reconverge ^r5, to:b2
        b1:
          r0 = MOV.i32 u0
          jump b3                      ; expect: BRANCHZ.eq.reconverge t0, to:b3
        b2:
          r0 = MOV.i32 u1              ; expect: MOV.i32.reconverge u1
          jump b3
        b3:
          STORE.i32 @r0, [r8:r9], imm:0, space:buffer
          end",
    );
}

#[test]
fn a_register_that_a_store_may_still_read_is_not_marked() {
    check(
        "b0:
          STORE.i32 @r2, [r8:r9], imm:0, space:buffer
          r0 = IADD.u32 r2, r3     ; expect: IADD.u32 r2, ^r3
          r0 = IADD.u32 r0, r0     ; expect: IADD.u32.end ^r0, ^r0
          end",
    );
}

/// The first rule that a finished program breaks.
#[track_caller]
fn judge(text: &str) -> Option<Unsafe> {
    check_waits(
        &Function::parse(text)
            .unwrap_or_else(|error| panic!("line {}: {}", error.line, error.text)),
        &Fences::default(),
    )
    .err()
}

#[test]
fn the_checker_finds_a_missing_wait() {
    let read = judge(
        "b0:
          r0 = LD_BUFFER.i32 r4, u0, space:buffer, slot:0
          r1 = IADD.u32.end r0, r0
          end",
    );
    assert!(
        matches!(read, Some(Unsafe::NoWait { slots: 1, .. })),
        "{read:?}"
    );
    let around = judge(
        "b0:
          jump b1
        b1:
          r1 = IADD.u32 r0, r0
          r0 = LD_BUFFER.i32 r4, u0, space:buffer, slot:1
          BRANCHZ.reconverge r5, to:b1
          branch r5, b1, b2
        b2:
          NOP.end
          end",
    );
    assert!(
        matches!(around, Some(Unsafe::Flow { .. })),
        "the entry must reconverge: {around:?}"
    );
}

#[test]
fn the_checker_finds_wrong_flow() {
    let no_end = judge("b0:\n r0 = MOV.i32 t0\n end");
    assert!(matches!(no_end, Some(Unsafe::Flow { .. })), "{no_end:?}");
    let barrier = judge("b0:\n BARRIER slot:7\n NOP.end\n end");
    assert!(
        matches!(barrier, Some(Unsafe::Message { .. })),
        "{barrier:?}"
    );
    let astray =
        judge("b0:\n BRANCHZ.reconverge r0, to:b0\n branch r0, b1, b1\nb1:\n NOP.end\n end");
    assert!(
        matches!(astray, Some(Unsafe::Branch { .. } | Unsafe::Flow { .. })),
        "{astray:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_functions_wait_and_flow_safely(
        choices in prop::collection::vec(any::<u8>(), 0..400),
        limit in prop::option::of(8u32..40),
    ) {
        let mut function = Random::function(&choices);
        let allocated = allocate_all(&mut function, AllocateOptions { limit, ..AllocateOptions::default() });
        prop_assert!(allocated.is_ok(), "{:?} limit {:?}", allocated, limit);
        let fences = finish(&mut function);
        prop_assert_eq!(check_waits(&function, &fences), Ok(()), "{}", function);
    }
}
