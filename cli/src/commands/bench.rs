//! `eitri bench`: measurements; nothing here passes or fails.

use crate::outcome::{Failure, FileError, Status};
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is measured.
    #[arg(value_enum)]
    what: Subject,
    /// Only measurements whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Subject {
    /// Instructions decoded, encoded and printed, descriptors packed, against a copy of the same bytes.
    Tables,
    /// Lanes and instructions that the model executes.
    Model,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let benchmark: &[&str] = match args.what {
        Subject::Tables => &["bench", "-p", "eitri", "--bench", "tables"],
        Subject::Model => &["bench", "-p", "eitri-model", "--bench", "shader"],
    };
    let mut command = Workspace::find()?.cargo(benchmark);
    if let Some(filter) = &args.filter {
        command.args(["--", filter]);
    }
    // Built with optimisation, whatever this process was built with; the figures go to standard output as they come.
    match command.status() {
        Ok(status) if status.success() => Ok(Status::Good),
        Ok(_) => Ok(Status::CheckFailed),
        Err(cause) => Err(Failure::missing(FileError {
            action: "run",
            path: "cargo".to_owned(),
            cause,
        })),
    }
}
