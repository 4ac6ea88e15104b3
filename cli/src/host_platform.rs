//! The runtime's platform in an ordinary process: the model is the GPU, a vector is the memory.
//!
//! Time is the model's own, so that a limit means the same on a slow machine; only a host that has waited longer than
//! the user's limit in real time moves it forward, which is how a shader that never ends is caught.

use eitri_model::{Budget, BusError, Config, Gpu, PhysicalMemory, Progress};
use eitri_runtime::{Instant, Lines, PhysicalAddress, Platform};
use std::ops::Range;
use std::time::Duration;

/// Physical memory of the machine that the model sits in. The pages that nothing touches cost nothing.
const MEMORY_BYTES: usize = 1 << 30;
/// Where it starts on the bus: not at 0, so that a forgotten address is found.
const MEMORY_BASE: u64 = 0x8000_0000;
/// Instructions of one slice of work: between two looks at the host's clock.
const SLICE: u64 = 2_000_000;

/// The machine.
pub(crate) struct HostPlatform {
    gpu: Gpu,
    memory: Memory,
    /// First byte of the memory that is not allocated.
    free: u64,
    started: std::time::Instant,
    patience: Duration,
    /// How far the driver's clock was moved ahead of the model's.
    skipped: Duration,
}

impl HostPlatform {
    /// A machine that has just been switched on. `patience` is the real time after which waiting is given up.
    pub(crate) fn new(config: Config, patience: Duration) -> HostPlatform {
        HostPlatform {
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

    /// The GPU, to ask what it thinks of its driver.
    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The GPU, to make something go wrong.
    #[cfg(test)]
    pub(crate) fn gpu_mut(&mut self) -> &mut Gpu {
        &mut self.gpu
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

impl Platform for HostPlatform {
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
        self.gpu.config().timestamp_hz
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        loop {
            let lines = self.lines();
            let hit = (lines.job && wanted.job) || (lines.mmu && wanted.mmu) || (lines.gpu && wanted.gpu);
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
            let _: Progress = self.gpu.run(&mut self.memory, budget);
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
