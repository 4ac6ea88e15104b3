//! Running a job: from power-off to the saved buffers, on any platform.
//!
//! The image and the host's own process call the same function; only the platform and the sink differ.

use crate::bundle::Bundle;
use crate::content::Content;
use crate::extras;
use crate::job::{CoreDump, Job, Part, Resource};
use crate::result::{FailureKind, Sink, Writer};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_program::{Program, ProgramError};
use eitri_runtime::{
    BringUpError, Buffer, Cause, Counts, Device, Done, Error, ErrorKind, Fence, Image, ImageInfo,
    ImagePart, JobFault, Options, Platform, QueueConfig, Reporter, Space, Status, Step, Storage,
    StreamStatus, Warning,
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

/// How a job ended, with what it saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub verdict: Verdict,
    /// Contents of the resources that were to be saved; none if it failed.
    pub saved: Vec<Saved>,
}

/// Why a job did not run to its end.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    BringUp(#[from] BringUpError),
    #[error("resource {set}:{binding}: {error}")]
    Allocation {
        set: u32,
        binding: u32,
        error: Error,
    },
    #[error("resource {set}:{binding} sees the memory of one that has none")]
    NoMemory { set: u32, binding: u32 },
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
            JobError::Program(_)
            | JobError::Allocation { .. }
            | JobError::NoMemory { .. }
            | JobError::Limit { .. } => FailureKind::Refused,
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
    run_and_keep(platform, bundle, reporter, sink).map(|ended| ended.verdict)
}

/// As [`run`], and what was saved is given too.
///
/// # Errors
/// As there.
pub fn run_and_keep<P: Platform, S: Sink>(
    platform: P,
    bundle: &Bundle<'_>,
    reporter: &mut impl Reporter,
    sink: &mut S,
) -> Result<Ended, S::Error> {
    let mut lost = None;
    let mut put = |bytes: &[u8]| match sink.put(bytes) {
        Ok(()) => Ok(()),
        Err(error) => {
            lost.get_or_insert(error);
            Err(Void)
        }
    };
    let ended = run_into(platform, bundle, reporter, &mut Stream(&mut put));
    match (ended, lost) {
        (_, Some(error)) => Err(error),
        (Ok(ended), None) => Ok(ended),
        // Nothing else makes it void.
        (Err(Void), None) => Ok(Ended {
            verdict: Verdict::Failed(FailureKind::Device),
            saved: Vec::new(),
        }),
    }
}

/// Where the stream goes, whatever that is: all jobs on a platform are the same code.
pub(crate) struct Stream<'p>(&'p mut dyn FnMut(&[u8]) -> Result<(), Void>);

/// The stream is void.
pub(crate) struct Void;

impl Sink for Stream<'_> {
    type Error = Void;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Void> {
        (self.0)(bytes)
    }
}

fn run_into<P: Platform>(
    platform: P,
    bundle: &Bundle<'_>,
    reporter: &mut dyn Reporter,
    stream: &mut Stream<'_>,
) -> Result<Ended, Void> {
    let mut steps = StepWriter {
        writer: Writer::start(stream)?,
        reporter,
        lost: None,
    };
    let resources: Vec<Resource<'_>> = bundle.resources().collect();
    let job = Job {
        program: bundle.program(),
        firmware: bundle.firmware(),
        push_constants: bundle.push_constants(),
        groups: bundle.groups(),
        limit_ms: bundle.limit_ms(),
        wants: bundle.wants(),
        resources: &resources,
    };
    let (_, outcome) = bring_up_and_dispatch(platform, &job, &mut steps);
    if let Some(error) = steps.lost {
        return Err(error);
    }
    let mut writer = steps.writer;
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

/// Why a job failed, for whoever ran it in its own memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whose fault it is.
    pub kind: FailureKind,
    /// What a person should read.
    pub text: String,
}

/// Runs a job on `platform`, which is given back for the next one. What else the job wants is not kept.
pub fn run_here<P: Platform>(
    platform: P,
    job: &Job<'_>,
    reporter: &mut impl Reporter,
) -> (P, Result<Vec<Saved>, Failure>) {
    // Nobody reads this stream.
    let mut put = |_: &[u8]| Ok(());
    let mut stream = Stream(&mut put);
    let Ok(writer) = Writer::start(&mut stream) else {
        let text = "a stream that nobody reads is void".to_string();
        let kind = FailureKind::Device;
        return (platform, Err(Failure { kind, text }));
    };
    let mut steps = StepWriter {
        writer,
        reporter,
        lost: None,
    };
    let (platform, outcome) = bring_up_and_dispatch(platform, job, &mut steps);
    let outcome = outcome.map_err(|error| Failure {
        kind: error.kind(),
        text: error.to_string(),
    });
    (platform, outcome)
}

/// The content of a buffer or image after the dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Set, binding, element.
    pub place: (u32, u32, u32),
    /// All of its memory.
    pub bytes: Vec<u8>,
}

/// A resource on the GPU.
#[derive(Clone, Copy)]
enum Made {
    Buffer(Buffer),
    Image(Image, ImageInfo),
    Sampler,
}

fn bring_up_and_dispatch<P: Platform>(
    platform: P,
    job: &Job<'_>,
    steps: &mut StepWriter<'_, '_, '_>,
) -> (P, Result<Vec<Saved>, JobError>) {
    let program = match Program::parse(job.program) {
        Ok(program) => program,
        Err(error) => return (platform, Err(error.into())),
    };
    let mut storage = alloc::boxed::Box::new(JobStorage::new());
    let options = Options::default();
    let mut device = match Device::bring_up(platform, job.firmware, &mut *storage, options, steps) {
        Ok(device) => device,
        Err(failed) => return (failed.platform, Err(failed.error.into())),
    };
    let saved = dispatch(&mut device, &program, job, steps);
    // The power goes off whatever became of the job; its failure is the one to tell.
    match device.shutdown(steps) {
        Ok(platform) => (platform, saved),
        Err(failed) => (
            failed.platform,
            saved.and_then(|_| Err(failed.error.into())),
        ),
    }
}

/// Runs the job; what it made goes with the device.
fn dispatch<'d, P: Platform>(
    device: &mut Device<'_, 'd, P>,
    program: &Program<'d>,
    job: &Job<'_>,
    steps: &mut StepWriter<'_, '_, '_>,
) -> Result<Vec<Saved>, JobError> {
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let pipeline = device.create_pipeline(space, program)?;
    let mut sets = Vec::new();
    let mut resources: Vec<(&Resource<'_>, Made)> = Vec::new();
    for (number, content) in (0_u32..).zip(job.resources) {
        let made = match content.part {
            Part::Of { resource, .. } if resource != number => {
                let shared = usize::try_from(resource).ok();
                let shared = shared.and_then(|shared| resources.get(shared));
                let (_, made) = shared.ok_or(JobError::NoMemory {
                    set: content.set,
                    binding: content.binding,
                })?;
                *made
            }
            _ => create(device, space, content)?,
        };
        let known = sets.iter().find(|(number, _)| *number == content.set);
        let set = match known {
            Some((_, set)) => *set,
            None => {
                let set = device.create_descriptor_set(pipeline, content.set)?;
                sets.push((content.set, set));
                set
            }
        };
        bind(device, set, content, made)?;
        resources.push((content, made));
    }
    let commands = device.create_command_buffer(space)?;
    device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?;
        for (_, set) in &sets {
            recorder.bind_descriptor_set(*set)?;
        }
        recorder.push_constants(job.push_constants)?;
        recorder.dispatch(job.groups)?;
        Ok(())
    })?;
    let wants = job.wants;
    if wants.counters {
        device.start_counters()?;
    }
    let fence = device.submit(queue, commands)?;
    let limit = Duration::from_millis(job.limit_ms.into());
    let status = match wants.dump {
        CoreDump::Never => device.wait(fence, limit),
        when => extras::wait_and_dump(device, fence, limit, when, steps),
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
    let wanted = resources.iter().filter(|(content, _)| content.save);
    let saved = wanted.map(|(content, made)| {
        let bytes = read(device, content, *made)?;
        Ok(Saved {
            place: (content.set, content.binding, content.element),
            bytes,
        })
    });
    Ok(saved.collect::<Result<Vec<_>, Error>>()?)
}

/// A resource with its first content; fresh memory is zero, so the rest need not be written.
fn create<P: Platform>(
    device: &mut Device<'_, '_, P>,
    space: Space,
    content: &Resource<'_>,
) -> Result<Made, JobError> {
    let Resource { set, binding, .. } = *content;
    let named = |error| JobError::Allocation {
        set,
        binding,
        error,
    };
    match content.content {
        Content::Buffer | Content::Texels(_) => {
            let buffer = device
                .create_buffer(space, content.bytes.into())
                .map_err(named)?;
            device
                .write_buffer(buffer, 0, content.data)
                .map_err(named)?;
            Ok(Made::Buffer(buffer))
        }
        Content::Image(info) => {
            let image = device.create_image(space, info).map_err(named)?;
            let mut rest = content.data;
            for (part, bytes) in parts(&info) {
                // What isn't given is zero, and a part that is cut short is filled up.
                if rest.is_empty() {
                    break;
                }
                let (here, after) = rest.split_at(rest.len().min(bytes));
                let mut whole = Vec::from(here);
                whole.resize(bytes, 0);
                device.write_image(image, part, &whole).map_err(named)?;
                rest = after;
            }
            Ok(Made::Image(image, info))
        }
        Content::Sampler(_) => Ok(Made::Sampler),
    }
}

/// The parts of an image in the order of a bundle, with their bytes.
fn parts(info: &ImageInfo) -> impl Iterator<Item = (ImagePart, usize)> + use<> {
    let info = *info;
    (0..info.layers).flat_map(move |layer| {
        (0..info.levels).flat_map(move |level| {
            let bytes = usize::try_from(info.part_bytes(level)).unwrap_or(usize::MAX);
            (0..info.slices(level)).map(move |slice| {
                let part = ImagePart {
                    level,
                    layer,
                    slice,
                };
                (part, bytes)
            })
        })
    })
}

fn bind<P: Platform>(
    device: &mut Device<'_, '_, P>,
    set: eitri_runtime::DescriptorSet,
    content: &Resource<'_>,
    made: Made,
) -> Result<(), Error> {
    let at = (content.binding, content.element);
    let (start, bytes) = match content.part {
        Part::Whole => (0, content.bytes.into()),
        Part::Of { start, bytes, .. } => (start.into(), bytes.into()),
    };
    match (content.content, made) {
        (Content::Texels(format), Made::Buffer(buffer)) => {
            device.bind_texel_buffer(set, at, buffer, (start, bytes), format)
        }
        (_, Made::Buffer(buffer)) => device.bind_range(set, at.0, at.1, buffer, start, bytes),
        (Content::Sampler(info), _) => device.bind_sampler(set, at, &info),
        (_, Made::Image(image, _)) => device.bind_image(set, at, image),
        (_, Made::Sampler) => Ok(()),
    }
}

fn read<P: Platform>(
    device: &mut Device<'_, '_, P>,
    content: &Resource<'_>,
    made: Made,
) -> Result<Vec<u8>, Error> {
    let mut bytes = alloc::vec![0; content.bytes as usize];
    match made {
        Made::Buffer(buffer) => {
            for (index, chunk) in bytes.chunks_mut(CHUNK).enumerate() {
                device.read_buffer(buffer, (index * CHUNK) as u64, chunk)?;
            }
        }
        Made::Image(image, info) => {
            let mut rest = bytes.as_mut_slice();
            for (part, length) in parts(&info) {
                let (here, after) = rest.split_at_mut(rest.len().min(length));
                device.read_image(image, part, here)?;
                rest = after;
            }
        }
        Made::Sampler => {}
    }
    Ok(bytes)
}

/// Hands steps on, and writes them into the stream.
pub(crate) struct StepWriter<'r, 's, 'p> {
    writer: Writer<'s, Stream<'p>>,
    reporter: &'r mut dyn Reporter,
    /// Whether the stream is void.
    lost: Option<Void>,
}

impl<'s, 'p> StepWriter<'_, 's, 'p> {
    /// Writes into the stream, unless it is void.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut Writer<'s, Stream<'p>>) -> Result<(), Void>,
    ) {
        if self.lost.is_none()
            && let Err(error) = write(&mut self.writer)
        {
            self.lost = Some(error);
        }
    }
}

impl Reporter for StepWriter<'_, '_, '_> {
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
