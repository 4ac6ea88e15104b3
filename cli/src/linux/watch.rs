//! Watch: what a run hears of the model while the guest uses it, and what is left of that at the end.

use super::expected::Teller;
use super::fault_dump::FaultDump;
use super::programs::Programs;
use super::record::Recorder;
use crate::input::check_arguments::{CheckArguments, Wanted as Checks};
use crate::outcome::{Failure, Status};
use crate::output::streams::talk;
use crate::output::whole_file;
use crate::reports::timeline::{Both, Timeline, Timelines};
use crate::runs::code_checks::{CodeChecked, CodeChecks};
use crate::runs::known_lines::KnownLines;
use eitri_host_gpu::{MachineMemory, Watcher};
use eitri_isa::Arch;
use eitri_model::diagnosis::News;
use eitri_model::{Gpu, Sink};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What is watched for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// Where records of what groups run go.
    pub(super) record: Option<&'a Path>,
    /// How instructions are counted by program.
    pub(super) programs: Option<CountPrograms<'a>>,
    /// Where a timeline goes.
    pub(super) trace: Option<&'a str>,
    /// Where a core dump goes, and what tells that the guest has ended badly.
    pub(super) dump: Option<(&'a Path, &'a AtomicBool)>,
    /// What the checkers of machine code are to tell, and where to.
    pub(super) check: (&'a CheckArguments, Arch),
    /// Whether diagnoses are told that are expected.
    pub(super) all_diagnoses: bool,
}

/// How instructions are counted by program.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountPrograms<'a> {
    /// The GPU's generation.
    pub(super) arch: Arch,
    /// Where the counts go as JSON; to standard error as text if there is none.
    pub(super) file: Option<&'a Path>,
}

/// Watches the model, on its thread.
pub(super) struct Watch<'a> {
    recorder: Option<Recorder>,
    programs: Option<(Programs, CountPrograms<'a>)>,
    trace: Option<(Timeline, &'a str)>,
    dump: Option<FaultDump<'a>>,
    checks: Option<CodeChecks>,
    check: &'a CheckArguments,
    diagnoses: Teller,
}

/// What was seen.
pub(super) struct Watched {
    recorded: Option<Result<String, Failure>>,
    /// The table of programs, or how writing their file went.
    programs: Option<Result<String, Failure>>,
    /// How writing the timeline went.
    trace: Option<Result<(), Failure>>,
    dumped: Option<Result<String, Failure>>,
    /// What the checkers of machine code have found, and where it is to go.
    checked: Option<(CodeChecked, CheckArguments)>,
    /// The diagnoses that were only counted.
    expected: Option<String>,
}

impl<'a> Watch<'a> {
    /// Begins to watch.
    pub(super) fn new(wanted: Wanted<'a>) -> Watch<'a> {
        Watch {
            recorder: wanted.record.map(Recorder::new),
            programs: wanted.programs.map(|how| (Programs::default(), how)),
            trace: wanted.trace.map(|path| (Timeline::default(), path)),
            dump: wanted
                .dump
                .map(|(path, has_failed)| FaultDump::new(path, has_failed)),
            checks: CodeChecks::new(wanted.check.0.wanted(Checks::Errors), wanted.check.1),
            check: wanted.check.0,
            diagnoses: Teller::new(wanted.all_diagnoses),
        }
    }

    /// What was seen, now that the guest has ended.
    pub(super) fn finish(self) -> Watched {
        Watched {
            recorded: self.recorder.map(Recorder::finish),
            programs: self.programs.map(|(programs, how)| match how.file {
                None => Ok(programs.table(how.arch)),
                Some(file) => {
                    let text = format!("{:#}\n", programs.json(how.arch));
                    let written = whole_file::put(file, text.as_bytes());
                    written.map(|()| format!("programs are in {}", file.display()))
                }
            }),
            trace: self.trace.map(|(timeline, path)| {
                let timelines = Timelines::default();
                timelines.add("linux", &timeline);
                timelines.write(path)
            }),
            dumped: self.dump.map(FaultDump::finish),
            checked: self.checks.map(|checks| {
                let checked = checks.finish(&KnownLines::default());
                (checked, self.check.clone())
            }),
            expected: self.diagnoses.summary(),
        }
    }
}

impl Watcher for Watch<'_> {
    fn report(&mut self, _: &Gpu, _: &MachineMemory, news: News<'_>) {
        self.diagnoses.tell(news);
    }

    fn doorbell(&mut self, gpu: &mut Gpu, memory: &MachineMemory) {
        if let Some(recorder) = &mut self.recorder {
            recorder.doorbell(gpu, memory);
        }
    }

    fn worked(&mut self, gpu: &mut Gpu, memory: &MachineMemory, is_store_due: bool) {
        if let Some(dump) = &mut self.dump {
            dump.worked(gpu, memory, is_store_due);
        }
    }

    fn ended(&mut self, gpu: &mut Gpu, memory: &MachineMemory) {
        if let Some(dump) = &mut self.dump {
            dump.ended(gpu, memory);
        }
    }

    fn sink(&mut self) -> Option<Box<dyn Sink>> {
        let programs = self.programs.as_ref().map(|(programs, _)| programs.sink());
        let trace = self.trace.as_ref().map(|(timeline, _)| timeline.sink());
        let both = match (programs, trace) {
            (Some(programs), Some(trace)) => {
                let both: Box<dyn Sink> = Box::new(Both(programs, trace));
                Some(both)
            }
            (one, other) => one.or(other),
        };
        match &self.checks {
            Some(checks) => Some(checks.sink(both)),
            None => both,
        }
    }
}

impl Watched {
    /// Prints it on standard error; whether the checkers have found no error.
    pub(super) fn tell(self) -> Result<Status, Failure> {
        if let Some(programs) = self.programs {
            talk!("{}", programs?);
        }
        if let Some(recorded) = self.recorded {
            talk!("{}", recorded?);
        }
        if let Some(dumped) = self.dumped {
            talk!("{}", dumped?);
        }
        if let Some(expected) = self.expected {
            talk!("{expected}");
        }
        self.trace.unwrap_or(Ok(()))?;
        match self.checked {
            Some((checked, arguments)) => checked.tell("linux", &arguments),
            None => Ok(Status::Good),
        }
    }
}
