//! Shifted sums: what several of them are made of is shifted once, and the shifted parts are added.
//!
//! Needs: after `merge_accesses`, which asks what offsets are made of.  Guarantees: the same words, modulo 2^32.
//! How: `(row + x) << 2` of many rows and columns becomes `(row << 2) + (x << 2)` if fewer parts have to be shifted than there
//! were sums. A part that is the same in all rounds of a loop is shifted before it.
//! Facts: hardware/compiler-optimization.md 3: a shift takes as long as four sums.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::reads::count_reads;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Inst, InstData, Op, Space, Type, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "distribute_shifts",
    what: "of sums that are shifted, what many are made of is shifted instead",
    run,
};

/// A value, and by how much it is shifted.
type Shifted = (Value, u32);

/// A sum or a difference that is shifted.
struct Sum {
    inst: Inst,
    alu: Alu,
    parts: [Value; 2],
    by: u32,
    block: BlockId,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    let places = inst_blocks(function);
    let mut sums = sums(function);
    if sums.is_empty() {
        return Changed::No;
    }
    let own = own_shifts(function);
    let is_free = |sum: &Sum, part: Value| {
        let uniform = function
            .def_inst(part)
            .is_some_and(|data| matches!(data.op, Op::Uniform(_)));
        let block = cfg.block_of(function, &places, part);
        let outside = block.is_none_or(|block| cfg.depth(block) < cfg.depth(sum.block));
        uniform || outside || own.contains(&(part, sum.by))
    };
    // What is left of them when those are gone that have a part for themselves.
    let paid = loop {
        let mut count: HashMap<Shifted, usize> = HashMap::default();
        let parts = sums
            .iter()
            .flat_map(|sum| sum.parts.map(|part| (sum, part)));
        for (sum, part) in parts.filter(|(sum, part)| !is_free(sum, *part)) {
            *count.entry((part, sum.by)).or_default() += 1;
        }
        let before = sums.len();
        sums.retain(|sum| {
            let alone = |part: &Value| count.get(&(*part, sum.by)) == Some(&1);
            !sum.parts.iter().any(alone)
        });
        if sums.len() == before {
            break count.len();
        }
    };
    if sums.len() <= paid {
        return Changed::No;
    }
    distribute(function, &sums);
    Changed::Yes
}

/// The shifted sums that are offsets of loads from buffers, which take no shift in.
fn sums(function: &Function) -> Vec<Sum> {
    let reads = count_reads(function);
    let mut offsets: HashSet<Value> = HashSet::default();
    for (_, inst) in function.placed_insts() {
        let data = function.inst(inst);
        if let Op::Load(access) = data.op
            && access.space == Space::Buffer
        {
            let address = data.args[access.address_operands() - 1];
            let (dynamic, _) = crate::ir::alias::split_offset(function, address);
            offsets.extend(dynamic);
        }
    }
    let placed: Vec<(BlockId, Inst)> = function.placed_insts().collect();
    let found = placed.into_iter().filter_map(|(block, inst)| {
        let data = function.inst(inst);
        if !offsets.contains(data.results.first()?) {
            return None;
        }
        let by = shift(function, data)?;
        let sum = data.args[0];
        let own = function.def_inst(sum)?;
        let Op::Alu(alu @ (Alu::IAdd | Alu::ISub)) = own.op else {
            return None;
        };
        let parts = [own.args[0], own.args[1]];
        let known = parts.iter().all(|part| function.as_word(*part).is_none());
        let plain = function.ty(sum) == Type::W32 && reads[sum.index()] == 1;
        (known && plain).then_some(Sum {
            inst,
            alu,
            parts,
            by,
            block,
        })
    });
    found.collect()
}

/// By how much an instruction shifts a word to the left, if that is constant.
fn shift(function: &Function, data: &InstData) -> Option<u32> {
    match data.op {
        Op::Alu(Alu::IShl) => function.as_word(data.args[1]).filter(|by| *by < 32),
        _ => None,
    }
}

/// What is shifted anyway.
fn own_shifts(function: &Function) -> HashSet<Shifted> {
    let insts = function.placed_insts();
    let own = insts.filter_map(|(_, inst)| {
        let data = function.inst(inst);
        shift(function, data).map(|by| (data.args[0], by))
    });
    own.collect()
}

fn distribute(function: &mut Function, sums: &[Sum]) {
    // By part: by how much it is shifted.
    let mut wanted: HashMap<Value, Vec<u32>> = HashMap::default();
    for sum in sums {
        for part in sum.parts {
            let shifts = wanted.entry(part).or_default();
            if !shifts.contains(&sum.by) {
                shifts.push(sum.by);
            }
        }
    }
    let by_inst: HashMap<Inst, &Sum> = sums.iter().map(|sum| (sum.inst, sum)).collect();
    let mut shifted: HashMap<Shifted, Value> = HashMap::default();
    let mut shift_parts = |b: &mut Builder<'_>, shifted: &mut HashMap<Shifted, Value>, value| {
        for by in wanted.remove(&value).into_iter().flatten() {
            shifted.insert((value, by), b.alu_word(Alu::IShl, value, by));
        }
    };
    let mut replaced = Replaced::default();
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let phis = function.block(block).phis.iter();
        let phis: Vec<Value> = phis.map(|phi| phi.result).collect();
        let mut b = Builder::new(function, block);
        b.position = b.function.block(block).position;
        for phi in phis {
            shift_parts(&mut b, &mut shifted, phi);
        }
        for inst in insts {
            b.position = b.function.inst(inst).position;
            let parts = by_inst.get(&inst).and_then(|sum| {
                let part = |part: Value| shifted.get(&(part, sum.by)).copied();
                Some((sum.alu, [part(sum.parts[0])?, part(sum.parts[1])?]))
            });
            let results = b.function.inst(inst).results.clone();
            if let Some((alu, parts)) = parts {
                let sum = b.alu(alu, &parts);
                replaced.extend(results.into_iter().map(|old| (old, sum)));
                continue;
            }
            b.function.block_mut(block).insts.push(inst);
            for value in results {
                shift_parts(&mut b, &mut shifted, value);
            }
        }
    }
    replaced.everywhere(function);
}
