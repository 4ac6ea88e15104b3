//! The program that runs compute kernels through Vulkan (`qemu-tests/vulkan-runner`), built for the guest.
//!
//! It is linked by the linker that comes with Rust, to the guest's own libraries: no compiler for arm64 has to be installed.

use super::debian::Suite;
use super::libraries::read;
use super::root::LIBRARIES;
use crate::outcome::Failure;
use crate::workspace::Workspace;
use eitri_launch::cargo::{self, Manner, Watch};
use eitri_launch::tools::{self, Tool};
use eitri_launch::workspace::GUEST_TARGET;
use miette::Diagnostic;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// Longest that a build may take.
const BUILD_LIMIT: Duration = Duration::from_secs(20 * 60);
/// What starts and ends a program, in the order in which a linker wants it.
const STARTS: &[&str] = &["Scrt1.o", "crti.o", "crtn.o"];

#[derive(Debug, Error, Diagnostic)]
#[error("the program for the guest could not be built\n{output}")]
struct BuildError {
    output: String,
}

/// The program.
pub(crate) fn build(workspace: &Workspace, suite: &Suite) -> Result<Vec<u8>, Failure> {
    tools::ensure(workspace, &[Tool::GuestTarget])?;
    let libraries = suite.root.join(LIBRARIES);
    complete(&suite.root, &libraries)?;
    let mut command = workspace.cargo(&[
        "build",
        "--release",
        "--target",
        GUEST_TARGET,
        "-p=eitri-vulkan-runner",
    ]);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "rust-lld");
    command.env(
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
        options(&suite.root, &libraries),
    );
    let folder = workspace.target_folder();
    let finished = cargo::run(
        &mut command,
        &Watch {
            what: "building the program for the guest",
            log: &folder.join("eitri/vulkan-runner.log"),
            limit: BUILD_LIMIT,
            manner: Manner::Step,
        },
    )?;
    if !finished.end.good() {
        let output = finished.output();
        return Err(Failure::refused(BuildError { output }));
    }
    read(&folder.join(GUEST_TARGET).join("release/vulkan-runner"))
}

/// What the linker is told: where the guest's libraries are, and how its programs start.
fn options(root: &Path, libraries: &Path) -> String {
    let mut options = vec![
        "-Clinker-flavor=ld.lld".to_owned(),
        "-Cstrip=symbols".to_owned(),
        format!("-Clink-arg=--sysroot={}", root.display()),
        format!("-Clink-arg=-L{}", libraries.display()),
        "-Clink-arg=--dynamic-linker=/lib/ld-linux-aarch64.so.1".to_owned(),
    ];
    let starts = STARTS.iter().map(|start| libraries.join(start));
    options.extend(starts.map(|start| format!("-Clink-arg={}", start.display())));
    options.join(" ")
}

/// Links that an installation would make: `lib`, and the name by which a linker looks for a library.
fn complete(root: &Path, libraries: &Path) -> Result<(), Failure> {
    let links = [
        (root.join("lib"), "usr/lib"),
        (libraries.join("libgcc_s.so"), "libgcc_s.so.1"),
    ];
    for (link, to) in links {
        if link.symlink_metadata().is_ok() {
            continue;
        }
        std::os::unix::fs::symlink(to, &link).map_err(|cause| Failure::unwritable(&link, cause))?;
    }
    Ok(())
}
