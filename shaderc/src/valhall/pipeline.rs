//! Pipeline: the passes of the back end in order, and why in that order.
//!
//! The runner verifies after each while there are values, and the checkers look at the answers of allocation and of waits.

use super::Choices;
use super::allocate::{AllocateOptions, Allocated, allocate};
use super::check_waits::{Fences, check_waits};
use super::error::Error;
use super::mir::{Form, Function};
use super::passes;
use super::select::select;
use super::statistics::spill_cost;
use crate::ir;
use crate::pass::{Changed, Runner};
use eitri_isa::Arch;

/// A program ready to be packed.
pub(super) struct Lowered {
    pub(super) function: Function,
    pub(super) allocated: Allocated,
}

/// All passes up to packing; none if the runner stopped before the end.
pub(super) fn lower(
    ir: &ir::Function,
    arch: Arch,
    choices: Choices,
    runner: &mut Runner<'_>,
) -> Result<Option<Lowered>, Error> {
    // Selection follows operands and edges without looking twice.
    runner
        .time("verify", |()| ir::verify::verify(ir))
        .map_err(|broken| {
            Error::broken("lower", broken.iter().map(ToString::to_string).collect())
        })?;
    let target = runner.target;
    let mut function = runner.time("select", |()| select(ir, arch, &target))?;
    runner.after("select", &function);

    // What selection read through is dead now, and legalisation should not find homes for its constants.
    runner.improve(&mut function, passes::PROPAGATE_COPIES);
    runner.improve(&mut function, passes::REMOVE_DEAD);
    // Constants first: where they go decides what else an instruction may read.
    runner.run(&mut function, passes::LEGALISE_CONSTANTS);
    // Then the order of uniform words, which decides what has to be moved. Twice: a constant that was moved needs no
    // word any more, and without it the others may lie differently.
    for _ in 0..2 {
        runner.improve(&mut function, passes::ARRANGE_FAU);
        runner.run(&mut function, passes::LEGALISE_FAU);
    }
    // Legalisation moves the same constant for each reader.
    runner.improve(&mut function, passes::SHARE_MOVES);
    // Which halves can be selected is settled now.
    let share = match choices.share_registers {
        true => passes::SHARE_REGISTERS,
        false => passes::JOIN_HALVES,
    };
    runner.improve(&mut function, share);

    // Words then live through the loop: that may cost threads, or memory traffic.
    let stays = (function.loop_count() > 0).then(|| function.clone());
    let hoisted = runner.improve(&mut function, passes::HOIST_INVARIANTS) == Changed::Yes;
    // What is loaded early lives longer too.
    let mut early = function.clone();
    let moved = runner.improve(&mut early, passes::ISSUE_EARLY) == Changed::Yes;
    let Some(mut lowered) = finish(early, choices, runner)? else {
        return Ok(None);
    };
    // Several values a register, where registers are dear.
    let mut shared = lowered.is_tight().then(|| function.clone());
    if let Some(shared) = &mut shared
        && runner.improve(shared, passes::SHARE_REGISTERS) == Changed::Yes
    {
        let mut early = shared.clone();
        runner.improve(&mut early, passes::ISSUE_EARLY);
        match finish(early, choices, runner)? {
            Some(second) if second.cost() < lowered.cost() => {
                lowered = second;
                std::mem::swap(&mut function, shared);
            }
            Some(_) => {}
            None => return Ok(None),
        }
    }
    if moved && lowered.is_tight() {
        match finish(function.clone(), choices, runner)? {
            Some(second) if second.cost() < lowered.cost() => lowered = second,
            Some(_) => {}
            None => return Ok(None),
        }
    }
    if let Some(stays) = stays.filter(|_| hoisted && lowered.is_tight()) {
        function = stays;
        match finish(function.clone(), choices, runner)? {
            Some(second) if second.cost() < lowered.cost() => lowered = second,
            Some(_) => {}
            None => return Ok(None),
        }
    }
    // Half the threads, or memory traffic: worth trying whether another order of instructions needs fewer registers.
    if lowered.is_tight() {
        runner.improve(&mut function, passes::SCHEDULE);
        match finish(function, choices, runner)? {
            Some(second) if second.cost() < lowered.cost() => lowered = second,
            Some(_) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(lowered))
}

impl Lowered {
    /// Whether it needs more than half the registers, or memory for words.
    fn is_tight(&self) -> bool {
        self.allocated.registers_per_thread > 32 || self.allocated.spills > 0
    }

    /// What two ways to allocate are compared by: threads first, then spilling by how often it runs, then length.
    fn cost(&self) -> (u32, u32, usize) {
        let memory = spill_cost(&self.function);
        let length = self
            .function
            .blocks
            .iter()
            .map(|block| block.instrs.len())
            .sum();
        (self.allocated.registers_per_thread, memory, length)
    }
}

/// The passes from SSA to the final order; none if the runner stopped before the end.
fn finish(
    mut function: Function,
    choices: Choices,
    runner: &mut Runner<'_>,
) -> Result<Option<Lowered>, Error> {
    // Copies at edges need an edge with a place for them.
    runner.run(&mut function, passes::SPLIT_EDGES);
    if runner.is_over() {
        return Ok(None);
    }
    // Phis become copies inside: not before it is known that nothing has to be spilled, or what.
    let options = AllocateOptions {
        limit: choices.register_limit,
        full_file: choices.full_registers,
        check: runner.checks(),
    };
    let Some(allocated) = allocate(&mut function, options, runner)? else {
        return Ok(None);
    };
    function.form = Form::Registers;
    runner.after("allocate", &function);

    // Only now is it known which blocks hold no copies; the rest are final but for waits.
    runner.improve(&mut function, passes::THREAD_JUMPS);
    runner.improve(&mut function, passes::ROTATE_LOOPS);
    runner.run(&mut function, passes::LOWER_BRANCHES);
    runner.run(&mut function, passes::ASSIGN_SLOTS);
    // Fences become waits, and are gone.
    let fences = runner.checks().then(|| Fences::of(&function));
    runner.run(&mut function, passes::INSERT_WAITS);
    // After waits: both want the last instruction's flow, and the block's end has no other place.
    runner.run(&mut function, passes::INSERT_FLOW);
    // Last: it depends on the waits.
    runner.improve(&mut function, passes::MARK_LAST_USE);
    if runner.is_over() {
        return Ok(None);
    }
    if let Some(fences) = fences {
        check_waits(&function, &fences)
            .map_err(|broken| Error::broken("insert_waits", vec![broken.to_string()]))?;
    }
    Ok(Some(Lowered {
        function,
        allocated,
    }))
}
