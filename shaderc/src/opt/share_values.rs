//! Common subexpressions: one instruction for equal ones, if it dominates them (global value numbering).
//!
//! Needs: nothing.  Guarantees: exactness is kept if either was exact.  Loads of memory that may change are shared only
//! inside a block, with nothing between that may write what they read (`ir::alias`), and what a lane learns of its quad too,
//! since the same lanes run all of a block. What one instruction makes of one value
//! is rematerialised far away: a register that holds it all the way costs more.  Facts: hardware/compiler-ir.md 4.2.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;

use crate::ir::alias::{Extent, Known};
use crate::ir::cfg::Cfg;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Function, Inst, InstData, Memory, Op};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "share_values",
    what: "equal pure instructions become one",
    run,
};

/// Instructions, in the order of the walk, beyond which a cheap value is rematerialised, not kept live. In large functions
/// more values would live than there are registers, and more the larger they are.
const FAR: usize = 1024;

/// What stands above the place that a walk down the dominator tree has come to, by what it computes.
struct Seen {
    /// By the low bits of a hash: one more than the number of the last entry; 0 for none.
    lists: Vec<u32>,
    entries: Vec<Entry>,
    /// Instructions that the walk has come past.
    past: usize,
}

/// An instruction. In a list each stands above those that come after it.
struct Entry {
    block: BlockId,
    inst: Inst,
    /// How many the walk had come past.
    past: usize,
    hash: u32,
    /// As in [`Seen::lists`]: the one before it in its list.
    before: u32,
}

impl Seen {
    fn new(most: usize) -> Seen {
        Seen {
            lists: vec![0; most.next_power_of_two()],
            entries: Vec::with_capacity(most),
            past: 0,
        }
    }

    /// An earlier instruction that gives the same as one of `block`, which is added if there is none.
    fn find_or_add(
        &mut self,
        function: &Function,
        cfg: &Cfg,
        block: BlockId,
        inst: Inst,
    ) -> Option<Inst> {
        self.past += 1;
        let data = function.inst(inst);
        let hash = hash(data);
        let list = hash as usize & (self.lists.len() - 1);
        let entry = |number: u32| number.checked_sub(1).map(|index| index as usize);
        // What the walk has left dominates nothing that is still to come, nor does what stands below it.
        let mut last = self.lists[list];
        while let Some(index) = entry(last)
            && !cfg.dominates(self.entries[index].block, block)
        {
            last = self.entries[index].before;
        }
        let mut next = last;
        while let Some(index) = entry(next) {
            let earlier = &self.entries[index];
            if earlier.hash == hash && equal(function.inst(earlier.inst), data) {
                let far = self.past - earlier.past > FAR;
                if far && cfg.depth(earlier.block) == cfg.depth(block) && is_cheap(function, data) {
                    break;
                }
                self.lists[list] = last;
                return Some(earlier.inst);
            }
            next = earlier.before;
        }
        self.entries.push(Entry {
            block,
            inst,
            past: self.past,
            hash,
            before: last,
        });
        self.lists[list] = self.entries.len() as u32;
        None
    }
}

/// Operations that are one instruction on any machine.
#[rustfmt::skip]
const CHEAP: &[Alu] = &[
    Alu::IAdd, Alu::ISub, Alu::IAnd, Alu::IOr, Alu::IXor, Alu::INot, Alu::IShl, Alu::UShr, Alu::SShr,
    Alu::IEq, Alu::INe, Alu::SLt, Alu::SGe, Alu::ULt, Alu::UGe,
];

/// Whether it is such an operation on one value and constants.
fn is_cheap(function: &Function, data: &InstData) -> bool {
    let args = data.args.iter();
    let values = args.filter(|value| function.as_bits(**value).is_none());
    matches!(data.op, Op::Alu(alu) if CHEAP.contains(&alu)) && values.count() <= 1
}

fn hash(data: &InstData) -> u32 {
    let mut hasher = FxHasher::default();
    data.op.hash(&mut hasher);
    match data.args.as_slice() {
        // The same for either order.
        [a, b, rest @ ..] if commutes(data) => (a.min(b), a.max(b), rest).hash(&mut hasher),
        args => args.hash(&mut hasher),
    }
    // The best bits of a product are its high ones.
    (hasher.finish() >> 32) as u32
}

fn equal(a: &InstData, b: &InstData) -> bool {
    let swapped = || match (a.args.as_slice(), b.args.as_slice()) {
        ([a, b, rest @ ..], [c, d, others @ ..]) => (a, b, rest) == (d, c, others),
        _ => false,
    };
    a.op == b.op && (a.args == b.args || commutes(a) && swapped())
}

/// Whether the first two operands may change places.
fn commutes(data: &InstData) -> bool {
    matches!(data.op, Op::Alu(alu) if alu.commutes())
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    let blocks = function.layout.iter();
    let count = blocks.map(|block| function.block(*block).insts.len()).sum();
    let mut seen = Seen::new(count);
    let mut replaced = Replaced::default();
    // Down the dominator tree: once a block is left, what it has can't dominate anything that is still to come.
    for block in cfg.dominator_preorder() {
        let mut loads: Known<Inst> = Known::default();
        let mut quads: Vec<Inst> = vec![];
        let mut insts = std::mem::take(&mut function.block_mut(block).insts);
        insts.retain(|&inst| {
            replaced.in_operands(function.inst_mut(inst));
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
                op if op.is_pure() => seen.find_or_add(function, &cfg, block, inst),
                op if op.effects().needs_quad && !op.effects().reads => {
                    let mut earlier = quads.iter();
                    let found = earlier.find(|inst| equal(function.inst(**inst), data));
                    let found = found.copied();
                    if found.is_none() {
                        quads.push(inst);
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
    replaced.everywhere(function);
    Changed::Yes
}
