//! `eitri console`: what a board has said on its console, read, judged, and written in the forms that labs collect.

use crate::images::console;
use crate::images::lab_log::{self, Judgement};
use crate::outcome::{Failure, Status};
use crate::output::streams::{print, talk};
use crate::output::whole_file::Pending;
use miette::Diagnostic;
use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A log, `-` for standard input, or the terminal that the board's console is at, which is listened to until the suite is
    /// done.
    #[arg(value_name = "FILE|TTY")]
    source: String,
    /// The image's ELF file, which decodes the binary parts of its log.
    #[arg(long, value_name = "FILE")]
    elf: Option<String>,
    /// The speed of the terminal; if it is not given it stays as it is.
    #[arg(long, value_name = "BAUD")]
    baud: Option<u32>,
    /// Longest silence of the terminal, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=36_000))]
    silence: u32,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
    /// Write the results as TAP.
    #[arg(long, value_name = "FILE")]
    tap: Option<String>,
    /// Write the results as KernelCI's database takes them.
    #[arg(long, value_name = "FILE")]
    kcidb: Option<String>,
}

/// What is wrong with the request.
#[derive(Debug, Error, Diagnostic)]
enum ConsoleError {
    #[error("{path} holds nothing of Eitri's: no result, no plan, no crash")]
    #[diagnostic(help("a log begins with `eitri VERSION on BOARD, build ID`"))]
    Nothing { path: String },
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
    let bytes = match is_terminal(path) {
        true => listen(args)?,
        false if path == "-" => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map(|_| bytes)
                .map_err(|cause| unreadable("standard input", cause))?
        }
        false => std::fs::read(path).map_err(|cause| unreadable(path, cause))?,
    };
    let log = lab_log::read(&console::decode(&bytes, &elf));
    let judgement = log.judge();
    if judgement == Judgement::Nothing {
        let path = args.source.clone();
        return Err(Failure::refused(ConsoleError::Nothing { path }));
    }
    let mut files = Vec::new();
    let outputs = [
        (&args.junit, lab_log::junit(&log)),
        (&args.tap, lab_log::tap(&log)),
        (&args.kcidb, format!("{:#}\n", lab_log::kcidb(&log))),
    ];
    for (path, text) in &outputs {
        if let Some(path) = path {
            files.push(Pending::write(path, text.as_bytes())?);
        }
    }
    files.into_iter().try_for_each(Pending::commit)?;
    // What goes to standard output is one of the files, or the verdict.
    let to_stdout = outputs.iter().any(|(path, _)| path.as_deref() == Some("-"));
    if !to_stdout {
        print(format_args!("{}", lab_log::plain(&log)))?;
    }
    Ok(match judgement {
        Judgement::Good => Status::Good,
        _ => Status::CheckFailed,
    })
}

fn is_terminal(path: &str) -> bool {
    use std::io::IsTerminal;
    path != "-" && File::open(path).is_ok_and(|file| file.is_terminal())
}

/// What comes over a terminal, until the suite is done or nothing comes any more. It is shown while it comes.
fn listen(args: &Args) -> Result<Vec<u8>, Failure> {
    let path = args.source.as_str();
    let mut file = File::open(path).map_err(|cause| Failure::unreadable(path, cause))?;
    let mut settings = vec!["raw".to_owned(), "-echo".to_owned()];
    settings.extend(args.baud.map(|baud| baud.to_string()));
    let set = Command::new("stty")
        .args(["-F", path])
        .args(&settings)
        .output();
    match (set, args.baud) {
        (Ok(output), Some(baud)) if !output.status.success() => {
            return Err(Failure::refused(ConsoleError::Baud {
                path: path.to_owned(),
                baud,
                why: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            }));
        }
        (Err(cause), Some(baud)) => {
            return Err(Failure::missing(ConsoleError::Baud {
                path: path.to_owned(),
                baud,
                why: cause.to_string(),
            }));
        }
        _ => {}
    }
    let (sender, receiver) = mpsc::channel();
    // It ends with the process: a terminal can't be told to stop a read.
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = file.read(&mut bytes) {
            let part = bytes.get(..count).unwrap_or(&[]).to_vec();
            if sender.send(part).is_err() {
                return;
            }
        }
    });
    let silence = Duration::from_secs(args.silence.into());
    let (mut all, mut shown) = (Vec::new(), 0);
    let mut last = Instant::now();
    while last.elapsed() < silence {
        let part: Vec<u8> = match receiver.recv_timeout(silence) {
            Ok(part) => part,
            Err(_) => break,
        };
        last = Instant::now();
        all.extend(part);
        let Some(end) = all.iter().rposition(|byte| *byte == b'\n') else {
            continue;
        };
        if end < shown {
            continue;
        }
        let lines = String::from_utf8_lossy(&all[shown..=end]).into_owned();
        shown = end + 1;
        lines.lines().for_each(|line| talk!("{line}"));
        if lines.lines().any(lab_log::said_end) {
            break;
        }
    }
    Ok(all)
}
