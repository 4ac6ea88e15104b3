//! Spilling of small functions as text: what is stored, brought back, made again and joined.

use crate::machine::spill::{Analysis, check_spilled, spill_ssa};
use crate::valhall::mir::{Form, Function, REGISTER_BYTES, verify};

/// The function after it was spilled to so many registers.
#[track_caller]
fn spilled(text: &str, room: usize) -> String {
    let original = Function::parse(text).expect("text is MIR");
    let analysis = Analysis::of(original).expect("no loop begins it");
    let (function, spills) = spill_ssa(&analysis, REGISTER_BYTES * room).expect("there is memory");
    assert_eq!(verify(&function, Form::Ssa), [], "{function}");
    assert_eq!(
        check_spilled(analysis.function(), &function, &spills),
        None,
        "{function}"
    );
    function.to_string()
}

#[test]
fn what_is_read_last_goes_and_is_stored_once_where_it_is_defined() {
    let text = spilled(
        "preload %0 = r60
        b0:
          %1 = IADD.u32 %0, %0
          %2 = IADD.u32 %0, %1
          %3 = IADD.u32 %0, %2
          %4 = IADD.u32 %2, %3
          %5 = IADD.u32 %3, %4
          %6 = IADD.u32 %1, %5
          %7 = IADD.u32 %1, %6
          STORE.i32 @%7, u0, imm:0, space:buffer
          end",
        2,
    );
    assert_eq!(text.matches("STORE.i32.force").count(), 1, "{text}");
    assert_eq!(text.matches("LOAD.i32.force").count(), 1, "{text}");
    let stored = "%1 = IADD.u32 %0, %0\n  STORE.i32.force @%1,";
    assert!(text.contains(stored), "{text}");
}

#[test]
fn a_uniform_is_read_again() {
    let text = spilled(
        "preload %0 = r60
        b0:
          %1 = MOV.i32 u3
          %2 = IADD.u32 %0, %1
          %3 = IADD.u32 %0, %2
          %4 = IADD.u32 %2, %3
          %5 = IADD.u32 %4, %1
          STORE.i32 @%5, u0, imm:0, space:buffer
          end",
        2,
    );
    assert!(!text.contains("space:spill"), "{text}");
    assert_eq!(text.matches("MOV.i32 u3").count(), 2, "{text}");
}

#[test]
fn what_lives_through_a_loop_makes_room_for_what_it_reads() {
    let text = spilled(
        "preload %0 = r60
        b0:
          %1 = IADD.u32 %0, %0
          %2 = IADD.u32 %0, %1
          jump b1
        b1:
          %3 = phi b0 %0, b2 %4
          %4 = IADD.u32 %3, %2
          branch %4, b2, b3
        b2:
          jump b1
        b3:
          %5 = IADD.u32 %1, %4
          STORE.i32 @%5, u0, imm:0, space:buffer
          end",
        2,
    );
    let inside = text.split("b1:").nth(1).expect("it has blocks");
    let inside = inside.split("b3:").next().expect("it has blocks");
    assert!(!inside.contains("space:spill"), "{text}");
    assert_eq!(text.matches("LOAD.i32.force").count(), 1, "{text}");
}

#[test]
fn ways_that_know_a_value_by_two_names_join_them() {
    let text = spilled(
        "preload %0 = r60
        preload %9 = r61
        b0:
          %1 = IADD.u32 %0, %0
          branch %9, b1, b2
        b1:
          %2 = IADD.u32 %0, %9
          %3 = IADD.u32 %0, %2
          %4 = IADD.u32 %2, %3
          %5 = IADD.u32 %3, %4
          STORE.i32 @%5, u0, imm:0, space:buffer
          %10 = IADD.u32 %1, %0
          STORE.i32 @%10, u0, imm:4, space:buffer
          jump b3
        b2:
          jump b3
        b3:
          %6 = IADD.u32 %1, %0
          STORE.i32 @%6, u0, imm:8, space:buffer
          end",
        3,
    );
    assert!(text.contains(" = phi b1 %"), "{text}");
    assert!(text.contains(", b2 %1"), "{text}");
}

#[test]
fn phis_without_registers_have_slots_that_their_operands_share() {
    let phis = |count: u32, from: u32| -> String {
        (0..count)
            .map(|number| {
                format!(
                    "  %{} = phi b0 %{}, b2 %{}\n",
                    20 + number,
                    1 + number,
                    // A rotation: each slot is read before it is written.
                    20 + (number + from) % count
                )
            })
            .collect()
    };
    let text = format!(
        "preload %0 = r60
        b0:
          %1:%2:%3:%4 = LD_BUFFER.i128.unsigned %0, t0, space:buffer
          jump b1
        b1:
        {}
          %40 = IADD.u32 %0, %0
          branch %40, b2, b3
        b2:
          jump b1
        b3:
          STORE.i128 @%20:%21:%22:%23, u0, imm:0, space:buffer
          end",
        phis(4, 1)
    );
    let text = spilled(&text, 2);
    assert_eq!(text.matches(" = phi ").count(), 1, "{text}");
}
