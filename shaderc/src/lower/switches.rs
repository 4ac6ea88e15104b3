//! Switches: to a chain of comparisons, one a target.
//!
//! Needs: nothing.  Guarantees: no switch is left.  Facts: hardware/compiler-ir.md 1.3.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::layout::order_blocks;
use crate::ir::{Alu, BlockId, Builder, Function, Terminator, Type, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "switches",
    what: "switches become chains of branches",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    Changed::from_bool(lower(function, |_| true))
}

/// Lowers the switches on values of some types; whether there were any.
pub(super) fn lower(function: &mut Function, of: impl Fn(Type) -> bool) -> bool {
    let mut changed = false;
    for block in function.layout.clone() {
        let position = function.block(block).position;
        let Terminator::Switch {
            selector,
            cases,
            default,
        } = function.block(block).terminator.clone()
        else {
            continue;
        };
        if !of(function.ty(selector)) {
            continue;
        }
        changed = true;
        let mut groups: Vec<(BlockId, Vec<u64>)> = vec![];
        let mut group_of: HashMap<BlockId, usize> = HashMap::default();
        for (value, target) in cases {
            if target == default {
                continue;
            }
            let group = *group_of.entry(target).or_insert(groups.len());
            if group == groups.len() {
                groups.push((target, vec![]));
            }
            groups[group].1.push(value);
        }
        let mut at = block;
        let last = groups.len();
        for (number, (target, values)) in groups.into_iter().enumerate() {
            let next = if number + 1 == last {
                default
            } else {
                function.new_block()
            };
            let mut builder = Builder::new(function, at);
            builder.position = position;
            let condition = any(&mut builder, selector, &values);
            builder.terminate(Terminator::Branch {
                condition,
                then: target,
                otherwise: next,
            });
            retarget(function, target, block, at);
            if next == default {
                retarget(function, default, block, at);
            }
            at = next;
        }
        if last == 0 {
            function.block_mut(block).terminator = Terminator::Jump(default);
        }
    }
    if changed {
        order_blocks(function);
    }
    changed
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
pub(super) fn retarget(function: &mut Function, block: BlockId, old: BlockId, new: BlockId) {
    for phi in &mut function.block_mut(block).phis {
        for (from, _) in &mut phi.sources {
            if *from == old {
                *from = new;
            }
        }
    }
}
