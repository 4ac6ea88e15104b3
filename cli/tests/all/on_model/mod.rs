//! Programs on the model: the runtime in this process, from power-off to the saved buffers.
//!
//! The command's own way to do this (`host`) is private to it, watches the clock, and only prints what the model has to
//! say; here the first diagnosis is an error.

use eitri_job::result::{JobResult, Sink};
use eitri_job::{Bundle, Content, Job, Part, Resource, Wants};
use eitri_model::Config;
use eitri_on_model::Machine;
use eitri_shaderc::interp::{Buffers, Dispatch};

/// A result stream in memory.
#[derive(Default)]
pub struct Collected(pub Vec<u8>);

impl Sink for Collected {
    type Error = std::convert::Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Runs a program; the first thing that the model or the runtime has to say against it is the error.
pub fn run(program: &[u8], dispatch: &Dispatch, buffers: &mut Buffers) -> Result<(), String> {
    run_with(Config::default(), program, dispatch, buffers)
}

/// The same on a model that is set up in another way.
pub fn run_with(
    config: Config,
    program: &[u8],
    dispatch: &Dispatch,
    buffers: &mut Buffers,
) -> Result<(), String> {
    let mut bound: Vec<Bound> = buffers
        .iter()
        .map(|(place, buffer)| Bound {
            place: *place,
            content: Content::Buffer,
            bytes: buffer.bytes.clone(),
        })
        .collect();
    run_bound(config, program, dispatch, &mut bound)?;
    for saved in bound {
        if let Some(buffer) = buffers.get_mut(&saved.place) {
            buffer.bytes = saved.bytes;
        }
    }
    Ok(())
}

/// A resource: set, binding and element, what it is, what it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub place: (u32, u32, u32),
    pub content: Content,
    pub bytes: Vec<u8>,
}

/// The same with resources of all kinds, which afterwards hold what the program has left in them.
pub fn run_bound(
    config: Config,
    program: &[u8],
    dispatch: &Dispatch,
    bound: &mut [Bound],
) -> Result<(), String> {
    let is_sampler = |content: &Content| matches!(content, Content::Sampler(_));
    let parts: Vec<Resource<'_>> = bound
        .iter()
        .map(|one| Resource {
            set: one.place.0,
            binding: one.place.1,
            element: one.place.2,
            content: one.content,
            data: &one.bytes,
            bytes: one.bytes.len() as u32,
            save: !is_sampler(&one.content),
            part: Part::Whole,
        })
        .collect();
    let firmware = eitri_model::stub_firmware();
    let bundle = Job {
        program,
        firmware: &firmware,
        push_constants: &dispatch.push_constants,
        groups: dispatch.groups,
        limit_ms: 60_000,
        wants: Wants::default(),
        resources: &parts,
    }
    .encode();
    let bundle = Bundle::parse(&bundle).map_err(|error| error.to_string())?;
    let machine = Machine::new(config);
    let mut stream = Collected::default();
    let Ok(_) = eitri_job::run(machine.clone(), &bundle, &mut (), &mut stream);
    let result = JobResult::parse(&stream.0).map_err(|error| error.to_string())?;
    let diagnosis = machine.gpu(|gpu| gpu.diagnoses().first().map(ToString::to_string));
    if let Some(diagnosis) = diagnosis {
        return Err(format!("the model reports {diagnosis}"));
    }
    if let Some(failure) = result.failure {
        return Err(failure.text);
    }
    for saved in result.buffers {
        let place = (saved.set, saved.binding, saved.element);
        let is_it = |one: &&mut Bound| one.place == place && !is_sampler(&one.content);
        if let Some(one) = bound.iter_mut().find(is_it) {
            one.bytes = saved.bytes;
        }
    }
    Ok(())
}
