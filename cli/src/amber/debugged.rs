//! A `RUN` of a script under the debugger: those before it are carried out, and it becomes a job for a session.
//!
//! Guarantees: buffers are as the commands before have left them. Never: checks an expectation, since one that does not hold is a
//! reason to debug.

use super::case::{self, Manner};
use super::jobs::HostJobs;
use super::keep::Kept;
use super::outputs::OutputArguments;
use super::verdict::Verdict;
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::runs::debugged::{DebugLevel, NotDebugged, Prepared};
use crate::runs::dispatch::Place;
use crate::runs::drawings;
use crate::runs::host::Recorded;
use crate::runs::listed_programs::KnownListing;
use eitri_amber::run::Memory;
use eitri_amber::script::{Action, Command, Run};
use eitri_amber_device::{DeviceError, Jobs, Request};
use eitri_drawing::Drawing;
use eitri_job::Saved;
use eitri_launch::tools::{self, Tool};
use std::path::Path;
use std::time::Duration;

/// Lines of `RUN` commands that are printed.
const SHOWN_LINES: usize = 16;

/// A script of which a `RUN` is debugged.
pub(crate) struct ScriptJob {
    /// The path of the script, for messages.
    pub(crate) path: String,
    pub(crate) gpu: GpuChoice,
    /// Which `RUN`, from 1; each turn of a `REPEAT` counts.
    pub(crate) run: u64,
    /// Longest that a job may take.
    pub(crate) limit: Duration,
    /// The level of the session. If not given: the source for a dispatch, the driver for a draw.
    pub(crate) level: Option<DebugLevel>,
}

/// A `RUN` as a session takes it.
pub(crate) enum ScriptRun {
    Dispatch(Box<Prepared>),
    Drawing(Box<Recorded>, Vec<KnownListing>),
}

impl ScriptJob {
    /// Carries the script out as far as its `RUN`.
    ///
    /// # Errors
    /// Why there is no job.
    pub(crate) fn prepare(&self) -> Result<ScriptRun, Failure> {
        tools::ensure_programs(&[Tool::Glslang, Tool::SpirvAs])?;
        self.try_prepare().map_err(|verdict| {
            let why = match verdict {
                Verdict::Skip(what) => format!("it needs what is not supported: {what}"),
                other => other.message().to_owned(),
            };
            Failure::refused(NotDebugged::of(&self.path, why))
        })
    }

    fn try_prepare(&self) -> Result<ScriptRun, Verdict> {
        let manner = Manner {
            fence_timeout: Some(self.limit),
            target: None,
            place: Place::Host,
            gpu: self.gpu,
            pipelines_only: false,
            keep: None,
            outputs: OutputArguments::default(),
            check: Some(Wanted::Nothing),
            lines: true,
        };
        let failed = |why: String| Verdict::Fail(why);
        let kept = Kept::new(None).map_err(|cause| failed(cause.to_string()))?;
        let mut built = case::build(Path::new(&self.path), &manner, &kept)?;
        let commands = &mut built.compiled.plan.commands;
        let run = self.choose(commands)?;
        let is_draw = matches!(run, Run::Draw { .. });
        if is_draw && matches!(self.level, Some(DebugLevel::Source | DebugLevel::Machine)) {
            let why = "a draw has no level but that of the driver: leave `--level` out";
            return Err(failed(why.to_owned()));
        }
        remove_expectations(commands);
        let mut jobs = UntilRun {
            host: HostJobs {
                shaders: built.shaders,
                modules: built.modules,
                ..HostJobs::new(&built.compiled.path, &manner, &kept)
            },
            job: self,
            listings: built.listings,
            begun: 0,
            found: None,
        };
        let mut memory = Memory::new(&built.compiled.plan);
        let ended = eitri_amber_device::run(&built.compiled, &mut jobs, &mut memory);
        match (jobs.found, ended) {
            (Some(found), _) => found,
            (None, Err(stopped)) => Err(stopped.verdict.into()),
            (None, Ok(())) => Err(failed(format!("RUN {} has no job", self.run))),
        }
    }

    /// The `RUN` that is wanted; says which it is.
    fn choose<'c>(&self, commands: &'c [Command]) -> Result<&'c Run, Verdict> {
        let (count, run) = (count_runs(commands), self.run);
        let mut lines = Vec::new();
        list_runs(commands, 1, &mut lines);
        let more = lines.len().saturating_sub(SHOWN_LINES);
        lines.truncate(SHOWN_LINES);
        if more != 0 {
            lines.push(format!("{more} more"));
        }
        let lines = lines.join(", ");
        let found = find_run(commands, run.saturating_sub(1));
        let Some((line, found)) = found else {
            return Err(Verdict::Fail(match count {
                0 => "it has no RUN".to_owned(),
                1 => format!("there is no RUN {run}: it has one, at line {lines}"),
                _ => format!("there is no RUN {run}: it has {count}, at lines {lines}"),
            }));
        };
        if matches!(found, Run::Dispatch { groups, .. } if groups.contains(&0)) {
            let why = format!("RUN {run}, at line {line}, has no workgroups: nothing runs");
            return Err(Verdict::Fail(why));
        }
        match count {
            1 => talk!("{}: the RUN at line {line}", self.path),
            _ => talk!(
                "{}: RUN {run} of {count}, at line {line}; `--run N` chooses of those at lines {lines}",
                self.path
            ),
        }
        Ok(found)
    }
}

/// Jobs of a script as far as the one that is debugged.
struct UntilRun<'j> {
    host: HostJobs<'j>,
    job: &'j ScriptJob,
    listings: Vec<KnownListing>,
    /// `RUN` commands that have begun.
    begun: u64,
    found: Option<Result<ScriptRun, Verdict>>,
}

impl UntilRun<'_> {
    /// Whether the `RUN` that has begun is the one to debug.
    fn is_wanted(&self) -> bool {
        self.begun == self.job.run
    }
}

/// Ends a script behind the job that was wanted.
const FOUND: &str = "the job is debugged";

impl Jobs for UntilRun<'_> {
    fn begin_run(&mut self) {
        self.begun = self.begun.saturating_add(1);
    }

    fn run(&mut self, wanted: &Request<'_>) -> Result<Vec<Saved>, String> {
        if !self.is_wanted() {
            return self.host.run(wanted);
        }
        let Some(Some(shader)) = self.host.shaders.get(wanted.pipeline.0) else {
            return Err("the pipeline has no shader".to_owned());
        };
        let request = self.host.request(wanted);
        self.found = Some(Ok(ScriptRun::Dispatch(Box::new(Prepared {
            path: self.job.path.clone(),
            spirv: shader.spirv.clone(),
            options: shader.options.clone(),
            groups: request.groups,
            push_constants: request.push_constants,
            resources: request.resources,
            addresses: Vec::new(),
            gpu: self.job.gpu,
            firmware: None,
            limit: self.job.limit,
            level: self.job.level.unwrap_or_default(),
        }))));
        Err(FOUND.to_owned())
    }

    fn play(&mut self, drawing: &Drawing<'_>) -> Result<Vec<Saved>, DeviceError> {
        // A clear has no pipeline.
        if !self.is_wanted() || drawing.pipelines.is_empty() {
            return self.host.play(drawing);
        }
        let recorded = drawings::record(drawing, self.job.gpu, self.job.limit);
        self.found = Some(match recorded {
            Ok(recorded) => {
                let listings = std::mem::take(&mut self.listings);
                Ok(ScriptRun::Drawing(Box::new(recorded), listings))
            }
            Err(failure) => Err(Verdict::Fail(failure.to_string())),
        });
        Err(DeviceError::Failed(FOUND.to_owned()))
    }
}

/// How many `RUN` commands are carried out.
fn count_runs(commands: &[Command]) -> u64 {
    let count = |command: &Command| match &command.action {
        Action::Run(_) => 1,
        Action::Repeat { count, commands } => count.saturating_mul(count_runs(commands)),
        _ => 0,
    };
    commands.iter().map(count).fold(0, u64::saturating_add)
}

/// The `RUN` before which `before` others are carried out, with its line.
fn find_run(commands: &[Command], mut before: u64) -> Option<(usize, &Run)> {
    for command in commands {
        let count = count_runs(std::slice::from_ref(command));
        if before >= count {
            before -= count;
            continue;
        }
        return match &command.action {
            Action::Run(run) => Some((command.line, run)),
            // It has runs, so that its turns are not empty.
            Action::Repeat { commands, .. } => find_run(commands, before % count_runs(commands)),
            _ => None,
        };
    }
    None
}

/// The lines of `RUN` commands, each with how often it is carried out.
fn list_runs(commands: &[Command], times: u64, lines: &mut Vec<String>) {
    for command in commands {
        match &command.action {
            Action::Run(_) if times == 1 => lines.push(command.line.to_string()),
            Action::Run(_) => lines.push(format!("{} ({times} times)", command.line)),
            Action::Repeat { count, commands } => {
                list_runs(commands, times.saturating_mul(*count), lines);
            }
            _ => {}
        }
    }
}

/// Removes expectations, and repetitions of nothing else.
fn remove_expectations(commands: &mut Vec<Command>) {
    commands.retain_mut(|command| match &mut command.action {
        Action::Expect(_) => false,
        Action::Repeat { commands, .. } => {
            remove_expectations(commands);
            !commands.is_empty()
        }
        _ => true,
    });
}
