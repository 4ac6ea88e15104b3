//! `eitri completions`: what a shell completes when somebody types `eitri`.

use crate::help;
use crate::outcome::{Failure, Status};
use crate::output::streams;
use clap_complete::Shell;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "eitri", &mut script);
    streams::put(&script)?;
    Ok(Status::Good)
}
