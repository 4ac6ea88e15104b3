//! From SPIR-V to the lowered form: front end and pipeline together. A vertex shader comes with its fragment shader, so that
//! it stores what that one reads.
use crate::ir::{Function, Stage};
use crate::link::{VaryingLayout, link};
use crate::lower::blend_colors::blend_colors;
use crate::lower::clip_distances::discard_clipped;
use crate::opt::constant_varyings;
use crate::opt::round_flat_colors::{self, Rounded};
use crate::options::{Options, ShaderStage};
use crate::pass::{Runner, Timing, Unsettled};
use crate::pipeline;
use crate::spirv;
use crate::spirv::error::{Error, Feature, Place, Warning};

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
    Ok(Lowered::of(function, runner))
}

impl Lowered {
    fn of(function: Function, runner: Runner<'_>) -> Lowered {
        Lowered {
            function,
            timings: runner.timings(),
            prints: runner.prints,
            unsettled: runner.unsettled,
            warnings: runner.warnings,
        }
    }
}

/// The shaders of a graphics pipeline in the lowered form.
#[derive(Debug)]
pub struct LoweredGraphics {
    /// The vertex shader: all its outputs, in one function.
    pub vertex: Lowered,
    /// The fragment shader, if there is one.
    pub fragment: Option<Lowered>,
    /// What the one hands to the other.
    pub layout: VaryingLayout,
}

/// Compiles the shaders of a graphics pipeline up to the form that a back end receives. The options' stages don't count.
///
/// # Errors
/// What is wrong with a module, or what isn't supported.
pub fn graphics_front_end(
    vertex: (&[u8], &Options),
    fragment: Option<(&[u8], &Options)>,
) -> Result<LoweredGraphics, Vec<Error>> {
    let mut first = Runner::with(vertex.1.target, vertex.1.settings());
    let (functions, second) = match fragment {
        None => (
            lower_graphics((vertex.0, vertex.1, &mut first), None)?,
            None,
        ),
        Some((spirv, options)) => {
            let mut second = Runner::with(options.target, options.settings());
            let own = Some((spirv, options, &mut second));
            let functions = lower_graphics((vertex.0, vertex.1, &mut first), own)?;
            (functions, Some(second))
        }
    };
    let (vertex, fragment, layout) = functions;
    Ok(LoweredGraphics {
        vertex: Lowered::of(vertex, first),
        fragment: fragment
            .zip(second)
            .map(|(function, runner)| Lowered::of(function, runner)),
        layout,
    })
}

/// A module, its options and the runner of its passes.
pub(crate) type StageInput<'i, 'o> = (&'i [u8], &'i Options, &'i mut Runner<'o>);

/// A function as the front end leaves it, its options and the runner of its passes.
pub(crate) type StageFunction<'i, 'o> = (Function, &'i Options, &'i mut Runner<'o>);

/// The functions of both stages, fitted to each other.
pub(crate) fn lower_graphics<'o>(
    vertex: StageInput<'_, 'o>,
    fragment: Option<StageInput<'_, 'o>>,
) -> Result<(Function, Option<Function>, VaryingLayout), Vec<Error>> {
    let vertex = translated_stage(vertex, ShaderStage::Vertex)?;
    let fragment = fragment.map(|fragment| translated_stage(fragment, ShaderStage::Fragment));
    lower_functions(vertex, fragment.transpose()?)
}

/// The same of functions that the front end has made.
pub(crate) fn lower_functions<'i, 'o>(
    mut vertex: StageFunction<'i, 'o>,
    mut fragment: Option<StageFunction<'i, 'o>>,
) -> Result<(Function, Option<Function>, VaryingLayout), Vec<Error>> {
    prepare(&mut vertex);
    match &mut fragment {
        Some(fragment) => {
            prepare(fragment);
            let (function, options, runner) = fragment;
            if !runner.skips(CONSTANT_VARYINGS.name) {
                constant_varyings::replace(&vertex.0, function);
            }
            runner.after(CONSTANT_VARYINGS.name, function);
            let rounds = runner.target.pairs_halves() && !runner.skips(ROUND_FLAT_COLORS.name);
            let rounded = match rounds {
                true => round_flat_colors::find(function, &options.colors),
                false => Rounded::new(),
            };
            pipeline::pack_colors(function, runner);
            vertex.2.time(ROUND_FLAT_COLORS.name, |()| {
                round_flat_colors::round(&mut vertex.0, function, &rounded);
            });
            vertex.2.after(ROUND_FLAT_COLORS.name, &vertex.0);
            discard_clipped(&vertex.0, &mut fragment.0);
        }
        None => check_clipped(&vertex.0)?,
    }
    let (function, _, runner) = &mut vertex;
    let layout = runner.time(LINK.name, |()| {
        link(function, fragment.as_mut().map(|(function, ..)| function))
    });
    for (function, options, runner) in std::iter::once(&mut vertex).chain(&mut fragment) {
        runner.after(LINK.name, function);
        pipeline::lower(function, options.robust, runner);
    }
    Ok((vertex.0, fragment.map(|(function, ..)| function), layout))
}

/// Clip distances are a fragment shader's affair.
fn check_clipped(vertex: &Function) -> Result<(), Vec<Error>> {
    match vertex.stage {
        Stage::Vertex(stage) if stage.clip_distances != 0 => Err(vec![Error::Unsupported {
            place: Place {
                name: format!("entry point {}", vertex.name),
                ..Place::default()
            },
            feature: Feature::Use,
            name: "clip distances without a fragment shader".to_owned(),
        }]),
        _ => Ok(()),
    }
}

/// A stage as IR.
fn translated_stage<'i, 'o>(
    (spirv, options, runner): StageInput<'i, 'o>,
    stage: ShaderStage,
) -> Result<StageFunction<'i, 'o>, Vec<Error>> {
    let own = Options {
        stage,
        ..options.clone()
    };
    Ok((translated(spirv, &own, runner)?, options, runner))
}

/// Blends what the hardware does not, and takes dead code out.
fn prepare((function, options, runner): &mut StageFunction<'_, '_>) {
    runner.time(BLEND_COLORS.name, |()| {
        blend_colors(function, &options.colors);
    });
    runner.after(BLEND_COLORS.name, function);
    pipeline::prepare(function, runner);
}

/// The same as [`front_end`] with a runner of the caller's.
pub(crate) fn lower(
    spirv: &[u8],
    options: &Options,
    runner: &mut Runner<'_>,
) -> Result<Function, Vec<Error>> {
    let mut function = translated(spirv, options, runner)?;
    pipeline::lower(&mut function, options.robust, runner);
    Ok(function)
}

/// The first part of [`lower`]: up to where [`pipeline::lower_rest`] goes on.
pub(crate) fn lower_first(
    spirv: &[u8],
    options: &Options,
    runner: &mut Runner<'_>,
) -> Result<Function, Vec<Error>> {
    let mut function = translated(spirv, options, runner)?;
    pipeline::lower_first(&mut function, options.robust, runner);
    Ok(function)
}

/// A module as IR.
fn translated(
    spirv: &[u8],
    options: &Options,
    runner: &mut Runner<'_>,
) -> Result<Function, Vec<Error>> {
    let translated = runner.time(TRANSLATE.name, |()| spirv::translate(spirv, options))?;
    let function = translated.function;
    runner.warnings = translated.warnings;
    runner.printf = translated.printf;
    runner.after(TRANSLATE.name, &function);
    Ok(function)
}

/// What makes IR of SPIR-V, for the list of passes.
pub(crate) const TRANSLATE: crate::pass::PassRow = crate::pass::PassRow {
    name: "translate",
    what: "SPIR-V becomes IR",
    needed: true,
};

/// What mixes colours that the hardware does not, for the list of passes.
pub(crate) const BLEND_COLORS: crate::pass::PassRow = crate::pass::PassRow {
    name: "blend_colors",
    what: "colours are blended that the hardware can't blend",
    needed: true,
};

/// What takes constants out of what a vertex shader hands on, for the list of passes.
pub(crate) const CONSTANT_VARYINGS: crate::pass::PassRow = crate::pass::PassRow {
    name: "constant_varyings",
    what: "varyings that are the same constant at every vertex are not interpolated",
    needed: false,
};

/// What rounds flat colours in the vertex shader, for the list of passes.
pub(crate) const ROUND_FLAT_COLORS: crate::pass::PassRow = crate::pass::PassRow {
    name: "round_flat_colors",
    what: "flat colours are rounded as their targets would, so that halves can hand them on",
    needed: false,
};

/// What fits the stages of a graphics pipeline to each other, for the list of passes.
pub(crate) const LINK: crate::pass::PassRow = crate::pass::PassRow {
    name: "link",
    what: "a vertex shader stores what the fragment shader reads",
    needed: true,
};
