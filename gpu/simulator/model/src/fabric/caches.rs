//! The caches between units and memory: flushes, and the reads and writes that go through them.

use super::{Access, Fabric};
use crate::defect::Defect;
use crate::first_level::FirstLevel;
use crate::l2::{CACHED, LINE, Requester};
use crate::memory::{Accessor, BusError, PAGE, PhysicalMemory};
use crate::mmu::{AccessKind, Refusal, Source};
use core::array;
use core::iter::repeat_n;
use eitri_csf::command::{CacheFlush, FlushMode};

impl Fabric {
    /// A cache flush has happened: a new id, never 0.
    fn count_flush(&mut self) {
        if self.defects.has(Defect::FlushNotCounted) {
            return;
        }
        self.latest_flush = (self.latest_flush + 1) & 0xff_ffff;
        self.latest_flush = self.latest_flush.max(1);
        self.activity.flushes += 1;
    }

    /// Asks caches for a flush: the L2 and the load/store caches do it before the host looks, the others when
    /// [`Fabric::flush_completed`] says so.
    pub(crate) fn flush(&mut self, flush: CacheFlush) {
        if let Some(l2) = &mut self.l2 {
            l2.ask(flush.load_store, flush.l2);
        }
        if flush.l2 != FlushMode::None {
            let drops = matches!(flush.l2, FlushMode::Invalidate | FlushMode::CleanInvalidate);
            let moved = self.tags.flush(drops);
            self.activity.cleaned(moved);
        }
        let invalidates = matches!(
            flush.other,
            FlushMode::Invalidate | FlushMode::CleanInvalidate
        );
        if let Some(caches) = &mut self.first_level
            && invalidates
        {
            caches.ask();
        }
    }

    /// The flushes that were asked for are complete: a new id.
    pub(crate) fn flush_completed(&mut self) {
        let deaf = [Defect::FlushDoesNothing, Defect::OthersNotInvalidated];
        let deaf = deaf.into_iter().any(|defect| self.defects.has(defect));
        if let Some(caches) = &mut self.first_level
            && !deaf
        {
            caches.settle();
        }
        self.count_flush();
    }

    /// Invalidates the OTHER caches by themselves, as a fragment job of v13 and later does (hardware/graphics.md 1.7).
    pub(crate) fn invalidate_first_level(&mut self) {
        let deaf = self.defects.has(Defect::OthersNotInvalidated);
        if let Some(caches) = &mut self.first_level
            && !deaf
        {
            caches.lose();
        }
    }

    /// The cores lose their power: they write back what they have, and lose the rest.
    // FACT: what becomes of the load/store caches when the firmware powers cores off is not told (hardware/csf-mmio.md 10); no driver
    // flushes before it, so nothing can be lost by it. Settled by reading a buffer after PWROFF_TIMER without a flush, on any board.
    pub(crate) fn cores_lose_power(&mut self) {
        self.flush(CacheFlush::LOAD_STORE);
        if let Some(caches) = &mut self.first_level {
            caches.lose();
        }
    }

    /// Lets the L2 do what was asked of it; without power all caches lose everything.
    pub(crate) fn settle_caches(&mut self, memory: &mut dyn PhysicalMemory, has_power: bool) {
        if has_power {
            if let Some(l2) = &mut self.l2 {
                memory.accessed_by(Accessor::L2);
                l2.settle(memory);
            }
            return;
        }
        self.mmu.caches_lost();
        self.tags.flush(true);
        if let Some(l2) = &mut self.l2 {
            l2.lose();
        }
        if let Some(caches) = &mut self.first_level {
            caches.lose();
        }
    }

    /// Reads bytes at a physical address, through the L2 if that caches them; they lie in one page.
    ///
    /// # Errors
    /// If nothing answers there.
    #[inline]
    pub(crate) fn load(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        requester: Requester,
        physical: u64,
        bytes: &mut [u8],
    ) -> Result<(), BusError> {
        match &mut self.l2 {
            Some(l2) if physical & CACHED != 0 => {
                l2.read(memory, requester, physical & !CACHED, bytes)
            }
            _ => memory.read(physical, bytes),
        }
    }

    /// Writes bytes likewise.
    ///
    /// # Errors
    /// If nothing answers there.
    #[inline]
    pub(crate) fn store(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        requester: Requester,
        physical: u64,
        bytes: &[u8],
    ) -> Result<(), BusError> {
        self.changes += 1;
        match &mut self.l2 {
            Some(l2) if physical & CACHED != 0 => {
                l2.write(memory, requester, physical & !CACHED, bytes)
            }
            _ => memory.write(physical, bytes),
        }
    }

    /// Whether the read-only caches of the cores are modelled.
    pub(crate) fn has_first_level(&self) -> bool {
        self.first_level.is_some()
    }

    /// Reads bytes from a space as a core reads texels and descriptors: through its read-only caches, where the L2 caches the page
    /// too. They may cross pages. Gives whether they are older than what the L2 has.
    ///
    /// # Errors
    /// As [`Fabric::read`].
    pub(crate) fn read_through_first_level(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        access: Access,
        bytes: &mut [u8],
    ) -> Result<bool, Refusal> {
        let (Source::Core(core) | Source::Texture(core)) = access.source else {
            return self.read(memory, access, bytes).map(|()| false);
        };
        let Some(mut caches) = self.first_level.take() else {
            return self.read(memory, access, bytes).map(|()| false);
        };
        let read = self.read_by_core(memory, (access, core), &mut caches, bytes);
        self.first_level = Some(caches);
        read
    }

    /// The words at an address, if they lie in one line of a page that the host lends and whose translation is cached; `None`, with
    /// nothing done, if not. Counted as a read of each word, one after the other.
    pub(crate) fn lent_words<const N: usize>(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        access: Access,
    ) -> Option<[u32; N]> {
        let in_one_line = access.address % LINE + 4 * N as u64 <= LINE;
        let goes_further =
            self.recording.is_some() || self.first_level.is_some() || !self.injections.is_empty();
        if !in_one_line || goes_further {
            return None;
        }
        let request = access.at(access.address, AccessKind::Read);
        let frame = self.mmu.cached_frame(request)?;
        if frame & CACHED != 0 {
            return None;
        }
        let start = access.address % PAGE;
        let page = memory.page(frame)?;
        let bytes = page.get(start as usize..)?.as_chunks().0;
        let words = array::from_fn(|word| bytes.get(word).copied().map_or(0, u32::from_le_bytes));
        memory.accessed_by(Accessor::Unit(access.source));
        self.mmu.note_use(access.space);
        self.count_words(access.address, frame | start, N as u64);
        Some(words)
    }

    /// Counts a plane or resource descriptor of so many bytes that lies in one line, as [`descriptor_words`] does.
    ///
    /// [`descriptor_words`]: crate::work::descriptors::descriptor_words
    pub(crate) fn count_descriptor(&mut self, address: u64, physical: u64, bytes: u64) {
        self.lookups += 1;
        self.count_words(address, physical, bytes / 4);
    }

    /// Counts words of one line that are read one after the other, each by a cached translation.
    fn count_words(&mut self, address: u64, physical: u64, count: u64) {
        for word in 0..count {
            self.activity.translated(address + 4 * word, true);
        }
        self.lines_requested(repeat_n(physical / LINE, count as usize), false);
    }

    fn read_by_core(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        (access, core): (Access, u8),
        caches: &mut FirstLevel,
        bytes: &mut [u8],
    ) -> Result<bool, Refusal> {
        let mut address = access.address;
        let mut rest = bytes;
        let mut stale = false;
        while !rest.is_empty() {
            let room = (PAGE - address % PAGE).min(rest.len() as u64) as usize;
            let (now, later) = rest.split_at_mut(room);
            let request = access.at(address, AccessKind::Read);
            let physical = self.translate(memory, request)?;
            if self.mmu.is_cached(request) {
                self.requested(physical, room as u64, false);
                let tag = physical & CACHED;
                let fill = |line: u64, to: &mut [u8; 64]| {
                    self.load(memory, Requester::Other, line | tag, to)
                };
                let read = caches.read(core, physical & !CACHED, now, fill);
                read.map_err(|error| self.bus_error(request, error))?;
                let l2 = self.l2.as_ref().filter(|_| tag != 0);
                stale |= l2.is_some_and(|l2| l2.differs(physical & !CACHED, now));
            } else {
                self.read(memory, access.to(address), now)?;
            }
            address = address.wrapping_add(room as u64);
            rest = later;
        }
        Ok(stale)
    }
}
