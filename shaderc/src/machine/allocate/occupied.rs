//! Occupied units: when each unit of a register file is taken, asked of many units at once.
//!
//! Guarantees: to take a unit, and to ask which of 64 units are free for a while, takes as many steps as the logarithm of
//! the points of the program.
//! How: 64 units have a tree over the points, whose nodes are words with a bit for each unit. It is kept only once
//! something is asked that the last range of a unit does not answer.

use smallvec::{SmallVec, smallvec};

use super::bundles::{Bundle, Segments};
use crate::machine::liveness::Range;

/// Units of a tree.
const UNITS: usize = u64::BITS as usize;

/// When each unit is taken.
pub(super) struct Occupied {
    /// By unit: the range that ends last.
    lasts: Vec<Range>,
    /// By 64 units.
    trees: Vec<Tree>,
}

/// When 64 units are taken.
#[derive(Clone)]
struct Tree {
    /// A power of two.
    leaves: usize,
    /// By node, where node n has its parts at 2n and 2n + 1. Empty as long as nothing was asked.
    nodes: Vec<Node>,
    /// What is taken and not in the nodes yet.
    pending: Vec<(u64, Range)>,
}

/// Units, as bits, that are taken in a part of the program.
#[derive(Clone, Copy, Default)]
struct Node {
    /// In all of it. Of its parts this is not written down again.
    all: u64,
    /// Somewhere in it.
    any: u64,
}

impl Tree {
    fn take(&mut self, bit: u64, range: Range) {
        let mut set = |from: usize, to: usize| {
            let (mut from, mut to) = (from + self.leaves, to + self.leaves);
            let ends = [from, to - 1];
            while from < to {
                let nodes = [
                    (from % 2 == 1).then_some(from),
                    (to % 2 == 1).then_some(to - 1),
                ];
                for node in nodes.into_iter().flatten() {
                    self.nodes[node].all |= bit;
                    self.nodes[node].any |= bit;
                }
                (from, to) = (from.div_ceil(2), to / 2);
            }
            for mut node in ends {
                while node > 1 {
                    node /= 2;
                    self.nodes[node].any |= bit;
                }
            }
        };
        if range.from < range.to {
            set(range.from as usize, range.to as usize);
        }
    }

    /// The units that are taken somewhere in a range.
    fn taken(&mut self, range: Range) -> u64 {
        if self.nodes.is_empty() {
            self.nodes = vec![Node::default(); 2 * self.leaves];
        }
        for (bit, range) in std::mem::take(&mut self.pending) {
            self.take(bit, range);
        }
        if range.from >= range.to {
            return 0;
        }
        let (mut from, mut to) = (
            range.from as usize + self.leaves,
            range.to as usize + self.leaves,
        );
        let ends = [from, to - 1];
        let mut taken = 0;
        while from < to {
            if from % 2 == 1 {
                taken |= self.nodes[from].any;
            }
            if to % 2 == 1 {
                taken |= self.nodes[to - 1].any;
            }
            (from, to) = (from.div_ceil(2), to / 2);
        }
        // What covers one of the ends was written down above it.
        for mut node in ends {
            while node > 1 {
                node /= 2;
                taken |= self.nodes[node].all;
            }
        }
        taken
    }
}

impl Occupied {
    /// Nothing is taken of so many units, in a program of so many points.
    pub(super) fn new(units: usize, points: usize) -> Occupied {
        let tree = Tree {
            leaves: points.next_power_of_two(),
            nodes: Vec::new(),
            pending: Vec::new(),
        };
        Occupied {
            lasts: vec![Range { from: 0, to: 0 }; units],
            trees: vec![tree; units.div_ceil(UNITS)],
        }
    }

    /// Takes a unit for a while. One that isn't there is nothing.
    pub(super) fn take(&mut self, unit: usize, range: Range) {
        if let Some(last) = self.lasts.get_mut(unit) {
            if last.to < range.to {
                *last = range;
            }
            self.trees[unit / UNITS]
                .pending
                .push((1 << (unit % UNITS), range));
        }
    }

    /// Takes the units of a bundle.
    pub(super) fn take_bundle(&mut self, bundle: &Bundle, base: usize) {
        for (segments, unit) in bundle.units.iter().zip(base..) {
            for segment in segments {
                self.take(unit, segment.range);
            }
        }
    }

    /// The first of the bases at which all units of a bundle are free.
    pub(super) fn first_free(
        &mut self,
        bundle: &Bundle,
        mut bases: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        // By unit of the bundle, by 64 units: what is taken while it lives.
        let width = bundle.units.len();
        let mut known: SmallVec<[Option<u64>; 4]> = smallvec![None; width * self.trees.len()];
        bases.find(|base| {
            let mut units = bundle.units.iter().enumerate();
            units.all(|(number, segments)| {
                let unit = base + number;
                let last = self.lasts[unit];
                match segments.first().map(|first| first.range) {
                    None => true,
                    // Mostly all that is taken lies before, or the last still lives: bundles choose as they begin.
                    Some(first) if last.to <= first.from => true,
                    Some(first) if last.from < first.to => false,
                    Some(_) => {
                        let known = &mut known[number * self.trees.len() + unit / UNITS];
                        let tree = &mut self.trees[unit / UNITS];
                        let taken = *known.get_or_insert_with(|| tree.taken_in(segments));
                        taken & 1 << (unit % UNITS) == 0
                    }
                }
            })
        })
    }
}

impl Tree {
    /// The units that are taken somewhere in some ranges.
    fn taken_in(&mut self, segments: &Segments) -> u64 {
        let mut taken = 0;
        for segment in segments {
            taken |= self.taken(segment.range);
            if taken == u64::MAX {
                break;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range() -> impl Strategy<Value = Range> {
        (0..300_u32, 0..300_u32).prop_map(|(a, b)| Range {
            from: a.min(b),
            to: a.max(b),
        })
    }

    proptest! {
        /// A tree knows what a list of all that is taken knows.
        #[test]
        fn a_unit_is_taken_where_a_range_of_it_meets(
            takes in prop::collection::vec((0..UNITS, range()), 0..60),
            asked in prop::collection::vec(range(), 1..20),
        ) {
            let mut occupied = Occupied::new(UNITS, 300);
            for round in takes.chunks(20) {
                for (unit, range) in round {
                    occupied.take(*unit, *range);
                }
                occupied.trees[0].taken(Range { from: 0, to: 1 });
            }
            for asked in asked {
                let meets = |other: &Range| {
                    let (from, to) = (asked.from.max(other.from), asked.to.min(other.to));
                    from < to
                };
                let met = takes.iter().filter(|(_, range)| meets(range));
                let expected = met.fold(0, |all, (unit, _)| all | 1 << unit);
                prop_assert_eq!(occupied.trees[0].taken(asked), expected);
            }
        }
    }
}
