//! Accesses of a warp that all lie in one page: translated once, and made on the page's own bytes where the host lends them.
//!
//! Most messages of most programs are of this kind. The others go lane by lane (`access`), with the same effects and in the same
//! order: first the translation of the first lane, then the lanes. This is the way of single steps, which note what each lane accesses
//! for those who watch; runs of instructions send the same messages by `direct`, where nobody does. Both find the lanes by `places`
//! and move their bytes by `bytes`.

use super::super::lanes::WARP;
use super::super::message::Placement;
use super::super::stopped::Stopped;
use super::super::warp::{Warp, bits};
use super::bytes::{self, Loaded};
use super::places::{Order, Places};
use super::{Sender, Target, Targets};
use crate::l2::CACHED;
use crate::memory::{PAGE, PAGE_BYTES};
use crate::mmu::AccessKind;

/// Where the lanes of a message access memory: the page is translated, each lane's place in it is known.
pub(super) struct InPage {
    /// Physical address of the page.
    frame: u64,
    places: Places,
}

/// A page's bytes.
type Page = [u8; PAGE_BYTES];

impl InPage {
    fn physical(&self, lane: usize) -> u64 {
        self.frame | self.places.start_of(lane) as u64
    }

    fn virtual_address(&self, lane: usize) -> u64 {
        self.places.page() | self.places.start_of(lane) as u64
    }

    /// Bytes of each lane: 16 at most.
    fn bytes(&self) -> u8 {
        self.places.bytes as u8
    }

    /// The accesses of `lanes` one by one.
    fn targets(&self, lanes: u16) -> Targets {
        let mut targets = Targets::default();
        for lane in bits(lanes) {
            targets[lane] = Target {
                virtual_address: self.virtual_address(lane),
                physical: self.physical(lane),
                bytes: self.bytes(),
                crosses: false,
            };
        }
        targets
    }
}

impl Sender<'_> {
    /// Translates the page in which `lanes` access `bytes` at `addresses` each; `None`, with nothing done, if they are not all in one
    /// page, at multiples of `alignment`.
    ///
    /// # Errors
    /// If the page can't be accessed so.
    pub(super) fn in_page(
        &mut self,
        addresses: [u64; WARP],
        lanes: u16,
        (bytes, alignment): (u8, u64),
        kind: AccessKind,
    ) -> Result<Option<InPage>, Stopped> {
        let Some(first) = bits(lanes).next().filter(|_| bytes != 0) else {
            return Ok(None);
        };
        let first = addresses[first];
        if bits(lanes).any(|lane| addresses[lane] / PAGE != first / PAGE) {
            return Ok(None);
        }
        let mut places = Places::new();
        let aligned = (bytes, alignment);
        if places.find_in_page(&addresses, lanes, aligned).is_none() {
            return Ok(None);
        }
        let frame = self.translate(first, kind)? / PAGE * PAGE;
        if self.touched.records {
            for lane in bits(lanes) {
                self.touched.record(lane as u8, addresses[lane], bytes);
            }
        }
        Ok(Some(InPage { frame, places }))
    }

    /// Whether accesses need to be made one by one: what caches hold lies elsewhere, and broken cores are slow.
    fn is_slow(&self, frame: u64) -> bool {
        frame & CACHED != 0 || self.fabric.defects.in_shader
    }

    /// The bytes of the page to read, if accesses need not be made one by one.
    fn page_to_read(&mut self, accesses: &InPage, lanes: u16) -> Option<&Page> {
        if self.is_slow(accesses.frame) {
            return None;
        }
        let access = accesses.places.access(lanes);
        self.memory.page_to_read(accesses.frame, &access)
    }

    /// The same to write.
    fn page_to_write(&mut self, accesses: &InPage, lanes: u16) -> Option<&mut Page> {
        if self.is_slow(accesses.frame) {
            return None;
        }
        let access = accesses.places.access(lanes);
        self.memory.page_to_write(accesses.frame, &access)
    }

    fn note_all(&mut self, accesses: &InPage, lanes: u16, write: bool) {
        let bytes = u64::from(accesses.bytes());
        self.touched
            .count(bytes * u64::from(lanes.count_ones()), write);
        let mut note = |lane: usize, bytes: u64| {
            let physical = accesses.physical(lane);
            self.touched.note(self.fabric, physical, bytes, write);
        };
        match accesses.places.order {
            Order::Same => note(0, bytes),
            Order::InRow => note(0, WARP as u64 * bytes),
            Order::Ascending | Order::Any => bits(lanes).for_each(|lane| note(lane, bytes)),
        }
    }

    /// Loads every running lane's value and puts it in its place.
    pub(super) fn load_in_page(
        &mut self,
        warp: &mut Warp,
        first: u8,
        accesses: &InPage,
        placement: Placement,
        unsigned: bool,
    ) -> Result<(), Stopped> {
        let (lanes, bytes) = (warp.lanes, accesses.bytes());
        let Some(page) = self.page_to_read(accesses, lanes) else {
            let targets = accesses.targets(lanes);
            return self.load(warp, first, &targets, placement, unsigned, bytes);
        };
        let loaded = Loaded {
            bytes,
            placement,
            unsigned,
        };
        bytes::load(page, &accesses.places, warp, first, loaded);
        self.note_all(accesses, lanes, false);
        Ok(())
    }

    /// Stores the staging registers of `lanes`, from byte `skip` of the first one on.
    pub(super) fn store_in_page(
        &mut self,
        warp: &Warp,
        read: (u8, u8),
        accesses: &InPage,
        (lanes, skip): (u16, u8),
    ) -> Result<(), Stopped> {
        let Some(page) = self.page_to_write(accesses, lanes) else {
            let targets = accesses.targets(lanes);
            return self.store(warp, read, &targets, (lanes, skip, accesses.bytes()));
        };
        bytes::store(page, &accesses.places, warp, read, (lanes, skip));
        self.note_all(accesses, lanes, true);
        Ok(())
    }
}
