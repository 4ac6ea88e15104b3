//! Kernels of seeds (`eitri-random-kernels`), in a folder, with what lavapipe computes as what is expected of them.

use super::khronos_tools::{self, GLSLANG, SPIRV_OPT};
use super::lavapipe::Runner;
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use eitri_random_kernels::{Kernel, expect_files};
use serde_json::Value;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The case file of a kernel in a folder.
fn case_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).join(format!("{name}.json"))
}

/// Writes a kernel's case, which expects zeros, and its modules; `None` where `spirv-opt` refuses what glslang has made of it.
fn put(folder: &Path, seed: u64) -> Result<Option<Value>, Failure> {
    let name = eitri_random_kernels::name(seed);
    let Kernel {
        source,
        target,
        mut case,
    } = eitri_random_kernels::kernel(seed);
    let path = case_path(folder, &name);
    let beside = |extension: &str| path.with_file_name(format!("{name}.{extension}"));
    let (text, module) = (beside("comp"), beside("spv"));
    whole_file::put(&text, source.as_bytes())?;
    let arguments = ["-V".as_ref(), "--target-env".as_ref(), OsStr::new(target)];
    let files = ["-o".as_ref(), module.as_os_str(), text.as_os_str()];
    khronos_tools::run(GLSLANG, &[arguments, files].concat())?;
    let optimised = beside("opt.spv");
    let files = [module.as_os_str(), "-o".as_ref(), optimised.as_os_str()];
    // Glslang 11 makes constants of what is loaded from a variable, in a few expressions.
    if !khronos_tools::accepts(SPIRV_OPT, &[&["-O".as_ref()][..], &files].concat())? {
        return Ok(None);
    }
    for (number, file) in expect_files(&mut case) {
        let bytes = case["bindings"][number]["bytes"].as_u64().unwrap_or(0);
        whole_file::put(&path.with_file_name(file), &vec![0; bytes as usize])?;
    }
    whole_file::put(&path, format!("{case:#}\n").as_bytes())?;
    Ok(Some(case))
}

/// Kernels that are left out, by their names.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// Glslang's module of them is not valid.
    pub(crate) invalid: Vec<String>,
    /// Lavapipe could not run them.
    pub(crate) not_run: Vec<String>,
}

impl LeftOut {
    pub(crate) fn count(&self) -> usize {
        self.invalid.len() + self.not_run.len()
    }
}

/// Writes the kernels of seeds into a folder, each in one of its own. Tells those that are left out.
///
/// # Errors
/// If lavapipe or a tool is missing, a shader does not compile, or a file can't be written.
pub(crate) fn write(folder: &Path, seeds: Range<u64>) -> Result<LeftOut, Failure> {
    let runner = Runner::build()?;
    let recorded = tempfile::tempdir()
        .map_err(|cause| Failure::missing(FileError::at("make", "a folder", cause)))?;
    let record = [OsStr::new("--record"), recorded.path().as_os_str()];
    let mut left_out = LeftOut::default();
    for seed in seeds {
        let name = eitri_random_kernels::name(seed);
        let Some(mut case) = put(folder, seed)? else {
            remove(folder, &name);
            left_out.invalid.push(name);
            continue;
        };
        let path = case_path(folder, &name);
        // One by one: what ends the driver ends only its own run.
        let ran = runner.run_unless_crash(&record, std::slice::from_ref(&path))?;
        let outputs = expect_files(&mut case);
        let files = outputs.into_iter().map(|(number, file)| {
            let from = recorded.path().join(format!("{name}-{number}.bin"));
            std::fs::read(from).map(|bytes| (path.with_file_name(file), bytes))
        });
        match (ran, files.collect::<Result<Vec<_>, _>>()) {
            (Some(_), Ok(files)) => {
                for (file, bytes) in files {
                    whole_file::put(&file, &bytes)?;
                }
            }
            _ => {
                remove(folder, &name);
                left_out.not_run.push(name);
            }
        }
    }
    Ok(left_out)
}

/// Removes the folder of a kernel that is left out. One that stays is a case that expects zeros, and fails.
fn remove(folder: &Path, name: &str) {
    let _ = std::fs::remove_dir_all(folder.join(name));
}
