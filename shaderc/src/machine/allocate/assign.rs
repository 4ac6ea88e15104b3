//! Assignment: finds a run of units for every bundle, first fit, in one of several orders.
//!
//! No order is best for all functions, so `allocate` tries them all before it spills.
//! Facts: hardware/compiler-backend.md 7.1, 7.2 (6), 7.4.

use super::bundles::Bundle;
use super::file::RegisterFile;
use super::occupied::Occupied;
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
    let segments = bundles.iter().flat_map(|bundle| &bundle.units).flatten();
    let ranges = segments.map(|segment| segment.range);
    let ranges = ranges.chain(clobbers.iter().map(|(_, range)| *range));
    let points = ranges.map(|range| range.to as usize).max().unwrap_or(0);
    let mut occupied = Occupied::new(file.end(), points);
    for (unit, range) in clobbers {
        occupied.take(*unit, *range);
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
        let bases = file.bases(width(index)).filter(allowed);
        match occupied.first_free(bundle, bases) {
            Some(base) => {
                occupied.take_bundle(bundle, base);
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
