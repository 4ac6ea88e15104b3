//! VM: ranges of virtual addresses, and buffer objects in them with their protection.
//!
//! Guarantees: code is read-only and executable, data is never executable; two mappings never touch (an unmapped
//! page stands between them, so that an access beyond one faults); memory is zero at first.
//! Facts: hardware/gpu-mmu.md section 7, csf-scheduling.md section 2.

use crate::memory::{Memory, OutOfMemory, Pages};
use crate::mmu::{AddressSpace, MmuError, Part, largest};
use crate::platform::{PhysicalAddress, Platform};
use core::fmt;
use core::ops::Range;
use eitri_csf::page_table::{Attributes, PAGE_BYTES};
use heapless::Vec;
use thiserror::Error;

/// A virtual address of the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuAddress(pub u64);

impl GpuAddress {
    /// The address `bytes` further on (wrapping; addresses have at most 48 bits, so none does).
    pub const fn offset(self, bytes: u64) -> GpuAddress {
        GpuAddress(self.0.wrapping_add(bytes))
    }
}

impl fmt::Display for GpuAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// What an object is for, which decides how it is protected and cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// Shader code: read-only, executable, cached.
    Code,
    /// Data of shaders: read and write, never executable, cached. Caches are flushed at the end of a job.
    Data,
    /// What host and GPU both write while work runs: sync objects, user pages. Not cached.
    Shared,
    /// What the host writes and the GPU only reads: rings, commands, descriptors. Not cached.
    Given,
}

impl Protection {
    /// Whether the L2 does not cache it.
    pub(crate) const fn is_uncached(self) -> bool {
        matches!(self, Protection::Shared | Protection::Given)
    }

    const fn attributes(self) -> Attributes {
        match self {
            Protection::Code => Attributes::CODE,
            Protection::Data => Attributes::CACHED,
            Protection::Shared => Attributes::UNCACHED,
            Protection::Given => Attributes::UNCACHED.read_only(),
        }
    }
}

/// Why an object can't be made or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum VmError {
    /// The platform has no more memory.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The address space is full.
    #[error("no {bytes} bytes of addresses are left for {what}")]
    OutOfAddresses {
        /// What it was for.
        what: &'static str,
        /// Bytes wanted.
        bytes: u64,
    },
    /// The mapping can't be made or removed.
    #[error(transparent)]
    Mmu(#[from] MmuError),
}

/// Memory that the GPU sees at a virtual address of a space. The owner remembers which address space it belongs to.
#[derive(Debug)]
pub(crate) struct Mapping {
    address: GpuAddress,
    pages: Pages,
}

impl Mapping {
    /// Pages that their owner maps by itself.
    pub(crate) const fn of_pages(address: GpuAddress, pages: Pages) -> Mapping {
        Mapping { address, pages }
    }

    /// Says where they are to be mapped: they are not yet.
    pub(crate) const fn move_to(&mut self, address: GpuAddress) {
        self.address = address;
    }

    /// Where the GPU sees it.
    pub(crate) const fn address(&self) -> GpuAddress {
        self.address
    }

    /// Where its memory is.
    pub(crate) const fn memory(&self) -> PhysicalAddress {
        self.pages.start()
    }

    /// Its memory; the GPU is stopped, or nothing is mapped any more.
    pub(crate) fn into_pages(self) -> Pages {
        self.pages
    }

    /// Its length: whole pages.
    pub(crate) const fn bytes(&self) -> u64 {
        self.pages.bytes()
    }
}

/// How many mappings are made or unmapped at once, at most. Fewer are as many with some that want nothing, so that there is one
/// function of each in an image.
pub(crate) const AT_ONCE: usize = 3;

/// What a mapping is for, its bytes and its protection.
pub(crate) type Wanted = (&'static str, u64, Protection);

/// No mapping.
pub(crate) const NOTHING: Wanted = ("", 0, Protection::Given);

/// Pages that are not mapped, or may be after an error that costs the device; and why not.
pub(crate) type NotMapped = ([Option<Pages>; AT_ONCE], VmError);

/// Where pages begin, counted from the first, if they are placed side by side, with a page between each two; the bytes of all,
/// and what their place is aligned to.
fn side_by_side(all: &[Option<Pages>; AT_ONCE]) -> ([u64; AT_ONCE], u64, u64) {
    let (mut starts, mut end, mut alignment) = ([0; AT_ONCE], 0_u64, PAGE_BYTES);
    for (start, pages) in starts.iter_mut().zip(all) {
        let Some(pages) = pages else { continue };
        let own = Vm::alignment(pages.bytes());
        if end > 0 {
            end = end.saturating_add(PAGE_BYTES);
        }
        *start = end.checked_next_multiple_of(own).unwrap_or(u64::MAX);
        end = start.saturating_add(pages.bytes());
        alignment = alignment.max(own);
    }
    (starts, end, alignment)
}

/// An address space in which mappings are placed.
#[derive(Debug)]
pub(crate) struct Vm {
    pub(crate) space: AddressSpace,
    /// It has reported a fault, and is out of the hardware until whoever made it is gone.
    pub(crate) faulted: bool,
    /// Queues and objects that are in the space.
    pub(crate) queues: u32,
    pub(crate) objects: u32,
    range: Range<u64>,
    /// Where the last mapping ended: the search for a place begins there, so that an address is not reused at once.
    next: u64,
}

impl Vm {
    /// A space in which mappings are placed in `range`.
    pub(crate) const fn new(space: AddressSpace, range: Range<u64>) -> Vm {
        Vm {
            space,
            faulted: false,
            queues: 0,
            objects: 0,
            next: range.start,
            range,
        }
    }

    /// At what the memory of a mapping of `bytes` is aligned: so that blocks can map it, the largest that it has room for.
    fn alignment(bytes: u64) -> u64 {
        largest(0, bytes).bytes()
    }

    /// Takes memory and maps it wherever there is room, with the hardware asked once; none where no bytes are wanted.
    ///
    /// # Errors
    /// With the pages, if there are any: after an error that costs the device the GPU may still reach them until it is
    /// stopped.
    #[inline(never)]
    pub(crate) fn map<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        wanted: [Wanted; AT_ONCE],
    ) -> Result<[Option<Mapping>; AT_ONCE], NotMapped> {
        let mut taken = [const { None }; AT_ONCE];
        for (place, (what, bytes, _)) in taken.iter_mut().zip(wanted) {
            if bytes == 0 {
                continue;
            }
            match memory.take(platform, what, bytes, Vm::alignment(bytes)) {
                Ok(pages) => *place = Some(pages),
                Err(error) => return Err((taken, error.into())),
            }
        }
        if taken.iter().all(Option::is_none) {
            return Ok([const { None }; AT_ONCE]);
        }
        let (starts, bytes, alignment) = side_by_side(&taken);
        let Range { start, end } = self.range;
        let space = &self.space;
        let found = space
            .find_free(platform, self.next..end, bytes, alignment)
            .or_else(|| space.find_free(platform, start..end, bytes, alignment));
        let Some(first) = found else {
            let what = wanted.first().map_or("", |(what, ..)| *what);
            return Err((taken, VmError::OutOfAddresses { what, bytes }));
        };
        let starts = starts.map(|start| first.wrapping_add(start));
        let mut parts: Vec<Part, AT_ONCE> = Vec::new();
        for ((pages, start), (.., protection)) in taken.iter().zip(starts).zip(wanted) {
            let Some(pages) = pages else { continue };
            // There is room: it is as long as the arrays.
            let _ = parts.push(Part {
                range: start..start.wrapping_add(pages.bytes()),
                physical: pages.start(),
                attributes: protection.attributes(),
            });
        }
        if let Err(error) = self.space.map(platform, memory, &parts) {
            return Err((taken, error.into()));
        }
        self.next = first.saturating_add(bytes).saturating_add(PAGE_BYTES);
        let mut starts = starts.into_iter();
        Ok(taken.map(|pages| {
            let address = GpuAddress(starts.next().unwrap_or(0));
            pages.map(|pages| Mapping { address, pages })
        }))
    }

    /// Maps pages that the platform has lent wherever there is room, as data of shaders.
    ///
    /// # Errors
    /// With the pages, as [`Vm::map`].
    #[inline(never)]
    pub(crate) fn map_borrowed<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        pages: Pages,
        what: &'static str,
    ) -> Result<Mapping, (Pages, VmError)> {
        let bytes = pages.bytes();
        let alignment = Vm::alignment(bytes);
        let Range { start, end } = self.range;
        let space = &self.space;
        let found = space
            .find_free(platform, self.next..end, bytes, alignment)
            .or_else(|| space.find_free(platform, start..end, bytes, alignment));
        let Some(first) = found else {
            return Err((pages, VmError::OutOfAddresses { what, bytes }));
        };
        let part = Part {
            range: first..first.wrapping_add(bytes),
            physical: pages.start(),
            attributes: Protection::Data.attributes(),
        };
        if let Err(error) = self.space.map(platform, memory, &[part]) {
            return Err((pages, error.into()));
        }
        self.next = first.saturating_add(bytes).saturating_add(PAGE_BYTES);
        Ok(Mapping::of_pages(GpuAddress(first), pages))
    }

    /// Unmaps what no work uses any more.
    ///
    /// # Errors
    /// It may still be mapped.
    pub(crate) fn unmap<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        mappings: &[Option<Mapping>; AT_ONCE],
    ) -> Result<(), VmError> {
        let mut ranges: Vec<Range<u64>, AT_ONCE> = Vec::new();
        for mapping in mappings.iter().flatten() {
            let start = mapping.address.0;
            // There is room: it is as long as the array.
            let _ = ranges.push(start..start.wrapping_add(mapping.pages.bytes()));
        }
        Ok(self.space.unmap(platform, memory, &ranges)?)
    }
}
