//! `eitri console`: what a board prints on its console, read, judged, and written in the forms that labs collect.
//!
//! Guarantees: memory is bounded, whatever comes.

use crate::images::console;
use crate::images::lab_log::{self, Judgement, LabOutputs, Origin, Written, known};
use crate::interrupt;
use crate::outcome::{Failure, Status};
use crate::output::streams::{print, talk};
use miette::Diagnostic;
use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, SystemTime};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A log, or what the board's console comes from: a terminal, a pipe, or `-` for standard input. All but a file is listened to, and
    /// shown, until the suite is done.
    #[arg(value_name = "FILE|TTY|-")]
    source: String,
    /// The image's ELF file, which decodes the binary parts of its log.
    #[arg(long, value_name = "FILE")]
    elf: Option<String>,
    /// The speed of the terminal; if it is not given it stays as it is.
    #[arg(long, value_name = "BAUD")]
    baud: Option<u32>,
    /// Longest silence of what is listened to, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=36_000))]
    silence: u32,
    #[command(flatten)]
    outputs: LabOutputs,
}

/// Most bytes of a log: what has more is no console.
const MOST_BYTES: usize = 256 << 20;
/// Most bytes of a line: what has more is not text.
const MOST_OF_A_LINE: usize = 64 << 10;

/// What is wrong with the request.
#[derive(Debug, Error, Diagnostic)]
enum ConsoleError {
    #[error("{path} holds nothing of Eitri's: no result, no plan, no crash")]
    #[diagnostic(help("a log begins with `eitri VERSION on BOARD, build ID`"))]
    Nothing { path: String },
    #[error(
        "{path} goes on for more than {MOST_BYTES} bytes, or has a line of more than {MOST_OF_A_LINE}"
    )]
    #[diagnostic(help("the console of a board is wanted, or a log of one"))]
    Endless { path: String },
    #[error("{path} can't be set to {baud} baud: {why}")]
    Baud {
        path: String,
        baud: u32,
        why: String,
    },
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let unreadable = |path: &str, cause| Failure::unreadable(path, cause);
    let elf = match &args.elf {
        Some(path) => std::fs::read(path).map_err(|cause| unreadable(path, cause))?,
        None => Vec::new(),
    };
    let path = args.source.as_str();
    let started = SystemTime::now();
    let is_file = path != "-" && std::fs::metadata(path).is_ok_and(|it| it.is_file());
    let time = match is_file {
        true => std::fs::metadata(path)
            .and_then(|it| it.modified())
            .unwrap_or(started),
        false => started,
    };
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let known = known();
    let metrics = args.outputs.metrics(&known)?;
    let origin = Origin {
        time,
        known,
        metrics,
        interrupted: false,
    };
    let registered = {
        let (bytes, elf, outputs) = (Arc::clone(&bytes), elf.clone(), args.outputs.clone());
        let origin = Origin {
            interrupted: true,
            ..origin.clone()
        };
        interrupt::before_end(move || {
            let text = console::decode(&locked(&bytes), &elf);
            outputs
                .write(&text, &lab_log::read(&text), &origin)
                .map(drop)
        })
    };
    match is_file {
        true => read_file(path, &bytes)?,
        false => listen(args, &bytes)?,
    }
    let text = console::decode(&locked(&bytes), &elf);
    let log = lab_log::read(&text);
    let judgement = log.judge();
    if judgement == Judgement::Nothing {
        let path = args.source.clone();
        return Err(Failure::refused(ConsoleError::Nothing { path }));
    }
    let Written { to_stdout, beyond } = args.outputs.write(&text, &log, &origin)?;
    drop(registered);
    // What goes to standard output is one of the files, or the verdict.
    if !to_stdout {
        print(format_args!("{}", lab_log::plain(&log)))?;
        for line in &beyond {
            print(format_args!("bad: {line}\n"))?;
        }
    }
    Ok(match judgement {
        Judgement::Good if beyond.is_empty() => Status::Good,
        _ => Status::CheckFailed,
    })
}

fn locked(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    // Bytes are there or not: nothing is half done.
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn endless(path: &str) -> Failure {
    let path = path.to_owned();
    Failure::refused(ConsoleError::Endless { path })
}

fn read_file(path: &str, bytes: &Mutex<Vec<u8>>) -> Result<(), Failure> {
    let file = File::open(path).map_err(|cause| Failure::unreadable(path, cause))?;
    let mut read = Vec::new();
    let limit = MOST_BYTES as u64 + 1;
    file.take(limit)
        .read_to_end(&mut read)
        .map_err(|cause| Failure::unreadable(path, cause))?;
    if read.len() > MOST_BYTES {
        return Err(endless(path));
    }
    *locked(bytes) = read;
    Ok(())
}

fn is_terminal(path: &str) -> bool {
    use std::io::IsTerminal;
    path != "-" && File::open(path).is_ok_and(|file| file.is_terminal())
}

/// What the console comes from; a terminal is set to its speed.
fn source(args: &Args) -> Result<Box<dyn Read + Send>, Failure> {
    let path = args.source.as_str();
    if path == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    if is_terminal(path) {
        set_speed(path, args.baud)?;
    }
    let file = File::open(path).map_err(|cause| Failure::unreadable(path, cause))?;
    Ok(Box::new(file))
}

fn set_speed(path: &str, baud: Option<u32>) -> Result<(), Failure> {
    let mut settings = vec!["raw".to_owned(), "-echo".to_owned()];
    settings.extend(baud.map(|baud| baud.to_string()));
    let set = Command::new("stty")
        .args(["-F", path])
        .args(&settings)
        .output();
    match (set, baud) {
        (Ok(output), Some(baud)) if !output.status.success() => {
            Err(Failure::refused(ConsoleError::Baud {
                path: path.to_owned(),
                baud,
                why: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            }))
        }
        (Err(cause), Some(baud)) => Err(Failure::missing(ConsoleError::Baud {
            path: path.to_owned(),
            baud,
            why: cause.to_string(),
        })),
        _ => Ok(()),
    }
}

/// What comes, until the suite is done or nothing comes any more. It is shown while it comes.
fn listen(args: &Args, all: &Mutex<Vec<u8>>) -> Result<(), Failure> {
    let mut source = source(args)?;
    // A reader that is faster than this process must wait.
    let (sender, receiver) = mpsc::sync_channel(64);
    // It ends with the process: nobody can be told to stop a read.
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = source.read(&mut bytes) {
            let part = bytes.get(..count).unwrap_or(&[]).to_vec();
            if sender.send(part).is_err() {
                return;
            }
        }
    });
    let silence = Duration::from_secs(args.silence.into());
    let mut shown = 0;
    while let Ok(part) = receiver.recv_timeout(silence) {
        let part: Vec<u8> = part;
        let mut all = locked(all);
        all.extend(part);
        let end = all
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let unfinished = all.len() - end.max(shown);
        if all.len() > MOST_BYTES || unfinished > MOST_OF_A_LINE {
            return Err(endless(&args.source));
        }
        if end <= shown {
            continue;
        }
        let lines = String::from_utf8_lossy(&all[shown..end]).into_owned();
        shown = end;
        drop(all);
        lines.lines().for_each(|line| talk!("{}", printable(line)));
        if lines.lines().any(lab_log::said_end) {
            break;
        }
    }
    Ok(())
}

/// A line that a terminal can be shown: a board must not move its cursor or ring its bell.
fn printable(line: &str) -> String {
    let is_shown = |c: &char| *c == '\t' || !c.is_control();
    line.chars().filter(is_shown).collect()
}
