//! Allocation of random structured functions, with so few registers that much has to be spilled.

use proptest::prelude::*;

use super::{AllocateOptions, allocate};
use crate::valhall::mir::{Form, Function, verify};
use crate::valhall::random_function::{Random, prepare};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_functions_allocate_and_the_checker_agrees(
        choices in prop::collection::vec(any::<u8>(), 0..400),
        limit in prop::option::of(8u32..40),
    ) {
        let mut function = Random::function(&choices);
        prop_assert_eq!(verify(&function, Form::Ssa), []);
        prepare(&mut function);
        prop_assert_eq!(verify(&function, Form::Variables), []);
        let before = function.to_string();
        match allocate(&mut function, AllocateOptions { limit, ..AllocateOptions::default() }) {
            Ok(_) => {}
            Err(error) => prop_assert!(false, "{:?} with limit {:?}\n{}", error, limit, before),
        }
        let left = function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| {
            instr.reads().chain(instr.dests.iter().copied()).any(|word| word.register().is_none())
        });
        prop_assert!(!left, "a value is left\n{}", function);
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
    prepare(&mut function);
    let allocated = allocate(&mut function, AllocateOptions::default()).expect("fits");
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
    prepare(&mut function);
    allocate(&mut function, AllocateOptions::default()).expect("fits");
    assert!(!function.to_string().contains("MOV"), "{function}");
}
