//! A folder of results: tables that other runners' tools read, and a log a script.

use super::workers::Outcome;
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use std::path::Path;

/// Writes `results.csv`, `failures.csv` and `logs/NAME.log` below `folder`.
pub(crate) fn write(folder: &Path, outcomes: &[Outcome]) -> Result<(), Failure> {
    let mut results = String::new();
    let mut failures = String::new();
    for outcome in outcomes {
        let (name, word) = (&outcome.script.name, outcome.verdict.word());
        let seconds = outcome.took.as_secs_f64();
        results.push_str(&format!("{name},{word},{seconds:.3}\n"));
        // What can be taken for a baseline as it is.
        if outcome.verdict.failed() {
            failures.push_str(&format!("{name},{word}\n"));
        }
        log(folder, outcome)?;
    }
    put(&folder.join("results.csv"), &results)?;
    put(&folder.join("failures.csv"), &failures)
}

/// What a script printed, if there is anything to tell.
fn log(folder: &Path, outcome: &Outcome) -> Result<(), Failure> {
    let (message, output) = (outcome.verdict.message(), &outcome.output);
    if message.is_empty() && output.is_empty() {
        return Ok(());
    }
    let mut name = outcome.script.place().into_os_string();
    name.push(".log");
    let path = folder.join("logs").join(name);
    put(
        &path,
        &format!("{}\n{message}\n{output}", outcome.verdict.word()),
    )
}

fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent)
        .map_err(|cause| Failure::refused(FileError::at("make", parent, cause)))?;
    whole_file::write(&path.to_string_lossy(), text.as_bytes())
}
