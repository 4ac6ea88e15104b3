//! One script, from its text to its verdict: what a worker does.

use super::gpu::{Device, DeviceError};
use super::keep::Kept;
use super::shader::ShaderTools;
use super::verdict::Verdict;
use super::{lacks, picture, source};
use crate::dispatch::Place;
use crate::gpu_choice::GpuChoice;
use crate::timeline::Timelines;
use eitri_amber::run::{Files, RunError};
use eitri_amber::script::{Script, TargetEnvironment};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest that a submission takes where the script does not say it: longer than any script may take, so that a slow
/// machine gives the same verdicts.
const FENCE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
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
}

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
    let script = match source::load(path) {
        Ok(script) => script,
        Err(error) => return Verdict::Fail(error.to_string()),
    };
    if let Some(what) = lacks::lacks(&script) {
        return Verdict::Skip(what);
    }
    let name = path.display();
    let scratch = match tempfile::tempdir() {
        Ok(scratch) => scratch,
        Err(cause) => {
            return Verdict::Fail(format!("{name}: no folder for temporary files: {cause}"));
        }
    };
    let kept = match Kept::new(manner.keep.clone()) {
        Ok(kept) => kept,
        Err(cause) => return Verdict::Fail(format!("{name}: no folder to keep files in: {cause}")),
    };
    match carry_out(&script, path, scratch.path(), (&kept, timelines), manner) {
        Ok(()) => Verdict::Pass,
        Err(DeviceError::Lacks(what)) => Verdict::Skip(what),
        Err(DeviceError::Failed(what)) => Verdict::Fail(what),
    }
}

fn carry_out(
    script: &Script,
    path: &Path,
    scratch: &Path,
    (kept, timelines): (&Kept, Option<&Timelines>),
    manner: &Manner,
) -> Result<(), DeviceError> {
    let name = path.display();
    let mut files = Beside {
        script,
        folder: path.parent().unwrap_or(Path::new("")).to_owned(),
    };
    let tools = ShaderTools {
        script,
        path,
        folder: scratch,
        target: manner.target,
    };
    let limit = manner
        .fence_timeout
        .or(script.fence_timeout)
        .unwrap_or(FENCE_TIMEOUT);
    let outputs = (kept, timelines);
    let mut device = Device::new(script, &tools, &mut files, limit, manner, outputs)?;
    if manner.pipelines_only {
        return Ok(());
    }
    let told = |error: RunError<DeviceError>| match error {
        RunError::Gpu {
            cause: DeviceError::Lacks(what),
            ..
        } => DeviceError::Lacks(what),
        RunError::Gpu { line, cause } => DeviceError::Failed(format!("{name}:{line}: {cause}")),
        RunError::Command { line, problem } => {
            DeviceError::Failed(format!("{name}:{line}: {problem}"))
        }
        RunError::Expectation { line, mismatch } => {
            DeviceError::Failed(format!("{name}:{line}: {mismatch}"))
        }
        other => DeviceError::Failed(format!("{name}: {other}")),
    };
    let mut memory = eitri_amber::run::fill(script, &mut files).map_err(told)?;
    let ran = eitri_amber::run::run(script, &mut device, &mut memory);
    if let Err(RunError::Expectation { mismatch, .. }) = &ran {
        picture::keep(script, &memory, mismatch, kept);
    }
    ran.map_err(told)
}
