//! Standard output and standard error, as every command writes them.
//!
//! Guarantees: a reader that has gone away (`eitri explain … | head`) is no error and no panic: the rest is dropped, and
//! the status is what it would have been. A full disk is an error.

use crate::outcome::{Failure, FileError};
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints a line on standard output, like `println!`, but gives a `Result`.
macro_rules! outln {
    ($($text:tt)*) => { $crate::output::streams::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints a line on standard error, like `eprintln!`; where nobody can hear it, nothing is said.
macro_rules! talk {
    ($($text:tt)*) => { $crate::output::streams::say(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {outln, talk};

/// Whether standard output is a file that somebody asked for, so that lines go elsewhere.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Lines for people go to standard error from now on: a file of results is written to standard output.
pub(crate) fn take_stdout() {
    IS_TAKEN.store(true, Ordering::Relaxed);
}

/// Prints on standard output.
pub(crate) fn print(text: std::fmt::Arguments<'_>) -> Result<(), Failure> {
    if IS_TAKEN.load(Ordering::Relaxed) {
        say(text);
        return Ok(());
    }
    let mut stdout = std::io::stdout().lock();
    unless_reader_gone(stdout.write_fmt(text).and_then(|()| stdout.flush()))
}

/// Puts bytes on standard output.
pub(crate) fn put(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    unless_reader_gone(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Prints on standard error, beside the steps that are shown there; with `--message-format json` an object for each line.
pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    match message_format() {
        MessageFormat::Human => crate::progress::say(text),
        MessageFormat::Json => {
            for line in text.to_string().lines() {
                let value = json!({ "schema": MESSAGE_SCHEMA, "level": "note", "message": line });
                crate::progress::say(format_args!("{value}\n"));
            }
        }
    }
}

/// Prints an object on a line of standard error.
pub(crate) fn say_json(value: &Value) {
    crate::progress::say(format_args!("{value}\n"));
}

/// Version of the objects on standard error; a member that goes or changes its meaning makes a new one.
pub(crate) const MESSAGE_SCHEMA: u32 = 1;

/// How messages on standard error look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MessageFormat {
    /// Sentences for people.
    #[default]
    Human,
    /// An object a line.
    Json,
}

static MESSAGE_FORMAT: OnceLock<MessageFormat> = OnceLock::new();

/// How messages look from now on; what was said first stays.
pub(crate) fn set_message_format(format: MessageFormat) {
    // The command line is read once.
    let _ = MESSAGE_FORMAT.set(format);
}

pub(crate) fn message_format() -> MessageFormat {
    MESSAGE_FORMAT.get().copied().unwrap_or_default()
}

/// What became of a write to standard output, as a command's outcome.
pub(crate) fn unless_reader_gone(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Ok(()) => Ok(()),
        Err(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(cause) => Err(Failure::refused(FileError::at(
            "write",
            "standard output",
            cause,
        ))),
    }
}
