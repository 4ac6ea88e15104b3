//! Checkers beside a job: they run in a thread of their own while the model runs the job, and what they found is told behind it.

use crate::input::check_arguments::{CheckArguments, Wanted};
use crate::outcome::{Failure, Status};
use crate::output::findings::{self, Sources};
use crate::output::streams::talk;
use crate::runs::checked::{self, Subject};
use eitri_checks::{Checked, Finding, Level};
use eitri_shaderc::interp::Trap;

/// Does `job` and checks the dispatch at the same time; what was found, as far as it is wanted, goes to standard error and is given back.
pub(crate) fn beside<T>(
    path: &str,
    wanted: &Wanted,
    subject: &Subject<'_>,
    job: impl FnOnce() -> T,
) -> (T, Vec<Finding>) {
    if *wanted == Wanted::Nothing {
        return (job(), Vec::new());
    }
    let (done, checked) = at_once(subject, job);
    (done, show(path, wanted, checked))
}

/// Writes what was found into the files that are asked for; whether there are errors, which make a good end of the job a failed check.
pub(crate) fn settle(
    path: &str,
    arguments: &CheckArguments,
    found: &[Finding],
) -> Result<Status, Failure> {
    findings::write_files(arguments, path, found)?;
    Ok(match first_error(found) {
        Some(_) => Status::CheckFailed,
        None => Status::Good,
    })
}

/// What checkers have to say of a dispatch, in lines.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The warnings and errors that are wanted.
    pub(crate) loud: Vec<String>,
    /// What was not checked, and why. That is no failure of what was checked.
    pub(crate) left_out: Vec<String>,
}

impl Told {
    /// The first warning or error, and how many there are besides.
    pub(crate) fn first(&self) -> Option<String> {
        match self.loud.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            [first, more @ ..] => Some(format!("{first} (and {} more)", more.len())),
        }
    }
}

/// Does `job` and checks the dispatch at the same time.
pub(crate) fn collect<T>(
    wanted: &Wanted,
    subject: &Subject<'_>,
    job: impl FnOnce() -> T,
) -> (T, Told) {
    if *wanted == Wanted::Nothing {
        return (job(), Told::default());
    }
    let (done, checked) = at_once(subject, job);
    let told = match checked {
        Ok(checked) => Told {
            loud: loud_lines(&checked.findings, wanted),
            left_out: checked.stopped.iter().filter_map(the_rest).collect(),
        },
        Err(why) => Told {
            left_out: vec![why],
            ..Told::default()
        },
    };
    (done, told)
}

/// What was not checked of a dispatch at whose trap the checkers ended; none if that is a finding of theirs.
fn the_rest(trap: &Trap) -> Option<String> {
    match trap {
        Trap::Barrier { .. } => None,
        Trap::StepLimit(limit) => Some(format!("what comes behind {limit} instructions")),
        other => Some(format!("what comes behind: {other}")),
    }
}

/// A line for each warning and error that is wanted.
pub(crate) fn loud_lines(findings: &[Finding], wanted: &Wanted) -> Vec<String> {
    let loud = findings
        .iter()
        .filter(|finding| finding.level > Level::Note && wanted.has(finding.rule, finding.level));
    loud.map(line_of).collect()
}

/// A finding in a line.
pub(crate) fn line_of(finding: &Finding) -> String {
    let first = finding.places.first();
    let place = first.and_then(|related| related.place.as_ref());
    let place = place.map_or(String::new(), |place| format!("{place}: "));
    format!("{place}{}: {}", finding.rule.name(), finding.message)
}

/// Does a job while a thread of its own checks the dispatch.
fn at_once<T>(subject: &Subject<'_>, job: impl FnOnce() -> T) -> (T, Result<Checked, String>) {
    std::thread::scope(|scope| {
        let checker = scope.spawn(|| checked::run(subject));
        let done = job();
        // A panic of the checkers is a defect of ours, as one of the job would be.
        let checked = checker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (done, checked)
    })
}

/// Shows what was found, as far as it is wanted, and gives it back.
fn show(path: &str, wanted: &Wanted, checked: Result<Checked, String>) -> Vec<Finding> {
    let checked = match checked {
        Ok(checked) => checked,
        Err(why) => {
            talk!("{path}: not checked: {why}");
            return Vec::new();
        }
    };
    let found = wanted_of(checked.findings, wanted);
    findings::show(&found, &mut Sources::beside(path));
    if let Some(trap) = checked.stopped {
        talk!("{path}: the checkers stopped before the end of the dispatch: {trap}");
    }
    found
}

/// The findings that are reported.
pub(crate) fn wanted_of(found: Vec<Finding>, wanted: &Wanted) -> Vec<Finding> {
    let found = found.into_iter();
    found
        .filter(|finding| wanted.has(finding.rule, finding.level))
        .collect()
}

/// The first error among findings.
pub(crate) fn first_error(found: &[Finding]) -> Option<&Finding> {
    found.iter().find(|finding| finding.level == Level::Error)
}
