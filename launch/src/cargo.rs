//! Cargo, watched: what it prints goes to a log, and its own count of what is built becomes the progress of a step.
//!
//! Guarantees: nothing is shown when nothing needs to be built.

use crate::Problem;
use crate::process::{Finished, open_log, start, wait};
use crate::progress::{self, Step};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long the output of a cargo that has ended is waited for: what it started may still hold the pipe.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The words by which cargo tells that sources don't compile.
pub const SOURCES_ARE_BROKEN: &str = "could not compile";

/// What is shown of a cargo command.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// What it does, for a person.
    pub what: &'a str,
    /// Gets all that it prints, but for the progress.
    pub log: &'a Path,
    /// Longest that it may take.
    pub limit: Duration,
    /// Whose messages are heard, and when the step is shown.
    pub manner: Manner,
}

/// How a cargo command is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// A step from the start; messages stay in the log.
    Step,
    /// A step only once something has to be built; messages stay in the log.
    Quiet,
    /// A step only once something has to be built; warnings and errors are passed on.
    PassOn,
}

/// Runs a cargo command.
///
/// # Errors
/// When it can't be started or watched, or the log can't be written. That cargo itself failed is in what is returned.
pub fn run(command: &mut Command, watch: &Watch<'_>) -> Result<Finished, Problem> {
    let log = open_log(watch.log)?;
    let mut listener = Listener {
        what: watch.what.to_owned(),
        manner: watch.manner,
        step: None,
        log,
    };
    if watch.manner == Manner::Step {
        listener.step();
    }
    let stdout = listener.log.try_clone();
    let stdout = stdout.map_err(|cause| Problem::Log {
        path: watch.log.to_owned(),
        cause,
    })?;
    command
        .env("CARGO_TERM_PROGRESS_WHEN", "always")
        .env("CARGO_TERM_PROGRESS_WIDTH", "160")
        .env("CARGO_TERM_COLOR", "never")
        .stdout(stdout)
        .stderr(Stdio::piped());
    if watch.manner != Manner::PassOn {
        // Tests that hang must end with the cargo that runs them. Where a person waits, an interrupt must reach cargo.
        command.process_group(0);
    }
    let started = Instant::now();
    let mut child = start(command, Stdio::null())?;
    let (sender, receiver) = mpsc::channel();
    if let Some(stderr) = child.stderr.take() {
        std::thread::spawn(move || {
            listener.listen(stderr);
            // Nobody waits for it any more when the limit has passed.
            let _ = sender.send(listener);
        });
    }
    let end = wait(command, &mut child, started + watch.limit)?;
    if let Ok(listener) = receiver.recv_timeout(LAST_WORDS)
        && let Some(step) = listener.step
    {
        step.finish(end.good());
    }
    Ok(Finished {
        end,
        log: watch.log.to_owned(),
        took: started.elapsed(),
    })
}

/// Takes cargo's messages apart.
struct Listener {
    what: String,
    manner: Manner,
    step: Option<Step>,
    log: File,
}

impl Listener {
    fn listen(&mut self, mut stderr: ChildStderr) {
        let mut buffer = [0; 4096];
        let mut line = Vec::new();
        loop {
            let read = stderr.read(&mut buffer).unwrap_or(0);
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
                break;
            };
            for byte in bytes {
                match byte {
                    // Progress ends with a return to the start of the line.
                    b'\n' | b'\r' => {
                        self.hear(&String::from_utf8_lossy(&line), *byte == b'\n');
                        line.clear();
                    }
                    _ => line.push(*byte),
                }
            }
        }
        if !line.is_empty() {
            self.hear(&String::from_utf8_lossy(&line), true);
        }
    }

    fn hear(&mut self, line: &str, whole: bool) {
        let message = message(line);
        match &message {
            Message::Progress(text) => self.step().detail(text),
            Message::Work(text) => self.step().detail(text),
            Message::Done => {}
            Message::Other if self.manner == Manner::PassOn && (whole || !line.is_empty()) => {
                progress::say(format_args!("{line}\n"));
            }
            Message::Other => {}
        }
        let in_log = !matches!(message, Message::Progress(_)) && (whole || !line.is_empty());
        if in_log {
            // The log's own reader will see that something is missing.
            let _ = writeln!(self.log, "{line}");
        }
    }

    fn step(&mut self) -> &Step {
        self.step.get_or_insert_with(|| progress::start(&self.what))
    }
}

/// What a line of cargo's means.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Message {
    /// How far it is.
    Progress(String),
    /// It does something; in words, what.
    Work(String),
    /// It says that all is well, or that there was nothing to do.
    Done,
    /// A warning, an error, or a part of one.
    Other,
}

fn message(line: &str) -> Message {
    let text = line.trim();
    if text.is_empty() || !line.starts_with(' ') {
        return Message::Other;
    }
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    match (
        word,
        rest.strip_prefix('[').and_then(|bar| bar.split_once(']')),
    ) {
        ("Building" | "Fetch" | "Downloading" | "Updating", Some((_, count))) => {
            let count = count.trim().replacen('/', " of ", 1);
            Message::Progress(match word {
                "Building" => count,
                _ => format!("{} {count}", word.to_lowercase()),
            })
        }
        ("Compiling" | "Checking" | "Documenting" | "Downloaded" | "Locking" | "Adding", None) => {
            Message::Work(rest.to_owned())
        }
        ("Updating" | "Downloading", None) => {
            Message::Work(format!("{} {rest}", word.to_lowercase()))
        }
        // Another cargo builds in the same folder.
        ("Blocking", None) => Message::Work(rest.to_owned()),
        ("Running" | "Doc-tests", None) => {
            let rest = rest.split(" (").next().unwrap_or(rest);
            Message::Work(format!("{} {rest}", word.to_lowercase()))
        }
        ("Finished" | "Executable" | "Generated" | "Fresh", None) => Message::Done,
        _ => Message::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_messages_are_told_apart() {
        let work = |text: &str| Message::Work(text.to_owned());
        let progress = |text: &str| Message::Progress(text.to_owned());
        for (line, expected) in [
            (
                "    Building [====>   ] 100/221: naga, rspirv   ",
                progress("100 of 221: naga, rspirv"),
            ),
            (
                "       Fetch [====>   ] 21 complete; 6 pending",
                progress("fetch 21 complete; 6 pending"),
            ),
            ("   Compiling naga v30.0.1", work("naga v30.0.1")),
            (
                "    Blocking waiting for file lock on build directory",
                work("waiting for file lock on build directory"),
            ),
            (" Downloading crates ...", work("downloading crates ...")),
            (
                "     Running tests/run.rs (target/debug/deps/run-0)",
                work("running tests/run.rs"),
            ),
            ("    Finished `dev` profile in 0.1s", Message::Done),
            ("error: could not compile `x`", Message::Other),
            ("  |     Building [x] y", Message::Other),
            ("", Message::Other),
        ] {
            assert_eq!(message(line), expected, "{line}");
        }
    }

    fn run(name: &str, manner: Manner, script: &str) -> Finished {
        let folder = std::env::temp_dir().join(format!("eitri-cargo-{}", std::process::id()));
        let watch = Watch {
            what: "a test's step",
            log: &folder.join(name),
            limit: Duration::from_secs(20),
            manner,
        };
        super::run(Command::new("sh").args(["-c", script]), &watch).unwrap()
    }

    #[test]
    fn the_log_has_all_but_the_progress() {
        let script = "printf '    Building [=> ] 1/2: a\\r   Compiling a\\nerror: no\\n\\n  --> x\\n' >&2; echo out; exit 101";
        let finished = run("log", Manner::Quiet, script);
        assert!(!finished.end.good());
        let mut lines: Vec<String> = finished.output().lines().map(str::to_owned).collect();
        // Both streams go there, in whatever order they come.
        lines.retain(|line| line != "out");
        assert_eq!(lines, ["   Compiling a", "error: no", "", "  --> x"]);
    }

    #[test]
    fn a_step_is_shown_only_once_something_is_built() {
        let log = std::env::temp_dir().join(format!("eitri-listener-{}", std::process::id()));
        let mut quiet = Listener {
            what: "a test's step".to_owned(),
            manner: Manner::Quiet,
            step: None,
            log: open_log(&log).unwrap(),
        };
        quiet.hear("    Finished `dev` profile in 0.1s", true);
        quiet.hear("warning: unused", true);
        assert!(quiet.step.is_none(), "a step for nothing");
        quiet.hear("   Compiling naga v30.0.1", true);
        assert!(quiet.step.is_some(), "a build without a step");
    }
}
