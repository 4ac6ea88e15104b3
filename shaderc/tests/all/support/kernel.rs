//! The kernels of `shared/kernels` and others, for the interpreter.
use std::path::Path;

use eitri_compute_cases::{Case, find};
use eitri_shaderc::interp::Dispatch;

/// All kernels, by name; none if the folder isn't there.
pub fn kernels() -> Vec<Case> {
    let Some(folder) = eitri_testdata::shared("kernels") else {
        return vec![];
    };
    read_all(&folder)
}

/// All kernels of a folder, by name.
pub fn read_all(folder: &Path) -> Vec<Case> {
    let files = find(folder).unwrap();
    let read =
        |file: std::path::PathBuf| Case::read(&file).unwrap_or_else(|error| panic!("{error}"));
    files.into_iter().map(read).collect()
}

/// The dispatch of a kernel.
pub fn dispatch(case: &Case) -> Dispatch {
    Dispatch {
        groups: case.groups,
        push_constants: case.push_constants.clone(),
        step_limit: 1 << 32,
    }
}

/// Vulkan's name of a format that the kernels have.
pub fn format_name(glsl: &str) -> &'static str {
    match glsl {
        "rgba8" => "R8G8B8A8_UNORM",
        "r32ui" => "R32_UINT",
        "rgba32f" => "R32G32B32A32_SFLOAT",
        other => panic!("format {other}"),
    }
}
