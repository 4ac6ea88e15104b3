//! From SPIR-V to the lowered form: front end and pipeline together.
use crate::ir::Function;
use crate::options::Options;
use crate::pass::{Runner, Timing, Unsettled};
use crate::pipeline;
use crate::spirv;
use crate::spirv::error::{Error, Warning};

use std::collections::BTreeMap;

/// A shader in the lowered form.
#[derive(Debug)]
pub struct Lowered {
    /// The function.
    pub function: Function,
    /// The IR after each pass that `print_after` names.
    pub prints: Vec<(&'static str, String)>,
    /// Time by pass.
    pub timings: BTreeMap<&'static str, Timing>,
    /// Where passes did not settle.
    pub unsettled: Vec<Unsettled>,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

/// Compiles up to the form that a back end receives.
///
/// # Errors
/// What is wrong with the module, or what isn't supported.
pub fn front_end(spirv: &[u8], options: &Options) -> Result<Lowered, Vec<Error>> {
    let mut runner = Runner::with(options.target, options.settings());
    let function = lower(spirv, options, &mut runner)?;
    let timings = runner.timings();
    Ok(Lowered {
        function,
        prints: runner.prints,
        timings,
        unsettled: runner.unsettled,
        warnings: runner.warnings,
    })
}

/// The same with a runner of the caller's.
pub(crate) fn lower(
    spirv: &[u8],
    options: &Options,
    runner: &mut Runner<'_>,
) -> Result<Function, Vec<Error>> {
    let translated = runner.time(TRANSLATE.name, |()| spirv::translate(spirv, options))?;
    let mut function = translated.function;
    runner.warnings = translated.warnings;
    runner.printf = translated.printf;
    runner.after(TRANSLATE.name, &function);
    pipeline::lower(&mut function, options.robust, runner);
    Ok(function)
}

/// What makes IR of SPIR-V, for the list of passes.
pub(crate) const TRANSLATE: crate::pass::PassRow = crate::pass::PassRow {
    name: "translate",
    what: "SPIR-V becomes IR",
    needed: true,
};
