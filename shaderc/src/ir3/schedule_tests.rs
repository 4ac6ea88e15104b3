//! Small blocks as text; beside each line stands the instruction that scheduling puts there.

use super::*;
use crate::ir3::mir::Ir3;
use crate::machine::parse::{check, read};

/// A value takes registers from where it is written, whether the block reads it or what is behind the block; what nobody
/// reads takes none.
#[test]
fn values_that_are_read_add_to_the_pressure() {
    let function = read::<Ir3>(
        "b0:
          %1 = add.u %0, 1
          %2 = add.u %1, 1
          %3 = add.u %2, 1
          %4 = add.u %2, 2
          end",
    );
    let list = List::new(&function.blocks[0], &[Value(3)], &[], &function.values);
    let pressures = list.nodes.iter().map(|node| node.pressure);
    let word = Class::Full.units() as isize;
    // The first two write a value for one that dies with them; `%3` lives on, and `%4` is read by nothing.
    assert_eq!(pressures.collect::<Vec<_>>(), [0, 0, word, 0]);
}

/// Words that may live at once before registers count more than time.
fn most() -> usize {
    PLENTY / Class::Full.units()
}

/// Stores words, so that they live until there.
fn stores(words: impl Iterator<Item = usize>) -> String {
    words
        .map(|word| format!("  stib.b.u32 %0, 0, @%{word}, set:0, space:buffer\n"))
        .collect()
}

#[test]
fn a_register_is_free_with_the_last_reader_that_is_left() {
    // `%41` and `%42` read `%32`: with the second one it dies, so that `%42` takes no further register. `%40` does, and leads to
    // the longest way.
    let kept = stores(0..most());
    check::<Ir3>(
        &format!(
            "b0:
              %40 = add.u %0, 1       ; expect: %41 = add.u
              %43 = add.u %40, 1      ; expect: %42 = add.u
              %41 = add.u %32, %33    ; expect: %40 = add.u
              %42 = add.u %32, 1      ; expect: %43 = add.u
              bar
              {kept}
              stib.b.u32 %0, 0, @%41:%42, set:0, space:buffer
              stib.b.u32 %0, 0, @%43, set:0, space:buffer
              end"
        ),
        |function| assert!(schedule(function)),
    );
}

#[test]
fn registers_count_more_than_time_while_more_live_than_a_full_set_of_waves_has() {
    // `%40` takes one too many, which `%41` gives back.
    let kept = stores(0..most() - 2);
    check::<Ir3>(
        &format!(
            "b0:
              %40 = add.u %0, 1       ; expect: %40 = add.u
              %42 = add.u %0, 2       ; expect: %41 = add.u
              %43 = add.u %40, 1      ; expect: %42 = add.u
              %44 = add.u %42, 1
              %41 = add.u %32, %33
              bar
              {kept}
              stib.b.u32 %0, 0, @%41, set:0, space:buffer
              stib.b.u32 %0, 0, @%43:%44, set:0, space:buffer
              end"
        ),
        |function| assert!(schedule(function)),
    );
}

/// The store need not wait for anything, and the load before it waits for its address.
#[test]
fn a_store_stays_behind_the_loads_of_its_memory() {
    check::<Ir3>(
        "b0:
          %2 = ldib.b.u32 %0, 0, set:0, space:buffer  ; expect: %2 = ldib.b.u32
          %3 = ldib.b.u32 %2, 0, set:0, space:buffer  ; expect: %3 = ldib.b.u32
          stib.b.u32 %0, 0, @%1, set:0, space:buffer  ; expect: stib.b.u32
          %4 = ldib.b.u32 %3, 0, set:0, space:buffer  ; expect: %4 = ldib.b.u32
          stib.b.u32 %1, 0, @%4, set:0, space:buffer
          end",
        |function| assert!(!schedule(function)),
    );
}

/// The load takes longest, and would come first.
#[test]
fn nothing_passes_a_barrier() {
    check::<Ir3>(
        "b0:
          stl.u32 %0, @%1, offset:4, space:shared     ; expect: stl.u32
          bar                                         ; expect: bar
          %2 = ldib.b.u32 %0, 0, set:0, space:buffer  ; expect: ldib.b.u32
          stib.b.u32 %0, 0, @%2, set:0, space:buffer
          end",
        |function| assert!(!schedule(function)),
    );
}

/// Neither changes how many registers live.
#[test]
fn what_a_branch_asks_is_computed_early() {
    check::<Ir3>(
        "predicate %3
        b0:
          %2 = add.u %4, 1                            ; expect: %3 = cmps.u.lt.p
          %3 = cmps.u.lt.p %1, 5                      ; expect: %2 = add.u
          branch %3, b1, b2
        b1:
          stib.b.u32 %1, 0, @%2, set:0, space:buffer
          end
        b2:
          end",
        |function| assert!(schedule(function)),
    );
}

/// A product is read later as an accumulator than as a factor; a reciprocal takes longer than two sums.
#[test]
fn what_leads_to_the_longest_way_comes_first() {
    check::<Ir3>(
        "b0:
          %2 = mul.f %0, %1               ; expect: %3 = mul.f
          %3 = mul.f %1, %0               ; expect: %2 = mul.f
          %4 = mad.f32 %3, %0, %2         ; expect: mad.f32
          stib.b.u32 %0, 0, @%4, set:0, space:buffer
          end",
        |function| assert!(schedule(function)),
    );
    check::<Ir3>(
        "b0:
          %2 = add.u %0, 1                ; expect: rcp
          %3 = add.u %2, 1                ; expect: %2 = add.u
          %4 = rcp %1                     ; expect: %3 = add.u
          %5 = add.u %3, %4               ; expect: %5 = add.u
          stib.b.u32 %0, 0, @%5, set:0, space:buffer
          end",
        |function| assert!(schedule(function)),
    );
}

/// The second load takes longer, and would come first.
#[test]
fn volatile_accesses_keep_their_order_whatever_memory_they_are_to() {
    check::<Ir3>(
        "b0:
          %2 = ldl.u32 %0, offset:4, space:shared, volatile     ; expect: ldl.u32
          %3 = ldib.b.u32 %1, 0, set:0, space:buffer, volatile  ; expect: ldib.b.u32
          %4 = add.u %2, %3
          stib.b.u32 %1, 0, @%4, set:0, space:buffer, volatile
          end",
        |function| assert!(!schedule(function)),
    );
}

/// The load takes longer than the copy, and would come first.
#[test]
fn what_is_there_at_the_start_leaves_its_register_first() {
    check::<Ir3>(
        "preload %0 = r0.x
        b0:
          %2 = mov.u32 %0                             ; expect: = mov.u32
          %3 = ldib.b.u32 %1, 0, set:0, space:buffer  ; expect: ldib.b.u32
          %4 = add.u %2, %3
          stib.b.u32 %1, 0, @%4, set:0, space:buffer
          end",
        |function| assert!(!schedule(function)),
    );
}
