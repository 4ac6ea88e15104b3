//! Graphics pipelines of `eitri compile`: a vertex and a fragment shader that are given, or all pipelines of a drawn scene.

use crate::commands::compile::{CompileError, Done, Emit, hex};
use crate::draw::{Made, Manner, PipelineCode, Verdict, pipeline_codes};
use crate::input::passes::Told;
use crate::input::shader_file;
use crate::outcome::Failure;
use crate::output::line_table;
use crate::reports::report::{ReportError, ShaderReport};
use eitri_draw_scenes::Scene;
use eitri_shaderc::{CompiledGraphics, CompiledStage, Options, graphics_front_end};
use std::fmt::Write as _;
use std::path::Path;

/// Compiles a vertex and a fragment shader, fitted to each other. `apart`: each program gets a file of its own.
pub(super) fn pair(
    vertex: &str,
    fragment: &str,
    (emit, apart, strip): (Emit, bool, bool),
    options: &Options,
) -> Result<Done, Failure> {
    refuse(vertex, emit, apart)?;
    let refused = |errors| {
        let path = vertex.to_owned();
        Failure::refused(CompileError::Refused { path, errors })
    };
    let sources = [shader_file::load(vertex)?, shader_file::load(fragment)?];
    let [first, second] = sources
        .each_ref()
        .map(|shader| (shader.spirv.as_slice(), options));
    let compiled = eitri_shaderc::compile_graphics(first, Some(second)).map_err(refused)?;
    let reports = reports(&compiled, [vertex, fragment]);
    let reports = reports.map_err(|cause| defect(vertex, cause))?;
    let program = |stage: &CompiledStage| match strip {
        true => stage.program.clone(),
        false => line_table::of_stage(stage),
    };
    let bytes = match emit {
        Emit::Ir => {
            let lowered = graphics_front_end(first, Some(second)).map_err(|errors| {
                let errors = errors.into_iter().map(eitri_shaderc::Error::Spirv);
                refused(eitri_shaderc::Errors(errors.collect()))
            })?;
            let mut text = lowered.vertex.function.to_string();
            if let Some(fragment) = &lowered.fragment {
                text.push_str(&fragment.function.to_string());
            }
            text.into_bytes()
        }
        Emit::Program => program(&compiled.vertex),
        _ => code(&compiled, [vertex, fragment], emit).into_bytes(),
    };
    let fragment = compiled.fragment.as_ref().map(program);
    Ok(Done {
        bytes,
        fragment: fragment.filter(|_| emit == Emit::Program),
        reports,
        told: stages(&compiled).map(Told::of_stage).collect(),
    })
}

/// Compiles all pipelines of a scene.
pub(super) fn scene(path: &str, emit: Emit, options: &Options) -> Result<Done, Failure> {
    refuse(path, emit, false)?;
    let failed = |why: String| {
        let path = path.to_owned();
        Failure::refused(CompileError::Scene { path, why })
    };
    if emit == Emit::Ir {
        return Err(failed("scenes are compiled to machine code".to_owned()));
    }
    let scene = Scene::read(Path::new(path)).map_err(|error| failed(error.to_string()))?;
    let manner = Manner {
        optimised: false,
        target: options.target,
        representation: options.representation,
    };
    let codes = pipeline_codes(&scene, manner, 1).map_err(|verdict| match verdict {
        Verdict::Failed(why) | Verdict::Skipped(why) => failed(why),
        Verdict::Passed => failed("it has no code".to_owned()),
    })?;
    let mut done = Done {
        bytes: vec![],
        fragment: None,
        reports: vec![],
        told: vec![],
    };
    for code in &codes {
        add(&mut done, &scene.file.name, code, emit, options)
            .map_err(|cause| defect(path, cause))?;
    }
    Ok(done)
}

/// Adds what is asked for of some pipelines of a scene.
fn add(
    done: &mut Done,
    scene: &str,
    code: &PipelineCode,
    emit: Emit,
    options: &Options,
) -> Result<(), ReportError> {
    let pipelines = code.pipelines.join(", ");
    let names: Vec<String> = code
        .shaders
        .iter()
        .map(|shader| format!("{scene}, {pipelines}: {shader}"))
        .collect();
    let name = |number: usize| names.get(number).map_or(scene, String::as_str);
    match &code.made {
        Made::Compute(compiled) => {
            let report = ShaderReport::of(name(0), compiled, &options.target)?;
            done.reports.push(report);
            done.told.push(Told::of(compiled));
            let text = match emit {
                Emit::Hex => hex(&compiled.code),
                _ => compiled.listing.to_string(),
            };
            let text = format!("; {} compute\n{text}", name(0));
            done.bytes.extend(text.into_bytes());
        }
        Made::Graphics(compiled) => {
            let names = [name(0), name(1)];
            done.reports.extend(reports(compiled, names)?);
            done.told.extend(stages(compiled).map(Told::of_stage));
            done.bytes
                .extend(self::code(compiled, names, emit).into_bytes());
        }
    }
    Ok(())
}

/// Refuses forms that a pipeline does not have. `apart`: each program gets a file of its own.
fn refuse(path: &str, emit: Emit, apart: bool) -> Result<(), Failure> {
    let path = path.to_owned();
    match emit {
        Emit::Program if !apart => Err(Failure::refused(CompileError::Programs { path })),
        Emit::Ce | Emit::Dot | Emit::Html => {
            Err(Failure::refused(CompileError::OneProgram { path }))
        }
        _ => Ok(()),
    }
}

fn defect(path: &str, cause: ReportError) -> Failure {
    let path = path.to_owned();
    Failure::refused(CompileError::Defect { path, cause })
}

fn stages(compiled: &CompiledGraphics) -> impl Iterator<Item = &CompiledStage> {
    std::iter::once(&compiled.vertex).chain(&compiled.fragment)
}

fn reports(
    compiled: &CompiledGraphics,
    names: [&str; 2],
) -> Result<Vec<ShaderReport>, ReportError> {
    ShaderReport::of_stages(names.into_iter().zip(stages(compiled)))
}

/// The machine code of all programs, each behind a line with its name.
fn code(compiled: &CompiledGraphics, names: [&str; 2], emit: Emit) -> String {
    let mut text = String::new();
    for (name, stage) in names.into_iter().zip(stages(compiled)) {
        for entry in &stage.entry_points {
            // Writing to a string can't fail.
            let _ = writeln!(text, "; {name} {}", entry.kind.name());
            match emit {
                Emit::Hex => text.push_str(&hex(&entry.code)),
                _ => {
                    let _ = write!(text, "{}", entry.listing);
                }
            }
        }
    }
    text
}
