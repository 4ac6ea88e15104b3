//! `eitri bench faults`: every fault of the model at every moment of the driver's life, and what became of it.
//!
//! The runs are those of the test `injections` of gpu/driver/runtime, which writes the table.

use crate::outcome::{Failure, FileError, Status};
use crate::output::streams;
use crate::workspace::Workspace;

/// The variable that names the file with the table.
const TABLE: &str = "EITRI_FAULT_TABLE";
const TEST: &str = "injections::every_injection_at_every_moment";

pub(crate) fn run() -> Result<Status, Failure> {
    let workspace = Workspace::find()?;
    let path = workspace.target_folder().join("eitri/faults.txt");
    // Absent is as good as old.
    let _ = std::fs::remove_file(&path);
    let missing = |action, path: String| {
        move |cause| {
            Failure::missing(FileError {
                action,
                path,
                cause,
            })
        }
    };
    let folder = path.parent().unwrap_or(&path);
    std::fs::create_dir_all(folder)
        .map_err(missing("make the folder", folder.display().to_string()))?;
    let mut command = workspace.cargo(&[
        "test",
        "-q",
        "-p",
        "eitri-runtime",
        "--test",
        "on_model",
        TEST,
    ]);
    command.env(TABLE, &path);
    // What the test prints is talk; the table is the result.
    let output = command
        .output()
        .map_err(missing("run", "cargo".to_owned()))?;
    if !output.status.success() {
        streams::say(format_args!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ));
        return Ok(Status::CheckFailed);
    }
    let table = std::fs::read(&path).map_err(missing("read", path.display().to_string()))?;
    streams::put(&table)?;
    Ok(Status::Good)
}
