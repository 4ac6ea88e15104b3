//! Shaders of a scene, compiled: a program for each stage of each pipeline, each made once.

use super::lack::Lack;
use super::verdict::Verdict;
use crate::runs::case_run::{is_defect, one_line};
use eitri_draw_scenes::{Pipeline, PipelineStage, Scene, Shader, SpecConstant, Stage};
use eitri_drawing::ProgramId;
use eitri_shaderc::{Options, Robust, Target};

/// How shaders are compiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// Whether the optimised modules are taken.
    pub(super) optimised: bool,
    pub(super) target: Target,
}

/// The programs of a scene.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// In the order of their ids.
    pub(super) bytes: Vec<Vec<u8>>,
    made: Vec<(Vec<PipelineStage>, Vec<ProgramId>)>,
}

impl Programs {
    /// Programs without code, for who only wants to know whether a scene can be drawn.
    pub(super) fn of_no_code(scene: &Scene) -> Programs {
        let pipelines = scene.file.pipelines.iter();
        let made = pipelines.map(|pipeline| {
            let ids = pipeline.stages.iter().map(|_| ProgramId(0));
            (pipeline.stages.clone(), ids.collect())
        });
        Programs {
            bytes: Vec::new(),
            made: made.collect(),
        }
    }

    /// The programs of a pipeline's stages, in their order.
    pub(super) fn of(&self, pipeline: &Pipeline) -> &[ProgramId] {
        let mut made = self.made.iter();
        let found = made.find(|(stages, _)| *stages == pipeline.stages);
        found.map_or(&[], |(_, programs)| programs)
    }
}

/// Compiles all pipelines of a scene.
pub(super) fn compile(scene: &Scene, manner: Manner) -> Result<Programs, Verdict> {
    let mut programs = Programs::default();
    for pipeline in &scene.file.pipelines {
        if programs.made.iter().any(|(it, _)| *it == pipeline.stages) {
            continue;
        }
        let compiled = match &pipeline.stages[..] {
            [stage] if stage_of(scene, stage) == Some(Stage::Compute) => {
                vec![compute(scene, stage, manner)?]
            }
            stages => graphics(scene, stages, manner)?,
        };
        let mut ids = Vec::new();
        for program in compiled {
            // A scene has far fewer.
            ids.push(ProgramId(programs.bytes.len() as u32));
            programs.bytes.push(program);
        }
        programs.made.push((pipeline.stages.clone(), ids));
    }
    Ok(programs)
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
    let fragment = fragment.transpose()?;
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
