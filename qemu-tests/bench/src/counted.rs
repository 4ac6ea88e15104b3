//! A platform that counts the bytes which the driver stores for the GPU, and how often it waits.

use crate::instructions;
use core::ops::Range;
use eitri_runtime::{
    DmaRegion, Instant, Lines, OperatingPoint, PhysicalAddress, Platform, PowerChange,
    SystemCoherency,
};

/// Counts, and hands on.
pub(crate) struct Counted<P> {
    inner: P,
    stored: u64,
    waits: u32,
    asleep: u32,
}

impl<P> Counted<P> {
    pub(crate) const fn new(inner: P) -> Counted<P> {
        Counted {
            inner,
            stored: 0,
            waits: 0,
            asleep: 0,
        }
    }

    /// Bytes stored, ever.
    pub(crate) const fn stored(&self) -> u64 {
        self.stored
    }

    /// Calls of [`Platform::wait`], ever: one follows each poll in vain.
    pub(crate) const fn waits(&self) -> u32 {
        self.waits
    }

    /// Instructions of [`Platform::wait`] so far, interrupt handlers among them.
    pub(crate) const fn asleep(&self) -> u32 {
        self.asleep
    }

    /// The platform that it hands on to.
    pub(crate) fn into_inner(self) -> P {
        self.inner
    }
}

// SAFETY: everything is the inner platform's.
unsafe impl<P: Platform> Platform for Counted<P> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.inner.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.inner.write32(offset, value);
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        self.inner.allocate(bytes, alignment)
    }

    fn free(&mut self, region: DmaRegion) {
        self.inner.free(region);
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        self.inner.load32(address)
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        self.stored += 4;
        self.inner.store32(address, value);
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        self.inner.load64(address)
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        self.stored += 8;
        self.inner.store64(address, value);
    }

    #[inline]
    fn write_words(&mut self, address: PhysicalAddress, words: &[u64]) {
        self.stored += 8 * words.len() as u64;
        self.inner.write_words(address, words);
    }

    #[inline]
    fn read_words(&mut self, address: PhysicalAddress, words: &mut [u64]) {
        self.inner.read_words(address, words);
    }

    fn publish(&mut self) {
        self.inner.publish();
    }

    fn observe(&mut self) {
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
        let before = instructions::executed();
        let lines = self.inner.wait(wanted, until);
        self.waits += 1;
        let slept = instructions::executed().wrapping_sub(before);
        self.asleep = self.asleep.wrapping_add(slept);
        lines
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
