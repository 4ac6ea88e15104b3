//! Critical edges: a block put on each, so that copies for phis have a place.
//!
//! Needs: no switches.  Guarantees: a block with two successors leads to blocks with one predecessor.
//! Facts: hardware/compiler-correctness.md 5.8.
use super::switches::retarget;
use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::{Function, Terminator};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "critical_edges",
    what: "edges from branches to joins get a block of their own",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    let mut changed = Changed::No;
    for block in function.layout.clone() {
        let targets = function.block(block).terminator.targets();
        if targets.len() < 2 {
            continue;
        }
        for target in targets {
            if cfg.predecessors(target).len() < 2 {
                continue;
            }
            changed = Changed::Yes;
            let between = function.new_block();
            function.block_mut(between).terminator = Terminator::Jump(target);
            function.block_mut(between).position = function.block(block).position;
            let terminator = &mut function.block_mut(block).terminator;
            terminator.map_targets(|other| if other == target { between } else { other });
            retarget(function, target, block, between);
        }
    }
    if changed == Changed::Yes {
        order_blocks(function);
    }
    changed
}
