//! Programs on the model: the runtime in this process, from power-off to the saved buffers.
//!
//! The command's own way to do this (`host`) is private to it, watches the clock, and only prints what the model has to
//! say; here the first diagnosis is an error.

use eitri_job::result::{JobResult, Sink};
use eitri_job::{BufferParts, Bundle, BundleParts, Wants};
use eitri_model::Config;
use eitri_on_model::Machine;
use eitri_shaderc::interp::{Buffers, Dispatch};

#[derive(Default)]
struct Collected(Vec<u8>);

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
    let parts: Vec<BufferParts<'_>> = buffers
        .iter()
        .map(|(&(set, binding, _), buffer)| BufferParts {
            set,
            binding,
            data: &buffer.bytes,
            bytes: buffer.bytes.len() as u32,
            save: true,
        })
        .collect();
    let firmware = eitri_model::stub_firmware();
    let bundle = BundleParts {
        program,
        firmware: &firmware,
        push_constants: &dispatch.push_constants,
        groups: dispatch.groups,
        limit_ms: 60_000,
        wants: Wants::default(),
        buffers: &parts,
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
        let at = |place: &(u32, u32, u32)| (place.0, place.1) == (saved.set, saved.binding);
        if let Some((_, buffer)) = buffers.iter_mut().find(|(place, _)| at(place)) {
            buffer.bytes = saved.bytes;
        }
    }
    Ok(())
}
