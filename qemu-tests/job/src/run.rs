//! Running a bundle: from power-off to the saved buffers, on any platform.
//!
//! The image and the host's own process call the same function; only the platform and the sink differ.

use crate::bundle::{Buffer, Bundle};
use crate::extras;
use crate::result::{FailureKind, Sink, Writer};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_program::{Program, ProgramError};
use eitri_runtime::{
    BringUpError, Cause, Counts, Device, Done, Error, ErrorKind, Fence, JobFault, Options,
    Platform, QueueConfig, Reporter, Space, Status, Step, Storage, StreamStatus,
};

/// Bytes of a buffer that are read back at once.
const CHUNK: usize = 4096;

/// A job has one queue, and at most as many buffers and sets as this.
type JobStorage<'d> = Storage<'d, 1, 4, 256>;

/// How a job ended; the result stream says the same, with the words for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every buffer that was to be saved is in the stream.
    Good,
    /// The stream says why not.
    Failed(FailureKind),
}

/// Why a job did not run to its end.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    BringUp(#[from] BringUpError),
    #[error("buffer {set}:{binding}: {error}")]
    Allocation {
        set: u32,
        binding: u32,
        error: Error,
    },
    #[error(transparent)]
    Runtime(#[from] Error),
    #[error(
        "the counters' ring was too small: the firmware took samples by itself, and some were lost"
    )]
    CountersLost,
    #[error("{fence} did not finish within {limit:?}\n{}\n  help: does the shader end?", Told(*status))]
    Limit {
        fence: Fence,
        limit: Duration,
        status: Option<StreamStatus>,
    },
}

/// What the stream was doing, if that is known.
struct Told(Option<StreamStatus>);

impl core::fmt::Display for Told {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            Some(status) => write!(f, "{status}"),
            None => f.write_str("  it is not on a slot of the firmware"),
        }
    }
}

impl JobError {
    fn kind(&self) -> FailureKind {
        match self {
            JobError::Program(_) | JobError::Allocation { .. } | JobError::Limit { .. } => {
                FailureKind::Refused
            }
            // A shader that reaches outside of its buffers.
            JobError::Runtime(Error::Job(JobFault {
                cause: Cause::Mmu(_) | Cause::Exception(_),
                ..
            })) => FailureKind::Refused,
            JobError::Runtime(error) => match error.kind() {
                ErrorKind::Refused | ErrorKind::OutOfMemory | ErrorKind::OutOfStorage => {
                    FailureKind::Refused
                }
                _ => FailureKind::Device,
            },
            JobError::BringUp(_) | JobError::CountersLost => FailureKind::Device,
        }
    }
}

/// Runs a bundle on `platform`; steps and results go to `sink`, and steps to `reporter` too, as they happen.
///
/// # Errors
/// Only when the sink fails: then the stream is void. Whatever else goes wrong is in the stream.
pub fn run<P: Platform, S: Sink>(
    platform: P,
    bundle: &Bundle<'_>,
    reporter: &mut impl Reporter,
    sink: &mut S,
) -> Result<Verdict, S::Error> {
    let mut steps = StepWriter {
        writer: Writer::start(sink)?,
        reporter,
        lost: None,
    };
    let outcome = bring_up_and_dispatch(platform, bundle, &mut steps);
    if let Some(error) = steps.lost {
        return Err(error);
    }
    let mut writer = steps.writer;
    let verdict = match outcome {
        Ok(saved) => {
            for buffer in &saved {
                writer.buffer(buffer.set, buffer.binding, buffer.bytes.len())?;
                writer.data(&buffer.bytes)?;
            }
            Verdict::Good
        }
        Err(error) => {
            writer.failure(error.kind(), format_args!("{error}"))?;
            Verdict::Failed(error.kind())
        }
    };
    writer.finish()?;
    Ok(verdict)
}

/// A buffer's content after the dispatch.
struct Saved {
    set: u32,
    binding: u32,
    bytes: Vec<u8>,
}

fn bring_up_and_dispatch<P: Platform, S: Sink>(
    platform: P,
    bundle: &Bundle<'_>,
    steps: &mut StepWriter<'_, '_, S, impl Reporter>,
) -> Result<Vec<Saved>, JobError> {
    let program = Program::parse(bundle.program())?;
    let mut storage = alloc::boxed::Box::new(JobStorage::new());
    let firmware = bundle.firmware();
    let up = Device::bring_up(platform, firmware, &mut *storage, Options::default(), steps);
    let mut device = up.map_err(|failed| failed.error)?;
    let saved = dispatch(&mut device, &program, bundle, steps);
    // The power goes off whatever became of the job; its failure is the one to tell.
    let off = device.shutdown(steps);
    let saved = saved?;
    off.map_err(|failed| failed.error)?;
    Ok(saved)
}

/// Runs the job; what it made goes with the device.
fn dispatch<'d, P: Platform, S: Sink>(
    device: &mut Device<'_, 'd, P>,
    program: &Program<'d>,
    bundle: &Bundle<'_>,
    steps: &mut StepWriter<'_, '_, S, impl Reporter>,
) -> Result<Vec<Saved>, JobError> {
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let pipeline = device.create_pipeline(space, program)?;
    let mut sets = Vec::new();
    let mut buffers = Vec::new();
    for content in bundle.buffers() {
        let buffer = create(device, space, &content)?;
        let known = sets.iter().find(|(number, _)| *number == content.set);
        let set = match known {
            Some((_, set)) => *set,
            None => {
                let set = device.create_descriptor_set(pipeline, content.set)?;
                sets.push((content.set, set));
                set
            }
        };
        device.bind_buffer(set, content.binding, buffer)?;
        buffers.push((content, buffer));
    }
    let commands = device.create_command_buffer(space)?;
    device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?;
        for (_, set) in &sets {
            recorder.bind_descriptor_set(*set)?;
        }
        recorder.push_constants(bundle.push_constants())?;
        recorder.dispatch(bundle.groups())?;
        Ok(())
    })?;
    let wants = bundle.wants();
    if wants.counters {
        device.start_counters()?;
    }
    let fence = device.submit(queue, commands)?;
    let limit = Duration::from_millis(bundle.limit_ms().into());
    let status = match wants.dump {
        false => device.wait(fence, limit),
        true => extras::wait_and_dump(device, fence, limit, steps),
    };
    match status {
        Status::Done => {}
        // What took the device down says more than that the job went with it.
        Status::Failed(fault) => match device.last_loss() {
            Some(lost) if fault.cause == Cause::LostWithGpu => {
                return Err(Error::from(*lost).into());
            }
            _ => return Err(Error::from(fault).into()),
        },
        Status::Pending | Status::Unknown => {
            let status = device.explain(fence);
            return Err(JobError::Limit {
                fence,
                limit,
                status,
            });
        }
    }
    if wants.counters {
        let mut counts = Counts::new(device.properties().arch);
        device.sample_counters(&mut counts)?;
        if counts.lost() {
            return Err(JobError::CountersLost);
        }
        steps.write(|writer| {
            let mut all = counts.iter();
            all.try_for_each(|(counter, value)| writer.counter(counter.name, value))
        });
    }
    let wanted = buffers.iter().filter(|(content, _)| content.save);
    let saved = wanted.map(|(content, buffer)| {
        let bytes = read(device, content, *buffer)?;
        let Buffer { set, binding, .. } = *content;
        Ok(Saved {
            set,
            binding,
            bytes,
        })
    });
    Ok(saved.collect::<Result<Vec<_>, Error>>()?)
}

/// A buffer with its first content; fresh memory is zero, so the rest need not be written.
fn create<P: Platform>(
    device: &mut Device<'_, '_, P>,
    space: Space,
    content: &Buffer<'_>,
) -> Result<eitri_runtime::Buffer, JobError> {
    let Buffer { set, binding, .. } = *content;
    let named = |error| JobError::Allocation {
        set,
        binding,
        error,
    };
    let buffer = device
        .create_buffer(space, content.bytes.into())
        .map_err(named)?;
    device
        .write_buffer(buffer, 0, content.data)
        .map_err(named)?;
    Ok(buffer)
}

fn read<P: Platform>(
    device: &mut Device<'_, '_, P>,
    content: &Buffer<'_>,
    buffer: eitri_runtime::Buffer,
) -> Result<Vec<u8>, Error> {
    let mut bytes = alloc::vec![0; content.bytes as usize];
    for (index, chunk) in bytes.chunks_mut(CHUNK).enumerate() {
        device.read_buffer(buffer, (index * CHUNK) as u64, chunk)?;
    }
    Ok(bytes)
}

/// Hands steps on, and writes them into the stream.
pub(crate) struct StepWriter<'r, 's, S: Sink, R> {
    writer: Writer<'s, S>,
    reporter: &'r mut R,
    /// The first error of the sink.
    lost: Option<S::Error>,
}

impl<'s, S: Sink, R> StepWriter<'_, 's, S, R> {
    /// Writes into the stream, unless it is void.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut Writer<'s, S>) -> Result<(), S::Error>) {
        if self.lost.is_none()
            && let Err(error) = write(&mut self.writer)
        {
            self.lost = Some(error);
        }
    }
}

impl<S: Sink, R: Reporter> Reporter for StepWriter<'_, '_, S, R> {
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
}
