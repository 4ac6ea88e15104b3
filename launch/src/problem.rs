//! What can be wrong with the machine, as a person reads it.

use crate::tools::Tool;
use std::fmt;
use std::path::PathBuf;

/// Something on this machine is missing, or does not do what it should.
#[derive(Debug)]
pub enum Problem {
    /// The sources that this program was built from have moved.
    SourcesMissing {
        /// Where they were.
        path: PathBuf,
    },
    /// A child could not be started.
    Start {
        /// Its name.
        program: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A child could not be watched.
    Watch {
        /// Its name.
        program: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A log could not be written.
    Log {
        /// Its path.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Tools are missing that only a person can install.
    Tools {
        /// Which.
        missing: Vec<Tool>,
    },
    /// An installation failed.
    Install {
        /// The command.
        command: String,
        /// All that it printed.
        output: String,
    },
}

impl Problem {
    /// What a person can do about it.
    pub fn help(&self) -> Option<String> {
        match self {
            Problem::SourcesMissing { .. } => Some(
                "tests, and images that this command does not bring along, are built from them: run `cargo eitri` inside a checkout".into(),
            ),
            Problem::Tools { missing } => {
                let packages: Vec<&str> = missing.iter().filter_map(Tool::package).collect();
                let mut help = Vec::new();
                if !packages.is_empty() {
                    let packages = packages.join(" ");
                    help.push(format!("as root on Debian: `apt-get install {packages}`"));
                }
                if missing.iter().any(|tool| tool.target().is_some()) {
                    help.push(
                        "install rustup (https://rustup.rs), or the target with your own Rust"
                            .into(),
                    );
                }
                if missing.contains(&Tool::Qemu) {
                    help.push(
                        "`cargo eitri demo` and `run` do without QEMU with `--on host`".into(),
                    );
                }
                Some(help.join("; "))
            }
            Problem::Start { .. }
            | Problem::Watch { .. }
            | Problem::Log { .. }
            | Problem::Install { .. } => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::SourcesMissing { path } => {
                write!(
                    f,
                    "the sources of Eitri are no longer at {}",
                    path.display()
                )
            }
            Problem::Start { program, .. } => write!(f, "`{program}` could not be started"),
            Problem::Watch { program, .. } => write!(f, "`{program}` could not be watched"),
            Problem::Log { path, .. } => write!(f, "can't write {}", path.display()),
            Problem::Tools { missing } => {
                let names: Vec<String> = missing.iter().map(Tool::to_string).collect();
                let are = if names.len() == 1 { "is" } else { "are" };
                write!(f, "{} {are} not installed", names.join(", "))
            }
            Problem::Install { command, output } => write!(f, "`{command}` failed\n{output}"),
        }
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Problem::Start { cause, .. }
            | Problem::Watch { cause, .. }
            | Problem::Log { cause, .. } => Some(cause),
            Problem::SourcesMissing { .. } | Problem::Tools { .. } | Problem::Install { .. } => {
                None
            }
        }
    }
}
