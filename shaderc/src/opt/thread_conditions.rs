//! Conditions that a predecessor knows: `a && b` goes where it leads as soon as `a` is false.
//!
//! A block that does nothing but branch on a phi is left out on each way on which the phi is a constant. What is left is entered
//! from where `b` is computed: what was loaded for `b` is known behind the branch.
//!
//! Needs: `flatten_branches`, which makes selects of what costs less than a branch.  Guarantees: the same instructions in the same
//! order. Loops keep their headers, latches and merges.
//! Never: changes who does something convergent together. Barriers are safe: all lanes reach one or none does.
//! Facts: hardware/compiler-ir.md 4.4.
use rustc_hash::FxHashSet as HashSet;

use super::known_edges::known_on_edge;
use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::{BlockId, Function, Merge, Op, Terminator, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "thread_conditions",
    what: "a branch on what is known where control comes from is left out on that way",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut candidates: Vec<Candidate> = function
        .layout
        .iter()
        .filter_map(|block| Candidate::of(function, *block))
        .collect();
    if candidates.is_empty() || has_lanes_together(function) {
        return Changed::No;
    }
    let used = used_elsewhere(function, &candidates);
    let cfg = Cfg::of(function);
    let headers: HashSet<BlockId> = cfg.loops.iter().map(|natural| natural.header).collect();
    let merges: HashSet<BlockId> = headers
        .iter()
        .filter_map(|header| function.block(*header).merge)
        .flat_map(Merge::blocks)
        .collect();
    candidates.retain(|candidate| {
        let block = candidate.block;
        let is_free = !headers.contains(&block) && !merges.contains(&block);
        is_free && !used.contains(&candidate.condition) && block != function.entry()
    });
    let waits = waits_for_others(function);
    let mut changed = Changed::No;
    for candidate in &candidates {
        for (from, way) in candidate.known(function, &cfg) {
            let target = candidate.targets[usize::from(!way)];
            let leaves_loop = cfg
                .innermost_loop(candidate.block)
                .is_some_and(|own| !cfg.in_loop(target, own));
            let stays = headers.contains(&target) || leaves_loop && waits;
            if !stays && !leads(function, from, target) {
                candidate.thread(function, from, way, target);
                changed = Changed::Yes;
            }
        }
    }
    if changed == Changed::Yes {
        order_blocks(function);
    }
    changed
}

/// A block that only branches on its phi.
struct Candidate {
    block: BlockId,
    condition: Value,
    /// Where to if it is true, and if it is false.
    targets: [BlockId; 2],
}

impl Candidate {
    fn of(function: &Function, block: BlockId) -> Option<Candidate> {
        let data = function.block(block);
        let ([phi], []) = (data.phis.as_slice(), data.insts.as_slice()) else {
            return None;
        };
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = data.terminator
        else {
            return None;
        };
        (condition == phi.result).then_some(Candidate {
            block,
            condition,
            targets: [then, otherwise],
        })
    }

    /// The predecessors that know the condition, each with what it is.
    fn known(&self, function: &Function, cfg: &Cfg) -> Vec<(BlockId, bool)> {
        let phis = function.block(self.block).phis.iter();
        let sources = phis.flat_map(|phi| &phi.sources);
        let known = sources.filter_map(|(from, value)| {
            let known = known_on_edge(function, cfg, *value, (*from, self.block))?;
            Some((*from, known))
        });
        known.collect()
    }

    /// Leads a predecessor past the block.
    fn thread(&self, function: &mut Function, from: BlockId, way: bool, target: BlockId) {
        let known = function.bool(way);
        let terminator = &mut function.block_mut(from).terminator;
        terminator.map_targets(|to| if to == self.block { target } else { to });
        for phi in &mut function.block_mut(self.block).phis {
            phi.sources.retain(|(source, _)| *source != from);
        }
        for phi in &mut function.block_mut(target).phis {
            let mut sources = phi.sources.iter();
            if let Some((_, value)) = sources.find(|(source, _)| *source == self.block) {
                let value = if *value == self.condition {
                    known
                } else {
                    *value
                };
                phi.sources.push((from, value));
            }
        }
    }
}

/// Whether lanes do something together other than to wait for each other.
fn has_lanes_together(function: &Function) -> bool {
    let mut insts = function.placed_insts();
    insts.any(|(_, inst)| {
        let op = function.inst(inst).op;
        op.is_convergent() && op != Op::Barrier
    })
}

/// Whether a loop may wait for what other lanes write: where those that leave it stand matters then.
fn waits_for_others(function: &Function) -> bool {
    let mut insts = function.placed_insts();
    insts.any(|(_, inst)| {
        let effects = function.inst(inst).op.effects();
        effects.reads && effects.ordered
    })
}

/// Conditions that are read by others than the branch of their block and the phis behind it.
fn used_elsewhere(function: &Function, candidates: &[Candidate]) -> HashSet<Value> {
    let conditions: HashSet<Value> = candidates.iter().map(|own| own.condition).collect();
    let at: HashSet<(BlockId, Value)> = candidates
        .iter()
        .map(|own| (own.block, own.condition))
        .collect();
    let mut used = HashSet::default();
    for block in &function.layout {
        let data = function.block(*block);
        let args = data
            .insts
            .iter()
            .flat_map(|inst| &function.inst(*inst).args);
        used.extend(args.filter(|arg| conditions.contains(*arg)));
        let sources = data.phis.iter().flat_map(|phi| &phi.sources);
        let other = sources.filter(|source| !at.contains(*source));
        used.extend(
            other
                .map(|(_, value)| value)
                .filter(|value| conditions.contains(*value)),
        );
        let decides = data.terminator.operand();
        used.extend(
            decides
                .filter(|value| !at.contains(&(*block, *value)))
                .iter(),
        );
    }
    used.retain(|value| conditions.contains(value));
    used
}

/// Whether a block leads to another.
fn leads(function: &Function, from: BlockId, to: BlockId) -> bool {
    let mut targets = function.block(from).terminator.each_target();
    targets.any(|target| target == to)
}
