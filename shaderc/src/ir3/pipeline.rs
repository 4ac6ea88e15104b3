//! Pipeline: the passes of the back end in order, and why in that order.
//!
//! The runner verifies after each while there are values; what comes of allocation is proved by the allocator's checker, and
//! the finished words by `check`.

use super::Choices;
use super::allocate::{AllocateError, allocate, waves};
use super::error::Error;
use super::mir::Function;
use super::passes;
use super::select::select;
use super::statistics::{footprint, issue_cost, spill_cost};
use crate::ir;
use crate::machine::Form;
use crate::machine::allocate::Allocated;
use crate::pass::{Changed, Runner};
use eitri_ir3_isa::device::Parts;

/// More waves than these hide little more.
const MANY_WAVES: u32 = 8;

/// A program ready to be packed.
pub(super) struct Lowered {
    pub(super) function: Function,
    pub(super) allocated: Allocated,
}

/// All passes up to packing; none if the runner stopped before the end.
pub(super) fn lower(
    ir: &ir::Function,
    parts: &Parts,
    choices: Choices,
    runner: &mut Runner<'_>,
) -> Result<Option<Lowered>, Error> {
    // Selection follows operands and edges without looking twice.
    runner
        .time("verify", |()| ir::verify::verify(ir))
        .map_err(|broken| {
            Error::broken("lower", broken.iter().map(ToString::to_string).collect())
        })?;
    let selected = runner.time("select", |()| select(ir, parts));
    let mut function = selected.map_err(|refused| match refused.is_empty() {
        true => Error::ConstantsFull,
        false => Error::Unsupported(refused),
    })?;
    runner.after("select", &function);

    // What selection read through is dead now, and legalisation should not find homes for its constants.
    runner.improve(&mut function, passes::PROPAGATE_COPIES);
    runner.improve(&mut function, passes::REMOVE_DEAD);
    runner.run(&mut function, passes::LEGALISE);
    // Legalisation moves the same constant for each reader; addresses of one block have parts in common.
    runner.improve(&mut function, passes::SHARE_MOVES);
    runner.improve(&mut function, passes::PROPAGATE_COPIES);
    runner.improve(&mut function, passes::REMOVE_DEAD);

    // What is hoisted lives through the loop, and what is begun early lives longer: that may cost waves, or memory traffic.
    let plain = function.clone();
    let hoisted = runner.improve(&mut function, passes::HOIST_INVARIANTS) == Changed::Yes;
    let unscheduled = function.clone();
    let scheduled = runner.improve(&mut function, passes::SCHEDULE) == Changed::Yes;
    let Some(mut lowered) = finish(function, parts, choices, runner)? else {
        return Ok(None);
    };
    let others = [(scheduled, unscheduled), (hoisted, plain)];
    for (_, other) in others.into_iter().filter(|(differs, _)| *differs) {
        if !lowered.is_tight(parts) {
            break;
        }
        match finish(other, parts, choices, runner)? {
            Some(second) if second.cost(parts) < lowered.cost(parts) => lowered = second,
            Some(_) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(lowered))
}

impl Lowered {
    /// Whether another order may be better: words are spilled, or few waves run at once.
    fn is_tight(&self, parts: &Parts) -> bool {
        let few = waves(parts, footprint(&self.function)) < MANY_WAVES;
        self.allocated.spills > 0 || few
    }

    /// What two ways to allocate are compared by: spilling by how often it runs, then waves as far as they are few, then
    /// idle slots.
    fn cost(&self, parts: &Parts) -> (u32, u32, u32) {
        let waves = waves(parts, footprint(&self.function)).min(MANY_WAVES);
        (
            spill_cost(&self.function),
            MANY_WAVES - waves,
            issue_cost(&self.function),
        )
    }
}

/// The passes from SSA to the final order; none if the runner stopped before the end.
fn finish(
    mut function: Function,
    parts: &Parts,
    choices: Choices,
    runner: &mut Runner<'_>,
) -> Result<Option<Lowered>, Error> {
    // Copies at edges need an edge with a place for them.
    runner.run(&mut function, passes::SPLIT_EDGES);
    if runner.is_over() {
        return Ok(None);
    }
    // Phis become copies inside: not before it is known that nothing has to be spilled, or what.
    let allocated = allocate(&mut function, parts, choices.register_limit, runner);
    let allocated = allocated.map_err(|error| match error {
        AllocateError::TooFewRegisters => Error::TooFewRegisters,
        AllocateError::ScratchFull => Error::PrivateFull,
        AllocateError::Wrong(wrong) => Error::broken("allocate", vec![wrong.to_string()]),
    })?;
    let Some(allocated) = allocated else {
        return Ok(None);
    };
    function.form = Form::Registers;
    runner.after("allocate", &function);

    // All lanes come to one end; blocks that only ended jump there.
    runner.run(&mut function, passes::END_ONCE);
    // Only now is it known which blocks hold no copies.
    runner.improve(&mut function, passes::THREAD_JUMPS);
    runner.improve(&mut function, passes::ROTATE_LOOPS);
    // After those: what lanes do together must stay together, which they see by its name.
    runner.run(&mut function, passes::EXPAND_LANES);
    runner.run(&mut function, passes::LOWER_BRANCHES);
    // Before idle slots, since what waits needs a place that is a slot itself.
    runner.run(&mut function, passes::INSERT_SYNC);
    // What waits can't be a later step of another; and idle slots are counted from whole instructions.
    runner.improve(&mut function, passes::FOLD_REPEATS);
    runner.run(&mut function, passes::INSERT_NOPS);
    // Last: which instruction lanes wait at depends on the final order.
    runner.run(&mut function, passes::MARK_JOINS);
    if runner.is_over() {
        return Ok(None);
    }
    Ok(Some(Lowered {
        function,
        allocated,
    }))
}
