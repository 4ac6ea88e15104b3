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

/// Writes a kernel's case, which expects zeros, and its modules.
fn put(folder: &Path, seed: u64) -> Result<Value, Failure> {
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
    khronos_tools::run(SPIRV_OPT, &[&["-O".as_ref()][..], &files].concat())?;
    for (number, file) in expect_files(&mut case) {
        let bytes = case["bindings"][number]["bytes"].as_u64().unwrap_or(0);
        whole_file::put(&path.with_file_name(file), &vec![0; bytes as usize])?;
    }
    whole_file::put(&path, format!("{case:#}\n").as_bytes())?;
    Ok(case)
}

/// Writes the kernels of seeds into a folder, each in one of its own. Tells those that lavapipe could not run, which are left out.
///
/// # Errors
/// If lavapipe or a tool is missing, a shader does not compile, or a file can't be written.
pub(crate) fn write(folder: &Path, seeds: Range<u64>) -> Result<Vec<String>, Failure> {
    let runner = Runner::build()?;
    let recorded = tempfile::tempdir()
        .map_err(|cause| Failure::missing(FileError::at("make", "a folder", cause)))?;
    let record = [OsStr::new("--record"), recorded.path().as_os_str()];
    let mut left_out = vec![];
    for seed in seeds {
        let name = eitri_random_kernels::name(seed);
        let mut case = put(folder, seed)?;
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
                let _ = std::fs::remove_dir_all(folder.join(&name));
                left_out.push(name);
            }
        }
    }
    Ok(left_out)
}
