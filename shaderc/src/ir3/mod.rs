//! Back end: from lowered IR to machine code of Adreno a6xx (IR3).
//!
//! `pipeline` is the page to read first: every pass, in order, and why in that order. Below, the modules stand in the
//! order in which a shader meets them. What other back ends do in the same way is `crate::machine`.

mod back_end;
mod error;
mod passes;
mod pipeline;

mod mir;

mod constants;
mod descriptors;

mod select;

mod legalise;

mod ready_list;
mod schedule;

mod allocate;

mod expand_lanes;

mod lower_branches;

mod units;

mod reconvergence;

mod insert_sync;

mod fold_repeats;

mod insert_nops;

mod mark_joins;

pub mod check;
mod pack;

mod encode;
mod statistics;

#[cfg(test)]
mod random_wave;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_select;

pub use self::error::{Error, Unsupported};
pub use self::statistics::Statistics;
use crate::ir;
use crate::machine::Listing;
use crate::pass::Runner;
use crate::target::Target;
use eitri_ir3_isa::device::{Device, Parts};
use eitri_ir3_program::{ConstLayout, UniformRange};

/// Choices that change the code but not its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    /// Allocate only from this many low registers and the preloaded ones, so that even small shaders spill.
    pub register_limit: Option<u32>,
}

/// A compiled shader.
#[derive(Clone, PartialEq, Debug)]
pub struct Binary {
    /// Instructions, without padding.
    pub code: Vec<u64>,
    /// What stands where in the const file.
    pub constants: ConstLayout,
    /// The last part of the const file.
    pub immediates: Vec<u32>,
    /// What of uniform buffers stands in the const file.
    pub uniforms: Vec<UniformRange>,
    /// By binding: where its first descriptor stands in its set.
    pub descriptors: Vec<u32>,
    /// The full register of the local id, if it is read.
    pub local_id: Option<u8>,
    /// The shared register of the workgroup id as state words count, if it is read.
    pub workgroup_id: Option<u8>,
    /// Points of reconvergence that are open at once, at most.
    pub branch_stack: u32,
    /// Bytes of private memory of each lane.
    pub private_bytes: u32,
    /// What it costs.
    pub statistics: Statistics,
    /// The code as text.
    pub listing: Listing,
}

/// Compiles a function that is in lowered form.
///
/// # Errors
/// [`Error::Unsupported`] names all that has no code and where it came from. [`Error::PrivateFull`],
/// [`Error::ConstantsFull`] and [`Error::TooFewRegisters`] say what ran out. The others are defects of the compiler, found
/// by its own checks.
pub fn compile(ir: &ir::Function, device: &Device, choices: Choices) -> Result<Binary, Error> {
    let mut runner = Runner::new(Target::ir3(*device), &[]);
    let binary = compile_with(ir, &device.parts, choices, &mut runner)?;
    binary.ok_or_else(|| Error::broken("compile", vec!["it ended without code".to_owned()]))
}

/// As [`compile`], with a runner of the caller's; none if the runner stopped before there was code.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(
    ir: &ir::Function,
    parts: &Parts,
    choices: Choices,
    runner: &mut Runner<'_>,
) -> Result<Option<Binary>, Error> {
    let Some(lowered) = pipeline::lower(ir, parts, choices, runner)? else {
        return Ok(None);
    };
    let function = &lowered.function;
    let code = runner.time("pack", |()| pack::pack(function))?;
    if runner.checks() {
        check::check(&code, function.extra.branch_stack)
            .map_err(|broken| Error::broken("pack", vec![broken.to_string()]))?;
    }
    let constants = function.extra.layout().ok_or(Error::ConstantsFull)?;
    let arrives = |class: mir::Class| {
        let mut preloads = function.preloads.iter();
        preloads.any(|preload| preload.register.class() == class)
    };
    let shared = |number: u8| eitri_ir3_isa::Reg::shared(number).map(eitri_ir3_isa::Reg::number);
    Ok(Some(Binary {
        local_id: arrives(mir::Class::Full).then_some(select::LOCAL_ID),
        workgroup_id: shared(select::WORKGROUP_ID).filter(|_| arrives(mir::Class::Shared)),
        immediates: function.extra.immediates.clone(),
        uniforms: function.extra.uniforms.clone(),
        descriptors: descriptors::number(&ir.bindings),
        branch_stack: function.extra.branch_stack,
        private_bytes: function.scratch_bytes.next_multiple_of(16),
        statistics: statistics::count(function, parts, &lowered.allocated, &constants),
        listing: runner.finish_listing(Listing::new(runner.target.machine, function, &code), ir),
        constants,
        code,
    }))
}
