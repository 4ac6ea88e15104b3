//! Shaders of a scene, compiled: a program for each stage of each pipeline, each made once.

use super::lack::Lack;
use super::plan::passes;
use super::verdict::Verdict;
use crate::runs::case_run::{is_defect, one_line};
use crate::runs::color_state::color_state;
use crate::runs::drawn_checks::Module;
use crate::runs::known_lines::KnownLines;
use eitri_descriptors::Arch;
use eitri_draw_scenes::{Pipeline, PipelineStage, Scene, SceneFile, Shader, SpecConstant, Stage};
use eitri_drawing::ProgramId;
use eitri_shaderc::color_state::ColorState;
use eitri_shaderc::{Compiled, CompiledGraphics, Machine, Options, Robust, ShaderStage, Target};
use std::time::{Duration, Instant};

/// How shaders are compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Whether the optimised modules are taken.
    pub(crate) optimised: bool,
    pub(crate) target: Target,
    /// Whether listings keep the compiler's representation.
    pub(crate) representation: bool,
}

/// What programs are compiled of: shaders, and what becomes of their colours.
type Key = (Vec<PipelineStage>, ColorState);

/// What the stages of a pipeline were compiled to.
pub(crate) enum Made {
    Compute(Box<Compiled>),
    Graphics(Box<CompiledGraphics>),
}

impl Made {
    /// The lines of all its programs.
    fn lines(&self) -> KnownLines {
        match self {
            Made::Compute(compiled) => KnownLines::of_compute(compiled),
            Made::Graphics(compiled) => {
                let stages = [Some(&compiled.vertex), compiled.fragment.as_ref()];
                let lines: Vec<KnownLines> = stages
                    .into_iter()
                    .flatten()
                    .map(KnownLines::of_stage)
                    .collect();
                KnownLines::of_all(lines.iter())
            }
        }
    }

    /// The programs, in the order of the stages.
    fn programs(self) -> Vec<Vec<u8>> {
        match self {
            Made::Compute(compiled) => vec![compiled.program],
            Made::Graphics(compiled) => {
                let stages = [Some(compiled.vertex), compiled.fragment];
                let stages = stages.into_iter().flatten();
                stages.map(|stage| stage.program).collect()
            }
        }
    }
}

/// The code of pipelines that have the same stages and do the same with colours.
pub(crate) struct PipelineCode {
    /// Their names.
    pub(crate) pipelines: Vec<String>,
    /// Names of the shaders, the vertex shader first.
    pub(crate) shaders: Vec<String>,
    pub(crate) made: Made,
    /// The least time that it took to compile.
    pub(crate) took: Duration,
}

/// The programs of a scene.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// In the order of their ids.
    pub(super) bytes: Vec<Vec<u8>>,
    /// The modules that they were compiled of.
    pub(super) modules: Vec<Module>,
    /// Their lines, by pipeline.
    pub(super) lines: Vec<KnownLines>,
    made: Vec<(Key, Vec<ProgramId>)>,
}

impl Programs {
    /// Programs without code, for who only wants to know whether a scene can be drawn.
    pub(super) fn of_no_code(scene: &Scene, arch: Arch) -> Programs {
        let keys = keys(&scene.file, arch).into_iter();
        let made = keys.map(|(stages, colors)| {
            let ids = stages.iter().map(|_| ProgramId(0)).collect();
            ((stages, colors), ids)
        });
        Programs {
            bytes: Vec::new(),
            modules: Vec::new(),
            lines: Vec::new(),
            made: made.collect(),
        }
    }

    /// The programs of a pipeline's stages, in their order, for what becomes of colours.
    pub(super) fn of(&self, pipeline: &Pipeline, colors: &ColorState) -> &[ProgramId] {
        let mut made = self.made.iter();
        let found = made.find(|((stages, state), _)| *stages == pipeline.stages && state == colors);
        found.map_or(&[], |(_, programs)| programs)
    }
}

/// Compiles all pipelines of a scene.
pub(super) fn compile(scene: &Scene, manner: Manner) -> Result<Programs, Verdict> {
    let mut programs = Programs::default();
    for (stages, colors) in keys(&scene.file, arch(manner)?) {
        let mut ids = Vec::new();
        let code = make(scene, &stages, &colors, manner)?;
        programs.lines.push(code.lines());
        for program in code.programs() {
            // A scene has far fewer.
            ids.push(ProgramId(programs.bytes.len() as u32));
            programs.bytes.push(program);
        }
        programs
            .modules
            .extend(modules(scene, &stages, &colors, manner)?);
        programs.made.push(((stages, colors), ids));
    }
    Ok(programs)
}

/// The code of all pipelines of a scene, each compiled `runs` times.
pub(crate) fn pipeline_codes(
    scene: &Scene,
    manner: Manner,
    runs: u32,
) -> Result<Vec<PipelineCode>, Verdict> {
    let arch = arch(manner)?;
    let codes = keys(&scene.file, arch).into_iter().map(|(stages, colors)| {
        let mut took = Duration::MAX;
        let mut made = None;
        for _ in 0..runs.max(1) {
            let start = Instant::now();
            made = Some(make(scene, &stages, &colors, manner)?);
            took = took.min(start.elapsed());
        }
        let pipelines = scene.file.pipelines.iter();
        let own = pipelines.filter(|pipeline| {
            let uses = uses(&scene.file, arch, pipeline);
            pipeline.stages == stages && uses.contains(&colors)
        });
        let mut shaders: Vec<&PipelineStage> = stages.iter().collect();
        shaders.sort_by_key(|stage| stage_of(scene, stage) == Some(Stage::Fragment));
        Ok(PipelineCode {
            pipelines: own.map(|pipeline| pipeline.name.clone()).collect(),
            shaders: shaders.iter().map(|stage| stage.shader.clone()).collect(),
            // It ran at least once.
            made: made.ok_or_else(|| Verdict::Failed("nothing was compiled".to_owned()))?,
            took,
        })
    });
    codes.collect()
}

/// The modules of a pipeline's programs, in the same order.
fn modules(
    scene: &Scene,
    stages: &[PipelineStage],
    colors: &ColorState,
    manner: Manner,
) -> Result<Vec<Module>, Verdict> {
    let mut modules = Vec::new();
    for wanted in [Stage::Compute, Stage::Vertex, Stage::Fragment] {
        for stage in stages
            .iter()
            .filter(|it| stage_of(scene, it) == Some(wanted))
        {
            let (spirv, options) = module(scene, stage, manner)?;
            let (stage, colors) = match wanted {
                Stage::Fragment => (ShaderStage::Fragment, colors.clone()),
                Stage::Vertex => (ShaderStage::Vertex, ColorState::default()),
                Stage::Compute => (ShaderStage::Compute, ColorState::default()),
            };
            let options = Options {
                stage,
                colors,
                ..options
            };
            modules.push(Module { spirv, options });
        }
    }
    Ok(modules)
}

fn arch(manner: Manner) -> Result<Arch, Verdict> {
    match manner.target.machine {
        Machine::Valhall(arch) => Ok(arch),
        _ => Err(Verdict::Failed("no driver draws on this GPU".to_owned())),
    }
}

fn make(
    scene: &Scene,
    stages: &[PipelineStage],
    colors: &ColorState,
    manner: Manner,
) -> Result<Made, Verdict> {
    Ok(match stages {
        [stage] if stage_of(scene, stage) == Some(Stage::Compute) => {
            Made::Compute(Box::new(compute(scene, stage, manner)?))
        }
        stages => Made::Graphics(Box::new(graphics(scene, stages, colors, manner)?)),
    })
}

/// What is compiled: for each pipeline what the passes in which it draws have for colours.
fn keys(scene: &SceneFile, arch: Arch) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for pipeline in &scene.pipelines {
        for colors in uses(scene, arch, pipeline) {
            let key = (pipeline.stages.clone(), colors);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}

/// What becomes of a pipeline's colours where it is used. One that nothing uses is compiled all the same.
fn uses(scene: &SceneFile, arch: Arch, pipeline: &Pipeline) -> Vec<ColorState> {
    let drawn = passes::drawn(scene).into_iter();
    let own = drawn.filter(|(name, _)| *name == pipeline.name);
    let mut uses: Vec<ColorState> = own
        .map(|(_, formats)| colors(arch, pipeline, &formats))
        .collect();
    if uses.is_empty() {
        uses.push(ColorState::default());
    }
    uses
}

/// What becomes of the colours of a pipeline's draws on targets of these formats.
pub(super) fn colors(arch: Arch, pipeline: &Pipeline, colors: &passes::Colors) -> ColorState {
    let formats = colors.formats.iter().map(Option::as_deref);
    let blend = colors.placed(&pipeline.blend);
    ColorState {
        locations: colors.locations.clone(),
        inputs: colors.inputs.clone(),
        ..color_state(arch, &blend, &pipeline.multisample, formats)
    }
}

fn shader<'s>(scene: &'s Scene, stage: &PipelineStage) -> Option<&'s Shader> {
    scene.file.shader(&stage.shader)
}

fn stage_of(scene: &Scene, stage: &PipelineStage) -> Option<Stage> {
    Some(shader(scene, stage)?.stage)
}

fn compute(scene: &Scene, stage: &PipelineStage, manner: Manner) -> Result<Compiled, Verdict> {
    let (spirv, options) = module(scene, stage, manner)?;
    eitri_shaderc::compile(&spirv, &options).map_err(refused)
}

/// The vertex shader, and the fragment shader if there is one, compiled together.
fn graphics(
    scene: &Scene,
    stages: &[PipelineStage],
    colors: &ColorState,
    manner: Manner,
) -> Result<CompiledGraphics, Verdict> {
    let of = |wanted| {
        let mut stages = stages.iter();
        stages.find(|stage| stage_of(scene, stage) == Some(wanted))
    };
    // Reading has checked that there is one.
    let vertex = of(Stage::Vertex);
    let vertex = vertex.ok_or_else(|| Verdict::Failed("there is no vertex shader".to_owned()))?;
    let (spirv, options) = module(scene, vertex, manner)?;
    let fragment = of(Stage::Fragment).map(|stage| module(scene, stage, manner));
    let mut fragment = fragment.transpose()?;
    if let Some((_, options)) = &mut fragment {
        options.colors = colors.clone();
    }
    let fragment = fragment
        .as_ref()
        .map(|(spirv, options)| (spirv.as_slice(), options));
    eitri_shaderc::compile_graphics((&spirv, &options), fragment).map_err(refused)
}

/// What the compiler is given for a stage.
fn module(
    scene: &Scene,
    stage: &PipelineStage,
    manner: Manner,
) -> Result<(Vec<u8>, Options), Verdict> {
    let shader = shader(scene, stage)
        .ok_or_else(|| Verdict::Failed(format!("there is no shader {}", stage.shader)))?;
    let spirv = scene.spirv(shader, manner.optimised);
    let spirv = spirv.map_err(|error| Verdict::Failed(error.to_string()))?;
    let constants = stage.spec.iter();
    let options = Options {
        entry: Some(shader.entry.clone()),
        spec_constants: constants
            .map(|SpecConstant { id, value }| (*id, *value))
            .collect(),
        robust: Robust::On,
        target: manner.target,
        representation: manner.representation,
        ..Options::default()
    };
    Ok((spirv, options))
}

/// A defect of the compiler is a failure, what it does not know yet is not.
fn refused(errors: eitri_shaderc::Errors) -> Verdict {
    match is_defect(&errors) {
        true => Verdict::Failed(errors.to_string()),
        false => Verdict::Skipped(Lack::not_yet(one_line(&errors)).to_string()),
    }
}
