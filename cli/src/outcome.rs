//! How a command ends: exit statuses, and failures as a person sees them.
//!
//! Guarantees: every failure is printed once, on stderr, with its cause; stdout stays the result.
//! Facts: the table of statuses is in `--help` and in docs/cli.md.

use crate::output::streams::{MESSAGE_SCHEMA, MessageFormat, message_format, say_json, talk};
use eitri_launch::Problem;
use miette::Diagnostic;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Exit status of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All went well.
    Good,
    /// A check or a test said no.
    CheckFailed,
    /// The request can't be carried out: bad input, something unsupported, a shader that never ends.
    Refused,
    /// Something on this machine is missing: a tool, a target, a board.
    Missing,
    /// That of a program which was run in our place.
    OfGuest(u8),
}

impl Status {
    fn number(self) -> u8 {
        match self {
            Status::Good => 0,
            Status::CheckFailed => 1,
            Status::Refused => 2,
            Status::Missing => 3,
            Status::OfGuest(code) => code,
        }
    }

    fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }
}

/// Why a command did not do what was asked, and with which status it ends.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    report: Box<miette::Report>,
}

impl Failure {
    /// A check said no.
    pub(crate) fn check(cause: impl Diagnostic + Send + Sync + 'static) -> Failure {
        Failure::new(Status::CheckFailed, cause)
    }

    /// The request can't be carried out.
    pub(crate) fn refused(cause: impl Diagnostic + Send + Sync + 'static) -> Failure {
        Failure::new(Status::Refused, cause)
    }

    /// Something on this machine is missing.
    pub(crate) fn missing(cause: impl Diagnostic + Send + Sync + 'static) -> Failure {
        Failure::new(Status::Missing, cause)
    }

    /// A file that a person named can't be read.
    pub(crate) fn unreadable(path: impl AsRef<Path>, cause: std::io::Error) -> Failure {
        Failure::refused(FileError::at("read", path, cause))
    }

    /// A file of ours can't be written.
    pub(crate) fn unwritable(path: impl AsRef<Path>, cause: std::io::Error) -> Failure {
        Failure::missing(FileError::at("write", path, cause))
    }

    /// With which status the command ends.
    pub(crate) fn status(&self) -> Status {
        self.status
    }

    /// The failure as a person sees it.
    pub(crate) fn shown(&self) -> String {
        format!("{:?}", self.report)
    }

    /// The failure as an object.
    fn json(&self) -> Value {
        let report: &miette::Report = &self.report;
        let causes = report.chain().skip(1).map(ToString::to_string);
        json!({
            "schema": MESSAGE_SCHEMA,
            "level": "error",
            "status": self.status.number(),
            "message": report.to_string(),
            "causes": causes.collect::<Vec<_>>(),
            "help": report.help().map(|help| help.to_string()),
        })
    }

    fn new(status: Status, cause: impl Diagnostic + Send + Sync + 'static) -> Failure {
        let report = Box::new(miette::Report::new(cause));
        Failure { status, report }
    }
}

/// Something on the machine is missing, in the words of the crate that looked for it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Lacking(Problem);

impl Diagnostic for Lacking {
    fn help(&self) -> Option<Box<dyn std::fmt::Display + '_>> {
        Some(Box::new(self.0.help()?))
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure::missing(Lacking(problem))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.report.fmt(f)
    }
}

/// A file or stream that could not be read or written.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("can't {action} {path}")]
pub(crate) struct FileError {
    /// `read`, `write`…
    pub(crate) action: &'static str,
    /// As the user wrote it; `standard input` and the like for streams.
    pub(crate) path: String,
    /// What the system said.
    #[source]
    pub(crate) cause: std::io::Error,
}

impl FileError {
    /// With the path as it is shown.
    pub(crate) fn at(
        action: &'static str,
        path: impl AsRef<Path>,
        cause: std::io::Error,
    ) -> FileError {
        FileError {
            action,
            path: path.as_ref().display().to_string(),
            cause,
        }
    }
}

/// Prints a failure, and gives the status for the system.
pub(crate) fn report(outcome: Result<Status, Failure>) -> ExitCode {
    match outcome {
        Ok(status) => status.code(),
        Err(failure) => {
            match message_format() {
                MessageFormat::Human => talk!("{:?}", failure.report),
                MessageFormat::Json => say_json(&failure.json()),
            }
            failure.status.code()
        }
    }
}
