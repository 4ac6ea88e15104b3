//! Sessions: a device from power-off to shutdown, the work that is done with it, and the result stream.
//!
//! Whatever a device is brought up for (a dispatch, a drawing) is [`Work`]; what surrounds it is the same code for all of them.
//! Needs: the runtime, `result`, `extras`.  Guarantees: each session ends with the device shut down.

use crate::extras;
use crate::job::{CoreDump, Wants};
use crate::result::{FailureKind, Sink, Writer};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_program::ProgramError;
use eitri_runtime::{
    BringUpError, Cause, CommandError, Counts, Device, Done, Error, ErrorKind, Fence,
    GraphicsError, JobFault, Options, Platform, Reporter, Status, Step, Storage, StreamStatus,
    Warning,
};

/// How a job ended; the result stream says the same, with the words for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every buffer that was to be saved is in the stream.
    Good,
    /// The stream says why not.
    Failed(FailureKind),
}

/// How a job ended, with what it saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub verdict: Verdict,
    /// Contents of the resources that were to be saved; none if it failed.
    pub saved: Vec<Saved>,
}

/// Why a job failed, for whoever ran it in its own memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whose fault it is.
    pub kind: FailureKind,
    /// What a person should read.
    pub text: String,
}

/// The content of a buffer or image after the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Set, binding, element; of other work than a dispatch, a number and two zeros.
    pub place: (u32, u32, u32),
    /// All of its memory.
    pub bytes: Vec<u8>,
}

/// Why work did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A program can't be read.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The GPU does not start.
    #[error(transparent)]
    BringUp(#[from] BringUpError),
    /// The driver refuses a call, or a job failed.
    #[error(transparent)]
    Runtime(#[from] Error),
    /// The request can't be carried out; why.
    #[error("{0}")]
    Refused(String),
    /// The driver does not do what is asked for; what.
    #[error("{0}")]
    Unsupported(String),
    /// Samples of performance counters were lost.
    #[error(
        "the counters' ring was too small: the firmware took samples by itself, and some were lost"
    )]
    CountersLost,
    /// A job did not end in time.
    #[error("{fence} was still running after {limit:?}\n{}\n  help: raise --timeout; or the shader may loop for ever", StreamState(*status))]
    Limit {
        /// The job.
        fence: Fence,
        /// Its time.
        limit: Duration,
        /// What its stream was doing, if that is known.
        status: Option<StreamStatus>,
    },
}

/// What the stream was doing, if that is known.
struct StreamState(Option<StreamStatus>);

impl core::fmt::Display for StreamState {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            Some(status) => write!(f, "{status}"),
            None => f.write_str("  it is not on a slot of the firmware"),
        }
    }
}

impl WorkError {
    pub(crate) fn kind(&self) -> FailureKind {
        match self {
            WorkError::Program(_) | WorkError::Refused(_) | WorkError::Limit { .. } => {
                FailureKind::Refused
            }
            WorkError::Unsupported(_) => FailureKind::Unsupported,
            WorkError::Runtime(Error::Command(CommandError::Graphics(
                GraphicsError::Unsupported { .. }
                | GraphicsError::Format { .. }
                | GraphicsError::Samples { .. }
                | GraphicsError::TileBuffer { .. },
            ))) => FailureKind::Unsupported,
            // A shader that reaches outside of its buffers.
            WorkError::Runtime(Error::Job(JobFault {
                cause: Cause::Mmu(_) | Cause::Exception(_),
                ..
            })) => FailureKind::Refused,
            WorkError::Runtime(error) => match error.kind() {
                ErrorKind::Refused | ErrorKind::OutOfMemory | ErrorKind::OutOfStorage => {
                    FailureKind::Refused
                }
                _ => FailureKind::Device,
            },
            WorkError::BringUp(_) | WorkError::CountersLost => FailureKind::Device,
        }
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Failure {
        Failure {
            kind: error.kind(),
            text: error.to_string(),
        }
    }
}

/// What a device is brought up for. Programs and firmware live for `'d`.
pub trait Work<'d> {
    /// The firmware that the GPU is brought up with.
    fn firmware(&self) -> &'d [u8];

    /// What is wanted besides the results.
    fn wants(&self) -> Wants;

    /// Does the work, and gives its results.
    ///
    /// # Errors
    /// Why there are none.
    fn run<P: Platform>(
        &self,
        session: &mut Session<'_, '_, 'd, '_, P>,
    ) -> Result<Vec<Saved>, WorkError>;
}

/// A device that is up, and what is wanted of it.
pub struct Session<'a, 's, 'd, 'w, P: Platform> {
    /// The device.
    pub device: &'a mut Device<'s, 'd, P>,
    wants: Wants,
    steps: &'a mut StepWriter<'w>,
}

impl<P: Platform> Session<'_, '_, '_, '_, P> {
    /// Waits until a job is over; a core dump that is wanted goes into the result stream.
    ///
    /// # Errors
    /// If the job failed, or does not end in time.
    pub fn wait(&mut self, fence: Fence, limit: Duration) -> Result<(), WorkError> {
        let status = match self.wants.dump {
            CoreDump::Never => self.device.wait(fence, limit),
            when => extras::wait_and_dump(self.device, fence, limit, when, self.steps),
        };
        match status {
            Status::Done => Ok(()),
            // What took the device down says more than that the job went with it.
            Status::Failed(fault) => Err(match self.device.last_loss() {
                Some(lost) if fault.cause == Cause::LostWithGpu => Error::from(*lost).into(),
                _ => Error::from(fault).into(),
            }),
            Status::Pending | Status::Unknown => {
                let status = self.device.explain(fence);
                Err(WorkError::Limit {
                    fence,
                    limit,
                    status,
                })
            }
        }
    }

    /// Lets the performance counters count, if that is wanted.
    ///
    /// # Errors
    /// If the firmware does not start them.
    pub(crate) fn start_counters(&mut self) -> Result<(), WorkError> {
        if self.wants.counters {
            self.device.start_counters()?;
        }
        Ok(())
    }

    /// Puts what the performance counters have counted into the result stream, if that is wanted.
    ///
    /// # Errors
    /// If samples were lost.
    pub(crate) fn put_counters(&mut self) -> Result<(), WorkError> {
        if !self.wants.counters {
            return Ok(());
        }
        let mut counts = Counts::new(self.device.properties().arch);
        self.device.sample_counters(&mut counts)?;
        if counts.lost() {
            return Err(WorkError::CountersLost);
        }
        self.steps.write(|writer| {
            let mut all = counts.iter();
            all.try_for_each(|(counter, value)| writer.counter(counter.name, value))
        });
        Ok(())
    }
}

/// Does work on `platform`, which is given back; steps and results go to `sink`, and steps to `reporter` too, as they happen.
/// `OBJECTS` is how many objects of the driver the work may make.
///
/// # Errors
/// Only when the sink fails: then the stream is void. Whatever else goes wrong is in the stream.
pub fn run_work<'d, P: Platform, S: Sink, const OBJECTS: usize>(
    platform: P,
    work: &impl Work<'d>,
    reporter: &mut dyn Reporter,
    sink: &mut S,
) -> (P, Result<Ended, S::Error>) {
    let mut lost = None;
    let mut put = |bytes: &[u8]| match sink.put(bytes) {
        Ok(()) => Ok(()),
        Err(error) => {
            lost.get_or_insert(error);
            Err(Void)
        }
    };
    let (platform, ended) = run_into::<P, OBJECTS>(platform, work, reporter, &mut Stream(&mut put));
    let ended = match (ended, lost) {
        (_, Some(error)) => Err(error),
        (Ok(ended), None) => Ok(ended),
        // Nothing else makes it void.
        (Err(Void), None) => Ok(Ended {
            verdict: Verdict::Failed(FailureKind::Device),
            saved: Vec::new(),
        }),
    };
    (platform, ended)
}

/// Does work on `platform`, which is given back for the next. What else the work wants is not kept.
pub fn run_unread<'d, P: Platform, const OBJECTS: usize>(
    platform: P,
    work: &impl Work<'d>,
    reporter: &mut dyn Reporter,
) -> (P, Result<Vec<Saved>, Failure>) {
    // Nobody reads this stream.
    let mut put = |_: &[u8]| Ok(());
    let mut stream = Stream(&mut put);
    let Ok(writer) = Writer::start(&mut stream) else {
        let text = "a stream that nobody reads is void".to_string();
        let kind = FailureKind::Device;
        return (platform, Err(Failure { kind, text }));
    };
    let mut steps = StepWriter::new(writer, reporter);
    let (platform, outcome) = bring_up_and_run::<P, OBJECTS>(platform, work, &mut steps);
    (platform, outcome.map_err(Failure::from))
}

fn run_into<'d, 'p, P: Platform, const OBJECTS: usize>(
    platform: P,
    work: &impl Work<'d>,
    reporter: &'p mut dyn Reporter,
    stream: &'p mut Stream<'p>,
) -> (P, Result<Ended, Void>) {
    let writer = match Writer::start(stream) {
        Ok(writer) => writer,
        Err(error) => return (platform, Err(error)),
    };
    let mut steps = StepWriter::new(writer, reporter);
    let (platform, outcome) = bring_up_and_run::<P, OBJECTS>(platform, work, &mut steps);
    (platform, steps.finish(outcome))
}

fn bring_up_and_run<'d, P: Platform, const OBJECTS: usize>(
    platform: P,
    work: &impl Work<'d>,
    steps: &mut StepWriter<'_>,
) -> (P, Result<Vec<Saved>, WorkError>) {
    // One queue, and few jobs in flight.
    // A constant: it is copied to where it stays, and does not pass over the stack.
    let mut storage = Box::new(const { Storage::<'_, 1, 4, OBJECTS>::new() });
    let options = Options::default();
    let mut device =
        match Device::bring_up(platform, work.firmware(), &mut *storage, options, steps) {
            Ok(device) => device,
            Err(failed) => return (failed.platform, Err(failed.error.into())),
        };
    let saved = work.run(&mut Session {
        device: &mut device,
        wants: work.wants(),
        steps,
    });
    // The power goes off whatever became of the work; its failure is the one to tell.
    match device.shutdown(steps) {
        Ok(platform) => (platform, saved),
        Err(failed) => (
            failed.platform,
            saved.and_then(|_| Err(failed.error.into())),
        ),
    }
}

/// Where the stream goes, whatever that is: all work on a platform is the same code.
pub(crate) struct Stream<'p>(&'p mut dyn FnMut(&[u8]) -> Result<(), Void>);

/// The stream is void.
pub(crate) struct Void;

impl Sink for Stream<'_> {
    type Error = Void;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Void> {
        (self.0)(bytes)
    }
}

/// Hands steps on, and writes them into the stream.
pub(crate) struct StepWriter<'p> {
    writer: Writer<'p, Stream<'p>>,
    reporter: &'p mut dyn Reporter,
    /// Whether the stream is void.
    lost: Option<Void>,
}

impl<'p> StepWriter<'p> {
    fn new(writer: Writer<'p, Stream<'p>>, reporter: &'p mut dyn Reporter) -> StepWriter<'p> {
        StepWriter {
            writer,
            reporter,
            lost: None,
        }
    }

    /// Writes into the stream, unless it is void.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut Writer<'p, Stream<'p>>) -> Result<(), Void>,
    ) {
        if self.lost.is_none()
            && let Err(error) = write(&mut self.writer)
        {
            self.lost = Some(error);
        }
    }

    /// Writes the results, or why there are none, and the end of the stream.
    fn finish(self, outcome: Result<Vec<Saved>, WorkError>) -> Result<Ended, Void> {
        if let Some(error) = self.lost {
            return Err(error);
        }
        let mut writer = self.writer;
        let ended = match outcome {
            Ok(saved) => {
                for buffer in &saved {
                    writer.buffer(buffer.place, buffer.bytes.len())?;
                    writer.data(&buffer.bytes)?;
                }
                Ended {
                    verdict: Verdict::Good,
                    saved,
                }
            }
            Err(error) => {
                writer.failure(error.kind(), format_args!("{error}"))?;
                Ended {
                    verdict: Verdict::Failed(error.kind()),
                    saved: Vec::new(),
                }
            }
        };
        writer.finish()?;
        Ok(ended)
    }
}

impl Reporter for StepWriter<'_> {
    fn begin(&mut self, step: Step) {
        self.reporter.begin(step);
    }

    fn done(&mut self, done: &Done<'_>) {
        self.reporter.done(done);
        let name = alloc::format!("{}", done.step);
        let found = alloc::format!("{}", done.found);
        let took = u64::try_from(done.took.as_micros()).unwrap_or(u64::MAX);
        self.write(|writer| writer.step(&name, &found, took));
    }

    fn warn(&mut self, warning: &Warning) {
        self.reporter.warn(warning);
    }
}
