//! How bare-metal programs are built: one command line, for the `eitri` command and for a head start before it runs.

use crate::workspace::{BARE_METAL_TARGET, Workspace};
use std::path::PathBuf;
use std::process::Command;

/// Packages of what every run in QEMU needs, each with a program of its own name: the monitor, and the image under test.
pub const OF_A_RUN: &[&str] = &["eitri-monitor", "eitri-image"];

/// The command that builds all programs of `package`.
pub fn build(workspace: &Workspace, package: &str) -> Command {
    workspace.cargo(&[
        "build",
        "--release",
        "--target",
        BARE_METAL_TARGET,
        "-p",
        package,
    ])
}

/// Where the program `name` is put.
pub fn path(workspace: &Workspace, name: &str) -> PathBuf {
    let folder = workspace.target_folder();
    folder.join(BARE_METAL_TARGET).join("release").join(name)
}

/// Where the output of building `package` goes.
pub fn log(workspace: &Workspace, package: &str) -> PathBuf {
    let folder = workspace.target_folder();
    folder.join("eitri").join(format!("build-{package}.log"))
}
