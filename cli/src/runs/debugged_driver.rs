//! The life of a driver under the debugger: that of a compute job, or of a scene.

use crate::draw::{Made, Manner, PipelineCode, Run, Verdict, pipeline_codes};
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::runs::debugged::{NotDebugged, Prepared};
use crate::runs::dispatch::{self, Place};
use crate::runs::host::{self, Recorded};
use crate::runs::listed_programs::{KnownListing, listed};
use eitri_debugger::driver::{DriverLevel, Life};
use eitri_debugger::session::Session;
use eitri_draw_scenes::Scene;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::time::Duration;

/// A scene that is debugged.
pub(crate) struct SceneJob {
    /// Of its file, in messages.
    pub(crate) path: String,
    pub(crate) scene: Scene,
    pub(crate) gpu: GpuChoice,
    /// Longest that its commands may take.
    pub(crate) limit: Duration,
    /// Texts of shaders that are in no file, by name.
    pub(crate) texts: BTreeMap<String, String>,
}

/// Does something with a session before the first access of the driver that runs a compute job.
pub(crate) fn with_job<T>(
    prepared: &Prepared,
    run: impl FnOnce(Session<DriverLevel>) -> T,
) -> Result<T, Failure> {
    let refused = |why: String| Failure::refused(NotDebugged::of(&prepared.path, why));
    let compiled = eitri_shaderc::compile(&prepared.spirv, &prepared.options);
    let compiled = compiled.map_err(|errors| refused(errors.to_string()))?;
    let request = prepared.request();
    let bundle = dispatch::bundle(&prepared.path, &compiled, &request)?;
    let recorded = host::record(&bundle, &request)?;
    let entry = prepared.options.entry.as_deref().unwrap_or("main");
    let known = [KnownListing::of_compute(entry, &compiled)];
    Ok(run(session(recorded, &known, prepared.gpu)))
}

/// The same of the driver that draws a scene.
pub(crate) fn with_scene<T>(
    job: &SceneJob,
    run: impl FnOnce(Session<DriverLevel>) -> T,
) -> Result<T, Failure> {
    let refused = |verdict: Verdict| {
        let why = match verdict {
            Verdict::Failed(why) | Verdict::Skipped(why) => why,
            // Nothing was compared.
            Verdict::Passed => String::new(),
        };
        Failure::refused(NotDebugged::of(&job.path, why))
    };
    let how = Run {
        place: Place::Host,
        gpu: job.gpu,
        optimised: false,
        limit: job.limit,
        dump: false,
        jobs: NonZero::<usize>::MIN,
        check: false,
        timelines: None,
        pixel: None,
    };
    let recorded = how.record(&job.scene).map_err(refused)?;
    let manner = Manner {
        optimised: false,
        target: job.gpu.target(),
        representation: false,
    };
    let codes = pipeline_codes(&job.scene, manner, 1).map_err(refused)?;
    let known: Vec<KnownListing> = codes.iter().flat_map(listings).collect();
    Ok(run(session(recorded, &known, job.gpu)))
}

/// The instructions of the programs of pipelines.
fn listings(code: &PipelineCode) -> Vec<KnownListing> {
    match &code.made {
        Made::Compute(compiled) => {
            let name = code.shaders.first().map_or("main", String::as_str);
            vec![KnownListing::of_compute(name, compiled)]
        }
        Made::Graphics(compiled) => KnownListing::of_graphics(&code.shaders, compiled),
    }
}

/// Does something with a session of what was recorded.
pub(crate) fn with_recorded<T>(
    recorded: Recorded,
    known: &[KnownListing],
    gpu: GpuChoice,
    run: impl FnOnce(Session<DriverLevel>) -> T,
) -> T {
    run(session(recorded, known, gpu))
}

fn session(recorded: Recorded, known: &[KnownListing], gpu: GpuChoice) -> Session<DriverLevel> {
    let Recorded { recording, failure } = recorded;
    let (level, program) = DriverLevel::new(Life {
        gpu: recording.gpu,
        memory: recording.memory,
        steps: recording.steps,
        space: recording.programs.first().map_or(0, |first| first.space),
        programs: listed(recording.programs, known, gpu.arch()),
        failure,
    });
    Session::new(level, program)
}
