//! A worker's view of memory: what is there, under what the workgroup itself has written; with a note of every byte that is accessed.
//!
//! Guarantees: nothing is written to memory; a workgroup sees its own writes and no other's.

use crate::memory::{BusError, PAGE, PAGE_BYTES, PageAccess, PhysicalMemory, Snapshot};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Bytes of a line: a bit each in a mask.
pub(super) const LINE: u64 = 64;
/// Lines of a page.
const LINES: usize = (PAGE / LINE) as usize;
/// Pages from which on a view is large: some 20 MB.
const MOST_PAGES: usize = 4096;
/// Pages that are found without a search.
const RECENT: usize = 16;

/// Bytes of a line that were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    /// Number of the line.
    pub(super) line: u64,
    pub(super) mask: u64,
}

/// Bytes of a line that were written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) line: u64,
    pub(super) mask: u64,
    /// The line's contents, of which the bytes of the mask count.
    pub(super) bytes: [u8; LINE as usize],
}

/// What was accessed of a page since the last turn's end.
#[derive(Clone, Debug)]
struct Accessed {
    read: [u64; LINES],
    written: [u64; LINES],
    /// Lines with a mask that is not 0.
    lines_read: u64,
    lines_written: u64,
}

/// A page.
#[derive(Debug)]
struct Page<'a> {
    address: u64,
    base: &'a [u8; PAGE_BYTES],
    /// The page with the workgroup's writes, once there are some.
    copy: Option<Box<[u8; PAGE_BYTES]>>,
    accessed: Box<Accessed>,
}

impl Page<'_> {
    fn bytes(&self) -> &[u8; PAGE_BYTES] {
        self.copy.as_deref().unwrap_or(self.base)
    }
}

/// Memory as a workgroup sees it that is executed ahead of its turn.
#[derive(Debug)]
pub(super) struct View<'a> {
    base: Snapshot<'a>,
    pages: Vec<Page<'a>>,
    /// Places of pages by address, and those of the last accesses.
    places: BTreeMap<u64, usize>,
    recent: [(u64, usize); RECENT],
    /// Pages that were accessed since the last turn's end.
    accessed: Vec<usize>,
    /// Pages with copies, and copies that nobody uses.
    copied: Vec<usize>,
    spare: Vec<Box<[u8; PAGE_BYTES]>>,
}

impl<'a> View<'a> {
    pub(super) fn new(base: Snapshot<'a>) -> View<'a> {
        View {
            base,
            pages: Vec::new(),
            places: BTreeMap::new(),
            recent: [(u64::MAX, 0); RECENT],
            accessed: Vec::new(),
            copied: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// The place of the page that `address` lies in; `None` where there is no memory.
    fn place(&mut self, address: u64) -> Option<usize> {
        let page = address / PAGE * PAGE;
        let recent = (page / PAGE) as usize % RECENT;
        let (known, place) = self.recent[recent];
        if known == page {
            return Some(place);
        }
        let place = match self.places.get(&page) {
            Some(place) => *place,
            None => {
                let base = self.base.page(page)?;
                self.pages.push(Page {
                    address: page,
                    base,
                    copy: None,
                    accessed: Box::new(Accessed {
                        read: [0; LINES],
                        written: [0; LINES],
                        lines_read: 0,
                        lines_written: 0,
                    }),
                });
                self.places.insert(page, self.pages.len() - 1);
                self.pages.len() - 1
            }
        };
        self.recent[recent] = (page, place);
        Some(place)
    }

    /// Notes spans of a page's bytes, and makes a copy of the page if they are written.
    fn note(&mut self, place: usize, spans: impl Iterator<Item = (u64, u64)>, write: bool) {
        let page = &mut self.pages[place];
        let accessed = &mut *page.accessed;
        if accessed.lines_read | accessed.lines_written == 0 {
            self.accessed.push(place);
        }
        let (masks, lines) = match write {
            true => (&mut accessed.written, &mut accessed.lines_written),
            false => (&mut accessed.read, &mut accessed.lines_read),
        };
        for (start, length) in spans {
            let end = (start + length).min(PAGE);
            let mut at = start;
            while at < end {
                let line = at / LINE;
                let stop = end.min((line + 1) * LINE);
                let ones = u64::MAX >> (LINE - (stop - at));
                masks[line as usize % LINES] |= ones << (at % LINE);
                *lines |= 1 << line;
                at = stop;
            }
        }
        if write && page.copy.is_none() {
            let mut copy = self
                .spare
                .pop()
                .unwrap_or_else(|| Box::new([0; PAGE_BYTES]));
            copy.copy_from_slice(page.base);
            page.copy = Some(copy);
            self.copied.push(place);
        }
    }

    /// Hands out what was accessed since the last call.
    pub(super) fn take_accesses(&mut self, reads: &mut Vec<Read>, writes: &mut Vec<Write>) {
        for place in self.accessed.drain(..) {
            let page = &mut self.pages[place];
            let first = page.address / LINE;
            let bytes = page.copy.as_deref().unwrap_or(page.base);
            let accessed = &mut *page.accessed;
            for number in bits(core::mem::take(&mut accessed.lines_read)) {
                let mask = core::mem::take(&mut accessed.read[number]);
                let line = first + number as u64;
                reads.push(Read { line, mask });
            }
            for number in bits(core::mem::take(&mut accessed.lines_written)) {
                let mask = core::mem::take(&mut accessed.written[number]);
                let mut write = Write {
                    line: first + number as u64,
                    mask,
                    bytes: [0; LINE as usize],
                };
                let start = number * LINE as usize;
                if let Some(from) = bytes.get(start..start + LINE as usize) {
                    write.bytes.copy_from_slice(from);
                }
                writes.push(write);
            }
        }
    }

    /// Whether it holds so many pages that it should be given up.
    pub(super) fn is_large(&self) -> bool {
        self.pages.len() >= MOST_PAGES
    }

    /// Forgets what was written: another workgroup begins.
    pub(super) fn forget(&mut self) {
        self.take_accesses(&mut Vec::new(), &mut Vec::new());
        for place in self.copied.drain(..) {
            self.spare.extend(self.pages[place].copy.take());
        }
    }
}

/// The numbers of the bits that are set.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (number < u64::BITS).then_some(number as usize)
    })
}

impl PhysicalMemory for View<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let place = self.place(address).ok_or(BusError { address })?;
        let start = address % PAGE;
        let from = start as usize..start as usize + bytes.len();
        let page = self.pages[place].bytes();
        bytes.copy_from_slice(page.get(from).ok_or(BusError { address })?);
        let span = (start, bytes.len() as u64);
        self.note(place, core::iter::once(span), false);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let place = self.place(address).ok_or(BusError { address })?;
        let start = address % PAGE;
        let span = (start, bytes.len() as u64);
        self.note(place, core::iter::once(span), true);
        let to = start as usize..start as usize + bytes.len();
        let page = self.pages[place].copy.as_deref_mut();
        let to = page.and_then(|page| page.get_mut(to));
        to.ok_or(BusError { address })?.copy_from_slice(bytes);
        Ok(())
    }

    fn page_to_read(
        &mut self,
        address: u64,
        access: &PageAccess<'_>,
    ) -> Option<&[u8; PAGE as usize]> {
        let place = self.place(address)?;
        self.note(place, access.spans(), false);
        Some(self.pages[place].bytes())
    }

    fn page_to_write(
        &mut self,
        address: u64,
        access: &PageAccess<'_>,
    ) -> Option<&mut [u8; PAGE as usize]> {
        let place = self.place(address)?;
        self.note(place, access.spans(), true);
        self.pages[place].copy.as_deref_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const BASE: u64 = 0x8000_0000;

    #[test]
    fn a_view_sees_its_own_writes_and_leaves_memory_alone() {
        let memory = vec![7; 3 * PAGE_BYTES];
        let mut view = View::new(Snapshot::new(BASE, &memory));
        assert_eq!(view.write32(BASE + PAGE + 60, 1), Ok(()));
        assert_eq!(view.read32(BASE + PAGE + 60), Ok(1));
        assert_eq!(view.read32(BASE + PAGE + 64), Ok(0x0707_0707));
        let beyond = BusError {
            address: BASE + 3 * PAGE,
        };
        assert_eq!(view.read32(BASE + 3 * PAGE), Err(beyond));
        view.forget();
        assert_eq!(view.read32(BASE + PAGE + 60), Ok(0x0707_0707));
        assert!(memory.iter().all(|byte| *byte == 7));
    }

    #[test]
    fn every_byte_that_is_accessed_is_noted() {
        let memory = vec![7; 2 * PAGE_BYTES];
        let mut view = View::new(Snapshot::new(BASE, &memory));
        let starts = core::array::from_fn(|lane| 4 * lane as u32 + 32);
        let access = PageAccess {
            starts: &starts,
            lanes: 0b101,
            bytes: 4,
        };
        view.page_to_read(BASE, &access).expect("a page");
        let row = PageAccess {
            starts: &starts,
            lanes: 1,
            bytes: 64,
        };
        view.page_to_write(BASE, &row).expect("a page")[32..96].fill(9);
        view.write(BASE + PAGE + 1, &[5]).expect("memory");
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        view.take_accesses(&mut reads, &mut writes);
        let line = BASE / LINE;
        let read: Vec<_> = reads.iter().map(|it| (it.line, it.mask)).collect();
        assert_eq!(read, [(line, 0xf0f << 32)]);
        let written: Vec<_> = writes.iter().map(|it| (it.line, it.mask)).collect();
        let high = 0xffff_ffff << 32;
        let expected = [(line, high), (line + 1, high >> 32), (line + 64, 2)];
        assert_eq!(written, expected);
        assert_eq!(writes[0].bytes[31..33], [7, 9]);
        assert_eq!(writes[2].bytes[..3], [7, 5, 7]);
        view.take_accesses(&mut reads, &mut writes);
        assert_eq!((reads.len(), writes.len()), (1, 3), "nothing twice");
    }
}
