//! The wave's rule: the lanes at the lowest address run, the others wait where they are until the wave comes by.
//!
//! Lanes that go to the later target of a branch wait there while the others run from the earlier one. When all lanes that run
//! leave for a place behind others that wait, those others run, and the first ones wait in their turn. Lanes that wait go on
//! waiting while a loop before them goes round. By this rule each place has an earliest place that may run while lanes wait
//! there; every place in between is taken for one that may, too.  Facts: hardware/ir3-isa.md 7 (wave model).

use std::collections::BTreeMap;

use super::flow::Next;
use super::places::{Pending, Place};
use crate::merged_ranges::MergedRanges;
use crate::min_tree::MinTree;

/// By stretch: the first that may run while lanes wait at its start; none where no lane ever waits.
pub(super) fn waits_since(next: &[Next]) -> Vec<Option<usize>> {
    let count = next.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, targets) in next.iter().enumerate() {
        targets.iter().for_each(|&to| before[to].push(from));
    }
    let mut since: Vec<Option<usize>> = vec![None; count];
    // Places between the head of a loop and its end, of the loops that end before the place in question.
    let mut loops = MergedRanges::new(count);
    // A place and the next one, if lanes may wait behind it while it runs, but before the place in question.
    let mut waited = MergedRanges::new(count + 1);
    for place in 0..count {
        let mut first: Option<usize> = None;
        let mut waits_from = |running: usize| {
            first = Some(first.map_or(running, |first| first.min(running)));
        };
        for &from in &before[place] {
            let sooner = next[from].iter().copied().min();
            if let Some(sooner) = sooner.filter(|sooner| *sooner < place) {
                waits_from(sooner);
            }
            // Those behind it run first.
            if from < place && waited.first(from + 1) != from + 1 {
                waits_from(from + 1);
            }
        }
        since[place] = first.map(|first| loops.first(first));
        if let Some(first) = since[place] {
            waited.merge(first, place);
        }
        for &head in next[place].iter().filter(|&&to| to <= place) {
            loops.merge(head, place);
        }
    }
    since
}

/// In how many places lanes may wait at once, at most.
pub(super) fn most_waiting(since: &[Option<usize>]) -> u32 {
    let mut changes = vec![0i32; since.len() + 1];
    for (place, first) in since.iter().enumerate() {
        if let Some(first) = first {
            changes[*first] += 1;
            changes[place] -= 1;
        }
    }
    let mut waiting = 0;
    let counts = changes.into_iter().map(|change| {
        waiting += change;
        waiting
    });
    counts.max().unwrap_or(0).cast_unsigned()
}

/// Where other lanes go on when all that ran have left for a place behind them.
pub(super) struct Resumes {
    since: MinTree,
    /// By what is followed: the same without the places that were reached with it.
    left: BTreeMap<(Pending, Place), MinTree>,
}

impl Resumes {
    pub(super) fn new(since: &[Option<usize>]) -> Resumes {
        let numbers = since
            .iter()
            .map(|since| since.map_or(u32::MAX, |first| first as u32));
        Resumes {
            since: MinTree::new(numbers),
            left: BTreeMap::new(),
        }
    }

    /// The stretches where lanes may go on after one that leaves for others, with what is followed: each once.
    pub(super) fn after(
        &mut self,
        from: usize,
        next: &[usize],
        followed: (Pending, Place),
    ) -> Vec<usize> {
        let mut reached = Vec::new();
        let Some(&furthest) = next.iter().max() else {
            return reached;
        };
        let left = self.left.entry(followed);
        let left = left.or_insert_with(|| self.since.clone());
        let limit = from as u32 + 1;
        while let Some(place) = left.first_below(from + 1..furthest, limit) {
            left.set(place, u32::MAX);
            reached.push(place);
        }
        reached
    }
}
