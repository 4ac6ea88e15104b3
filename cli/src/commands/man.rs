//! `eitri man`: manual pages of the command and of each subcommand.

use crate::help;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder that gets the pages: eitri.1, eitri-run.1, …
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut command = help::command().disable_help_subcommand(true);
    command.build();
    let written = write(&args.output, &command)?;
    outln!("{written} pages in {}", args.output.display())?;
    Ok(Status::Good)
}

/// Writes the page of a command and those of its subcommands; gives how many there are.
fn write(folder: &Path, command: &clap::Command) -> Result<usize, Failure> {
    let page = clap_mangen::Man::new(command.clone());
    let path = folder.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)
        .map_err(|cause| Failure::unwritable(&path, cause))?;
    whole_file::put(&path, &text)?;
    let mut written = 1;
    for sub in command.get_subcommands() {
        written += write(folder, sub)?;
    }
    Ok(written)
}
