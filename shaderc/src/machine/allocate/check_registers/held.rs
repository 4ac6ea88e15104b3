//! What places hold: for each unit of registers and of spill slots, the parts of values that are known to be there.

use crate::machine::Value;

/// A place that can hold a unit's worth of values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    Unit(u32),
    /// A unit of the value in the slot at this offset.
    Slot(u32, u32),
}

/// A unit's worth of a value: the value, and which of its units.
pub(super) type Part = (Value, u32);

/// Each place with each part that it holds, in order. A place that is not listed holds nothing known.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct Held(Vec<(Place, Part)>);

impl Held {
    fn range(&self, place: Place) -> std::ops::Range<usize> {
        let first = self.0.partition_point(|(other, _)| *other < place);
        let held = self.0[first..].partition_point(|(other, _)| *other == place);
        first..first + held
    }

    /// The parts at `place`.
    pub fn at(&self, place: Place) -> impl Iterator<Item = Part> + '_ {
        self.0[self.range(place)].iter().map(|(_, part)| *part)
    }

    pub fn holds(&self, place: Place, part: Part) -> bool {
        self.0.binary_search(&(place, part)).is_ok()
    }

    /// The parts of all places that hold `part`, in no order, and some of them more than once.
    pub fn together_with(&self, part: Part) -> Vec<Part> {
        let places = self.0.iter().filter(|(_, other)| *other == part);
        places.flat_map(|(place, _)| self.at(*place)).collect()
    }

    /// `place` holds these parts, and nothing else any more.
    pub fn set(&mut self, place: Place, parts: impl IntoIterator<Item = Part>) {
        let mut parts: Vec<Part> = parts.into_iter().collect();
        parts.sort_unstable();
        parts.dedup();
        let range = self.range(place);
        self.0
            .splice(range, parts.into_iter().map(|part| (place, part)));
    }

    /// `to` holds what `from` holds, and nothing else any more.
    pub fn copy(&mut self, to: Place, from: Place) {
        let parts: Vec<Part> = self.at(from).collect();
        self.set(to, parts);
    }

    /// No place holds any part of `value`.
    pub fn forget(&mut self, value: Value) {
        self.0.retain(|(_, (other, _))| *other != value);
    }

    /// Of the places that `wanted` names, those that hold `from` hold it as part of `to` as well, from unit `first` of it on.
    pub fn rename(&mut self, (to, first): Part, from: Value, wanted: impl Fn(Place) -> bool) {
        let renamed = |&(place, (value, unit)): &(Place, Part)| {
            (value == from && wanted(place)).then_some((place, (to, first + unit)))
        };
        let new: Vec<(Place, Part)> = self.0.iter().filter_map(renamed).collect();
        if !new.is_empty() {
            self.0.extend(new);
            self.0.sort();
            self.0.dedup();
        }
    }

    /// What both hold.
    pub fn meet(&self, other: &Held) -> Held {
        let mut others = other.0.iter().peekable();
        let common = |held: &&(Place, Part)| {
            while others.next_if(|other| other < held).is_some() {}
            others.peek() == Some(held)
        };
        Held(self.0.iter().filter(common).copied().collect())
    }
}
