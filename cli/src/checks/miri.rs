//! Miri on the unsafe code that runs on a host: memory and registers as a platform sees them. Needs a nightly toolchain, which
//! the workspace needs for nothing else: without one it is skipped.

use super::Case;
use crate::outcome::Failure;
use crate::process::run_logged;
use crate::progress;
use crate::workspace::Workspace;
use std::process::Command;
use std::time::Duration;

/// Longest that it may take, its own standard library's build included.
const LIMIT: Duration = Duration::from_secs(1800);
/// Memory at addresses that a board names has no owner in Rust.
const FLAGS: &str = "-Zmiri-ignore-leaks -Zmiri-permissive-provenance";
/// Packages that have unsafe code and tests of it.
const PACKAGES: &[&str] = &["eitri-mmio"];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/miri");
    let asked = run_logged(
        miri(workspace).arg("--version"),
        &folder.join("version.log"),
        LIMIT,
    )?;
    if !asked.end.good() {
        let why = "no nightly toolchain with Miri: \
                   `rustup toolchain install nightly --component miri,rust-src`";
        let skipped = |package: &&str| Case::skipped(*package, why.to_owned());
        return Ok(PACKAGES.iter().map(skipped).collect());
    }
    let mut cases = Vec::new();
    for package in PACKAGES {
        let step = progress::start(package);
        let mut command = miri(workspace);
        command.arg("test").arg("--tests").args(["-p", package]);
        command.arg("--target-dir").arg(folder.join("target"));
        command.env("MIRIFLAGS", FLAGS);
        let finished = run_logged(&mut command, &folder.join(format!("{package}.log")), LIMIT)?;
        let good = finished.end.good();
        step.finish(good);
        cases.push(Case::ran(*package, (!good).then(|| finished.output())));
    }
    Ok(cases)
}

/// `cargo miri` of the nightly toolchain.
fn miri(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo(&["miri"]);
    // What calls this is of the workspace's own toolchain, and says so to all that it calls.
    command
        .env("RUSTUP_TOOLCHAIN", "nightly")
        .env_remove("RUSTC");
    command
}
