//! Threads of the process, for the model's shader cores.

use eitri_model::{Task, Workers};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// As many threads as were asked for, the caller's own included. They are started for each call and end with it.
#[derive(Debug)]
pub struct Threads {
    count: usize,
    /// For tests: a seed of the order in which they begin, and of how long each waits before.
    bend: Option<AtomicU64>,
}

impl Threads {
    /// `count` threads, at least one.
    pub fn new(count: usize) -> Threads {
        Threads {
            count: count.max(1),
            bend: None,
        }
    }

    /// The same for tests: they begin in an order and at distances that `seed` gives, others at each call.
    pub fn bent(count: usize, seed: u64) -> Threads {
        Threads {
            bend: Some(AtomicU64::new(seed)),
            ..Threads::new(count)
        }
    }
}

impl Workers for Threads {
    fn count(&self) -> usize {
        self.count
    }

    fn run(&self, tasks: &mut [Task<'_>]) {
        let seed = self.bend.as_ref();
        let seed = seed.map_or(0, |seed| seed.fetch_add(1, Ordering::Relaxed));
        // Numbers that look random, of which 0 makes only zeros.
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        tasks.rotate_left(random as usize % tasks.len().max(1));
        let mut pause = || {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d) >> 7;
            Duration::from_micros(random % 256)
        };
        let Some((own, others)) = tasks.split_first_mut() else {
            return;
        };
        std::thread::scope(|scope| {
            for task in others {
                let pause = pause();
                scope.spawn(move || {
                    if !pause.is_zero() {
                        std::thread::sleep(pause);
                    }
                    task();
                });
            }
            own();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_runs_once() {
        let mut counts = [0; 5];
        let mut jobs: Vec<_> = counts.iter_mut().map(|count| || *count += 1).collect();
        let mut tasks: Vec<Task<'_>> = jobs.iter_mut().map(|job| job as Task<'_>).collect();
        Threads::new(5).run(&mut tasks);
        Threads::bent(5, 3).run(&mut tasks);
        drop(tasks);
        drop(jobs);
        assert_eq!(counts, [2; 5]);
        Threads::new(0).run(&mut []);
        assert_eq!(Threads::new(0).count(), 1);
    }
}
