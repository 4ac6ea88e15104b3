//! Khronos' tools, which are other people's programs: glslang and those of SPIRV-Tools.

use crate::outcome::{Failure, FileError};
use miette::Diagnostic;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Output};
use thiserror::Error;

/// A program, and the Debian package that has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    pub(crate) program: &'static str,
    pub(crate) package: &'static str,
}

const fn tool(program: &'static str, package: &'static str) -> Tool {
    Tool { program, package }
}

pub(crate) const GLSLANG: Tool = tool("glslangValidator", "glslang-tools");
pub(crate) const SPIRV_AS: Tool = tool("spirv-as", "spirv-tools");
pub(crate) const SPIRV_VAL: Tool = tool("spirv-val", "spirv-tools");
pub(crate) const SPIRV_OPT: Tool = tool("spirv-opt", "spirv-tools");

#[derive(Debug, Error, Diagnostic)]
enum ToolError {
    #[error("`{}` is not installed", tool.program)]
    #[diagnostic(help("apt-get install {}", tool.package))]
    Lacking { tool: Tool },
    #[error("{program} ended with {status}\n{output}")]
    Failed {
        program: &'static str,
        status: std::process::ExitStatus,
        output: String,
    },
}

/// Whether a tool is installed.
pub(crate) fn is_there(tool: Tool) -> bool {
    Command::new(tool.program).arg("--version").output().is_ok()
}

/// Runs a tool to its end.
///
/// # Errors
/// If it is not installed, can't be started, or says that something is wrong.
pub(crate) fn run(tool: Tool, arguments: &[&OsStr]) -> Result<(), Failure> {
    let ran = ended(tool, arguments)?;
    if ran.status.success() {
        return Ok(());
    }
    let texts = [&ran.stdout, &ran.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Err(Failure::check(ToolError::Failed {
        program: tool.program,
        status: ran.status,
        output: texts.concat(),
    }))
}

/// Runs a tool to its end, and tells whether it finds nothing wrong.
///
/// # Errors
/// If it is not installed, or can't be started.
pub(crate) fn accepts(tool: Tool, arguments: &[&OsStr]) -> Result<bool, Failure> {
    Ok(ended(tool, arguments)?.status.success())
}

fn ended(tool: Tool, arguments: &[&OsStr]) -> Result<Output, Failure> {
    let Tool { program, .. } = tool;
    let ran = Command::new(program).args(arguments).output();
    ran.map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => Failure::missing(ToolError::Lacking { tool }),
        _ => Failure::missing(FileError::at("start", program, cause)),
    })
}
