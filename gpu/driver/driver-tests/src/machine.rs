//! Machine: what a test has of the machine that it runs on, besides the driver's platform.
//!
//! On the host it is a process with the model in it (`gpu/simulator/on-model`); in an image the board that QEMU is, whose monitor plays the
//! GPU (`qemu-tests/driver-tests`).

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;
use core::ops::Range;
use core::time::Duration;
use eitri_model::{Config, Injection};
use eitri_runtime::{
    DmaRegion, Instant, Lines, OperatingPoint, PhysicalAddress, Platform, PowerChange,
    SystemCoherency,
};
use spin::Once;

/// Where tests run.
pub trait Bench: Sync {
    /// A machine that has just been switched on, with a GPU of this configuration and so many bytes of memory; as many as it likes
    /// where none is said.
    fn machine(&self, config: Config, memory: Option<u64>) -> Rc<dyn Parts>;
    /// A shader, compiled.
    fn program(&self, shader: &'static Shader) -> &'static [u8];
    /// The firmware that the GPU boots.
    fn firmware(&self) -> &'static [u8];
    /// Whether tests that have a longer form run it.
    fn long(&self) -> bool;
    /// Whether tests that have a shorter form run it: where the model computes slowly, and seeds of caches bend nothing.
    fn brief(&self) -> bool;
    /// Whether somebody wants the table of all faults.
    fn wants_table(&self) -> bool;
    /// Keeps it.
    fn keep_table(&self, table: &str);
    /// Says how a test went, for a person.
    fn say(&self, text: fmt::Arguments<'_>);
}

pub(crate) static BENCH: Once<&'static dyn Bench> = Once::new();

/// States where tests run, before the first of them; of several who say so the first counts.
pub fn run_on(bench: &'static dyn Bench) {
    BENCH.call_once(|| bench);
}

pub(crate) fn bench() -> &'static dyn Bench {
    *BENCH.get().expect("`run_on` comes before the first test")
}

/// A shader: a file in `shaders/`; one that reaches where it likes in `shaders/hostile/`.
#[derive(Debug, PartialEq, Eq)]
pub struct Shader {
    /// The name of its file, without `.wgsl`.
    pub name: &'static str,
    /// WGSL.
    pub source: &'static str,
    /// Whether accesses outside of its buffers are kept inside, or left out.
    pub robust: bool,
}

impl Shader {
    pub(crate) const fn new(name: &'static str, source: &'static str) -> Shader {
        Shader {
            name,
            source,
            robust: true,
        }
    }

    /// One that reaches where it likes.
    pub(crate) const fn hostile(name: &'static str, source: &'static str) -> Shader {
        Shader {
            robust: false,
            ..Shader::new(name, source)
        }
    }
}

/// How often the driver did what costs time on hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accesses {
    /// Registers read and written.
    pub(crate) registers: u64,
    /// Store barriers.
    pub(crate) publishes: u64,
    /// Load barriers.
    pub(crate) observes: u64,
    /// Waits.
    pub(crate) waits: u64,
}

/// Upkeep of caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upkeep {
    Clean,
    Invalidate,
}

/// What was asked of the GPU's supply and its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Supply {
    /// Whether it is to be there.
    pub(crate) on: bool,
    /// How often it was switched from one to the other.
    pub(crate) switched: u32,
    /// The clock and voltage that were asked for last.
    pub(crate) point: Option<OperatingPoint>,
    /// Accesses to registers while it was not there, and stable.
    pub(crate) strays: u64,
    /// How long a change takes.
    delay: Duration,
    stable: Instant,
}

/// A machine, as who provides it sees it.
pub trait Parts {
    /// What its driver is given. All of them are the same machine.
    fn platform(&self) -> Box<dyn Platform>;
    /// The same with caches that the GPU does not see; what they do unasked `seed` decides, if the machine can't help it.
    fn behind_caches(&self, seed: u64) -> Box<dyn Platform>;
    /// Something goes wrong from now on.
    fn inject(&self, injection: Injection);
    /// It does no longer.
    fn withdraw(&self, injection: Injection);
    /// What the GPU has to say of its driver, and caches of how they are kept up.
    fn diagnoses(&self) -> Vec<String>;
    /// The levels of the GPU's lines.
    fn lines(&self) -> Lines;
    /// The GPU's supply goes, and with it all that is in it.
    fn cut_power(&self);
    /// The time that the driver sees.
    fn time(&self) -> Duration;
    /// Lets time pass in which the driver does nothing.
    fn pass(&self, time: Duration);
    /// Bytes of memory that are given out.
    fn memory_in_use(&self) -> u64;
}

/// What tests state of a machine, and what its driver did.
struct State {
    parts: Rc<dyn Parts>,
    accesses: Cell<Accesses>,
    supply: Cell<Supply>,
    /// How CPU and GPU see each other's writes, whatever the GPU thinks of it.
    coherency: Cell<Option<SystemCoherency>>,
    /// How many times slower than usual the GPU is clocked, whatever the platform says of it.
    slowdown: Cell<Option<u32>>,
    /// Time that passes at each store barrier, as with a CPU that is slow beside its GPU.
    pace: Cell<Duration>,
    /// Upkeep of caches that is not done, as if the driver had forgotten it.
    left_out: Cell<Option<Upkeep>>,
}

impl State {
    fn count(&self, what: impl FnOnce(&mut Accesses)) {
        let mut accesses = self.accesses.get();
        what(&mut accesses);
        self.accesses.set(accesses);
    }

    fn change_supply(&self, how: impl FnOnce(&mut Supply)) {
        let mut supply = self.supply.get();
        how(&mut supply);
        self.supply.set(supply);
    }

    /// An access to a register.
    fn reach_registers(&self) {
        self.count(|accesses| accesses.registers += 1);
        let supply = self.supply.get();
        // Asking for the time is an access of its own in an image: only where there is something to see.
        let changing = !supply.on || supply.stable != Instant(Duration::ZERO);
        if changing && (!supply.on || self.parts.time() < supply.stable.0) {
            self.change_supply(|supply| supply.strays += 1);
        }
    }
}

/// A machine, as tests see it. Clones are the same machine.
#[derive(Clone)]
pub(crate) struct Machine(Rc<State>);

impl Machine {
    pub(crate) fn new(config: Config) -> Machine {
        Machine::of(bench().machine(config, None))
    }

    pub(crate) fn with_memory(config: Config, bytes: u64) -> Machine {
        Machine::of(bench().machine(config, Some(bytes)))
    }

    fn of(parts: Rc<dyn Parts>) -> Machine {
        let supply = Supply {
            on: true,
            switched: 0,
            point: None,
            strays: 0,
            delay: Duration::ZERO,
            stable: Instant(Duration::ZERO),
        };
        Machine(Rc::new(State {
            parts,
            accesses: Cell::default(),
            supply: Cell::new(supply),
            coherency: Cell::new(None),
            slowdown: Cell::new(None),
            pace: Cell::new(Duration::ZERO),
            left_out: Cell::new(None),
        }))
    }

    #[must_use]
    pub(crate) fn with_coherency(self, coherency: SystemCoherency) -> Machine {
        self.0.coherency.set(Some(coherency));
        self
    }

    #[must_use]
    pub(crate) fn with_slowdown(self, slowdown: u32) -> Machine {
        self.0.slowdown.set(Some(slowdown));
        self
    }

    /// States how long supply and clocks take to come or go.
    #[must_use]
    pub(crate) fn with_supply_delay(self, delay: Duration) -> Machine {
        self.0.change_supply(|supply| supply.delay = delay);
        self
    }

    /// What its driver is given.
    pub(crate) fn platform(&self) -> Host {
        Host {
            inner: self.0.parts.platform(),
            state: Rc::clone(&self.0),
        }
    }

    /// The same with caches that the GPU does not see.
    pub(crate) fn behind_caches(&self, seed: u64) -> Host {
        Host {
            inner: self.0.parts.behind_caches(seed),
            state: Rc::clone(&self.0),
        }
    }

    /// So much time passes at each store barrier from now on: the GPU sees what was stored before the CPU goes on.
    pub(crate) fn set_pace(&self, pace: Duration) {
        self.0.pace.set(pace);
    }

    /// Upkeep of caches that is not done from now on.
    pub(crate) fn leave_out(&self, upkeep: Option<Upkeep>) {
        self.0.left_out.set(upkeep);
    }

    pub(crate) fn inject(&self, injection: Injection) {
        self.0.parts.inject(injection);
    }

    pub(crate) fn withdraw(&self, injection: Injection) {
        self.0.parts.withdraw(injection);
    }

    pub(crate) fn diagnoses(&self) -> Vec<String> {
        self.0.parts.diagnoses()
    }

    pub(crate) fn lines(&self) -> Lines {
        self.0.parts.lines()
    }

    pub(crate) fn time(&self) -> Duration {
        self.0.parts.time()
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.0.parts.pass(time);
    }

    pub(crate) fn memory_in_use(&self) -> u64 {
        self.0.parts.memory_in_use()
    }

    pub(crate) fn accesses(&self) -> Accesses {
        self.0.accesses.get()
    }

    pub(crate) fn supply(&self) -> Supply {
        self.0.supply.get()
    }
}

/// What the driver of a machine is given, whatever the machine is: the machine's own platform, with a supply that can be switched.
pub(crate) struct Host {
    inner: Box<dyn Platform>,
    state: Rc<State>,
}

#[expect(
    unsafe_code,
    reason = "it hands on the promise of the platform that is in it"
)]
// SAFETY: registers and memory are those of the platform inside, which keeps the rules.
unsafe impl Platform for Host {
    fn read32(&mut self, offset: u32) -> u32 {
        self.state.reach_registers();
        self.inner.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.state.reach_registers();
        self.inner.write32(offset, value);
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        self.inner.allocate(bytes, alignment)
    }

    fn free(&mut self, region: DmaRegion) {
        self.inner.free(region);
    }

    fn lend(&mut self, memory: Range<PhysicalAddress>) -> Option<DmaRegion> {
        self.inner.lend(memory)
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        self.inner.load32(address)
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        self.inner.store32(address, value);
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        self.inner.load64(address)
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        self.inner.store64(address, value);
    }

    fn publish(&mut self) {
        self.state.count(|accesses| accesses.publishes += 1);
        self.inner.publish();
        let pace = self.state.pace.get();
        if !pace.is_zero() {
            self.state.parts.pass(pace);
        }
    }

    fn observe(&mut self) {
        self.state.count(|accesses| accesses.observes += 1);
        self.inner.observe();
    }

    fn clean(&mut self, range: Range<PhysicalAddress>) {
        if self.state.left_out.get() != Some(Upkeep::Clean) {
            self.inner.clean(range);
        }
    }

    fn invalidate(&mut self, range: Range<PhysicalAddress>) {
        if self.state.left_out.get() != Some(Upkeep::Invalidate) {
            self.inner.invalidate(range);
        }
    }

    fn now(&mut self) -> Instant {
        self.inner.now()
    }

    fn counter_hertz(&self) -> u64 {
        self.inner.counter_hertz()
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        self.state.count(|accesses| accesses.waits += 1);
        self.inner.wait(wanted, until)
    }

    fn coherency(&self) -> SystemCoherency {
        let inner = || self.inner.coherency();
        self.state.coherency.get().unwrap_or_else(inner)
    }

    fn slowdown(&self) -> u32 {
        let inner = || self.inner.slowdown();
        self.state.slowdown.get().unwrap_or_else(inner)
    }

    fn begin_supply(&mut self, change: PowerChange) {
        let on = change == PowerChange::On;
        if self.state.supply.get().on == on {
            return;
        }
        let now = self.inner.now();
        self.state.change_supply(|supply| {
            supply.on = on;
            supply.switched += 1;
            supply.stable = now.after(supply.delay);
        });
        if !on {
            self.state.parts.cut_power();
        }
    }

    fn supply_is_stable(&mut self) -> bool {
        self.inner.now() >= self.state.supply.get().stable
    }

    fn set_operating_point(&mut self, point: OperatingPoint) {
        self.state
            .change_supply(|supply| supply.point = Some(point));
    }

    fn slice_hash(&self) -> Option<[u32; 3]> {
        self.inner.slice_hash()
    }

    fn fused_cores(&self) -> Option<u64> {
        self.inner.fused_cores()
    }

    fn write_words(&mut self, address: PhysicalAddress, words: &[u64]) {
        self.inner.write_words(address, words);
    }

    fn write_bytes(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        self.inner.write_bytes(address, bytes);
    }

    fn read_bytes(&mut self, address: PhysicalAddress, bytes: &mut [u8]) {
        self.inner.read_bytes(address, bytes);
    }

    fn zero(&mut self, address: PhysicalAddress, bytes: u64) {
        self.inner.zero(address, bytes);
    }
}
