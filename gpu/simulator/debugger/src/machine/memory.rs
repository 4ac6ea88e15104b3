//! Physical memory whose clones share pages until one of them writes.
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use eitri_model::{Accessor, BusError, Gpu, PAGE, PhysicalMemory, Source};

/// The bytes of a page.
type Page = [u8; PAGE as usize];

/// Ranges of memory. Pages that nobody has written are zero and take nothing.
#[derive(Clone, Debug, Default)]
pub struct SharedPages {
    /// Numbers of the pages that there are: in order, apart from each other.
    ranges: Vec<Range<u64>>,
    pages: HashMap<u64, Arc<Page>>,
    /// Accesses, if they are wanted.
    accesses: Option<Accesses>,
}

/// Whose accesses are noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accessors {
    /// Those of shader cores.
    Cores,
    /// Those of everybody.
    All,
}

/// Accesses since they were last taken.
#[derive(Clone, Debug)]
struct Accesses {
    wanted: Accessors,
    /// Whether those that come are noted.
    is_noted: bool,
    /// Physical address, bytes, and whether it was written.
    made: Vec<(u64, u64, bool)>,
}

impl SharedPages {
    /// So many bytes from an address on, both multiples of a page.
    pub fn new(base: u64, bytes: u64) -> SharedPages {
        let mut memory = SharedPages::default();
        memory.add(base, bytes);
        memory
    }

    /// All pages that so many bytes from an address on touch are memory from now on.
    pub fn add(&mut self, address: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let mut new = address / PAGE..address.saturating_add(bytes).div_ceil(PAGE);
        let first = self.ranges.partition_point(|own| own.end < new.start);
        let behind = self.ranges.partition_point(|own| own.start <= new.end);
        for own in self.ranges.drain(first..behind.max(first)) {
            new = new.start.min(own.start)..new.end.max(own.end);
        }
        self.ranges.insert(first, new);
    }

    /// The range of memory that an address is in, as numbers of pages.
    pub fn range(&self, address: u64) -> Option<Range<u64>> {
        let number = address / PAGE;
        let before = self.ranges.partition_point(|own| own.end <= number);
        let range = self.ranges.get(before)?;
        range.contains(&number).then(|| range.clone())
    }

    /// Whether something was written to the page of an address.
    pub fn is_written(&self, address: u64) -> bool {
        self.pages.contains_key(&(address / PAGE))
    }

    /// Pages that something was written to.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Notes accesses from now on, in place of what was noted before.
    pub(crate) fn note_accesses(&mut self, wanted: Accessors) {
        self.accesses = Some(Accesses {
            wanted,
            is_noted: wanted == Accessors::All,
            made: vec![],
        });
    }

    /// Whether some bytes at an address of the GPU were read, and whether they were written since accesses are noted.
    pub(crate) fn touched(&self, gpu: &Gpu, (space, address): (u8, u64), len: u64) -> (bool, bool) {
        let end = address.saturating_add(len);
        let (mut at, mut touched) = (address, (false, false));
        let mut reader = self.reader();
        while at < end {
            let bytes = (PAGE - at % PAGE).min(end - at);
            if let Some(physical) = gpu.physical(&mut reader, space, at) {
                let found = self.was_accessed(physical, bytes);
                touched = (touched.0 || found.0, touched.1 || found.1);
            }
            at += bytes;
        }
        touched
    }

    /// Whether somebody has read, and whether somebody has written some of these bytes of a page since they are noted.
    fn was_accessed(&self, address: u64, bytes: u64) -> (bool, bool) {
        let made = self.accesses.iter().flat_map(|own| &own.made);
        let meets = |start: u64, len: u64| {
            start < address.saturating_add(bytes) && address < start.saturating_add(len)
        };
        made.filter(|(start, len, _)| meets(*start, *len))
            .fold((false, false), |(read, written), (_, _, writes)| {
                (read || !writes, written || *writes)
            })
    }

    fn note(&mut self, address: u64, bytes: usize, writes: bool) {
        if let Some(own) = &mut self.accesses
            && own.is_noted
        {
            own.made.push((address, bytes as u64, writes));
        }
    }

    /// Pages whose bytes it does not share with another state of this memory.
    pub fn changed_pages(&self, other: &SharedPages) -> usize {
        let is_shared = |number: &u64, page: &Arc<Page>| {
            let own = other.pages.get(number);
            own.is_some_and(|other| Arc::ptr_eq(other, page))
        };
        let pages = self.pages.iter();
        pages
            .filter(|(number, page)| !is_shared(number, page))
            .count()
    }

    /// The same memory for a reader.
    pub fn reader(&self) -> Reader<'_> {
        Reader(self)
    }

    /// Whether it is memory: an access never crosses a page.
    fn check(&self, address: u64) -> Result<(), BusError> {
        self.range(address).map(drop).ok_or(BusError { address })
    }

    fn load(&self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.check(address)?;
        let (page, offset) = (address / PAGE, (address % PAGE) as usize);
        let part = offset..offset.saturating_add(bytes.len());
        match self.pages.get(&page) {
            None => bytes.fill(0),
            Some(page) => {
                let part = page.get(part).ok_or(BusError { address })?;
                bytes.copy_from_slice(part);
            }
        }
        Ok(())
    }
}

impl PhysicalMemory for SharedPages {
    fn accessed_by(&mut self, accessor: Accessor) {
        if let Some(own) = &mut self.accesses {
            own.is_noted = match own.wanted {
                Accessors::Cores => matches!(accessor, Accessor::Unit(Source::Core(_))),
                Accessors::All => true,
            };
        }
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.note(address, bytes.len(), false);
        self.load(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.note(address, bytes.len(), true);
        self.check(address)?;
        let (page, offset) = (address / PAGE, (address % PAGE) as usize);
        let part = offset..offset.saturating_add(bytes.len());
        let page = self.pages.entry(page);
        let page = page.or_insert_with(|| Arc::new([0; PAGE as usize]));
        let part = Arc::make_mut(page)
            .get_mut(part)
            .ok_or(BusError { address })?;
        part.copy_from_slice(bytes);
        Ok(())
    }
}

/// Memory that is only read.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'m>(&'m SharedPages);

impl PhysicalMemory for Reader<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.0.load(address, bytes)
    }

    fn write(&mut self, address: u64, _: &[u8]) -> Result<(), BusError> {
        Err(BusError { address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_what_was_there() {
        let mut memory = SharedPages::new(PAGE, 4 * PAGE);
        memory.write(PAGE + 8, &[1, 2]).unwrap();
        let kept = memory.clone();
        memory.write(PAGE + 8, &[3]).unwrap();
        let read = |memory: &SharedPages| {
            let mut bytes = [0; 2];
            memory.reader().read(PAGE + 8, &mut bytes).unwrap();
            bytes
        };
        assert_eq!((read(&memory), read(&kept)), ([3, 2], [1, 2]));
        assert_eq!(memory.changed_pages(&kept), 1);
        assert_eq!(kept.changed_pages(&kept.clone()), 0);
        assert!(memory.write(0, &[0]).is_err(), "below its start");
        assert!(memory.write(5 * PAGE, &[0]).is_err(), "behind its end");
        assert!(memory.reader().write(PAGE, &[0]).is_err());
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let mut memory = SharedPages::default();
        for (address, bytes) in [
            (8, 1),
            (5 * PAGE, PAGE),
            (3 * PAGE, PAGE),
            (9 * PAGE, 2 * PAGE),
        ] {
            memory.add(address, bytes);
        }
        assert_eq!(memory.range(0), Some(0..1));
        assert_eq!(memory.range(4 * PAGE), None);
        memory.add(4 * PAGE, 0);
        assert_eq!(memory.range(4 * PAGE), None, "nothing was added");
        memory.add(4 * PAGE - 1, 2);
        assert_eq!(memory.range(4 * PAGE), Some(3..6));
        memory.add(PAGE, 9 * PAGE);
        assert_eq!(memory.range(10 * PAGE), Some(0..11));
        assert_eq!(memory.range(11 * PAGE), None);
        memory.write(7 * PAGE + 1, &[4]).unwrap();
        assert!(memory.is_written(7 * PAGE) && !memory.is_written(8 * PAGE));
    }
}
