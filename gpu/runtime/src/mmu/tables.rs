//! Page tables: maps and unmaps ranges of virtual addresses.
//!
//! Needs: the caller has locked the range if the hardware uses the tables.  Guarantees: nothing is mapped twice; a
//! map that fails leaves nothing mapped; each entry is visible to the walker, a table before the entry that points
//! to it.  Blocks of 2 MiB are used where address, memory and length allow; one that is unmapped in part is split into pages.
//! Facts: hardware/gpu-mmu.md section 7.

use crate::memory::{Memory, OutOfMemory, Pages};
use crate::platform::{PhysicalAddress, Platform};
use core::ops::Range;
use eitri_csf::page_table::{Attributes, Decoded, Entry, EntryError, Level, PAGE_BYTES};
use heapless::Vec;
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

/// Tables that were taken out. The hardware may still know of them until the region that they were for is unlocked.
#[derive(Debug)]
pub(crate) struct Emptied {
    tables: Vec<Pages, 8>,
    room: usize,
}

impl Emptied {
    /// None yet, with room.
    pub(crate) const fn new() -> Emptied {
        Emptied {
            tables: Vec::new(),
            room: 8,
        }
    }

    /// None, and no room for any.
    const fn full() -> Emptied {
        Emptied {
            tables: Vec::new(),
            room: 0,
        }
    }

    fn push(&mut self, table: Pages) -> Result<(), Pages> {
        if self.tables.len() >= self.room {
            return Err(table);
        }
        self.tables.push(table)
    }

    /// Gives them back: the hardware has forgotten them.
    pub(crate) fn release<P: Platform>(&mut self, platform: &mut P, memory: &mut Memory) {
        while let Some(table) = self.tables.pop() {
            memory.give_back(platform, table);
        }
    }
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
        let block = Level::L2.bytes();
        let aligned = (address | physical.0) & block.wrapping_sub(1) == 0;
        let room = range.end.wrapping_sub(address) >= block;
        let wanted = if aligned && room {
            Level::L2
        } else {
            Level::L3
        };
        let (mut table, mut level) = (self.root, self.start);
        while level < wanted {
            let slot = read_slot(platform, table, level, address);
            table = match slot.entry.decode(level) {
                Decoded::Table { address } => PhysicalAddress(address),
                Decoded::Invalid => {
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
                    next.into_table()
                }
                Decoded::Leaf { .. } | Decoded::Malformed => {
                    return Err(MapError::AlreadyMapped { address });
                }
            };
            let Some(next) = level.next() else { break };
            level = next;
        }
        let slot = read_slot(platform, table, level, address);
        match slot.entry.decode(level) {
            Decoded::Invalid => {}
            // A table of pages stands where the block would go: fill it page by page.
            Decoded::Table { address: table } if level == Level::L2 => {
                let slot = read_slot(platform, PhysicalAddress(table), Level::L3, address);
                if slot.entry.decode(Level::L3) != Decoded::Invalid {
                    return Err(MapError::AlreadyMapped { address });
                }
                write_entry(
                    platform,
                    slot.at,
                    Entry::leaf(Level::L3, physical.0, attributes)?,
                );
                return Ok(PAGE_BYTES);
            }
            _ => return Err(MapError::AlreadyMapped { address }),
        }
        write_entry(
            platform,
            slot.at,
            Entry::leaf(level, physical.0, attributes)?,
        );
        Ok(level.bytes())
    }

    /// Unmaps everything in `range`; addresses that are not mapped are passed over. A block of which a part stays takes memory
    /// for a table: without it nothing from that block on is unmapped. Tables of pages that hold nothing any
    /// more are taken out and put into `emptied`, as far as there is room; others stay for reuse.
    pub(crate) fn unmap<P: Platform>(
        &self,
        platform: &mut P,
        memory: &mut Memory,
        range: Range<u64>,
        emptied: &mut Emptied,
    ) -> Result<(), MapError> {
        self.check(&range)?;
        let mut address = range.start;
        while address < range.end {
            let (slot, level) = self.find(platform, address);
            let bytes = level.bytes();
            let first = address & !bytes.wrapping_sub(1);
            let next = first.wrapping_add(bytes);
            if let Decoded::Leaf {
                address: physical,
                attributes,
            } = slot.entry.decode(level)
            {
                if first < range.start || next > range.end {
                    split(platform, memory, &slot, level, physical, attributes)?;
                    continue;
                }
                write_entry(platform, slot.at, Entry::INVALID);
            }
            let table_ends = next & Level::L2.bytes().wrapping_sub(1) == 0 || next >= range.end;
            if level == Level::L3 && table_ends {
                self.take_out_if_empty(platform, address, emptied);
            }
            address = next;
        }
        Ok(())
    }

    /// Takes out the table of pages that `address` belongs to, if it is empty and there is room for it in `emptied`.
    fn take_out_if_empty<P: Platform>(
        &self,
        platform: &mut P,
        address: u64,
        emptied: &mut Emptied,
    ) {
        let (mut table, mut level) = (self.root, self.start);
        loop {
            let slot = read_slot(platform, table, level, address);
            let (Decoded::Table { address: next }, Some(below)) =
                (slot.entry.decode(level), level.next())
            else {
                return;
            };
            table = PhysicalAddress(next);
            level = below;
            if level == Level::L3 {
                let mut entries = (0..PAGE_BYTES).step_by(8);
                let empty = entries.all(|at| {
                    let entry = Entry(platform.load64(table.offset(at)));
                    entry.decode(Level::L3) == Decoded::Invalid
                });
                if empty && emptied.push(Pages::of_table(table)).is_ok() {
                    write_entry(platform, slot.at, Entry::INVALID);
                }
                return;
            }
        }
    }

    /// Where `bytes` bytes can be mapped inside `within`: the first place at a multiple of `alignment` that has an
    /// unmapped page after it, and one before it if it does not begin with `within`.
    ///
    /// The tables are the only record of what is mapped, so that there is none that could forget.
    pub(crate) fn find_free<P: Platform>(
        &self,
        platform: &mut P,
        within: Range<u64>,
        bytes: u64,
        alignment: u64,
    ) -> Option<u64> {
        let limit = 1_u64.checked_shl(self.va_bits).unwrap_or(u64::MAX);
        let most = within.end.min(limit);
        let mut start = within.start.checked_next_multiple_of(alignment)?;
        let mut seen = start.saturating_sub(PAGE_BYTES).max(within.start);
        loop {
            // Nothing is mapped from the page before `start` up to `seen`.
            let end = start.checked_add(bytes)?.checked_add(PAGE_BYTES)?;
            if end > most {
                return None;
            }
            if seen >= end {
                return Some(start);
            }
            let (slot, level) = self.find(platform, seen);
            let size = level.bytes();
            let next = (seen & !size.wrapping_sub(1)).checked_add(size)?;
            if slot.entry.decode(level) != Decoded::Invalid {
                start = next
                    .checked_add(PAGE_BYTES)?
                    .checked_next_multiple_of(alignment)?;
            }
            seen = next;
        }
    }

    /// Unmaps whatever leads to `memory`, wherever it is. Tables that are empty then stay for reuse.
    pub(crate) fn unmap_memory<P: Platform>(
        &self,
        platform: &mut P,
        memory: Range<PhysicalAddress>,
    ) {
        unmap_memory(platform, self.root, self.start, &memory);
    }

    /// Whether a page holds one of the tables.
    pub(crate) fn has_table<P: Platform>(&self, platform: &mut P, page: PhysicalAddress) -> bool {
        has_table(platform, self.root, self.start, page)
    }

    /// Gives the memory of the tables back: no hardware uses them any more. What they map is the caller's.
    pub(crate) fn release<P: Platform>(self, platform: &mut P, memory: &mut Memory) {
        release_table(platform, memory, self.root, self.start);
    }

    /// Where `address` is mapped to, and how.
    #[cfg(test)]
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

fn unmap_memory<P: Platform>(
    platform: &mut P,
    table: PhysicalAddress,
    level: Level,
    memory: &Range<PhysicalAddress>,
) {
    for at in (0..PAGE_BYTES).step_by(8) {
        let at = table.offset(at);
        match (Entry(platform.load64(at)).decode(level), level.next()) {
            (Decoded::Table { address }, Some(below)) => {
                unmap_memory(platform, PhysicalAddress(address), below, memory);
            }
            // A block is never larger than the memory that it maps.
            (Decoded::Leaf { address, .. }, _) if memory.contains(&PhysicalAddress(address)) => {
                write_entry(platform, at, Entry::INVALID);
            }
            _ => {}
        }
    }
}

/// Puts a table of smaller entries in the place of a block. The hardware does not look meanwhile: the region is locked.
fn split<P: Platform>(
    platform: &mut P,
    memory: &mut Memory,
    slot: &Slot,
    level: Level,
    physical: u64,
    attributes: Attributes,
) -> Result<(), MapError> {
    let bad = MapError::Entry(EntryError::NotAtLevel(level));
    let below = level.next().ok_or(bad)?;
    let table = memory.take(platform, "a page table", PAGE_BYTES, PAGE_BYTES)?;
    let start = table.start();
    let mut part = physical;
    for at in (0..PAGE_BYTES).step_by(8) {
        // The block was aligned, and so are its parts.
        let entry = Entry::leaf(below, part, attributes).unwrap_or(Entry::INVALID);
        write_entry(platform, start.offset(at), entry);
        part = part.wrapping_add(below.bytes());
    }
    let entry = match Entry::table(level, start.0) {
        Ok(entry) => entry,
        Err(error) => {
            memory.give_back(platform, table);
            return Err(error.into());
        }
    };
    platform.publish();
    write_entry(platform, slot.at, entry);
    let _ = table.into_table();
    Ok(())
}

/// Gives a table back, and those that it points to.
fn release_table<P: Platform>(
    platform: &mut P,
    memory: &mut Memory,
    table: PhysicalAddress,
    level: Level,
) {
    if let Some(below) = level.next() {
        for at in (0..PAGE_BYTES).step_by(8) {
            let entry = Entry(platform.load64(table.offset(at)));
            if let Decoded::Table { address } = entry.decode(level) {
                release_table(platform, memory, PhysicalAddress(address), below);
            }
        }
    }
    memory.give_back(platform, Pages::of_table(table));
}

fn write_entry<P: Platform>(platform: &mut P, at: PhysicalAddress, entry: Entry) {
    platform.store64(at, entry.0);
    platform.clean(at.span(8));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fake;

    fn tables(bytes: u64) -> (Fake, Memory, PageTables) {
        let (mut fake, mut memory) = (Fake::new(bytes), Memory::new());
        let tables = PageTables::new(&mut fake, &mut memory, 48).expect("memory");
        (fake, memory, tables)
    }

    const BLOCK: u64 = 0x20_0000;
    const MEMORY: PhysicalAddress = PhysicalAddress(0x8000_0000);

    #[test]
    fn entries_are_those_of_the_facts() {
        let (mut fake, mut memory, tables) = tables(0x10_0000);
        let range = 0x1_0000..0x1_1000;
        tables
            .map(&mut fake, &mut memory, range, MEMORY, Attributes::CODE)
            .expect("free");
        let (slot, level) = tables.find(&mut fake, 0x1_0000);
        assert_eq!((slot.entry.0, level), (0x0000_0000_8000_0FC7, Level::L3));
        let expected = Some((MEMORY.offset(0x123), Attributes::CODE));
        assert_eq!(tables.translate(&mut fake, 0x1_0123), expected);
        assert_eq!(tables.translate(&mut fake, 0x1_1000), None);
    }

    #[test]
    fn blocks_are_used_where_they_fit_and_unmapped_whole() {
        let (mut fake, mut memory, tables) = tables(0x10_0000);
        let range = BLOCK..2 * BLOCK + 0x2000;
        tables
            .map(&mut fake, &mut memory, range, MEMORY, Attributes::CACHED)
            .expect("free");
        assert_eq!(tables.find(&mut fake, BLOCK).1, Level::L2);
        assert_eq!(tables.find(&mut fake, 2 * BLOCK).1, Level::L3);
        // A part of the block goes, and the rest is as it was.
        let part = BLOCK + 0x3000..BLOCK + 0x5000;
        tables
            .unmap(&mut fake, &mut memory, part, &mut Emptied::new())
            .expect("memory for a table");
        for (offset, mapped) in [
            (0, true),
            (0x2FFF, true),
            (0x3000, false),
            (0x4FFF, false),
            (0x5000, true),
            (BLOCK - 1, true),
        ] {
            let found = tables.translate(&mut fake, BLOCK + offset);
            let expected = mapped.then_some((MEMORY.offset(offset), Attributes::CACHED));
            assert_eq!(found, expected, "{offset:#x}");
        }
        tables
            .unmap(
                &mut fake,
                &mut memory,
                BLOCK..2 * BLOCK + 0x2000,
                &mut Emptied::new(),
            )
            .expect("whole");
        assert_eq!(tables.translate(&mut fake, BLOCK), None);
        assert_eq!(tables.translate(&mut fake, 2 * BLOCK), None);
    }

    #[test]
    fn memory_is_unmapped_wherever_it_is() {
        let (mut fake, mut memory, tables) = tables(0x10_0000);
        let data = Attributes::CACHED;
        for (at, from) in [
            (0x1_0000, MEMORY),
            (0x9000_0000, MEMORY),
            (0x2_0000, MEMORY.offset(0x1000)),
        ] {
            tables
                .map(&mut fake, &mut memory, at..at + 0x1000, from, data)
                .expect("free");
        }
        tables.unmap_memory(&mut fake, MEMORY.span(0x1000));
        assert_eq!(tables.translate(&mut fake, 0x1_0000), None);
        assert_eq!(tables.translate(&mut fake, 0x9000_0000), None);
        assert!(tables.translate(&mut fake, 0x2_0000).is_some());
    }

    #[test]
    fn a_block_goes_page_by_page_where_a_table_stands() {
        let (mut fake, mut memory, tables) = tables(0x10_0000);
        let small = BLOCK..BLOCK + 0x1000;
        tables
            .map(
                &mut fake,
                &mut memory,
                small.clone(),
                MEMORY,
                Attributes::CACHED,
            )
            .expect("free");
        tables
            .unmap(&mut fake, &mut memory, small, &mut Emptied::new())
            .expect("mapped");
        let large = BLOCK..2 * BLOCK;
        tables
            .map(&mut fake, &mut memory, large, MEMORY, Attributes::CACHED)
            .expect("free");
        let last = 2 * BLOCK - 1;
        let found = tables
            .translate(&mut fake, last)
            .map(|(physical, _)| physical);
        assert_eq!(found, Some(MEMORY.offset(BLOCK - 1)));
    }

    #[test]
    fn nothing_is_mapped_twice_and_a_failed_map_leaves_nothing() {
        let (mut fake, mut memory, tables) = tables(0x10_0000);
        let data = Attributes::CACHED;
        tables
            .map(&mut fake, &mut memory, 0x5000..0x6000, MEMORY, data)
            .expect("free");
        let got = tables.map(&mut fake, &mut memory, 0x3000..0x7000, MEMORY, data);
        assert_eq!(got, Err(MapError::AlreadyMapped { address: 0x5000 }));
        assert_eq!(tables.translate(&mut fake, 0x3000), None);
        assert!(tables.translate(&mut fake, 0x5000).is_some());
    }

    #[test]
    fn bad_ranges_and_missing_memory_are_refused() {
        let (mut fake, mut memory, tables) = tables(0x2000);
        let data = Attributes::CACHED;
        for (start, end) in [
            (0x1000, 0x1000),
            (0x800, 0x1000),
            (0x1000, 0x1800),
            (0, 1 << 49),
        ] {
            let got = tables.map(&mut fake, &mut memory, start..end, MEMORY, data);
            assert_eq!(
                got,
                Err(MapError::BadRange {
                    start,
                    end,
                    bits: 48
                })
            );
        }
        let got = tables.map(&mut fake, &mut memory, 0..0x1000, MEMORY, data);
        assert!(matches!(got, Err(MapError::OutOfMemory(_))), "{got:?}");
    }
}
