//! A script to what can be run: its plan, and a program for each of its pipelines, whether it is run or not.

use super::case::Manner;
use super::keep::Kept;
use super::shader::ShaderTools;
use crate::runs::color_state::color_state;
use crate::runs::drawn_checks::Module;
use crate::runs::known_lines::KnownLines;
use crate::runs::listed_programs::KnownListing;
use eitri_amber::Word;
use eitri_amber::plan::{Files, Plan};
use eitri_amber::script::{Pipeline, PipelineKind, Script, Stage};
use eitri_amber_device::{Compiled, Verdict};
use eitri_drawing::state::Multisample;
use eitri_shaderc::color_state::ColorState;
use eitri_shaderc::{Bindings, Machine, ShaderStage};
use std::time::Duration;

/// Longest that a submission takes where the script does not say it: longer than any script may take, so that a slow
/// machine gives the same verdicts.
const FENCE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// A compiled script, and what the compiler made of each pipeline that has a shader.
pub(super) struct Built {
    pub(super) compiled: Compiled,
    pub(super) shaders: Vec<Option<Shader>>,
    /// The programs of graphics pipelines with what checkers and diagnoses need to know of them.
    pub(super) modules: Vec<DrawnProgram>,
    /// Instructions of the programs of graphics pipelines, if a debugger wants them.
    pub(super) listings: Vec<KnownListing>,
    /// Names of the pipelines.
    pub(super) names: Vec<String>,
}

/// The shader of a compute pipeline.
pub(super) struct Shader {
    pub(super) compiled: eitri_shaderc::Compiled,
    /// The module, for checkers.
    pub(super) spirv: Vec<u8>,
    /// The compiler's options.
    pub(super) options: eitri_shaderc::Options,
}

/// The program of a stage of a graphics pipeline.
pub(super) struct DrawnProgram {
    pub(super) bytes: Vec<u8>,
    /// The module, for checkers.
    pub(super) module: Module,
    pub(super) lines: KnownLines,
}

/// Compiles every pipeline of a script.
pub(super) fn compile(
    script: &Script,
    tools: &ShaderTools<'_>,
    files: &mut dyn Files,
    manner: &Manner,
    kept: &Kept,
) -> Result<Built, Verdict> {
    let path = tools.path.display().to_string();
    let mut shaders = Vec::new();
    let mut graphics = Vec::new();
    let mut all_modules = Vec::new();
    let mut listings = Vec::new();
    for pipeline in &script.pipelines {
        if pipeline.kind == PipelineKind::Graphics {
            let colors = colors(script, pipeline, manner);
            let compiled = compile_graphics(pipeline, colors, tools, files, manner, kept)?;
            let [vertex, fragment] = compiled.stages;
            listings.extend(compiled.listings);
            graphics.push(Some([vertex.bytes.clone(), fragment.bytes.clone()]));
            all_modules.extend([vertex, fragment]);
            shaders.push(None);
            continue;
        }
        graphics.push(None);
        let Some(attached) = pipeline.shaders.first() else {
            shaders.push(None);
            continue;
        };
        let spirv = tools
            .module(attached, files)
            .map_err(|error| Verdict::Fail(error.to_string()))?;
        kept.write(&format!("{}.spv", pipeline.name), &spirv);
        let constants = attached.specialization.iter();
        let options = eitri_shaderc::Options {
            entry: Some(attached.entry.clone()),
            spec_constants: constants
                .map(|constant| (constant.id, constant.bits()))
                .collect(),
            target: manner.gpu.target(),
            bindings: Bindings::Used,
            ..eitri_shaderc::Options::default()
        };
        let compiled = eitri_shaderc::compile(&spirv, &options)
            .map_err(|errors| refusal(&pipeline.name, &errors))?;
        kept.write(&format!("{}.program", pipeline.name), &compiled.program);
        kept.write(
            &format!("{}.asm", pipeline.name),
            compiled.listing.to_string().as_bytes(),
        );
        shaders.push(Some(Shader {
            compiled,
            spirv,
            options,
        }));
    }
    let plan =
        Plan::new(script, files).map_err(|error| Verdict::Fail(format!("{path}: {error}")))?;
    let pairs = shaders.iter().zip(&graphics);
    let programs = pairs.map(|(shader, graphics)| match (shader, graphics) {
        (Some(shader), _) => shader.compiled.program.clone(),
        (None, Some([vertex, _])) => vertex.clone(),
        (None, None) => Vec::new(),
    });
    let programs = programs.collect();
    let fragments = graphics.into_iter().map(|graphics| match graphics {
        Some([_, fragment]) => fragment,
        None => Vec::new(),
    });
    let compiled = Compiled {
        path,
        plan,
        programs,
        fragments: fragments.collect(),
        limit: manner
            .fence_timeout
            .or(script.fence_timeout)
            .unwrap_or(FENCE_TIMEOUT),
    };
    let names = script.pipelines.iter();
    Ok(Built {
        compiled,
        shaders,
        modules: all_modules,
        listings,
        names: names.map(|pipeline| pipeline.name.clone()).collect(),
    })
}

/// Blend state that the fragment shader is compiled for. The default if it can't be expressed: the device refuses such a draw.
fn colors(script: &Script, pipeline: &Pipeline, manner: &Manner) -> ColorState {
    let target = manner.gpu.target();
    let (Machine::Valhall(arch), Some(blend)) = (
        target.machine,
        eitri_amber_device::blend(&pipeline.state, pipeline.colors.len()),
    ) else {
        return ColorState::default();
    };
    let names = pipeline.colors.iter().map(|color| {
        let buffer = script.buffers.get(color.buffer.0)?;
        buffer.ty.format_name()
    });
    let names: Vec<Option<String>> = names.map(|name| name.map(|it| it.to_string())).collect();
    let formats = names.iter().map(Option::as_deref);
    color_state(arch, &blend, &Multisample::default(), formats)
}

/// The compiled stages of a graphics pipeline, with their listings.
struct BuiltGraphics {
    /// The program of vertices, and that of fragments.
    stages: [DrawnProgram; 2],
    listings: Vec<KnownListing>,
}

/// Compiles the two shaders of a graphics pipeline together.
fn compile_graphics(
    pipeline: &Pipeline,
    colors: ColorState,
    tools: &ShaderTools<'_>,
    files: &mut dyn Files,
    manner: &Manner,
    kept: &Kept,
) -> Result<BuiltGraphics, Verdict> {
    let mut modules = Vec::new();
    let mut names = Vec::new();
    let stages = [ShaderStage::Vertex, ShaderStage::Fragment];
    for (stage, of_module) in [Stage::Vertex, Stage::Fragment].into_iter().zip(stages) {
        let attached = pipeline.shaders.iter().find(|it| it.stage == stage);
        let Some(attached) = attached else {
            let name = &pipeline.name;
            let what = stage.text();
            return Err(Verdict::Fail(format!(
                "pipeline {name} has no {what} shader"
            )));
        };
        let spirv = tools
            .module(attached, files)
            .map_err(|error| Verdict::Fail(error.to_string()))?;
        kept.write(&format!("{}.{}.spv", pipeline.name, stage.text()), &spirv);
        let shader = tools.script.shader(attached.shader);
        names.push(shader.map_or(String::new(), |shader| shader.name.clone()));
        let constants = attached.specialization.iter();
        let options = eitri_shaderc::Options {
            entry: Some(attached.entry.clone()),
            spec_constants: constants
                .map(|constant| (constant.id, constant.bits()))
                .collect(),
            target: manner.gpu.target(),
            bindings: Bindings::Used,
            colors: colors.clone(),
            stage: of_module,
            ..eitri_shaderc::Options::default()
        };
        modules.push(Module { spirv, options });
    }
    let Ok([vertex, fragment]) = <[Module; 2]>::try_from(modules) else {
        return Err(Verdict::Fail("a pipeline without shaders".to_owned()));
    };
    let compiled = eitri_shaderc::compile_graphics(
        (&vertex.spirv, &vertex.options),
        Some((&fragment.spirv, &fragment.options)),
    )
    .map_err(|errors| refusal(&pipeline.name, &errors))?;
    let listings = match manner.lines {
        true => KnownListing::of_graphics(&names, &compiled),
        false => Vec::new(),
    };
    let program = |stage: Option<eitri_shaderc::CompiledStage>, module| {
        let lines = stage.as_ref().map(KnownLines::of_stage);
        DrawnProgram {
            lines: lines.unwrap_or_default(),
            bytes: stage.map(|stage| stage.program).unwrap_or_default(),
            module,
        }
    };
    Ok(BuiltGraphics {
        stages: [
            program(Some(compiled.vertex), vertex),
            program(compiled.fragment, fragment),
        ],
        listings,
    })
}

/// Capabilities of modules that no GPU of this family has, whoever compiles for it: 64-bit floats and texels, rays.
const HARDWARE: &[&str] = &[
    "Float64",
    "Int64ImageEXT",
    "AtomicFloat64AddEXT",
    "AtomicFloat64MinMaxEXT",
    "RayQueryKHR",
    "RayTracingKHR",
    "CooperativeMatrixKHR",
];

/// What the compiler does not support is lacking; anything else that it says is a failure.
fn refusal(pipeline: &str, errors: &eitri_shaderc::Errors) -> Verdict {
    use eitri_shaderc::{Error, spirv::error::Error as Spirv, valhall::Error as Valhall};
    let lacking = errors.0.iter().map(|error| match error {
        Error::Spirv(Spirv::Unsupported { feature, name, .. }) => Some(format!("{feature} {name}")),
        Error::Valhall(Valhall::Unsupported(unsupported)) => {
            Some(format!("no code for {}", unsupported.what))
        }
        _ => None,
    });
    let hardware = errors.0.iter().find_map(|error| match error {
        Error::Spirv(Spirv::Unsupported { name, .. }) => {
            // Behind a capability stands what the source calls it.
            let capability = name.split(' ').next();
            HARDWARE
                .iter()
                .find(|lacking| capability == Some(**lacking))
        }
        _ => None,
    });
    if let Some(capability) = hardware {
        return Verdict::Skip((*capability).to_owned());
    }
    match lacking.collect::<Option<Vec<String>>>() {
        Some(mut reasons) => {
            reasons.sort();
            reasons.dedup();
            Verdict::Skip(format!("compiler: {}", reasons.join(", ")))
        }
        None => Verdict::Fail(format!("pipeline {pipeline}: {errors}")),
    }
}
