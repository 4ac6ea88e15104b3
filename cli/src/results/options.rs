//! `--results`, `--junit` and `--shard`: the same for every command that runs a list.

use super::{Case, Results, Shard, rfc3339};
use crate::interrupt::{self, Registered};
use crate::outcome::Failure;
use crate::output::{streams, whole_file};
use crate::pages;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Options of commands that run a list.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ResultOptions {
    /// Every N-th only, from the K-th on: for N machines, whose results `eitri merge` makes one.
    #[arg(long, value_name = "K/N", help_heading = "Results")]
    shard: Option<Shard>,
    #[command(flatten)]
    files: Files,
}

impl ResultOptions {
    pub(crate) fn new(shard: Option<Shard>, files: Files) -> ResultOptions {
        ResultOptions { shard, files }
    }

    /// Whether pictures have a place to go to.
    pub(crate) fn shows_pictures(&self) -> bool {
        self.files.html.is_some()
    }

    pub(crate) fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// The part of a list that is run.
    pub(crate) fn part<T>(&self, all: Vec<T>) -> Vec<T> {
        Shard::part(self.shard, all)
    }

    /// Begins to record the results of a list.
    pub(crate) fn record(&self, suite: &str, properties: &[(&str, &str)]) -> Recorder {
        let files = self.files.clone();
        if files.on_stdout() {
            streams::take_stdout();
        }
        let mut results = Results::new(suite);
        results.shard = self.shard;
        results.start = Some(rfc3339(SystemTime::now()));
        let properties = properties.iter();
        results.properties = properties
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let shared = Arc::new(Mutex::new(results));
        let (of_interrupt, into) = (Arc::clone(&shared), files.clone());
        let registered = files.any().then(|| {
            interrupt::before_end(move || {
                let mut results = locked(&of_interrupt);
                results.interrupted = true;
                into.write(&results)
            })
        });
        Recorder {
            shared,
            files,
            _registered: registered,
        }
    }
}

/// Where results go, by form; written too when the run is interrupted.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Files {
    /// Write the results as JSON (`eitri schema results`).
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) results: Option<String>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) junit: Option<String>,
    /// Write the results as an HTML page, with pictures where there are some.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) html: Option<String>,
}

impl Files {
    fn any(&self) -> bool {
        [&self.results, &self.junit, &self.html]
            .into_iter()
            .any(Option::is_some)
    }

    pub(crate) fn on_stdout(&self) -> bool {
        let files = [&self.results, &self.junit, &self.html];
        files.map(Option::as_deref).contains(&Some("-"))
    }

    pub(crate) fn write(&self, results: &Results) -> Result<(), Failure> {
        if let Some(path) = &self.results {
            whole_file::write(path, format!("{:#}\n", results.to_json()).as_bytes())?;
        }
        if let Some(path) = &self.junit {
            whole_file::write(path, results.junit().as_bytes())?;
        }
        if let Some(path) = &self.html {
            whole_file::write(path, pages::results(results, None)?.as_bytes())?;
        }
        Ok(())
    }
}

fn locked(shared: &Mutex<Results>) -> MutexGuard<'_, Results> {
    // A case is pushed or not: nothing is half done.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The results of a list that is being run.
pub(crate) struct Recorder {
    shared: Arc<Mutex<Results>>,
    files: Files,
    _registered: Option<Registered>,
}

impl Recorder {
    /// One more is done.
    pub(crate) fn add(&self, case: Case) {
        locked(&self.shared).cases.push(case);
    }

    /// All is done: writes the files.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let results = locked(&self.shared).clone();
        self.files.write(&results)
    }
}
