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

    /// Whether there is nothing but an access of the same invocation and of the same sort, or nothing at all.
    pub(crate) fn is_only_of(&self, new: &Record) -> bool {
        match self.0.as_slice() {
            [] => true,
            [old] => old.agent == new.agent && old.sort() == new.sort(),
            _ => false,
        }
    }

    /// Takes an access in place of all there are.
    pub(crate) fn replace(&mut self, new: Record) {
        self.0.clear();
        self.0.push(new);
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
/// Pages that are found by their number alone: those of the first 16 MiB, in words.
const NEAR: u64 = 1 << 16;

#[derive(Debug)]
struct Object {
    /// Bytes of a place: four, or one.
    place: u64,
    /// By number; empty if nothing of the page was accessed.
    near: Vec<Vec<History>>,
    far: FxHashMap<u64, Vec<History>>,
}

impl Default for Object {
    fn default() -> Object {
        Object {
            place: 4,
            near: vec![],
            far: FxHashMap::default(),
        }
    }
}

impl Object {
    /// Takes words apart into bytes.
    fn split(&mut self) {
        self.place = 1;
        let near = std::mem::take(&mut self.near);
        let far = std::mem::take(&mut self.far);
        for (page, histories) in (0..).zip(near).chain(far) {
            for (number, history) in (0..).zip(histories) {
                for byte in 0..4 {
                    *self.history(4 * (page * PAGE + number) + byte) = history.clone();
                }
            }
        }
    }

    fn history(&mut self, place: u64) -> &mut History {
        let (number, at) = (place / PAGE, (place % PAGE) as usize);
        let page = if number < NEAR {
            let number = number as usize;
            if self.near.len() <= number {
                self.near.resize_with(number + 1, Vec::new);
            }
            &mut self.near[number]
        } else {
            self.far.entry(number).or_default()
        };
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
