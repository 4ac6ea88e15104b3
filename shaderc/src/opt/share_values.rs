//! Common subexpressions: one instruction for equal ones, if it dominates them.
//!
//! Needs: nothing.  Guarantees: exactness is kept if either was exact.  Loads of memory that may change are shared only
//! inside a block, with nothing between that may write what they read (`ir::alias`).  Facts: hardware/compiler-ir.md 4.2.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::{FxHashMap as HashMap, FxHasher};
use smallvec::SmallVec;

use crate::ir::alias::{Extent, Known};
use crate::ir::cfg::Cfg;
use crate::ir::rewrite::replace_uses;
use crate::ir::{BlockId, Function, Inst, InstData, Memory, Op, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "share_values",
    what: "equal pure instructions become one",
    run,
};

/// Instructions by a hash of operation and operands: few share one. Others dominate those that stand behind them.
type Seen = HashMap<u64, SmallVec<[(BlockId, Inst); 2]>>;

fn hash(data: &InstData) -> u64 {
    let mut hasher = FxHasher::default();
    (data.op, &data.args).hash(&mut hasher);
    hasher.finish()
}

fn equal(a: &InstData, b: &InstData) -> bool {
    (a.op, &a.args) == (b.op, &b.args)
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::new(function);
    let blocks = function.layout.iter();
    let count = blocks.map(|block| function.block(*block).insts.len()).sum();
    let mut seen = Seen::with_capacity_and_hasher(count, Default::default());
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    // Down the dominator tree: once a block is left, what it has can't dominate anything that is still to come.
    for block in cfg.dominator_preorder() {
        let mut loads: Known<Inst> = Known::default();
        let mut insts = std::mem::take(&mut function.block_mut(block).insts);
        insts.retain(|&inst| {
            for arg in &mut function.inst_mut(inst).args {
                *arg = replaced.get(arg).copied().unwrap_or(*arg);
            }
            let data = function.inst(inst);
            loads.forget_behind(function, data);
            let earlier = match data.op {
                Op::Load(access) if access.memory == Memory::Plain => {
                    let extent = Extent::of(function, data);
                    let known = extent.iter().flat_map(|extent| loads.get(extent));
                    let found = known
                        .copied()
                        .find(|inst| equal(function.inst(*inst), data));
                    if found.is_none() {
                        extent
                            .into_iter()
                            .for_each(|extent| loads.insert(extent, inst));
                    }
                    found
                }
                op if op.is_pure() => {
                    let list = seen.entry(hash(data)).or_default();
                    while let Some((other, _)) = list.last()
                        && !cfg.dominates(*other, block)
                    {
                        list.pop();
                    }
                    let mut earlier = list.iter().map(|(_, inst)| *inst);
                    let found = earlier.rfind(|inst| equal(function.inst(*inst), data));
                    if found.is_none() {
                        list.push((block, inst));
                    }
                    found
                }
                _ => None,
            };
            let Some(earlier) = earlier else {
                return true;
            };
            let (data, exact) = (function.inst(inst), function.inst(inst).exact);
            let pairs = data.results.iter().zip(&function.inst(earlier).results);
            replaced.extend(pairs.map(|(old, new)| (*old, *new)));
            function.inst_mut(earlier).exact |= exact;
            false
        });
        function.block_mut(block).insts = insts;
    }
    if replaced.is_empty() {
        return Changed::No;
    }
    replace_uses(function, &replaced);
    Changed::Yes
}
