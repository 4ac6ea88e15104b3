//! Recording: a platform that notes what the driver does, in its order, and checks rules of order as it goes.
//!
//! Nothing of the GPU is needed for that, and no chance: a rule is a predicate over the driver's own stores, barriers and register
//! writes. So a barrier that is missing is found in the first life that comes by, where results tell of it only on hardware.
//! Rules: [`rules`]. Where rings and sync objects lie is read from what the driver tells the firmware: [`found`].

mod found;
mod rules;

pub(crate) use rules::Rule;

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ops::Range;
use eitri_runtime::{
    DmaRegion, Instant, Lines, OperatingPoint, PhysicalAddress, Platform, PowerChange,
    SystemCoherency,
};
use rules::Rules;

/// Of so many double words that were stored last the values are kept.
const MOST_STORED: usize = 1 << 16;

/// What was noted. It goes on being filled, for whoever looks when the driver has the platform.
#[derive(Clone, Default)]
pub(crate) struct Log(Rc<RefCell<Rules>>);

impl Log {
    /// Rules that were broken, with what broke them.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.0.borrow().violations().to_vec()
    }

    /// How often a rule was checked.
    pub(crate) fn checked(&self, rule: Rule) -> u64 {
        self.0.borrow().checked(rule)
    }

    /// Timelines of streams that the driver has read with no load barrier behind: what it tells of their jobs its caller may not
    /// rely on.
    pub(crate) fn unobserved_timelines(&self) -> Vec<u64> {
        self.0.borrow().unobserved_timelines()
    }

    /// The same, of semaphores too.
    pub(crate) fn unobserved(&self) -> Vec<u64> {
        self.0.borrow().unobserved()
    }

    /// The double words that were stored since this was asked last.
    pub(crate) fn take_stored(&self) -> Vec<u64> {
        self.0.borrow_mut().take_stored()
    }
}

/// A platform that notes what is done with another.
pub(crate) struct Recording<P> {
    inner: P,
    log: Log,
}

impl<P: Platform> Recording<P> {
    /// In front of `inner`; and what is noted.
    pub(crate) fn new(inner: P) -> (Recording<P>, Log) {
        let log = Log::default();
        let recording = Recording {
            inner,
            log: log.clone(),
        };
        (recording, log)
    }

    fn rules(&mut self, change: impl FnOnce(&mut Rules, &mut P)) {
        change(&mut self.log.0.borrow_mut(), &mut self.inner);
    }
}

#[expect(
    unsafe_code,
    reason = "it hands on the promise of the platform that is in it"
)]
// SAFETY: registers and memory are those of the platform inside, which keeps the rules.
unsafe impl<P: Platform> Platform for Recording<P> {
    fn read32(&mut self, offset: u32) -> u32 {
        let value = self.inner.read32(offset);
        self.rules(|rules, _| rules.read(offset, value));
        value
    }

    fn write32(&mut self, offset: u32, value: u32) {
        // Before it is done: what a command finds was stored until then.
        self.rules(|rules, inner| rules.write(inner, offset, value));
        self.inner.write32(offset, value);
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let region = self.inner.allocate(bytes, alignment)?;
        // Its zeros are the CPU's stores.
        self.rules(|rules, _| rules.allocate(region.span()));
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        self.rules(|rules, _| rules.free(region.span()));
        self.inner.free(region);
    }

    fn lend(&mut self, memory: Range<PhysicalAddress>) -> Option<DmaRegion> {
        self.inner.lend(memory)
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        self.rules(|rules, _| rules.load(address));
        self.inner.load32(address)
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        self.inner.store32(address, value);
        self.rules(|rules, _| rules.store32(address));
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        self.rules(|rules, _| rules.load(address));
        self.inner.load64(address)
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        self.inner.store64(address, value);
        self.rules(|rules, inner| rules.store64(inner, address, value));
    }

    fn publish(&mut self) {
        self.rules(|rules, _| rules.publish());
        self.inner.publish();
    }

    fn observe(&mut self) {
        self.rules(|rules, _| rules.observe());
        self.inner.observe();
    }

    fn clean(&mut self, range: Range<PhysicalAddress>) {
        self.inner.clean(range);
    }

    fn invalidate(&mut self, range: Range<PhysicalAddress>) {
        self.inner.invalidate(range);
    }

    fn now(&mut self) -> Instant {
        self.inner.now()
    }

    fn counter_hertz(&self) -> u64 {
        self.inner.counter_hertz()
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        self.inner.wait(wanted, until)
    }

    fn coherency(&self) -> SystemCoherency {
        self.inner.coherency()
    }

    fn slowdown(&self) -> u32 {
        self.inner.slowdown()
    }

    fn begin_supply(&mut self, change: PowerChange) {
        self.inner.begin_supply(change);
    }

    fn supply_is_stable(&mut self) -> bool {
        self.inner.supply_is_stable()
    }

    fn set_operating_point(&mut self, point: OperatingPoint) {
        self.inner.set_operating_point(point);
    }

    fn slice_hash(&self) -> Option<[u32; 3]> {
        self.inner.slice_hash()
    }

    fn fused_cores(&self) -> Option<u64> {
        self.inner.fused_cores()
    }
}
