//! Prebuilt images: what a command does that has no sources, with images as a package brings them along.

use super::Case;
use super::boot::wrong;
use super::own_command::this_command;
use crate::images::prebuilt;
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::process;
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_boards::qemu_virt::BOARD;
use std::process::Command;
use std::time::Duration;

/// Longest that one command may take.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// A script that adds one.
const SCRIPT: &str = "#!amber
SHADER compute add GLSL
#version 450
layout(set = 0, binding = 0) buffer B { uint n; };
void main() { n += 1; }
END
BUFFER b DATA_TYPE uint32 DATA 41 END
PIPELINE compute p
  ATTACH add
  BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN p 1 1 1
EXPECT b IDX 0 EQ 42
";

/// A command, and what it must print.
struct Row {
    what: &'static str,
    arguments: &'static [&'static str],
    wanted: &'static str,
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { what: "a job",        arguments: &["run", "cli/demo/reduce.wgsl", "--on", "qemu", "--buffer", "0=zero:1024", "--buffer", "1=zero:12", "--groups", "2", "--print", "1"], wanted: "0:1 u32[0..3]: 0 0 2" },
    Row { what: "scripts",      arguments: &["amber", "add.amber", "--on", "qemu"],                    wanted: "1 passed, 0 failed, 0 skipped" },
    Row { what: "a drawing",    arguments: &["draw", "cli/demo/box.gltf", "--on", "qemu", "-o", "box.png"], wanted: "1 passed, 0 failed, 0 skipped" },
    Row { what: "the suite",    arguments: &["validate", "--on", "qemu", "--only", "interrupts."],     wanted: " 0 failed, 0 skipped" },
    Row { what: "all demos",    arguments: &["demo"],                                                  wanted: "pixels as on a CPU" },
];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/prebuilt");
    let images = folder.join("images");
    prebuilt::put_board(&images, Target::Board(&BOARD))?;
    whole_file::put(&folder.join("add.amber"), SCRIPT.as_bytes())?;
    let eitri = this_command()?;
    let mut cases = Vec::new();
    for row in ROWS {
        let mut command = Command::new(&eitri);
        command.current_dir(&folder).env(prebuilt::FOLDER, &images);
        for argument in row.arguments {
            match argument.starts_with("cli/") {
                true => command.arg(workspace.root().join(argument)),
                false => command.arg(argument),
            };
        }
        let log = folder.join(format!("{}.log", row.what.replace(' ', "-")));
        let finished = process::run_logged(&mut command, &log, LIMIT)?;
        cases.push(Case::ran(row.what, wrong(&finished, 0, row.wanted)));
    }
    Ok(cases)
}
