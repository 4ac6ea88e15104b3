//! Page tables: maps and unmaps ranges of virtual addresses, and finds free ones.
//!
//! Needs: the caller has locked the range if the hardware uses the tables.  Guarantees: nothing is mapped twice; a
//! map that fails leaves nothing mapped; each entry is visible to the walker, a table before the entry that points
//! to it.  Blocks of 2 MiB are used where address, memory and length allow; one that is unmapped in part is split into pages.
//! Facts: hardware/gpu-mmu.md section 7.

mod free;
#[cfg(test)]
mod tests;
mod unmap;

pub(crate) use unmap::Emptied;

use crate::memory::{Memory, OutOfMemory};
use crate::platform::{PhysicalAddress, Platform};
use core::ops::Range;
use eitri_csf::page_table::{Attributes, Decoded, Entry, EntryError, Level, PAGE_BYTES};
use thiserror::Error;

/// Why a range can't be mapped or unmapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    /// No memory for a table.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The range is empty, not page aligned, or beyond the address space.
    #[error(
        "addresses {start:#x}..{end:#x} are not whole pages of an address space of {bits} bits"
    )]
    BadRange {
        /// First address.
        start: u64,
        /// Address after the last.
        end: u64,
        /// Bits of an address.
        bits: u32,
    },
    /// Something is mapped there already.
    #[error("address {address:#x} is mapped already")]
    AlreadyMapped {
        /// The address.
        address: u64,
    },
    /// An entry can't be built, because the physical address is not aligned or too wide.
    #[error(transparent)]
    Entry(#[from] EntryError),
}

/// The tables of one address space.
#[derive(Debug)]
pub(crate) struct PageTables {
    root: PhysicalAddress,
    start: Level,
    va_bits: u32,
}

/// An entry on the way to an address: where it is and what it says.
struct Slot {
    at: PhysicalAddress,
    entry: Entry,
}

impl PageTables {
    /// Empty tables for addresses of `va_bits` bits.
    pub(crate) fn new<P: Platform>(
        platform: &mut P,
        memory: &mut Memory,
        va_bits: u32,
    ) -> Result<PageTables, MapError> {
        let bad = MapError::BadRange {
            start: 0,
            end: 0,
            bits: va_bits,
        };
        let start = Level::start(va_bits).ok_or(bad)?;
        let root = memory.take(platform, "a root page table", PAGE_BYTES, PAGE_BYTES)?;
        let root = root.into_table();
        Ok(PageTables {
            root,
            start,
            va_bits,
        })
    }

    /// Where the root table is.
    pub(crate) const fn root(&self) -> PhysicalAddress {
        self.root
    }

    /// Bits of a virtual address.
    pub(crate) const fn va_bits(&self) -> u32 {
        self.va_bits
    }

    /// Maps `range` to contiguous memory from `physical` on.
    pub(crate) fn map<P: Platform>(
        &self,
        platform: &mut P,
        memory: &mut Memory,
        range: Range<u64>,
        physical: PhysicalAddress,
        attributes: Attributes,
    ) -> Result<(), MapError> {
        self.check(&range)?;
        let mut done = range.start;
        while done < range.end {
            let mapped = done.wrapping_sub(range.start);
            match self.map_one(
                platform,
                memory,
                done..range.end,
                physical.offset(mapped),
                attributes,
            ) {
                Ok(bytes) => done = done.wrapping_add(bytes),
                Err(error) => {
                    // Nothing of a failed map may stay; what was mapped so far was mapped by whole entries.
                    if done > range.start {
                        // Tables that are empty now stay: nothing has looked into them, and the next map may want them.
                        self.unmap(platform, memory, range.start..done, &mut Emptied::full())?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Maps the first entry's worth of `range`; gives its bytes.
    fn map_one<P: Platform>(
        &self,
        platform: &mut P,
        memory: &mut Memory,
        range: Range<u64>,
        physical: PhysicalAddress,
        attributes: Attributes,
    ) -> Result<u64, MapError> {
        let address = range.start;
        let room = range.end.wrapping_sub(address);
        let wanted = largest(address | physical.0, room);
        let (mut table, mut level) = (self.root, self.start);
        loop {
            let slot = read_slot(platform, table, level, address);
            (table, level) = match (slot.entry.decode(level), level.next()) {
                // Also where the entry itself would go: what is below is filled one by one.
                (Decoded::Table { address }, Some(below)) => (PhysicalAddress(address), below),
                (Decoded::Invalid, Some(below)) if level < wanted => {
                    let next = memory.take(platform, "a page table", PAGE_BYTES, PAGE_BYTES)?;
                    let entry = match Entry::table(level, next.start().0) {
                        Ok(entry) => entry,
                        Err(error) => {
                            memory.give_back(platform, next);
                            return Err(error.into());
                        }
                    };
                    // The walker must find the new table empty before it finds it at all.
                    platform.publish();
                    write_entry(platform, slot.at, entry);
                    (next.into_table(), below)
                }
                (Decoded::Invalid, _) => {
                    let entry = Entry::leaf(level, physical.0, attributes)?;
                    write_entry(platform, slot.at, entry);
                    return Ok(level.bytes());
                }
                _ => return Err(MapError::AlreadyMapped { address }),
            };
        }
    }

    /// Whether a page holds one of the tables.
    pub(crate) fn has_table<P: Platform>(&self, platform: &mut P, page: PhysicalAddress) -> bool {
        has_table(platform, self.root, self.start, page)
    }

    /// Where `address` is mapped to, and how.
    pub(crate) fn translate<P: Platform>(
        &self,
        platform: &mut P,
        address: u64,
    ) -> Option<(PhysicalAddress, Attributes)> {
        let (slot, level) = self.find(platform, address);
        match slot.entry.decode(level) {
            Decoded::Leaf {
                address: physical,
                attributes,
            } => {
                let inside = address & level.bytes().wrapping_sub(1);
                Some((PhysicalAddress(physical).offset(inside), attributes))
            }
            _ => None,
        }
    }

    /// The last entry of the walk for `address`.
    fn find<P: Platform>(&self, platform: &mut P, address: u64) -> (Slot, Level) {
        let (mut table, mut level) = (self.root, self.start);
        loop {
            let slot = read_slot(platform, table, level, address);
            match (slot.entry.decode(level), level.next()) {
                (Decoded::Table { address }, Some(next)) => {
                    table = PhysicalAddress(address);
                    level = next;
                }
                _ => return (slot, level),
            }
        }
    }

    fn check(&self, range: &Range<u64>) -> Result<(), MapError> {
        let whole = (range.start | range.end) & PAGE_BYTES.wrapping_sub(1) == 0;
        let limit = 1_u64.checked_shl(self.va_bits).unwrap_or(u64::MAX);
        if whole && range.start < range.end && range.end <= limit {
            return Ok(());
        }
        Err(MapError::BadRange {
            start: range.start,
            end: range.end,
            bits: self.va_bits,
        })
    }
}

// FACT: blocks of 1 GiB are "architecturally possible" and no known driver has any (hardware/gpu-mmu.md 1). They are used here
// for buffers as large. Settled by the test `mmu.large-block` of the validation suite on a board.
/// The level of the largest entry that fits: `place` has the bits of both addresses, `bytes` are wanted.
pub(crate) fn largest(place: u64, bytes: u64) -> Level {
    let fits = |level: &Level| place & level.bytes().wrapping_sub(1) == 0 && level.bytes() <= bytes;
    let blocks = [Level::L1, Level::L2];
    blocks.into_iter().find(fits).unwrap_or(Level::L3)
}

fn read_slot<P: Platform>(
    platform: &mut P,
    table: PhysicalAddress,
    level: Level,
    address: u64,
) -> Slot {
    let at = table.offset((level.index(address) as u64).wrapping_mul(8));
    Slot {
        at,
        entry: Entry(platform.load64(at)),
    }
}

fn write_entry<P: Platform>(platform: &mut P, at: PhysicalAddress, entry: Entry) {
    platform.store64(at, entry.0);
    platform.clean(at.span(8));
}

/// Whether `page` holds `table` or one below it.
fn has_table<P: Platform>(
    platform: &mut P,
    table: PhysicalAddress,
    level: Level,
    page: PhysicalAddress,
) -> bool {
    let Some(below) = level.next() else {
        return table == page;
    };
    let mut entries = (0..PAGE_BYTES).step_by(8);
    table == page
        || entries.any(
            |at| match Entry(platform.load64(table.offset(at))).decode(level) {
                Decoded::Table { address } => {
                    has_table(platform, PhysicalAddress(address), below, page)
                }
                _ => false,
            },
        )
}
