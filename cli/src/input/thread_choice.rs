//! On how many threads a model executes shader cores: `--threads`, and `EITRI_THREADS` where no option says it.

use crate::outcome::Failure;
use eitri_model::Workers;
use eitri_on_model::Threads;
use miette::Diagnostic;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// The variable that says how many.
const VARIABLE: &str = "EITRI_THREADS";

/// Threads if nothing is said: more make small jobs slower (docs/performance.md).
const USUAL: usize = 1;

/// Threads of each model of the process.
static CHOSEN: OnceLock<usize> = OnceLock::new();

/// `--threads`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ThreadsArgument {
    /// Threads on which a model executes its shader cores; results, counters and reports are the same. It pays where a job takes a second.
    /// Without it EITRI_THREADS says how many, and else it is one.
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
}

impl ThreadsArgument {
    /// Makes it the number of threads of each model of the process.
    pub(crate) fn choose(self) {
        let count = self.threads.map(NonZero::get).or_else(of_variable);
        // Nothing has asked before the command begins; if something had, its answer would stand.
        let _ = CHOSEN.set(count.unwrap_or(USUAL));
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("{VARIABLE} is no number of threads: `{value}`")]
#[diagnostic(help("write a number of 1 or more"))]
struct NoNumber {
    value: String,
}

/// Refuses a variable that is no number of threads.
///
/// # Errors
/// If it is none.
pub(crate) fn check_variable() -> Result<(), Failure> {
    match std::env::var(VARIABLE) {
        Ok(value) if value.parse::<NonZero<usize>>().is_err() => {
            Err(Failure::refused(NoNumber { value }))
        }
        _ => Ok(()),
    }
}

fn of_variable() -> Option<usize> {
    let value = std::env::var(VARIABLE).ok()?;
    value.parse::<NonZero<usize>>().ok().map(NonZero::get)
}

/// How many threads each model of this process has.
pub(crate) fn chosen() -> usize {
    *CHOSEN.get_or_init(|| of_variable().unwrap_or(USUAL))
}

/// The variable and its value for a process that runs a model for this one.
pub(crate) fn for_child() -> (&'static str, String) {
    (VARIABLE, chosen().to_string())
}

#[cfg(test)]
thread_local! {
    static FOR_TEST: std::cell::RefCell<Option<Arc<dyn Workers>>> = const { std::cell::RefCell::new(None) };
}

/// In tests: the threads of the models that the calling thread makes.
#[cfg(test)]
pub(crate) fn set_for_test(workers: Option<Arc<dyn Workers>>) {
    FOR_TEST.with(|place| *place.borrow_mut() = workers);
}

/// The threads of each model of this process, if it has more than its own.
pub(crate) fn workers() -> Option<Arc<dyn Workers>> {
    #[cfg(test)]
    if let Some(workers) = FOR_TEST.with(|place| place.borrow().clone()) {
        return Some(workers);
    }
    match chosen() {
        0 | 1 => None,
        count => Some(Arc::new(Threads::new(count))),
    }
}
