//! Ready list: the instructions of a block that may be scheduled next, in the order in which list scheduling takes them.
//!
//! Guarantees: each change and each question takes logarithmic time, whatever number of instructions is ready.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// An instruction whose predecessors in the dependence graph are all scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    /// Its number in the block.
    pub(super) index: usize,
    /// The slot from which on it need not wait for its operands.
    pub(super) ready: u32,
    /// Slots from its start to the end of the block, at least.
    pub(super) height: u32,
    /// Registers that are live after it, less those that are live before it.
    pub(super) pressure: isize,
}

/// What the next instruction is chosen by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goal {
    /// Time: the shortest wait, then the longest way to the end of the block, then the least registers.
    Latency,
    /// Registers: the least pressure, then the shortest wait, then the longest way to the end of the block.
    Pressure,
}

/// Height as a key: the greatest comes first.
type Height = Reverse<u32>;

/// The candidates. Each stands in two orders, one for each goal; the instruction's number decides between equal ones, so
/// they keep their order.
#[derive(Default)]
pub(super) struct ReadyList {
    now: u32,
    /// Those that need not wait: height, pressure.
    available: BTreeSet<(Height, isize, usize)>,
    /// The same by pressure, height.
    available_by_pressure: BTreeSet<(isize, Height, usize)>,
    /// Those that wait: slot, height, pressure.
    waiting: BTreeSet<(u32, Height, isize, usize)>,
    /// The same by pressure, slot, height.
    waiting_by_pressure: BTreeSet<(isize, u32, Height, usize)>,
}

impl ReadyList {
    /// Adds a candidate.
    pub(super) fn insert(&mut self, candidate: Candidate) {
        let Candidate {
            index,
            ready,
            height,
            pressure,
        } = candidate;
        let height = Reverse(height);
        if ready <= self.now {
            self.available.insert((height, pressure, index));
            self.available_by_pressure.insert((pressure, height, index));
        } else {
            self.waiting.insert((ready, height, pressure, index));
            self.waiting_by_pressure
                .insert((pressure, ready, height, index));
        }
    }

    /// Removes a candidate. False if the list does not have it.
    pub(super) fn remove(&mut self, candidate: Candidate) -> bool {
        let Candidate {
            index,
            ready,
            height,
            pressure,
        } = candidate;
        let height = Reverse(height);
        if ready <= self.now {
            self.available_by_pressure
                .remove(&(pressure, height, index));
            self.available.remove(&(height, pressure, index))
        } else {
            self.waiting_by_pressure
                .remove(&(pressure, ready, height, index));
            self.waiting.remove(&(ready, height, pressure, index))
        }
    }

    /// Lets time go on to a slot: candidates whose operands are there by then need not wait any more.
    pub(super) fn advance(&mut self, now: u32) {
        self.now = self.now.max(now);
        while let Some(&(ready, height, pressure, index)) = self.waiting.first()
            && ready <= self.now
        {
            self.waiting.pop_first();
            self.waiting_by_pressure
                .remove(&(pressure, ready, height, index));
            self.available.insert((height, pressure, index));
            self.available_by_pressure.insert((pressure, height, index));
        }
    }

    /// The number of the candidate that comes next; none if the list is empty.
    pub(super) fn first(&self, goal: Goal) -> Option<usize> {
        match goal {
            Goal::Latency => {
                let available = self.available.first().map(|(_, _, index)| *index);
                available.or_else(|| self.waiting.first().map(|(_, _, _, index)| *index))
            }
            Goal::Pressure => {
                let available = self.available_by_pressure.first();
                let available = available.map(|(pressure, _, index)| (*pressure, 0, *index));
                let waiting = self.waiting_by_pressure.first();
                let waiting = waiting.map(|(pressure, _, _, index)| (*pressure, 1, *index));
                let first = available.into_iter().chain(waiting).min();
                first.map(|(_, _, index)| index)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The candidate that comes next, found by comparing all.
    fn best(candidates: &[Candidate], goal: Goal, now: u32) -> Option<usize> {
        let key = |candidate: &Candidate| {
            let waits = i64::from(candidate.ready.saturating_sub(now));
            let height = -i64::from(candidate.height);
            let pressure = candidate.pressure as i64;
            match goal {
                Goal::Latency => (waits, height, pressure, candidate.index),
                Goal::Pressure => (pressure, waits, height, candidate.index),
            }
        };
        let best = candidates.iter().min_by_key(|candidate| key(candidate));
        best.map(|candidate| candidate.index)
    }

    proptest! {
        #[test]
        fn the_first_is_the_best_of_all(steps in prop::collection::vec((0..6u32, 0..4u32, -2..3isize, any::<u8>()), 1..60)) {
            let (mut list, mut candidates, mut now) = (ReadyList::default(), Vec::<Candidate>::new(), 0);
            for (index, (delay, height, pressure, choice)) in steps.into_iter().enumerate() {
                let candidate = Candidate { index, ready: now + delay, height, pressure };
                list.insert(candidate);
                candidates.push(candidate);
                for goal in [Goal::Latency, Goal::Pressure] {
                    prop_assert_eq!(list.first(goal), best(&candidates, goal, now));
                }
                let place = usize::from(choice / 4) % candidates.len();
                match choice % 4 {
                    0 => prop_assert!(list.remove(candidates.swap_remove(place))),
                    1 => {
                        prop_assert!(list.remove(candidates[place]));
                        candidates[place].pressure -= 1;
                        list.insert(candidates[place]);
                    }
                    2 => {
                        now += u32::from(choice / 4) % 4;
                        list.advance(now);
                    }
                    _ => {}
                }
            }
        }

        #[test]
        fn what_was_never_inserted_is_not_removed(ready: u8) {
            let candidate = Candidate { index: 0, ready: ready.into(), height: 0, pressure: 0 };
            prop_assert!(!ReadyList::default().remove(candidate));
        }
    }
}
