//! Checkpoints: states of an execution at some steps, from which any other is reached by running on.
//!
//! Guarantees: the first state is always kept; the others take at most [`BUDGET`] bytes or are [`FEWEST`], with about equal
//! distances, which double when there are too many.
use crate::execution::Execution;

/// Bytes that checkpoints may take together.
const BUDGET: usize = 256 << 20;
/// Checkpoints that are kept however large they are, and most of them.
const FEWEST: usize = 4;
const MOST: usize = 256;
/// Steps between checkpoints at first.
const FIRST_DISTANCE: u64 = 1024;

/// The checkpoints of an execution.
#[derive(Clone, Debug)]
pub struct History<E> {
    states: Vec<(u64, E)>,
    distance: u64,
}

impl<E: Execution> History<E> {
    /// The state before the first step.
    pub fn new(start: &E) -> History<E> {
        History {
            states: vec![(0, start.clone())],
            distance: FIRST_DISTANCE,
        }
    }

    /// Takes a checkpoint after so many steps, if it is time for one.
    pub fn note(&mut self, time: u64, state: &E) {
        let last = self.states.last().map_or(0, |(time, _)| *time);
        if time < last.saturating_add(self.distance) {
            return;
        }
        let most = (BUDGET / state.bytes().max(1)).clamp(FEWEST, MOST);
        if self.states.len() >= most {
            let mut number = 0;
            self.states.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.distance = self.distance.saturating_mul(2);
        }
        self.states.push((time, state.clone()));
    }

    /// The last checkpoint at or before a step: its number, its step, its state.
    pub fn before(&self, time: u64) -> (usize, u64, &E) {
        let after = self.states.partition_point(|(own, _)| *own <= time);
        let number = after.saturating_sub(1);
        // The first is always there.
        let (own, state) = &self.states[number];
        (number, *own, state)
    }
}
