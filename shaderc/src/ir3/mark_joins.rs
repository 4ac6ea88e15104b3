//! Joins: lanes that were parked go on at instructions that say so.
//!
//! Needs: branches, and the final order.  Guarantees: each instruction where lanes may wait has (jp); how many reconvergence
//! points are open at once is known.  Facts: hardware/ir3-isa.md 7.

use super::mir::Function;
use super::reconvergence::{Reconvergence, Runs};

/// Marks the joins. Lanes wait at an instruction: at a jump behind a branch, too.
pub(super) fn mark_joins(function: &mut Function) {
    let runs = Runs::of(function);
    let points = Reconvergence::find(&runs.successors);
    function.extra.branch_stack = points.depth();
    let blocks = function.blocks.iter_mut();
    let instrs = blocks.flat_map(|block| &mut block.instrs);
    let mut starts = runs.starts.iter().enumerate().peekable();
    for (number, instr) in instrs.enumerate() {
        let run = starts.next_if(|(_, start)| **start == number);
        instr.join = run.is_some_and(|(run, _)| points.is_point(run));
    }
}
