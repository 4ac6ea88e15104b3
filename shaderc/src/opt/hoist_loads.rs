//! Loads that give the same in every round of a loop are made once, before it.
//!
//! A loop that is left by a test at its top may make no round at all: then the loads stand behind a copy of the test, as it comes
//! out for the first round, and no load is made that the loop would not have made.
//!
//! Needs: no variables.  Guarantees: nothing in the loop may write what is loaded, nor order it with what others write
//! (`ir::alias` says what may). It makes words live longer: [`crate::compile`] compares with what comes without.
//! Facts: hardware/compiler-optimization.md 2 (15).

use rustc_hash::FxHashSet as HashSet;

use crate::ir::alias::{Extent, Known};
use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::layout::order_blocks;
use crate::ir::loops::{Loop, Loops};
use crate::ir::rewrite::Replaced;
use crate::ir::{BlockId, Builder, Function, Inst, Memory, Op, Terminator, Value};
use crate::opt::loop_steps::{Invariants, Steps, enter_through, is_repeatable};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "hoist_loads",
    what: "loads that give the same in every round of a loop are made before it",
    run,
};

/// Most words that are loaded before a loop: each takes a register in it.
const MOST_WORDS: usize = 8;
/// Deepest condition that is computed before the loop.
const DEPTH: u32 = 8;

/// A loop with the loads that leave it.
struct Plan {
    header: BlockId,
    /// The only block that enters it.
    entering: BlockId,
    inside: Vec<BlockId>,
    /// The phis of the header, each with its value in the first round.
    starts: Vec<(Value, Value)>,
    /// Those that every way through the loop makes first.
    always: Vec<Inst>,
    /// Those that are made once the loop's test has passed.
    tested: Vec<Inst>,
    test: Option<Test>,
}

/// The test at the top of a loop.
#[derive(Clone, Copy)]
struct Test {
    condition: Value,
    /// What the condition is while the loop goes on.
    stays: bool,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    if cfg.loops.is_empty() {
        return Changed::No;
    }
    let places = inst_blocks(function);
    let loops = Loops::new(function, &cfg);
    let mut taken = HashSet::default();
    // Outer loops first: what leaves one has left those inside.
    let plans = loops
        .iter()
        .filter_map(|own| plan(function, &cfg, &places, own, &mut taken));
    let plans: Vec<Plan> = plans.collect();
    if plans.is_empty() {
        return Changed::No;
    }
    let mut replaced = Replaced::default();
    for plan in &plans {
        hoist(function, plan, &places, &mut replaced);
    }
    for block in function.layout.clone() {
        let insts = &mut function.block_mut(block).insts;
        insts.retain(|inst| !taken.contains(inst));
    }
    replaced.everywhere(function);
    order_blocks(function);
    Changed::Yes
}

/// The loads that leave a loop; none if there are none.
fn plan(
    function: &Function,
    cfg: &Cfg,
    places: &[Option<BlockId>],
    own: Loop<'_>,
    taken: &mut HashSet<Inst>,
) -> Option<Plan> {
    let header = own.header();
    let (entering, latch) = own.ends()?;
    let steps = Steps::new(function, cfg, places, own, latch);
    let leaves = |block: &&BlockId| {
        let targets = function.block(**block).terminator.targets();
        targets.iter().any(|to| !own.goes_round(*to))
    };
    let exits = own.natural().iter().filter(leaves);
    let meet = |last, exit: &BlockId| cfg.meet(last, *exit);
    // What dominates these dominates the latch and each exit, or each but the header.
    let last = exits.clone().fold(latch, meet);
    let others = exits.filter(|exit| **exit != header);
    let last_behind_test = others.fold(latch, meet);
    let starts = starts(function, header, entering);
    let test = test(function, own, &steps, &starts);
    let mut plan = Plan {
        header,
        entering,
        inside: own.natural().to_vec(),
        starts,
        always: vec![],
        tested: vec![],
        test,
    };
    let is_always = |block: BlockId| cfg.dominates(block, last);
    let is_tested = |block: BlockId| {
        test.is_some() && block != header && cfg.dominates(block, last_behind_test)
    };
    let blocks = own.natural().iter().copied();
    let blocks = blocks.filter(|block| is_always(*block) || is_tested(*block));
    let insts = blocks.flat_map(|block| {
        let insts = function.block(block).insts.iter();
        insts.map(move |inst| (block, *inst))
    });
    let loads = insts.filter(|(_, inst)| {
        let data = function.inst(*inst);
        let is_load = matches!(data.op, Op::Load(access) if !access.memory.is_volatile());
        let mut args = data.args.iter();
        is_load && !taken.contains(inst) && args.all(|arg| steps.is_invariant(*arg))
    });
    let loads: Vec<(BlockId, Inst)> = loads.collect();
    if loads.is_empty() {
        return None;
    }
    let unchanged = unchanged(function, own, &loads);
    let mut words = 0;
    for (block, load) in loads {
        let data = function.inst(load);
        let further = words + data.results.len();
        let extent = Extent::of(function, data);
        let stays = |extent: Extent| {
            extent.memory == Memory::Constant || unchanged.get(&extent).next().is_some()
        };
        if further > MOST_WORDS || !extent.is_some_and(stays) {
            continue;
        }
        words = further;
        taken.insert(load);
        match is_always(block) {
            true => plan.always.push(load),
            false => plan.tested.push(load),
        }
    }
    (words > 0).then_some(plan)
}

/// The phis of a header with their values in the first round.
fn starts(function: &Function, header: BlockId, entering: BlockId) -> Vec<(Value, Value)> {
    let phis = function.block(header).phis.iter();
    let start = |sources: &[(BlockId, Value)]| {
        let mut sources = sources.iter();
        sources
            .find(|(from, _)| *from == entering)
            .map(|(_, value)| *value)
    };
    phis.filter_map(|phi| Some((phi.result, start(&phi.sources)?)))
        .collect()
}

/// The test that a loop's header ends with, if it can be made before the loop for the first round.
fn test(
    function: &Function,
    own: Loop<'_>,
    steps: &Steps<'_>,
    starts: &[(Value, Value)],
) -> Option<Test> {
    let Terminator::Branch {
        condition,
        then,
        otherwise,
    } = function.block(own.header()).terminator
    else {
        return None;
    };
    let stays = own.goes_round(then);
    if stays == own.goes_round(otherwise) {
        return None;
    }
    let known = is_known(function, steps, starts, condition, DEPTH);
    known.then_some(Test { condition, stays })
}

/// Whether a value can be computed before the loop as it is in the first round.
fn is_known(
    function: &Function,
    steps: &Steps<'_>,
    starts: &[(Value, Value)],
    value: Value,
    depth: u32,
) -> bool {
    if steps.is_outside(value) || starts.iter().any(|(phi, _)| *phi == value) {
        return true;
    }
    let operand = |arg: &Value| is_known(function, steps, starts, *arg, depth - 1);
    function
        .def_inst(value)
        .is_some_and(|data| depth > 0 && is_repeatable(data.op) && data.args.iter().all(operand))
}

/// What loads read that nothing in the loop may write, or orders with what others write.
fn unchanged(function: &Function, own: Loop<'_>, loads: &[(BlockId, Inst)]) -> Known<()> {
    let mut known = Known::default();
    let extents = loads
        .iter()
        .filter_map(|(_, load)| Extent::of(function, function.inst(*load)));
    extents.for_each(|extent| known.insert(extent, ()));
    for block in own.natural() {
        for inst in &function.block(*block).insts {
            known.forget_behind(function, function.inst(*inst));
        }
    }
    known
}

/// Makes the loads before the loop.
fn hoist(
    function: &mut Function,
    plan: &Plan,
    places: &[Option<BlockId>],
    replaced: &mut Replaced,
) {
    let before = enter_through(function, plan.header, plan.entering);
    let mut invariants = Invariants::new(places, &plan.inside);
    let outside = |_: Value| None;
    for load in &plan.always {
        let made = copy(function, before, *load, &mut invariants, &outside);
        replaced.extend(results(function, *load).into_iter().zip(made));
    }
    let Some(test) = plan.test.filter(|_| !plan.tested.is_empty()) else {
        return;
    };
    let start = |value: Value| {
        let mut starts = plan.starts.iter();
        starts
            .find(|(phi, _)| *phi == value)
            .map(|(_, start)| *start)
    };
    let join = enter_through(function, plan.header, before);
    let behind = function.new_block();
    let position = function.block(plan.header).position;
    let mut builder = Builder::new(function, before);
    builder.position = position;
    let mut first = Invariants::new(places, &plan.inside);
    let condition = first.copy(&mut builder, test.condition, &start);
    let (then, otherwise) = match test.stays {
        true => (behind, join),
        false => (join, behind),
    };
    builder.terminate(Terminator::Branch {
        condition,
        then,
        otherwise,
    });
    function.block_mut(behind).position = position;
    Builder::new(function, behind).terminate(Terminator::Jump(join));
    let mut invariants = Invariants::new(places, &plan.inside);
    for load in &plan.tested {
        let made = copy(function, behind, *load, &mut invariants, &outside);
        for (result, made) in results(function, *load).into_iter().zip(made) {
            let ty = function.ty(result);
            let nothing = function.constant_of(ty, 0);
            let phi = function.new_phi(join, ty);
            if let Some(own) = function.block_mut(join).phis.last_mut() {
                own.sources = vec![(behind, made), (before, nothing)];
            }
            replaced.insert(result, phi);
        }
    }
}

/// A load again at the end of a block; its results.
fn copy(
    function: &mut Function,
    block: BlockId,
    load: Inst,
    invariants: &mut Invariants<'_>,
    start: &impl Fn(Value) -> Option<Value>,
) -> Vec<Value> {
    let data = function.inst(load).clone();
    let mut builder = Builder::new(function, block);
    builder.position = data.position;
    let args = data.args.iter();
    let args: Vec<Value> = args
        .map(|arg| invariants.copy(&mut builder, *arg, start))
        .collect();
    builder.exact = data.exact;
    builder.inst(data.op, &args).to_vec()
}

fn results(function: &Function, inst: Inst) -> Vec<Value> {
    function.inst(inst).results.to_vec()
}
