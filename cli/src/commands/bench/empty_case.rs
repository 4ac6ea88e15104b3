//! A case that does nothing: what it takes is taken off what others take.

use super::fixed_costs::NOTHING;
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::workspace::Workspace;
use eitri_shaderc::build::shader_text::{Language, Names, to_spirv_with};
use miette::Diagnostic;
use serde_json::json;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error, Diagnostic)]
#[error("the empty shader can't be compiled: {0}")]
struct EmptyError(String);

/// The name of [`empty_case`].
pub(super) const EMPTY: &str = "empty";

/// A case of one workgroup that does nothing, beside what else was built.
///
/// # Errors
/// If it can't be written.
pub(super) fn empty_case() -> Result<PathBuf, Failure> {
    let folder = Workspace::find()?.target_folder().join("eitri/bench");
    let text = to_spirv_with(Language::Wgsl, "empty.wgsl", NOTHING, Names::All);
    let spirv = text.map_err(|error| Failure::refused(EmptyError(error.to_string())))?;
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
