//! Running a bundle: from power-off to the saved buffers, on any platform.
//!
//! The image and the host's own process call the same function; only the platform and the sink differ.

use crate::bundle::{Buffer, Bundle};
use crate::result::{FailureKind, Sink, Writer};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_program::{Program, ProgramError};
use eitri_runtime::{
    BringUpError, BufferError, Cause, CommandError, DescriptorSet, Device, Done, JobFault, Options,
    Platform, QueueConfig, QueueError, Reporter, Step, SubmitError, WaitError,
};
use thiserror::Error;

/// Bytes of a buffer that are read back at once.
const CHUNK: usize = 4096;

/// How a job ended; the result stream says the same, with the words for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every buffer that was to be saved is in the stream.
    Good,
    /// The stream says why not.
    Failed(FailureKind),
}

/// Why a job did not run to its end.
#[derive(Debug, Error)]
enum JobError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    BringUp(#[from] BringUpError),
    #[error(transparent)]
    Buffer(#[from] BufferError),
    #[error("buffer {set}:{binding}: {error}")]
    Allocation {
        set: u32,
        binding: u32,
        error: BufferError,
    },
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Submit(#[from] SubmitError),
    #[error(transparent)]
    Wait(#[from] WaitError),
}

impl JobError {
    fn kind(&self) -> FailureKind {
        match self {
            JobError::Program(_) | JobError::Allocation { .. } | JobError::Command(_) => {
                FailureKind::Refused
            }
            // A shader that never ends, or that reaches outside of its buffers.
            JobError::Wait(WaitError::Job(JobFault {
                cause: Cause::TimeLimit { .. } | Cause::Mmu(_) | Cause::Exception(_),
                ..
            })) => FailureKind::Refused,
            _ => FailureKind::Device,
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

fn bring_up_and_dispatch<P: Platform>(
    platform: P,
    bundle: &Bundle<'_>,
    reporter: &mut impl Reporter,
) -> Result<Vec<Saved>, JobError> {
    let program = Program::parse(bundle.program())?;
    let mut device = Device::bring_up(platform, bundle.firmware(), Options::default(), reporter)
        .map_err(|failed| failed.error)?;
    let saved = dispatch(&mut device, &program, bundle);
    // The power goes off whatever became of the job; its failure is the one to tell.
    let off = device.shutdown(reporter);
    let saved = saved?;
    off.map_err(|failed| failed.error)?;
    Ok(saved)
}

fn dispatch<P: Platform>(
    device: &mut Device<'_, P>,
    program: &Program<'_>,
    bundle: &Bundle<'_>,
) -> Result<Vec<Saved>, JobError> {
    let pipeline = device.create_pipeline(program)?;
    let mut sets: Vec<DescriptorSet<'_>> = Vec::new();
    let mut buffers = Vec::new();
    for content in bundle.buffers() {
        let buffer = create(device, &content)?;
        if !sets.iter().any(|set| set.set() == content.set) {
            sets.push(device.create_descriptor_set(&pipeline, content.set)?);
        }
        if let Some(set) = sets.iter().find(|set| set.set() == content.set) {
            device.bind_buffer(set, content.binding, &buffer)?;
        }
        buffers.push((content, buffer));
    }
    let mut commands = device.create_command_buffer()?;
    commands.record(device, |recorder| {
        recorder.bind_pipeline(&pipeline);
        for set in &sets {
            recorder.bind_descriptor_set(set);
        }
        recorder.push_constants(bundle.push_constants())?;
        recorder.dispatch(bundle.groups())?;
        Ok(())
    })?;
    let queue = device.create_queue(QueueConfig::default())?;
    let point = queue.submit(device, &commands)?;
    let limit = Duration::from_millis(bundle.limit_ms().into());
    queue.timeline().wait(device, point, limit)?;

    let wanted = buffers.iter().filter(|(content, _)| content.save);
    let saved = wanted.map(|(content, buffer)| {
        let bytes = read(device, content, buffer)?;
        let Buffer { set, binding, .. } = *content;
        Ok(Saved {
            set,
            binding,
            bytes,
        })
    });
    let saved = saved.collect::<Result<Vec<_>, BufferError>>()?;
    device.destroy_queue(queue)?;
    device.destroy_command_buffer(commands)?;
    for set in sets {
        device.destroy_descriptor_set(set)?;
    }
    for (_, buffer) in buffers {
        device.destroy_buffer(buffer)?;
    }
    device.destroy_pipeline(pipeline)?;
    Ok(saved)
}

/// A buffer with its first content; fresh memory is zero, so the rest need not be written.
fn create<P: Platform>(
    device: &mut Device<'_, P>,
    content: &Buffer<'_>,
) -> Result<eitri_runtime::Buffer, JobError> {
    let Buffer { set, binding, .. } = *content;
    let named = |error| JobError::Allocation {
        set,
        binding,
        error,
    };
    let buffer = device.create_buffer(content.bytes.into()).map_err(named)?;
    device
        .write_buffer(&buffer, 0, content.data)
        .map_err(named)?;
    Ok(buffer)
}

fn read<P: Platform>(
    device: &mut Device<'_, P>,
    content: &Buffer<'_>,
    buffer: &eitri_runtime::Buffer,
) -> Result<Vec<u8>, BufferError> {
    let mut bytes = alloc::vec![0; content.bytes as usize];
    for (index, chunk) in bytes.chunks_mut(CHUNK).enumerate() {
        device.read_buffer(buffer, (index * CHUNK) as u64, chunk)?;
    }
    Ok(bytes)
}

/// Hands steps on, and writes them into the stream.
struct StepWriter<'r, 's, S: Sink, R> {
    writer: Writer<'s, S>,
    reporter: &'r mut R,
    /// The first error of the sink.
    lost: Option<S::Error>,
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
        if self.lost.is_none()
            && let Err(error) = self.writer.step(&name, &found, took)
        {
            self.lost = Some(error);
        }
    }
}
