//! Dead code: removes what computes words that nobody reads.
//!
//! Needs: SSA.  Facts: hardware/compiler-backend.md 3 (9).

use super::function::{Function, Value, Word};
use super::interface::{Instruction, Machine, Reads};
use crate::lists::Lists;

/// Removes dead instructions and phis.
pub(crate) fn remove_dead<M: Machine>(function: &mut Function<M>) {
    let needed = find_needed(function);
    let wanted = |value: Value| needed[value.index()];
    for block in &mut function.blocks {
        block.phis.retain(|phi| wanted(phi.dest));
        block
            .instrs
            .retain(|instr| instr.stays_unread() || instr.written_values().any(wanted));
    }
    function
        .preloads
        .retain(|preload| preload.dest.value().is_none_or(wanted));
}

/// Follows reads backwards from what stays.
fn find_needed<M: Machine>(function: &Function<M>) -> Vec<bool> {
    let mut needed = vec![false; function.values.len()];
    let mut work: Vec<Value> = Vec::new();
    // Written, and what it is made of.
    let mut sources: Vec<(usize, Value)> = Vec::new();
    for block in &function.blocks {
        for phi in &block.phis {
            let words = phi.sources.iter().flat_map(|(_, operand)| operand.words());
            let reads = words.filter_map(Word::value);
            sources.extend(reads.map(|value| (phi.dest.index(), value)));
        }
        for instr in &block.instrs {
            if instr.stays_unread() {
                work.extend(instr.read_values());
            }
            for dest in instr.written_values() {
                let reads = instr.read_values();
                sources.extend(reads.map(|value| (dest.index(), value)));
            }
        }
        work.extend(block.terminator.read().and_then(Word::value));
    }
    let sources = Lists::gather(function.values.len(), sources.iter().copied());
    while let Some(value) = work.pop() {
        if !std::mem::replace(&mut needed[value.index()], true) {
            work.extend(sources.of(value.index()));
        }
    }
    needed
}
