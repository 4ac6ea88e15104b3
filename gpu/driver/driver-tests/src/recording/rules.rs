//! Rules: what must come before what, each a predicate over what the driver did until then.
//!
//! Facts: hardware/csf-firmware.md 10, csf-scheduling.md 4 (rings), gpu-mmu.md 6 (tables, UNLOCK, leaving), csf-mmio.md 6 (flushes).

use super::MOST_STORED;
use super::found::{Ring, Roots, Sync, rings, sync_objects, translate};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use eitri_csf::command::{AsCommand, CacheFlush, GpuCommand};
use eitri_csf::page_table::{Decoded, ENTRIES, Entry, Level, PAGE_BYTES};
use eitri_csf::registers::address_space::{
    AS_COMMAND, AS_TRANSCFG, AS_TRANSTAB, TranslationMode, as_command, transcfg,
};
use eitri_csf::registers::control::GPU_COMMAND;
use eitri_csf::registers::doorbell::DOORBELL;
use eitri_csf::registers::interrupts::{GPU_IRQ, MMU_IRQ, gpu_irq};
use eitri_csf::table::Register;
use eitri_runtime::{PhysicalAddress, Platform};

/// Rules are told of so often at most.
const MOST_TOLD: usize = 16;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// Between words of a ring and the INSERT that covers them there is a store barrier: a busy stream sees INSERT without a
    /// doorbell.
    RingBeforeInsert,
    /// Between INSERT and the doorbell that tells of it there is a store barrier.
    InsertBeforeDoorbell,
    /// Between the words of a new table and the entry that leads to it there is a store barrier.
    TableBeforeEntry,
    /// Before UNLOCK all caches were cleaned and invalidated, and that was seen to be done, since tables of the space were changed.
    FlushBeforeUnlock,
    /// Before a space leaves the hardware its faults were masked, and then all caches cleaned and invalidated.
    FlushBeforeLeave,
    /// Memory of a table that the hardware has walked is given back when all caches were flushed since, and that was seen to be done.
    FlushBeforeFree,
    /// The register write before a flush is asked for clears CLEAN_CACHES_COMPLETED: a flush that ends late, after it was given up,
    /// may set that bit at any time, and the wait for this one would end at once.
    ClearBeforeFlush,
}

/// A flush of the caches.
#[derive(Clone, Copy, Debug)]
struct Flush {
    begun: u64,
    all: bool,
}

/// An address space of the hardware.
#[derive(Clone, Copy, Debug, Default)]
struct Space {
    /// TRANSTAB and TRANSCFG as they were written last.
    transtab: u64,
    transcfg: u64,
    /// When an entry of its tables was stored last, while the hardware walked them.
    changed: u64,
    /// When its faults were masked last.
    masked: u64,
}

/// What was done, as far as rules need it.
#[derive(Default)]
pub(crate) struct Rules {
    /// Grows with all that is done.
    time: u64,
    broken: Vec<String>,
    checked: BTreeMap<Rule, u64>,
    /// Pages that were stored to since the last store barrier.
    unpublished: BTreeSet<u64>,
    stored: Vec<u64>,
    spaces: [Space; 16],
    roots: Roots,
    /// Pages that hold tables which the hardware walks: the space, and their level.
    tables: BTreeMap<u64, (usize, Level)>,
    fault_mask: u32,
    rings: Vec<Ring>,
    /// A word of the ring with this place was stored since the last store barrier.
    ring_words: BTreeMap<u64, u64>,
    inserts: BTreeSet<u64>,
    /// Sync objects in memory, and those that were loaded since the last load barrier.
    syncs: BTreeMap<u64, Sync>,
    unobserved: BTreeMap<u64, Sync>,
    /// The flush under way, and the last that was seen to be done.
    flushing: Option<Flush>,
    flushed: Option<Flush>,
    /// The last register that was written is GPU_IRQ_CLEAR, with CLEAN_CACHES_COMPLETED.
    completed_is_clear: bool,
}

const fn page(address: u64) -> u64 {
    address & !(PAGE_BYTES - 1)
}

/// The number of a repeated register of 64 bits that an offset is in, and whether it is its high half.
fn number_of(register: Register, offset: u32) -> Option<(usize, bool)> {
    let inside = offset.checked_sub(register.offset)?;
    let (number, rest) = (inside / register.stride, inside % register.stride);
    let known = number < register.count && (rest == 0 || rest == 4);
    known.then_some((number as usize, rest == 4))
}

impl Rules {
    pub(super) fn violations(&self) -> &[String] {
        &self.broken
    }

    pub(super) fn checked(&self, rule: Rule) -> u64 {
        self.checked.get(&rule).copied().unwrap_or(0)
    }

    pub(super) fn unobserved(&self) -> Vec<u64> {
        self.unobserved.keys().copied().collect()
    }

    pub(super) fn unobserved_timelines(&self) -> Vec<u64> {
        let all = self.unobserved.iter();
        let timelines = all.filter(|(_, kind)| **kind == Sync::Timeline);
        timelines.map(|(at, _)| *at).collect()
    }

    pub(super) fn take_stored(&mut self) -> Vec<u64> {
        core::mem::take(&mut self.stored)
    }

    fn check(&mut self, rule: Rule, kept: bool, what: impl FnOnce() -> String) {
        *self.checked.entry(rule).or_default() += 1;
        if !kept && self.broken.len() < MOST_TOLD {
            self.broken.push(format!("{rule:?}: {}", what()));
        }
    }

    pub(super) fn allocate(&mut self, span: Range<PhysicalAddress>) {
        let pages = (page(span.start.0)..span.end.0).step_by(PAGE_BYTES as usize);
        self.unpublished.extend(pages);
    }

    pub(super) fn free(&mut self, span: Range<PhysicalAddress>) {
        let inside = |at: u64| (span.start.0..span.end.0).contains(&at);
        let tables = self.tables.iter().filter(|(table, _)| inside(**table));
        let tables: Vec<(u64, usize)> =
            tables.map(|(table, (space, _))| (*table, *space)).collect();
        for (table, space) in tables {
            let changed = self.spaces[space].changed;
            let flushed = self.flushed;
            let kept = self.roots[space].is_none() || flushed_since(flushed, changed);
            self.check(Rule::FlushBeforeFree, kept, || {
                format!("the table at {table:#x} of space {space}, changed at step {changed}: {flushed:?}")
            });
        }
        self.rings
            .retain(|ring| !inside(ring.words.start) && !inside(ring.insert));
        self.tables.retain(|table, _| !inside(*table));
        self.syncs.retain(|sync, _| !inside(*sync));
        self.unobserved.retain(|sync, _| !inside(*sync));
    }

    pub(super) fn load(&mut self, at: PhysicalAddress) {
        if let Some(kind) = self.syncs.get(&at.0) {
            self.unobserved.insert(at.0, *kind);
        }
    }

    pub(super) fn observe(&mut self) {
        self.unobserved.clear();
    }

    pub(super) fn publish(&mut self) {
        self.unpublished.clear();
        self.ring_words.clear();
        self.inserts.clear();
    }

    pub(super) fn store32(&mut self, at: PhysicalAddress) {
        self.time += 1;
        self.unpublished.insert(page(at.0));
    }

    pub(super) fn store64<P: Platform>(&mut self, it: &mut P, at: PhysicalAddress, value: u64) {
        self.store32(at);
        if self.stored.len() < MOST_STORED {
            self.stored.push(value);
        }
        let ring = self.rings.iter().find(|ring| ring.words.contains(&at.0));
        if let Some(ring) = ring {
            self.ring_words.insert(ring.words.start, at.0);
        }
        let number = self.rings.iter().position(|ring| ring.insert == at.0);
        if let Some(number) = number {
            self.insert_is(it, number, value);
        }
        if let Some((space, level)) = self.tables.get(&page(at.0)).copied() {
            self.entry(it, (space, level), at.0, Entry(value));
        }
    }

    /// INSERT of a ring was stored.
    fn insert_is<P: Platform>(&mut self, it: &mut P, number: usize, value: u64) {
        let ring = self.rings[number].clone();
        let early = self.ring_words.get(&ring.words.start).copied();
        self.check(Rule::RingBeforeInsert, early.is_none(), || {
            let at = early.unwrap_or(0);
            format!("INSERT {value:#x} with no barrier behind the ring's word at {at:#x}")
        });
        self.inserts.insert(ring.insert);
        self.rings[number].filled = value;
        let bytes = ring.words.end - ring.words.start;
        let words: Vec<u64> = (ring.filled..value)
            .step_by(8)
            .map(|place| it.load64(PhysicalAddress(ring.words.start + place % bytes)))
            .collect();
        let Some(root) = self.roots[ring.space] else {
            return;
        };
        let objects = sync_objects(&words).into_iter();
        let objects =
            objects.filter_map(|(address, kind)| Some((translate(it, root, address)?, kind)));
        self.syncs.extend(objects.collect::<Vec<(u64, Sync)>>());
    }

    /// An entry of a table that the hardware walks was stored.
    fn entry<P: Platform>(
        &mut self,
        it: &mut P,
        (space, level): (usize, Level),
        at: u64,
        entry: Entry,
    ) {
        self.spaces[space].changed = self.time;
        if let Decoded::Table { address } = entry.decode(level) {
            let early = self.unpublished.contains(&address);
            self.check(Rule::TableBeforeEntry, !early, || {
                format!("the entry at {at:#x} leads to the table at {address:#x}, which no barrier is behind")
            });
            if let Some(below) = level.next() {
                self.take_tables(it, space, address, below);
            }
        }
    }

    /// Notes a table and those below it.
    fn take_tables<P: Platform>(&mut self, it: &mut P, space: usize, table: u64, level: Level) {
        self.tables.insert(table, (space, level));
        let Some(below) = level.next() else { return };
        for number in 0..ENTRIES as u64 {
            let entry = Entry(it.load64(PhysicalAddress(table + 8 * number)));
            if let Decoded::Table { address } = entry.decode(level) {
                self.take_tables(it, space, address, below);
            }
        }
    }

    pub(super) fn read(&mut self, offset: u32, value: u32) {
        self.time += 1;
        let done = u64::from(value) & gpu_irq::CLEAN_CACHES_COMPLETED.mask() != 0;
        if offset == GPU_IRQ.rawstat.offset && done {
            self.flushed = self.flushing.take().or(self.flushed);
        }
    }

    pub(super) fn write<P: Platform>(&mut self, it: &mut P, offset: u32, value: u32) {
        self.time += 1;
        let cleared = core::mem::take(&mut self.completed_is_clear);
        if offset == GPU_IRQ.clear.offset {
            let completed = gpu_irq::CLEAN_CACHES_COMPLETED.mask();
            self.completed_is_clear = u64::from(value) & completed != 0;
        } else if offset == MMU_IRQ.mask.offset {
            self.mask(value);
        } else if offset == GPU_COMMAND.offset {
            self.command(value, cleared);
        } else if let Some((number, _)) = number_of(AS_COMMAND, offset) {
            self.space_command(it, number, value);
        } else if let Some((number, high)) = number_of(AS_TRANSTAB, offset) {
            let word = &mut self.spaces[number].transtab;
            *word = half(*word, high, value);
        } else if let Some((number, high)) = number_of(AS_TRANSCFG, offset) {
            let word = &mut self.spaces[number].transcfg;
            *word = half(*word, high, value);
        } else if number_of(DOORBELL, offset).is_some() {
            let early = self.inserts.iter().next().copied();
            self.check(Rule::InsertBeforeDoorbell, early.is_none(), || {
                let at = early.unwrap_or(0);
                format!("a doorbell with no barrier behind INSERT at {at:#x}")
            });
            self.rings = rings(it, &self.roots);
        }
    }

    /// MMU_IRQ_MASK is written.
    fn mask(&mut self, value: u32) {
        let (time, masked) = (self.time, self.fault_mask & !value);
        for (number, space) in self.spaces.iter_mut().enumerate() {
            if masked >> number & 1 != 0 {
                space.masked = time;
            }
        }
        self.fault_mask = value;
    }

    /// GPU_COMMAND is written.
    fn command(&mut self, value: u32, cleared: bool) {
        match GpuCommand::decode(value) {
            Some(GpuCommand::FlushCaches(what)) => {
                self.check(Rule::ClearBeforeFlush, cleared, || {
                    String::from("a flush with nothing that clears the bit before it")
                });
                self.flushing = Some(Flush {
                    begun: self.time,
                    all: what == CacheFlush::ALL,
                });
            }
            Some(GpuCommand::Reset(_)) => {
                self.roots = Roots::default();
                self.tables.clear();
                self.rings.clear();
                self.flushing = None;
            }
            _ => {}
        }
    }

    /// AS_COMMAND of a space is written.
    fn space_command<P: Platform>(&mut self, it: &mut P, number: usize, value: u32) {
        let space = self.spaces[number];
        match as_command::COMMAND.get(value) {
            Some(AsCommand::Unlock) => {
                let kept = flushed_since(self.flushed, space.changed);
                let flushed = self.flushed;
                self.check(Rule::FlushBeforeUnlock, kept, || {
                    format!(
                        "space {number}, changed at step {}: {flushed:?}",
                        space.changed
                    )
                });
            }
            Some(AsCommand::Update) => {
                let mode = transcfg::MODE.get(space.transcfg);
                self.tables.retain(|_, (of, _)| *of != number);
                if mode != Some(TranslationMode::Unmapped) {
                    self.roots[number] = Some(space.transtab);
                    self.take_tables(it, number, space.transtab, Level::L0);
                } else if self.roots[number].take().is_some() {
                    let kept = flushed_since(self.flushed, space.masked) && space.masked > 0;
                    let flushed = self.flushed;
                    self.check(Rule::FlushBeforeLeave, kept, || {
                        format!(
                            "space {number}, masked at step {}: {flushed:?}",
                            space.masked
                        )
                    });
                }
            }
            _ => {}
        }
    }
}

/// A word with one of its halves written.
fn half(word: u64, high: bool, value: u32) -> u64 {
    match high {
        true => word & 0xFFFF_FFFF | u64::from(value) << 32,
        false => word & !0xFFFF_FFFF | u64::from(value),
    }
}

/// Whether all caches were flushed since a time.
fn flushed_since(flushed: Option<Flush>, time: u64) -> bool {
    flushed.is_some_and(|flush| flush.all && flush.begun > time)
}
