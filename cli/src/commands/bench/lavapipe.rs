//! Lavapipe, a Vulkan driver that runs on the CPU, as the other side of a comparison: on one thread, through `vulkan-runner`.

use super::fixed_costs::NOTHING;
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use crate::workspace::Workspace;
use eitri_shaderc::build::shader_text::{Language, Names, to_spirv_with};
use miette::Diagnostic;
use serde_json::json;
use std::collections::BTreeMap;
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
    #[error("the empty shader can't be compiled: {0}")]
    Empty(String),
}

/// The folder in which Vulkan drivers are listed.
const DRIVERS: &str = "/usr/share/vulkan/icd.d";

/// The name of [`empty_case`].
pub(super) const EMPTY: &str = "empty";

/// A case of one workgroup that does nothing, beside what else was built.
///
/// # Errors
/// If it can't be written.
pub(super) fn empty_case() -> Result<PathBuf, Failure> {
    let folder = Workspace::find()?.target_folder().join("eitri/bench");
    let text = to_spirv_with(Language::Wgsl, "empty.wgsl", NOTHING, Names::All);
    let spirv = text.map_err(|error| Failure::refused(LavapipeError::Empty(error.to_string())))?;
    let module = format!("{EMPTY}.spv");
    let case = json!({
        "format": 1,
        "name": EMPTY,
        "kind": "control",
        "description": "does nothing",
        "shader": {"spirv": module, "spirv_opt": module, "entry": "main"},
        "local_size": [1, 1, 1],
        "groups": [1, 1, 1],
        "push_constants": "",
        "spec_constants": [],
        "bindings": [],
    });
    whole_file::put(&folder.join(module), &spirv)?;
    let path = folder.join(format!("{EMPTY}.json"));
    whole_file::put(&path, case.to_string().as_bytes())?;
    Ok(path)
}

/// Seconds that lavapipe takes for kernels or scenes, by name. Those that it can't run, or whose results differ from what is
/// expected, are not among them. `options` go to the runner before the files.
///
/// # Errors
/// If lavapipe is missing, or the runner can't be built or run.
pub(super) fn seconds(
    options: &[&str],
    files: &[PathBuf],
) -> Result<BTreeMap<String, f64>, Failure> {
    let entries = std::fs::read_dir(DRIVERS).into_iter().flatten().flatten();
    let mut drivers = entries.map(|entry| entry.path());
    let is_lavapipe = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("lvp_icd")
    };
    let driver = drivers
        .find(is_lavapipe)
        .ok_or_else(|| Failure::missing(LavapipeError::Lacking { folder: DRIVERS }))?;
    let workspace = Workspace::find()?;
    let mut build = workspace.cargo(&["build", "--release", "-q", "-p=eitri-vulkan-runner"]);
    let failed = |action: &'static str, cause| {
        Failure::missing(FileError::at(action, "vulkan-runner", cause))
    };
    let built = build.output().map_err(|cause| failed("build", cause))?;
    if !built.status.success() {
        let output = String::from_utf8_lossy(&built.stderr).into_owned();
        return Err(Failure::check(LavapipeError::Build { output }));
    }
    let program = workspace.target_folder().join("release/vulkan-runner");
    let mut run = Command::new(&program);
    run.arg("--timed").args(options).args(files);
    // No thread beside the one that submits.
    run.env("LP_NUM_THREADS", "0");
    run.env("VK_ICD_FILENAMES", &driver);
    run.env("VK_DRIVER_FILES", &driver);
    let ran = run.output().map_err(|cause| failed("run", cause))?;
    let status = ran.status.code().unwrap_or(-1);
    // 1: some are not as they should be, which tells nothing about the others.
    if status != 0 && status != 1 {
        let output = String::from_utf8_lossy(&ran.stderr).into_owned();
        return Err(Failure::check(LavapipeError::Run { status, output }));
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    let timed = text.lines().filter_map(|line| {
        let (name, seconds) = line.strip_prefix("ok ")?.rsplit_once(' ')?;
        Some((name.to_owned(), seconds.parse().ok()?))
    });
    Ok(timed.collect())
}
