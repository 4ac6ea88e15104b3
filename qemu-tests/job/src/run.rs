//! Running a job: from power-off to the saved buffers, on any platform.
//!
//! The image and the host's own process call the same function; only the platform and the sink differ.

use crate::bundle::Bundle;
use crate::content::Content;
use crate::job::{Job, Part, Resource, Wants};
use crate::result::Sink;
use crate::session::{
    Ended, Failure, Saved, Session, Verdict, Work, WorkError, run_unread, run_work,
};
use alloc::format;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::time::Duration;
use eitri_program::Program;
use eitri_runtime::{
    BindingElement, Buffer, BufferRange, CommandBuffer, Device, Error, Image, ImageInfo, ImagePart,
    Platform, Queue, QueueConfig, Reporter, Space,
};

/// Bytes of a buffer that are read back at once.
const CHUNK: usize = 4096;

/// A job has at most as many buffers and sets as this.
const OBJECTS: usize = 256;

/// Says whether a dispatch is to run once more.
type Again<'a> = RefCell<&'a mut dyn FnMut() -> bool>;

/// A dispatch as work.
struct Dispatch<'j, 'a, 'd> {
    job: &'j Job<'d>,
    /// What decides how often it runs; once, if there is nothing.
    again: Option<Again<'a>>,
}

impl<'d> Work<'d> for Dispatch<'_, '_, 'd> {
    fn firmware(&self) -> &'d [u8] {
        self.job.firmware
    }

    fn wants(&self) -> Wants {
        self.job.wants
    }

    fn run<P: Platform>(
        &self,
        session: &mut Session<'_, '_, 'd, '_, P>,
    ) -> Result<Vec<Saved>, WorkError> {
        let dispatched = dispatch(session, self.job)?;
        let saved = dispatched.read(session.device)?;
        if let Some(again) = &self.again {
            // Nobody else has it: the work runs once.
            while again.try_borrow_mut().is_ok_and(|mut again| again()) {
                dispatched.repeat(session, self.job)?;
            }
        }
        Ok(saved)
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
    run_bundle(platform, bundle, None, reporter, sink)
}

/// As [`run`]; behind that the dispatch runs again, on the same device, for as long as `again` says. Each time the resources have
/// their first contents; what is saved is what the first one left.
///
/// # Errors
/// As there.
pub fn run_again_while<P: Platform, S: Sink>(
    platform: P,
    bundle: &Bundle<'_>,
    again: &mut dyn FnMut() -> bool,
    reporter: &mut impl Reporter,
    sink: &mut S,
) -> Result<Verdict, S::Error> {
    run_bundle(platform, bundle, Some(again), reporter, sink).map(|ended| ended.verdict)
}

fn run_bundle<P: Platform, S: Sink>(
    platform: P,
    bundle: &Bundle<'_>,
    again: Option<&mut dyn FnMut() -> bool>,
    reporter: &mut impl Reporter,
    sink: &mut S,
) -> Result<Ended, S::Error> {
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
    let work = Dispatch {
        job: &job,
        again: again.map(RefCell::new),
    };
    let (_, ended) = run_work::<P, S, OBJECTS>(platform, &work, reporter, sink);
    ended
}

/// Runs a job on `platform`, which is given back for the next one. What else the job wants is not kept.
pub fn run_here<P: Platform>(
    platform: P,
    job: &Job<'_>,
    reporter: &mut impl Reporter,
) -> (P, Result<Vec<Saved>, Failure>) {
    run_unread::<P, OBJECTS>(platform, &Dispatch { job, again: None }, reporter)
}

/// A resource on the GPU.
#[derive(Clone, Copy)]
enum Made {
    Buffer(Buffer),
    Image(Image, ImageInfo),
    Sampler,
}

/// A dispatch that has run, and what can run again.
struct Dispatched<'j, 'd> {
    queue: Queue,
    commands: CommandBuffer,
    resources: Vec<(&'j Resource<'d>, Made)>,
}

impl Dispatched<'_, '_> {
    /// Contents of the resources that are to be saved.
    fn read<P: Platform>(&self, device: &mut Device<'_, '_, P>) -> Result<Vec<Saved>, Error> {
        let wanted = self.resources.iter().filter(|(content, _)| content.save);
        let saved = wanted.map(|(content, made)| {
            let bytes = read(device, content, *made)?;
            Ok(Saved {
                place: (content.set, content.binding, content.element),
                bytes,
            })
        });
        saved.collect()
    }

    /// Runs it once more, with the contents that its resources had at first.
    fn repeat<P: Platform>(
        &self,
        session: &mut Session<'_, '_, '_, '_, P>,
        job: &Job<'_>,
    ) -> Result<(), WorkError> {
        for (content, made) in &self.resources {
            fill(session.device, content, *made, Rest::MayDiffer)?;
        }
        let fence = session.device.submit(self.queue, self.commands)?;
        session.wait(fence, Duration::from_millis(job.limit_ms.into()))
    }
}

/// Runs the job; what it made goes with the device.
fn dispatch<'j, 'd, P: Platform>(
    session: &mut Session<'_, '_, 'd, '_, P>,
    job: &Job<'d>,
) -> Result<Dispatched<'j, 'd>, WorkError> {
    let program = Program::parse(job.program)?;
    let device = &mut *session.device;
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let pipeline = device.create_pipeline(space, &program)?;
    let mut sets = Vec::new();
    let mut resources: Vec<(&Resource<'_>, Made)> = Vec::new();
    for (number, content) in (0_u32..).zip(job.resources) {
        let made = match content.part {
            Part::Of { resource, .. } if resource != number => {
                let shared = usize::try_from(resource).ok();
                let shared = shared.and_then(|shared| resources.get(shared));
                let (_, made) = shared.ok_or_else(|| {
                    let (set, binding) = (content.set, content.binding);
                    WorkError::Refused(format!(
                        "resource {set}:{binding} sees the memory of one that has none"
                    ))
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
    session.start_counters()?;
    let fence = session.device.submit(queue, commands)?;
    session.wait(fence, Duration::from_millis(job.limit_ms.into()))?;
    session.put_counters()?;
    Ok(Dispatched {
        queue,
        commands,
        resources,
    })
}

/// A resource with its first content.
fn create<P: Platform>(
    device: &mut Device<'_, '_, P>,
    space: Space,
    content: &Resource<'_>,
) -> Result<Made, WorkError> {
    let Resource { set, binding, .. } = *content;
    let named = |error: Error| WorkError::Refused(format!("resource {set}:{binding}: {error}"));
    let made = match content.content {
        Content::Buffer | Content::Texels(_) => {
            let buffer = device.create_buffer(space, content.bytes.into());
            Made::Buffer(buffer.map_err(named)?)
        }
        Content::Image(info) => Made::Image(device.create_image(space, info).map_err(named)?, info),
        Content::Sampler(_) => Made::Sampler,
    };
    // Fresh memory is zero.
    fill(device, content, made, Rest::IsZero).map_err(named)?;
    Ok(made)
}

/// What stands in a resource behind what is given of its content, which is to be zero.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    IsZero,
    MayDiffer,
}

/// Writes the first content of a resource.
fn fill<P: Platform>(
    device: &mut Device<'_, '_, P>,
    content: &Resource<'_>,
    made: Made,
    behind: Rest,
) -> Result<(), Error> {
    match made {
        Made::Buffer(buffer) => {
            device.write_buffer(buffer, 0, content.data)?;
            let (given, end) = (content.data.len(), content.bytes as usize);
            if behind == Rest::MayDiffer {
                for at in (given..end).step_by(CHUNK) {
                    let zeros = [0; CHUNK];
                    let zeros = zeros.get(..end.saturating_sub(at)).unwrap_or(&zeros);
                    device.write_buffer(buffer, at as u64, zeros)?;
                }
            }
        }
        Made::Image(image, info) => {
            let mut rest = content.data;
            for (part, bytes) in parts(&info) {
                if rest.is_empty() && behind == Rest::IsZero {
                    break;
                }
                // A part that is cut short is filled up.
                let (here, after) = rest.split_at(rest.len().min(bytes));
                let mut whole = Vec::from(here);
                whole.resize(bytes, 0);
                device.write_image(image, part, &whole)?;
                rest = after;
            }
        }
        Made::Sampler => {}
    }
    Ok(())
}

/// The parts of an image in the order of a bundle, with their bytes.
fn parts(info: &ImageInfo) -> impl Iterator<Item = (ImagePart, usize)> + use<> {
    let info = *info;
    (0..info.layers).flat_map(move |layer| {
        (0..info.levels).flat_map(move |level| {
            let bytes = usize::try_from(info.part_bytes(level)).unwrap_or(usize::MAX);
            (0..info.slices(level)).map(move |slice| {
                let part = ImagePart {
                    aspect: None,
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
    let at = BindingElement {
        binding: content.binding,
        element: content.element,
    };
    let (start, bytes) = match content.part {
        Part::Whole => (0, content.bytes.into()),
        Part::Of { start, bytes, .. } => (start.into(), bytes.into()),
    };
    match (content.content, made) {
        (Content::Texels(format), Made::Buffer(buffer)) => device.bind_texel_buffer(
            set,
            at,
            buffer,
            BufferRange {
                offset: start,
                bytes,
            },
            format,
        ),
        (_, Made::Buffer(buffer)) => device.bind_range(
            set,
            at,
            buffer,
            BufferRange {
                offset: start,
                bytes,
            },
        ),
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
