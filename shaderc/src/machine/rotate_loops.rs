//! Loop inversion: a loop that tests at its top and jumps back from its bottom tests at its bottom too, and needs no jump.
//!
//! Needs: registers, no phis.  Guarantees: the test at the top is short, and is run once more by nobody: where the loop
//! jumped to it, a copy of it stands.  Never: copies a barrier or what lanes do together, nor, where lanes do
//! anything together, a test of which both ways stay between the loop's ends: a way out that lanes take in the round in which
//! they leave stands there.
//! Facts: hardware/compiler-optimization.md 2 (23).

use super::function::{BlockId, Function, Terminator};
use super::interface::{Instruction, Machine};

/// Most instructions that are copied to save one a round.
const MOST: usize = 6;

/// Inverts loops. True when there was one.
pub(crate) fn rotate_loops<M: Machine>(function: &mut Function<M>) -> bool {
    let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    let together = instrs.any(Instruction::is_cross_lane);
    let mut changed = false;
    for latch in function.block_ids() {
        let Terminator::Jump(header) = function.block(latch).terminator else {
            continue;
        };
        if header >= latch {
            continue;
        }
        let top = function.block(header);
        let leaves = |target: BlockId| target > latch;
        let tests = match top.terminator {
            Terminator::Branch {
                taken, otherwise, ..
            } => !together || leaves(taken) != leaves(otherwise),
            Terminator::Jump(_) | Terminator::End => false,
        };
        if !tests || top.instrs.len() > MOST || !top.instrs.iter().all(Instruction::may_repeat) {
            continue;
        }
        let (instrs, terminator, end) = (top.instrs.clone(), top.terminator.clone(), top.end);
        let bottom = &mut function.blocks[latch.index()];
        bottom.instrs.extend(instrs);
        (bottom.terminator, bottom.end) = (terminator, end);
        changed = true;
    }
    changed
}
