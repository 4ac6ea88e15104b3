//! Tests of alignment: where all lanes know whether the rows of a table are aligned, its words are accessed some at a time if they are.
//!
//! Needs: addresses as `x + constant`; what may be dropped behind guards.  Guarantees: the same accesses in the same order, once
//! each; those behind the test say how they are aligned, so that `merge_accesses` can join them.
//! How: what stands between the first access of such a group and the last instruction that reads what it loads is there twice,
//! behind a branch that all lanes take together: so few values as may be have to come to the same registers from both. `row * width +
//! 3` is what this is for, with a width that the shader is given: whether it is a multiple of 4 is worked out before the job.
//! Facts: hardware/compiler-ir.md 4.12; hardware/compiler-lowering.md 5.3.
use std::cell::OnceCell;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::alignment::{Alignment, Requirement};
use super::merge_accesses::{Group, MAX_ALIGN, groups, saved_if_aligned};
use crate::ir::alias::Extent;
use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::rewrite::Replaced;
use crate::ir::uniformity::Uniformity;
use crate::ir::{Access, Alu, BlockId, Builder, Function, Inst, Op, Terminator, Value, ValueDef};
use crate::lower::switches::retarget;
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "test_alignment",
    what: "rows of words are accessed some words at a time where a test shows that they are aligned",
    run,
};

/// Fewest accesses that a test saves: it costs a branch, and one more that leads around what isn't aligned.
const FEWEST: usize = 3;
/// Most instructions that are there twice.
const MOST: usize = 192;

/// Part of a block that is there twice.
struct Region {
    block: BlockId,
    /// The places of its first and last instruction in the block.
    first: usize,
    last: usize,
    requirements: Vec<Requirement>,
    /// By access, what its address is a multiple of if they hold.
    aligned: HashMap<Inst, u8>,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    if !function
        .layout
        .iter()
        .any(|block| has_several(function, *block))
    {
        return Changed::No;
    }
    let cfg = Cfg::of(function);
    let found = OnceCell::new();
    let uniformity = || found.get_or_init(|| Uniformity::new(function, &cfg));
    let blocks = function.layout.iter();
    let regions: Vec<Region> = blocks
        .filter(|block| has_several(function, **block))
        .filter_map(|block| region(function, uniformity, *block))
        .collect();
    if regions.is_empty() {
        return Changed::No;
    }
    let mut replaced = Replaced::default();
    for region in &regions {
        double(function, region, &mut replaced);
    }
    replaced.everywhere(function);
    order_blocks(function);
    Changed::Yes
}

/// Whether a block has so many loads or stores that a test of their alignment might save enough.
fn has_several(function: &Function, block: BlockId) -> bool {
    let insts = function.block(block).insts.iter();
    let mut accesses =
        insts.filter(|inst| matches!(function.inst(**inst).op, Op::Load(_) | Op::Store(_)));
    accesses.nth(FEWEST).is_some()
}

/// What of a block is worth a test: the first group that is, and others that ask for the same.
fn region<'f>(
    function: &'f Function,
    uniformity: impl Fn() -> &'f Uniformity,
    block: BlockId,
) -> Option<Region> {
    let mut found: Option<Region> = None;
    for group in groups(function, block) {
        if saved_if_aligned(&group) < FEWEST {
            continue;
        }
        let mut alignment = Alignment::new(function, uniformity());
        let is_required = |dynamic: Value| alignment.require(dynamic, MAX_ALIGN);
        if !group.base.dynamic.is_some_and(is_required) || alignment.requirements.is_empty() {
            continue;
        }
        let requirements = alignment.requirements;
        match &mut found {
            Some(found) if found.requirements == requirements => found.add(function, &group),
            Some(_) => {}
            None => {
                let mut region = Region {
                    block,
                    first: group.first,
                    last: group.last,
                    requirements,
                    aligned: HashMap::default(),
                };
                region.add(function, &group);
                found = Some(region);
            }
        }
    }
    let insts = &function.block(block).insts;
    if let Some(region) = &mut found {
        let loaded = |value: &Value| {
            let ValueDef::Result(inst, _) = function.def(*value) else {
                return false;
            };
            region.aligned.contains_key(&inst)
        };
        let reads = |inst: &Inst| function.inst(*inst).args.iter().any(loaded);
        let last = insts.iter().rposition(reads).unwrap_or(0);
        if last < region.first + MOST {
            region.last = region.last.max(last);
        }
    }
    found.filter(|region| {
        let mut doubled = insts[region.first..=region.last].iter();
        doubled.len() <= MOST && !doubled.any(|inst| stands_once(function.inst(*inst).op))
    })
}

/// Whether lanes, or those of a quad, do something together, or what a stage gives is stored.
fn stands_once(op: Op) -> bool {
    op.is_convergent() || matches!(op, Op::StoreOutput(_) | Op::Demote)
}

impl Region {
    fn add(&mut self, function: &Function, group: &Group) {
        self.first = self.first.min(group.first);
        self.last = self.last.max(group.last);
        for (inst, access) in &group.members {
            if let Some(extent) = Extent::of(function, function.inst(*inst)) {
                let align = 1 << extent.offset.trailing_zeros().min(MAX_ALIGN.ilog2());
                self.aligned.insert(*inst, access.align.max(align));
            }
        }
    }
}

/// Puts a region behind a test of what it requires, once for either answer.
fn double(function: &mut Function, region: &Region, replaced: &mut Replaced) {
    let block = region.block;
    let rest = function.new_block();
    let data = function.block_mut(block);
    let after = data.insts.split_off(region.last + 1);
    let parted = data.insts.split_off(region.first);
    let (terminator, position) = (data.terminator.clone(), data.position);
    for target in terminator.targets() {
        retarget(function, target, block, rest);
    }
    let data = function.block_mut(rest);
    (data.insts, data.terminator, data.position) = (after, terminator, position);
    let doubled = move_others(function, region, parted);
    let mut b = Builder::new(function, block);
    if let Some(first) = doubled.first() {
        b.position = b.function.inst(*first).position;
    }
    let mut all: Option<Value> = None;
    for Requirement { value, multiple } in &region.requirements {
        let part = b.alu_word(Alu::IAnd, *value, multiple - 1);
        let holds = b.alu_word(Alu::IEq, part, 0);
        all = Some(match all {
            Some(all) => b.alu(Alu::BAnd, &[all, holds]),
            None => holds,
        });
    }
    let condition = all.unwrap_or_else(|| b.function.bool(true));
    let copies = [true, false].map(|aligned| {
        let copy = function.new_block();
        let values = copy_insts(function, &doubled, copy, |inst| {
            region.aligned.get(&inst).copied().filter(|_| aligned)
        });
        let data = function.block_mut(copy);
        (data.terminator, data.position) = (Terminator::Jump(rest), position);
        (copy, values)
    });
    let [then, otherwise] = [copies[0].0, copies[1].0];
    function.block_mut(block).terminator = Terminator::Branch {
        condition,
        then,
        otherwise,
    };
    for inst in &doubled {
        for result in function.inst(*inst).results.clone() {
            let joined = function.new_phi(rest, function.ty(result));
            if let Some(phi) = function.block_mut(rest).phis.last_mut() {
                let sources = copies.iter();
                phi.sources = sources
                    .map(|(copy, values)| (*copy, values.get(&result).copied().unwrap_or(result)))
                    .collect();
            }
            replaced.extend([(result, joined)]);
        }
    }
}

/// Moves what needs nothing of the accesses to the block in front: offsets stay sums, of which others ask. Gives the rest.
fn move_others(function: &mut Function, region: &Region, insts: Vec<Inst>) -> Vec<Inst> {
    let mut behind: HashSet<Value> = HashSet::default();
    let mut rest = vec![];
    for inst in insts {
        let data = function.inst(inst);
        let moves = data.op.is_pure() && !region.aligned.contains_key(&inst);
        if moves && !data.args.iter().any(|arg| behind.contains(arg)) {
            function.block_mut(region.block).insts.push(inst);
        } else {
            behind.extend(data.results.iter().copied());
            rest.push(inst);
        }
    }
    rest
}

/// Copies instructions into a block, with the alignment of those that have one. Gives what takes the place of their results.
fn copy_insts(
    function: &mut Function,
    insts: &[Inst],
    block: BlockId,
    align: impl Fn(Inst) -> Option<u8>,
) -> HashMap<Value, Value> {
    let mut values: HashMap<Value, Value> = HashMap::default();
    for inst in insts {
        let mut data = function.inst(*inst).clone();
        for arg in &mut data.args {
            *arg = values.get(arg).copied().unwrap_or(*arg);
        }
        if let (Op::Load(access) | Op::Store(access), Some(align)) = (&mut data.op, align(*inst)) {
            *access = Access { align, ..*access };
        }
        let copy = function.new_inst(data.op, data.args, data.exact, data.position);
        function.block_mut(block).insts.push(copy);
        let results = function.inst(copy).results.clone();
        values.extend(data.results.iter().copied().zip(results));
    }
    values
}
