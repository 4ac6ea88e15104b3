//! Pipeline: the passes of the back end in order, and why in that order.
//!
//! Every pass is named here once. In debug builds the verifier runs after each while there are values, and the
//! checkers run on the answers of allocation and of waits.

use super::allocate::{AllocateOptions, Allocated, allocate};
use super::assign_slots::assign_slots;
use super::check_waits::check_waits;
use super::error::Error;
use super::insert_flow::insert_flow;
use super::insert_waits::insert_waits;
use super::isolate_groups::isolate_groups;
use super::legalise::arrange_fau::arrange_fau;
use super::legalise::constants::legalise_constants;
use super::legalise::fau::legalise_fau;
use super::lower_branches::lower_branches;
use super::lower_phis::lower_phis;
use super::mark_last_use::mark_last_use;
use super::mir::{Form, Function, verify};
use super::propagate_copies::propagate_copies;
use super::remove_dead::remove_dead;
use super::schedule::schedule;
use super::select::select;
use super::share_values::share_values;
use super::split_edges::split_edges;
use super::thread_jumps::thread_jumps;
use crate::ir;

/// Told the name of each pass and the program after it.
pub type Observer<'a> = dyn FnMut(&'static str, &dyn std::fmt::Display) + 'a;

/// Before `lower_phis`.
const SSA: Option<Form> = Some(Form::Ssa);
/// After it.
const VARIABLES: Option<Form> = Some(Form::Variables);

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
    /// Runs a pass that can't fail. `form` is what the function is afterwards, while the verifier knows it.
    fn run(
        &mut self,
        name: &'static str,
        form: Option<Form>,
        pass: impl FnOnce(&mut Function),
    ) -> Result<(), Error> {
        pass(&mut self.function);
        self.after(name, form)
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
    runner.after("select", SSA)?;

    // What selection read through is dead now, and legalisation should not find homes for its constants.
    runner.run("propagate_copies", SSA, propagate_copies)?;
    runner.run("remove_dead", SSA, remove_dead)?;
    // Constants first: where they go decides what else an instruction may read.
    runner.run("legalise_constants", SSA, legalise_constants)?;
    // Then the order of uniform words, which decides what has to be moved. Twice: a constant that was moved needs no
    // word any more, and without it the others may lie differently.
    for _ in 0..2 {
        runner.run("arrange_fau", SSA, arrange_fau)?;
        runner.run("legalise_fau", SSA, legalise_fau)?;
    }
    // Legalisation moves the same constant for each reader.
    runner.run("share_values", SSA, share_values)?;

    let mut lowered = finish(runner.function.clone(), options, runner.observer)?;
    // Half the threads, or memory traffic: worth trying whether another order of instructions needs fewer registers.
    if lowered.allocated.registers_per_thread > 32 || lowered.allocated.spills > 0 {
        runner.run("schedule", SSA, |function| {
            schedule(function);
        })?;
        let second = finish(runner.function, options, runner.observer)?;
        if second.cost() < lowered.cost() {
            lowered = second;
        }
    }
    Ok(lowered)
}

impl Lowered {
    /// What two ways to allocate are compared by: threads first, then accesses to memory, then length.
    fn cost(&self) -> (u32, usize, usize) {
        let memory = self.allocated.spills + self.allocated.fills;
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
    runner.run("split_edges", SSA, |function| {
        split_edges(function);
    })?;
    runner.run("lower_phis", VARIABLES, |function| {
        lower_phis(function);
    })?;
    // After phis, so that the copies of both kinds are coalesced together.
    runner.run("isolate_groups", VARIABLES, isolate_groups)?;
    let allocated = allocate(&mut runner.function, options)?;
    runner.after("allocate", None)?;

    // Only now is it known which blocks hold no copies; the rest are final but for waits.
    runner.run("thread_jumps", None, thread_jumps)?;
    runner.run("lower_branches", None, lower_branches)?;
    runner.run("assign_slots", None, assign_slots)?;
    runner.run("insert_waits", None, insert_waits)?;
    // After waits: both want the last instruction's flow, and the block's end has no other place.
    runner.run("insert_flow", None, insert_flow)?;
    // Last: it depends on the waits.
    runner.run("mark_last_use", None, mark_last_use)?;
    if cfg!(debug_assertions) {
        check_waits(&runner.function)
            .map_err(|broken| Error::broken("insert_waits", vec![broken.to_string()]))?;
    }
    Ok(Lowered {
        function: runner.function,
        allocated,
    })
}
