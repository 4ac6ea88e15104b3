//! Scripts side by side, each in a process of its own with limits of time and memory.

use super::case::Manner;
use super::expectations::Expectations;
use super::scripts::ScriptFile;
use super::suite;
use super::verdict::Verdict;
use crate::input::gpu_choice::GpuChoice;
use crate::input::model_place;
use crate::input::{reorder_choice, thread_choice};
use crate::interrupt;
use crate::outcome::{Failure, FileError};
use crate::process::{self, End, Finished};
use crate::reports::timeline::Timelines;
use crate::results;
use crate::runs::dispatch::Place;
use crate::runs::parallel;
use eitri_amber::Word;
use eitri_amber_device::Verdict as Settled;
use eitri_amber_device::{Case, Content};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Lines of a dead worker's output that are told.
const TOLD_LINES: usize = 6;

/// What every worker gets.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Scripts at once.
    pub(crate) jobs: NonZero<usize>,
    /// Longest that one may take.
    pub(crate) time: Duration,
    /// Most address space that one may have, in MiB.
    pub(crate) memory: u64,
}

/// What came of a script, and how long it took.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) script: ScriptFile,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
    /// What its process printed.
    pub(crate) output: String,
}

impl Outcome {
    /// The outcome as other programs get it. What is known is neither good nor news: it is skipped.
    pub(crate) fn case(&self) -> results::Case {
        let verdict = &self.verdict;
        let status = match verdict {
            Verdict::Pass => results::Status::Pass,
            Verdict::Skip(_) | Verdict::ExpectedFail(_) | Verdict::Flake(_) => {
                results::Status::Skip
            }
            Verdict::Fail(_) | Verdict::UnexpectedPass(_) => results::Status::Fail,
            Verdict::Crash(_) | Verdict::Timeout(_) => results::Status::Error,
        };
        let why = match verdict {
            Verdict::Pass | Verdict::Skip(_) | Verdict::Fail(_) => verdict.message().to_owned(),
            other => format!("{}: {}", other.word(), other.message()),
        };
        let mut case = results::Case::new(&self.script.name, status, &why);
        case.seconds = Some(self.took.as_secs_f64());
        if status.is_bad() {
            case.output = self.output.clone();
        }
        case
    }

    /// That of a script that no process was started for.
    fn without_run(script: &ScriptFile, verdict: Verdict) -> Outcome {
        Outcome {
            script: script.clone(),
            verdict,
            took: Duration::ZERO,
            output: String::new(),
        }
    }
}

/// Runs scripts; `done` hears of each in the order of the list, as soon as all before it have ended. `timelines` takes
/// those of all their dispatches.
pub(crate) fn run(
    scripts: &[ScriptFile],
    manner: &Manner,
    limits: &Limits,
    expectations: &Expectations,
    timelines: Option<&Timelines>,
    mut done: impl FnMut(&Outcome) -> Result<(), Failure>,
) -> Result<Vec<Outcome>, Failure> {
    let folder = tempfile::tempdir().map_err(|cause| unusable("temporary folder", cause))?;
    let program = std::env::current_exe().map_err(|cause| unusable("own program", cause))?;
    let numbered: Vec<(usize, &ScriptFile)> = scripts.iter().enumerate().collect();
    let one = |(index, script): &(usize, &ScriptFile)| {
        let worker = Worker {
            program: &program,
            verdict: folder.path().join(format!("{index}.json")),
            log: folder.path().join(format!("{index}.log")),
            trace: timelines.map(|_| folder.path().join(format!("{index}.trace"))),
            case: None,
        };
        if let Some(reason) = expectations.skip(&script.name) {
            return Ok(Outcome::without_run(script, Verdict::Skip(reason)));
        }
        let first = worker.run(script, manner, limits)?;
        let again = || Ok(worker.run(script, manner, limits)?.verdict);
        let verdict = expectations.judge(&script.name, first.verdict, again)?;
        Ok(Outcome { verdict, ..first })
    };
    let mut ended = Vec::with_capacity(scripts.len());
    let receive = |(index, _): &(usize, &ScriptFile), outcome: Result<Outcome, Failure>| {
        let outcome = outcome?;
        // A worker that was stopped leaves none.
        let trace = std::fs::read_to_string(folder.path().join(format!("{index}.trace")));
        if let (Some(timelines), Ok(text)) = (timelines, trace) {
            timelines.add_document(&text);
        }
        done(&outcome)?;
        ended.push(outcome);
        Ok::<(), Failure>(())
    };
    parallel::in_order(&numbered, limits.jobs, one, receive)?;
    Ok(ended)
}

/// Compiles scripts, each in a process of its own, and leaves them to run elsewhere.
pub(crate) fn prepare(
    scripts: &[ScriptFile],
    manner: &Manner,
    limits: &Limits,
    expectations: &Expectations,
    mut done: impl FnMut(&ScriptFile) -> Result<(), Failure>,
) -> Result<Vec<Case>, Failure> {
    let folder = tempfile::tempdir().map_err(|cause| unusable("temporary folder", cause))?;
    let program = std::env::current_exe().map_err(|cause| unusable("own program", cause))?;
    let numbered: Vec<(usize, &ScriptFile)> = scripts.iter().enumerate().collect();
    let one = |(index, script): &(usize, &ScriptFile)| {
        let case = |content| Case {
            name: script.name.clone(),
            must_fail: script.must_fail(),
            content,
        };
        if let Some(reason) = expectations.skip(&script.name) {
            return Ok(case(Content::Settled(Settled::Skip(reason))));
        }
        let path = folder.path().join(format!("{index}.case"));
        let worker = Worker {
            program: &program,
            verdict: folder.path().join(format!("{index}.json")),
            log: folder.path().join(format!("{index}.log")),
            trace: None,
            case: Some(path.clone()),
        };
        let (verdict, _) = worker.process(script, manner, limits)?;
        let content = match (verdict, suite::read_case(&path)) {
            (Verdict::Pass, Some(Content::Script(mut compiled))) => {
                compiled.limit = compiled.limit.min(limits.time);
                Content::Script(compiled)
            }
            (Verdict::Skip(reason), _) => Content::Settled(Settled::Skip(reason)),
            (Verdict::Fail(why), _) => Content::Settled(Settled::Fail(why)),
            (other, _) => {
                let why = format!("{}: {}", other.word(), other.message());
                Content::Settled(Settled::Fail(why))
            }
        };
        Ok(case(content))
    };
    let mut cases = Vec::with_capacity(scripts.len());
    let receive = |(_, script): &(usize, &ScriptFile), case: Result<Case, Failure>| {
        cases.push(case?);
        done(script)
    };
    parallel::in_order(&numbered, limits.jobs, one, receive)?;
    Ok(cases)
}

fn unusable(what: &str, cause: std::io::Error) -> Failure {
    Failure::missing(FileError::at("use", what, cause))
}

/// One process.
struct Worker<'w> {
    program: &'w Path,
    verdict: PathBuf,
    log: PathBuf,
    trace: Option<PathBuf>,
    /// Where the compiled script goes, if it is not to be run.
    case: Option<PathBuf>,
}

impl Worker<'_> {
    fn run(
        &self,
        script: &ScriptFile,
        manner: &Manner,
        limits: &Limits,
    ) -> Result<Outcome, Failure> {
        let (verdict, finished) = self.process(script, manner, limits)?;
        let verdict = match script.must_fail() {
            true => verdict.inverted(),
            false => verdict,
        };
        Ok(Outcome {
            script: script.clone(),
            verdict,
            took: finished.took,
            output: finished.output(),
        })
    }

    /// What its process says, and how it ended.
    fn process(
        &self,
        script: &ScriptFile,
        manner: &Manner,
        limits: &Limits,
    ) -> Result<(Verdict, Finished), Failure> {
        let finished = process::run_logged(
            &mut self.command(script, manner, limits),
            &self.log,
            limits.time,
        )?;
        interrupt::stay_if_ending();
        let output = finished.output();
        let written = std::fs::read_to_string(&self.verdict).ok();
        let verdict = match (
            &finished.end,
            written.and_then(|text| Verdict::from_json(&text)),
        ) {
            (End::TimedOut, _) => {
                Verdict::Timeout(format!("stopped after {} s", limits.time.as_secs()))
            }
            (End::Exited(_), Some(verdict)) => verdict,
            (End::Exited(status), None) => Verdict::Crash(format!(
                "its process ended with {status}\n{}",
                told(&output)
            )),
        };
        Ok((verdict, finished))
    }

    /// The shell sets the limit of memory, and that a crash leaves no file; then it becomes the worker.
    fn command(&self, script: &ScriptFile, manner: &Manner, limits: &Limits) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -c 0; ulimit -v \"$0\" && exec \"$@\""]);
        command.arg((limits.memory.saturating_mul(1024)).to_string());
        let (variable, threads) = thread_choice::for_child();
        command.env(variable, threads);
        command.envs(reorder_choice::for_child());
        command
            .arg(self.program)
            .args(["amber", "--worker"])
            .arg(&self.verdict);
        if let Some(timeout) = manner.fence_timeout {
            command
                .arg("--fence-timeout")
                .arg(timeout.as_millis().to_string());
        }
        if let Some(target) = manner.target {
            command.arg("--target-env").arg(target.text());
        }
        if manner.place == Place::Qemu {
            command.args(["--on", "qemu"]);
        }
        if let Some(place) = model_place::chosen() {
            command.env(model_place::VARIABLE, place.to_string());
        }
        if manner.gpu != GpuChoice::default() {
            command.arg("--gpu").arg(manner.gpu.to_string());
        }
        if let Some(trace) = &self.trace {
            command.arg("--trace").arg(trace);
        }
        if let Some(case) = &self.case {
            command.arg("--case").arg(case);
        }
        if manner.pipelines_only {
            command.arg("--pipelines-only");
        }
        if let Some(folder) = &manner.keep {
            command.arg("--keep").arg(folder.join(script.place()));
        }
        if let Some(check) = &manner.check {
            command.arg("--check").arg(check.to_string());
        }
        command.args(manner.outputs.words());
        command.arg("--").arg(&script.path);
        command
    }
}

/// The last lines that a worker printed.
fn told(output: &str) -> String {
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(TOLD_LINES);
    lines.get(from..).unwrap_or(&[]).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_no_failure_for_other_programs() {
        let case = |verdict: Verdict| {
            let script = ScriptFile {
                name: "a.amber".to_owned(),
                path: "a.amber".into(),
            };
            Outcome::without_run(&script, verdict).case()
        };
        let flake = case(Verdict::Flake("now and then".to_owned()));
        assert_eq!(flake.status, results::Status::Skip);
        assert_eq!(flake.why, "Flake: now and then");
        let crash = case(Verdict::Crash("x".to_owned()));
        assert_eq!(crash.status, results::Status::Error);
    }
}
