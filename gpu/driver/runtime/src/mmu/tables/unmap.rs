//! Unmapping: of a range, of whatever leads to a part of memory, and of everything.

use super::{MapError, PageTables, Slot, read_slot, write_entry};
use crate::memory::{Memory, Pages};
use crate::platform::{PhysicalAddress, Platform};
use core::ops::Range;
use eitri_csf::page_table::{Attributes, Decoded, Entry, EntryError, Level, PAGE_BYTES};
use heapless::Vec;

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
    pub(super) const fn full() -> Emptied {
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

impl PageTables {
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

    /// Unmaps whatever leads to `memory`, wherever it is. Tables that are empty then stay for reuse.
    pub(crate) fn unmap_memory<P: Platform>(
        &self,
        platform: &mut P,
        memory: Range<PhysicalAddress>,
    ) {
        unmap_memory(platform, self.root, self.start, &memory);
    }

    /// Gives the memory of the tables back: no hardware uses them any more. What they map is the caller's.
    pub(crate) fn release<P: Platform>(self, platform: &mut P, memory: &mut Memory) {
        release_table(platform, memory, self.root, self.start);
    }
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
