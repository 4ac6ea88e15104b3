//! Set-up that commands do by themselves: the Rust target and QEMU.
//!
//! Guarantees: changes the machine only through `rustup` and, as root on Debian, `apt-get`; says so on stderr.

use crate::outcome::Failure;
use crate::process::run_logged;
use crate::progress;
use crate::workspace::{BARE_METAL_TARGET, Workspace};
use miette::Diagnostic;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use thiserror::Error;

/// The emulator that images boot in.
pub(crate) const QEMU: &str = "qemu-system-aarch64";
const QEMU_PACKAGE: &str = "qemu-system-arm";
/// Longest that a download may take.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(900);

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum SetupError {
    #[error("`{QEMU}` is not installed")]
    #[diagnostic(help(
        "install the package {QEMU_PACKAGE}: `apt-get install {QEMU_PACKAGE}` as root on Debian"
    ))]
    NoQemu,
    #[error("`{command}` failed\n{output}")]
    Command { command: String, output: String },
    #[error(
        "the Rust target {BARE_METAL_TARGET} is not installed, and there is no `rustup` to add it"
    )]
    #[diagnostic(help("install rustup (https://rustup.rs), or the target with your own Rust"))]
    NoRustup,
}

/// Makes sure that bare-metal code can be built.
pub(crate) fn bare_metal_target(workspace: &Workspace) -> Result<(), Failure> {
    if target_is_installed(workspace) {
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.current_dir(workspace.root());
    rustup.args(["target", "add", BARE_METAL_TARGET]);
    if !answers("rustup", &["--version"]) {
        return Err(Failure::missing(SetupError::NoRustup));
    }
    download(
        "adding the Rust target aarch64-unknown-none",
        &mut rustup,
        workspace,
    )
}

/// Whether the toolchain has a `core` for the target: asked of rustc itself, so that any installation will do.
fn target_is_installed(workspace: &Workspace) -> bool {
    let output = Command::new("rustc")
        .current_dir(workspace.root())
        .args(["--print", "target-libdir", "--target", BARE_METAL_TARGET])
        .output();
    output.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success() && Path::new(&folder).is_dir()
    })
}

/// Makes sure that QEMU can be started.
pub(crate) fn qemu(workspace: &Workspace) -> Result<(), Failure> {
    if answers(QEMU, &["--version"]) {
        return Ok(());
    }
    if !(is_root() && answers("apt-get", &["--version"])) {
        return Err(Failure::missing(SetupError::NoQemu));
    }
    let mut update = Command::new("apt-get");
    download(
        "reading Debian's package lists",
        update.arg("update"),
        workspace,
    )?;
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    install.args(["install", "-y", "--no-install-recommends", QEMU_PACKAGE]);
    download("installing qemu-system-arm", &mut install, workspace)?;
    match answers(QEMU, &["--version"]) {
        true => Ok(()),
        false => Err(Failure::missing(SetupError::NoQemu)),
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout == b"0\n")
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn download(what: &str, command: &mut Command, workspace: &Workspace) -> Result<(), Failure> {
    let log = workspace.target_folder().join("eitri/setup.log");
    let step = progress::start(what);
    let finished = run_logged(command, &log, DOWNLOAD_LIMIT)?;
    step.finish(finished.end.good());
    match finished.end.good() {
        true => Ok(()),
        false => Err(Failure::missing(SetupError::Command {
            command: format!("{command:?}").replace('"', ""),
            output: finished.output(),
        })),
    }
}
