//! Shaders of a scene, compiled: a program for each stage of each pipeline, each made once.

use super::lack::Lack;
use super::plan::passes;
use super::verdict::Verdict;
use crate::runs::case_run::{is_defect, one_line};
use crate::runs::color_state::color_state;
use eitri_descriptors::Arch;
use eitri_draw_scenes::{Pipeline, PipelineStage, Scene, SceneFile, Shader, SpecConstant, Stage};
use eitri_drawing::ProgramId;
use eitri_shaderc::color_state::ColorState;
use eitri_shaderc::{Machine, Options, Robust, Target};

/// How shaders are compiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// Whether the optimised modules are taken.
    pub(super) optimised: bool,
    pub(super) target: Target,
}

/// What programs are compiled of: shaders, and what becomes of their colours.
type Key = (Vec<PipelineStage>, ColorState);

/// The programs of a scene.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// In the order of their ids.
    pub(super) bytes: Vec<Vec<u8>>,
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
    let Machine::Valhall(arch) = manner.target.machine else {
        return Err(Verdict::Failed("no driver draws on this GPU".to_owned()));
    };
    for (stages, colors) in keys(&scene.file, arch) {
        let compiled = match &stages[..] {
            [stage] if stage_of(scene, stage) == Some(Stage::Compute) => {
                vec![compute(scene, stage, manner)?]
            }
            stages => graphics(scene, stages, &colors, manner)?,
        };
        let mut ids = Vec::new();
        for program in compiled {
            // A scene has far fewer.
            ids.push(ProgramId(programs.bytes.len() as u32));
            programs.bytes.push(program);
        }
        programs.made.push(((stages, colors), ids));
    }
    Ok(programs)
}

/// What is compiled: for each pipeline what the passes in which it draws have for colours. A pipeline that nothing uses is
/// compiled all the same.
fn keys(scene: &SceneFile, arch: Arch) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let mut add = |key: Key| {
        if !keys.contains(&key) {
            keys.push(key);
        }
    };
    for pipeline in &scene.pipelines {
        let mut used = false;
        for (name, formats) in passes::drawn(scene) {
            if name == pipeline.name {
                used = true;
                add((pipeline.stages.clone(), colors(arch, pipeline, &formats)));
            }
        }
        if !used {
            add((pipeline.stages.clone(), ColorState::default()));
        }
    }
    keys
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

fn compute(scene: &Scene, stage: &PipelineStage, manner: Manner) -> Result<Vec<u8>, Verdict> {
    let (spirv, options) = module(scene, stage, manner)?;
    let compiled = eitri_shaderc::compile(&spirv, &options).map_err(refused)?;
    Ok(compiled.program)
}

/// The vertex shader, and the fragment shader if there is one, compiled together.
fn graphics(
    scene: &Scene,
    stages: &[PipelineStage],
    colors: &ColorState,
    manner: Manner,
) -> Result<Vec<Vec<u8>>, Verdict> {
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
    let compiled = eitri_shaderc::compile_graphics((&spirv, &options), fragment);
    let compiled = compiled.map_err(refused)?;
    let programs = [Some(compiled.vertex), compiled.fragment];
    Ok(programs
        .into_iter()
        .flatten()
        .map(|stage| stage.program)
        .collect())
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
