//! Pages: the image's loads and stores go to a copy of each page, at full speed; its cache instructions carry lines between that
//! and memory.
//!
//! The copy is a cache that fetches each line the moment it was invalidated, and evicts none. What the image has stored is seen by
//! comparing with what a line held when it was last the same as memory; so a store of the same again is not seen.
//!
//! Guarantees: the GPU sees what was cleaned and nothing else.  Never: tells who stored; for that there are `lines`.

use super::{Bytes, LINE, PAGE, Told, in_memory};
use crate::machine;
use crate::physical_memory::GuestMemory;
use crate::report::Code;
use crate::stage2;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ops::Range;
use core::ptr;
use eitri_aarch64::Upkeep;
use eitri_boards::Region;
use eitri_model::PhysicalMemory;

/// A page of memory that the image has in its map.
#[repr(C, align(4096))]
struct Frame(UnsafeCell<[u8; PAGE as usize]>);

/// A page that the image has touched.
struct Page {
    /// What the image sees.
    cached: Frame,
    /// What its lines held when each was last the same as memory.
    clean: [u8; PAGE as usize],
}

impl Page {
    /// What the image sees from a place inside of the page on.
    fn cached<const N: usize>(&self, inside: usize) -> [u8; N] {
        assert!(inside + N <= PAGE as usize);
        let mut bytes = [0; N];
        // SAFETY: inside of the page, of which there is no reference; the image does not run meanwhile.
        unsafe {
            let from = self.cached.0.get().cast::<u8>().add(inside);
            ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), N);
        }
        bytes
    }

    fn set_cached(&self, inside: usize, bytes: &[u8]) {
        assert!(inside + bytes.len() <= PAGE as usize);
        // SAFETY: as in `cached`.
        unsafe {
            let to = self.cached.0.get().cast::<u8>().add(inside);
            ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
    }

    /// It holds what is in memory at its address, which is RAM.
    fn forget(&mut self, address: u64) {
        let _ = GuestMemory.read(address, &mut self.clean);
        self.set_cached(0, &self.clean);
    }

    fn clean(&self, inside: usize) -> Bytes {
        let line = self.clean.get(inside..).and_then(<[u8]>::first_chunk);
        line.copied().unwrap_or([0; LINE as usize])
    }

    fn set_clean(&mut self, inside: usize, bytes: &[u8]) {
        if let Some(to) = self.clean.get_mut(inside..inside + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }
}

/// The pages of the memory that the image shares with the GPU.
pub(super) struct Pages {
    shared: Region,
    pages: Vec<Option<Box<Page>>>,
}

impl Pages {
    pub(super) fn new() -> Pages {
        let shared = machine::board().memory.shared;
        let mut pages = Vec::new();
        pages.resize_with(shared.bytes / PAGE as usize, || None);
        Pages { shared, pages }
    }

    /// Nothing is in the cache.
    pub(super) fn forget_all(&mut self) {
        for (number, page) in (0..).zip(&mut self.pages) {
            if let Some(page) = page {
                page.forget(self.shared.base as u64 + number * PAGE);
            }
        }
    }

    /// Nothing of a page is in the cache.
    pub(super) fn forget(&mut self, address: u64) {
        if let Some(page) = self.page(address) {
            page.forget(address & !(PAGE - 1));
        }
    }

    fn place(&mut self, address: u64) -> Option<&mut Option<Box<Page>>> {
        let offset = address.checked_sub(self.shared.base as u64)?;
        self.pages.get_mut((offset / PAGE) as usize)
    }

    /// The page of an address that the image has touched.
    fn page(&mut self, address: u64) -> Option<&mut Page> {
        self.place(address)?.as_deref_mut()
    }

    /// Shows the image its copy of a page.
    pub(super) fn show(&mut self, address: u64) -> bool {
        let at = address & !(PAGE - 1);
        let Some(place) = self.place(at) else {
            return false;
        };
        let mut clean = [0; PAGE as usize];
        // Shared memory is RAM.
        let _ = GuestMemory.read(at, &mut clean);
        let page = place.insert(Box::new(Page {
            cached: Frame(UnsafeCell::new(clean)),
            clean,
        }));
        stage2::show_page(at as usize, page.cached.0.get() as usize);
        true
    }

    /// A cache instruction.
    pub(super) fn upkeep(
        &mut self,
        told: &mut Told,
        upkeep: Upkeep,
        address: u64,
        code: impl Fn() -> Code,
    ) {
        let at = address & !(LINE - 1);
        let inside = (at % PAGE) as usize;
        let Some(page) = self.page(at) else { return };
        let (cached, clean): (Bytes, Bytes) = (page.cached(inside), page.clean(inside));
        let stored = cached != clean;
        if upkeep == Upkeep::Invalidate && stored {
            told.tell(at, || {
                format!(
                    "{} invalidates the line of {at:#x}, where something was stored that was not cleaned: it is lost",
                    code()
                )
            });
        }
        if upkeep != Upkeep::Invalidate && stored {
            // The whole line is written, with what was fetched of it long ago. Whether the GPU has written in between is not told:
            // the image may have stored everything of the line, also what was there before.
            let _ = GuestMemory.write(at, &cached);
            page.set_clean(inside, &cached);
        }
        if upkeep != Upkeep::Clean {
            let now = in_memory(at);
            page.set_cached(inside, &now);
            page.set_clean(inside, &now);
        }
    }

    /// The GPU reads: what of it was stored and not cleaned?
    pub(super) fn look(&mut self, told: &mut Told, address: u64, bytes: usize) {
        for (at, range) in pieces(address, bytes) {
            let Some(page) = self.page(at) else { continue };
            let inside = (at % PAGE) as usize;
            let (cached, clean): (Bytes, Bytes) = (page.cached(inside), page.clean(inside));
            if cached[range.clone()] != clean[range] {
                told.tell(at, || {
                    format!(
                        "the GPU reads the line of {at:#x}, in which something was stored that was not cleaned"
                    )
                });
            }
        }
    }
}

/// The lines that a range lies in, each with the part of it.
fn pieces(address: u64, bytes: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let end = address.saturating_add(bytes as u64);
    let first = address & !(LINE - 1);
    (first..end).step_by(LINE as usize).map(move |at| {
        let from = address.max(at) - at;
        let to = end.min(at + LINE) - at;
        (at, from as usize..to as usize)
    })
}
