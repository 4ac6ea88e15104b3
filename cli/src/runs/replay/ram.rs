//! Memory of a replay: what the dump holds, at the same physical addresses, and pages for the driver where it holds nothing.
//!
//! An address that neither has is an error on the bus: what the dump lacks must not read as zeros.

use eitri_dump::Dump;
use eitri_model::{BusError, PAGE, PhysicalMemory};
use std::collections::BTreeMap;
use std::ops::Range;

/// Pages that a replay may come to hold: 2 GiB.
const MOST_PAGES: usize = 1 << 19;

type Page = Box<[u8; PAGE as usize]>;

/// Physical memory, by page.
pub(super) struct Ram {
    pages: BTreeMap<u64, Page>,
    /// Memory of the dump that is all zero and not in its file: pages appear when they are written.
    zeros: Vec<Range<u64>>,
    /// Where the next page of the driver's may be.
    next: u64,
}

/// The dump has more memory than a replay holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooMuch;

impl Ram {
    pub(super) fn of(dump: &Dump<'_>) -> Result<Ram, TooMuch> {
        let mut ram = Ram {
            pages: BTreeMap::new(),
            zeros: Vec::new(),
            next: PAGE,
        };
        for contents in dump.memory() {
            let mut at = contents.address;
            let mut data = contents.data;
            while !data.is_empty() {
                let room = (PAGE - at % PAGE).min(data.len() as u64) as usize;
                let (now, later) = data.split_at(room);
                let start = (at % PAGE) as usize;
                ram.page(at / PAGE).ok_or(TooMuch)?[start..start + room].copy_from_slice(now);
                at += room as u64;
                data = later;
            }
            let end = contents.address + contents.bytes;
            if at < end {
                ram.zeros.push(at / PAGE..end.div_ceil(PAGE));
            }
        }
        Ok(ram)
    }

    /// A page, made if it is not there; `None` if there are too many.
    fn page(&mut self, number: u64) -> Option<&mut Page> {
        if !self.pages.contains_key(&number) && self.pages.len() >= MOST_PAGES {
            return None;
        }
        let page = self.pages.entry(number);
        Some(page.or_insert_with(|| Box::new([0; PAGE as usize])))
    }

    /// A zeroed page that the dump does not have.
    pub(super) fn fresh(&mut self) -> Result<u64, TooMuch> {
        loop {
            let number = self.next / PAGE;
            if let Some(zeros) = self.zeros.iter().find(|zeros| zeros.contains(&number)) {
                self.next = zeros.end * PAGE;
                continue;
            }
            self.next += PAGE;
            if !self.pages.contains_key(&number) {
                self.page(number).ok_or(TooMuch)?;
                return Ok(number * PAGE);
            }
        }
    }

    fn is_zero(&self, number: u64) -> bool {
        self.zeros.iter().any(|zeros| zeros.contains(&number))
    }
}

impl PhysicalMemory for Ram {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let start = (address % PAGE) as usize;
        match self.pages.get(&(address / PAGE)) {
            Some(page) => {
                let found = page.get(start..start + bytes.len());
                bytes.copy_from_slice(found.ok_or(BusError { address })?);
                Ok(())
            }
            None if self.is_zero(address / PAGE) => {
                bytes.fill(0);
                Ok(())
            }
            None => Err(BusError { address }),
        }
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let (number, start) = (address / PAGE, (address % PAGE) as usize);
        if !self.pages.contains_key(&number) && !self.is_zero(number) {
            return Err(BusError { address });
        }
        let page = self.page(number).ok_or(BusError { address })?;
        let to = page.get_mut(start..start + bytes.len());
        to.ok_or(BusError { address })?.copy_from_slice(bytes);
        Ok(())
    }
}
