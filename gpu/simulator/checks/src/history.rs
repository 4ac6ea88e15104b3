//! Histories: the accesses to each place that later ones may race with.
//!
//! Guarantees: of one place at most [`MOST`] are kept. Places are words of four bytes, until an access needs single bytes.
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::Stamp;
use crate::event::{Access, Agent, Kind, Reach};

/// An access that has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) agent: Agent,
    pub(crate) stamp: Stamp,
    pub(crate) epoch: u32,
    pub(crate) kind: Kind,
    pub(crate) reach: Reach,
    pub(crate) value: u64,
    pub(crate) fixed: bool,
    pub(crate) site: u32,
}

impl Record {
    fn writes(&self) -> bool {
        self.kind != Kind::Read
    }

    fn sort(&self) -> (bool, bool) {
        (self.writes(), self.reach.atomic.is_some())
    }
}

/// Most accesses that are kept of a place.
const MOST: usize = 6;

/// The accesses to one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct History(SmallVec<[Record; 2]>);

impl History {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.0.iter()
    }

    /// Adds an access, and drops those that it makes needless: whoever races with one of them races with it too.
    pub(crate) fn add(&mut self, new: Record, before: impl Fn(&Record) -> bool) {
        self.0.retain(|old| {
            let same = old.agent == new.agent && old.sort() == new.sort();
            let replaced = (new.writes() || !old.writes())
                && new.reach.atomic.is_none()
                && !new.reach.private
                && before(old);
            !same && !replaced
        });
        if self.0.len() >= MOST {
            // One of another workgroup is of more use than several of one.
            let alike = self
                .0
                .iter()
                .position(|old| old.sort() == new.sort() && old.agent.group == new.agent.group);
            self.0.remove(alike.unwrap_or(0));
        }
        self.0.push(new);
    }
}

/// Places that are made at once.
const PAGE: u64 = 64;

#[derive(Debug)]
struct Object {
    /// Bytes of a place: four, or one.
    place: u64,
    pages: FxHashMap<u64, Vec<History>>,
}

impl Default for Object {
    fn default() -> Object {
        Object {
            place: 4,
            pages: FxHashMap::default(),
        }
    }
}

impl Object {
    /// Takes words apart into bytes.
    fn split(&mut self) {
        self.place = 1;
        let pages = std::mem::take(&mut self.pages);
        for (page, histories) in pages {
            for (number, history) in (0..).zip(histories) {
                for byte in 0..4 {
                    *self.history(4 * (page * PAGE + number) + byte) = history.clone();
                }
            }
        }
    }

    fn history(&mut self, place: u64) -> &mut History {
        let page = self.pages.entry(place / PAGE).or_default();
        let at = (place % PAGE) as usize;
        if page.len() <= at {
            page.resize_with(PAGE as usize, History::default);
        }
        &mut page[at]
    }
}

/// The accesses to all places.
#[derive(Debug, Default)]
pub(crate) struct Histories(FxHashMap<u32, Object>);

impl Histories {
    /// Calls `each` with the first byte, the history and the part of the value of each place that an access touches.
    pub(crate) fn visit(&mut self, access: &Access, mut each: impl FnMut(u64, &mut History, u64)) {
        let object = self.0.entry(access.object).or_default();
        let aligned = access.start.is_multiple_of(4) && access.bytes.is_multiple_of(4);
        if !aligned && object.place != 1 {
            object.split();
        }
        let size = object.place;
        for number in 0..u64::from(access.bytes) / size {
            let offset = access.start + number * size;
            let shift = 8 * number * size;
            let mask = u64::MAX >> (64 - 8 * size);
            let value = access.value.checked_shr(shift as u32).unwrap_or(0) & mask;
            each(offset, object.history(offset / size), value);
        }
    }

    pub(crate) fn forget(&mut self, object: u32) {
        self.0.remove(&object);
    }
}
