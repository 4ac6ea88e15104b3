//! Dead control flow: constant branches decided, chains of blocks joined, empty branches removed.
//!
//! Needs: nothing.  Guarantees: no branch on a constant, no jump to a block with one predecessor but to a loop's merge,
//! which stays apart from what leads to it.
//! Never: removes a loop. Whether one ends is the program's affair.  Facts: hardware/compiler-ir.md 4.4.
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::SmallVec;

use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, Block, BlockId, Builder, Function, Merge, Op, PositionId, Terminator};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "dead_flow",
    what: "decided branches and needless blocks go",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let decided = decide(function);
    let joined = join(function);
    let skipped = skip_empty(function);
    Changed::from_bool(decided | joined | skipped)
}

/// Branches and switches on constants, and branches on negations.
fn decide(function: &mut Function) -> bool {
    let mut changed = false;
    for block in function.layout.clone() {
        let new = match &function.block(block).terminator {
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => match function.as_bool(*condition) {
                Some(true) => Terminator::Jump(*then),
                Some(false) => Terminator::Jump(*otherwise),
                None => match function.def_inst(*condition) {
                    Some(data) if data.op == Op::Alu(Alu::BNot) => Terminator::Branch {
                        condition: data.args[0],
                        then: *otherwise,
                        otherwise: *then,
                    },
                    _ => continue,
                },
            },
            Terminator::Switch {
                selector,
                cases,
                default,
            } => match function.as_bits(*selector) {
                Some(selector) => {
                    let case = cases.iter().find(|(value, _)| *value == selector);
                    Terminator::Jump(case.map_or(*default, |(_, target)| *target))
                }
                None => continue,
            },
            Terminator::Jump(_) | Terminator::Return | Terminator::Unreachable => continue,
        };
        let old = function.block(block).terminator.targets();
        let kept = new.targets();
        function.block_mut(block).terminator = new;
        for target in old {
            if !kept.contains(&target) {
                drop_source(function, target, block);
            }
        }
        changed = true;
    }
    if changed {
        order_blocks(function);
    }
    changed
}

/// The headers of loops, each with the blocks that its merge names.
fn merges(function: &Function, cfg: &Cfg) -> impl Iterator<Item = (BlockId, BlockId)> {
    let headers = cfg.loops.iter().map(|natural| natural.header);
    headers.flat_map(|header| {
        let merge = function.block(header).merge;
        let blocks = merge.into_iter().flat_map(Merge::blocks);
        blocks.map(move |block| (header, block))
    })
}

fn drop_source(function: &mut Function, block: BlockId, from: BlockId) {
    for phi in &mut function.block_mut(block).phis {
        phi.sources.retain(|(source, _)| *source != from);
    }
}

/// Whether a block jumps to one to which no other edge leads, so that it is worth a look at the flow.
fn has_chain(function: &Function) -> bool {
    let mut edges = vec![0u32; function.block_count()];
    for block in &function.layout {
        for target in function.block(*block).terminator.each_target() {
            edges[target.index()] += 1;
        }
    }
    let mut blocks = function.layout.iter();
    blocks.any(|block| match function.block(*block).terminator {
        Terminator::Jump(target) => edges[target.index()] == 1,
        _ => false,
    })
}

/// Appends a block to its only predecessor if that only jumps to it.
fn join(function: &mut Function) -> bool {
    if !has_chain(function) {
        return false;
    }
    let cfg = Cfg::of(function);
    let merges: HashSet<BlockId> = merges(function, &cfg).map(|(_, merge)| merge).collect();
    let mut replaced = Replaced::default();
    let mut renamed: HashMap<BlockId, BlockId> = HashMap::default();
    for block in cfg.rpo() {
        let [from] = cfg.predecessors(*block) else {
            continue;
        };
        let into = renamed.get(from).copied().unwrap_or(*from);
        if function.block(into).terminator != Terminator::Jump(*block)
            || into == *block
            || merges.contains(block)
        {
            continue;
        }
        let taken = std::mem::replace(
            function.block_mut(*block),
            Block {
                phis: vec![],
                insts: vec![],
                merge: None,
                terminator: Terminator::Unreachable,
                position: PositionId::UNKNOWN,
            },
        );
        for phi in &taken.phis {
            if let [(_, value)] = phi.sources.as_slice() {
                replaced.insert(phi.result, *value);
            }
        }
        let data = function.block_mut(into);
        data.insts.extend(taken.insts);
        data.terminator = taken.terminator;
        data.position = taken.position;
        renamed.insert(*block, into);
    }
    if renamed.is_empty() {
        return false;
    }
    function.layout.retain(|block| !renamed.contains_key(block));
    for block in function.layout.clone() {
        for phi in &mut function.block_mut(block).phis {
            for (from, _) in &mut phi.sources {
                *from = renamed.get(from).copied().unwrap_or(*from);
            }
        }
    }
    replaced.everywhere(function);
    // What is together now may stand on another side of a loop's end than each of the two.
    order_blocks(function);
    true
}

/// Where a block that does nothing but jump leads.
fn jumps_on(function: &Function, block: BlockId) -> Option<BlockId> {
    let data = function.block(block);
    let empty = data.phis.is_empty() && data.insts.is_empty() && block != function.entry();
    match data.terminator {
        Terminator::Jump(target) if empty && target != block => Some(target),
        _ => None,
    }
}

/// Removes empty blocks: jumps to them go on, and a branch whose sides lead to the same place becomes selects.
fn skip_empty(function: &mut Function) -> bool {
    let mut blocks = function.layout.iter();
    if !blocks.any(|block| jumps_on(function, *block).is_some()) {
        return false;
    }
    let cfg = Cfg::of(function);
    let mut latches = vec![false; function.block_count()];
    let mut loops = latches.clone();
    for natural in &cfg.loops {
        loops[natural.header.index()] = true;
        for latch in &natural.latches {
            latches[latch.index()] = true;
        }
    }
    let skips = |function: &Function, block: BlockId| {
        let target = jumps_on(function, block)?;
        // An edge back to a loop's header keeps its block: several latches would be no gain. Of two headers in a row both
        // stay, so that both loops do: where the inner one ends is inside of the outer one, and one loop that is both
        // would end inside of itself.
        let stays = latches[block.index()] || loops[block.index()] && loops[target.index()];
        (!stays).then_some(target)
    };
    let mut blocks = function.layout.iter();
    if !blocks.any(|block| skips(function, *block).is_some()) {
        return false;
    }
    let mut headers: HashMap<BlockId, Vec<BlockId>> = HashMap::default();
    for (header, merge) in merges(function, &cfg) {
        headers.entry(merge).or_default().push(header);
    }
    let mut edges = Edges::of(&cfg, function.block_count());
    let mut moved = Moved::default();
    let mut changed = false;
    // From the end: what a block leads to is what is left then, and each edge is moved once.
    for block in function.layout.clone().into_iter().rev() {
        let Some(target) = skips(function, block) else {
            continue;
        };
        let sources = edges.sources(function, block);
        // Where several ways lead into a loop, their join is where what the loop needs is computed once.
        let enters_loop = sources.len() > 1 && loops[target.index()];
        if sources.is_empty() || enters_loop {
            continue;
        }
        let mut new = sources.clone();
        new.retain(|source| !leads(function, *source, target));
        let doubled = new.len() < sources.len();
        let chooses = !function.block(target).phis.is_empty();
        if doubled && chooses {
            moved.settle(function, target);
            if !select_instead(function, &sources, block, target) {
                continue;
            }
        } else {
            for source in &sources {
                redirect(function, *source, block, target);
            }
            if chooses {
                moved.add(target, block, sources);
            }
        }
        // What the block was to loops, its target is now.
        if let Some(merge) = function.block_mut(block).merge.take() {
            function.block_mut(target).merge = Some(merge);
        }
        if let Some(own) = headers.remove(&block) {
            let moved = |end| if end == block { target } else { end };
            for header in &own {
                let data = function.block_mut(*header);
                data.merge = data.merge.map(|merge| merge.map(moved));
            }
            headers.entry(target).or_default().extend(own);
        }
        // Nothing comes here, so nothing goes on from here.
        function.block_mut(block).terminator = Terminator::Unreachable;
        edges.from[target.index()].extend(new);
        changed = true;
    }
    moved.settle_all(function);
    if changed {
        // Nothing leads to the empty blocks now: they go.
        order_blocks(function);
    }
    changed
}

/// Blocks that lead to one; most have no more than two.
type Sources = SmallVec<[BlockId; 2]>;

/// Whether a block leads to another.
fn leads(function: &Function, from: BlockId, to: BlockId) -> bool {
    let mut targets = function.block(from).terminator.each_target();
    targets.any(|target| target == to)
}

/// Edges while they change.
struct Edges {
    /// By block: from where there may be one, in the order in which they came.
    from: Vec<Sources>,
}

impl Edges {
    fn of(cfg: &Cfg, count: usize) -> Edges {
        let blocks = (0..count as u32).map(BlockId);
        Edges {
            from: blocks
                .map(|block| Sources::from_slice(cfg.predecessors(block)))
                .collect(),
        }
    }

    /// Those that lead to a block, which is asked for once.
    fn sources(&mut self, function: &Function, block: BlockId) -> Sources {
        let mut list = std::mem::take(&mut self.from[block.index()]);
        list.retain(|from| leads(function, *from, block));
        list
    }
}

/// Sources of phis that are other blocks' now: by the block with the phis, then by the one that is gone.
#[derive(Default)]
struct Moved(BTreeMap<BlockId, HashMap<BlockId, Sources>>);

impl Moved {
    fn add(&mut self, to: BlockId, gone: BlockId, sources: Sources) {
        self.0.entry(to).or_default().insert(gone, sources);
    }

    /// Brings the phis of a block up to date.
    fn settle(&mut self, function: &mut Function, block: BlockId) {
        let Some(moved) = self.0.remove(&block) else {
            return;
        };
        for phi in &mut function.block_mut(block).phis {
            // One that has come in the place of another may be gone itself.
            let mut open = std::mem::take(&mut phi.sources);
            open.reverse();
            while let Some((from, value)) = open.pop() {
                match moved.get(&from) {
                    Some(new) => open.extend(new.iter().rev().map(|from| (*from, value))),
                    None => phi.sources.push((from, value)),
                }
            }
        }
    }

    fn settle_all(&mut self, function: &mut Function) {
        while let Some(block) = self.0.first_key_value().map(|(block, _)| *block) {
            self.settle(function, block);
        }
    }
}

/// A branch to an empty block and to that block's target, where phis choose: selects do.
fn select_instead(
    function: &mut Function,
    sources: &[BlockId],
    empty: BlockId,
    target: BlockId,
) -> bool {
    let &[source] = sources else { return false };
    let Terminator::Branch {
        condition,
        then,
        otherwise,
    } = function.block(source).terminator
    else {
        return false;
    };
    if (then != empty || otherwise != target) && (then != target || otherwise != empty) {
        return false;
    }
    let phis = function.block(target).phis.clone();
    for (number, phi) in phis.iter().enumerate() {
        let value_from = |block: BlockId| {
            let found = phi.sources.iter().find(|(from, _)| *from == block);
            found.map(|(_, value)| *value)
        };
        let (Some(through), Some(direct)) = (value_from(empty), value_from(source)) else {
            return false;
        };
        let value = if through == direct {
            direct
        } else {
            let mut builder = Builder::new(function, source);
            builder.position = builder.function.block(source).position;
            match then == empty {
                true => builder.select(condition, through, direct),
                false => builder.select(condition, direct, through),
            }
        };
        let phi = &mut function.block_mut(target).phis[number];
        phi.sources
            .retain(|(from, _)| *from != empty && *from != source);
        phi.sources.push((source, value));
    }
    function.block_mut(source).terminator = Terminator::Jump(target);
    true
}

fn redirect(function: &mut Function, source: BlockId, old: BlockId, new: BlockId) {
    let terminator = &mut function.block_mut(source).terminator;
    terminator.map_targets(|target| if target == old { new } else { target });
    if let Terminator::Branch {
        then, otherwise, ..
    } = terminator
        && then == otherwise
    {
        *terminator = Terminator::Jump(new);
    }
}
