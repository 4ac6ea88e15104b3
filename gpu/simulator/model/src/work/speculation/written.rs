//! Who has written what since a window was opened.

use super::view::LINE;
use crate::memory::{BusError, PAGE, PAGE_BYTES, PageAccess, PhysicalMemory};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;

const LINES: usize = (PAGE / LINE) as usize;

/// Who writes: the workgroup with this number in its window, or [`OTHERS`].
pub(super) type Writer = u32;

/// Several workgroups, or one that is executed in its turn.
pub(super) const OTHERS: Writer = Writer::MAX;

/// The bytes of a page that were written, and who has written to each line.
#[derive(Debug)]
struct Page {
    masks: [u64; LINES],
    writers: [Writer; LINES],
}

/// What was written since a window was opened.
#[derive(Debug, Default)]
pub(super) struct Written {
    pages: BTreeMap<u64, Box<Page>>,
}

impl Written {
    /// `writer` writes bytes of a line.
    pub(super) fn add(&mut self, line: u64, mask: u64, writer: Writer) {
        let page = self.pages.entry(line / LINES as u64).or_insert_with(|| {
            Box::new(Page {
                masks: [0; LINES],
                writers: [0; LINES],
            })
        });
        let number = line as usize % LINES;
        if page.masks[number] == 0 {
            page.writers[number] = writer;
        } else if page.writers[number] != writer {
            page.writers[number] = OTHERS;
        }
        page.masks[number] |= mask;
    }

    /// Whether anybody but `reader` has written bytes of a line. Where several have written to the line, the reader's own bytes count
    /// too.
    pub(super) fn by_others(&self, line: u64, mask: u64, reader: Writer) -> bool {
        let Some(page) = self.pages.get(&(line / LINES as u64)) else {
            return false;
        };
        let number = line as usize % LINES;
        page.masks[number] & mask != 0 && page.writers[number] != reader
    }

    /// Others write bytes at a physical address.
    fn add_span(&mut self, address: u64, length: u64) {
        let (mut at, end) = (address, address.saturating_add(length));
        while at < end {
            let line = at / LINE;
            let stop = end.min((line + 1) * LINE);
            let ones = u64::MAX >> (LINE - (stop - at));
            self.add(line, ones << (at % LINE), OTHERS);
            at = stop;
        }
    }
}

/// Memory whose writes are noted.
pub(super) struct Noted<'a> {
    pub(super) memory: &'a mut dyn PhysicalMemory,
    pub(super) written: &'a mut Written,
}

impl PhysicalMemory for Noted<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.memory.read(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.written.add_span(address, bytes.len() as u64);
        self.memory.write(address, bytes)
    }

    fn page_to_read(&mut self, address: u64, access: &PageAccess<'_>) -> Option<&[u8; PAGE_BYTES]> {
        self.memory.page_to_read(address, access)
    }

    fn page_to_write(
        &mut self,
        address: u64,
        access: &PageAccess<'_>,
    ) -> Option<&mut [u8; PAGE_BYTES]> {
        for (start, length) in access.spans() {
            self.written.add_span(address + start, length);
        }
        self.memory.page_to_write(address, access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::SparseMemory;

    #[test]
    fn a_reader_meets_what_others_have_written() {
        let mut written = Written::default();
        written.add(100, 0xff, 1);
        assert!(!written.by_others(100, 0xff00, 2), "other bytes");
        assert!(written.by_others(100, 0x80, 2));
        assert!(!written.by_others(100, 0x80, 1), "its own");
        written.add(100, 0xff00, 2);
        assert!(written.by_others(100, 0x80, 1), "the line is shared");
        assert!(!written.by_others(101, u64::MAX, 1));
    }

    #[test]
    fn writes_in_turn_are_noted() {
        let (mut memory, mut written) = (SparseMemory::new(1 << 20), Written::default());
        let mut noted = Noted {
            memory: &mut memory,
            written: &mut written,
        };
        noted.write(0x103e, &[1, 2, 3, 4]).expect("memory");
        assert!(written.by_others(0x1000 / 64, 3 << 62, 0));
        assert!(written.by_others(0x1040 / 64, 2, 0));
        assert!(!written.by_others(0x1040 / 64, 4, 0));
    }
}
