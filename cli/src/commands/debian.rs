//! `eitri debian`: a Debian package of the command, with the monitor inside, manual pages, completions, and all pages as a site.
//!
//! Built from the sources by the machine's own cargo, packed by `dpkg-deb`: facts of the format are that tool's business.

use crate::images::prebuilt;
use crate::outcome::{Failure, FileError, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::workspace::Workspace;
use clap_complete::Shell;
use miette::Diagnostic;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the package goes: a folder, or a file's name. The current folder if not given.
    #[arg(long, short, value_name = "FILE|DIR", default_value = ".")]
    output: PathBuf,
    /// Who answers for the package: `NAME <ADDRESS>`; of DEBFULLNAME and DEBEMAIL if not given.
    #[arg(long, value_name = "NAME <ADDRESS>")]
    maintainer: Option<String>,
}

/// Why there is no package.
#[derive(Debug, Error, Diagnostic)]
enum DebianError {
    #[error("`{command}` failed\n{output}")]
    Tool { command: String, output: String },
    #[error("Debian has no name for {arch}")]
    Architecture { arch: &'static str },
    #[error("who maintains the package?")]
    #[diagnostic(help("say `--maintainer 'NAME <ADDRESS>'`, or set DEBFULLNAME and DEBEMAIL"))]
    Maintainer,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let maintainer = maintainer(args)?;
    let arch = architecture()?;
    let workspace = Workspace::find()?;
    let build = [
        "build",
        "--quiet",
        "--release",
        "--package",
        "eitri",
        "--features",
        "portable",
    ];
    done(&mut workspace.cargo(&build))?;
    let program = workspace.target_folder().join("release/eitri");
    let tree = tempfile::tempdir()
        .map_err(|cause| Failure::refused(FileError::at("create", "a temporary folder", cause)))?;
    let tree = tree.path();
    stage(tree, &program, workspace.root())?;
    let binary = fs::read(&program).map_err(|cause| Failure::unreadable(&program, cause))?;
    let control = control(&maintainer, arch, &libc(&binary), kibibytes(tree)?);
    put(&tree.join("DEBIAN/control"), control.as_bytes())?;
    let name = format!("eitri_{}_{arch}.deb", env!("CARGO_PKG_VERSION"));
    let to = match args.output.is_dir() {
        true => args.output.join(name),
        false => args.output.clone(),
    };
    done(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "--build"])
            .arg(tree)
            .arg(&to),
    )?;
    outln!("written {}", to.display())?;
    Ok(Status::Good)
}

/// Puts what the package installs below `tree`.
fn stage(tree: &Path, program: &Path, root: &Path) -> Result<(), Failure> {
    let bin = tree.join("usr/bin/eitri");
    folder(&bin)?;
    // With its rights.
    fs::copy(program, &bin).map_err(|cause| Failure::unwritable(&bin, cause))?;
    prebuilt::put_all(&tree.join("usr/share/eitri/images"))?;
    let manuals = tree.join("usr/share/man/man1");
    fs::create_dir_all(&manuals).map_err(|cause| Failure::unwritable(&manuals, cause))?;
    done(
        Command::new(program)
            .arg("man")
            .arg("--output")
            .arg(&manuals),
    )?;
    for (shell, path) in [
        (Shell::Bash, "usr/share/bash-completion/completions/eitri"),
        (Shell::Zsh, "usr/share/zsh/vendor-completions/_eitri"),
        (
            Shell::Fish,
            "usr/share/fish/vendor_completions.d/eitri.fish",
        ),
    ] {
        let script = done(
            Command::new(program)
                .arg("completions")
                .arg(shell.to_string()),
        )?;
        put(&tree.join(path), &script)?;
    }
    let docs = tree.join("usr/share/doc/eitri");
    done(
        Command::new(program)
            .current_dir(root)
            .args(["docs", "--site"])
            .arg(docs.join("html")),
    )?;
    for (file, name) in [
        ("CHANGELOG.md", "CHANGELOG.md"),
        ("LICENSE-MIT", "copyright"),
    ] {
        let path = root.join(file);
        let bytes = fs::read(&path).map_err(|cause| Failure::unreadable(&path, cause))?;
        put(&docs.join(name), &bytes)?;
    }
    Ok(())
}

/// The package's control file.
fn control(maintainer: &str, arch: &str, libc: &str, size: u64) -> String {
    format!(
        "Package: eitri\nVersion: {}\nArchitecture: {arch}\nMaintainer: {maintainer}\nInstalled-Size: {size}\nDepends: libc6{libc}\n\
         Recommends: qemu-system-arm, glslang-tools, spirv-tools\nSection: devel\nPriority: optional\n\
         Description: bring-up of Arm Mali Valhall CSF GPUs\n \
         Runs and checks shaders on a software model of the GPU, boots bare-metal images on it in QEMU,\n \
         compiles SPIR-V to machine code, reads consoles and core dumps of boards.\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The least version of the C library that a program asks for, as a package's field has it.
fn libc(binary: &[u8]) -> String {
    const PREFIX: &[u8] = b"GLIBC_2.";
    let versions = binary
        .windows(PREFIX.len())
        .enumerate()
        .filter(|(_, window)| *window == PREFIX);
    let minor = versions.filter_map(|(at, _)| {
        let digits = binary[at + PREFIX.len()..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let digits: Vec<u8> = digits.copied().take(4).collect();
        String::from_utf8(digits).ok()?.parse::<u32>().ok()
    });
    minor
        .max()
        .map_or(String::new(), |minor| format!(" (>= 2.{minor})"))
}

/// The size of all files, as a package states it.
fn kibibytes(tree: &Path) -> Result<u64, Failure> {
    let mut sum = 0;
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable = |cause| Failure::unreadable(&folder, cause);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let about = entry.metadata().map_err(unreadable)?;
            match about.is_dir() {
                true => folders.push(entry.path()),
                false => sum += about.len().div_ceil(1024),
            }
        }
    }
    Ok(sum)
}

fn maintainer(args: &Args) -> Result<String, Failure> {
    let of_environment = || {
        let [name, address] = ["DEBFULLNAME", "DEBEMAIL"].map(|name| std::env::var(name).ok());
        Some(format!("{} <{}>", name?, address?))
    };
    let found = args.maintainer.clone().or_else(of_environment);
    let good = found.filter(|it| !it.contains('\n') && it.contains('<') && it.ends_with('>'));
    good.ok_or_else(|| Failure::refused(DebianError::Maintainer))
}

fn architecture() -> Result<&'static str, Failure> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("amd64"),
        "aarch64" => Ok("arm64"),
        "riscv64" => Ok("riscv64"),
        arch => Err(Failure::refused(DebianError::Architecture { arch })),
    }
}

/// Runs a command to its good end; what it printed.
fn done(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|cause| Failure::missing(FileError::at("run", &name, cause)))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Failure::refused(DebianError::Tool {
            command: name,
            output: String::from_utf8_lossy(&output.stderr).into_owned(),
        })),
    }
}

fn folder(of: &Path) -> Result<(), Failure> {
    let folder = of.parent().unwrap_or(of);
    fs::create_dir_all(folder).map_err(|cause| Failure::unwritable(folder, cause))
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    folder(path)?;
    whole_file::put(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_the_newest_that_is_asked_for() {
        assert_eq!(libc(b"..GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.17\0"), " (>= 2.34)");
        assert_eq!(libc(b"a program without one"), "");
    }

    #[test]
    fn a_control_file_has_a_field_a_line() {
        let text = control("A B <a@b.org>", "amd64", " (>= 2.34)", 7);
        for line in [
            "Package: eitri",
            "Architecture: amd64",
            "Maintainer: A B <a@b.org>",
            "Depends: libc6 (>= 2.34)",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}: {text}");
        }
        assert!(
            text.lines()
                .all(|line| line.starts_with(' ') || line.contains(": ")),
            "{text}"
        );
    }
}
