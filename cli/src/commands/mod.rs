//! The subcommands: one file each.

mod run;
mod test;

use crate::outcome::{Failure, Status};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Compile a shader, run it on a bare-metal image or on the model, and save what it wrote.
    Run(run::Args),
    /// Run every check of the repository, and print a summary.
    Test(test::Args),
}

pub(crate) fn run(command: Command) -> Result<Status, Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Test(args) => test::run(&args),
    }
}
