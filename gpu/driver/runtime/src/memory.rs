//! Memory: zeroed pages for tables, firmware and buffers, from the platform and back to it.
//!
//! Guarantees: what the GPU might still write to is never given back.

use crate::platform::{DmaRegion, PhysicalAddress, Platform};
use core::ops::Range;
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

/// Contiguous memory that the GPU can reach: whole pages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pages(DmaRegion);

impl Pages {
    /// Where it begins.
    pub(crate) const fn start(&self) -> PhysicalAddress {
        self.0.start()
    }

    /// Its length, a multiple of 4096.
    pub(crate) const fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// A page that becomes a page table: from here on the entry that points to it is what knows of it.
    pub(crate) const fn into_table(self) -> PhysicalAddress {
        self.start()
    }

    /// The page of a page table that no entry points to any more.
    pub(crate) const fn of_table(table: PhysicalAddress) -> Pages {
        Pages(DmaRegion::new(table, PAGE_BYTES))
    }
}

/// What was taken from the platform.
#[derive(Debug)]
pub(crate) struct Memory {
    in_use: u64,
    withheld: u64,
    gpu_runs_free: bool,
}

impl Memory {
    /// Nothing yet.
    pub(crate) const fn new() -> Memory {
        Memory {
            in_use: 0,
            withheld: 0,
            gpu_runs_free: false,
        }
    }

    /// Zeroed pages, in memory as zeros: at least `bytes`, at a multiple of `alignment`. The GPU sees them after the
    /// next [`Platform::publish`].
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
        let region = platform.allocate(bytes, alignment).ok_or(error)?;
        platform.clean(region.span());
        self.in_use = self.in_use.saturating_add(bytes);
        Ok(Pages(region))
    }

    /// Memory that the platform lends, for an object of the caller's.
    pub(crate) fn borrow<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: Range<PhysicalAddress>,
    ) -> Option<Pages> {
        let region = platform.lend(memory)?;
        self.in_use = self.in_use.saturating_add(region.bytes());
        Some(Pages(region))
    }

    /// Gives pages back that the GPU can't reach any more. While a GPU runs free they are withheld instead, for good.
    pub(crate) fn give_back<P: Platform>(&mut self, platform: &mut P, pages: Pages) {
        let Pages(region) = pages;
        self.in_use = self.in_use.saturating_sub(region.bytes());
        if self.gpu_runs_free {
            self.withheld = self.withheld.saturating_add(region.bytes());
        } else {
            platform.free(region);
        }
    }

    /// Says whether the GPU may still write to whatever was mapped: it was lost and could not be stopped.
    pub(crate) const fn set_gpu_runs_free(&mut self, free: bool) {
        self.gpu_runs_free = free;
    }

    /// Bytes that are taken now.
    pub(crate) const fn in_use(&self) -> u64 {
        self.in_use
    }

    /// Bytes that were not given back, because a GPU that did not stop might have written to them.
    pub(crate) const fn withheld(&self) -> u64 {
        self.withheld
    }
}
