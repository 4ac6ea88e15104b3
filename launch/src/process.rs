//! Child processes with a clock: what they print goes to a log, and none outlives its limit.

use crate::Problem;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a running child is polled: the longer it runs, the less often, so that waiting adds a fiftieth to its time at most.
const SHORTEST_POLL: Duration = Duration::from_millis(1);
const POLL: Duration = Duration::from_millis(20);
const PART: u32 = 50;

/// Children that run now, whichever thread waits for them.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child that [`stop_all`] stops until this is dropped.
#[derive(Debug)]
pub struct Listed(u32);

impl Listed {
    /// Lists a child that somebody else has started and waits for.
    pub fn of(child: &Child) -> Listed {
        running().push(child.id());
        Listed(child.id())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        running().retain(|id| *id != self.0);
    }
}

/// Kills every child that runs, with the process groups that they lead: this process is about to end.
pub fn stop_all() {
    for id in running().drain(..) {
        kill(id);
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It was stopped after its time limit.
    TimedOut,
}

impl End {
    /// Whether it exited with status 0.
    pub fn good(&self) -> bool {
        matches!(self, End::Exited(status) if status.success())
    }
}

/// A finished child.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Where its output is.
    pub log: PathBuf,
    /// How long it ran.
    pub took: Duration,
}

impl Finished {
    /// Everything that the child printed.
    pub fn output(&self) -> String {
        std::fs::read(&self.log)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }
}

/// The same command, which yields the processor a little to what a person waits for more (`nice`).
pub fn yielding(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "3"])
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        nice.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    nice
}

/// Runs `command` with no input, both output streams into the file `log`, for at most `limit`.
///
/// The child gets a process group of its own, so that what it started ends with it.
///
/// # Errors
/// When it can't be started or watched, or the log can't be written.
pub fn run_logged(command: &mut Command, log: &Path, limit: Duration) -> Result<Finished, Problem> {
    run_with_input(command, Stdio::null(), log, limit)
}

/// As [`run_logged`], with this input.
///
/// # Errors
/// As there.
pub fn run_with_input(
    command: &mut Command,
    input: Stdio,
    log: &Path,
    limit: Duration,
) -> Result<Finished, Problem> {
    let out = open_log(log)?;
    let err = out.try_clone().map_err(|cause| unwritable(log, cause))?;
    let started = Instant::now();
    let mut child = start(command.stdout(out).stderr(err).process_group(0), input)?;
    let end = wait(command, &mut child, started + limit)?;
    let (log, took) = (log.to_owned(), started.elapsed());
    Ok(Finished { end, log, took })
}

/// Runs `command` with no input, both output streams into the file `log`, for as long as `attend` lets it: that is called again and
/// again with how long the child has run. Whoever interrupts this process interrupts the child too, which may have no limit.
///
/// # Errors
/// As there.
pub fn run_attended(
    command: &mut Command,
    log: &Path,
    attend: &mut dyn FnMut(Duration) -> bool,
) -> Result<Finished, Problem> {
    run_attended_with_input(command, Stdio::null(), log, attend)
}

/// As [`run_attended`], with this input.
///
/// # Errors
/// As there.
pub fn run_attended_with_input(
    command: &mut Command,
    input: Stdio,
    log: &Path,
    attend: &mut dyn FnMut(Duration) -> bool,
) -> Result<Finished, Problem> {
    let out = open_log(log)?;
    let err = out.try_clone().map_err(|cause| unwritable(log, cause))?;
    let started = Instant::now();
    let command = command.stdout(out).stderr(err);
    let mut child = start(command, input)?;
    let end = wait_while(command, &mut child, &mut || attend(started.elapsed()))?;
    let (log, took) = (log.to_owned(), started.elapsed());
    Ok(Finished { end, log, took })
}

/// Starts `command` with no input, both output streams into the file `log`, and leaves it to itself. Whoever interrupts this
/// process interrupts it too; it outlives this process otherwise.
///
/// # Errors
/// When it can't be started, or the log can't be written.
pub fn begin(command: &mut Command, log: &Path) -> Result<(), Problem> {
    let out = open_log(log)?;
    let err = out.try_clone().map_err(|cause| unwritable(log, cause))?;
    start(command.stdout(out).stderr(err), Stdio::null()).map(drop)
}

/// An empty log that several may append to.
pub(crate) fn open_log(log: &Path) -> Result<File, Problem> {
    let open = || {
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        File::create(log)?;
        File::options().append(true).open(log)
    };
    open().map_err(|cause| unwritable(log, cause))
}

fn unwritable(log: &Path, cause: std::io::Error) -> Problem {
    let path = log.to_owned();
    Problem::Log { path, cause }
}

/// Starts a child.
pub(crate) fn start(command: &mut Command, input: Stdio) -> Result<Child, Problem> {
    let child = command.stdin(input).spawn();
    child.map_err(|cause| Problem::Start {
        program: name(command),
        cause,
    })
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// Waits for a child; at the deadline it is stopped, with the process group that it leads.
pub(crate) fn wait(
    command: &Command,
    child: &mut Child,
    deadline: Instant,
) -> Result<End, Problem> {
    wait_while(command, child, &mut || Instant::now() < deadline)
}

/// The same, until `may_run` says no.
fn wait_while(
    command: &Command,
    child: &mut Child,
    may_run: &mut dyn FnMut() -> bool,
) -> Result<End, Problem> {
    let _listed = Listed::of(child);
    let started = Instant::now();
    let mut watch = || loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status));
        }
        if !may_run() {
            stop_group(child);
            child.wait()?;
            return Ok(End::TimedOut);
        }
        std::thread::sleep((started.elapsed() / PART).clamp(SHORTEST_POLL, POLL));
    };
    watch().map_err(|cause| Problem::Watch {
        program: name(command),
        cause,
    })
}

/// Kills the process group that the child leads; the child alone, if it leads none or that fails.
fn stop_group(child: &mut Child) {
    if !kill(child.id()) {
        // An error means that it has ended by itself.
        let _ = child.kill();
    }
}

/// Kills the process group that a process leads, or the process if it leads none. Tells whether that was possible.
fn kill(id: u32) -> bool {
    // The shell's own `kill`: a bare machine has no program of that name.
    let script = "kill -s KILL -- \"-$0\" || kill -s KILL \"$0\"";
    Command::new("sh")
        .args(["-c", script, &id.to_string()])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("eitri-launch-{}/{name}", std::process::id()))
    }

    fn run(name: &str, script: &str, limit: Duration) -> Finished {
        let mut command = Command::new("sh");
        run_logged(command.args(["-c", script]), &log(name), limit).unwrap()
    }

    #[test]
    fn what_yields_is_the_same_command_otherwise() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "nice; pwd; echo $EITRI_TOLD"])
            .current_dir("/")
            .env("EITRI_TOLD", "so");
        let [nice, plain] = [&mut yielding(&command), &mut command]
            .map(|command| String::from_utf8(command.output().unwrap().stdout).unwrap())
            .map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        let niceness = |lines: &[String]| lines[0].parse::<i32>().unwrap();
        assert!(niceness(&nice) > niceness(&plain) || niceness(&nice) == 19);
        assert_eq!(nice[1..], ["/", "so"]);
        assert_eq!(plain[1..], ["/", "so"]);
    }

    #[test]
    fn a_child_ends_by_itself_or_is_stopped() {
        assert!(run("good", "exit 0", Duration::from_secs(10)).end.good());
        assert!(!run("bad", "exit 3", Duration::from_secs(10)).end.good());
        let script = "sleep 100 & echo $!; sleep 100";
        let stopped = run("long", script, Duration::from_millis(500));
        assert!(matches!(stopped.end, End::TimedOut));
        let took = stopped.took;
        assert!(took < Duration::from_secs(20), "took {took:?}");
        // What it started has ended too: nobody but init waits for it, so its state is looked up, not waited for.
        let process = format!("/proc/{}/stat", stopped.output().trim());
        let running = || {
            let state = std::fs::read_to_string(&process).unwrap_or_default();
            !state.is_empty() && !state.contains(") Z ")
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while running() {
            assert!(Instant::now() < deadline, "{process} still runs");
            std::thread::sleep(POLL);
        }
    }

    #[test]
    fn a_child_is_stopped_when_its_attendant_says_so() {
        let mut command = Command::new("sh");
        let log = log("attended");
        let mut sees_output = |_: Duration| !std::fs::read(&log).is_ok_and(|log| !log.is_empty());
        let command = command.args(["-c", "echo ready; exec sleep 100"]);
        let stopped = run_attended(command, &log, &mut sees_output).unwrap();
        assert!(matches!(stopped.end, End::TimedOut));
        assert_eq!(stopped.output(), "ready\n");
        let mut command = Command::new("true");
        let ended = run_attended(&mut command, &log, &mut |_| true).unwrap();
        assert!(ended.end.good());
    }

    #[test]
    fn a_listed_child_is_stopped_with_what_it_started() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 100 & wait"]).process_group(0);
        let mut child = start(&mut command, Stdio::null()).unwrap();
        let listed = Listed::of(&child);
        assert!(running().contains(&child.id()));
        kill(child.id());
        assert!(!child.wait().unwrap().success());
        drop(listed);
        assert!(!running().contains(&child.id()));
    }

    #[test]
    fn both_streams_are_in_the_log() {
        let script = "echo out; echo err >&2";
        let finished = run("deep/both", script, Duration::from_secs(10));
        assert_eq!(finished.output(), "out\nerr\n");
    }
}
