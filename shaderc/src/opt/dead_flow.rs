//! Dead control flow: constant branches decided, chains of blocks joined, empty branches removed.
//!
//! Needs: nothing.  Guarantees: no branch on a constant, no jump to a block with one predecessor but to a loop's merge,
//! which stays apart from what leads to it.
//! Never: removes a loop. Whether one ends is the program's affair.  Facts: hardware/compiler-ir.md 4.4.
use std::collections::{HashMap, HashSet};

use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::rewrite::replace_uses;
use crate::ir::{Alu, Block, BlockId, Builder, Function, Merge, Op, PositionId, Terminator, Value};
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

/// The headers of loops whose merge is known, with it.
fn merges(function: &Function, cfg: &Cfg) -> impl Iterator<Item = (BlockId, BlockId)> {
    let headers = cfg.loops.iter().map(|natural| natural.header);
    headers.filter_map(|header| match function.block(header).merge {
        Some(Merge::At(merge)) => Some((header, merge)),
        Some(Merge::Nowhere) | None => None,
    })
}

fn drop_source(function: &mut Function, block: BlockId, from: BlockId) {
    for phi in &mut function.block_mut(block).phis {
        phi.sources.retain(|(source, _)| *source != from);
    }
}

/// Appends a block to its only predecessor if that only jumps to it.
fn join(function: &mut Function) -> bool {
    let cfg = Cfg::new(function);
    let merges: HashSet<BlockId> = merges(function, &cfg).map(|(_, merge)| merge).collect();
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    let mut renamed: HashMap<BlockId, BlockId> = HashMap::new();
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
    replace_uses(function, &replaced);
    // What is together now may stand on another side of a loop's end than each of the two.
    order_blocks(function);
    true
}

/// Removes empty blocks: jumps to them go on, and a branch whose sides lead to the same place becomes selects.
fn skip_empty(function: &mut Function) -> bool {
    let cfg = Cfg::new(function);
    // An edge back to a loop's header keeps its block: several latches would be no gain.
    let latches: HashSet<BlockId> = cfg
        .loops
        .iter()
        .flat_map(|natural| natural.latches.iter().copied())
        .collect();
    let mut headers: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
    for (header, merge) in merges(function, &cfg) {
        headers.entry(merge).or_default().push(header);
    }
    let mut predecessors = cfg.into_predecessors();
    let mut changed = false;
    for block in function.layout.clone() {
        let data = function.block(block);
        let empty = data.phis.is_empty() && data.insts.is_empty() && block != function.entry();
        let (true, &Terminator::Jump(target)) = (empty, &data.terminator) else {
            continue;
        };
        let sources = predecessors[block.index()].clone();
        if target == block || latches.contains(&block) || sources.is_empty() {
            continue;
        }
        // Of two headers in a row both stay, so that both constructs do.
        if data.merge.is_some() && function.block(target).merge.is_some() {
            continue;
        }
        let doubled = sources
            .iter()
            .any(|source| predecessors[target.index()].contains(source));
        if doubled && !function.block(target).phis.is_empty() {
            if !select_instead(function, &sources, block, target) {
                continue;
            }
        } else {
            for phi in &mut function.block_mut(target).phis {
                let at = phi.sources.iter().position(|(from, _)| *from == block);
                if let Some(at) = at {
                    let (_, value) = phi.sources.swap_remove(at);
                    phi.sources
                        .extend(sources.iter().map(|from| (*from, value)));
                }
            }
            for source in &sources {
                redirect(function, *source, block, target);
            }
        }
        // What the block was to loops, its target is now.
        if let Some(merge) = function.block_mut(block).merge.take() {
            function.block_mut(target).merge = Some(merge);
        }
        if let Some(own) = headers.remove(&block) {
            for header in &own {
                function.block_mut(*header).merge = Some(Merge::At(target));
            }
            headers.entry(target).or_default().extend(own);
        }
        let list = &mut predecessors[target.index()];
        list.retain(|other| *other != block && !sources.contains(other));
        list.extend(sources);
        predecessors[block.index()].clear();
        changed = true;
    }
    if changed {
        // Nothing leads to the empty blocks now: they go.
        order_blocks(function);
    }
    changed
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
