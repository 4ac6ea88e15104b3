//! Child processes with a clock: what they print goes to a log, and none outlives its limit.

use crate::outcome::{Failure, FileError};
use miette::Diagnostic;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How often a running child is looked at.
const POLL: Duration = Duration::from_millis(20);

/// A child that could not be started, or had to be stopped.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ProcessError {
    #[error("`{program}` could not be started")]
    Start {
        program: String,
        #[source]
        cause: std::io::Error,
    },
    #[error("`{program}` could not be watched")]
    Watch {
        program: String,
        #[source]
        cause: std::io::Error,
    },
}

/// How a child ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It was stopped after its time limit.
    TimedOut,
}

impl End {
    /// Whether it exited with status 0.
    pub(crate) fn good(&self) -> bool {
        matches!(self, End::Exited(status) if status.success())
    }
}

/// A finished child.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) log: PathBuf,
    pub(crate) took: Duration,
}

impl Finished {
    /// Everything that the child printed.
    pub(crate) fn output(&self) -> String {
        std::fs::read(&self.log)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }
}

/// Runs `command` with no input, both output streams into the file `log`, for at most `limit`.
///
/// The child gets a process group of its own, so that what it started ends with it.
pub(crate) fn run_logged(
    command: &mut Command,
    log: &Path,
    limit: Duration,
) -> Result<Finished, Failure> {
    let (out, err) = log_streams(log)?;
    let started = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .process_group(0)
        .spawn();
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = match child {
        Ok(child) => child,
        Err(cause) => return Err(Failure::missing(ProcessError::Start { program, cause })),
    };
    let end = wait(&mut child, started + limit)
        .map_err(|cause| Failure::missing(ProcessError::Watch { program, cause }))?;
    Ok(Finished {
        end,
        log: log.to_owned(),
        took: started.elapsed(),
    })
}

fn log_streams(log: &Path) -> Result<(File, File), Failure> {
    let open = || {
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = File::create(log)?;
        Ok((file.try_clone()?, file))
    };
    open().map_err(|cause| {
        Failure::missing(FileError {
            action: "write",
            path: log.display().to_string(),
            cause,
        })
    })
}

fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<End> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status));
        }
        if Instant::now() >= deadline {
            stop_group(child);
            child.wait()?;
            return Ok(End::TimedOut);
        }
        std::thread::sleep(POLL);
    }
}

/// Kills the child's process group; the child alone, where there is no `kill` command.
fn stop_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    let killed = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !killed {
        // An error means that it has ended by itself.
        let _ = child.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, limit: Duration) -> Finished {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        run_logged(
            command.args(["-c", script]),
            &folder.path().join("log"),
            limit,
        )
        .unwrap()
    }

    #[test]
    fn a_child_ends_by_itself_or_is_stopped() {
        assert!(run("exit 0", Duration::from_secs(10)).end.good());
        assert!(!run("exit 3", Duration::from_secs(10)).end.good());
        let stopped = run("sleep 100 & sleep 100", Duration::from_millis(100));
        assert!(matches!(stopped.end, End::TimedOut));
        assert!(
            stopped.took < Duration::from_secs(5),
            "took {:?}",
            stopped.took
        );
    }

    #[test]
    fn both_streams_are_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("logs/x.log");
        let mut command = Command::new("sh");
        let command = command.args(["-c", "echo out; echo err >&2"]);
        let finished = run_logged(command, &log, Duration::from_secs(10)).unwrap();
        assert_eq!(finished.output(), "out\nerr\n");
    }
}
