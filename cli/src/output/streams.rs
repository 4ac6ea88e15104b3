//! Standard output and standard error, as every command writes them.
//!
//! Guarantees: a reader that has gone away (`eitri explain … | head`) is no error and no panic: the rest is dropped, and
//! the status is what it would have been. A full disk is an error.

use crate::outcome::{Failure, FileError};
use std::io::{ErrorKind, Write};

/// Prints a line on standard output, like `println!`, but gives a `Result`.
macro_rules! outln {
    ($($text:tt)*) => { $crate::output::streams::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints a line on standard error, like `eprintln!`; where nobody can hear it, nothing is said.
macro_rules! talk {
    ($($text:tt)*) => { $crate::output::streams::say(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {outln, talk};

/// Prints on standard output.
pub(crate) fn print(text: std::fmt::Arguments<'_>) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    unless_reader_gone(stdout.write_fmt(text).and_then(|()| stdout.flush()))
}

/// Puts bytes on standard output.
pub(crate) fn put(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    unless_reader_gone(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Prints on standard error, beside the steps that are shown there.
pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    crate::progress::say(text);
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
