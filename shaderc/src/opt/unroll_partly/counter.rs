//! What a loop counts, and by how much values change from round to round.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::cfg::Cfg;
use crate::ir::loops::Loop;
use crate::ir::{Alu, BlockId, Function, Op, Terminator, Value, ValueDef};

/// Deepest expression that is looked through.
const DEPTH: u32 = 16;

/// By how much the values of a loop change from round to round.
pub(super) struct Steps<'f> {
    pub(super) function: &'f Function,
    cfg: &'f Cfg,
    places: &'f [Option<BlockId>],
    own: Loop<'f>,
    /// Of the header's phis that grow by a constant: the value in the first round, and the constant.
    counters: HashMap<Value, (Value, u32)>,
}

impl<'f> Steps<'f> {
    pub(super) fn new(
        function: &'f Function,
        cfg: &'f Cfg,
        places: &'f [Option<BlockId>],
        own: Loop<'f>,
        latch: BlockId,
    ) -> Steps<'f> {
        let mut counters = HashMap::default();
        for phi in &function.block(own.header()).phis {
            let source = |back: bool| {
                let mut sources = phi.sources.iter();
                sources.find(|(from, _)| (*from == latch) == back)
            };
            if let (Some((_, start)), Some((_, next))) = (source(false), source(true))
                && let Some(data) = function.def_inst(*next)
                && data.op == Op::Alu(Alu::IAdd)
                && data.args[0] == phi.result
                && let Some(step) = function.as_word(data.args[1])
            {
                counters.insert(phi.result, (*start, step));
            }
        }
        Steps {
            function,
            cfg,
            places,
            own,
            counters,
        }
    }

    /// The value of a counter in the first round, and what each round adds to it.
    pub(super) fn counter(&self, value: Value) -> Option<(Value, u32)> {
        self.counters.get(&value).copied()
    }

    /// Whether a value is defined outside of the loop.
    pub(super) fn is_outside(&self, value: Value) -> bool {
        let block = self.cfg.block_of(self.function, self.places, value);
        block.is_none_or(|block| !self.own.goes_round(block))
    }

    /// Whether a value can be computed before the loop begins.
    pub(super) fn is_invariant(&self, value: Value) -> bool {
        self.is_computed(value, DEPTH)
    }

    fn is_computed(&self, value: Value, depth: u32) -> bool {
        if self.is_outside(value) {
            return true;
        }
        self.function.def_inst(value).is_some_and(|data| {
            let operand = |arg: &Value| self.is_computed(*arg, depth - 1);
            depth > 0 && is_repeatable(data.op) && data.args.iter().all(operand)
        })
    }

    /// What each round adds to a word; none if that isn't a constant.
    pub(super) fn step(&self, value: Value) -> Option<u32> {
        self.step_of(value, DEPTH)
    }

    fn step_of(&self, value: Value, depth: u32) -> Option<u32> {
        if let Some((_, step)) = self.counter(value) {
            return Some(step);
        }
        if self.is_outside(value) {
            return Some(0);
        }
        let depth = depth.checked_sub(1)?;
        let data = self.function.def_inst(value)?;
        let of = |index: usize| self.step_of(data.args[index], depth);
        let constant = || self.function.as_word(data.args[1]);
        match data.op {
            Op::Alu(Alu::IAdd) => Some(of(0)?.wrapping_add(of(1)?)),
            Op::Alu(Alu::ISub) => Some(of(0)?.wrapping_sub(of(1)?)),
            Op::Alu(Alu::IShl) if constant().is_some() => Some(of(0)?.wrapping_shl(constant()?)),
            Op::Alu(Alu::IMul) if constant().is_some() => Some(of(0)?.wrapping_mul(constant()?)),
            _ => self.is_computed(value, depth).then_some(0),
        }
    }
}

/// Whether an instruction gives the same wherever it is run, and may be run anywhere.
pub(super) fn is_repeatable(op: Op) -> bool {
    let effects = op.effects();
    effects.speculatable && !effects.reads && matches!(op, Op::Alu(_) | Op::Uniform(_) | Op::Load(_))
}

/// A test that a loop is left by: `x < bound` or `bound < x`, or not above or below, where `x` is a counter and a constant.
pub(super) struct Counter {
    /// The block that ends with the test.
    pub(super) block: BlockId,
    /// Where the loop goes on.
    pub(super) stays: BlockId,
    /// The header's phi.
    pub(super) phi: Value,
    /// What is added to it for the test.
    pub(super) ahead: u32,
    /// What each round adds.
    pub(super) step: u32,
    pub(super) bound: Value,
    /// The comparison, whose operands are the counter and the bound if `counter_first`.
    pub(super) compare: Alu,
    pub(super) counter_first: bool,
    /// What the comparison gives while the loop goes on.
    pub(super) while_true: bool,
}

impl Counter {
    /// The one that a loop counts for, in the first block that has such a test.
    pub(super) fn find(steps: &Steps<'_>, own: Loop<'_>, latch: BlockId) -> Option<Counter> {
        let blocks = own.natural().iter();
        let mut blocks = blocks.filter(|block| steps.cfg.dominates(**block, latch));
        blocks.find_map(|block| Counter::at(steps, own, *block))
    }

    fn at(steps: &Steps<'_>, own: Loop<'_>, block: BlockId) -> Option<Counter> {
        let function = steps.function;
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = function.block(block).terminator
        else {
            return None;
        };
        let while_true = own.goes_round(then);
        if while_true == own.goes_round(otherwise) {
            return None;
        }
        let data = function.def_inst(condition)?;
        let Op::Alu(compare @ (Alu::ULt | Alu::UGe | Alu::SLt | Alu::SGe)) = data.op else {
            return None;
        };
        let of = |index: usize| {
            let (phi, ahead) = split_offset(function, steps, data.args[index])?;
            let (_, step) = steps.counter(phi)?;
            Some((phi, ahead, step))
        };
        let counted = of(0).map(|found| (true, found));
        let (counter_first, (phi, ahead, step)) =
            counted.or_else(|| of(1).map(|found| (false, found)))?;
        let bound = data.args[usize::from(counter_first)];
        let counter = Counter {
            block,
            stays: if while_true { then } else { otherwise },
            phi,
            ahead,
            step,
            bound,
            compare,
            counter_first,
            while_true,
        };
        (steps.is_invariant(bound) && counter.goes_towards_bound()).then_some(counter)
    }

    /// Whether the counter comes nearer to the bound each round.
    fn goes_towards_bound(&self) -> bool {
        let grows = match self.step.cast_signed() {
            1..=0xffff => true,
            -0xffff..=-1 => false,
            _ => return false,
        };
        grows == self.stays_below()
    }

    /// Most rounds that the loop makes, if that is known, and its counter begins at 0 or above.
    pub(super) fn most_rounds(&self, steps: &Steps<'_>) -> Option<u32> {
        let bound = steps.function.as_word(self.bound)?;
        let (start, step) = steps.counter(self.phi)?;
        let start = steps.function.as_word(start);
        let span = match self.stays_below() {
            true => bound.wrapping_sub(start.unwrap_or(0)),
            false => start?.wrapping_sub(bound),
        };
        Some(span.div_ceil(step.cast_signed().unsigned_abs()))
    }

    /// Whether the loop goes on as long as the counter is below the bound, or as long as it is above.
    pub(super) fn stays_below(&self) -> bool {
        let less = matches!(self.compare, Alu::ULt | Alu::SLt);
        (less == self.while_true) == self.counter_first
    }

    pub(super) fn is_signed(&self) -> bool {
        matches!(self.compare, Alu::SLt | Alu::SGe)
    }
}

/// A counter and the constant that is added to it.
fn split_offset(function: &Function, steps: &Steps<'_>, value: Value) -> Option<(Value, u32)> {
    if let ValueDef::Phi(_) = function.def(value) {
        return steps.counter(value).map(|_| (value, 0));
    }
    match crate::ir::alias::split_offset(function, value) {
        (Some(phi), ahead) => Some((phi, ahead)),
        (None, _) => None,
    }
}
