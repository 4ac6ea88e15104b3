//! Counting down: a counter that is only compared with the number at which a loop ends becomes the number of rounds left.
//!
//! Needs: after every pass that asks what loops count (`unroll_partly`, `reduce_strength`).  Guarantees: as many rounds.
//! How: a branch compares with 0 by itself, so the comparison of each round goes. The number of rounds is computed before the
//! loop, if that takes no more than an instruction or is uniform work, which is free. Where the counter is read behind the
//! loop, it is computed there from the number of rounds.
//! Facts: hardware/compiler-isel.md (a branch compares a register with 0); hardware/compiler-optimization.md 1.8.

use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::loops::{Loop, Loops};
use crate::ir::range::Tested;
use crate::ir::reads::count_reads;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Op, Terminator, Type, Value, ValueDef};
use crate::opt::loop_counter::Counter;
use crate::opt::loop_steps::{Invariants, Steps, enter_through};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "count_down",
    what: "counters that only end loops count the rounds left",
    run,
};

/// Most instructions before a loop that count its rounds.
const MOST_BEFORE: usize = 1;
/// Deepest expression that is looked through.
const DEPTH: u32 = 8;

/// A loop that is to count down.
struct Plan {
    header: BlockId,
    /// The only block that enters it, and the only one that jumps back.
    entering: BlockId,
    latch: BlockId,
    inside: Vec<BlockId>,
    counter: Counter,
    /// The counter in the first round.
    start: u32,
    rounds: Rounds,
    /// Whether the counter is read behind the loop.
    is_read_behind: bool,
}

/// How many rounds a loop makes: a value counts from `first` towards the bound, `step` in a round.
#[derive(Clone, Copy)]
struct Rounds {
    first: u32,
    /// 2 to this power.
    step: u32,
    signed: bool,
    /// Whether the bound may be below `first`.
    may_be_below: bool,
}

impl Rounds {
    /// Instructions that count them.
    fn cost(self) -> usize {
        let below = usize::from(self.may_be_below);
        let first = usize::from(self.first != 0);
        let steps = if self.step == 0 { 0 } else { 2 };
        below + first + steps
    }

    fn count(self, builder: &mut Builder<'_>, bound: Value) -> Value {
        let most = match self.signed {
            true => Alu::SMax,
            false => Alu::UMax,
        };
        let mut span = bound;
        if self.may_be_below {
            span = builder.alu_word(most, span, self.first);
        }
        let more = ((1 << self.step) - 1_u32).wrapping_sub(self.first);
        if more != 0 {
            span = builder.alu_word(Alu::IAdd, span, more);
        }
        match self.step {
            0 => span,
            step => builder.alu_word(Alu::UShr, span, step),
        }
    }
}

fn run(function: &mut Function, target: &Target) -> Changed {
    let cfg = Cfg::of(function);
    if cfg.loops.is_empty() {
        return Changed::No;
    }
    let reads = count_reads(function);
    let places = inst_blocks(function);
    let loops = Loops::new(function, &cfg);
    let plans: Vec<Plan> = loops
        .iter()
        .filter_map(|own| plan(function, target, &cfg, &places, &reads, own))
        .collect();
    if plans.is_empty() {
        return Changed::No;
    }
    let mut replaced = Replaced::default();
    for plan in &plans {
        count_down(function, plan, &places, &mut replaced);
    }
    replaced.everywhere(function);
    crate::ir::layout::order_blocks(function);
    Changed::Yes
}

fn plan(
    function: &Function,
    target: &Target,
    cfg: &Cfg,
    places: &[Option<BlockId>],
    reads: &[u32],
    own: Loop<'_>,
) -> Option<Plan> {
    let (entering, latch) = own.ends()?;
    let steps = Steps::new(function, cfg, places, own, latch);
    let counter = Counter::find(&steps, own, latch)?;
    if !counter.counter_first || !counter.stays_below() {
        return None;
    }
    let (start, step) = steps.counter(counter.phi)?;
    let start = function.as_word(start)?;
    let tested = Tested::at(function, cfg, own.header());
    let rounds = rounds(function, &tested, &counter, start, step)?;
    let is_free = is_free(function, target, counter.bound, DEPTH);
    if !is_free && rounds.cost() > MOST_BEFORE {
        return None;
    }
    let left = reads_left(function, reads, &counter, latch)?;
    let is_read_behind = left > 0;
    if is_read_behind {
        let only_way_out = counter.block == own.header() && counter.ahead == 0 && {
            let mut blocks = own.natural().iter();
            blocks.all(|block| {
                let targets = function.block(*block).terminator.targets();
                *block == own.header() || targets.into_iter().all(|to| own.goes_round(to))
            })
        };
        if !is_free || !only_way_out || reads_inside(function, own, counter.phi) != 2 {
            return None;
        }
    }
    Some(Plan {
        header: own.header(),
        entering,
        latch,
        inside: own.natural().to_vec(),
        counter,
        start,
        rounds,
        is_read_behind,
    })
}

/// How the rounds are counted; none if the counter could come past the end of its range.
fn rounds(
    function: &Function,
    tested: &Tested,
    counter: &Counter,
    start: u32,
    step: u32,
) -> Option<Rounds> {
    let first = start.wrapping_add(counter.ahead);
    let signed = counter.is_signed();
    let most = tested.upper_bound(function, counter.bound);
    let end = match signed {
        true => i32::MAX.cast_unsigned(),
        false => u32::MAX,
    };
    let is_positive = most <= end;
    let fits = step == 1 || most <= end - (step - 1);
    let may_be_below = match signed {
        true => first != 0 || !is_positive,
        false => first != 0,
    };
    (step.is_power_of_two() && fits).then_some(Rounds {
        first,
        step: step.trailing_zeros(),
        signed,
        may_be_below,
    })
}

/// How often the counter is read beside what counts and what ends the loop; none if a value on the way is read elsewhere, too.
fn reads_left(
    function: &Function,
    reads: &[u32],
    counter: &Counter,
    latch: BlockId,
) -> Option<u32> {
    let phi = phi_sources(function, counter.phi)?;
    let (_, next) = *phi.iter().find(|(from, _)| *from == latch)?;
    let compared = function.inst(counter.comparison);
    let (condition, value) = (compared.results[0], compared.args[0]);
    let mut own = 1;
    let mut of_next = 1;
    if value == counter.phi {
        own += 1;
    } else if value == next {
        of_next += 1;
    } else {
        own += 1;
        if reads[value.index()] != 1 {
            return None;
        }
    }
    let alone = reads[condition.index()] == 1 && reads[next.index()] == of_next;
    alone.then(|| reads[counter.phi.index()].checked_sub(own))?
}

fn phi_sources(function: &Function, value: Value) -> Option<&[(BlockId, Value)]> {
    let ValueDef::Phi(block) = function.def(value) else {
        return None;
    };
    let mut phis = function.block(block).phis.iter();
    Some(&phis.find(|phi| phi.result == value)?.sources)
}

/// How often a value is read in a loop. Sources of phis are read where they come from.
fn reads_inside(function: &Function, own: Loop<'_>, value: Value) -> usize {
    let mut count = 0;
    for block in own.natural() {
        let data = function.block(*block);
        let insts = data.insts.iter().map(|inst| &function.inst(*inst).args);
        count += insts.flatten().filter(|arg| **arg == value).count();
        count += usize::from(data.terminator.operand() == Some(value));
        let sources = data.phis.iter().flat_map(|phi| &phi.sources);
        count += sources
            .filter(|(from, source)| *source == value && own.goes_round(*from))
            .count();
    }
    count
}

/// Whether what is computed of a word takes no instruction: it is made of constants, or of uniforms that are worked out.
fn is_free(function: &Function, target: &Target, value: Value, depth: u32) -> bool {
    if function.as_word(value).is_some() {
        return true;
    }
    if !target.works_out_uniforms() {
        return false;
    }
    let (Some(data), Some(depth)) = (function.def_inst(value), depth.checked_sub(1)) else {
        return false;
    };
    match data.op {
        Op::Uniform(_) => true,
        Op::Alu(
            Alu::IAdd
            | Alu::ISub
            | Alu::IMul
            | Alu::IAnd
            | Alu::IOr
            | Alu::IShl
            | Alu::UShr
            | Alu::UMin
            | Alu::UMax
            | Alu::SMin
            | Alu::SMax,
        ) => data
            .args
            .iter()
            .all(|arg| is_free(function, target, *arg, depth)),
        _ => false,
    }
}

fn count_down(
    function: &mut Function,
    plan: &Plan,
    places: &[Option<BlockId>],
    replaced: &mut Replaced,
) {
    let counter = &plan.counter;
    let before = enter_through(function, plan.header, plan.entering);
    let position = function.block(plan.header).position;
    let mut builder = Builder::new(function, before);
    builder.position = position;
    let mut invariants = Invariants::new(places, &plan.inside);
    let bound = invariants.copy(&mut builder, counter.bound, &|_| None);
    let rounds = plan.rounds.count(&mut builder, bound);
    if plan.is_read_behind {
        let span = builder.alu_word(Alu::IShl, rounds, plan.rounds.step);
        let end = builder.alu_word(Alu::IAdd, span, plan.start);
        replaced.insert(counter.phi, end);
    }
    let left = function.new_phi(plan.header, Type::W32);
    let mut builder = Builder::new(function, plan.latch);
    builder.position = position;
    let next = builder.alu_word(Alu::IAdd, left, u32::MAX);
    if let Some(own) = function.block_mut(plan.header).phis.last_mut() {
        own.sources = vec![(before, rounds), (plan.latch, next)];
    }
    let mut builder = Builder::new(function, counter.block);
    builder.position = builder.function.inst(counter.comparison).position;
    let compare = match counter.while_true {
        true => Alu::INe,
        false => Alu::IEq,
    };
    let goes_on = builder.alu_word(compare, left, 0);
    let terminator = &mut function.block_mut(counter.block).terminator;
    if let Terminator::Branch { condition, .. } = terminator {
        *condition = goes_on;
    }
}
