//! Caches that the GPU does not see, and a store buffer, in front of the machine's memory.
//!
//! As on hardware: a store stays in the CPU's cache until its line is cleaned, or evicted whenever the cache likes; a
//! cleaned line is on its way to memory until a barrier; a load takes what the cache holds, however old; the cache fetches
//! lines that nobody asked for. What a cache may do at any time a seed decides, so that a run can be repeated.
//!
//! Finds: a store that was not cleaned, a line that was not invalidated, a barrier that is missing between two stores, a
//! line that both sides write. What is missing is told, with the line, who wrote and who found it; a barrier shows in results alone.

use crate::code::Code;
use crate::machine::Machine;
use crate::memory::Watcher;
use eitri_cache_line::{Bytes, CacheLine, LINE, Missing, pieces};
use eitri_model::Accessor;
use eitri_runtime::{
    DmaRegion, Instant, Lines, OperatingPoint, PhysicalAddress, Platform, PowerChange,
    SystemCoherency,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::{Rc, Weak};

/// So much is told of one platform.
const MOST_TOLD: usize = 16;

/// What was missing in the upkeep of a platform's caches. It goes on being filled, for whoever looks when the driver has the platform.
#[derive(Clone, Debug, Default)]
pub struct MissingUpkeep(Rc<RefCell<Told>>);

#[derive(Debug, Default)]
struct Told {
    lines: BTreeSet<u64>,
    texts: Vec<String>,
}

impl MissingUpkeep {
    /// What was told so far, of each line once.
    pub fn texts(&self) -> Vec<String> {
        self.0.borrow().texts.clone()
    }

    fn tell(&self, missing: &Missing<Code, Accessor>) {
        let told = &mut *self.0.borrow_mut();
        if told.texts.len() < MOST_TOLD && told.lines.insert(missing.line()) {
            told.texts.push(format!("cache: {missing}"));
        }
    }
}

/// The lines that the CPU has. The GPU's accesses are looked at, too.
#[derive(Default)]
struct Cache {
    lines: RefCell<BTreeMap<u64, CacheLine<Code, Accessor>>>,
    /// How often the driver has written a register: what was stored before one should be in memory by then.
    writes: std::cell::Cell<u64>,
    missing: MissingUpkeep,
}

impl Watcher for Cache {
    fn reads(&self, address: u64, bytes: u64, reads: Accessor) {
        let lines = self.lines.borrow();
        for (line, part) in pieces(address, bytes) {
            let held = lines.get(&line);
            let stored = held.and_then(|held| held.missed(part, self.writes.get()));
            if let Some(stored) = stored.cloned() {
                self.missing.tell(&Missing::Clean {
                    line,
                    stored,
                    reads,
                });
            }
        }
    }

    fn writes(&self, address: u64, bytes: u64, accessor: Accessor) {
        let mut lines = self.lines.borrow_mut();
        for (line, _) in pieces(address, bytes) {
            if let Some(held) = lines.get_mut(&line) {
                held.gpu_writes(accessor);
            }
        }
    }
}

/// A platform whose CPU has write-back caches that its GPU does not look into.
pub struct NonCoherent {
    inner: Machine,
    /// Whether there are any.
    caches: bool,
    /// Whether it is told which functions of the driver have stored.
    names_code: bool,
    cache: Rc<Cache>,
    /// Lines on their way to memory: in any order, until a barrier.
    leaving: Vec<(u64, Bytes)>,
    random: u64,
}

impl NonCoherent {
    /// Caches in front of a machine's memory; `seed` decides what they do unasked.
    pub fn new(inner: Machine, seed: u64) -> NonCoherent {
        let cache = Rc::<Cache>::default();
        let watcher: Weak<Cache> = Rc::downgrade(&cache);
        inner.watch(watcher);
        NonCoherent {
            inner,
            caches: true,
            names_code: false,
            cache,
            leaving: Vec::new(),
            random: seed | 1,
        }
    }

    /// The platform as it is, of the same type: for what is run with caches and without.
    pub fn without_caches(inner: Machine) -> NonCoherent {
        NonCoherent {
            caches: false,
            ..NonCoherent::new(inner, 0)
        }
    }

    /// Tells which functions of the driver have stored, too: each store takes microseconds then.
    #[must_use]
    pub fn naming_code(self) -> NonCoherent {
        NonCoherent {
            names_code: true,
            ..self
        }
    }

    /// What is missing in the upkeep of its caches.
    pub fn missing_upkeep(&self) -> MissingUpkeep {
        self.cache.missing.clone()
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

    fn write_back(&mut self, at: u64, bytes: Bytes) {
        self.inner.write_bytes(PhysicalAddress(at), &bytes);
    }

    fn in_memory(&mut self, at: u64) -> Bytes {
        let mut bytes = [0; LINE as usize];
        self.inner.read_bytes(PhysicalAddress(at), &mut bytes);
        bytes
    }

    /// Does something with a line, which is fetched if the cache does not hold it.
    fn with_line<T>(
        &mut self,
        at: u64,
        look: impl FnOnce(&mut CacheLine<Code, Accessor>) -> T,
    ) -> T {
        if !self.cache.lines.borrow().contains_key(&at) {
            // What is still on its way is found before memory is.
            let leaving = self.leaving.iter().rev().find(|(line, _)| *line == at);
            let bytes = leaving.map(|(_, bytes)| *bytes);
            let bytes = bytes.unwrap_or_else(|| self.in_memory(at));
            let line = CacheLine::fetched(bytes);
            self.cache.lines.borrow_mut().insert(at, line);
        }
        let mut lines = self.cache.lines.borrow_mut();
        let line = lines.entry(at);
        look(line.or_insert_with(|| CacheLine::fetched([0; LINE as usize])))
    }

    fn load<const N: usize>(&mut self, address: PhysicalAddress) -> [u8; N] {
        let mut word = [0; N];
        if !self.caches {
            self.inner.read_bytes(address, &mut word);
            return word;
        }
        let (at, inside) = (address.0 & !(LINE - 1), (address.0 % LINE) as usize);
        let is_on_its_way = self.leaving.iter().any(|(line, _)| *line == at);
        let memory = self.in_memory(at);
        let stale = self.with_line(at, |line| {
            word.copy_from_slice(&line.bytes()[inside..inside + N]);
            let stale = !is_on_its_way && line.is_stale(inside..inside + N, &memory);
            stale.then(|| line.written_by())
        });
        if let Some(written) = stale {
            self.cache.missing.tell(&Missing::Invalidate {
                address: address.0,
                loads: Code::here(self.names_code),
                written,
            });
        }
        if self.chance(8) {
            self.with_line(at + LINE, |_| ());
        }
        word
    }

    fn store<const N: usize>(&mut self, address: PhysicalAddress, word: [u8; N]) {
        if !self.caches {
            self.inner.write_bytes(address, &word);
            return;
        }
        let (at, inside) = (address.0 & !(LINE - 1), (address.0 % LINE) as usize);
        let (code, writes) = (Code::here(self.names_code), self.cache.writes.get());
        self.with_line(at, |line| line.store(inside, &word, code, writes));
        if self.chance(64) {
            self.evict_any();
        }
    }

    fn evict_any(&mut self) {
        let from = self.roll(u64::MAX);
        let lines = &mut *self.cache.lines.borrow_mut();
        let any = lines.range(from..).next().or(lines.iter().next());
        let Some(at) = any.map(|(at, _)| *at) else {
            return;
        };
        let line = lines.remove(&at);
        if let Some(line) = line.filter(|line| line.is_dirty()) {
            self.leaving.push((at, *line.bytes()));
        }
    }

    /// Some of what is on its way arrives, in any order but that of one line.
    fn drift(&mut self) {
        let mut kept: Vec<(u64, Bytes)> = Vec::new();
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

    fn lines_of(range: &Range<PhysicalAddress>) -> impl Iterator<Item = u64> + use<> {
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
unsafe impl Platform for NonCoherent {
    fn read32(&mut self, offset: u32) -> u32 {
        self.drift();
        self.inner.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.drift();
        self.cache.writes.set(self.cache.writes.get() + 1);
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
        let mut lines = self.cache.lines.borrow_mut();
        Self::lines_of(&region.span()).for_each(|at| _ = lines.remove(&at));
        drop(lines);
        self.inner.free(region);
    }

    fn lend(&mut self, memory: Range<PhysicalAddress>) -> Option<DmaRegion> {
        self.inner.lend(memory)
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
        let mut cleaned = Vec::new();
        for at in Self::lines_of(&range) {
            let memory = self.in_memory(at);
            let mut lines = self.cache.lines.borrow_mut();
            let Some(line) = lines.get_mut(&at).filter(|line| line.is_dirty()) else {
                continue;
            };
            let is_on_its_way = self.leaving.iter().any(|(leaving, _)| *leaving == at);
            if !is_on_its_way && line.overwrites(&memory) {
                self.cache.missing.tell(&Missing::DroppedWrite {
                    line: at,
                    stored: line.stored_by().cloned().unwrap_or_default(),
                    cleans: Code::here(self.names_code),
                    written: line.written_by(),
                });
            }
            line.clean();
            cleaned.push((at, *line.bytes()));
        }
        self.leaving.extend(cleaned);
    }

    fn invalidate(&mut self, range: Range<PhysicalAddress>) {
        if !self.caches {
            return self.inner.invalidate(range);
        }
        for at in Self::lines_of(&range) {
            let dropped = self.cache.lines.borrow_mut().remove(&at);
            if let Some(line) = dropped.filter(|line| line.is_dirty()) {
                self.cache.missing.tell(&Missing::DroppedStore {
                    line: at,
                    stored: line.stored_by().cloned().unwrap_or_default(),
                    drops: Code::here(self.names_code),
                });
            }
            // What was cleaned reaches memory before the line is read from there again.
            let (this, rest) = std::mem::take(&mut self.leaving)
                .into_iter()
                .partition(|(line, _)| *line == at);
            self.leaving = rest;
            let this: Vec<(u64, Bytes)> = this;
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
