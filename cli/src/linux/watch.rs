//! Watch: what a run hears of the model while the guest uses it, and what is left of that at the end.

use super::expected;
use super::programs::Programs;
use super::record::Recorder;
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::output::whole_file;
use eitri_host_gpu::{MachineMemory, Watcher};
use eitri_isa::Arch;
use eitri_model::diagnosis::News;
use eitri_model::{Gpu, Sink};
use std::path::Path;

/// What is watched for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// Where records of what groups run go.
    pub(super) record: Option<&'a Path>,
    /// How instructions are counted by program.
    pub(super) programs: Option<CountPrograms<'a>>,
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
}

/// What was seen.
pub(super) struct Watched {
    recorded: Option<Result<String, Failure>>,
    /// The table of programs, or how writing their file went.
    programs: Option<Result<String, Failure>>,
}

impl<'a> Watch<'a> {
    /// Begins to watch.
    pub(super) fn new(wanted: Wanted<'a>) -> Watch<'a> {
        Watch {
            recorder: wanted.record.map(Recorder::new),
            programs: wanted.programs.map(|how| (Programs::default(), how)),
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
        }
    }
}

impl Watcher for Watch<'_> {
    fn report(&mut self, news: News<'_>) {
        expected::tell(news);
    }

    fn doorbell(&mut self, gpu: &mut Gpu, memory: &MachineMemory) {
        if let Some(recorder) = &mut self.recorder {
            recorder.doorbell(gpu, memory);
        }
    }

    fn sink(&mut self) -> Option<Box<dyn Sink>> {
        self.programs.as_ref().map(|(programs, _)| programs.sink())
    }
}

impl Watched {
    /// Prints it on standard error.
    pub(super) fn tell(self) -> Result<(), Failure> {
        if let Some(programs) = self.programs {
            talk!("{}", programs?);
        }
        if let Some(recorded) = self.recorded {
            talk!("{}", recorded?);
        }
        Ok(())
    }
}
