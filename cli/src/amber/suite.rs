//! Scripts in an image: compiled here, each in a process of its own, and run there.

use super::case::Manner;
use super::expectations::Expectations;
use super::outputs::OutputArguments;
use super::scripts::{self, ScriptFile};
use super::verdict::Verdict;
use super::workers::{self, Limits, Outcome};
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::output::whole_file;
use crate::progress;
use crate::runs::dispatch::Place;
use crate::runs::parallel;
use crate::runs::qemu::{self, Machine};
use eitri_amber_device::tap;
use eitri_amber_device::{Case, Content};
use eitri_drawing::suite::{SuiteError, encode, read};
use eitri_launch::tools::{self, Tool};
use miette::Diagnostic;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// What a script of the usual sort takes in QEMU, in virtual time: far more than it should.
const USUAL: Duration = Duration::from_secs(5);
/// Lines of a dead image's console that are told.
const TOLD_LINES: usize = 12;

/// Why scripts can't go into an image.
#[derive(Debug, Error, Diagnostic)]
#[error("the scripts can't be carried: {0}")]
struct NoSuite(SuiteError);

/// The cases as the image carries them, with the firmware of the GPU: the model's, if none is given.
pub(crate) fn bytes(cases: &[Case], firmware: Option<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    let firmware = firmware.unwrap_or_else(eitri_model::stub_firmware);
    encode(&firmware, cases).map_err(|error| Failure::refused(NoSuite(error)))
}

/// Why the scripts of a suite can't be read.
pub(crate) fn unreadable(error: SuiteError) -> Failure {
    Failure::refused(NoSuite(error))
}

/// Longest that one script may take to compile, and its memory in MiB: those of `eitri amber`.
const COMPILE: (Duration, u64) = (Duration::from_secs(60), 4096);

/// The scripts at these paths as an image carries them, compiled for a GPU; none of no paths.
pub(crate) fn compiled(paths: &[String], gpu: GpuChoice) -> Result<Option<Vec<u8>>, Failure> {
    if paths.is_empty() {
        return Ok(None);
    }
    tools::ensure_programs(&[Tool::Glslang, Tool::SpirvAs])?;
    let chosen = scripts::choose(paths, None, None)?;
    let manner = Manner {
        fence_timeout: None,
        target: None,
        place: Place::Qemu,
        gpu,
        pipelines_only: false,
        keep: None,
        outputs: OutputArguments::default(),
        check: Some(Wanted::Nothing),
        lines: false,
    };
    let (time, memory) = COMPILE;
    let limits = Limits {
        jobs: parallel::available(),
        time,
        memory,
    };
    let none = Expectations::read(None, None, None)?;
    let count = progress::count(chosen.len());
    let cases = workers::prepare(&chosen, &manner, &limits, &none, |script| {
        count.done(&script.name, || Ok(()))
    })?;
    // The firmware is that of the suite around them.
    bytes(&cases, Some(Vec::new())).map(Some)
}

/// Writes what a worker has compiled, for the process that started it.
pub(crate) fn write_case(path: &str, case: &Case) -> Result<(), Failure> {
    let bytes = encode(&[], std::slice::from_ref(case));
    let bytes = bytes.map_err(|error| Failure::refused(NoSuite(error)))?;
    whole_file::write(path, &bytes)
}

/// What a worker has compiled; none if it came to nothing.
pub(super) fn read_case(path: &Path) -> Option<Content> {
    let bytes = std::fs::read(path).ok()?;
    let mut cases = read::<Case>(&bytes).ok()?.entries;
    Some(cases.next()?.ok()?.content)
}

/// Runs the scripts in QEMU: one image, and one boot, unless a script takes the image down. Then it is booted again without
/// those that have ended. `done` hears of each script, in order.
pub(crate) fn run_in_qemu(
    scripts: &[ScriptFile],
    cases: &[Case],
    (gpu, limits): (GpuChoice, &Limits),
    expectations: &Expectations,
    mut done: impl FnMut(&Outcome) -> Result<(), Failure>,
) -> Result<Vec<Outcome>, Failure> {
    let machine = Machine::with_suite(&bytes(cases, None)?)?;
    let mut ended: Vec<Outcome> = Vec::new();
    while ended.len() < scripts.len() {
        let left = u32::try_from(scripts.len() - ended.len()).unwrap_or(u32::MAX);
        let limit = limits.time + USUAL * left;
        let first = ended.len() + 1;
        let ran = qemu::run_suite(&machine, first, gpu, limit)?;
        let report = tap::read(&ran.console);
        let mut found: Vec<Verdict> = (first..)
            .zip(report.results)
            // Anything out of order is no result.
            .take_while(|(expected, (number, _))| expected == number)
            .map(|(_, (_, verdict))| verdict.into())
            .collect();
        if found.is_empty() {
            let lines: Vec<&str> = ran.console.lines().collect();
            let from = lines.len().saturating_sub(TOLD_LINES);
            let last = lines.get(from..).unwrap_or(&[]).join("\n");
            found.push(Verdict::Crash(format!("{}\n{last}", ran.ended)));
        }
        ran.diagnoses.iter().for_each(|line| talk!("{line}"));
        for verdict in found {
            let Some(script) = scripts.get(ended.len()) else {
                break;
            };
            // It would be the same again.
            let again = || Ok(verdict.clone());
            let outcome = Outcome {
                script: script.clone(),
                verdict: expectations.judge(&script.name, verdict.clone(), again)?,
                took: Duration::ZERO,
                output: String::new(),
            };
            done(&outcome)?;
            ended.push(outcome);
        }
    }
    Ok(ended)
}
