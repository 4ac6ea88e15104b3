//! The order of blocks: bodies of loops in one piece, edges down.
//!
//! Needs: reducible flow.  Guarantees: the order that [`crate::ir`] describes; nothing recurses.
//! Where threads of a warp part, those at the lowest address run on first. Code on a loop's way out that stands behind
//! the loop is run once, by all threads that left it; code that stands inside it, before what the next round does, is run
//! by the threads that leave together, once for each round in which some leave. The first costs less. The second is
//! wanted where it shows which threads are there: [`loops`](super::loops) says of which loops.
//! Facts: hardware/compiler-ir.md 1.2 and 1.3; hardware/compiler-backend.md 8.4.
use super::BlockId;
use super::block::{Merge, Targets};
use super::cfg::Cfg;
use super::function::Function;
use super::loops::Loops;

/// Puts the layout into the order that [`crate::ir`] describes and drops unreachable blocks with their phi sources.
///
/// The flow must be reducible; blocks of an irreducible part are kept, in some order.
pub fn order_blocks(function: &mut Function) {
    if function.layout.is_empty() {
        return;
    }
    let cfg = Cfg::of(function);
    forget_merges(function, &cfg);
    function.layout = match cfg.loops.is_empty() {
        // There is nothing to hold together.
        true => cfg.rpo().to_vec(),
        false => order(function, &cfg),
    };
    // By block: the block of which it was last seen to be a predecessor.
    let mut leads_to = vec![None; function.block_count()];
    for block in function.layout.clone() {
        let predecessors = cfg.predecessors(block);
        for from in predecessors {
            leads_to[from.index()] = Some(block);
        }
        for phi in &mut function.block_mut(block).phis {
            if phi.sources.len() > predecessors.len() {
                phi.sources
                    .retain(|(from, _)| leads_to[from.index()] == Some(block));
            }
        }
    }
}

/// Drops the merges of what is no loop any more, those from which their loop goes on, and those in the middle of a loop that
/// begins behind theirs: its construct would begin in one construct and go on outside of it. A loop whose merge can't be
/// reached is left only by returning.
fn forget_merges(function: &mut Function, cfg: &Cfg) {
    let mut header = vec![None; function.block_count()];
    for (number, natural) in cfg.loops.iter().enumerate() {
        header[natural.header.index()] = Some(number);
    }
    for block in cfg.rpo() {
        let data = function.block_mut(*block);
        let ends = |merge: BlockId, number: usize| {
            let mut around = cfg.innermost_loop(merge);
            if let Some(own) = around.filter(|own| cfg.loops[*own].header == merge) {
                around = cfg.loops[own].parent;
            }
            !cfg.in_loop(merge, number) && around.is_none_or(|around| cfg.in_loop(*block, around))
        };
        data.merge = match (header[block.index()], data.merge) {
            (None, _) => None,
            (Some(number), Some(merge)) => {
                let merge = if_reached(merge, cfg);
                let named = merge.and_then(Merge::block);
                merge.filter(|_| named.is_none_or(|merge| ends(merge, number)))
            }
            (Some(_), None) => None,
        };
    }
}

/// What a merge is where nothing may lead to it any more. None if that isn't known.
fn if_reached(merge: Merge, cfg: &Cfg) -> Option<Merge> {
    match merge {
        Merge::At(block) if !cfg.reachable(block) => Some(Merge::Nowhere),
        Merge::InCall { merge, returned } => {
            // What the merge dominates can't be reached any more if the merge can't.
            let returned =
                returned.filter(|block| cfg.reachable(*block) && !cfg.dominates(merge, *block));
            match cfg.reachable(merge) {
                true => Some(Merge::InCall { merge, returned }),
                false => returned.map(Merge::At),
            }
        }
        Merge::At(_) | Merge::Nowhere => Some(merge),
    }
}

/// A reverse postorder in which everything behind a loop's body is finished before its header is left.
fn order(function: &Function, cfg: &Cfg) -> Vec<BlockId> {
    let loops = Loops::new(function, cfg);
    let bodies = loops.bodies();
    let mut behind: Vec<Vec<BlockId>> = vec![vec![]; cfg.loops.len()];
    for block in cfg.rpo() {
        for target in function.block(*block).terminator.each_target() {
            if let Some(number) = bodies.left(*block, target) {
                behind[number].push(target);
            }
        }
    }
    let next = |block: BlockId| -> Targets {
        // What is taken first, from the end, comes last in the order: behind the loop, then what stays in it.
        let mut targets = function.block(block).terminator.targets();
        if let Some(number) = cfg.innermost_loop(block) {
            targets.sort_by_key(|target| cfg.in_loop(*target, number));
        }
        if let Some(number) = bodies.of(block)
            && cfg.loops[number].header == block
        {
            targets.extend_from_slice(&behind[number]);
        }
        targets
    };
    let mut order = vec![];
    let mut seen = vec![false; function.block_count()];
    seen[function.entry().index()] = true;
    let mut stack = vec![(function.entry(), next(function.entry()))];
    while let Some((block, targets)) = stack.last_mut() {
        match targets.pop() {
            Some(target) => {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, next(target)));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
