//! Memory: zeroed pages for tables, firmware and buffers, from the platform once and reused after that.
//!
//! Bounded: at most 64 pieces are free at once; what is beyond is lost until the next start, and counted.

use crate::platform::{PhysicalAddress, Platform};
use crate::ranges::Ranges;
use eitri_csf::page_table::PAGE_BYTES;
use thiserror::Error;

/// The platform has no more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no memory for {bytes} bytes of {what}")]
pub struct OutOfMemory {
    /// What it was for.
    pub what: &'static str,
    /// Bytes wanted.
    pub bytes: u64,
}

/// Contiguous memory that the GPU can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pages {
    /// Where it begins.
    pub(crate) start: PhysicalAddress,
    /// Its length, a multiple of 4096.
    pub(crate) bytes: u64,
}

/// Pages that were given back.
#[derive(Debug)]
pub(crate) struct Memory {
    free: Ranges<64>,
}

impl Memory {
    /// Nothing yet.
    pub(crate) const fn new() -> Memory {
        Memory {
            free: Ranges::new(),
        }
    }

    /// Zeroed pages, visible to the GPU as zeros: at least `bytes`, at a multiple of `alignment`.
    pub(crate) fn take<P: Platform>(
        &mut self,
        platform: &mut P,
        what: &'static str,
        bytes: u64,
        alignment: u64,
    ) -> Result<Pages, OutOfMemory> {
        let error = OutOfMemory { what, bytes };
        let bytes = bytes
            .max(1)
            .checked_next_multiple_of(PAGE_BYTES)
            .ok_or(error)?;
        let alignment = alignment.max(PAGE_BYTES);
        let start = match self.free.take(bytes, alignment) {
            Some(start) => {
                let start = PhysicalAddress(start);
                platform.zero(start, bytes);
                start
            }
            None => platform.allocate(bytes, alignment).ok_or(error)?,
        };
        platform.clean(start.span(bytes));
        Ok(Pages { start, bytes })
    }

    /// Gives pages back that the GPU can't reach any more.
    pub(crate) fn give_back(&mut self, pages: Pages) {
        let end = pages.start.offset(pages.bytes);
        self.free.give_back(pages.start.0..end.0);
    }

    /// Bytes that were lost because too many pieces were free at once.
    pub(crate) const fn lost(&self) -> u64 {
        self.free.lost()
    }
}
