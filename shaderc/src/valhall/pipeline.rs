//! Pipeline: the passes of the back end in order, and why in that order.
//!
//! In debug builds the verifier runs after each while there are values, and the
//! checkers run on the answers of allocation and of waits.

use super::allocate::{AllocateOptions, Allocated, allocate};
use super::check_waits::check_waits;
use super::error::Error;
use super::mir::{Form, Function, verify};
use super::passes::{self, Pass};
use super::select::select;
use super::statistics::spill_cost;
use crate::ir;

/// Told the name of each pass and the program after it.
pub type Observer<'a> = dyn FnMut(&'static str, &dyn std::fmt::Display) + 'a;

/// A program ready to be packed.
pub(super) struct Lowered {
    pub(super) function: Function,
    pub(super) allocated: Allocated,
}

/// Runs passes, one after the other.
struct Runner<'o, 'f> {
    function: Function,
    observer: &'o mut Observer<'f>,
}

impl Runner<'_, '_> {
    /// Runs a pass that can't fail.
    fn run(&mut self, pass: Pass) -> Result<(), Error> {
        (pass.run)(&mut self.function);
        self.after(pass.name, pass.form)
    }

    fn after(&mut self, name: &'static str, form: Option<Form>) -> Result<(), Error> {
        (self.observer)(name, &self.function);
        match form
            .filter(|_| cfg!(debug_assertions))
            .map(|form| verify(&self.function, form))
        {
            Some(broken) if !broken.is_empty() => Err(Error::broken(
                name,
                broken.iter().map(ToString::to_string).collect(),
            )),
            _ => Ok(()),
        }
    }
}

/// All passes up to packing.
pub(super) fn lower(
    ir: &ir::Function,
    options: AllocateOptions,
    observer: &mut Observer<'_>,
) -> Result<Lowered, Error> {
    // Selection follows operands and edges without looking twice.
    ir::verify::verify(ir).map_err(|broken| {
        Error::broken("lower", broken.iter().map(ToString::to_string).collect())
    })?;
    let mut runner = Runner {
        function: select(ir)?,
        observer,
    };
    runner.after("select", Some(Form::Ssa))?;

    // What selection read through is dead now, and legalisation should not find homes for its constants.
    runner.run(passes::PROPAGATE_COPIES)?;
    runner.run(passes::REMOVE_DEAD)?;
    // Constants first: where they go decides what else an instruction may read.
    runner.run(passes::LEGALISE_CONSTANTS)?;
    // Then the order of uniform words, which decides what has to be moved. Twice: a constant that was moved needs no
    // word any more, and without it the others may lie differently.
    for _ in 0..2 {
        runner.run(passes::ARRANGE_FAU)?;
        runner.run(passes::LEGALISE_FAU)?;
    }
    // Legalisation moves the same constant for each reader.
    runner.run(passes::SHARE_VALUES)?;

    let mut lowered = finish(runner.function.clone(), options, runner.observer)?;
    // Half the threads, or memory traffic: worth trying whether another order of instructions needs fewer registers.
    if lowered.allocated.registers_per_thread > 32 || lowered.allocated.spills > 0 {
        runner.run(passes::SCHEDULE)?;
        let second = finish(runner.function, options, runner.observer)?;
        if second.cost() < lowered.cost() {
            lowered = second;
        }
    }
    Ok(lowered)
}

impl Lowered {
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

/// The passes from SSA to the final order.
fn finish(
    function: Function,
    options: AllocateOptions,
    observer: &mut Observer<'_>,
) -> Result<Lowered, Error> {
    let mut runner = Runner { function, observer };
    // Copies at edges need an edge with a place for them.
    runner.run(passes::SPLIT_EDGES)?;
    runner.run(passes::LOWER_PHIS)?;
    // After phis, so that the copies of both kinds are coalesced together.
    runner.run(passes::ISOLATE_GROUPS)?;
    let allocated = allocate(&mut runner.function, options)?;
    runner.after("allocate", None)?;

    // Only now is it known which blocks hold no copies; the rest are final but for waits.
    runner.run(passes::THREAD_JUMPS)?;
    runner.run(passes::LOWER_BRANCHES)?;
    runner.run(passes::ASSIGN_SLOTS)?;
    runner.run(passes::INSERT_WAITS)?;
    // After waits: both want the last instruction's flow, and the block's end has no other place.
    runner.run(passes::INSERT_FLOW)?;
    // Last: it depends on the waits.
    runner.run(passes::MARK_LAST_USE)?;
    if cfg!(debug_assertions) {
        check_waits(&runner.function)
            .map_err(|broken| Error::broken("insert_waits", vec![broken.to_string()]))?;
    }
    Ok(Lowered {
        function: runner.function,
        allocated,
    })
}
