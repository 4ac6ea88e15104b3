//! Accesses of a warp that all lie in one page: translated once, and made on the page's own bytes where the host lends them.
//!
//! Most messages of most programs are of this kind. The others go lane by lane (`access`), with the same effects and in the same
//! order: first the translation of the first lane, then the lanes. This is the way of single steps, which note what each lane accesses
//! for those who watch; runs of instructions send the same messages by `direct`, where nobody does.

use super::super::lanes::{Lanes, WARP, spread};
use super::super::message::Placement;
use super::super::stopped::Stopped;
use super::super::warp::{Warp, bits};
use super::transfer::set_loaded;
use super::{Sender, Target, Targets, staged};
use crate::l2::CACHED;
use crate::memory::{PAGE, PAGE_BYTES, PageAccess};
use crate::mmu::AccessKind;

/// Where the lanes of a message access memory: the page is translated, each lane's place in it is known.
pub(super) struct InPage {
    /// Virtual and physical address of the page.
    page: u64,
    frame: u64,
    /// Where in the page each lane accesses it; a lane that takes no part, where another does.
    starts: Lanes,
    bytes: u8,
    pattern: Pattern,
}

/// How the places of the lanes lie to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    /// All at one.
    Same,
    /// All lanes of the warp, one behind the other without a gap.
    InRow,
    Other,
}

/// A page's bytes.
type Page = [u8; PAGE_BYTES];

impl InPage {
    /// Where in the page a lane accesses it.
    #[inline(always)]
    fn start(&self, lane: usize) -> usize {
        self.starts[lane] as usize % PAGE_BYTES
    }

    fn physical(&self, lane: usize) -> u64 {
        self.frame | u64::from(self.starts[lane])
    }

    /// The bytes of the page that `lanes` access.
    fn access(&self, lanes: u16) -> PageAccess<'_> {
        let (lanes, bytes) = match self.pattern {
            Pattern::Same => (1, self.bytes.into()),
            Pattern::InRow => (1, u32::from(self.bytes) * WARP as u32),
            Pattern::Other => (lanes, self.bytes.into()),
        };
        PageAccess {
            starts: &self.starts,
            lanes,
            bytes,
        }
    }

    /// The accesses of `lanes` one by one.
    fn targets(&self, lanes: u16) -> Targets {
        let mut targets = Targets::default();
        for lane in bits(lanes) {
            targets[lane] = Target {
                virtual_address: self.page | u64::from(self.starts[lane]),
                physical: self.physical(lane),
                bytes: self.bytes,
                crosses: false,
            };
        }
        targets
    }
}

impl Pattern {
    fn of(starts: &Lanes, lanes: u16, bytes: u8) -> Pattern {
        let first = starts[0];
        let same = starts.iter().fold(0, |all, start| all | (start ^ first));
        if same == 0 {
            return Pattern::Same;
        }
        let mut expected = first;
        let mut gaps = 0;
        for start in starts {
            gaps |= start ^ expected;
            expected += u32::from(bytes);
        }
        if gaps == 0 && lanes == u16::MAX {
            Pattern::InRow
        } else {
            Pattern::Other
        }
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
        mut addresses: [u64; WARP],
        lanes: u16,
        (bytes, alignment): (u8, u64),
        kind: AccessKind,
    ) -> Result<Option<InPage>, Stopped> {
        let Some(first) = bits(lanes).next() else {
            return Ok(None);
        };
        let first = addresses[first];
        if lanes != u16::MAX {
            for lane in bits(!lanes) {
                addresses[lane] = first;
            }
        }
        let differs = addresses.iter().fold(0, |all, it| all | (it ^ first));
        if bytes == 0 || differs / PAGE != 0 {
            return Ok(None);
        }
        let starts = addresses.map(|address| address as u32 % PAGE as u32);
        let last_start = PAGE as u32 - u32::from(bytes);
        let misaligned = starts.iter().fold(0, |all, start| all | start) & (alignment as u32 - 1);
        let ends_outside = starts
            .iter()
            .fold(false, |any, start| any | (*start > last_start));
        if misaligned != 0 || ends_outside {
            return Ok(None);
        }
        let frame = self.translate(first, kind)? / PAGE * PAGE;
        if self.touched.records {
            for lane in bits(lanes) {
                self.touched.record(lane as u8, addresses[lane], bytes);
            }
        }
        Ok(Some(InPage {
            page: first / PAGE * PAGE,
            frame,
            starts,
            bytes,
            pattern: Pattern::of(&starts, lanes, bytes),
        }))
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
        let access = accesses.access(lanes);
        self.memory.page_to_read(accesses.frame, &access)
    }

    /// The same to write.
    fn page_to_write(&mut self, accesses: &InPage, lanes: u16) -> Option<&mut Page> {
        if self.is_slow(accesses.frame) {
            return None;
        }
        let access = accesses.access(lanes);
        self.memory.page_to_write(accesses.frame, &access)
    }

    fn note_all(&mut self, accesses: &InPage, lanes: u16, write: bool) {
        let bytes = u64::from(accesses.bytes);
        self.touched
            .count(bytes * u64::from(lanes.count_ones()), write);
        let mut note = |lane: usize, bytes: u64| {
            let physical = accesses.physical(lane);
            self.touched.note(self.fabric, physical, bytes, write);
        };
        match accesses.pattern {
            Pattern::Same => note(0, bytes),
            Pattern::InRow => note(0, WARP as u64 * bytes),
            Pattern::Other => bits(lanes).for_each(|lane| note(lane, bytes)),
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
        let (lanes, bytes) = (warp.lanes, accesses.bytes);
        let Some(page) = self.page_to_read(accesses, lanes) else {
            let targets = accesses.targets(lanes);
            return self.load(warp, first, &targets, placement, unsigned, bytes);
        };
        let words = match (placement, bytes) {
            (Placement::Registers, 4 | 8 | 12 | 16)
            | (Placement::Word, 4)
            | (Placement::Pair, 8) => bytes / 4,
            _ => 0,
        };
        for word in 0..words {
            let register = usize::from(first.wrapping_add(word) & 63);
            let offset = 4 * usize::from(word);
            load_words(page, accesses, lanes, offset, &mut warp.registers[register]);
        }
        if words == 0 {
            for lane in bits(lanes) {
                let mut value = [0; 16];
                let start = accesses.start(lane);
                let length = usize::from(bytes);
                if let Some(from) = page.get(start..start + length) {
                    value[..length].copy_from_slice(from);
                }
                let value = u128::from_le_bytes(value);
                set_loaded(warp, lane, first, (placement, unsigned, bytes), value);
            }
        }
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
        let length = usize::from(accesses.bytes);
        let Some(page) = self.page_to_write(accesses, lanes) else {
            return self.store(
                warp,
                read,
                &accesses.targets(lanes),
                (lanes, skip, accesses.bytes),
            );
        };
        if accesses.pattern == Pattern::InRow && length == 4 && skip == 0 {
            let values = &warp.registers[usize::from(read.0 & 63)];
            let start = accesses.start(0);
            let row = page.get_mut(start..start + 4 * WARP).unwrap_or(&mut []);
            for (bytes, value) in row.as_chunks_mut().0.iter_mut().zip(values) {
                *bytes = value.to_le_bytes();
            }
            self.note_all(accesses, lanes, true);
            return Ok(());
        }
        for lane in bits(lanes) {
            let start = accesses.start(lane);
            let Some(to) = page.get_mut(start..start + length) else {
                continue;
            };
            if length == 4 && skip == 0 {
                let value = warp.registers[usize::from(read.0 & 63)][lane];
                to.copy_from_slice(&value.to_le_bytes());
            } else {
                let value = staged(warp, read, lane).to_le_bytes();
                let value = value.iter().skip(usize::from(skip));
                for (to, value) in to.iter_mut().zip(value) {
                    *to = *value;
                }
            }
        }
        self.note_all(accesses, lanes, true);
        Ok(())
    }
}

/// Sets a register in `lanes` to the word at each one's place and `offset`.
#[inline]
fn load_words(page: &Page, accesses: &InPage, lanes: u16, offset: usize, register: &mut Lanes) {
    // `in_page` has found every lane inside.
    let word = |start: usize| match page.get(start..start + 4) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    };
    if accesses.pattern == Pattern::InRow && accesses.bytes == 4 {
        let start = accesses.start(0);
        let row = page.get(start..start + 4 * WARP).unwrap_or(&[]);
        for (register, bytes) in register.iter_mut().zip(row.as_chunks().0) {
            *register = u32::from_le_bytes(*bytes);
        }
        return;
    }
    if accesses.pattern == Pattern::Same {
        let word = word(accesses.start(0) + offset);
        for (register, loads) in register.iter_mut().zip(spread(lanes)) {
            *register = *register & !loads | word & loads;
        }
        return;
    }
    for lane in bits(lanes) {
        register[lane] = word(accesses.start(lane) + offset);
    }
}
