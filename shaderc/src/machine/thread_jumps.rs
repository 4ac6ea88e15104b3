//! Jump threading: a branch to a block that does nothing but jump goes where that goes.
//!
//! Needs: registers.  Guarantees: no empty block but the entry and those that end the program or loop to themselves;
//! the order of the rest stays. Splitting edges made such blocks, and most of them needed no copies.
//! Facts: hardware/compiler-backend.md 8.4.

use super::function::{Block, BlockId, Function, Terminator};
use super::interface::{Instruction, Machine};

/// Threads all jumps and drops the blocks that nobody enters any more.
pub(crate) fn thread_jumps<M: Machine>(function: &mut Function<M>) {
    let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    let together = instrs.any(|instr| instr.is_cross_lane());
    let ends = ends(function, together);
    for block in &mut function.blocks {
        block.terminator.map_successors(|to| ends[to.index()]);
        if let Terminator::Branch {
            taken, otherwise, ..
        } = block.terminator
            && taken == otherwise
        {
            block.terminator = Terminator::Jump(taken);
        }
    }
    drop_unreached(function);
}

/// Where entering each block leads without doing anything. Where lanes meet at the end of a loop before any of them begins
/// anew, what jumps back stays: those that came there first would make the next round alone, and all others theirs after
/// it. Where they must meet, it stays even if one way alone leads there: they may do something together, or one may hold a
/// lock that the others, which stand at a lower address once they have gone back, would ask for without end.
fn ends<M: Machine>(function: &Function<M>, together: bool) -> Vec<BlockId> {
    // By block: how many before it read what lanes may wait for.
    let mut waits = vec![0];
    for block in &function.blocks {
        let has = block.instrs.iter().any(Instruction::may_wait);
        waits.push(waits[waits.len() - 1] + u32::from(has));
    }
    // By block: how many ways lead to it.
    let mut ways = vec![0; function.blocks.len()];
    for block in &function.blocks {
        for to in block.terminator.successors() {
            ways[to.index()] += 1;
        }
    }
    let meets = |header: BlockId, latch: BlockId| {
        let several = ways[latch.index()] > 1;
        header < latch && (several || together || waits[header.index()] < waits[latch.index()])
    };
    let next = |at: BlockId| match function.block(at) {
        Block {
            instrs,
            terminator: Terminator::Jump(to),
            ..
        } if instrs.is_empty() && *to != at && !meets(*to, at) => Some(*to),
        _ => None,
    };
    let mut ends: Vec<Option<BlockId>> = vec![None; function.blocks.len()];
    // By block: the walk that has come by.
    let mut walks: Vec<Option<BlockId>> = ends.clone();
    let mut path = vec![];
    for start in function.block_ids() {
        let mut at = start;
        // A ring of empty blocks ends where it began to repeat.
        let end = loop {
            if let Some(end) = ends[at.index()] {
                break end;
            }
            if walks[at.index()].replace(start) == Some(start) {
                break at;
            }
            path.push(at);
            match next(at) {
                Some(to) => at = to,
                None => break at,
            }
        };
        for block in path.drain(..) {
            ends[block.index()] = Some(end);
        }
    }
    // Each walk has set its own start.
    ends.into_iter()
        .zip(function.block_ids())
        .map(|(end, own)| end.unwrap_or(own))
        .collect()
}

fn drop_unreached<M: Machine>(function: &mut Function<M>) {
    let mut reached = vec![false; function.blocks.len()];
    let mut work = vec![BlockId(0)];
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut reached[id.index()], true) {
            work.extend(function.block(id).terminator.successors());
        }
    }
    let mut next = 0;
    let new_ids: Vec<BlockId> = reached
        .iter()
        .map(|&reached| {
            let id = BlockId(next);
            next += u32::from(reached);
            id
        })
        .collect();
    let mut flags = reached.into_iter();
    function.blocks.retain(|_| flags.next().unwrap_or(true));
    for block in &mut function.blocks {
        block.terminator.map_successors(|to| new_ids[to.index()]);
    }
}
