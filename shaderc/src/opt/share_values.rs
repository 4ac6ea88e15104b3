//! Common subexpressions: one instruction for equal ones, if it dominates them.
//!
//! Needs: nothing.  Guarantees: exactness is kept if either was exact.  Loads of memory that may change are shared only
//! inside a block, with nothing between that may write what they read (`ir::alias`).  Facts: hardware/compiler-ir.md 4.2.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::alias::{Extent, Known};
use crate::ir::cfg::Cfg;
use crate::ir::rewrite::replace_uses;
use crate::ir::{BlockId, Function, Inst, InstData, Memory, Op, Value, Values};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "share_values",
    what: "equal pure instructions become one",
    run,
};

type Key = (Op, Values);

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::new(function);
    let mut seen: HashMap<Key, Vec<(BlockId, Inst)>> = HashMap::default();
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    // Down the dominator tree: once a block is left, what it has can't dominate anything that is still to come.
    for block in cfg.dominator_preorder() {
        let mut loads: Known<Inst> = Known::default();
        let mut kept = vec![];
        for inst in function.block(block).insts.clone() {
            for arg in &mut function.inst_mut(inst).args {
                *arg = replaced.get(arg).copied().unwrap_or(*arg);
            }
            let data = function.inst(inst);
            forget(function, &mut loads, data);
            let earlier = match data.op {
                Op::Load(access) if access.memory == Memory::Plain => {
                    let extent = Extent::of(function, data);
                    let known = extent.iter().flat_map(|extent| loads.get(extent));
                    let found = known.copied().find(|inst| {
                        let other = function.inst(*inst);
                        (other.op, &other.args) == (data.op, &data.args)
                    });
                    if found.is_none() {
                        extent
                            .into_iter()
                            .for_each(|extent| loads.insert(extent, inst));
                    }
                    found
                }
                op if op.is_pure() => {
                    let key = (data.op, data.args.clone());
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
fn forget(function: &Function, loads: &mut Known<Inst>, data: &InstData) {
    match data.op {
        Op::Store(_) | Op::Atomic(..) => {
            if let Some(written) = Extent::of(function, data) {
                loads.forget(&written);
            }
        }
        Op::Image(image) if image.effects().writes && image.touches_buffers() => {
            loads.forget_shared();
        }
        Op::Barrier | Op::Fence => loads.forget_shared(),
        _ => {}
    }
}
