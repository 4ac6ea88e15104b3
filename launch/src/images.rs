//! How bare-metal programs are built: one command line, for the `eitri` command and for a head start before it runs.

use crate::workspace::{BARE_METAL_TARGET, UEFI_TARGET, Workspace};
use std::path::PathBuf;
use std::process::Command;

/// The package, and the program, that every run in QEMU needs, and that takes longest to build.
pub const MONITOR: &str = "eitri-monitor";

/// The package, and the program, that carries an image where UEFI firmware starts it.
pub const UEFI_APPLICATION: &str = "eitri-uefi";

/// What a package is built for.
fn target(package: &str) -> &'static str {
    match package {
        UEFI_APPLICATION => UEFI_TARGET,
        _ => BARE_METAL_TARGET,
    }
}

/// The command that builds all programs of `package`.
pub fn build(workspace: &Workspace, package: &str) -> Command {
    let target = target(package);
    workspace.cargo(&["build", "--release", "--target", target, "-p", package])
}

/// Where the program `name` of `package` is put.
pub fn path(workspace: &Workspace, package: &str, name: &str) -> PathBuf {
    let folder = workspace.target_folder();
    let folder = folder.join(target(package)).join("release");
    match package {
        UEFI_APPLICATION => folder.join(format!("{name}.efi")),
        _ => folder.join(name),
    }
}

/// As [`build`], for images whose size counts: optimised for that, across crates, without sentences in the tables.
pub fn build_small(workspace: &Workspace, package: &str) -> Command {
    let target = target(package);
    let mut command = workspace.cargo(&["build", "--profile", SMALL, "--no-default-features"]);
    command.args(["--target", target, "-p", package]);
    command
}

/// The profile of small images.
const SMALL: &str = "small";

/// Where the program `name` of [`build_small`] is put.
pub fn path_of_small(workspace: &Workspace, name: &str) -> PathBuf {
    let folder = workspace.target_folder();
    folder.join(BARE_METAL_TARGET).join(SMALL).join(name)
}

/// Where the output goes of building the monitor before the command runs.
pub fn log_of_head_start(workspace: &Workspace) -> PathBuf {
    workspace.target_folder().join("eitri/head-start.log")
}

/// Where the output of building `package` goes.
pub fn log(workspace: &Workspace, package: &str) -> PathBuf {
    let folder = workspace.target_folder();
    folder.join("eitri").join(format!("build-{package}.log"))
}
