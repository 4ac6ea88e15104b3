//! Puts the monitor and the images for QEMU into the command where it is built with the feature `portable`: it then boots them, and what
//! others have built, on a machine that has neither the sources nor Rust. Without the feature the files are empty, and the command builds
//! what it needs from the sources.

use eitri_launch::images::{self, MONITOR};
use eitri_launch::workspace::{BARE_METAL_TARGET, Workspace};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Files and folders below the workspace's root from which they are built.
const SOURCES: &[&str] = &[
    "Cargo.lock",
    "amber/device",
    "boards",
    "draw-scenes",
    "gpu/driver",
    "gpu/simulator",
    "gpu/tables",
    "kernel",
    "linker",
    "qemu-tests/job",
    "qemu-tests/mailbox",
    "qemu-tests/monitor",
];
/// Packages of images that look behind themselves for what they carry, if `EITRI_SHOWN` says so: `kernel/src/attached.rs`.
const IMAGES: [&str; 4] = [
    "eitri-image",
    "eitri-amber-image",
    "eitri-draw-image",
    "eitri-validation-image",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let portable = env::var_os("CARGO_FEATURE_PORTABLE").is_some();
    for (package, name) in [(MONITOR, "monitor")]
        .into_iter()
        .chain(IMAGES.map(|package| (package, package)))
    {
        let elf = match portable {
            true => build(&out, package),
            false => Ok(Vec::new()),
        };
        let path = out.join(format!("{name}.elf"));
        let written = elf.and_then(|elf| {
            fs::write(&path, elf).map_err(|cause| format!("{}: {cause}", path.display()))
        });
        if let Err(why) = written {
            println!("cargo::error={why}");
        }
    }
}

/// Builds a package in a target folder of its own: cargo holds the lock of the other.
fn build(out: &Path, package: &str) -> Result<Vec<u8>, String> {
    let workspace = Workspace::find().map_err(|problem| problem.to_string())?;
    for source in SOURCES {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.root().join(source).display()
        );
    }
    let target = out.join("images");
    let shown = out.join("shown");
    fs::write(&shown, "attached").map_err(|cause| format!("{}: {cause}", shown.display()))?;
    let mut command = images::build(&workspace, package);
    command.env("CARGO_TARGET_DIR", &target);
    command.env("EITRI_SHOWN", &shown);
    command.env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    // These are meant for the command, which runs on another machine than the images.
    for variable in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
    ] {
        command.env_remove(variable);
    }
    let output = command
        .output()
        .map_err(|cause| format!("cargo: {cause}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().find(|line| line.starts_with("error"));
        return Err(format!(
            "{package} could not be built: {}; is the target installed? `rustup target add {BARE_METAL_TARGET}`",
            first.unwrap_or("see cargo's output")
        ));
    }
    let elf = target.join(BARE_METAL_TARGET).join("release").join(package);
    fs::read(&elf).map_err(|cause| format!("{}: {cause}", elf.display()))
}
