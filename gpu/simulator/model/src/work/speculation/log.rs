//! What a workgroup did ahead of its turn, turn by turn; and taking a turn over when it comes.
//!
//! Guarantees: a turn is taken over whole or not at all. It is taken over only if executing it now would do the same: nobody else has
//! written what it has read, and its addresses are translated as they were.

use super::view::{LINE, Read, Write};
use super::written::{Writer, Written};
use crate::activity::{CoreActivity, Translations};
use crate::fabric::Fabric;
use crate::fabric::recording::Translated;
use crate::memory::{PAGE, PhysicalMemory};
use crate::mmu::{Request, Source};
use crate::shader::Warp;
use alloc::vec::Vec;
use core::ops::Range;

/// What is counted of a log's lists, as they are at the end of a turn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    pub(super) translations: usize,
    pub(super) pages: usize,
    pub(super) lines: usize,
    pub(super) reads: usize,
    pub(super) writes: usize,
}

/// A turn of a workgroup.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) executed: u64,
    /// Whether all its threads have ended; if not, the warps as they are then that have run, and the warp whose turn is next.
    pub(super) ended: bool,
    pub(super) warps: Vec<(usize, Warp)>,
    pub(super) next: usize,
    /// What the core has done for it.
    pub(super) activity: CoreActivity,
    /// How many addresses were translated, by slice.
    pub(super) translated: Translations,
    pub(super) ends: Ends,
}

/// The turns of a workgroup.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) turns: Vec<Turn>,
    pub(super) translations: Vec<Translated>,
    /// Of each turn a translation for each page and kind of access.
    pub(super) pages: Vec<Translated>,
    pub(super) lines: Vec<u64>,
    pub(super) reads: Vec<Read>,
    pub(super) writes: Vec<Write>,
}

impl Log {
    /// The state of the lists at the begin of a turn.
    pub(super) fn begins(&self, turn: usize) -> Ends {
        let before = turn.checked_sub(1).and_then(|turn| self.turns.get(turn));
        before.map_or_else(Ends::default, |turn| turn.ends)
    }

    /// The part of a list that belongs to a turn.
    fn part(&self, turn: usize, of: fn(&Ends) -> usize) -> Range<usize> {
        let end = self.turns.get(turn).map_or(0, |turn| of(&turn.ends));
        of(&self.begins(turn))..end
    }

    fn translations(&self, turn: usize) -> &[Translated] {
        let part = self.part(turn, |ends| ends.translations);
        self.translations.get(part).unwrap_or_default()
    }

    fn pages(&self, turn: usize) -> &[Translated] {
        let part = self.part(turn, |ends| ends.pages);
        self.pages.get(part).unwrap_or_default()
    }

    fn lines(&self, turn: usize) -> &[u64] {
        let part = self.part(turn, |ends| ends.lines);
        self.lines.get(part).unwrap_or_default()
    }

    fn reads(&self, turn: usize) -> &[Read] {
        let part = self.part(turn, |ends| ends.reads);
        self.reads.get(part).unwrap_or_default()
    }

    fn writes(&self, turn: usize) -> &[Write] {
        let part = self.part(turn, |ends| ends.writes);
        self.writes.get(part).unwrap_or_default()
    }

    /// Whether executing a turn now, on `core` in `space`, would do what was recorded; and if so, whether each of its translations is
    /// answered by a cached one.
    pub(super) fn check(
        &self,
        turn: usize,
        fabric: &Fabric,
        memory: &mut dyn PhysicalMemory,
        (space, core): (u8, u8),
        (written, reader): (&Written, Writer),
    ) -> Option<bool> {
        let met = |read: &Read| written.by_others(read.line, read.mask, reader);
        if self.reads(turn).iter().any(met) {
            return None;
        }
        let mut all_cached = true;
        for translated in self.pages(turn) {
            let request = request(space, core, translated);
            let (physical, cached) = fabric.mmu.would_translate(memory, request)?;
            if physical != translated.physical {
                return None;
            }
            all_cached &= cached;
        }
        Some(all_cached)
    }

    /// Does what a turn did; [`Log::check`] has allowed it.
    pub(super) fn apply(
        &self,
        turn: usize,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        (space, core): (u8, u8),
        all_cached: bool,
    ) {
        let Some(done) = self.turns.get(turn) else {
            return;
        };
        *fabric.activity.core(core) += done.activity;
        if all_cached {
            fabric.activity.translated_by_cache(&done.translated);
            if !self.pages(turn).is_empty() {
                fabric.mmu.note_use(space);
            }
        } else {
            for translated in self.translations(turn) {
                // One that fails would have failed in the check.
                let _ = fabric.translate(memory, request(space, core, translated));
            }
        }
        for line in self.lines(turn) {
            fabric.line_requested(line >> 1, line & 1 != 0);
        }
        for write in self.writes(turn) {
            store(memory, write);
        }
    }

    /// Notes what a turn has written.
    pub(super) fn note_writes(&self, turn: usize, written: &mut Written, writer: Writer) {
        for write in self.writes(turn) {
            written.add(write.line, write.mask, writer);
        }
    }
}

fn request(space: u8, core: u8, translated: &Translated) -> Request {
    Request {
        space,
        address: translated.address,
        kind: translated.kind,
        source: Source::Core(core),
    }
}

/// Writes the bytes of a line to memory. There is some, since a worker has seen it.
fn store(memory: &mut dyn PhysicalMemory, write: &Write) {
    let address = write.line * LINE;
    let start = (address % PAGE) as usize;
    let page = memory.page(address / PAGE * PAGE);
    let Some(line) = page.and_then(|page| page.get_mut(start..start + LINE as usize)) else {
        return;
    };
    if write.mask == u64::MAX {
        line.copy_from_slice(&write.bytes);
        return;
    }
    for (number, (to, from)) in line.iter_mut().zip(&write.bytes).enumerate() {
        if write.mask >> number & 1 != 0 {
            *to = *from;
        }
    }
}
