//! The checkout that this program was built from: images and tests are built there.

use crate::Problem;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target of everything that runs without an operating system.
pub const BARE_METAL_TARGET: &str = "aarch64-unknown-none";
/// The target of what UEFI firmware starts.
pub const UEFI_TARGET: &str = "aarch64-unknown-uefi";

/// The target of programs for a guest that runs Linux.
pub const GUEST_TARGET: &str = "aarch64-unknown-linux-gnu";

/// The folder of builds where nobody says otherwise.
const TARGET: &str = "target";

/// The workspace's root folder.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
    /// Where builds go.
    target: PathBuf,
}

impl Workspace {
    /// The workspace that this program was built from.
    ///
    /// # Errors
    /// When it has moved since.
    pub fn find() -> Result<Workspace, Problem> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = own.parent().unwrap_or(own).to_owned();
        match root.join("rust-toolchain.toml").is_file() {
            true => {
                let folder = std::env::var_os("CARGO_TARGET_DIR");
                let target = root.join(folder.unwrap_or_else(|| TARGET.into()));
                Ok(Workspace { root, target })
            }
            false => Err(Problem::SourcesMissing { path: root }),
        }
    }

    /// A copy of it, which is built in its own target folder.
    pub fn at(root: PathBuf) -> Workspace {
        let target = root.join(TARGET);
        Workspace { root, target }
    }

    /// The root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where builds go: `CARGO_TARGET_DIR`, else `target` in the root.
    pub fn target_folder(&self) -> PathBuf {
        self.target.clone()
    }

    /// A `cargo` command in the root folder, with the workspace's own toolchain.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .args(arguments);
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
