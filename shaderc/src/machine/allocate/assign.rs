//! Assignment: finds a run of units for every bundle, first fit, in one of several orders.
//!
//! No order is best for all functions, so `allocate` tries them all before it spills.
//! Facts: hardware/compiler-backend.md 7.1, 7.2 (6), 7.4.

use std::collections::BTreeMap;

use super::bundles::Bundle;
use super::file::RegisterFile;
use crate::machine::liveness::Range;

/// In which order bundles choose; those with a fixed register always choose first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// As they begin to live: few holes between short lives.
    Start,
    /// Wide ones first, then as they begin: few misses from alignment.
    Width,
    /// Those that live longest first.
    Length,
    /// Those that cost most in memory first, so that what finds no place is cheap to spill.
    Weight,
}

/// How far an assignment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    /// Through all bundles.
    End,
    /// To the first that finds no place.
    Failure,
}

/// When each unit is taken.
struct Occupied(Vec<Taken>);

/// When a unit is taken: ranges that don't meet.
#[derive(Clone, Default)]
struct Taken {
    /// By where they begin: where they end.
    ranges: BTreeMap<u32, u32>,
    /// Where the last ends.
    end: u32,
}

impl Taken {
    fn is_free(&self, range: Range) -> bool {
        // Mostly everything that is taken lies before: bundles choose as they begin.
        if self.end <= range.from {
            return true;
        }
        let before = self.ranges.range(..range.to).next_back();
        before.is_none_or(|(_, end)| *end <= range.from)
    }

    fn take(&mut self, range: Range) {
        self.ranges.insert(range.from, range.to);
        self.end = self.end.max(range.to);
    }
}

impl Occupied {
    /// True when every unit of the bundle is free at `base`.
    fn fits(&self, bundle: &Bundle, base: usize) -> bool {
        let mut units = bundle.units.iter().zip(&self.0[base..]);
        units.all(|(segments, taken)| {
            let mut segments = segments.iter();
            segments.all(|segment| taken.is_free(segment.range))
        })
    }

    fn take(&mut self, bundle: &Bundle, base: usize) {
        for (segments, taken) in bundle.units.iter().zip(&mut self.0[base..]) {
            segments
                .iter()
                .for_each(|segment| taken.take(segment.range));
        }
    }
}

/// What an assignment found.
pub(crate) struct Assigned {
    /// By bundle: its first unit.
    pub(crate) bases: Vec<Option<usize>>,
    /// Bundles that found no place.
    pub(crate) failed: Vec<usize>,
}

/// Chooses units for all bundles, none of them one that is clobbered meanwhile. `weights` says what each would cost in memory. With [`Until::Failure`] it ends where
/// one finds no place.
pub(crate) fn assign(
    bundles: &[Bundle],
    clobbers: &[(usize, Range)],
    weights: &[f64],
    file: &RegisterFile,
    order: Order,
    until: Until,
) -> Assigned {
    let mut queue: Vec<usize> = (0..bundles.len()).collect();
    let width = |index: usize| bundles[index].units.len();
    match order {
        Order::Start => queue.sort_by_cached_key(|&index| bundles[index].start()),
        Order::Width => {
            queue.sort_by_cached_key(|&index| (usize::MAX - width(index), bundles[index].start()))
        }
        Order::Length => queue.sort_by_cached_key(|&index| u32::MAX - bundles[index].length()),
        Order::Weight => queue.sort_by(|&a, &b| {
            weights[b]
                .total_cmp(&weights[a])
                .then(width(b).cmp(&width(a)))
                .then(bundles[a].start().cmp(&bundles[b].start()))
        }),
    }
    queue.sort_by_key(|&index| bundles[index].fixed.is_none());
    let mut occupied = Occupied(vec![Taken::default(); file.end()]);
    for (unit, range) in clobbers {
        if let Some(taken) = occupied.0.get_mut(*unit) {
            taken.take(*range);
        }
    }
    let mut assigned = Assigned {
        bases: vec![None; bundles.len()],
        failed: Vec::new(),
    };
    for index in queue {
        let bundle = &bundles[index];
        let allowed = |base: &usize| {
            bundle.alignment.holds(*base)
                && bundle.fixed.is_none_or(|unit| unit == *base)
                && bundle.bases.contains(base)
        };
        match file
            .bases(width(index))
            .filter(allowed)
            .find(|&base| occupied.fits(bundle, base))
        {
            Some(base) => {
                occupied.take(bundle, base);
                assigned.bases[index] = Some(base);
            }
            None => {
                assigned.failed.push(index);
                if until == Until::Failure {
                    break;
                }
            }
        }
    }
    assigned
}
