//! A machine with the model in it, as the runtime's platform.
//!
//! Time is the model's: it passes while the driver waits, and a little with each register access.

use crate::memory::Memory;
use eitri_model::{Budget, Config, Gpu, PhysicalMemory};
use eitri_runtime::{
    DmaRegion, Instant, Lines, OperatingPoint, PageAllocator, PhysicalAddress, Platform,
    PowerChange, SystemCoherency,
};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// Physical memory of the usual machine.
const MEMORY_BYTES: u64 = 1 << 30;
/// Where it starts on the bus: not at 0, so that a forgotten address is found.
const MEMORY_BASE: u64 = 0x8000_0000;
/// Instructions of one slice of work: between two looks at the host's clock.
const SLICE: u64 = 2_000_000;

/// How often the driver did what costs time on hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Registers read.
    pub register_reads: u64,
    /// Registers written.
    pub register_writes: u64,
    /// Store barriers.
    pub publishes: u64,
    /// Load barriers.
    pub observes: u64,
    /// Waits.
    pub waits: u64,
}

struct Parts {
    gpu: Gpu,
    memory: Memory,
    pages: PageAllocator<Vec<u64>>,
    /// First address that was never given out: from here on memory is zero as it is.
    fresh: u64,
    counter_hertz: u64,
    slice_hash: Option<[u32; 3]>,
    coherency: SystemCoherency,
    slowdown: u32,
    accesses: Accesses,
    /// Real time after which waiting is given up, from the start of the machine on.
    patience: Option<(std::time::Instant, Duration)>,
    /// How far the driver's clock was moved ahead of the model's.
    skipped: Duration,
    supply: Supply,
}

/// What was asked of the supply and the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// Whether it is to be there.
    pub on: bool,
    /// How often it was switched from one to the other.
    pub switched: u32,
    /// The clock and voltage that were asked for last.
    pub point: Option<OperatingPoint>,
    /// Accesses to registers while it was not there, and stable.
    pub strays: u64,
    /// How long a change takes.
    delay: Duration,
    stable: Instant,
}

impl Supply {
    const ON: Supply = Supply {
        on: true,
        switched: 0,
        point: None,
        strays: 0,
        delay: Duration::ZERO,
        stable: Instant(Duration::ZERO),
    };
}

impl Parts {
    fn lines(&self) -> Lines {
        let lines = self.gpu.lines();
        Lines {
            job: lines.job,
            mmu: lines.mmu,
            gpu: lines.gpu,
        }
    }

    fn now(&self) -> Instant {
        Instant(Duration::from_nanos(self.gpu.now()).saturating_add(self.skipped))
    }

    /// Notes an access to a register.
    fn reach_registers(&mut self) {
        let there = self.supply.on && self.now() >= self.supply.stable;
        self.supply.strays += u64::from(!there);
    }

    fn out_of_patience(&self) -> bool {
        let over = |(started, limit): (std::time::Instant, Duration)| started.elapsed() > limit;
        self.patience.is_some_and(over)
    }

    /// Lets `time` nanoseconds pass, or what one slice of work takes, or less when a line rises.
    fn run(&mut self, time: u64) {
        let budget = Budget {
            time,
            instructions: SLICE,
        };
        self.gpu.run(&mut self.memory, budget);
    }
}

/// A machine that the model is the GPU of. Clones are the same machine: one may be a device's platform while another
/// looks at the model.
#[derive(Clone)]
pub struct Machine(Rc<RefCell<Parts>>);

impl Machine {
    /// A machine that has just been switched on.
    ///
    /// # Panics
    /// Never: the map has a bit for each page.
    pub fn new(config: Config) -> Machine {
        Machine::with_memory(config, MEMORY_BYTES)
    }

    /// The same with so many bytes of memory, a multiple of 4096.
    ///
    /// # Panics
    /// Never: the map has a bit for each page.
    pub fn with_memory(config: Config, bytes: u64) -> Machine {
        let map = vec![0; PageAllocator::words(bytes)];
        let pages = PageAllocator::new(PhysicalAddress(MEMORY_BASE), bytes, map);
        Machine(Rc::new(RefCell::new(Parts {
            counter_hertz: config.timestamp_hz,
            slice_hash: config.product.needs_hash,
            gpu: Gpu::new(config),
            memory: Memory::new(MEMORY_BASE, bytes),
            pages: pages.expect("a bit for each page"),
            fresh: MEMORY_BASE,
            coherency: SystemCoherency::None,
            slowdown: 1,
            accesses: Accesses::default(),
            patience: None,
            skipped: Duration::ZERO,
            supply: Supply::ON,
        })))
    }

    /// Stops waiting when `limit` of real time has passed: then the driver's clock jumps to the end of every wait, which is
    /// how a shader that never ends is caught.
    #[must_use]
    pub fn with_patience(self, limit: Duration) -> Machine {
        self.0.borrow_mut().patience = Some((std::time::Instant::now(), limit));
        self
    }

    /// States how CPU and GPU see each other's writes, whatever the GPU thinks of it.
    #[must_use]
    pub fn with_coherency(self, coherency: SystemCoherency) -> Machine {
        self.0.borrow_mut().coherency = coherency;
        self
    }

    /// States how many times slower than usual the GPU is clocked.
    #[must_use]
    pub fn with_slowdown(self, slowdown: u32) -> Machine {
        self.0.borrow_mut().slowdown = slowdown;
        self
    }

    /// States how long supply and clocks take to come or go.
    #[must_use]
    pub fn with_supply_delay(self, delay: Duration) -> Machine {
        self.0.borrow_mut().supply.delay = delay;
        self
    }

    /// What the driver asked of supply and clock.
    pub fn supply(&self) -> Supply {
        self.0.borrow().supply
    }

    /// The model.
    pub fn gpu<T>(&self, look: impl FnOnce(&mut Gpu) -> T) -> T {
        look(&mut self.0.borrow_mut().gpu)
    }

    /// The time that the driver sees.
    pub fn time(&self) -> Duration {
        self.0.borrow().now().0
    }

    /// Lets time pass in which the driver does nothing.
    pub fn pass(&self, time: Duration) {
        let parts = &mut *self.0.borrow_mut();
        let end = parts.gpu.now().saturating_add(time.as_nanos() as u64);
        while parts.gpu.now() < end {
            parts.run(end - parts.gpu.now());
        }
    }

    /// Bytes of memory that are given out.
    pub fn memory_in_use(&self) -> u64 {
        self.0.borrow().pages.in_use()
    }

    /// What the driver did so far.
    pub fn accesses(&self) -> Accesses {
        self.0.borrow().accesses
    }

    /// A register word, without counting it as an access of the driver's.
    pub(crate) fn look_at_register(&self, offset: u32) -> u32 {
        let parts = &mut *self.0.borrow_mut();
        parts.gpu.read32(&mut parts.memory, offset)
    }

    /// Bytes of memory; `None` where there is none.
    pub(crate) fn look_at_memory(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let parts = &mut *self.0.borrow_mut();
        bytes.copy_from_slice(parts.memory.at(address, bytes.len())?);
        Some(())
    }

    fn word<const N: usize>(&self, address: PhysicalAddress) -> [u8; N] {
        let parts = &mut *self.0.borrow_mut();
        let bytes = parts.memory.at(address.0, N);
        // What is outside the memory reads as on a bus with nothing there.
        bytes.map_or([0xFF; N], |bytes| bytes.try_into().unwrap_or([0xFF; N]))
    }

    fn set<const N: usize>(&self, address: PhysicalAddress, word: [u8; N]) {
        let parts = &mut *self.0.borrow_mut();
        // A write to nothing is lost, as on a bus.
        let _ = parts.memory.write(address.0, &word);
    }
}

#[expect(
    unsafe_code,
    reason = "the promise of a platform; what reaches memory is the model's safe code"
)]
// SAFETY: the GPU is the model, which writes to the vector of this machine and to nothing else.
unsafe impl Platform for Machine {
    fn read32(&mut self, offset: u32) -> u32 {
        let parts = &mut *self.0.borrow_mut();
        parts.accesses.register_reads += 1;
        parts.reach_registers();
        parts.gpu.read32(&mut parts.memory, offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let parts = &mut *self.0.borrow_mut();
        parts.accesses.register_writes += 1;
        parts.reach_registers();
        parts.gpu.write32(&mut parts.memory, offset, value);
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let (region, old) = {
            let parts = &mut *self.0.borrow_mut();
            let region = parts.pages.allocate(bytes, alignment)?;
            let old = parts.fresh.saturating_sub(region.start().0);
            parts.fresh = parts.fresh.max(region.span().end.0);
            (region, old)
        };
        self.zero(region.start(), old.min(region.bytes()));
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        self.0.borrow_mut().pages.free(region);
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        u32::from_le_bytes(self.word(address))
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        self.set(address, value.to_le_bytes());
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        u64::from_le_bytes(self.word(address))
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        self.set(address, value.to_le_bytes());
    }

    fn publish(&mut self) {
        self.0.borrow_mut().accesses.publishes += 1;
    }

    fn observe(&mut self) {
        self.0.borrow_mut().accesses.observes += 1;
    }

    fn clean(&mut self, _: Range<PhysicalAddress>) {}

    fn invalidate(&mut self, _: Range<PhysicalAddress>) {}

    fn now(&mut self) -> Instant {
        self.0.borrow().now()
    }

    fn counter_hertz(&self) -> u64 {
        self.0.borrow().counter_hertz
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        let parts = &mut *self.0.borrow_mut();
        parts.accesses.waits += 1;
        loop {
            let lines = parts.lines();
            let hit =
                (lines.job && wanted.job) || (lines.mmu && wanted.mmu) || (lines.gpu && wanted.gpu);
            let left = until.since(parts.now());
            if hit || left.is_zero() {
                return lines;
            }
            if parts.out_of_patience() {
                parts.skipped = parts.skipped.saturating_add(left);
                return lines;
            }
            parts.run(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    fn coherency(&self) -> SystemCoherency {
        self.0.borrow().coherency
    }

    fn slowdown(&self) -> u32 {
        self.0.borrow().slowdown
    }

    fn begin_supply(&mut self, change: PowerChange) {
        let parts = &mut *self.0.borrow_mut();
        let (on, now) = (change == PowerChange::On, parts.now());
        let supply = &mut parts.supply;
        if supply.on != on {
            supply.on = on;
            supply.switched += 1;
            supply.stable = now.after(supply.delay);
            if !on {
                parts.gpu.cut_power();
            }
        }
    }

    fn supply_is_stable(&mut self) -> bool {
        let parts = self.0.borrow();
        parts.now() >= parts.supply.stable
    }

    fn set_operating_point(&mut self, point: OperatingPoint) {
        self.0.borrow_mut().supply.point = Some(point);
    }

    fn slice_hash(&self) -> Option<[u32; 3]> {
        self.0.borrow().slice_hash
    }

    fn write_bytes(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        if let Some(to) = self.0.borrow_mut().memory.at(address.0, bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    fn read_bytes(&mut self, address: PhysicalAddress, bytes: &mut [u8]) {
        if let Some(from) = self.0.borrow_mut().memory.at(address.0, bytes.len()) {
            bytes.copy_from_slice(from);
        }
    }

    fn zero(&mut self, address: PhysicalAddress, bytes: u64) {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        if let Some(to) = self.0.borrow_mut().memory.at(address.0, length) {
            to.fill(0);
        }
    }
}
