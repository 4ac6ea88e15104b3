//! Scripts in one image: in QEMU they must have the verdicts that they have on the host, in the same words.

use super::Case;
use super::own_command::this_command;
use crate::outcome::{Failure, FileError};
use crate::workspace::Workspace;
use std::path::PathBuf;
use std::process::Command;

/// Our own scripts.
const OURS: &str = "cli/tests/amber";
/// Some of a large collection that does not lie in a clone.
const CORPUS: &str = "../shared/corpus/amber";
/// Of these at least [`LEAST`] are for compute shaders, and all are short: one of `cts/spirv_assembly/instruction/graphics` takes a
/// minute of the emulated CPU. The check `draw` has pictures in QEMU.
#[rustfmt::skip]
const CHOSEN: &[&str] = &[
    "cts/spirv_assembly/instruction/compute",
    "cts/spirv_assembly/instruction/float32",
    "cts/spirv_assembly/instruction/spirv1p4",
    "cts/spirv_assembly/instruction/terminate_invocation",
    "amber/compute_descriptor_array_ssbo.amber",
    "amber/compute_dynamic_buffers_descriptor_array.amber",
    "amber/compute_mat2x2.amber",
    "amber/draw_storagetexelbuffer.amber",
    "amber/image_data.amber",
];
/// Scripts of the collection that have to pass.
const LEAST: usize = 50;

/// Runs the scripts in both places.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let root = workspace.root();
    let corpus = root.join(CORPUS);
    let mut paths = vec![root.join(OURS)];
    let whole = corpus.is_dir();
    if whole {
        paths.extend(CHOSEN.iter().map(|path| corpus.join(path)));
    }
    let (host, qemu) = (amber(&paths, "host")?, amber(&paths, "qemu")?);
    let passed = host.lines().filter(|line| line.starts_with("pass "));
    let passed = passed.count();
    let differ = host.lines().zip(qemu.lines()).find(|(a, b)| a != b);
    let failure = match differ {
        Some((host, qemu)) => Some(format!("on the host `{host}`, in QEMU `{qemu}`")),
        None => (host.lines().count() != qemu.lines().count())
            .then(|| "not all scripts have a verdict in both places".to_owned()),
    };
    let wanted = if whole { LEAST } else { 1 };
    Ok(vec![
        Case::ran(
            format!("{passed} scripts pass in QEMU as on the host"),
            failure,
        ),
        Case::ran(
            format!("at least {wanted} scripts pass"),
            (passed < wanted).then(|| format!("{passed} pass:\n{host}")),
        ),
    ])
}

/// The verdicts of this very command.
fn amber(paths: &[PathBuf], place: &str) -> Result<String, Failure> {
    let failed = |cause| Failure::missing(FileError::at("start", "eitri amber", cause));
    let mut command = Command::new(this_command()?);
    // Checkers run on the host alone, and it is the GPU's verdicts that are compared.
    let fixed = ["amber", "--check", "none", "--on", place];
    command.args(fixed).args(paths);
    let output = command.output().map_err(failed)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
