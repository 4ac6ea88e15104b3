//! Switches: to branches. Few cases are compared one after the other, a branch a target; many are searched: each branch
//! halves the stretches of values that lead to one target.
//!
//! Needs: nothing.  Guarantees: no switch is left.  Facts: hardware/compiler-ir.md 1.3.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::layout::order_blocks;
use crate::ir::{Alu, BlockId, Builder, Function, PositionId, Terminator, Type, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "switches",
    what: "switches become branches: few cases one by one, many by binary search",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    Changed::from_bool(lower(function, |_| true))
}

/// Lowers the switches on values of some types; whether there were any.
pub(super) fn lower(function: &mut Function, of: impl Fn(Type) -> bool) -> bool {
    let mut changed = false;
    for block in function.layout.clone() {
        let Terminator::Switch {
            selector,
            mut cases,
            default,
        } = function.block(block).terminator.clone()
        else {
            continue;
        };
        if !of(function.ty(selector)) {
            continue;
        }
        changed = true;
        cases.retain(|(_, target)| *target != default);
        let from = Place {
            block,
            position: function.block(block).position,
            selector,
        };
        let groups = groups(&cases);
        let runs = runs(&cases, default, function.ty(selector).mask());
        // On the way to a case: half of the comparisons and half of the branches of a chain; of a search a comparison and a
        // branch for each halving.
        let halvings = runs.len().ilog2() as usize;
        if runs.len() > 1 && (cases.len() + groups.len()) / 2 > 2 * halvings {
            search(function, from, &runs);
        } else {
            chain(function, from, groups, default);
        }
    }
    if changed {
        order_blocks(function);
    }
    changed
}

/// Where a switch stands.
#[derive(Clone, Copy)]
struct Place {
    block: BlockId,
    position: PositionId,
    selector: Value,
}

impl Place {
    /// Ends a block by a branch.
    fn branch(
        self,
        function: &mut Function,
        at: BlockId,
        [then, otherwise]: [BlockId; 2],
        condition: impl FnOnce(&mut Builder<'_>) -> Value,
    ) {
        let mut builder = Builder::new(function, at);
        builder.position = self.position;
        let condition = condition(&mut builder);
        builder.terminate(Terminator::Branch {
            condition,
            then,
            otherwise,
        });
    }
}

/// The values of each target, in the order in which they stand.
fn groups(cases: &[(u64, BlockId)]) -> Vec<(BlockId, Vec<u64>)> {
    let mut groups: Vec<(BlockId, Vec<u64>)> = vec![];
    let mut group_of: HashMap<BlockId, usize> = HashMap::default();
    for &(value, target) in cases {
        let group = *group_of.entry(target).or_insert(groups.len());
        if group == groups.len() {
            groups.push((target, vec![]));
        }
        groups[group].1.push(value);
    }
    groups
}

/// All values up to `last` as stretches that lead to one target: the first of each, ascending, and where it leads.
fn runs(cases: &[(u64, BlockId)], default: BlockId, last: u64) -> Vec<(u64, BlockId)> {
    let mut sorted = cases.to_vec();
    // Of equal values the first counts.
    sorted.sort_by_key(|(value, _)| *value);
    sorted.dedup_by_key(|(value, _)| *value);
    let mut runs: Vec<(u64, BlockId)> = vec![(0, default)];
    let mut add = |first: u64, target: BlockId| {
        runs.pop_if(|(empty, _)| *empty == first);
        if runs.last().is_none_or(|(_, before)| *before != target) {
            runs.push((first, target));
        }
    };
    for (value, target) in sorted {
        add(value, target);
        if value < last {
            add(value + 1, default);
        }
    }
    runs
}

/// A comparison with each value, a branch for each target.
fn chain(function: &mut Function, from: Place, groups: Vec<(BlockId, Vec<u64>)>, default: BlockId) {
    let mut at = from.block;
    let last = groups.len();
    for (number, (target, values)) in groups.into_iter().enumerate() {
        let next = if number + 1 == last {
            default
        } else {
            function.new_block()
        };
        from.branch(function, at, [target, next], |builder| {
            any(builder, from.selector, &values)
        });
        retarget(function, target, from.block, at);
        if next == default {
            retarget(function, default, from.block, at);
        }
        at = next;
    }
    if last == 0 {
        function.block_mut(from.block).terminator = Terminator::Jump(default);
    }
}

/// A binary search for the stretch of values that has the selector; there are several.
fn search(function: &mut Function, from: Place, runs: &[(u64, BlockId)]) {
    // What now leads to a target.
    let mut ways: Vec<(BlockId, BlockId)> = vec![];
    let mut work = vec![(from.block, runs)];
    while let Some((at, runs)) = work.pop() {
        // One value in a stretch of others is told by itself.
        if let [(_, around), (value, target), (end, behind)] = *runs
            && around == behind
            && end == value + 1
        {
            from.branch(function, at, [target, around], |builder| {
                builder.alu_bits(Alu::IEq, from.selector, value)
            });
            ways.extend([(target, at), (around, at)]);
            continue;
        }
        let (low, high) = runs.split_at(runs.len() / 2);
        let sides = [low, high].map(|side| match side {
            &[(_, target)] => {
                ways.push((target, at));
                target
            }
            _ => {
                let block = function.new_block();
                work.push((block, side));
                block
            }
        });
        from.branch(function, at, sides, |builder| {
            builder.alu_bits(Alu::ULt, from.selector, high[0].0)
        });
    }
    ways.sort();
    for ways in ways.chunk_by(|(target, _), (other, _)| target == other) {
        for phi in &mut function.block_mut(ways[0].0).phis {
            let Some(at) = phi.sources.iter().position(|(old, _)| *old == from.block) else {
                continue;
            };
            let (_, value) = phi.sources.remove(at);
            phi.sources
                .extend(ways.iter().map(|(_, way)| (*way, value)));
        }
    }
}

fn any(b: &mut Builder<'_>, selector: Value, values: &[u64]) -> Value {
    let mut condition = b.function.bool(false);
    for (number, value) in values.iter().enumerate() {
        let here = b.alu_bits(Alu::IEq, selector, *value);
        condition = match number {
            0 => here,
            _ => b.alu(Alu::BOr, &[condition, here]),
        };
    }
    condition
}

/// Phi sources of `block` that came from `old` come from `new`.
pub(crate) fn retarget(function: &mut Function, block: BlockId, old: BlockId, new: BlockId) {
    for phi in &mut function.block_mut(block).phis {
        for (from, _) in &mut phi.sources {
            if *from == old {
                *from = new;
            }
        }
    }
}
