//! One address space: what is programmed, what is active, what is cached, locked and pending.
//!
//! Facts: hardware/gpu-mmu.md 2 to 5.

use super::walk::{AccessKind, PageFault};
use crate::clock::Nanoseconds;
use crate::memory::PAGE;
use alloc::boxed::Box;
use eitri_csf::registers::address_space::{TranslationMode, lockaddr, transcfg};

/// The registers that UPDATE makes active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) transtab: u64,
    pub(crate) memattr: u64,
    pub(crate) transcfg: u64,
}

/// A translation of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Translation {
    /// Physical address of the page.
    pub(crate) frame: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) executable: bool,
    /// The L2 caches it.
    pub(crate) cached: bool,
}

impl Translation {
    #[inline]
    pub(crate) fn allows(&self, kind: AccessKind) -> bool {
        match kind {
            AccessKind::Read => self.readable,
            AccessKind::Write => self.writable,
            AccessKind::Atomic => self.readable && self.writable,
            AccessKind::Execute => self.readable && self.executable,
        }
    }
}

/// A locked region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    first: u64,
    last: u64,
}

/// What the host has flushed, for the rules of hardware/gpu-mmu.md 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Upkeep {
    /// A flush of the L2 has begun since the region was locked.
    begun: bool,
    /// It is complete.
    flushed: bool,
    /// Something was accessed through the space since all caches were cleaned and invalidated.
    used: bool,
    /// An access has failed since the last UPDATE: what else goes on in the space is not the host's to stop.
    faulted: bool,
}

/// Entries of a space's translation cache.
const ENTRIES: usize = 256;

/// Where a page is cached. Streams, code and data tend to lie at round addresses: those must not all meet in one place.
fn place(page: u64) -> usize {
    (page ^ page >> 8 ^ page >> 16 ^ page >> 24) as usize % ENTRIES
}

type Cache = [Option<(u64, Translation)>; ENTRIES];

/// One address space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    /// What the host last wrote.
    pub(crate) programmed: Setup,
    pub(crate) lockaddr: u64,
    /// What translates.
    pub(crate) active: Setup,
    /// The fault in FAULTSTATUS.
    pub(crate) fault: Option<PageFault>,
    /// The command in progress.
    pub(crate) pending: Option<u32>,
    locked: Option<Region>,
    /// The first access that waits for the lock: its address, and since when.
    pub(super) waits: Option<(u64, Nanoseconds)>,
    cache: Option<Box<Cache>>,
    generation: u64,
    upkeep: Upkeep,
    /// The host has unmapped it after a fault: what is left of its work fails, and the host knows why.
    drains: bool,
    /// What is cached stays, on broken hardware.
    stale: bool,
}

impl Space {
    /// One that was never set up; on broken hardware it keeps every translation.
    pub(super) fn new(stale: bool) -> Space {
        Space {
            stale,
            ..Space::default()
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Space {
            generation: self.generation + 1,
            stale: self.stale,
            ..Space::default()
        };
    }

    /// Grows whenever a stalled access may get another answer.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether every access faults. A space that was never set up is unmapped too.
    pub(crate) fn is_unmapped(&self) -> bool {
        self.active == Setup::default()
            || transcfg::MODE.get(self.active.transcfg) == Some(TranslationMode::Unmapped)
    }

    /// Whether accesses fail because the host has unmapped the space after a fault.
    // FACT: whether accesses that fail in a space unmapped after a fault latch a fault anew is not established (gpu-mmu.md 8.2
    // (5) and 9 (7) say that the space has a clean fault state when it is enabled again, and Linux 7 clears nothing then); they
    // are taken not to. Settled by MMU_IRQ_RAWSTAT of any board, after two jobs have failed in one space.
    pub(super) fn drains(&self) -> bool {
        self.drains
    }

    /// UPDATE: the programmed registers become active.
    pub(crate) fn update(&mut self) {
        self.active = self.programmed;
        self.drains = self.is_unmapped() && (self.drains || self.upkeep.faulted);
        self.upkeep = Upkeep::default();
        self.locked = None;
        self.waits = None;
        self.cache = None;
        self.generation += 1;
    }

    /// LOCK: accesses to the region of LOCKADDR wait. `smallest` is the least log2 of a region's bytes.
    pub(crate) fn lock(&mut self, smallest: u32) {
        let bits = (lockaddr::SIZE.get(self.lockaddr) + 1).max(smallest);
        let region = if bits >= 64 {
            Region {
                first: 0,
                last: u64::MAX,
            }
        } else {
            let first = (lockaddr::BASE.get(self.lockaddr) << 12) >> bits << bits;
            Region {
                first,
                last: first | ((1 << bits) - 1),
            }
        };
        self.locked = Some(region);
        (self.upkeep.begun, self.upkeep.flushed) = (false, false);
        self.forget(region);
    }

    /// A flush that reaches the L2 begins.
    pub(super) fn flush_begins(&mut self) {
        self.upkeep.begun = true;
    }

    /// It is complete; `all`: all caches were cleaned and invalidated.
    pub(super) fn flush_completed(&mut self, all: bool) {
        self.upkeep.flushed |= self.upkeep.begun;
        self.upkeep.used &= !all;
    }

    /// The caches have lost what they had.
    pub(crate) fn caches_lost(&mut self) {
        (self.upkeep.begun, self.upkeep.flushed) = (true, true);
        self.upkeep.used = false;
    }

    /// Whether the L2 was flushed since the region was locked.
    pub(crate) fn is_flushed(&self) -> bool {
        self.upkeep.flushed
    }

    /// Whether UPDATE would take the tables away while caches may hold what was accessed through them.
    pub(crate) fn leaves_unflushed(&self) -> bool {
        let stays = self.programmed.transtab == self.active.transtab
            && transcfg::MODE.get(self.programmed.transcfg)
                == transcfg::MODE.get(self.active.transcfg);
        !stays && !self.is_unmapped() && self.upkeep.used && !self.upkeep.faulted
    }

    /// Something is accessed through the space.
    #[inline]
    pub(super) fn note_use(&mut self) {
        self.upkeep.used = true;
    }

    /// An access fails.
    pub(super) fn note_fault(&mut self) {
        self.upkeep.faulted = true;
    }

    /// UNLOCK; whether anything was locked.
    pub(crate) fn unlock(&mut self) -> bool {
        let region = self.locked.take();
        self.waits = None;
        if let Some(region) = region {
            self.forget(region);
        }
        self.generation += 1;
        region.is_some()
    }

    /// Whether any region is locked.
    pub(crate) fn has_lock(&self) -> bool {
        self.locked.is_some()
    }

    #[inline]
    pub(super) fn is_locked(&self, address: u64) -> bool {
        self.locked
            .is_some_and(|region| (region.first..=region.last).contains(&address))
    }

    #[inline]
    pub(super) fn cached(&self, address: u64) -> Option<Translation> {
        let page = address / PAGE;
        let (cached, translation) = self.cache.as_ref()?[place(page)]?;
        (cached == page).then_some(translation)
    }

    pub(super) fn cache(&mut self, address: u64, translation: Translation) {
        let page = address / PAGE;
        let cache = self.cache.get_or_insert_with(|| Box::new([None; ENTRIES]));
        cache[place(page)] = Some((page, translation));
    }

    fn forget(&mut self, region: Region) {
        if self.stale {
            return;
        }
        let pages = region.first / PAGE..=region.last / PAGE;
        for entry in self.cache.iter_mut().flat_map(|cache| cache.iter_mut()) {
            if entry.is_some_and(|(page, _)| pages.contains(&page)) {
                *entry = None;
            }
        }
    }
}
