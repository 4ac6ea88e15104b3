//! Tools that some commands need besides Rust: which they are, whether they are there, and how they get there.
//!
//! Guarantees: what can't be installed is known before anything is.

use crate::Problem;
use crate::process::run_logged;
use crate::progress;
use crate::workspace::{BARE_METAL_TARGET, GUEST_TARGET, UEFI_TARGET, Workspace};
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The Rust target for bare metal.
    Target,
    /// The Rust target for what UEFI firmware starts.
    UefiTarget,
    /// The Rust target of programs for a guest that runs Linux.
    GuestTarget,
    /// The emulator that images boot in.
    Qemu,
    /// Khronos' GLSL compiler, for what naga can't read.
    Glslang,
    /// Khronos' SPIR-V assembler.
    SpirvAs,
    /// U-Boot for QEMU's virt machine.
    UBoot,
    /// U-Boot's tool for images.
    MkImage,
    /// A C compiler for bare metal, for the example in C.
    CrossGcc,
    /// UEFI firmware for QEMU's virt machine.
    Uefi,
    /// What the checkers of labs are written in.
    Python,
    /// A browser, which shows pages without a window.
    Chromium,
    /// Installer of packages for Node.js, and that.
    Npm,
}

/// Longest that a download may take.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(900);

/// What Debian has: the tool, its program or its file, its package.
#[rustfmt::skip]
const DEBIAN: &[(Tool, &str, &str)] = &[
    (Tool::Qemu,    "qemu-system-aarch64",                     "qemu-system-arm"),
    (Tool::Glslang, "glslangValidator",                        "glslang-tools"),
    (Tool::SpirvAs, "spirv-as",                                "spirv-tools"),
    (Tool::UBoot,   "/usr/lib/u-boot/qemu_arm64/u-boot.bin",   "u-boot-qemu"),
    (Tool::MkImage, "mkimage",                                 "u-boot-tools"),
    (Tool::CrossGcc, "aarch64-linux-gnu-gcc",                  "gcc-aarch64-linux-gnu"),
    (Tool::Uefi,    "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd", "qemu-efi-aarch64"),
    (Tool::Python,  "python3",                                 "python3-venv"),
    (Tool::Chromium, "chromium",                               "chromium"),
    (Tool::Npm,     "npm",                                     "npm"),
];

impl Tool {
    /// All of them.
    pub const ALL: &[Tool] = &[
        Tool::Target,
        Tool::UefiTarget,
        Tool::GuestTarget,
        Tool::Qemu,
        Tool::Glslang,
        Tool::SpirvAs,
        Tool::UBoot,
        Tool::MkImage,
        Tool::CrossGcc,
        Tool::Uefi,
        Tool::Python,
        Tool::Chromium,
        Tool::Npm,
    ];
    /// What `eitri test` needs; its long checks need the others too.
    pub const OF_TESTS: &[Tool] = &[
        Tool::Target,
        Tool::Qemu,
        Tool::Glslang,
        Tool::SpirvAs,
        Tool::UBoot,
        Tool::MkImage,
        Tool::CrossGcc,
    ];
    /// What it takes to run an image in QEMU.
    pub const OF_QEMU: &[Tool] = &[Tool::Target, Tool::Qemu];

    fn row(&self) -> Option<&'static (Tool, &'static str, &'static str)> {
        DEBIAN.iter().find(|(tool, ..)| tool == self)
    }

    /// Name of its program, or where its file is; that of a Rust target is rustc's name of it.
    pub fn program(&self) -> &'static str {
        let of_row = self
            .row()
            .map_or(BARE_METAL_TARGET, |(_, program, _)| program);
        self.target().unwrap_or(of_row)
    }

    /// The Rust target that it is, if it is one.
    pub fn target(&self) -> Option<&'static str> {
        match self {
            Tool::Target => Some(BARE_METAL_TARGET),
            Tool::UefiTarget => Some(UEFI_TARGET),
            Tool::GuestTarget => Some(GUEST_TARGET),
            _ => None,
        }
    }

    /// The Debian package that has it, if one has.
    pub fn package(&self) -> Option<&'static str> {
        self.row().map(|(.., package)| *package)
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tool::Target | Tool::UefiTarget | Tool::GuestTarget => {
                write!(f, "the Rust target {}", self.program())
            }
            _ => write!(f, "`{}`", self.program()),
        }
    }
}

/// Which of `wanted` are not there.
pub fn missing(workspace: &Workspace, wanted: &[Tool]) -> Vec<Tool> {
    let is_there = |tool: &Tool| match tool.target() {
        Some(target) => target_is_installed(workspace, target),
        None => in_path(tool.program()),
    };
    wanted
        .iter()
        .copied()
        .filter(|tool| !is_there(tool))
        .collect()
}

/// Whether this process could install all of `missing`.
///
/// # Errors
/// What a person has to install.
pub fn installable(missing: &[Tool]) -> Result<(), Problem> {
    if missing.is_empty() {
        return Ok(());
    }
    let mut beyond = missing.to_vec();
    if in_path("rustup") {
        beyond.retain(|tool| tool.target().is_none());
    }
    if in_path("apt-get") && is_root() {
        beyond.retain(|tool| tool.package().is_none());
    }
    match beyond.is_empty() {
        true => Ok(()),
        false => Err(Problem::Tools { missing: beyond }),
    }
}

/// Makes sure that `wanted` are there: installs what is missing.
///
/// # Errors
/// What a person has to install, or the installation that failed.
pub fn ensure(workspace: &Workspace, wanted: &[Tool]) -> Result<(), Problem> {
    let missing = missing(workspace, wanted);
    installable(&missing)?;
    for target in missing.iter().filter_map(Tool::target) {
        install_target(workspace, target)?;
    }
    install_packages(workspace, &missing)
}

/// The same for programs, of which those that are there need no sources to be installed from.
///
/// # Errors
/// As for [`ensure`]; or when something is missing and there are no sources.
pub fn ensure_programs(wanted: &[Tool]) -> Result<(), Problem> {
    let missing: Vec<Tool> = wanted
        .iter()
        .copied()
        .filter(|tool| tool.target().is_some() || !in_path(tool.program()))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    match Workspace::find() {
        Ok(workspace) => ensure(&workspace, &missing),
        Err(_) => Err(Problem::Tools { missing }),
    }
}

/// Adds a Rust target.
///
/// # Errors
/// When `rustup` fails, with what it said.
pub fn install_target(workspace: &Workspace, target: &str) -> Result<(), Problem> {
    let mut rustup = Command::new("rustup");
    rustup.current_dir(workspace.root());
    rustup.args(["target", "add", target]);
    let what = format!("adding the Rust target {target}");
    install(workspace, &what, "target", &mut [rustup])
}

/// Installs the Debian packages of those of `missing` that have one.
///
/// # Errors
/// When `apt-get` fails, with what it said.
pub fn install_packages(workspace: &Workspace, missing: &[Tool]) -> Result<(), Problem> {
    let packages: Vec<&str> = missing.iter().filter_map(Tool::package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        // Somebody else may be installing.
        apt.args(["-o", "DPkg::Lock::Timeout=300"]).args(arguments);
        apt
    };
    let mut install_them = apt(&["install", "-y", "--no-install-recommends"]);
    install_them.args(&packages);
    let what = format!("installing {}", packages.join(", "));
    let steps = &mut [apt(&["update"]), install_them];
    install(workspace, &what, "packages", steps)?;
    let still: Vec<Tool> = missing
        .iter()
        .copied()
        .filter(|tool| tool.package().is_some() && !in_path(tool.program()))
        .collect();
    match still.is_empty() {
        true => Ok(()),
        false => Err(Problem::Tools { missing: still }),
    }
}

/// Runs the commands of one installation, until one fails.
fn install(
    workspace: &Workspace,
    what: &str,
    name: &str,
    commands: &mut [Command],
) -> Result<(), Problem> {
    let log = workspace
        .target_folder()
        .join(format!("eitri/install-{name}.log"));
    let step = progress::start(what);
    for command in commands {
        let finished = run_logged(command, &log, DOWNLOAD_LIMIT)?;
        if !finished.end.good() {
            step.finish(false);
            return Err(Problem::Install {
                command: format!("{command:?}").replace('"', ""),
                output: finished.output(),
            });
        }
    }
    step.finish(true);
    Ok(())
}

/// Whether the toolchain has a `core` for a target, whoever installed it.
fn target_is_installed(workspace: &Workspace, target: &str) -> bool {
    // Cargo tells its own path to what it runs; a toolchain's libraries lie beside its programs.
    let beside_cargo = || {
        let cargo = std::env::var_os("CARGO")?;
        let toolchain = Path::new(&cargo).parent()?.parent()?;
        let libraries = toolchain.join("lib/rustlib");
        libraries
            .is_dir()
            .then(|| libraries.join(target).join("lib").is_dir())
    };
    beside_cargo().unwrap_or_else(|| {
        let output = Command::new("rustc")
            .current_dir(workspace.root())
            .args(["--print", "target-libdir", "--target", target])
            .output();
        output.is_ok_and(|output| {
            let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            output.status.success() && Path::new(&folder).is_dir()
        })
    })
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout == b"0\n")
}

/// Whether there is such a program; an absolute path is looked at as it is.
pub fn in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_path() {
        assert!(in_path("sh"));
        assert!(!in_path("no-such-program"));
    }

    #[test]
    fn every_tool_can_be_installed_by_somebody() {
        for tool in Tool::ALL {
            assert!(
                tool.target().is_some() || tool.package().is_some(),
                "{tool}"
            );
        }
    }
}
