//! Edge splitting: an edge from a block with two successors to a block with phis gets a block of its own.
//!
//! Needs: SSA.  Guarantees: every predecessor of a block with phis (and with several predecessors) has one successor,
//! so that `lower_phis` can put copies at its end. The new block stands right after the branch, so joins stay behind
//! everything that leads to them.  Facts: hardware/compiler-backend.md 7.4, 8.4.

use super::function::{Block, BlockId, Function, Terminator};
use super::interface::Machine;

/// Splits the edges. True when there were any.
pub(crate) fn split_edges<M: Machine>(function: &mut Function<M>) -> bool {
    split(function, |block| !block.phis.is_empty())
}

/// Splits the edges to all blocks that have several predecessors, whether they have phis or not.
pub(crate) fn split_all_edges<M: Machine>(function: &mut Function<M>) -> bool {
    split(function, |_| true)
}

fn split<M: Machine>(function: &mut Function<M>, wanted: impl Fn(&Block<M>) -> bool) -> bool {
    let predecessors = function.predecessors();
    // For each old block: the successors to reach through a new block.
    let splits: Vec<Vec<BlockId>> = function
        .block_ids()
        .map(|id| {
            let successors = function.block(id).terminator.successors();
            let several = successors.clone().nth(1).is_some();
            let critical = |to: &BlockId| {
                several && predecessors.of(to.index()).len() > 1 && wanted(function.block(*to))
            };
            successors.filter(critical).collect()
        })
        .collect();
    if splits.iter().all(Vec::is_empty) {
        return false;
    }
    let mut new_id = Vec::with_capacity(splits.len());
    let mut next = 0;
    for split in &splits {
        new_id.push(BlockId(next));
        next += 1 + split.len() as u32;
    }
    let old = std::mem::take(&mut function.blocks);
    for (index, mut block) in old.into_iter().enumerate() {
        let own = new_id[index];
        for phi in &mut block.phis {
            for (from, _) in &mut phi.sources {
                let position = splits[from.index()]
                    .iter()
                    .position(|to| to.index() == index);
                let through = position.map_or(0, |position| position as u32 + 1);
                *from = BlockId(new_id[from.index()].0 + through);
            }
        }
        block.terminator.map_successors(|to| {
            match splits[index].iter().position(|&split| split == to) {
                Some(position) => BlockId(own.0 + position as u32 + 1),
                None => new_id[to.index()],
            }
        });
        function.blocks.push(block);
        for to in &splits[index] {
            function
                .blocks
                .push(Block::new(Terminator::Jump(new_id[to.index()])));
        }
    }
    true
}
