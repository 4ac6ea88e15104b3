//! The checkout that this command was built from: images and tests are built there.

use crate::outcome::Failure;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// The target of everything that runs without an operating system.
pub(crate) const BARE_METAL_TARGET: &str = "aarch64-unknown-none";

#[derive(Debug, Error, Diagnostic)]
#[error("the sources of Eitri are no longer at {path}")]
#[diagnostic(help("bare-metal images are built from them: run `cargo eitri` inside a checkout"))]
pub(crate) struct SourcesMissing {
    path: String,
}

/// The workspace's root folder.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace that this binary was built from.
    pub(crate) fn find() -> Result<Workspace, Failure> {
        let cli = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = cli.parent().unwrap_or(cli).to_owned();
        match root.join("rust-toolchain.toml").is_file() {
            true => Ok(Workspace { root }),
            false => Err(Failure::missing(SourcesMissing {
                path: root.display().to_string(),
            })),
        }
    }

    /// The root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where builds go: `CARGO_TARGET_DIR`, else `target` in the root.
    pub(crate) fn target_folder(&self) -> PathBuf {
        match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => self.root.join(folder),
            None => self.root.join("target"),
        }
    }

    /// A `cargo` command in the root folder, with the workspace's own toolchain.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.current_dir(&self.root).args(arguments);
        // What `cargo run` sets for this process would make the inner build differ from the outer one.
        for (name, _) in std::env::vars_os() {
            let inherited = name.to_str().is_some_and(|name| {
                name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
            });
            if inherited {
                command.env_remove(name);
            }
        }
        command
    }
}
