//! Boards that files describe, tried by the commands that their users give: `examples/boards`.

use super::Case;
use super::own_command::this_command;
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::workspace::Workspace;
use eitri_launch::process;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Longest that a command may take: it builds images.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// A command.
struct Tried {
    what: &'static str,
    arguments: &'static [&'static str],
    /// The file, with something else in it: what stands there, and what stands there instead.
    changed: Option<(&'static str, &'static str)>,
    /// What must be printed.
    wanted: &'static [&'static str],
}

const IMAGE: Tried = Tried {
    what: "an image for the board of a file",
    #[rustfmt::skip]
    arguments: &[
        "image", "examples/embed/double.wgsl", "--buffer", "0=zero:4096", "--board", "examples/boards/acme-x1.toml", "--firmware", "stub",
        "-o", "acme-x1.img",
    ],
    changed: None,
    wanted: &["pci enum", "booti"],
};

/// The suite on each example; what of its power sequence must be seen.
#[rustfmt::skip]
const IN_QEMU: &[Tried] = &[
    Tried {
        what: "the board of a file in QEMU",
        arguments: &["validate", "--on", "qemu", "--board", "examples/boards/acme-x1.toml", "--only", "power."],
        changed: None,
        wanted: &["power: GPU domain is on", "power: GPU_ID: 0xa8670005", "EITRI-START 0.1.0 acme-x1", " 0 failed, 0 skipped"],
    },
    Tried {
        what: "the board of a file with a GIC of version 2 in QEMU",
        arguments: &["validate", "--on", "qemu", "--board", "examples/boards/acme-x1.toml", "--only", "interrupts."],
        changed: Some(("redistributors = 0x1110_0000\ncpus = 4", "cpu_interface = 0x1110_0000")),
        wanted: &["power: GPU domain is on", " 0 failed, 0 skipped"],
    },
    Tried {
        what: "the outline of a file in QEMU",
        arguments: &["validate", "--on", "qemu", "--board", "examples/boards/acme-x2.toml", "--only", "power."],
        changed: None,
        wanted: &["power: power is stable: after 1 polls", "EITRI-START 0.1.0 acme-x2", " 0 failed, 0 skipped"],
    },
];

/// An image is built.
pub(super) fn image(workspace: &Workspace) -> Result<Case, Failure> {
    IMAGE.case(workspace)
}

/// Images run.
pub(super) fn in_qemu(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    IN_QEMU.iter().map(|tried| tried.case(workspace)).collect()
}

impl Tried {
    fn case(&self, workspace: &Workspace) -> Result<Case, Failure> {
        let folder = workspace.target_folder().join("eitri/board-files");
        std::fs::create_dir_all(&folder).map_err(|cause| Failure::unwritable(&folder, cause))?;
        let mut arguments: Vec<PathBuf> = Vec::new();
        for argument in self.arguments {
            let path = workspace.root().join(argument);
            arguments.push(match (argument.starts_with("examples/"), self.changed) {
                (false, _) => argument.into(),
                (true, Some((from, to))) if argument.ends_with(".toml") => {
                    let text = std::fs::read_to_string(&path);
                    let text = text.map_err(|cause| Failure::unreadable(&path, cause))?;
                    assert!(text.contains(from), "{argument} has another {from}");
                    let copy = folder.join("changed.toml");
                    whole_file::put(&copy, text.replacen(from, to, 1).as_bytes())?;
                    copy
                }
                (true, _) => path,
            });
        }
        let log: PathBuf = folder.join(format!("{}.log", self.arguments[0]));
        let mut command = Command::new(this_command()?);
        command.current_dir(&folder);
        command.args(arguments);
        let finished = process::run_logged(&mut command, &log, LIMIT)?;
        let output = finished.output();
        let missing = self.wanted.iter().find(|part| !output.contains(*part));
        // A stand-in says so of an access that no step has.
        let problem = match missing {
            _ if !finished.end.good() => Some(output),
            Some(part) => Some(format!("no `{part}`\n{output}")),
            None => output.contains("diagnosis").then_some(output),
        };
        Ok(Case::ran(self.what, problem))
    }
}
