//! Results: what a run leaves of all its scripts: a folder with tables that other runners' tools read and a log a script, and a page.
//!
//! Guarantees: a run that is told to end leaves what there is by then.

use super::status;
use super::workers::Outcome;
use crate::interrupt::{self, Registered};
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Outcomes by the number of their script.
type Numbered = Arc<Mutex<Vec<(usize, Outcome)>>>;

/// Where they are written to.
#[derive(Clone)]
struct Places {
    folder: Option<PathBuf>,
    page: Option<String>,
}

/// What a run leaves.
pub(crate) struct Left {
    outcomes: Numbered,
    places: Places,
    _registered: Option<Registered>,
}

impl Left {
    /// For a folder of results and a page, as far as they are wanted.
    pub(crate) fn new(folder: Option<PathBuf>, page: Option<String>) -> Left {
        let places = Places { folder, page };
        let outcomes = Numbered::default();
        let registered = places.any().then(|| {
            let (outcomes, places) = (Arc::clone(&outcomes), places.clone());
            interrupt::before_end(move || places.write(&outcomes))
        });
        Left {
            outcomes,
            places,
            _registered: registered,
        }
    }

    /// One more script is done.
    pub(crate) fn add(&self, number: usize, outcome: &Outcome) {
        if self.places.any() {
            let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            outcomes.push((number, outcome.clone()));
        }
    }

    /// All are done.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.places.write(&self.outcomes)
    }
}

impl Places {
    fn any(&self) -> bool {
        self.folder.is_some() || self.page.is_some()
    }

    fn write(&self, outcomes: &Numbered) -> Result<(), Failure> {
        let mut outcomes = outcomes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        // Scripts that ran side by side have ended in any order.
        outcomes.sort_by_key(|(number, _)| *number);
        let outcomes: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
        if let Some(path) = &self.page {
            whole_file::write(path, status::page(&outcomes).as_bytes())?;
        }
        match &self.folder {
            Some(folder) => write(folder, &outcomes),
            None => Ok(()),
        }
    }
}

/// Writes `results.csv`, `failures.csv` and `logs/NAME.log` below `folder`.
fn write(folder: &Path, outcomes: &[Outcome]) -> Result<(), Failure> {
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
