//! Batches: dispatches that are repeated until they take long enough to be measured.
//!
//! Pure: whoever runs the dispatches says what a clock of theirs shows.

use std::time::Duration;

/// Shortest time of the dispatches of a batch.
pub(crate) const BATCH: Duration = Duration::from_millis(5);

/// Measures dispatches, in batches that count for one half of the measurement and for the other in turn, so that what else the machine
/// does meets both alike.
pub(crate) struct Batches {
    /// Batches that are still to be measured.
    left: u32,
    /// The time of all dispatches before the batch; `None` until the first dispatch has ended.
    began: Option<Duration>,
    /// Dispatches of the batch.
    dispatches: u32,
    /// The shortest time of a dispatch of each half: the mean of a batch.
    pub(crate) shortest: [Duration; 2],
}

impl Batches {
    /// So many batches for each half.
    pub(crate) const fn new(each: u32) -> Batches {
        Batches {
            left: each.saturating_mul(2),
            began: None,
            dispatches: 0,
            shortest: [Duration::MAX; 2],
        }
    }

    /// A dispatch has ended, up to which dispatches have taken `now` in all: whether there is to be another one. The first does not
    /// count: what it executes is decoded in it.
    pub(crate) fn again(&mut self, now: Duration) -> bool {
        let Some(began) = self.began else {
            self.began = Some(now);
            return true;
        };
        self.dispatches += 1;
        let took = now.saturating_sub(began);
        if took < BATCH {
            return true;
        }
        let half = &mut self.shortest[(self.left % 2) as usize];
        *half = (*half).min(took / self.dispatches);
        (self.began, self.dispatches) = (Some(now), 0);
        self.left = self.left.saturating_sub(1);
        self.left != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures dispatches that take so many microseconds each: the shortest mean of each half, and the number of dispatches.
    fn measured(each: u32, mut took: impl FnMut(u64) -> u64) -> ([u64; 2], u64) {
        let mut batches = Batches::new(each);
        let (mut now, mut dispatches) = (Duration::ZERO, 0);
        loop {
            now += Duration::from_micros(took(dispatches));
            dispatches += 1;
            if !batches.again(now) {
                let shortest = batches.shortest.map(|time| time.as_micros() as u64);
                return (shortest, dispatches);
            }
        }
    }

    #[test]
    fn short_dispatches_fill_a_batch_and_the_first_does_not_count() {
        let (shortest, dispatches) = measured(1, |number| if number == 0 { 9_000 } else { 100 });
        assert_eq!((shortest, dispatches), ([100; 2], 1 + 2 * 50));
    }

    #[test]
    fn halves_are_measured_in_turn_and_the_shortest_batch_of_each_counts() {
        let took = [1, 20_000, 30_000, 10_000, 40_000];
        let (shortest, dispatches) = measured(2, |number| took[number as usize]);
        assert_eq!((shortest, dispatches), ([10_000, 30_000], 5));
    }
}
