//! Lavapipe, a Vulkan driver that runs on the CPU, as the other side of a comparison: on one thread, through `vulkan-runner`.

use crate::outcome::{Failure, FileError};
use crate::workspace::Workspace;
use miette::Diagnostic;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use thiserror::Error;

#[derive(Debug, Error, Diagnostic)]
enum LavapipeError {
    #[error("lavapipe is not installed: no `lvp_icd` in {folder}")]
    #[diagnostic(help("Debian has it in mesa-vulkan-drivers, and the loader in libvulkan1"))]
    Lacking { folder: &'static str },
    #[error("the runner can't be built\n{output}")]
    Build { output: String },
    #[error("the runner ended with status {status}\n{output}")]
    Run { status: i32, output: String },
}

/// The folder in which Vulkan drivers are listed.
const DRIVERS: &str = "/usr/share/vulkan/icd.d";

/// Seconds that lavapipe takes for kernels or scenes, by name. Those that it can't run, or whose results differ from what is
/// expected, are not among them. `options` go to the runner before the files.
///
/// # Errors
/// As of [`run`].
pub(crate) fn seconds(
    options: &[&str],
    files: &[PathBuf],
) -> Result<BTreeMap<String, f64>, Failure> {
    let options: Vec<&OsStr> = ["--timed"].iter().chain(options).map(OsStr::new).collect();
    let text = run(&options, files)?;
    let timed = text.lines().filter_map(|line| {
        let (name, seconds) = line.strip_prefix("ok ")?.rsplit_once(' ')?;
        Some((name.to_owned(), seconds.parse().ok()?))
    });
    Ok(timed.collect())
}

/// Why what needs lavapipe is skipped without it.
pub(crate) const LACKING: &str =
    "lavapipe is not installed: Debian has it in mesa-vulkan-drivers and libvulkan1";

/// Where lavapipe is described; none if it is not installed.
pub(crate) fn driver() -> Option<PathBuf> {
    let entries = std::fs::read_dir(DRIVERS).into_iter().flatten().flatten();
    let mut drivers = entries.map(|entry| entry.path());
    let is_lavapipe = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("lvp_icd")
    };
    drivers.find(is_lavapipe)
}

/// Runs kernels or scenes by lavapipe: what the runner prints, a line each. `options` go to it before the files.
///
/// # Errors
/// If lavapipe is missing, or the runner can't be built or run.
pub(crate) fn run(options: &[&OsStr], files: &[PathBuf]) -> Result<String, Failure> {
    Runner::build()?.run(options, files)
}

/// The program that runs kernels and scenes through Vulkan, built, and the driver that it asks.
pub(crate) struct Runner {
    program: PathBuf,
    driver: PathBuf,
}

impl Runner {
    /// Builds the program.
    ///
    /// # Errors
    /// If lavapipe is missing, or the program can't be built.
    pub(crate) fn build() -> Result<Runner, Failure> {
        let lacking = || Failure::missing(LavapipeError::Lacking { folder: DRIVERS });
        let driver = driver().ok_or_else(lacking)?;
        let workspace = Workspace::find()?;
        let mut build = workspace.cargo(&["build", "--release", "-q", "-p=eitri-vulkan-runner"]);
        let built = build.output().map_err(|cause| failed("build", cause))?;
        if !built.status.success() {
            let output = String::from_utf8_lossy(&built.stderr).into_owned();
            return Err(Failure::check(LavapipeError::Build { output }));
        }
        let program = workspace.target_folder().join("release/vulkan-runner");
        Ok(Runner { program, driver })
    }

    /// Runs kernels or scenes: what the program prints, a line each.
    ///
    /// # Errors
    /// If the program can't be run, or the driver ends it.
    pub(crate) fn run(&self, options: &[&OsStr], files: &[PathBuf]) -> Result<String, Failure> {
        let printed = self.run_unless_crash(options, files)?;
        printed.ok_or_else(|| {
            let output = "a signal ended it".to_owned();
            Failure::check(LavapipeError::Run { status: -1, output })
        })
    }

    /// As [`run`](Runner::run); `None` if a signal ended the program, as where the driver crashes.
    ///
    /// # Errors
    /// If the program can't be run, or says that it can't do its work.
    pub(crate) fn run_unless_crash(
        &self,
        options: &[&OsStr],
        files: &[PathBuf],
    ) -> Result<Option<String>, Failure> {
        let mut run = Command::new(&self.program);
        run.args(options).args(files);
        // No thread beside the one that submits.
        run.env("LP_NUM_THREADS", "0");
        run.env("VK_ICD_FILENAMES", &self.driver);
        run.env("VK_DRIVER_FILES", &self.driver);
        let ran = run.output().map_err(|cause| failed("run", cause))?;
        let Some(status) = ran.status.code() else {
            return Ok(None);
        };
        // 1: some are not as they should be, which tells nothing about the others.
        if status != 0 && status != 1 {
            let output = String::from_utf8_lossy(&ran.stderr).into_owned();
            return Err(Failure::check(LavapipeError::Run { status, output }));
        }
        Ok(Some(String::from_utf8_lossy(&ran.stdout).into_owned()))
    }
}

fn failed(action: &'static str, cause: std::io::Error) -> Failure {
    Failure::missing(FileError::at(action, "vulkan-runner", cause))
}
