//! Scheduling: reorders the instructions of each block so that fewer words live at once.
//!
//! Needs: SSA.  Guarantees: definitions before uses, accesses to one memory in order where one of them writes,
//! volatile accesses, cross-lane operations and barriers in order. Bottom up, greedily; a block keeps its order unless its peak sinks.
//! Facts: hardware/compiler-backend.md 6.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::machine::liveness::live_at_ends;
use crate::valhall::mir::{Block, Function, Instruction, Value, Word};
use crate::valhall::order::graph::{Graph, reorder};

/// Schedules all blocks. True when any changed.
pub(crate) fn schedule(function: &mut Function) -> bool {
    let live = live_at_ends(function);
    let preloaded: Vec<Word> = function
        .preloads
        .iter()
        .map(|preload| preload.dest)
        .collect();
    let mut changed = false;
    for (number, block) in function.blocks.iter_mut().enumerate() {
        let mut at_end = live.of(number).to_vec();
        at_end.extend(block.terminator.read().and_then(Word::value));
        let order = order(block, &at_end, &preloaded);
        let identity: Vec<usize> = (0..block.instrs.len()).collect();
        if peak(block, &order, &at_end) < peak(block, &identity, &at_end) {
            reorder(block, &order);
            changed = true;
        }
    }
    changed
}

/// The most words that live at once, with the instructions in this order.
fn peak(block: &Block, order: &[usize], at_end: &[Value]) -> usize {
    let mut live: HashSet<Value> = at_end.iter().copied().collect();
    let mut most = live.len();
    for &index in order.iter().rev() {
        let instr = &block.instrs[index];
        let unread = instr
            .written_values()
            .filter(|value| !live.contains(value))
            .count();
        most = most.max(live.len() + unread);
        instr.written_values().for_each(|value| {
            live.remove(&value);
        });
        live.extend(instr.read_values());
        most = most.max(live.len());
    }
    most
}

/// An order with little pressure.
fn order(block: &Block, at_end: &[Value], preloaded: &[Word]) -> Vec<usize> {
    let mut graph = Graph::build(block, preloaded);
    let mut live: HashSet<Value> = at_end.iter().copied().collect();
    let mut readers: HashMap<Value, Vec<usize>> = HashMap::default();
    // By instruction: how many values begin to live if it comes next, from below.
    let mut opens: Vec<usize> = vec![0; block.instrs.len()];
    for (index, instr) in block.instrs.iter().enumerate() {
        for value in instr.read_values().filter(|value| !live.contains(value)) {
            let list = readers.entry(value).or_default();
            if list.last() != Some(&index) {
                list.push(index);
                opens[index] += 1;
            }
        }
    }
    // Among equals the last in the program, so that the order stays where it does not matter.
    let key = |index: usize, opens: &[usize]| {
        let closes = block.instrs[index].dests.len();
        (opens[index] as isize - closes as isize, Reverse(index))
    };
    let mut ready: BTreeSet<(isize, Reverse<usize>)> = (0..block.instrs.len())
        .filter(|&index| graph.after[index] == 0)
        .map(|index| key(index, &opens))
        .collect();
    let mut reversed = Vec::with_capacity(block.instrs.len());
    while let Some((_, Reverse(index))) = ready.pop_first() {
        reversed.push(index);
        let instr = &block.instrs[index];
        for value in instr.read_values().filter(|value| live.insert(*value)) {
            for &reader in readers.get(&value).into_iter().flatten() {
                let waits = ready.remove(&key(reader, &opens));
                opens[reader] -= 1;
                if waits {
                    ready.insert(key(reader, &opens));
                }
            }
        }
        for earlier in std::mem::take(&mut graph.before[index]) {
            graph.after[earlier] -= 1;
            if graph.after[earlier] == 0 {
                ready.insert(key(earlier, &opens));
            }
        }
    }
    reversed.reverse();
    reversed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut function = Function::parse(text).expect("text is MIR");
        schedule(&mut function);
        let got: Vec<String> = function.blocks[0]
            .instrs
            .iter()
            .map(|instr| instr.dests[0].to_string())
            .collect();
        assert_eq!(got.join(" "), expected, "{function}");
    }

    #[test]
    fn uses_follow_their_loads() {
        check(
            "b0:
              %0 = LD_BUFFER.i32 t0, u0, space:buffer
              %1 = LD_BUFFER.i32 t1, u0, space:buffer
              %2 = LD_BUFFER.i32 t2, u0, space:buffer
              %3 = IADD.u32 %0, %0
              %4 = IADD.u32 %1, %3
              %5 = IADD.u32 %2, %4
              branch %5, b1, b1
            b1:
              end",
            "%0 %3 %1 %4 %2 %5",
        );
    }

    #[test]
    fn volatile_loads_keep_their_order() {
        let text = |volatile: &str| {
            format!(
                "b0:
              %0 = LD_BUFFER.i32 t0, u0, space:buffer{volatile}
              %1 = LD_BUFFER.i32 t1, u0, space:buffer{volatile}
              %2 = LD_BUFFER.i32 t0, u0, space:buffer{volatile}
              %3 = IADD.u32 %2, %2
              %4 = IADD.u32 %1, %3
              %5 = IADD.u32 %0, %4
              branch %5, b1, b1
            b1:
              end"
            )
        };
        check(&text(""), "%2 %3 %1 %4 %0 %5");
        check(&text(", volatile"), "%0 %1 %2 %3 %4 %5");
    }

    #[test]
    fn a_load_does_not_pass_an_atomic() {
        let text = "b0:
              %0 = LD_BUFFER.i32 t0, u0, space:buffer
              %1 = ATOM1_RETURN.i32.ainc thread_local_pointer, imm:0, space:buffer
              %2 = LD_BUFFER.i32 t2, u0, space:buffer
              %3 = IADD.u32 %0, %2
              %4 = IADD.u32 %1, %3
              branch %4, b1, b1
            b1:
              end";
        check(text, "%0 %1 %2 %3 %4");
    }
}
