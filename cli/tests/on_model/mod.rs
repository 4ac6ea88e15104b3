//! Programs on the model: the runtime in this process, from power-off to the saved buffers.
//!
//! The command's own way to do this (`host`) is private to it, watches the clock, and only prints what the model has to
//! say; here the first diagnosis is an error.

use eitri_job::result::{JobResult, Sink};
use eitri_job::{BufferParts, Bundle, BundleParts};
use eitri_model::{Budget, Config, Gpu, PhysicalMemory, SparseMemory};
use eitri_runtime::{Instant, Lines, PhysicalAddress, Platform};
use eitri_shaderc::interp::{Buffers, Dispatch};
use std::ops::Range;
use std::time::Duration;

/// Where memory starts: not at 0, so that a forgotten address is found.
const MEMORY_BASE: u64 = 0x8000_0000;
/// Where it ends.
const MEMORY_END: u64 = 0x1_0000_0000;
/// Instructions between two looks at the interrupt lines.
const SLICE: u64 = 2_000_000;

struct Machine {
    gpu: Gpu,
    memory: SparseMemory,
    free: u64,
    counter_hertz: u64,
}

impl Machine {
    fn new() -> Machine {
        let config = Config::default();
        Machine {
            counter_hertz: config.timestamp_hz,
            gpu: Gpu::new(config),
            memory: SparseMemory::new(MEMORY_END),
            free: MEMORY_BASE,
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
        self.free = start.checked_add(bytes).filter(|&end| end <= MEMORY_END)?;
        Some(PhysicalAddress(start))
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        self.memory.read32(address.0).unwrap_or(u32::MAX)
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        self.memory
            .write32(address.0, value)
            .expect("the runtime writes to what it allocated");
    }

    fn clean(&mut self, _: Range<PhysicalAddress>) {}

    fn invalidate(&mut self, _: Range<PhysicalAddress>) {}

    fn now(&mut self) -> Instant {
        Instant(Duration::from_nanos(self.gpu.now()))
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
            let budget = Budget {
                time: u64::try_from(left.as_nanos()).unwrap_or(u64::MAX),
                instructions: SLICE,
            };
            self.gpu.run(&mut self.memory, budget);
        }
    }
}

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
        buffers: &parts,
    }
    .encode();
    let bundle = Bundle::parse(&bundle).map_err(|error| error.to_string())?;
    let mut machine = Machine::new();
    let mut stream = Collected::default();
    let Ok(_) = eitri_job::run(&mut machine, &bundle, &mut (), &mut stream);
    let result = JobResult::parse(&stream.0).map_err(|error| error.to_string())?;
    if let Some(diagnosis) = machine.gpu.diagnoses().first() {
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
