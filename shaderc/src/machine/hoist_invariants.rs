//! Loop-invariant motion: what gives the same in every round of a loop is computed before it.
//!
//! Needs: SSA; blocks in program order, so that a back edge leads up.  Guarantees: only instructions that touch no memory
//! move, from blocks that every round goes through, to a block before the loop that leads nowhere else.
//! It makes words live longer: `pipeline` compares what comes of it with what comes without.
//! Facts: hardware/compiler-optimization.md 2 (15).

use super::function::{BlockId, Function, Value};
use super::interface::{Instruction, Machine};
use crate::dominators::DominatorTree;
use crate::lists::Lists;

/// Most instructions that come to blocks before loops around one place: there are no registers for the results of more.
const MOST: usize = 64;

/// A loop that was looked at.
struct Left {
    header: BlockId,
    /// Where its invariants went.
    before: Option<BlockId>,
    /// The most that live in it because loops inside it left them before themselves.
    inside: usize,
}

/// Moves what can be moved. True when anything did.
pub(crate) fn hoist_invariants<M: Machine>(function: &mut Function<M>) -> bool {
    if function.loop_count() == 0 {
        return false;
    }
    let mut home: Vec<Option<BlockId>> = vec![None; function.values.len()];
    for id in function.block_ids() {
        let block = function.block(id);
        let phis = block.phis.iter().map(|phi| phi.dest);
        let values = phis.chain(block.instrs.iter().flat_map(Instruction::written_values));
        values.for_each(|value| home[value.index()] = Some(id));
    }
    // By block: how many instructions have come to it.
    let mut moved = vec![0; function.blocks.len()];
    let predecessors = function.predecessors();
    let dominators = dominators(&predecessors, function.blocks.len());
    let at = |block: usize| BlockId(block as u32);
    let mut came = vec![false; function.values.len()];
    // Loops of which the one around has not been looked at.
    let mut open: Vec<Left> = vec![];
    let mut changed = false;
    // Inner loops come later: what leaves one may go on and leave the one around it.
    for header in function
        .block_ids()
        .collect::<Vec<BlockId>>()
        .into_iter()
        .rev()
    {
        let from = predecessors.of(header.index()).iter();
        let Some(&last) = from.filter(|from| **from >= header).max() else {
            continue;
        };
        let (latches, outside): (Vec<BlockId>, Vec<BlockId>) = predecessors
            .of(header.index())
            .iter()
            .partition(|from| **from >= header);
        let mut inner = vec![];
        while let Some(left) = open.pop_if(|left| left.header <= last) {
            inner.push(left);
        }
        let live = |moved: &[usize]| {
            let each = inner
                .iter()
                .map(|left| left.inside + left.before.map_or(0, |before| moved[before.index()]));
            each.max().unwrap_or(0)
        };
        let mut left = Left {
            header,
            before: None,
            inside: live(&moved),
        };
        let only = match outside.as_slice() {
            &[before] => Some(before),
            _ => None,
        };
        let leads = |before: &BlockId| function.block(*before).terminator.successors().count() == 1;
        let Some(before) = only.filter(leads) else {
            open.push(left);
            continue;
        };
        // The blocks that dominate every latch, from the header down.
        let mut path = vec![];
        let ends = latches.iter().map(|latch| latch.index());
        let mut next = ends.reduce(|a, b| dominators.meet(a, b)).map(at);
        while let Some(block) = next.filter(|block| *block >= header) {
            path.push(block);
            next = dominators.up(block.index()).map(at);
        }
        for block in path.into_iter().rev() {
            let outside = |home: &[Option<BlockId>], value: Value| {
                home[value.index()].is_none_or(|home| home < header || home > last)
            };
            let instrs = std::mem::take(&mut function.blocks[block.index()].instrs);
            let mut kept = Vec::with_capacity(instrs.len());
            for instr in instrs {
                let room = moved[before.index()] + left.inside < MOST;
                if room
                    && instr.may_move()
                    && instr.read_values().all(|value| outside(&home, value))
                {
                    let mut further = false;
                    for value in instr.written_values() {
                        home[value.index()] = Some(before);
                        further |= std::mem::replace(&mut came[value.index()], true);
                    }
                    if further {
                        moved[block.index()] -= 1;
                    }
                    function.blocks[before.index()].instrs.push(instr);
                    moved[before.index()] += 1;
                    changed = true;
                } else {
                    kept.push(instr);
                }
            }
            function.blocks[block.index()].instrs = kept;
        }
        left.before = Some(before);
        left.inside = live(&moved);
        open.push(left);
    }
    changed
}

/// Edges that lead up are those of loops, which change nothing: so one walk down is enough.
fn dominators(predecessors: &Lists<BlockId>, count: usize) -> DominatorTree {
    let mut dominators = DominatorTree::new(count);
    dominators.add_root(0);
    for block in 1..count {
        let before = predecessors.of(block).iter().map(|from| from.index());
        dominators.add(block, before.filter(|from| *from < block));
    }
    dominators
}
