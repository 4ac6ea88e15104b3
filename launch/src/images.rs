//! How bare-metal programs are built: one command line, for the `eitri` command and for a head start before it runs.

use crate::workspace::{BARE_METAL_TARGET, UEFI_TARGET, Workspace};
use std::path::{Path, PathBuf};
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
    build_at(workspace, None, package)
}

/// The same with another home of cargo's than this process has.
pub fn build_at(workspace: &Workspace, home: Option<&Path>, package: &str) -> Command {
    let target = target(package);
    let mut command = workspace.cargo(&["build", "--release", "--target", target, "-p", package]);
    if let Some(home) = home {
        command.env("CARGO_HOME", home);
    }
    let home = home.map(Path::to_owned).or_else(cargo_home);
    let flags = names_of_places(workspace, home.as_deref());
    add_flags(&mut command, target, &flags);
    command
}

/// The folder where cargo keeps what it has fetched.
pub fn cargo_home() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(std::env::home_dir()?.join(".cargo")))
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
    let mut flags = names_of_places(workspace, cargo_home().as_deref());
    flags.extend(SMALLER_CODE.iter().map(|flag| format!("'{flag}'")));
    add_flags(&mut command, target, &flags);
    command
}

/// What makes small code smaller yet, found by trying: functions are inlined only where that costs next to nothing, and what
/// several functions have alike is moved into one, again and again.
const SMALLER_CODE: &[&str] = &[
    "-Cllvm-args=-inline-threshold=15",
    "-Cllvm-args=-machine-outliner-reruns=4",
];

/// The flags that make the bytes of an image the same wherever it is built: the names of source files, which panics and debug
/// information hold, begin where the folders of this machine end.
fn names_of_places(workspace: &Workspace, home: Option<&Path>) -> Vec<String> {
    // The last that fits is taken: folders that lie in others come behind them.
    let mut folders = vec![(workspace.root().to_owned(), "/eitri")];
    folders.push((workspace.target_folder(), "/eitri/target"));
    folders.extend(
        sources_of_crates(home)
            .into_iter()
            .map(|folder| (folder, "/crates")),
    );
    folders
        .iter()
        .filter_map(|(folder, name)| shortened(folder, name))
        .collect()
}

/// Gives the compiler these flags, each in quotes, for what is built for `target`.
fn add_flags(command: &mut Command, target: &str, flags: &[String]) {
    if !flags.is_empty() {
        let flags = flags.join(", ");
        command.args([
            "--config",
            &format!("target.{target}.rustflags = [{flags}]"),
        ]);
    }
}

/// The folders where cargo keeps the sources of crates.
fn sources_of_crates(home: Option<&Path>) -> Vec<PathBuf> {
    let folders = home.and_then(|home| home.join("registry/src").read_dir().ok());
    let mut folders: Vec<PathBuf> = folders
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    folders.sort();
    folders
}

/// The flag that gives such a folder another name.
fn shortened(folder: &Path, name: &str) -> Option<String> {
    let folder = folder.to_str()?;
    let plain = !folder.contains(['\'', '=']);
    plain.then(|| format!("'--remap-path-prefix={folder}={name}'"))
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
