//! The L2 and the load/store caches before it, as a configuration asks for them: caches that keep whatever the GPU has written or
//! read until they are told otherwise.
//!
//! What the GPU writes to memory that it caches is in memory after a clean, and what the host writes there is seen by the GPU
//! after an invalidation, if the GPU has read the line before. Nothing is evicted by itself: a driver that lacks a flush is found
//! out. The load/store caches of the cores are coherent with the L2, and so with each other: all units of the GPU see what any has
//! written. But a clean of the L2 alone leaves in them what they have not written back, and an invalidation of the L2 alone leaves
//! them what they have read. They are told apart where first-level caches are modelled (`first_level` has the read-only ones).
//!
//! Facts: hardware/command-stream.md 1.10, 3.7 and 6.8, gpu-mmu.md 4, csf-mmio.md 6.

use crate::defect::{Defect, Defects};
use crate::memory::{BusError, PhysicalMemory};
use alloc::collections::BTreeMap;
use eitri_csf::command::FlushMode;

/// Set in the physical address of a page that the L2 caches; no bus has as many address bits.
pub(crate) const CACHED: u64 = 1 << 63;

/// Bytes of a line.
pub(crate) const LINE: u64 = 64;

/// Who reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    /// A shader core, through its load/store cache.
    LoadStore,
    /// Anybody else.
    Other,
}

/// What a flush does to lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flush {
    clean: bool,
    invalidate: bool,
}

impl Flush {
    fn add(&mut self, mode: FlushMode) {
        self.clean |= matches!(mode, FlushMode::Clean | FlushMode::CleanInvalidate);
        self.invalidate |= matches!(mode, FlushMode::Invalidate | FlushMode::CleanInvalidate);
    }
}

#[derive(Clone, Debug)]
struct Line {
    bytes: [u8; LINE as usize],
    /// A bit for each byte that memory does not have yet.
    dirty: u64,
    /// A bit for each byte that only a load/store cache has.
    unwritten: u64,
    /// The L2 has the line.
    in_l2: bool,
    /// A load/store cache has the line.
    in_load_store: bool,
}

impl Line {
    /// A line as memory has it.
    fn of(memory: &mut dyn PhysicalMemory, number: u64) -> Result<Line, BusError> {
        let mut bytes = [0; LINE as usize];
        memory.read(number * LINE, &mut bytes)?;
        Ok(Line {
            bytes,
            dirty: 0,
            unwritten: 0,
            in_l2: true,
            in_load_store: false,
        })
    }

    /// Fetches the line into the L2 again, which has lost it, for somebody who does not read through a load/store cache.
    #[cold]
    fn fetch(&mut self, memory: &mut dyn PhysicalMemory, number: u64) -> Result<(), BusError> {
        let fresh = Line::of(memory, number)?;
        for (index, byte) in fresh.bytes.into_iter().enumerate() {
            if self.unwritten >> index & 1 == 0 {
                self.bytes[index] = byte;
            }
        }
        self.in_l2 = true;
        Ok(())
    }
}

/// The lines that they hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct L2 {
    lines: BTreeMap<u64, Line>,
    /// Whether load/store caches are told apart from it.
    has_load_store: bool,
    /// Flushes that are done when memory is at hand: of the load/store caches, and of the L2.
    asked: [Flush; 2],
    wear: Wear,
}

/// What of it is broken.
#[derive(Clone, Copy, Debug, Default)]
struct Wear {
    deaf: bool,
    clean_misses: bool,
    invalidate_misses: bool,
    /// Bytes of a line whose writes get lost, a bit each.
    lost_bytes: u64,
}

/// Of so many lines one is missed, where lines are missed.
const MISSED: u64 = 8;

impl L2 {
    /// An empty one.
    pub(crate) fn new(defects: &Defects, has_load_store: bool) -> L2 {
        let lost = |defect| match defect {
            Defect::LineByteLost { byte } => Some(1 << (byte % 64)),
            _ => None,
        };
        L2 {
            has_load_store,
            wear: Wear {
                deaf: defects.has(Defect::FlushDoesNothing),
                clean_misses: defects.has(Defect::CleanMissesLines),
                invalidate_misses: defects.has(Defect::InvalidateMissesLines),
                lost_bytes: defects.find(lost).unwrap_or(0),
            },
            ..L2::default()
        }
    }

    /// Reads bytes that lie in one page.
    pub(crate) fn read(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        requester: Requester,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), BusError> {
        let mut rest = bytes;
        let mut place = address;
        while !rest.is_empty() {
            let start = (place % LINE) as usize;
            let (now, later) = rest.split_at_mut(rest.len().min(LINE as usize - start));
            let line = self.line(memory, requester, place / LINE)?;
            now.copy_from_slice(&line.bytes[start..start + now.len()]);
            place += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// Whether bytes that lie in one page are not what the lines have that hold them.
    pub(crate) fn differs(&self, address: u64, bytes: &[u8]) -> bool {
        let places = address..address.saturating_add(bytes.len() as u64);
        places.zip(bytes).any(|(place, byte)| {
            let line = self.lines.get(&(place / LINE));
            line.is_some_and(|line| line.bytes[(place % LINE) as usize] != *byte)
        })
    }

    /// Writes bytes that lie in one page.
    pub(crate) fn write(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        requester: Requester,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), BusError> {
        let mut rest = bytes;
        let mut place = address;
        while !rest.is_empty() {
            let start = (place % LINE) as usize;
            let (now, later) = rest.split_at(rest.len().min(LINE as usize - start));
            let lost = self.wear.lost_bytes;
            let line = self.line(memory, requester, place / LINE)?;
            let kept = line.bytes;
            line.bytes[start..start + now.len()].copy_from_slice(now);
            if lost != 0 {
                for (index, byte) in kept.into_iter().enumerate() {
                    if lost >> index & 1 != 0 {
                        line.bytes[index] = byte;
                    }
                }
            }
            let written = (u64::MAX >> (LINE as usize - now.len())) << start;
            if line.in_load_store && requester == Requester::LoadStore {
                line.unwritten |= written;
            } else {
                line.dirty |= written;
                line.unwritten &= !written;
            }
            place += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    fn line(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        requester: Requester,
        number: u64,
    ) -> Result<&mut Line, BusError> {
        use alloc::collections::btree_map::Entry;
        let by_core = requester == Requester::LoadStore && self.has_load_store;
        let line = match self.lines.entry(number) {
            Entry::Occupied(line) => line.into_mut(),
            Entry::Vacant(place) => place.insert(Line::of(memory, number)?),
        };
        if by_core {
            line.in_load_store = true;
        } else if !line.in_l2 {
            line.fetch(memory, number)?;
        }
        Ok(line)
    }

    /// Asks for a flush of the load/store caches and of the L2.
    pub(crate) fn ask(&mut self, load_store: FlushMode, l2: FlushMode) {
        self.asked[0].add(load_store);
        self.asked[1].add(l2);
    }

    /// Does what was asked for. Lines behind which nothing answers any more are dropped.
    pub(crate) fn settle(&mut self, memory: &mut dyn PhysicalMemory) {
        let [load_store, l2] = core::mem::take(&mut self.asked);
        if self.wear.deaf {
            return;
        }
        if load_store != Flush::default() {
            self.flush_load_store(load_store);
        }
        if l2 != Flush::default() {
            self.flush(memory, l2);
        }
    }

    /// What load/store caches write back is in the L2 then.
    fn flush_load_store(&mut self, flush: Flush) {
        for line in self.lines.values_mut() {
            if flush.clean && line.unwritten != 0 {
                line.dirty |= core::mem::take(&mut line.unwritten);
                line.in_l2 = true;
            }
            if flush.invalidate {
                line.unwritten = 0;
                line.in_load_store = false;
            }
        }
        self.lines
            .retain(|_, line| line.in_l2 || line.in_load_store);
    }

    fn flush(&mut self, memory: &mut dyn PhysicalMemory, flush: Flush) {
        let wear = self.wear;
        if flush.clean {
            for (number, line) in &mut self.lines {
                if wear.clean_misses && number % MISSED == 0 {
                    continue;
                }
                // A byte that a load/store cache has newer comes later.
                let mut dirty = core::mem::take(&mut line.dirty) & !line.unwritten;
                // Neighbours in one write.
                while dirty != 0 {
                    let start = dirty.trailing_zeros();
                    let end = start + (dirty >> start).trailing_ones();
                    let bytes = line.bytes.get(start as usize..end as usize);
                    let _ = memory.write(number * LINE + u64::from(start), bytes.unwrap_or(&[]));
                    dirty &= u64::MAX.checked_shl(end).unwrap_or(0);
                }
            }
        }
        if flush.invalidate {
            self.lines.retain(|number, line| {
                line.in_l2 &= wear.invalidate_misses && number % MISSED == 0;
                if !line.in_l2 {
                    line.dirty = 0;
                }
                line.in_l2 || line.in_load_store
            });
        }
    }

    /// Loses everything: its power is off.
    pub(crate) fn lose(&mut self) {
        *self = L2 {
            wear: self.wear,
            has_load_store: self.has_load_store,
            ..L2::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::SparseMemory;

    const AT: u64 = 0x1000;

    fn read(l2: &mut L2, memory: &mut SparseMemory, requester: Requester) -> [u8; 3] {
        let mut seen = [0; 3];
        l2.read(memory, requester, AT, &mut seen).expect("memory");
        seen
    }

    fn write(l2: &mut L2, memory: &mut SparseMemory, requester: Requester, bytes: &[u8]) {
        l2.write(memory, requester, AT, bytes).expect("memory");
    }

    fn flush(l2: &mut L2, memory: &mut SparseMemory, load_store: FlushMode, mode: FlushMode) {
        l2.ask(load_store, mode);
        l2.settle(memory);
    }

    #[test]
    fn writes_reach_memory_when_they_are_cleaned_and_reads_stay_old_until_invalidated() {
        let mut memory = SparseMemory::new(1 << 20);
        let mut l2 = L2::default();
        memory.write(AT, &[1, 2, 3]).expect("memory");
        assert_eq!(read(&mut l2, &mut memory, Requester::Other), [1, 2, 3]);
        memory.write(AT, &[9]).expect("memory");
        l2.write(&mut memory, Requester::Other, AT + 1, &[7])
            .expect("memory");
        let seen = read(&mut l2, &mut memory, Requester::Other);
        assert_eq!(seen, [1, 7, 3], "its own write, and not the host's");
        let mut seen = [0; 3];
        memory.read(AT, &mut seen).expect("memory");
        assert_eq!(seen, [9, 2, 3], "nothing was cleaned");
        flush(
            &mut l2,
            &mut memory,
            FlushMode::None,
            FlushMode::CleanInvalidate,
        );
        memory.read(AT, &mut seen).expect("memory");
        assert_eq!(seen, [9, 7, 3], "only what it wrote");
        assert_eq!(read(&mut l2, &mut memory, Requester::Other), [9, 7, 3]);
    }

    #[test]
    fn what_a_core_wrote_needs_a_clean_of_both() {
        use FlushMode::{Clean, None};
        for (load_store, mode, expected) in [
            (None, Clean, [0; 3]),
            (Clean, None, [0; 3]),
            (Clean, Clean, [7; 3]),
        ] {
            let mut memory = SparseMemory::new(1 << 20);
            let mut l2 = L2::new(&Defects::default(), true);
            write(&mut l2, &mut memory, Requester::LoadStore, &[7; 3]);
            let seen = read(&mut l2, &mut memory, Requester::Other);
            assert_eq!(seen, [7; 3], "the caches are coherent inside the GPU");
            flush(&mut l2, &mut memory, load_store, mode);
            let mut seen = [0; 3];
            memory.read(AT, &mut seen).expect("memory");
            assert_eq!(seen, expected, "load/store {load_store:?}, L2 {mode:?}");
        }
    }

    #[test]
    fn what_the_host_wrote_needs_an_invalidation_of_both() {
        use FlushMode::{CleanInvalidate, None};
        for (load_store, mode, expected) in [
            (None, CleanInvalidate, [0; 3]),
            (CleanInvalidate, None, [0; 3]),
            (CleanInvalidate, CleanInvalidate, [7; 3]),
        ] {
            let mut memory = SparseMemory::new(1 << 20);
            let mut l2 = L2::new(&Defects::default(), true);
            read(&mut l2, &mut memory, Requester::LoadStore);
            memory.write(AT, &[7; 3]).expect("memory");
            flush(&mut l2, &mut memory, load_store, mode);
            let seen = read(&mut l2, &mut memory, Requester::LoadStore);
            assert_eq!(seen, expected, "load/store {load_store:?}, L2 {mode:?}");
        }
    }

    #[test]
    fn who_does_not_read_through_a_load_store_cache_needs_the_l2_alone() {
        let mut memory = SparseMemory::new(1 << 20);
        let mut l2 = L2::new(&Defects::default(), true);
        read(&mut l2, &mut memory, Requester::LoadStore);
        l2.write(&mut memory, Requester::LoadStore, AT + 2, &[5])
            .expect("memory");
        memory.write(AT, &[7; 3]).expect("memory");
        flush(
            &mut l2,
            &mut memory,
            FlushMode::None,
            FlushMode::CleanInvalidate,
        );
        let seen = read(&mut l2, &mut memory, Requester::Other);
        assert_eq!(
            seen,
            [7, 7, 5],
            "the host's bytes, and what a core has not written back"
        );
    }
}
