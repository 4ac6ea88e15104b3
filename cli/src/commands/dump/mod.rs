//! `eitri dump`: core dumps of the GPU, shown and run again.

mod replay;
mod show;

use crate::outcome::{Failure, Status};
use eitri_dump::{Dump, ReadError};
use miette::Diagnostic;
use std::io::Read;
use thiserror::Error;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Decode a dump, from the fault down to instructions and descriptors.
    Show(show::Args),
    /// Run the work of a dump again, on the model.
    Replay(replay::Args),
}

pub(crate) fn run(command: &Command) -> Result<Status, Failure> {
    match command {
        Command::Show(args) => show::run(args),
        Command::Replay(args) => replay::run(args),
    }
}

/// A file that is no dump.
#[derive(Debug, Error, Diagnostic)]
#[error("{name} is no core dump of a GPU: {cause}")]
struct NoDump {
    name: String,
    cause: ReadError,
    #[help]
    help: &'static str,
}

/// What to do with a file that is none: the first bytes often tell what it is instead.
fn help(file: &[u8], cause: ReadError) -> &'static str {
    match cause {
        // FACT: the layout of Linux's devcoredump of Mali CSF GPUs is in no fact file (ecosystem.md only names it), nor how one
        // is told from other files: it is refused as whatever is no ELF file. Settled by a description of that format.
        ReadError::NotElf if file.is_empty() => "the file is empty",
        ReadError::NotElf => {
            "dumps are ELF core files, as docs/core-dumps.md describes; a devcoredump of the Linux kernel, whose layout \
             is not known here, can't be read"
        }
        ReadError::Truncated { .. } => "was the dump copied whole?",
        _ => "docs/core-dumps.md describes the format",
    }
}

/// The bytes of a file; `-` is standard input.
pub(crate) fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let (name, result) = match path {
        "-" => (
            "standard input",
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        ),
        path => (path, std::fs::read(path).map(|read| bytes = read)),
    };
    result.map_err(|cause| Failure::unreadable(name, cause))?;
    Ok(bytes)
}

/// The dump that a file holds.
pub(crate) fn parse<'a>(path: &str, file: &'a [u8]) -> Result<Dump<'a>, Failure> {
    Dump::parse(file).map_err(|cause| {
        Failure::refused(NoDump {
            name: path.to_owned(),
            cause,
            help: help(file, cause),
        })
    })
}
