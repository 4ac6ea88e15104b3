//! Common subexpressions: one instruction for equal ones, if it dominates them.
//!
//! Needs: nothing.  Guarantees: exactness is kept if either was exact.  Loads of memory that may change are shared only
//! inside a block, with nothing between that may write what they read (`ir::alias`).  Facts: hardware/compiler-ir.md 4.2.
use std::collections::HashMap;

use crate::ir::alias::Extent;
use crate::ir::cfg::Cfg;
use crate::ir::rewrite::replace_uses;
use crate::ir::{BlockId, Function, Inst, InstData, Memory, Op, Space, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "share_values",
    what: "equal pure instructions become one",
    run,
};

type Key = (Op, Vec<Value>);

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::new(function);
    let mut seen: HashMap<Key, Vec<(BlockId, Inst)>> = HashMap::new();
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    // Down the dominator tree: once a block is left, what it has can't dominate anything that is still to come.
    for block in cfg.dominator_preorder() {
        let mut loads: HashMap<Key, Inst> = HashMap::new();
        let mut kept = vec![];
        for inst in function.block(block).insts.clone() {
            for arg in &mut function.inst_mut(inst).args {
                *arg = replaced.get(arg).copied().unwrap_or(*arg);
            }
            let data = function.inst(inst);
            let key = (data.op, data.args.clone());
            forget(function, &mut loads, data);
            let earlier = match data.op {
                Op::Load(access) if access.memory == Memory::Plain => {
                    let found = loads.get(&key).copied();
                    loads.entry(key).or_insert(inst);
                    found
                }
                op if op.is_pure() => {
                    let list = seen.entry(key).or_default();
                    while list
                        .pop_if(|(other, _)| !cfg.dominates(*other, block))
                        .is_some()
                    {}
                    let found = list.last().map(|(_, inst)| *inst);
                    if found.is_none() {
                        list.push((block, inst));
                    }
                    found
                }
                _ => None,
            };
            let Some(earlier) = earlier else {
                kept.push(inst);
                continue;
            };
            let (data, exact) = (function.inst(inst), function.inst(inst).exact);
            let pairs = data.results.iter().zip(&function.inst(earlier).results);
            replaced.extend(pairs.map(|(old, new)| (*old, *new)));
            function.inst_mut(earlier).exact |= exact;
        }
        function.block_mut(block).insts = kept;
    }
    if replaced.is_empty() {
        return Changed::No;
    }
    replace_uses(function, &replaced);
    Changed::Yes
}

/// Forgets the loads whose memory the instruction may change or order.
fn forget(function: &Function, loads: &mut HashMap<Key, Inst>, data: &InstData) {
    let written = match data.op {
        Op::Store(_) | Op::Atomic(..) => Extent::of(function, data),
        Op::Image(image) if image.effects().writes && image.touches_buffers() => None,
        Op::Barrier | Op::Fence => None,
        _ => return,
    };
    loads.retain(|(op, _), inst| {
        let read = Extent::of(function, function.inst(*inst));
        match (&written, read) {
            (Some(written), Some(read)) => !written.may_overlap(&read),
            // Scratch belongs to one invocation: no barrier concerns it.
            _ => op
                .access()
                .is_some_and(|access| access.space == Space::Scratch),
        }
    });
}
