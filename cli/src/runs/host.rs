//! Jobs in this process: the model is the GPU, mapped pages are the memory, the driver is the image's own.
//!
//! Time is the model's own, so that a limit means the same on a slow machine; only a host that has waited longer than
//! the user's limit in real time, in a compute job without any progress, moves it forward, which is how a shader that never ends is caught.

use crate::input::gpu_choice::GpuChoice;
use crate::interrupt;
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::runs::dispatch::{Done, Request, Talk};
use crate::runs::known_lines::{KnownLines, with_place};
use eitri_job::result::{JobResult, ResultError, Sink};
use eitri_job::{Bundle, BundleError};
use eitri_model::diagnosis::Diagnosis;
use eitri_model::{Config, Drawn, Engine};
use eitri_on_model::{Captured, Machine, MissingUpkeep, NonCoherent, Recording};
use eitri_runtime::{Done as StepDone, Reporter, Warning};
use miette::Diagnostic;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;
use thiserror::Error;

/// Diagnoses that are shown: the first ones tell the cause.
const SHOWN_DIAGNOSES: usize = 8;
/// What decides when caches that the GPU does not see write lines back.
const SEED: u64 = 1;

/// Runs a bundle in this process, and its dispatch again for as long as `again` says; `lines` are those of its program. `trace` is told
/// what happens inside of the GPU.
pub(crate) fn run(
    bundle: &[u8],
    request: &Request,
    lines: KnownLines,
    trace: Option<Box<dyn eitri_model::Sink>>,
    again: &mut dyn FnMut() -> bool,
) -> Result<Done, Failure> {
    let read = Bundle::parse(bundle).map_err(|cause| Failure::refused(HostError::Bundle(cause)))?;
    let Request { gpu, talk, .. } = *request;
    let machine = Machine::new(gpu.config()).with_patience(request.limit);
    let host = HostGpu::of(machine, trace).naming(lines);
    let mut stream = Stream(Vec::new());
    let mut report = Report { talk };
    let mut missing = MissingUpkeep::default();
    let Ok(_) = match request.coherent {
        true => eitri_job::run_again_while(host.platform(), &read, again, &mut report, &mut stream),
        false => {
            let caches = NonCoherent::new(host.platform(), SEED).naming_code();
            missing = caches.missing_upkeep();
            eitri_job::run_again_while(caches, &read, again, &mut report, &mut stream)
        }
    };
    let mut done = host.done(&stream)?;
    done.diagnoses.extend(missing.texts());
    Ok(done)
}

/// Runs a bundle in this process, on a GPU with one core, and copies the GPU when its compute job is about to start: for a debugger.
pub(crate) fn capture(bundle: &[u8], request: &Request) -> Result<Option<Captured>, Failure> {
    let read = Bundle::parse(bundle).map_err(|cause| Failure::refused(HostError::Bundle(cause)))?;
    let machine = Machine::new(for_debugger(request.gpu)).with_patience(request.limit);
    machine.capture_dispatch();
    let mut report = Report { talk: request.talk };
    let Ok(_) = eitri_job::run(machine.clone(), &read, &mut report, &mut Stream::default());
    Ok(machine.captured())
}

/// A GPU under the debugger. It has one core: one workgroup or warp runs at a time, in their order. Instructions have turns one by one.
fn for_debugger(gpu: GpuChoice) -> Config {
    let mut config = gpu.config();
    config.product.part.shader_present = 1;
    Config {
        engine: Engine::Interpret,
        workers: None,
        fidelity: false,
        ..config
    }
}

/// The life of a driver, recorded.
pub(crate) struct Recorded {
    pub(crate) recording: Recording,
    /// What the job failed with, if it did.
    pub(crate) failure: Option<String>,
}

/// Runs a bundle in this process as [`capture`] does, and records all that the driver does.
pub(crate) fn record(bundle: &[u8], request: &Request) -> Result<Recorded, Failure> {
    let read = Bundle::parse(bundle).map_err(|cause| Failure::refused(HostError::Bundle(cause)))?;
    let mut report = Report { talk: request.talk };
    record_by(request.gpu, request.limit, |machine, stream| {
        let Ok(_) = eitri_job::run(machine, &read, &mut report, stream);
    })
}

/// Records what a function does as the driver of a GPU with one core, and writes into the stream.
pub(crate) fn record_by(
    gpu: GpuChoice,
    limit: Duration,
    drive: impl FnOnce(Machine, &mut Stream),
) -> Result<Recorded, Failure> {
    let machine = Machine::new(for_debugger(gpu)).with_patience(limit);
    machine.record();
    let mut stream = Stream::default();
    drive(machine.clone(), &mut stream);
    let result =
        JobResult::parse(&stream.0).map_err(|cause| Failure::refused(HostError::Result(cause)))?;
    let recording = machine.recording();
    Ok(Recorded {
        recording: recording.ok_or_else(|| Failure::refused(HostError::NotRecorded))?,
        failure: result
            .failure
            .map(|failure| failure.text.trim_end().to_owned()),
    })
}

/// The model as the GPU of one run in this process.
pub(crate) struct HostGpu {
    machine: Machine,
    lines: KnownLines,
    places: Places,
}

/// Where instructions come from that something was reported of, by their addresses.
type Places = Rc<RefCell<BTreeMap<u64, String>>>;

impl HostGpu {
    /// A GPU; a job that gets on with nothing for `limit` of real time is caught. `trace` is told what happens inside.
    pub(crate) fn new(
        gpu: GpuChoice,
        limit: Duration,
        trace: Option<Box<dyn eitri_model::Sink>>,
    ) -> HostGpu {
        HostGpu::of(Machine::new(gpu.config()).with_patience(limit), trace)
    }

    fn of(machine: Machine, trace: Option<Box<dyn eitri_model::Sink>>) -> HostGpu {
        let machine = machine.stopped_by(interrupt::ending());
        machine.gpu(|gpu| gpu.trace_to(trace));
        HostGpu {
            machine,
            lines: KnownLines::default(),
            places: Places::default(),
        }
    }

    /// Has what is reported of these programs name their lines.
    pub(crate) fn naming(mut self, lines: KnownLines) -> HostGpu {
        let (places, known) = (self.places.clone(), lines.clone());
        self.machine.on_diagnosis(move |diagnosis, gpu, memory| {
            let place = known.place(&diagnosis.misuse, gpu, memory);
            if let Some((address, place)) = diagnosis.misuse.shader_address().zip(place) {
                places.borrow_mut().entry(address).or_insert(place);
            }
        });
        self.lines = lines;
        self
    }

    /// The driver's platform, of this GPU.
    pub(crate) fn platform(&self) -> Machine {
        self.machine.clone()
    }

    /// What the GPU has drawn.
    pub(crate) fn drawn(&self) -> Drawn {
        self.machine.gpu(|gpu| gpu.drawn())
    }

    /// The result that was written into a stream, with what the model has to say of how it was used.
    pub(crate) fn done(&self, stream: &Stream) -> Result<Done, Failure> {
        let mut result = JobResult::parse(&stream.0)
            .map_err(|cause| Failure::refused(HostError::Result(cause)))?;
        self.lines.add_to(&mut result.dump);
        let places = self.places.borrow();
        let named = |diagnosis: &Diagnosis| {
            let address = diagnosis.misuse.shader_address();
            with_place(diagnosis, address.and_then(|at| places.get(&at)))
        };
        let diagnoses = self.machine.gpu(|gpu| {
            let found = gpu.diagnoses();
            let shown = found.iter().take(SHOWN_DIAGNOSES);
            let mut diagnoses: Vec<String> = shown
                .map(|diagnosis| format!("model: {}", named(diagnosis)))
                .collect();
            let kept = found.len().saturating_sub(SHOWN_DIAGNOSES) as u64;
            match kept + gpu.dropped_diagnoses() {
                0 => {}
                more => diagnoses.push(format!("model: {more} more like these")),
            }
            if result.failure.is_some() {
                // Which threads failed.
                let notes = gpu.notes().iter().take(SHOWN_DIAGNOSES);
                diagnoses.extend(notes.map(|note| format!("model: note: {}", named(note))));
            }
            diagnoses
        });
        let cores = self.machine.gpu(|gpu| gpu.unit_times());
        let fidelity = self.machine.gpu(|gpu| gpu.fidelity().clone());
        Ok(Done {
            result,
            diagnoses,
            cores,
            fidelity,
        })
    }
}

/// Tells of bring-up on standard error: warnings always, steps to who wants to know all.
struct Report {
    talk: Talk,
}

impl Reporter for Report {
    fn done(&mut self, step: &StepDone<'_>) {
        if self.talk == Talk::Verbose {
            talk!("{}: {} ({:?})", step.step, step.found, step.took);
        }
    }

    fn warn(&mut self, warning: &Warning) {
        talk!("warning: {warning}");
    }
}

/// A defect of ours: what we wrote can't be read back.
#[derive(Debug, Error, Diagnostic)]
enum HostError {
    #[error("the job bundle can't be read back")]
    Bundle(#[source] BundleError),
    #[error("the job's result can't be read back")]
    Result(#[source] ResultError),
    #[error("internal error: the driver's accesses were not recorded")]
    NotRecorded,
}

/// A result stream in memory.
#[derive(Debug, Default)]
pub(crate) struct Stream(Vec<u8>);

impl Sink for Stream {
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of memory that this process holds, where the system tells.
    fn resident() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib << 10)
    }

    /// What a machine may cost before anything is done with it; its memory is a gibibyte.
    const MOST: u64 = 256 << 20;

    #[test]
    fn the_memory_of_a_second_machine_is_not_touched() {
        // With this program's own allocator, to which the first has given back what it had.
        drop(Machine::new(Config::default()));
        let Some(before) = resident() else { return };
        let machine = Machine::new(Config::default());
        let after = resident().unwrap_or(0);
        drop(machine);
        assert!(after < before + MOST, "{before} bytes became {after}");
    }
}
