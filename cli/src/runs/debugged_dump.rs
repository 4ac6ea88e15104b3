//! A compute job of a dump under the debugger: before the step that fails.

use crate::commands::dump;
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::runs::debugged::NotDebugged;
use crate::runs::listed_programs::decoded;
use crate::runs::replay::{self, Ended, Options, Stopped};
use eitri_debugger::machine::{Listed, MachineLevel};
use eitri_debugger::session::Session;
use eitri_dump::Dump;
use std::time::Duration;

/// Most bytes of a program that are listed.
const MOST_BYTES: u64 = 1 << 19;

/// What is debugged of a dump.
pub(crate) struct DumpJob {
    /// Of the file, in messages.
    pub(crate) path: String,
    pub(crate) file: Vec<u8>,
    /// Which of its compute jobs, from 1; else the one that fails.
    pub(crate) wanted: Option<usize>,
    /// Longest that it may take to find it.
    pub(crate) limit: Duration,
}

/// Does something with a session: before the step that fails, or before the first if none does.
pub(crate) fn with_dump<T>(
    job: &DumpJob,
    run: impl FnOnce(Session<MachineLevel>) -> T,
) -> Result<T, Failure> {
    let options = Options {
        only: None,
        from: None,
        timeout: job.limit,
    };
    let dump = dump::parse(&job.path, &job.file)?;
    let stopped = replay::stop(&dump, &options, job.wanted)?;
    let (number, ended) = (stopped.number, stopped.ended);
    talk!(
        "compute job {number} of the dump {}",
        match ended {
            Ended::Failed => "fails: the session begins before the step that does",
            Ended::Well => "ends well: the session begins at its start",
            Ended::Not => "does not end: the session begins at its start",
        }
    );
    let name = format!("compute job {number}");
    let listing = listing(&dump, &stopped);
    let level = MachineLevel::new(stopped.gpu, stopped.memory, &name, listing.into_iter());
    let (level, program) = level.ok_or_else(|| {
        let why = "its compute job is over before its first instruction".to_owned();
        Failure::refused(NotDebugged::of(&job.path, why))
    })?;
    let session = Session::new(level, program);
    Ok(run(match ended {
        Ended::Failed => session.at_failure(u64::MAX),
        Ended::Well | Ended::Not => session,
    }))
}

/// The program of the job, as far as a word of zeros or memory that is not there, with the lines that the dump has of it.
fn listing(dump: &Dump<'_>, stopped: &Stopped) -> Vec<Listed> {
    let Some(view) = stopped.gpu.dispatch() else {
        return Vec::new();
    };
    let mut reader = stopped.memory.reader();
    let bytes = stopped
        .gpu
        .peek(&mut reader, view.space, view.entry, MOST_BYTES);
    let words = bytes
        .as_chunks()
        .0
        .iter()
        .map(|word| u64::from_le_bytes(*word));
    let list = |word| decoded(word, stopped.arch);
    let listing: Vec<Listed> = words.take_while(|word| *word != 0).map(list).collect();
    let first = view.entry;
    let mut read = |address: u64| {
        let index = usize::try_from(address.checked_sub(first)? / 8).ok()?;
        listing.get(index).map(|listed| listed.word)
    };
    let known = dump
        .lines()
        .iter()
        .find(|code| code.is_at(first, &mut read));
    let mut lines = known.into_iter().flat_map(|code| code.lines());
    let mut listing = listing;
    for listed in &mut listing {
        let place = lines.next().flatten();
        listed.source = place.map(|(file, line)| (file.to_owned(), line));
    }
    listing
}
