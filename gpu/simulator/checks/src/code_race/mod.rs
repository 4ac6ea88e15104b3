//! Data races of machine code, told by its accesses alone.
//!
//! Must be told: every message of a compute job that accesses shared or global memory, and every barrier at which a whole workgroup has
//! met, in an order in which they may have happened.
//! Finds: two accesses to one byte, one of them a write, by different warps, or by lanes of one warp that have gone apart, that nothing
//! orders.
//! Machine code has neither scopes nor semantics, and no form of its own for atomic loads and stores. So, in the program's favour: an
//! atomic is never a race and orders all that its warp does; so does a load of one word that sees what another warp has stored; lanes
//! that run together are in the order of their instructions. What may be an atomic load or store is told apart ([`Certainty`]).
//! Does not find: races between accesses that this run did not do; of more than four unordered accesses to one word, those between
//! the ones that were dropped.
//! Facts: hardware/valhall-isa.md 11.11 (atomics), 11.12 (BARRIER), 12.3 (lanes).

mod record;
mod told;

use record::Record;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::hash_map::Entry;

use crate::clock::Clock;
pub use told::{Act, Certainty, Lane, Memory, Message, Party, Race};

/// Accesses to one word that are kept at most.
const MOST: usize = 4;

/// A word: the accesses to it that later ones may race with.
#[derive(Clone, Debug, Default)]
struct Word {
    records: SmallVec<[Record; 1]>,
    /// Whether an atomic was done on it.
    atomic: bool,
}

/// Words that are made at once.
const PAGE: u64 = 64;
/// Pages of global memory that are followed at most, each of 256 bytes.
pub const PAGES: usize = 1 << 15;
/// Bytes of a workgroup's shared memory that are followed at most.
const SHARED: u64 = 1 << 20;
/// What warps may know of each other by atomics at most, in pairs of warps. From then on whoever sees something is taken to see all
/// that has happened so far.
const KNOWN: usize = 1 << 20;
/// Different pairs of instructions that are kept at most.
const PAIRS: usize = 1 << 12;

/// A warp.
#[derive(Clone, Debug, Default)]
struct Warp {
    /// How often others have acquired what it did.
    releases: u32,
    clock: Clock,
    /// The message up to which it has seen everything, by number.
    seen: u32,
}

/// What is known of an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Site {
    /// Lanes of one message have accessed different words.
    spreads: bool,
}

/// A workgroup.
#[derive(Clone, Debug, Default)]
struct Group {
    barriers: u32,
    warps: SmallVec<[u32; 4]>,
    shared: Vec<Word>,
}

/// A pair of instructions that race: the earlier and the later, and whether in one workgroup, with the same value.
type Pair = (u32, u32, bool, bool);

/// The automaton, of one job.
#[derive(Debug)]
pub struct CodeRaces {
    global: FxHashMap<u64, Vec<Word>>,
    groups: FxHashMap<u32, Group>,
    warps: FxHashMap<u32, Warp>,
    sites: Vec<Site>,
    found: FxHashMap<Pair, Race>,
    order: Vec<Pair>,
    /// Stores and the loads that were seen to wait for them: they are atomic.
    polled: FxHashSet<(u32, u32)>,
    messages: u32,
    /// What warps know of each other, in entries of clocks.
    known: usize,
    forgets_who: bool,
    /// Pages of global memory that are followed.
    pages: usize,
    is_full: bool,
}

impl Default for CodeRaces {
    fn default() -> CodeRaces {
        CodeRaces::following(PAGES)
    }
}

impl CodeRaces {
    /// One that follows so many pages of global memory, of 256 bytes each.
    pub fn following(pages: usize) -> CodeRaces {
        CodeRaces {
            global: FxHashMap::default(),
            groups: FxHashMap::default(),
            warps: FxHashMap::default(),
            sites: vec![],
            found: FxHashMap::default(),
            order: vec![],
            polled: FxHashSet::default(),
            messages: 0,
            known: 0,
            forgets_who: false,
            pages,
            is_full: false,
        }
    }

    /// A workgroup's threads that have not ended have all met at a barrier.
    pub fn barrier(&mut self, group: u32) {
        let state = self.groups.entry(group).or_default();
        state.barriers += 1;
        let barriers = state.barriers;
        let (mut joined, mut seen) = (Clock::default(), 0);
        for warp in &state.warps {
            if let Some(warp) = self.warps.get(warp) {
                joined.join(&warp.clock);
                seen = seen.max(warp.seen);
            }
        }
        if seen != 0 {
            for warp in &state.warps {
                self.warps.entry(*warp).or_default().seen = seen;
            }
        }
        if joined.is_empty() {
            return;
        }
        joined.learn_group(group, barriers);
        for warp in &state.warps {
            if let Some(warp) = self.warps.get_mut(warp) {
                warp.clock = joined.clone();
            }
        }
    }

    /// A workgroup has ended: its shared memory is another's. Of its warps is kept what they knew of others.
    pub fn end(&mut self, group: u32) {
        let Some(ended) = self.groups.remove(&group) else {
            return;
        };
        for warp in ended.warps {
            if self
                .warps
                .get(&warp)
                .is_some_and(|warp| warp.clock.is_empty())
            {
                self.warps.remove(&warp);
            }
        }
    }

    /// Whether the job accesses more memory than is followed, so that some of it is not checked.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// A message was done.
    pub fn message(&mut self, message: &Message<'_>) {
        if self.messages == u32::MAX {
            self.is_full = true;
            return;
        }
        if self.known > KNOWN && !self.forgets_who {
            self.forget_who();
        }
        let spreads = message
            .lanes
            .windows(2)
            .any(|two| two[0].start != two[1].start);
        let index = message.site as usize;
        if self.sites.len() <= index {
            self.sites.resize_with(index + 1, Site::default);
        }
        self.sites[index].spreads |= spreads;
        self.messages += 1;
        let group = self.groups.entry(message.group).or_default();
        let barrier = group.barriers;
        if let Entry::Vacant(warp) = self.warps.entry(message.warp) {
            group.warps.push(message.warp);
            warp.insert(Warp::default());
        }
        for lane in message.lanes {
            let record = Record {
                warp: message.warp,
                group: message.group,
                site: message.site,
                message: self.messages,
                barrier,
                release: self
                    .warps
                    .get(&message.warp)
                    .map_or(0, |warp| warp.releases),
                joined: message.joined,
                value: 0,
                running: message.running,
                lane: lane.lane,
                bytes: 0,
                act: message.act,
                may_be_atomic: message.may_be_atomic,
            };
            self.lane(lane, record);
        }
    }

    /// Each word that a lane accesses.
    fn lane(&mut self, lane: &Lane, record: Record) {
        let end = lane.start.wrapping_add(lane.bytes.into());
        let mut at = lane.start;
        while at < end {
            let first = at / 4 * 4;
            let next = (first + 4).min(end);
            let bytes = (at..next).fold(0, |bytes, byte| bytes | 1 << (byte - first));
            let shift = 8 * (at - lane.start) as u32;
            let value = (lane.value.checked_shr(shift).unwrap_or(0) as u32)
                .checked_shl(8 * (at - first) as u32)
                .unwrap_or(0);
            let record = Record {
                bytes,
                value,
                ..record
            };
            self.word(lane.memory, first, record);
            at = next;
        }
    }

    fn word(&mut self, memory: Memory, start: u64, new: Record) {
        let word = match memory {
            Memory::Shared => {
                let group = self.groups.entry(new.group).or_default();
                let at = (start / 4) as usize;
                if start >= SHARED {
                    self.is_full = true;
                    return;
                }
                if group.shared.len() <= at {
                    group.shared.resize_with(at + 1, Word::default);
                }
                &mut group.shared[at]
            }
            Memory::Global => {
                let number = start / 4 / PAGE;
                if self.global.len() >= self.pages && !self.global.contains_key(&number) {
                    self.is_full = true;
                    return;
                }
                let page = self.global.entry(number).or_insert_with(|| {
                    let mut page = vec![];
                    page.resize_with(PAGE as usize, Word::default);
                    page
                });
                &mut page[(start / 4 % PAGE) as usize]
            }
        };
        // Most words are one warp's.
        let same = |old: &Record| {
            old.warp == new.warp
                && old.act == new.act
                && old.bytes == new.bytes
                && old.joined == new.joined
                && old.site == new.site
        };
        if let [only] = word.records.as_mut_slice()
            && same(only)
            && only.running == new.running
            && (new.act != Act::Write || only.barrier != new.barrier)
        {
            *only = new;
            return;
        }
        let mut word_now = std::mem::take(word);
        word_now.atomic |= new.act == Act::Atomic;
        self.judge(memory, start, &word_now, &new);
        self.keep(&mut word_now, new);
        let place = match memory {
            Memory::Shared => self
                .groups
                .get_mut(&new.group)
                .and_then(|group| group.shared.get_mut((start / 4) as usize)),
            Memory::Global => self
                .global
                .get_mut(&(start / 4 / PAGE))
                .and_then(|page| page.get_mut((start / 4 % PAGE) as usize)),
        };
        if let Some(place) = place {
            *place = word_now;
        }
    }

    /// Whether an earlier access is ordered before the new one.
    fn before(&self, old: &Record, new: &Record) -> bool {
        if old.warp == new.warp {
            return old.barrier != new.barrier || !self.races_in_warp(old, new);
        }
        let by_barrier = old.group == new.group
            && self
                .groups
                .get(&new.group)
                .is_some_and(|group| group.barriers > old.barrier);
        by_barrier
            || self
                .warps
                .get(&new.warp)
                .is_some_and(|warp| warp.seen >= old.message || warp.clock.knows(&old.stamp()))
    }

    /// Whether two accesses of one warp are unordered: lanes of one message, or of sides that have gone apart.
    fn races_in_warp(&self, old: &Record, new: &Record) -> bool {
        if old.lane == new.lane {
            return false;
        }
        let is_one_message = old.message == new.message;
        is_one_message || old.is_apart_from(new)
    }

    fn judge(&mut self, memory: Memory, start: u64, word: &Word, new: &Record) {
        let mut seen: SmallVec<[(u32, u32); 2]> = SmallVec::new();
        for old in &word.records {
            let writes = old.act != Act::Read || new.act != Act::Read;
            let atomic = old.act == Act::Atomic && new.act == Act::Atomic;
            let reads_what_was_written = old.act != Act::Read && new.act != Act::Write;
            if old.bytes & new.bytes == 0 || !writes || self.before(old, new) {
                continue;
            }
            let may_be_atomic = old.may_be_atomic() && new.may_be_atomic();
            if may_be_atomic && reads_what_was_written && old.warp != new.warp {
                seen.push((old.warp, old.group));
                let polls = |earlier: &Record| {
                    earlier.warp == new.warp
                        && earlier.site == new.site
                        && earlier.lane == new.lane
                        && earlier.barrier == new.barrier
                        && earlier.act == Act::Read
                };
                if word.records.iter().any(polls) {
                    self.polled.insert((old.site, new.site));
                }
            }
            if atomic || may_be_atomic && self.is_exchange(word, old, new) {
                continue;
            }
            let same_value = old.act == Act::Write
                && new.act == Act::Write
                && old.value == new.value
                && old.bytes == new.bytes;
            self.found(memory, start, (old, new), same_value);
        }
        for from in seen {
            self.acquire(new.warp, from);
        }
    }

    /// Whether two accesses that may be atomic are taken for that: atomics are done on the word, and no array is filled beside them.
    fn is_exchange(&self, word: &Word, old: &Record, new: &Record) -> bool {
        if !word.atomic {
            return false;
        }
        let fills =
            |record: &Record| record.act == Act::Write && self.sites[record.site as usize].spreads;
        !fills(old) && !fills(new)
    }

    fn found(
        &mut self,
        memory: Memory,
        start: u64,
        (old, new): (&Record, &Record),
        same_value: bool,
    ) {
        let same_group = old.group == new.group;
        let pair = (old.site, new.site, same_group, same_value);
        if let Some(known) = self.found.get_mut(&pair) {
            known.count += 1;
            if !(old.may_be_atomic() && new.may_be_atomic()) {
                known.certainty = Certainty::Certain;
            }
            return;
        }
        if self.found.len() >= PAIRS {
            self.is_full = true;
            return;
        }
        let certainty = match (old.may_be_atomic() && new.may_be_atomic(), same_group) {
            (false, _) => Certainty::Certain,
            (true, true) => Certainty::Likely,
            (true, false) => Certainty::Doubtful,
        };
        let race = Race {
            first: old.party(),
            second: new.party(),
            memory,
            start,
            same_value,
            certainty,
            count: 1,
        };
        self.found.insert(pair, race);
        self.order.push(pair);
    }

    /// A warp has seen what another has done so far.
    fn acquire(&mut self, own: u32, (from, group): (u32, u32)) {
        if self.forgets_who {
            let now = self.messages;
            self.warps.entry(own).or_default().seen = now;
            return;
        }
        let (releases, clock) = match self.warps.get_mut(&from) {
            Some(other) => {
                other.releases += 1;
                (other.releases, other.clock.clone())
            }
            // It has ended, and had seen nothing of others.
            None => (u32::MAX, Clock::default()),
        };
        let barriers = self
            .groups
            .get(&group)
            .map_or(u32::MAX, |group| group.barriers);
        if let Some(warp) = self.warps.get_mut(&own) {
            let before = warp.clock.len();
            warp.clock.join(&clock);
            warp.clock.learn_lane(from, releases);
            warp.clock.learn_group(group, barriers);
            self.known += warp.clock.len().saturating_sub(before);
        }
    }

    /// From now on it is not followed any more who has seen whom.
    fn forget_who(&mut self) {
        let now = self.messages;
        self.warps.retain(|_, warp| {
            let knows = !warp.clock.is_empty();
            if knows {
                warp.clock = Clock::default();
                warp.seen = now;
            }
            knows
        });
        self.forgets_who = true;
    }

    /// Adds an access, and drops those that it makes needless: whoever races with one of them races with it too.
    fn keep(&self, word: &mut Word, new: Record) {
        word.records.retain(|old| {
            let same = old.warp == new.warp && old.act == new.act && old.site == new.site;
            let covered = old.bytes & !new.bytes == 0;
            let replaced = (new.act != Act::Read || old.act == Act::Read)
                && new.act != Act::Atomic
                && self.before(old, &new);
            !(covered && (same || replaced))
        });
        if word.records.len() >= MOST {
            let alike = |old: &Record| old.act == new.act && old.group == new.group;
            let at = word.records.iter().position(alike).unwrap_or(0);
            word.records.remove(at);
        }
        word.records.push(new);
    }

    /// The races found so far, in the order in which they were.
    pub fn races(&self) -> impl Iterator<Item = Race> {
        self.order.iter().filter_map(|pair| {
            let race = *self.found.get(pair)?;
            let site = |party: &Party| self.sites.get(party.site as usize).copied();
            let (first, second) = (site(&race.first)?, site(&race.second)?);
            let polled = self.polled.contains(&(race.first.site, race.second.site))
                || self.polled.contains(&(race.second.site, race.first.site));
            let has_atomic = race.first.act == Act::Atomic || race.second.act == Act::Atomic;
            let spread = first.spreads && second.spreads && !has_atomic;
            if race.certainty != Certainty::Certain && polled && !spread {
                return None;
            }
            let certainty = match race.certainty {
                _ if race.same_value => Certainty::Doubtful,
                _ if spread => Certainty::Certain,
                certainty => certainty,
            };
            Some(Race { certainty, ..race })
        })
    }
}
