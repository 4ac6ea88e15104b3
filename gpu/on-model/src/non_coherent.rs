//! Caches that the GPU does not see, and a store buffer, in front of any platform's memory.
//!
//! As on hardware: a store stays in the CPU's cache until its line is cleaned, or evicted whenever the cache likes; a
//! cleaned line is on its way to memory until a barrier; a load takes what the cache holds, however old; the cache fetches
//! lines that nobody asked for. What a cache may do at any time a seed decides, so that a run can be repeated.
//!
//! Finds: a store that was not cleaned, a line that was not invalidated, a barrier that is missing between two stores, a
//! line that both sides write.

use eitri_runtime::{
    DmaRegion, Instant, Lines, OperatingPoint, PhysicalAddress, Platform, PowerChange,
    SystemCoherency,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Bytes of a cache line.
const LINE: u64 = 64;

#[derive(Clone, Copy)]
struct Line {
    bytes: [u8; LINE as usize],
    dirty: bool,
}

/// A platform whose CPU has write-back caches that its GPU does not look into.
pub struct NonCoherent<P> {
    inner: P,
    /// Whether there are any.
    caches: bool,
    lines: BTreeMap<u64, Line>,
    /// Lines on their way to memory: in any order, until a barrier.
    leaving: Vec<(u64, [u8; LINE as usize])>,
    random: u64,
    /// Lines that were dropped with stores in them that were never cleaned.
    lost_stores: Rc<RefCell<Vec<u64>>>,
}

impl<P: Platform> NonCoherent<P> {
    /// Caches in front of `inner`; `seed` decides what they do unasked.
    pub fn new(inner: P, seed: u64) -> NonCoherent<P> {
        NonCoherent {
            inner,
            caches: true,
            lines: BTreeMap::new(),
            leaving: Vec::new(),
            random: seed | 1,
            lost_stores: Rc::default(),
        }
    }

    /// The platform as it is, of the same type: for what is run with caches and without.
    pub fn without_caches(inner: P) -> NonCoherent<P> {
        NonCoherent {
            caches: false,
            ..NonCoherent::new(inner, 0)
        }
    }

    /// Addresses of lines that were invalidated while they held stores: the stores are lost. It goes on being filled, for whoever
    /// looks when the driver has the platform.
    pub fn lost_stores(&self) -> Rc<RefCell<Vec<u64>>> {
        Rc::clone(&self.lost_stores)
    }

    /// True once in `odds` times.
    fn chance(&mut self, odds: u64) -> bool {
        self.roll(odds) == 0
    }

    fn roll(&mut self, sides: u64) -> u64 {
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % sides.max(1)
    }

    fn write_back(&mut self, at: u64, bytes: [u8; LINE as usize]) {
        self.inner.write_bytes(PhysicalAddress(at), &bytes);
    }

    fn fetch(&mut self, at: u64) -> Line {
        if let Some(line) = self.lines.get(&at) {
            return *line;
        }
        // What is still on its way is found before memory is.
        let leaving = self.leaving.iter().rev().find(|(line, _)| *line == at);
        let bytes = match leaving {
            Some((_, bytes)) => *bytes,
            None => {
                let mut bytes = [0; LINE as usize];
                self.inner.read_bytes(PhysicalAddress(at), &mut bytes);
                bytes
            }
        };
        let line = Line {
            bytes,
            dirty: false,
        };
        self.lines.insert(at, line);
        line
    }

    fn load<const N: usize>(&mut self, address: PhysicalAddress) -> [u8; N] {
        if !self.caches {
            let mut word = [0; N];
            self.inner.read_bytes(address, &mut word);
            return word;
        }
        let (at, inside) = (address.0 & !(LINE - 1), (address.0 % LINE) as usize);
        let line = self.fetch(at);
        if self.chance(8) {
            self.fetch(at + LINE);
        }
        let mut word = [0; N];
        word.copy_from_slice(&line.bytes[inside..inside + N]);
        word
    }

    fn store<const N: usize>(&mut self, address: PhysicalAddress, word: [u8; N]) {
        if !self.caches {
            self.inner.write_bytes(address, &word);
            return;
        }
        let (at, inside) = (address.0 & !(LINE - 1), (address.0 % LINE) as usize);
        let mut line = self.fetch(at);
        line.bytes[inside..inside + N].copy_from_slice(&word);
        line.dirty = true;
        self.lines.insert(at, line);
        if self.chance(64) {
            self.evict_any();
        }
    }

    fn evict_any(&mut self) {
        let from = self.roll(u64::MAX);
        let any = self.lines.range(from..).next().or(self.lines.iter().next());
        let Some((at, line)) = any.map(|(at, line)| (*at, *line)) else {
            return;
        };
        self.lines.remove(&at);
        if line.dirty {
            self.leaving.push((at, line.bytes));
        }
    }

    /// Some of what is on its way arrives, in any order but that of one line.
    fn drift(&mut self) {
        let mut kept: Vec<(u64, [u8; LINE as usize])> = Vec::new();
        for (at, bytes) in std::mem::take(&mut self.leaving) {
            if self.chance(2) && kept.iter().all(|(line, _)| *line != at) {
                self.write_back(at, bytes);
            } else {
                kept.push((at, bytes));
            }
        }
        self.leaving = kept;
    }

    fn arrive(&mut self) {
        for (at, bytes) in std::mem::take(&mut self.leaving) {
            self.write_back(at, bytes);
        }
    }

    fn lines_of(range: &Range<PhysicalAddress>) -> impl Iterator<Item = u64> + use<P> {
        let first = range.start.0 & !(LINE - 1);
        (first..range.end.0).step_by(LINE as usize)
    }
}

#[expect(
    unsafe_code,
    reason = "it hands on the promise of the platform that it stands in front of"
)]
// SAFETY: registers and memory are those of `inner`, which keeps the rules; a line is written back only to memory that
// `inner` gave out or that was read from it.
unsafe impl<P: Platform> Platform for NonCoherent<P> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.drift();
        self.inner.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.drift();
        self.inner.write32(offset, value);
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let region = self.inner.allocate(bytes, alignment)?;
        // Zeroed by the CPU, as on a board: the zeros are in its cache.
        if self.caches {
            self.zero(region.start(), region.bytes());
        }
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        // It may have another owner next, whom nothing late may reach.
        self.arrive();
        Self::lines_of(&region.span()).for_each(|at| {
            self.lines.remove(&at);
        });
        self.inner.free(region);
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        u32::from_le_bytes(self.load(address))
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        self.store(address, value.to_le_bytes());
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        u64::from_le_bytes(self.load(address))
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        self.store(address, value.to_le_bytes());
    }

    fn publish(&mut self) {
        self.arrive();
        self.inner.publish();
    }

    fn observe(&mut self) {
        self.inner.observe();
    }

    fn clean(&mut self, range: Range<PhysicalAddress>) {
        if !self.caches {
            return self.inner.clean(range);
        }
        for at in Self::lines_of(&range) {
            if let Some(line) = self.lines.get_mut(&at).filter(|line| line.dirty) {
                line.dirty = false;
                self.leaving.push((at, line.bytes));
            }
        }
    }

    fn invalidate(&mut self, range: Range<PhysicalAddress>) {
        if !self.caches {
            return self.inner.invalidate(range);
        }
        for at in Self::lines_of(&range) {
            if self.lines.remove(&at).is_some_and(|line| line.dirty) {
                self.lost_stores.borrow_mut().push(at);
            }
            // What was cleaned reaches memory before the line is read from there again.
            let (this, rest) = std::mem::take(&mut self.leaving)
                .into_iter()
                .partition(|(line, _)| *line == at);
            self.leaving = rest;
            let this: Vec<(u64, [u8; LINE as usize])> = this;
            for (at, bytes) in this {
                self.write_back(at, bytes);
            }
        }
    }

    fn now(&mut self) -> Instant {
        self.inner.now()
    }

    fn counter_hertz(&self) -> u64 {
        self.inner.counter_hertz()
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        self.drift();
        self.inner.wait(wanted, until)
    }

    fn coherency(&self) -> SystemCoherency {
        if !self.caches {
            return self.inner.coherency();
        }
        SystemCoherency::None
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
