//! Memory of a replay: what the dump holds, at the same physical addresses, and pages for the driver where it holds nothing.
//!
//! An address that neither has is an error on the bus: what the dump lacks must not read as zeros.

use eitri_debugger::machine::SharedPages;
use eitri_dump::Dump;
use eitri_model::{BusError, PAGE, PhysicalMemory};

/// Pages that a replay may come to hold: 2 GiB.
const MOST_PAGES: usize = 1 << 19;

/// Physical memory, by page.
pub(super) struct Ram {
    /// Memory of the dump that is all zero and not in its file has no pages until they are written.
    pages: SharedPages,
    /// Where the next page of the driver's may be.
    next: u64,
}

/// The dump has more memory than a replay holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooMuch;

impl Ram {
    pub(super) fn of(dump: &Dump<'_>) -> Result<Ram, TooMuch> {
        let mut ram = Ram {
            pages: SharedPages::default(),
            next: PAGE,
        };
        for contents in dump.memory() {
            ram.pages.add(contents.address, contents.bytes);
            let mut at = contents.address;
            let mut data = contents.data;
            ram.pages.add(at, data.len() as u64);
            while !data.is_empty() {
                let room = (PAGE - at % PAGE).min(data.len() as u64) as usize;
                let (now, later) = data.split_at(room);
                ram.write(at, now).map_err(|_| TooMuch)?;
                at += room as u64;
                data = later;
            }
        }
        Ok(ram)
    }

    /// A zeroed page that the dump does not have.
    pub(super) fn fresh(&mut self) -> Result<u64, TooMuch> {
        while let Some(taken) = self.pages.range(self.next) {
            self.next = taken.end.checked_mul(PAGE).ok_or(TooMuch)?;
        }
        let page = self.next;
        self.pages.add(page, PAGE);
        self.write(page, &[0]).map_err(|_| TooMuch)?;
        Ok(page)
    }

    /// The memory as it is now.
    pub(super) fn pages(&self) -> &SharedPages {
        &self.pages
    }
}

impl PhysicalMemory for Ram {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.pages.read(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        if self.pages.pages() >= MOST_PAGES && !self.pages.is_written(address) {
            return Err(BusError { address });
        }
        self.pages.write(address, bytes)
    }
}
