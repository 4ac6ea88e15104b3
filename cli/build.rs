//! Puts the monitor into the command where it is built with the feature `portable`: it then boots images on a machine that has
//! neither the sources nor Rust. Without the feature the file is empty, and the command builds the monitor from the sources.

use eitri_launch::images::{self, MONITOR};
use eitri_launch::workspace::{BARE_METAL_TARGET, Workspace};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Files and folders below the workspace's root from which the monitor is built.
const SOURCES: &[&str] = &[
    "Cargo.lock",
    "boards",
    "gpu/driver/dump",
    "gpu/simulator",
    "gpu/tables",
    "kernel",
    "linker",
    "qemu-tests/mailbox",
    "qemu-tests/monitor",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let monitor = match env::var_os("CARGO_FEATURE_PORTABLE") {
        Some(_) => monitor(&out),
        None => Ok(Vec::new()),
    };
    let written = monitor.and_then(|elf| {
        fs::write(out.join("monitor.elf"), elf).map_err(|cause| format!("monitor.elf: {cause}"))
    });
    if let Err(why) = written {
        println!("cargo::error={why}");
    }
}

/// Builds the monitor in a target folder of its own: cargo holds the lock of the other.
fn monitor(out: &Path) -> Result<Vec<u8>, String> {
    let workspace = Workspace::find().map_err(|problem| problem.to_string())?;
    for source in SOURCES {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.root().join(source).display()
        );
    }
    let target = out.join("images");
    let mut command = images::build(&workspace, MONITOR);
    command.env("CARGO_TARGET_DIR", &target);
    // These are meant for the command, which runs on another machine than the monitor.
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
            "the monitor could not be built: {}; is the target installed? `rustup target add {BARE_METAL_TARGET}`",
            first.unwrap_or("see cargo's output")
        ));
    }
    let elf = target.join(BARE_METAL_TARGET).join("release").join(MONITOR);
    fs::read(&elf).map_err(|cause| format!("{}: {cause}", elf.display()))
}
