//! Strength reduction: an offset that grows by the same each round is added to, not computed anew.
//!
//! Needs: no variables; after `merge_accesses`, which asks what offsets are made of.  Guarantees: a value of the same bits in
//! every round. Of an offset `x + constant` the `x` is kept, so that accesses beside one another have it in common.
//! Facts: hardware/compiler-optimization.md 3: a shift or a product takes as long as four sums.

use crate::ir::alias::split_offset;
use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::loops::{Loop, Loops};
use crate::ir::range::Tested;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Op, Space, Type, Value};
use crate::opt::loop_steps::{Invariants, Steps, enter_through};
use crate::opt::shifted_offsets::takes_shift;
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "reduce_strength",
    what: "offsets that grow by the same each round are added to",
    run,
};

/// What a shift or a product costs, in sums.
const PRODUCT: u32 = 4;
/// What computing an offset must cost at least, in sums: keeping it takes a register and a sum.
const LEAST: u32 = 3;
/// Most offsets that are kept in a loop: each takes a register.
const MOST: usize = 8;
/// What a counter grows by at most: one that strides over what others do in the meantime makes few rounds, and what is
/// computed before them costs as much as a round.
const LONGEST_STRIDE: u32 = 4;
/// Deepest expression that is looked through.
const DEPTH: u32 = 16;

/// A loop with what is kept in it.
struct Plan {
    header: BlockId,
    /// The only block that enters it, and the only one that jumps back.
    entering: BlockId,
    latch: BlockId,
    inside: Vec<BlockId>,
    kept: Vec<Kept>,
}

/// An offset that is kept.
struct Kept {
    value: Value,
    /// What each round adds.
    step: u32,
    /// The counters that it is made of: each with the value that it begins with.
    starts: Vec<(Value, Value)>,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    if cfg.loops.is_empty() {
        return Changed::No;
    }
    let places = inst_blocks(function);
    let loops = Loops::new(function, &cfg);
    let plans: Vec<Plan> = loops
        .iter()
        .filter_map(|own| plan(function, &cfg, &places, own))
        .collect();
    if plans.is_empty() {
        return Changed::No;
    }
    let mut replaced = Replaced::default();
    for plan in &plans {
        keep(function, plan, &places, &mut replaced);
    }
    replaced.everywhere(function);
    crate::ir::layout::order_blocks(function);
    Changed::Yes
}

/// What is worth being kept in a loop; none if nothing is.
fn plan(function: &Function, cfg: &Cfg, places: &[Option<BlockId>], own: Loop<'_>) -> Option<Plan> {
    let header = own.header();
    let (entering, latch) = own.ends()?;
    let steps = Steps::new(function, cfg, places, own, latch);
    let mut kept: Vec<Kept> = vec![];
    let is_own = |block: BlockId| cfg.innermost_loop(block) == Some(own.number());
    let blocks = own.natural().iter().filter(|block| is_own(**block));
    let insts = blocks.flat_map(|block| {
        let insts = function.block(*block).insts.iter();
        insts.map(|inst| (*block, inst))
    });
    for (block, inst) in insts {
        let data = function.inst(*inst);
        let Some(access) = data
            .op
            .access()
            .filter(|access| access.space != Space::Global)
        else {
            continue;
        };
        let (Some(value), _) = split_offset(function, data.args[access.address_operands() - 1])
        else {
            continue;
        };
        let here = cfg.block_of(function, places, value).is_some_and(is_own);
        if !here || function.ty(value) != Type::W32 || kept.iter().any(|kept| kept.value == value) {
            continue;
        }
        let Some(step) = steps.step(value).filter(|step| *step != 0) else {
            continue;
        };
        let mut starts = vec![];
        let cost = cost(&steps, value, DEPTH, &mut starts);
        // Addresses take in a shift that loses nothing.
        let is_shift = function
            .def_inst(value)
            .is_some_and(|data| data.op == Op::Alu(Alu::IShl));
        let is_taken_in = is_shift && {
            let tested = Tested::at(function, cfg, block);
            takes_shift(function, &tested, data, value)
        };
        let shift = if is_taken_in { PRODUCT } else { 0 };
        let strides = starts.iter().any(|(counter, _)| {
            let step = steps.counter(*counter).map_or(0, |(_, step)| step);
            step.cast_signed().unsigned_abs() > LONGEST_STRIDE
        });
        if cost.saturating_sub(shift) >= LEAST && !strides && kept.len() < MOST {
            kept.push(Kept {
                value,
                step,
                starts,
            });
        }
    }
    (!kept.is_empty()).then(|| Plan {
        header,
        entering,
        latch,
        inside: own.natural().to_vec(),
        kept,
    })
}

/// What it costs each round to compute a value. The counters that it is made of are added to `starts`.
fn cost(steps: &Steps<'_>, value: Value, depth: u32, starts: &mut Vec<(Value, Value)>) -> u32 {
    if let Some((start, _)) = steps.counter(value) {
        starts.push((value, start));
        return 0;
    }
    if depth == 0 || steps.is_invariant(value) {
        return 0;
    }
    let Some(data) = steps.function.def_inst(value) else {
        return 0;
    };
    let own = match data.op {
        Op::Alu(Alu::IShl | Alu::IMul) => PRODUCT,
        _ => 1,
    };
    let operands = data.args.iter();
    own + operands
        .map(|arg| cost(steps, *arg, depth - 1, starts))
        .sum::<u32>()
}

/// Computes the first round's offsets before the loop, adds to them at its end, and replaces what the loop computed.
fn keep(function: &mut Function, plan: &Plan, places: &[Option<BlockId>], replaced: &mut Replaced) {
    let before = enter_through(function, plan.header, plan.entering);
    let position = function.block(plan.header).position;
    for kept in &plan.kept {
        let start = |value: Value| {
            let mut starts = kept.starts.iter();
            starts
                .find(|(counter, _)| *counter == value)
                .map(|(_, start)| *start)
        };
        let mut builder = Builder::new(function, before);
        builder.position = position;
        // Each has its own copies: what is the same is shared later.
        let mut invariants = Invariants::new(places, &plan.inside);
        let first = invariants.copy(&mut builder, kept.value, &start);
        let phi = function.new_phi(plan.header, Type::W32);
        let mut builder = Builder::new(function, plan.latch);
        builder.position = position;
        let next = builder.alu_word(Alu::IAdd, phi, kept.step);
        let phis = &mut function.block_mut(plan.header).phis;
        if let Some(own) = phis.last_mut() {
            own.sources = vec![(before, first), (plan.latch, next)];
        }
        replaced.insert(kept.value, phi);
    }
}
