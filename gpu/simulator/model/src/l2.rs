//! The L2, as a configuration asks for it: a cache that keeps whatever the GPU has written or read until it is told otherwise.
//!
//! What the GPU writes to memory that it caches is in memory after a clean, and what the host writes there is seen by the GPU
//! after an invalidation, if the GPU has read the line before. Nothing is evicted by itself: a driver that lacks a flush is found
//! out. The caches of the cores are not told apart from it.
//!
//! Facts: hardware/command-stream.md 1.10 and 3.7, gpu-mmu.md 4, csf-mmio.md 6.

use crate::defect::{Defect, Defects};
use crate::memory::{BusError, PhysicalMemory};
use alloc::collections::BTreeMap;

/// Set in the physical address of a page that the L2 caches; no bus has as many address bits.
pub(crate) const CACHED: u64 = 1 << 63;

/// Bytes of a line.
const LINE: u64 = 64;

/// What a flush does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct L2Flush {
    pub(crate) clean: bool,
    pub(crate) invalidate: bool,
}

impl L2Flush {
    /// Clean and invalidate.
    pub(crate) const ALL: L2Flush = L2Flush {
        clean: true,
        invalidate: true,
    };
}

#[derive(Clone, Debug)]
struct Line {
    bytes: [u8; LINE as usize],
    /// A bit for each byte that memory does not have yet.
    dirty: u64,
}

/// The lines that it holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct L2 {
    lines: BTreeMap<u64, Line>,
    /// A flush that is done when memory is at hand.
    asked: L2Flush,
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
    pub(crate) fn new(defects: &Defects) -> L2 {
        let lost = |defect| match defect {
            Defect::LineByteLost { byte } => Some(1 << (byte % 64)),
            _ => None,
        };
        L2 {
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
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), BusError> {
        let mut rest = bytes;
        let mut place = address;
        while !rest.is_empty() {
            let start = (place % LINE) as usize;
            let (now, later) = rest.split_at_mut(rest.len().min(LINE as usize - start));
            let line = self.line(memory, place / LINE)?;
            now.copy_from_slice(&line.bytes[start..start + now.len()]);
            place += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// Writes bytes that lie in one page.
    pub(crate) fn write(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), BusError> {
        let mut rest = bytes;
        let mut place = address;
        while !rest.is_empty() {
            let start = (place % LINE) as usize;
            let (now, later) = rest.split_at(rest.len().min(LINE as usize - start));
            let lost = self.wear.lost_bytes;
            let line = self.line(memory, place / LINE)?;
            let kept = line.bytes;
            line.bytes[start..start + now.len()].copy_from_slice(now);
            if lost != 0 {
                for (index, byte) in kept.into_iter().enumerate() {
                    if lost >> index & 1 != 0 {
                        line.bytes[index] = byte;
                    }
                }
            }
            line.dirty |= (u64::MAX >> (LINE as usize - now.len())) << start;
            place += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    fn line(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        number: u64,
    ) -> Result<&mut Line, BusError> {
        use alloc::collections::btree_map::Entry;
        match self.lines.entry(number) {
            Entry::Occupied(line) => Ok(line.into_mut()),
            Entry::Vacant(place) => {
                let mut bytes = [0; LINE as usize];
                memory.read(number * LINE, &mut bytes)?;
                Ok(place.insert(Line { bytes, dirty: 0 }))
            }
        }
    }

    /// Asks for a flush.
    pub(crate) fn ask(&mut self, flush: L2Flush) {
        self.asked.clean |= flush.clean;
        self.asked.invalidate |= flush.invalidate;
    }

    /// Does what was asked for. Lines behind which nothing answers any more are dropped.
    pub(crate) fn settle(&mut self, memory: &mut dyn PhysicalMemory) {
        let L2Flush { clean, invalidate } = core::mem::take(&mut self.asked);
        let wear = self.wear;
        if wear.deaf {
            return;
        }
        if clean {
            for (number, line) in &mut self.lines {
                if wear.clean_misses && number % MISSED == 0 {
                    continue;
                }
                let mut dirty = core::mem::take(&mut line.dirty);
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
        if invalidate {
            self.lines
                .retain(|number, _| wear.invalidate_misses && number % MISSED == 0);
        }
    }

    /// Loses everything: its power is off.
    pub(crate) fn lose(&mut self) {
        *self = L2 {
            wear: self.wear,
            ..L2::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::SparseMemory;

    const AT: u64 = 0x1000;

    #[test]
    fn writes_reach_memory_when_they_are_cleaned_and_reads_stay_old_until_invalidated() {
        let mut memory = SparseMemory::new(1 << 20);
        let mut l2 = L2::default();
        memory.write(AT, &[1, 2, 3]).expect("memory");
        let mut seen = [0; 3];
        l2.read(&mut memory, AT, &mut seen).expect("memory");
        assert_eq!(seen, [1, 2, 3]);
        memory.write(AT, &[9]).expect("memory");
        l2.write(&mut memory, AT + 1, &[7]).expect("memory");
        l2.read(&mut memory, AT, &mut seen).expect("memory");
        assert_eq!(seen, [1, 7, 3], "its own write, and not the host's");
        memory.read(AT, &mut seen).expect("memory");
        assert_eq!(seen, [9, 2, 3], "nothing was cleaned");
        l2.ask(L2Flush::ALL);
        l2.settle(&mut memory);
        memory.read(AT, &mut seen).expect("memory");
        assert_eq!(seen, [9, 7, 3], "only what it wrote");
        l2.read(&mut memory, AT, &mut seen).expect("memory");
        assert_eq!(seen, [9, 7, 3]);
    }
}
