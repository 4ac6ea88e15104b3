//! The whole way: SPIR-V to a program binary.
use std::collections::BTreeMap;
use std::fmt;

use eitri_program::EntryKind;

use crate::front_end::{StageInput, lower, lower_first, lower_functions, lower_graphics};
use crate::ir::Function;
use crate::ir::cfg::Cfg;
use crate::link::VaryingLayout;
use crate::machine::Listing;
use crate::options::Options;
use crate::pass::{Broken, Pass, Runner, Settings, Timing, Unsettled};
use crate::pipeline::{KEEPS_REGISTERS, lower_rest};
use crate::printf::PrintfCall;
use crate::{ir3, spirv, valhall};

/// What a program costs, in the figures of its machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Statistics {
    /// On Valhall.
    Valhall(valhall::Statistics),
    /// On IR3.
    Ir3(ir3::Statistics),
}

impl Statistics {
    /// The figures of Valhall; none of another machine.
    pub fn valhall(&self) -> Option<&valhall::Statistics> {
        match self {
            Statistics::Valhall(statistics) => Some(statistics),
            Statistics::Ir3(_) => None,
        }
    }
}

impl Statistics {
    /// Whether fewer invocations run at once than could, or words are spilled.
    fn is_tight(&self) -> bool {
        match self {
            Statistics::Valhall(own) => own.threads < 2 || own.spills > 0,
            Statistics::Ir3(own) => own.spills > 0,
        }
    }

    /// What registers cost: less is better. The invocations that can't run at once, then what spilling costs.
    fn room(&self) -> (std::cmp::Reverse<u32>, usize) {
        match self {
            Statistics::Valhall(own) => (std::cmp::Reverse(own.threads), own.spill_cost as usize),
            Statistics::Ir3(own) => {
                let memory = own.spills.saturating_add(own.fills);
                (std::cmp::Reverse(own.waves), memory as usize)
            }
        }
    }
}

impl fmt::Display for Statistics {
    /// One line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistics::Valhall(statistics) => statistics.fmt(f),
            Statistics::Ir3(statistics) => statistics.fmt(f),
        }
    }
}

/// What a back end makes.
pub(crate) struct Made {
    pub(crate) program: Vec<u8>,
    pub(crate) code: Vec<u64>,
    pub(crate) statistics: Statistics,
    pub(crate) listing: Listing,
}

/// What a back end makes of a stage of the graphics pipeline.
pub(crate) struct MadeStage {
    pub(crate) program: Vec<u8>,
    pub(crate) entry_points: Vec<CompiledEntry>,
}

/// A stage of the graphics pipeline, compiled with the others.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledStage {
    /// The program binary, as `eitri_program::GraphicsProgram` reads it.
    pub program: Vec<u8>,
    /// The programs that it consists of, in its order.
    pub entry_points: Vec<CompiledEntry>,
    /// The IR after each pass that the options name, machine IR included.
    pub prints: Vec<(&'static str, String)>,
    /// Time by pass.
    pub timings: BTreeMap<&'static str, Timing>,
    /// Where passes of the IR did not settle: the code is right, but not as good as it could be.
    pub unsettled: Vec<Unsettled>,
    /// What the front end left out: the code does without.
    pub warnings: Vec<spirv::error::Warning>,
    /// The calls of `debugPrintfEXT`, in the order of their numbers.
    pub printf: Vec<PrintfCall>,
}

/// One of the programs of a stage.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledEntry {
    /// What it is for.
    pub kind: EntryKind,
    /// The machine code, without padding.
    pub code: Vec<u64>,
    /// What it costs.
    pub statistics: Statistics,
    /// The machine code as text.
    pub listing: Listing,
}

/// The shaders of a graphics pipeline, fitted to each other.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledGraphics {
    /// The vertex shader.
    pub vertex: CompiledStage,
    /// The fragment shader, if there is one.
    pub fragment: Option<CompiledStage>,
    /// What the one leaves for the other in the record of a vertex.
    pub layout: VaryingLayout,
}

/// A compiled shader.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    /// The program binary, as `eitri_program::Program` reads it, or `eitri_ir3_program::Program` that of IR3.
    pub program: Vec<u8>,
    /// The machine code, without padding.
    pub code: Vec<u64>,
    /// What it costs.
    pub statistics: Statistics,
    /// The machine code as text.
    pub listing: Listing,
    /// The IR after each pass that the options name, machine IR included.
    pub prints: Vec<(&'static str, String)>,
    /// Time by pass.
    pub timings: BTreeMap<&'static str, Timing>,
    /// Where passes of the IR did not settle: the code is right, but not as good as it could be.
    pub unsettled: Vec<Unsettled>,
    /// What the front end left out: the code does without.
    pub warnings: Vec<spirv::error::Warning>,
    /// The calls of `debugPrintfEXT`, in the order of their numbers.
    pub printf: Vec<PrintfCall>,
}

/// Why a shader can't be compiled.
#[derive(Clone, PartialEq, Debug)]
pub enum Error {
    /// The module is wrong or asks for what isn't supported.
    Spirv(spirv::error::Error),
    /// The machine can't do it.
    Valhall(valhall::Error),
    /// The machine can't do it.
    Ir3(ir3::Error),
    /// The result doesn't fit a program binary, of whichever machine.
    Program(eitri_program::EncodeError),
    /// A pass left something broken: a defect of the compiler.
    Broken(Broken),
}

/// All that is wrong with a shader: at least one error.
#[derive(Clone, PartialEq, Debug)]
pub struct Errors(pub Vec<Error>);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Spirv(error) => error.fmt(f),
            Error::Valhall(error) => error.fmt(f),
            Error::Ir3(error) => error.fmt(f),
            Error::Program(error) => error.fmt(f),
            Error::Broken(broken) => broken.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.0.iter().enumerate() {
            if number != 0 {
                writeln!(f)?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// One error of some layer is all there is.
macro_rules! alone {
    ($( $layer:ty => $variant:ident; )*) => {
        $(
            impl From<$layer> for Errors {
                fn from(error: $layer) -> Errors {
                    Errors(vec![Error::$variant(error)])
                }
            }
        )*
    };
}

alone! {
    valhall::Error => Valhall;
    ir3::Error => Ir3;
    eitri_program::EncodeError => Program;
    Broken => Broken;
}

/// Compiles one entry point of a SPIR-V module.
///
/// # Errors
/// All that isn't supported in the module, the first thing that is wrong with it, or what the machine can't do.
pub fn compile(spirv: &[u8], options: &Options) -> Result<Compiled, Errors> {
    let mut runner = Runner::with(options.target, options.settings());
    let first = lower_first(spirv, options, &mut runner).map_err(errors)?;
    // What keeps registers keeps them through loops.
    let looped = (!Cfg::shared(&first).loops.is_empty()).then(|| first.clone());
    let made = compile_rest(first, options, None, runner.fork(options.settings()))?;
    let mut best = made.ok_or_else(ended_early)?;
    let Some(looped) = looped else {
        return Ok(best);
    };
    let mut other = options.clone();
    for passes in KEEPS_REGISTERS {
        let changed = |pass: &Pass| {
            let timing = best.timings.get(pass.name);
            timing.is_some_and(|timing| timing.changes > 0)
        };
        if !best.statistics.is_tight() || !passes.iter().any(changed) {
            continue;
        }
        other
            .skip
            .extend(passes.iter().map(|pass| pass.name.to_owned()));
        let fork = runner.fork(other.settings());
        let compiled = compile_rest(looped.clone(), &other, Some(&best.statistics), fork)?;
        if let Some(compiled) = compiled
            && compiled.statistics.room() < best.statistics.room()
        {
            best = compiled;
        }
    }
    Ok(best)
}

/// What [`lower_first`] has left to do, and the back end's part. With a rival there is only code that takes less room.
fn compile_rest(
    mut function: Function,
    options: &Options,
    rival: Option<&Statistics>,
    mut runner: Runner<'_>,
) -> Result<Option<Compiled>, Errors> {
    lower_rest(&mut function, options.robust, &mut runner);
    if let Some(Err(broken)) = runner.ended() {
        return Err(broken.into());
    }
    finish(&function, options, rival, runner)
}

/// A SPIR-V module, and what its compilation is to be like. The stage that the options name does not count.
pub type StageSource<'s> = (&'s [u8], &'s Options);

/// Compiles the shaders of a graphics pipeline together: the vertex shader stores what the fragment shader reads, where it reads
/// it. Without a fragment shader only positions are stored.
///
/// # Errors
/// All that isn't supported in a module, the first thing that is wrong with it, or what the machine can't do.
pub fn compile_graphics(
    vertex: StageSource<'_>,
    fragment: Option<StageSource<'_>>,
) -> Result<CompiledGraphics, Errors> {
    let mut first = Runner::with(vertex.1.target, vertex.1.settings());
    let mut second = fragment.map(|(_, options)| Runner::with(options.target, options.settings()));
    let inputs: (StageInput<'_, '_>, Option<StageInput<'_, '_>>) = (
        (vertex.0, vertex.1, &mut first),
        fragment
            .zip(second.as_mut())
            .map(|((spirv, options), runner)| (spirv, options, runner)),
    );
    let lowered = lower_graphics(inputs.0, inputs.1).map_err(errors)?;
    let second = fragment.map(|(_, options)| options).zip(second);
    finish_graphics(lowered, (vertex.1, first), second)
}

/// Compiles functions of a vertex and a fragment shader that no pass has changed yet, as the front end leaves them.
///
/// # Errors
/// What the machine can't do.
pub fn compile_graphics_functions(
    (vertex, options): (Function, &Options),
    fragment: Option<(Function, &Options)>,
) -> Result<CompiledGraphics, Errors> {
    let mut first = Runner::with(options.target, options.settings());
    let (fragment, mut second) = match fragment {
        Some((function, options)) => {
            let runner = Runner::with(options.target, options.settings());
            (Some(function), Some((options, runner)))
        }
        None => (None, None),
    };
    let given = fragment.zip(second.as_mut());
    let given = given.map(|(function, (options, runner))| (function, *options, runner));
    let lowered = lower_functions((vertex, options, &mut first), given).map_err(errors)?;
    finish_graphics(lowered, (options, first), second)
}

/// The back end's part for both stages.
fn finish_graphics(
    (vertex, fragment, layout): (Function, Option<Function>, VaryingLayout),
    (options, runner): (&Options, Runner<'_>),
    second: Option<(&Options, Runner<'_>)>,
) -> Result<CompiledGraphics, Errors> {
    let fragment = match fragment.zip(second) {
        Some((function, (options, runner))) => {
            Some(finish_stage(&function, &layout, options, runner)?)
        }
        None => None,
    };
    Ok(CompiledGraphics {
        vertex: finish_stage(&vertex, &layout, options, runner)?,
        fragment,
        layout,
    })
}

/// The back end's part for a stage of the graphics pipeline.
fn finish_stage(
    function: &Function,
    layout: &VaryingLayout,
    options: &Options,
    mut runner: Runner<'_>,
) -> Result<CompiledStage, Errors> {
    if let Some(Err(broken)) = runner.ended() {
        return Err(broken.into());
    }
    let machine = runner.target.machine;
    let back_end = machine.back_end();
    let made = back_end.compile_stage(function, layout, options, &mut runner)?;
    if let Some(Err(broken)) = runner.ended() {
        return Err(broken.into());
    }
    let made = made.ok_or_else(ended_early)?;
    let timings = runner.timings();
    Ok(CompiledStage {
        program: made.program,
        entry_points: made.entry_points,
        prints: runner.prints,
        timings,
        unsettled: runner.unsettled,
        warnings: runner.warnings,
        printf: runner.printf,
    })
}

/// Without a last pass there is nothing else that compilation could have ended with than code.
fn ended_early() -> Errors {
    Errors::from(Broken {
        pass: "compile",
        rules: vec!["the passes ended without code".to_owned()],
    })
}

/// Compiles up to the first run of a pass, and gives the IR after it as text; none if that pass does not run.
///
/// # Errors
/// As [`compile`].
pub fn compile_until(
    spirv: &[u8],
    options: &Options,
    pass: &str,
) -> Result<Option<String>, Errors> {
    let settings = Settings {
        stop_after: Some(pass),
        ..options.settings()
    };
    let mut runner = Runner::with(options.target, settings);
    let function = lower(spirv, options, &mut runner).map_err(errors)?;
    if !runner.is_over() {
        back_end(&function, options, None, &mut runner)?;
    }
    Ok(runner.ended().transpose()?)
}

fn errors(errors: Vec<spirv::error::Error>) -> Errors {
    Errors(errors.into_iter().map(Error::Spirv).collect())
}

/// Compiles a function that is in the lowered form already.
///
/// # Errors
/// What the machine can't do.
pub fn compile_lowered(function: &Function, options: &Options) -> Result<Compiled, Errors> {
    let runner = Runner::with(options.target, options.settings());
    finish(function, options, None, runner)?.ok_or_else(ended_early)
}

/// The back end's part; none if the runner stopped before there was code, or it would take as much room as the rival.
fn finish(
    function: &Function,
    options: &Options,
    rival: Option<&Statistics>,
    mut runner: Runner<'_>,
) -> Result<Option<Compiled>, Errors> {
    let made = back_end(function, options, rival, &mut runner)?;
    if let Some(Err(broken)) = runner.ended() {
        return Err(broken.into());
    }
    let Some(made) = made else {
        return Ok(None);
    };
    let timings = runner.timings();
    Ok(Some(Compiled {
        program: made.program,
        code: made.code,
        statistics: made.statistics,
        listing: made.listing,
        prints: runner.prints,
        timings,
        unsettled: runner.unsettled,
        warnings: runner.warnings,
        printf: runner.printf,
    }))
}

/// What the target's back end makes; nothing if the runner stopped before there was code, or it would take as much room as the
/// rival.
fn back_end(
    function: &Function,
    options: &Options,
    rival: Option<&Statistics>,
    runner: &mut Runner<'_>,
) -> Result<Option<Made>, Errors> {
    let machine = runner.target.machine;
    machine.back_end().compile(function, options, rival, runner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_tight_where_fewer_run_at_once_or_a_word_is_spilled() {
        let tight = |threads, spills| {
            Statistics::Valhall(valhall::Statistics {
                threads,
                spills,
                ..valhall::Statistics::default()
            })
            .is_tight()
        };
        assert!(!tight(2, 0));
        assert!(tight(1, 0));
        assert!(tight(2, 1));
    }
}
