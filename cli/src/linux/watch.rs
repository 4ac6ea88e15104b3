//! Watch: what a run hears of the model while the guest uses it, and what is left of that at the end.

use super::expected;
use super::programs::Programs;
use super::record::Recorder;
use crate::outcome::Failure;
use crate::output::streams::talk;
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
    /// Whether instructions are counted by program, of a GPU of this generation.
    pub(super) programs: Option<Arch>,
}

/// Watches the model, on its thread.
pub(super) struct Watch {
    recorder: Option<Recorder>,
    programs: Option<(Programs, Arch)>,
}

/// What was seen.
pub(super) struct Watched {
    recorded: Option<Result<String, Failure>>,
    /// The table of programs.
    programs: Option<String>,
}

impl Watch {
    /// Begins to watch.
    pub(super) fn new(wanted: Wanted<'_>) -> Watch {
        Watch {
            recorder: wanted.record.map(Recorder::new),
            programs: wanted.programs.map(|arch| (Programs::default(), arch)),
        }
    }

    /// What was seen, now that the guest has ended.
    pub(super) fn finish(self) -> Watched {
        Watched {
            recorded: self.recorder.map(Recorder::finish),
            programs: self.programs.map(|(programs, arch)| programs.table(arch)),
        }
    }
}

impl Watcher for Watch {
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
            talk!("{programs}");
        }
        if let Some(recorded) = self.recorded {
            talk!("{}", recorded?);
        }
        Ok(())
    }
}
