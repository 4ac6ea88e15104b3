//! Bounds of loops: a loop that indexes a variable by its counter in each round makes no more rounds than that has elements.
//!
//! An index that is out of range is undefined (SPIR-V, OpAccessChain), so the bound that the counter is compared with can be made
//! smaller without harm: `i < n` becomes `i < min(n, 8)`. What comes after can tell how large the index is: short loops
//! become straight code, and others do without keeping each index in range.
//!
//! Needs: variables that are indexed dynamically.  Guarantees: all rounds in which every index is in range are made.
//! Facts: hardware/compiler-ir.md 3.3 and 4.6.

use crate::ir::alias::split_offset;
use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::loops::{Loop, Loops};
use crate::ir::range::upper_bound;
use crate::ir::{Alu, BlockId, Builder, Function, Inst, Op, Value};
use crate::opt::loop_counter::Counter;
use crate::opt::loop_steps::Steps;
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "bound_loops",
    what: "loops that index a variable by their counter end where it ends",
    run,
};

/// Counters begin below this, and variables have fewer elements: no sum wraps on the way.
const SMALL: i64 = 0x1_0000;

/// A comparison that gets a smaller bound.
struct Plan {
    /// The only block that enters the loop.
    entering: BlockId,
    comparison: Inst,
    /// Which of its operands is the bound.
    operand: usize,
    bound: Value,
    most: u32,
    signed: bool,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    if cfg.loops.is_empty() || function.vars().next().is_none() {
        return Changed::No;
    }
    let places = inst_blocks(function);
    let loops = Loops::new(function, &cfg);
    let plans = loops
        .iter()
        .filter_map(|own| plan(function, &cfg, &places, own));
    let plans: Vec<Plan> = plans.collect();
    for plan in &plans {
        let mut builder = Builder::new(function, plan.entering);
        let smaller = match plan.signed {
            true => Alu::SMin,
            false => Alu::UMin,
        };
        let bound = builder.alu_word(smaller, plan.bound, plan.most);
        function.inst_mut(plan.comparison).args[plan.operand] = bound;
    }
    Changed::from_bool(!plans.is_empty())
}

fn plan(function: &Function, cfg: &Cfg, places: &[Option<BlockId>], own: Loop<'_>) -> Option<Plan> {
    let (entering, latch) = own.ends()?;
    let steps = Steps::new(function, cfg, places, own, latch);
    let counter = Counter::find(&steps, own, latch)?;
    if !counter.stays_below() || !steps.is_outside(counter.bound) {
        return None;
    }
    let (start, _) = steps.counter(counter.phi)?;
    let is_small = i64::from(upper_bound(function, start)) < SMALL;
    // The counter of the first round in which an index would be out of range.
    let ends = every_round(function, cfg, own, latch, counter.block).filter_map(|(block, inst)| {
        let data = function.inst(inst);
        let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
            return None;
        };
        let further = further(function, &counter, data.args[0])?;
        let end = i64::from(function.var(var).len) - further;
        let wraps = further > 0 && !is_small && !counter.is_signed();
        if wraps || !(0..SMALL).contains(&end) {
            return None;
        }
        // What is done before the test is done with the next round's counter if the loop goes on.
        let is_behind = block != counter.block && cfg.dominates(counter.block, block);
        let step = i64::from(counter.step.cast_signed());
        Some(if is_behind { end } else { end - step })
    });
    let end = ends.min()? + i64::from(counter.ahead.cast_signed());
    let most = end - i64::from(!counter.counter_first);
    let most = u32::try_from(most).ok()?;
    (upper_bound(function, counter.bound) > most).then_some(Plan {
        entering,
        comparison: counter.comparison,
        operand: usize::from(counter.counter_first),
        bound: counter.bound,
        most,
        signed: counter.is_signed(),
    })
}

/// What is added to the counter to make an index; none if that isn't a small constant.
fn further(function: &Function, counter: &Counter, index: Value) -> Option<i64> {
    let (counted, constant) = match index == counter.phi {
        true => (Some(index), 0),
        false => split_offset(function, index),
    };
    let further = i64::from(constant.cast_signed());
    (counted == Some(counter.phi) && further.abs() < SMALL).then_some(further)
}

/// What every round does that is begun: no other exit than that of the counter comes before it.
fn every_round<'f>(
    function: &'f Function,
    cfg: &'f Cfg,
    own: Loop<'f>,
    latch: BlockId,
    counts: BlockId,
) -> impl Iterator<Item = (BlockId, Inst)> + 'f {
    let leaves = |block: BlockId| {
        let targets = function.block(block).terminator.targets();
        block != counts && targets.iter().any(|to| !own.goes_round(*to))
    };
    let blocks = own.natural().iter().copied();
    let exits = blocks.clone().filter(|block| leaves(*block));
    // What dominates that dominates the latch and each exit.
    let last = exits.fold(latch, |last, exit| cfg.meet(last, exit));
    let blocks = blocks.filter(move |block| cfg.dominates(*block, last));
    blocks.flat_map(move |block| {
        let insts = function.block(block).insts.iter();
        insts.map(move |inst| (block, *inst))
    })
}
