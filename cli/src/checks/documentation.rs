//! Documentation of every crate, made from what the lints have compiled already.
//!
//! `cargo doc` reads the metadata of the crates, which `cargo clippy` has just made. Cargo takes them over where it is told to
//! compile the workspace as the lints are: with the same program and the same options. Where that is not found it compiles them
//! once more, half a minute of work.

use crate::workspace::Workspace;
use std::path::PathBuf;
use std::process::Command;

/// As `cargo clippy -- -D warnings` hands its options on.
const OPTIONS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// The command with what the lints have compiled.
pub(super) fn from_lints(command: &mut Command, workspace: &Workspace) {
    if let Some(lints) = program(workspace) {
        command
            .env("RUSTC_WORKSPACE_WRAPPER", lints)
            .env("CLIPPY_ARGS", OPTIONS);
    }
}

/// The program behind `cargo clippy`, by the path under which that calls it.
fn program(workspace: &Workspace) -> Option<PathBuf> {
    let told = Command::new("rustc")
        .current_dir(workspace.root())
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let sysroot = String::from_utf8(told.stdout).ok()?;
    let path = PathBuf::from(sysroot.trim()).join("bin/clippy-driver");
    path.is_file().then_some(path)
}
