//! Jobs in this process: the model is the GPU, a vector is the memory, the driver is the image's own.
//!
//! Time is the model's own, so that a limit means the same on a slow machine; only a host that has waited longer than
//! the user's limit in real time moves it forward, which is how a shader that never ends is caught.

use crate::dispatch::{Done, Talk};
use crate::outcome::Failure;
use crate::streams::talk;
use eitri_job::result::{JobResult, ResultError, Sink};
use eitri_job::{Bundle, BundleError};
use eitri_model::{Budget, BusError, Config, Gpu, PhysicalMemory};
use eitri_runtime::{Done as StepDone, Instant, Lines, PhysicalAddress, Platform};
use miette::Diagnostic;
use std::convert::Infallible;
use std::ops::Range;
use std::time::Duration;
use thiserror::Error;

/// Physical memory of the machine that the model sits in. The pages that nothing touches cost nothing.
const MEMORY_BYTES: usize = 1 << 30;
/// Where it starts on the bus: not at 0, so that a forgotten address is found.
const MEMORY_BASE: u64 = 0x8000_0000;
/// Diagnoses that are shown: the first ones tell the cause.
const SHOWN_DIAGNOSES: usize = 8;
/// Instructions of one slice of work: between two looks at the host's clock.
const SLICE: u64 = 2_000_000;

/// Runs a bundle in this process. `trace` is told what happens inside of the GPU.
pub(crate) fn run(
    bundle: &[u8],
    limit: Duration,
    talk: Talk,
    trace: Option<Box<dyn eitri_model::Sink>>,
) -> Result<Done, Failure> {
    let read = Bundle::parse(bundle).map_err(|cause| Failure::refused(HostError::Bundle(cause)))?;
    let mut machine = Machine::new(Config::default(), limit);
    machine.gpu.trace_to(trace);
    let mut stream = Stream(Vec::new());
    let mut report = |step: &StepDone<'_>| {
        if talk == Talk::Verbose {
            talk!("{}: {} ({:?})", step.step, step.found, step.took);
        }
    };
    let Ok(_) = eitri_job::run(&mut machine, &read, &mut report, &mut stream);
    let found = machine.gpu.diagnoses();
    let shown = found.iter().take(SHOWN_DIAGNOSES);
    let mut diagnoses: Vec<String> = shown
        .map(|diagnosis| format!("model: {diagnosis}"))
        .collect();
    let kept = found.len().saturating_sub(SHOWN_DIAGNOSES) as u64;
    match kept + machine.gpu.dropped_diagnoses() {
        0 => {}
        more => diagnoses.push(format!("model: {more} more like these")),
    }
    let result =
        JobResult::parse(&stream.0).map_err(|cause| Failure::refused(HostError::Result(cause)))?;
    Ok(Done { result, diagnoses })
}

/// A defect of ours: what we wrote can't be read back.
#[derive(Debug, Error, Diagnostic)]
enum HostError {
    #[error("the job bundle can't be read back")]
    Bundle(#[source] BundleError),
    #[error("the job's result can't be read back")]
    Result(#[source] ResultError),
}

struct Stream(Vec<u8>);

impl Sink for Stream {
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// A machine with a GPU in it.
struct Machine {
    gpu: Gpu,
    memory: Memory,
    /// First byte of the memory that is not allocated.
    free: u64,
    counter_hertz: u64,
    started: std::time::Instant,
    /// Real time after which waiting is given up.
    patience: Duration,
    /// How far the driver's clock was moved ahead of the model's.
    skipped: Duration,
}

impl Machine {
    /// A machine that has just been switched on.
    fn new(config: Config, patience: Duration) -> Machine {
        Machine {
            counter_hertz: config.timestamp_hz,
            gpu: Gpu::new(config),
            memory: Memory {
                bytes: vec![0; MEMORY_BYTES],
            },
            free: MEMORY_BASE,
            started: std::time::Instant::now(),
            patience,
            skipped: Duration::ZERO,
        }
    }

    fn lines(&self) -> Lines {
        let lines = self.gpu.lines();
        Lines {
            job: lines.job,
            mmu: lines.mmu,
            gpu: lines.gpu,
        }
    }
}

impl Platform for &mut Machine {
    fn read32(&mut self, offset: u32) -> u32 {
        self.gpu.read32(&mut self.memory, offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.gpu.write32(&mut self.memory, offset, value);
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<PhysicalAddress> {
        let start = self.free.checked_next_multiple_of(alignment)?;
        let end = start.checked_add(bytes)?;
        if end > MEMORY_BASE + MEMORY_BYTES as u64 {
            return None;
        }
        self.free = end;
        Some(PhysicalAddress(start))
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        // What is outside the memory reads as on a bus with nothing there.
        self.memory.read32(address.0).unwrap_or(u32::MAX)
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        // A write to nothing is lost, as on a bus.
        let _ = self.memory.write32(address.0, value);
    }

    fn clean(&mut self, _range: Range<PhysicalAddress>) {}

    fn invalidate(&mut self, _range: Range<PhysicalAddress>) {}

    fn now(&mut self) -> Instant {
        Instant(Duration::from_nanos(self.gpu.now()).saturating_add(self.skipped))
    }

    fn counter_hertz(&self) -> u64 {
        self.counter_hertz
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        loop {
            let lines = self.lines();
            let hit =
                (lines.job && wanted.job) || (lines.mmu && wanted.mmu) || (lines.gpu && wanted.gpu);
            let left = until.since(self.now());
            if hit || left.is_zero() {
                return lines;
            }
            if self.started.elapsed() > self.patience {
                self.skipped = self.skipped.saturating_add(left);
                return lines;
            }
            let budget = Budget {
                time: u64::try_from(left.as_nanos()).unwrap_or(u64::MAX),
                instructions: SLICE,
            };
            self.gpu.run(&mut self.memory, budget);
        }
    }

    fn write_bytes(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        if let Some(to) = self.memory.at(address.0, bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    fn read_bytes(&mut self, address: PhysicalAddress, bytes: &mut [u8]) {
        if let Some(from) = self.memory.at(address.0, bytes.len()) {
            bytes.copy_from_slice(from);
        }
    }

    fn zero(&mut self, address: PhysicalAddress, bytes: u64) {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        if let Some(to) = self.memory.at(address.0, length) {
            to.fill(0);
        }
    }
}

struct Memory {
    bytes: Vec<u8>,
}

impl Memory {
    fn at(&mut self, address: u64, length: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(address.checked_sub(MEMORY_BASE)?).ok()?;
        self.bytes.get_mut(start..start.checked_add(length)?)
    }
}

impl PhysicalMemory for Memory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let from = self.at(address, bytes.len()).ok_or(BusError { address })?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let to = self.at(address, bytes.len()).ok_or(BusError { address })?;
        to.copy_from_slice(bytes);
        Ok(())
    }
}
