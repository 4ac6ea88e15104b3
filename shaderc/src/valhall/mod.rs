//! Back end: from lowered IR to Valhall machine code.
//!
//! `pipeline` is the page to read first: every pass, in order, and why in that order. Below, the modules stand in the
//! order in which a shader meets them.

mod back_end;
mod error;
mod passes;
mod pipeline;

mod mir;

mod descriptors;

mod select;

mod legalise;

mod order;

mod registers;

mod lower_branches;

mod waits;

mod expand_blends;

mod helper_lanes;

mod pack;

pub mod rates;

mod statistics;

mod encode;

mod split_vertex;

mod stage_facts;

mod encode_graphics;

#[cfg(test)]
mod tests;

pub use self::error::{Error, Unsupported};
pub use self::mir::{AddressHalf, FauWord, UniformWork};
pub use self::statistics::Statistics;
use crate::ir;
use crate::link::VaryingLayout;
use crate::machine::Listing;
use crate::pass::Runner;
use crate::target::{Machine, Target};
use eitri_isa::Arch;

/// Choices that change the code but not its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    /// Allocate only from this many low registers and the preloaded ones, so that even small shaders spill.
    pub register_limit: Option<u32>,
    /// Give each thread 64 registers even if 32 are enough.
    pub full_registers: bool,
    /// Give each thread 32 registers and keep nothing in memory: where that leaves no room, there is no code.
    pub half_registers: bool,
    /// What spilling may cost ([`Statistics::spill_cost`]): where it would cost more, there is no code.
    pub most_spill_cost: Option<u32>,
    /// Let values of 16 and 8 bits share registers even if there are enough.
    pub share_registers: bool,
}

/// A compiled shader.
#[derive(Clone, PartialEq, Debug)]
pub struct Binary {
    /// Instructions, without padding.
    pub code: Vec<u64>,
    /// Registers that each thread is given: 32 or 64.
    pub registers: u32,
    /// Registers r48 to r63 that must be preloaded: bit n is r(48 + n).
    pub preload: u16,
    /// FAU words in order.
    pub fau: Vec<FauWord>,
    /// What some of them are worked out by.
    pub work: Vec<UniformWork>,
    /// By binding: the handle of its first element; those of the others follow.
    pub handles: Vec<u32>,
    /// Bytes of thread-local memory for each thread, a multiple of 16.
    pub scratch_bytes: u32,
    /// Whether a fragment program's quads must be whole: lanes look at one another.
    pub needs_helpers: bool,
    /// What it costs.
    pub statistics: Statistics,
    /// The code as text.
    pub listing: Listing,
}

/// Compiles a function that is in lowered form.
///
/// # Errors
/// [`Error::Unsupported`] names what has no code and where it came from. [`Error::ScratchFull`] and
/// [`Error::TooFewRegisters`] say what ran out. The others are defects of the compiler, found by its own checks.
pub fn compile(ir: &ir::Function, arch: Arch, choices: Choices) -> Result<Binary, Error> {
    let mut runner = Runner::new(Target::valhall(arch), &[]);
    let binary = compile_with(ir, arch, choices, &mut runner)?;
    binary.ok_or_else(|| Error::broken("compile", vec!["it ended without code".to_owned()]))
}

/// As [`compile`], with a runner of the caller's; none if the runner stopped before there was code, or half the registers
/// are too few.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(
    ir: &ir::Function,
    arch: Arch,
    choices: Choices,
    runner: &mut Runner<'_>,
) -> Result<Option<Binary>, Error> {
    compile_stage(ir, arch, choices, &VaryingLayout::default(), runner)
}

/// As [`compile_with`], of a stage whose varyings lie as `varyings` says.
///
/// # Errors
/// As [`compile`].
pub fn compile_stage(
    ir: &ir::Function,
    arch: Arch,
    choices: Choices,
    varyings: &VaryingLayout,
    runner: &mut Runner<'_>,
) -> Result<Option<Binary>, Error> {
    let Some(lowered) = pipeline::lower(ir, arch, choices, varyings, runner)? else {
        return Ok(None);
    };
    let function = &lowered.function;
    let code = runner.time("pack", |()| pack::pack(function, arch))?;
    let preloaded = function
        .preloads
        .iter()
        .filter_map(|preload| preload.register.number().checked_sub(48));
    Ok(Some(Binary {
        registers: lowered.allocated.registers_per_thread,
        preload: preloaded.fold(0, |mask, bit| mask | 1 << bit),
        fau: function.extra.fau.clone(),
        work: function.extra.work.clone(),
        handles: descriptors::handles(&ir.bindings),
        scratch_bytes: function.scratch_bytes.next_multiple_of(16),
        needs_helpers: helper_lanes::are_needed(function),
        statistics: statistics::count(function, &lowered.allocated),
        listing: runner.finish_listing(Listing::new(Machine::Valhall(arch), function, &code), ir),
        code,
    }))
}
