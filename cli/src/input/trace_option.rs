//! The option `--trace`, the same for every command that runs jobs on the model.

use crate::outcome::Failure;
use crate::reports::timeline::{Timeline, Timelines};
use eitri_model::Sink;

/// `--trace`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TraceArgument {
    /// Write what happens inside of the GPU as a timeline: groups, streams, jobs on cores, requests to the firmware,
    /// interrupts, faults. The file opens in ui.perfetto.dev and chrome://tracing.
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
}

/// The trace of one job.
pub(crate) struct Trace<'a> {
    path: &'a str,
    timeline: Timeline,
}

impl Trace<'_> {
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        self.timeline.sink()
    }

    /// Writes the file, with the name of the job.
    pub(crate) fn write(&self, name: &str) -> Result<(), Failure> {
        let timelines = Timelines::default();
        timelines.add(name, &self.timeline);
        timelines.write(self.path)
    }
}

impl TraceArgument {
    /// The file, if one is asked for.
    pub(crate) fn path(&self) -> Option<&str> {
        self.trace.as_deref()
    }

    /// The trace of a single job, if one is asked for.
    pub(crate) fn start(&self) -> Option<Trace<'_>> {
        self.path().map(|path| Trace {
            path,
            timeline: Timeline::default(),
        })
    }
}
