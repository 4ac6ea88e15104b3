//! Allocation of random structured functions, with so few registers that much has to be spilled.

use proptest::prelude::*;

use crate::valhall::mir::{Form, Function, Instruction as _, verify};
use crate::valhall::registers::allocate::{AllocateError, AllocateOptions};
use crate::valhall::statistics::spill_cost;
use crate::valhall::tests::random_function::{Random, allocate_all};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_functions_allocate_and_the_checker_agrees(
        choices in prop::collection::vec(any::<u8>(), 0..400),
        limit in prop::option::of(8u32..40),
    ) {
        let mut function = Random::function(&choices);
        prop_assert_eq!(verify(&function, Form::Ssa), []);
        let before = function.to_string();
        match allocate_all(&mut function, AllocateOptions { limit, ..AllocateOptions::default() }) {
            Ok(_) => {}
            Err(error) => prop_assert!(false, "{:?} with limit {:?}\n{}", error, limit, before),
        }
        let left = function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| {
            instr.reads().chain(instr.dests.iter().copied()).any(|word| word.register().is_none())
        });
        prop_assert!(!left, "a value is left\n{}", function);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Half of the registers alone are refused just where all are taken, or memory.
    #[test]
    fn half_the_registers_are_enough_or_there_is_no_answer(choices in prop::collection::vec(any::<u8>(), 0..800)) {
        let function = Random::function(&choices);
        let with = |only_half: bool| {
            let options = AllocateOptions { only_half, ..AllocateOptions::default() };
            allocate_all(&mut function.clone(), options)
        };
        let all = with(false).expect("fits");
        match with(true) {
            Ok(half) => prop_assert_eq!(half, all),
            Err(error) => {
                prop_assert_eq!(error, AllocateError::NoRoom);
                prop_assert_eq!(all.registers_per_thread, 64);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Where spilling may cost less than it did, there is no answer.
    #[test]
    fn what_would_cost_more_in_memory_is_refused(choices in prop::collection::vec(any::<u8>(), 0..800)) {
        let function = Random::function(&choices);
        let with = |most_spill_cost: Option<u32>| {
            let options = AllocateOptions { limit: Some(8), most_spill_cost, ..AllocateOptions::default() };
            let mut function = function.clone();
            let allocated = allocate_all(&mut function, options);
            allocated.map(|allocated| (allocated, spill_cost(&function)))
        };
        if let Ok((allocated, cost)) = with(None) && allocated.spills > 0 {
            prop_assert_eq!(with(Some(cost - 1)), Err(AllocateError::NoRoom));
        }
    }
}

#[test]
fn an_address_is_copied_for_none_of_its_stores() {
    let mut function = Function::parse(
        "preload %0 = r60
        b0:
          %1:%2 = LEA_PKA %0, t0
          STORE.i32 @%0, [%1:%2], imm:0, space:buffer
          STORE.i32 @%0, [%1:%2], imm:4, space:buffer
          end",
    )
    .expect("text is MIR");
    let allocated = allocate_all(&mut function, AllocateOptions::default()).expect("fits");
    assert_eq!(
        (allocated.registers_per_thread, allocated.registers_used),
        (32, 3)
    );
    assert_eq!(function.blocks[0].instrs.len(), 3, "{function}");
}

#[test]
fn a_loop_needs_no_copies() {
    let mut function = Function::parse(
        "preload %0 = r60
        b0:
          %1 = IADD_IMM.i32 t0, imm:0
          jump b1
        b1:
          %2 = phi b0 %1, b2 %3
          %4 = ICMP_OR.u32.ge.m1 %2, %0, t0
          branch %4.h0, b3, b2
        b2:
          %3 = IADD_IMM.i32 %2, imm:1
          jump b1
        b3:
          STORE.i32 @%2, u0, imm:0, space:buffer
          end",
    )
    .expect("text is MIR");
    allocate_all(&mut function, AllocateOptions::default()).expect("fits");
    assert!(!function.to_string().contains("MOV"), "{function}");
}

#[test]
fn values_with_most_copies_between_them_share_a_register() {
    let mut function = Function::parse(
        "preload %0 = r60
        b0:
          %1 = IADD_IMM.i32 t0, imm:0
          jump b1
        b1:
          %2 = phi b0 %1, b7 %5
          branch %0.h0, b8, b2
        b2:
          %3 = IADD_IMM.i32 %2, imm:1
          STORE.i32 @%2, u0, imm:0, space:buffer
          branch %0.h1, b3, b4
        b3:
          jump b7
        b4:
          branch %0.h0, b5, b6
        b5:
          jump b7
        b6:
          jump b7
        b7:
          %5 = phi b3 %3, b5 %2, b6 %2
          jump b1
        b8:
          end",
    )
    .expect("text is MIR");
    allocate_all(&mut function, AllocateOptions::default()).expect("fits");
    // Where the counter has grown, and nowhere else.
    assert_eq!(function.to_string().matches("MOV").count(), 1, "{function}");
}

/// The checker, on allocations that are right and wrong.
mod checker {
    use crate::machine::allocate::check_registers::{Wrong, check};
    use crate::machine::allocate::spill::Spills;
    use crate::valhall::mir::{Function, Register, Valhall, Value};

    const SUM: &str = "preload %0 = r60
        b0:
          %1 = IADD.u32 %0, %0
          %2 = IADD.u32 %1, %0
          %3:%4 = LEA_PKA %2, t0
          STORE.i32 @%1, [%3:%4], imm:0, space:buffer
          end";

    /// Checks `SUM` with these registers for %0 to %4.
    fn judge(registers: [u8; 5]) -> Result<(), Wrong<Valhall>> {
        let function = Function::parse(SUM).expect("text is MIR");
        let registers = registers.map(Register::new).to_vec();
        check([&function; 2], &function, &registers, &Spills::default())
    }

    #[test]
    fn a_right_allocation_passes() {
        assert_eq!(judge([60, 0, 1, 2, 3]), Ok(()));
        assert_eq!(judge([60, 0, 60, 2, 3]), Ok(()));
    }

    #[test]
    fn a_value_that_was_overwritten_is_found() {
        let Err(Wrong::Holds {
            value, register, ..
        }) = judge([60, 60, 1, 2, 3])
        else {
            panic!("passed")
        };
        assert_eq!((value, register), (Value(0), Register::new(60)));
        let Err(Wrong::Holds { value, .. }) = judge([60, 0, 1, 0, 1]) else {
            panic!("passed")
        };
        assert_eq!(value, Value(1));
    }

    #[test]
    fn a_pair_must_be_even_and_consecutive() {
        assert!(matches!(judge([60, 0, 1, 3, 4]), Err(Wrong::Group { .. })));
        assert!(matches!(judge([60, 0, 1, 2, 4]), Err(Wrong::Group { .. })));
    }

    #[test]
    fn paths_that_differ_hold_nothing_where_they_meet() {
        let function = Function::parse(
            "preload %0 = r60
            b0:
              %1 = IADD.u32 %0, %0
              branch %0, b1, b2
            b1:
              %2 = IADD.u32 %0, %0
              jump b2
            b2:
              branch %1, b3, b3
            b3:
              end",
        )
        .expect("text is MIR");
        let good = [60, 0, 1].map(Register::new).to_vec();
        assert_eq!(
            check([&function; 2], &function, &good, &Spills::default()),
            Ok(())
        );
        let bad = [60, 0, 0].map(Register::new).to_vec();
        assert!(matches!(
            check([&function; 2], &function, &bad, &Spills::default()),
            Err(Wrong::Holds { .. })
        ));
    }

    /// A copy is its source wherever it is read, so an allocation may do without it.
    #[test]
    fn a_copy_may_be_left_out_where_it_has_the_register_of_its_source() {
        let text = "preload %0 = r60
            b0:
              %1 = IADD.u32 %0, %0
              %2 = MOV.i32 %1
              STORE.i32 @%2, u0, imm:0, space:buffer
              end";
        let program = Function::parse(text).expect("text is MIR");
        let without = text.replace("%2 = MOV.i32 %1\n", "\n");
        let without = Function::parse(&without).expect("text is MIR");
        let judge = |registers: [u8; 3]| {
            let registers = registers.map(Register::new).to_vec();
            check([&program; 2], &without, &registers, &Spills::default())
        };
        assert_eq!(judge([60, 0, 0]), Ok(()));
        assert!(matches!(judge([60, 0, 1]), Err(Wrong::Holds { .. })));
    }
}
