//! One script, from its text to its verdict: what a worker does.

use super::compile::{self, Built};
use super::jobs::HostJobs;
use super::keep::Kept;
use super::outputs::OutputArguments;
use super::shader::ShaderTools;
use super::verdict::Verdict;
use super::{lacks, picture, source};
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::GpuChoice;
use crate::output::streams::talk;
use crate::reports::timeline::Timelines;
use crate::runs::dispatch::Place;
use eitri_amber::plan::Files;
use eitri_amber::run::Memory;
use eitri_amber::script::{Script, TargetEnvironment};
use eitri_amber_device::{Compiled, Stopped};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Largest file that a script may name.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// How a script is run.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// In place of the script's own limit of a submission.
    pub(crate) fence_timeout: Option<Duration>,
    /// What a shader that names no environment gets.
    pub(crate) target: Option<TargetEnvironment>,
    /// Where jobs run.
    pub(crate) place: Place,
    /// On which GPU.
    pub(crate) gpu: GpuChoice,
    /// Pipelines are made, and nothing is run.
    pub(crate) pipelines_only: bool,
    /// Where to keep what is made on the way.
    pub(crate) keep: Option<PathBuf>,
    /// What a person wants to see of it.
    pub(crate) outputs: OutputArguments,
    /// The rules that checkers apply to dispatches and draws; a finding fails the script. If not given, errors are printed, and the
    /// expectations of the script alone decide.
    pub(crate) check: Option<Wanted>,
    /// Whether shaders are compiled with source lines and names, for a debugger.
    pub(crate) lines: bool,
}

/// Begins each line in which a worker prints a finding of the checkers, for a script that passes.
pub(super) const REPORTED: &str = "check: ";

/// Begins each line in which a worker prints what the checkers left out.
pub(super) const LEFT_OUT: &str = "not checked: ";

/// Files beside a script, and the virtual ones in it.
struct Beside<'s> {
    script: &'s Script,
    folder: PathBuf,
}

impl Files for Beside<'_> {
    fn read(&mut self, path: &str) -> std::io::Result<Vec<u8>> {
        let plain = path.replace('\\', "/");
        let plain = plain.strip_prefix("./").unwrap_or(&plain);
        if let Some(text) = self.script.virtual_files.get(plain) {
            return Ok(text.clone().into_bytes());
        }
        let path = self.folder.join(plain);
        if std::fs::metadata(&path)?.len() > MAX_FILE_BYTES {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        std::fs::read(path)
    }
}

/// Runs the script at `path`; `timelines` takes those of its dispatches.
pub(crate) fn run(path: &Path, manner: &Manner, timelines: Option<&Timelines>) -> Verdict {
    let kept = match Kept::new(manner.keep.clone()) {
        Ok(kept) => kept,
        Err(cause) => {
            let name = path.display();
            return Verdict::Fail(format!("{name}: no folder to keep files in: {cause}"));
        }
    };
    match build(path, manner, &kept) {
        Ok(_) if manner.pipelines_only => Verdict::Pass,
        Ok(built) => carry_out(built, manner, (&kept, timelines)),
        Err(verdict) => verdict,
    }
}

/// Compiles the script at `path`, to run it elsewhere.
pub(crate) fn prepare(path: &Path, manner: &Manner) -> Result<Compiled, Verdict> {
    let kept = Kept::new(manner.keep.clone()).map_err(|cause| {
        let name = path.display();
        Verdict::Fail(format!("{name}: no folder to keep files in: {cause}"))
    })?;
    Ok(build(path, manner, &kept)?.compiled)
}

pub(super) fn build(path: &Path, manner: &Manner, kept: &Kept) -> Result<Built, Verdict> {
    let script = source::load(path).map_err(|error| Verdict::Fail(error.to_string()))?;
    if let Some(what) = lacks::lacks(&script) {
        return Err(Verdict::Skip(what));
    }
    let scratch = tempfile::tempdir().map_err(|cause| {
        let name = path.display();
        Verdict::Fail(format!("{name}: no folder for temporary files: {cause}"))
    })?;
    let mut files = Beside {
        script: &script,
        folder: path.parent().unwrap_or(Path::new("")).to_owned(),
    };
    let tools = ShaderTools {
        script: &script,
        path,
        folder: scratch.path(),
        target: manner.target,
        lines: manner.lines,
    };
    Ok(compile::compile(&script, &tools, &mut files, manner, kept)?)
}

fn carry_out(
    built: Built,
    manner: &Manner,
    (kept, timelines): (&Kept, Option<&Timelines>),
) -> Verdict {
    if let Err(failure) = manner.outputs.write_assembly(&built) {
        return Verdict::Fail(failure.to_string());
    }
    let Built {
        compiled,
        shaders,
        modules,
        names,
        ..
    } = built;
    let mut jobs = HostJobs {
        timelines,
        shaders,
        modules,
        ..HostJobs::new(&compiled.path, manner, kept)
    };
    let mut memory = Memory::new(&compiled.plan);
    let ran = eitri_amber_device::run(&compiled, &mut jobs, &mut memory);
    let outputs = &manner.outputs;
    if let Err(failure) = outputs.write_buffers(&compiled.plan, &names, &memory) {
        return Verdict::Fail(failure.to_string());
    }
    for line in &jobs.left_out {
        talk!("{LEFT_OUT}{line}");
    }
    match ran {
        Ok(()) if manner.check.is_some() && !jobs.reported.is_empty() => {
            Verdict::Fail(jobs.reported.join("\n"))
        }
        Ok(()) => {
            for line in jobs.reported.iter().flat_map(|text| text.lines()) {
                talk!("{REPORTED}{line}");
            }
            Verdict::Pass
        }
        Err(Stopped { verdict, mismatch }) => {
            if let Some(mismatch) = mismatch {
                picture::keep(&compiled.plan, &memory, &mismatch, kept);
            }
            // Why an expectation does not hold may be what the checkers have found.
            match verdict.into() {
                Verdict::Fail(why) if !jobs.reported.is_empty() => {
                    Verdict::Fail(format!("{why}\n{}", jobs.reported.join("\n")))
                }
                other => other,
            }
        }
    }
}
