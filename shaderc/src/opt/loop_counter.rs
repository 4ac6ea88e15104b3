//! What a loop counts.

use crate::ir::loops::Loop;
use crate::ir::{Alu, BlockId, Function, Inst, Op, Terminator, Value, ValueDef};
use crate::opt::loop_steps::Steps;

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
    pub(super) comparison: Inst,
    pub(super) counter_first: bool,
    /// What the comparison gives while the loop goes on.
    pub(super) while_true: bool,
}

impl Counter {
    /// The one that a loop counts for, in the first block that has such a test.
    pub(super) fn find(steps: &Steps<'_>, own: Loop<'_>, latch: BlockId) -> Option<Counter> {
        let blocks = own.natural().iter();
        let mut blocks = blocks.filter(|block| steps.cfg().dominates(**block, latch));
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
        let ValueDef::Result(comparison, _) = function.def(condition) else {
            return None;
        };
        let data = function.inst(comparison);
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
            comparison,
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
