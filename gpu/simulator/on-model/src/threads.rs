//! Threads of the process, for the model's shader cores.

use eitri_model::{Task, Workers};

/// As many threads as were asked for, the caller's own included. They are started for each call and end with it.
#[derive(Clone, Copy, Debug)]
pub struct Threads(usize);

impl Threads {
    /// `count` threads, at least one.
    pub fn new(count: usize) -> Threads {
        Threads(count.max(1))
    }
}

impl Workers for Threads {
    fn count(&self) -> usize {
        self.0
    }

    fn run(&self, tasks: &mut [Task<'_>]) {
        let Some((own, others)) = tasks.split_first_mut() else {
            return;
        };
        std::thread::scope(|scope| {
            for task in others {
                scope.spawn(task);
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
        drop(tasks);
        drop(jobs);
        assert_eq!(counts, [1; 5]);
        Threads::new(0).run(&mut []);
        assert_eq!(Threads::new(0).count(), 1);
    }
}
