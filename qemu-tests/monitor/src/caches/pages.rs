//! Pages: the image's loads and stores go to a copy of each page, at full speed; its cache instructions carry lines between that
//! and memory.
//!
//! The copy is a cache that fetches each line the moment it was invalidated, and evicts none. What the image has stored is seen by
//! comparing with what a line held when it was last the same as memory; so a store of the same again is not seen. A line that is
//! cleaned while memory holds something else, since the GPU has written there, is taken for stored again: drivers clean what they
//! have stored.
//!
//! Guarantees: the GPU sees what was cleaned and nothing else.  Never: tells who stored; for that there are `lines`.

use super::{PAGE, Told, in_memory};
use crate::machine;
use crate::physical_memory::GuestMemory;
use crate::report::Code;
use crate::stage2;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ops::Range;
use core::ptr;
use eitri_aarch64::Upkeep;
use eitri_boards::Region;
use eitri_cache_line::{Bytes, LINE, Missing, pieces};
use eitri_model::{Accessor, PhysicalMemory};

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

    /// Whether the image has stored something in a part of it that was not cleaned.
    fn differs(&self, part: Range<usize>) -> bool {
        let Some(clean) = self.clean.get(part.clone()) else {
            return false;
        };
        // SAFETY: `part` is inside of the page, since it is inside of `clean`; the image does not run while the reference lives.
        let cached = unsafe {
            let from = self.cached.0.get().cast::<u8>().add(part.start);
            core::slice::from_raw_parts(from, part.len())
        };
        cached != clean
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

    fn set_clean(&mut self, inside: usize, bytes: &[u8]) {
        if let Some(to) = self.clean.get_mut(inside..inside + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }
}

/// The same, and which driver it was last told to be of.
struct Owned {
    owner: u32,
    page: Box<Page>,
}

/// The pages of the memory that the image shares with the GPU.
pub(super) struct Pages {
    shared: Region,
    pages: Vec<Option<Owned>>,
    /// Counts drivers.
    owner: u32,
    /// What the GPU has read of lines that had something else in the cache, by line.
    missed: BTreeMap<u64, Missed>,
}

struct Missed {
    part: Range<usize>,
    reads: Accessor,
}

impl Pages {
    pub(super) fn new() -> Pages {
        let shared = machine::board().memory.shared;
        let mut pages = Vec::new();
        pages.resize_with(shared.bytes / PAGE as usize, || None);
        Pages {
            shared,
            pages,
            owner: 0,
            missed: BTreeMap::new(),
        }
    }

    /// There is another driver, who has no page yet: what caches hold of the last one's is of no interest.
    pub(super) fn forget_all(&mut self) {
        self.owner += 1;
        self.missed.clear();
    }

    /// A page has a new owner, and nothing of it is in the cache.
    pub(super) fn forget(&mut self, address: u64) {
        let owner = self.owner;
        if let Some(Some(owned)) = self.place(address) {
            owned.owner = owner;
            owned.page.forget(address & !(PAGE - 1));
        }
    }

    fn place(&mut self, address: u64) -> Option<&mut Option<Owned>> {
        let offset = address.checked_sub(self.shared.base as u64)?;
        self.pages.get_mut((offset / PAGE) as usize)
    }

    /// The page of an address that the image has touched, if it has it still.
    fn page(&mut self, address: u64) -> Option<&mut Page> {
        let owner = self.owner;
        let owned = self.place(address)?.as_mut();
        let owned = owned.filter(|owned| owned.owner == owner)?;
        Some(&mut owned.page)
    }

    /// Shows the image its copy of a page.
    pub(super) fn show(&mut self, address: u64) -> bool {
        let at = address & !(PAGE - 1);
        let owner = self.owner;
        let Some(place) = self.place(at) else {
            return false;
        };
        let mut clean = [0; PAGE as usize];
        // Shared memory is RAM.
        let _ = GuestMemory.read(at, &mut clean);
        let page = Box::new(Page {
            cached: Frame(UnsafeCell::new(clean)),
            clean,
        });
        let owned = place.insert(Owned { owner, page });
        stage2::show_page(at as usize, owned.page.cached.0.get() as usize);
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
        let stored = page.differs(inside..inside + LINE as usize);
        if upkeep == Upkeep::Invalidate && stored {
            told.tell(&Missing::DroppedStore {
                line: at,
                stored: Code::default(),
                drops: code(),
            });
        }
        let again = !stored && upkeep == Upkeep::Clean;
        let again = again && in_memory(at) != page.cached(inside);
        if (upkeep != Upkeep::Invalidate && stored) || again {
            // The whole line is written, with what was fetched of it long ago. Whether the GPU has written in between is not told:
            // the image may have stored everything of the line, also what was there before.
            let cached: Bytes = page.cached(inside);
            let _ = GuestMemory.write(at, &cached);
            page.set_clean(inside, &cached);
        }
        if upkeep != Upkeep::Clean {
            let now = in_memory(at);
            page.set_cached(inside, &now);
            page.set_clean(inside, &now);
        }
    }

    /// A unit of the GPU reads: what of it was stored and not cleaned? The image may be about to clean it: that is seen when it
    /// writes a register.
    pub(super) fn look(&mut self, address: u64, bytes: usize, reads: Accessor) {
        for (line, part) in pieces(address, bytes as u64) {
            let Some(page) = self.page(line) else {
                continue;
            };
            if page.differs(in_page(line, &part)) {
                self.missed.insert(line, Missed { part, reads });
            }
        }
    }

    /// The image writes a register: what it has stored by now, and the GPU has looked for, should have been cleaned.
    pub(super) fn announce(&mut self, told: &mut Told) {
        while let Some((line, missed)) = self.missed.pop_first() {
            let page = self.page(line);
            if page.is_some_and(|page| page.differs(in_page(line, &missed.part))) {
                told.tell(&Missing::Clean {
                    line,
                    stored: Code::default(),
                    reads: missed.reads,
                });
            }
        }
    }
}

/// Where in its page a part of a line is.
fn in_page(line: u64, part: &Range<usize>) -> Range<usize> {
    let inside = (line % PAGE) as usize;
    inside + part.start..inside + part.end
}
