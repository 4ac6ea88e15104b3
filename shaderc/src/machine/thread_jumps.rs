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

/// Longest loop that is looked at: a jump more or less is nothing to a longer one.
const LONGEST: usize = 1024;

/// What an access of memory costs, in instructions.
const ACCESS: u32 = 4;

/// Whether a loop takes less time if lanes that went different ways meet at its end.
///
/// Let a round begin with what all lanes do, and then go one of several ways. Lanes that meet do all of it each round, each
/// way for those that take it. Lanes that don't go back at once and begin rounds of their own, until all of them stand before
/// the last way. With two ways that is no loss as long as the ways take longer than the beginning, and where lanes take the
/// ways in turn it brings them into step. With more ways each is taken by fewer lanes at once.
fn gain_by_meeting<M: Machine>(function: &Function<M>, header: BlockId, latch: BlockId) -> bool {
    let (first, last) = (header.index(), latch.index());
    if last - first > LONGEST {
        return true;
    }
    let inside = |to: BlockId| to > header && to <= latch;
    let cost = |at: usize| -> u32 {
        let instrs = function.blocks[at].instrs.iter();
        let costs = instrs.map(|instr| if instr.may_move() { 1 } else { ACCESS });
        1 + costs.sum::<u32>()
    };
    // The first block where lanes part that stay in the loop.
    let parts = |at: &usize| {
        let mut ways = function.blocks[*at].terminator.successors();
        ways.clone().nth(1).is_some() && ways.all(inside)
    };
    let Some(split) = (first..last).find(parts) else {
        return false;
    };
    // By block from the split on: the longest way from it to the latch.
    let mut ways: Vec<Option<u32>> = vec![None; last - split];
    ways.push(Some(0));
    for at in (split..last).rev() {
        let targets = function.blocks[at].terminator.successors();
        let targets = targets.filter(|to| to.index() > at && inside(*to));
        let behind = targets.filter_map(|to| ways[to.index() - split]);
        let own = if at == split { 0 } else { cost(at) };
        ways[at - split] = behind.max().map(|behind| behind + own);
    }
    let common: u32 = (first..=split).map(cost).sum();
    let long = ways[0].unwrap_or_default();
    let came = function.blocks[first..last].iter();
    let came = came.flat_map(|block| block.terminator.successors());
    long > 0 && (long < common || came.filter(|to| *to == latch).count() > 2)
}

/// Where entering each block leads without doing anything. Where lanes must meet at the end of a loop before any of them
/// begins anew, what jumps back stays: they may do something together, or one may hold a lock that the others, which stand
/// at a lower address once they have gone back, would ask for without end. Where it is faster if they meet, it stays too.
fn ends<M: Machine>(function: &Function<M>, together: bool) -> Vec<BlockId> {
    // By block: how many before it read what lanes may wait for.
    let mut waits = vec![0];
    for block in &function.blocks {
        let has = block.instrs.iter().any(Instruction::may_wait);
        waits.push(waits[waits.len() - 1] + u32::from(has));
    }
    let meets = |header: BlockId, latch: BlockId| {
        header < latch
            && (together
                || waits[header.index()] < waits[latch.index()]
                || gain_by_meeting(function, header, latch))
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
