//! A stopwatch for jobs: real time between the start and the end of the model's jobs, without bring-up and the driver's work.

use eitri_model::{Event, Nanoseconds, Sink};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The time of the jobs so far.
#[derive(Debug, Default)]
pub(crate) struct JobClock(Rc<Cell<Duration>>);

/// The end of a stopwatch that the model holds.
struct Listener {
    total: Rc<Cell<Duration>>,
    /// Jobs in flight, and when the first of them started.
    in_flight: u32,
    started: Instant,
}

impl JobClock {
    /// What the model is to tell its events.
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        Box::new(Listener {
            total: Rc::clone(&self.0),
            in_flight: 0,
            started: Instant::now(),
        })
    }

    /// Real time in which at least one job was in flight.
    pub(crate) fn total(&self) -> Duration {
        self.0.get()
    }
}

impl Sink for Listener {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        match event {
            Event::JobStarted { .. } => {
                if self.in_flight == 0 {
                    self.started = Instant::now();
                }
                self.in_flight += 1;
            }
            Event::JobEnded { .. } => {
                self.in_flight = self.in_flight.saturating_sub(1);
                if self.in_flight == 0 {
                    self.total.set(self.total.get() + self.started.elapsed());
                }
            }
            _ => {}
        }
    }

    // Otherwise most of the time would be spent on telling.
    fn wants_instructions(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_model::JobKind;

    #[test]
    fn time_counts_while_a_job_is_in_flight() {
        let clock = JobClock::default();
        let mut sink = clock.sink();
        let (group, stream) = (0, 0);
        let started = |number| Event::JobStarted {
            group,
            stream,
            number,
            kind: JobKind::Compute,
            size: [1; 3],
        };
        let ended = |number| Event::JobEnded {
            group,
            stream,
            number,
            exception: 0,
        };
        sink.event(0, started(0));
        sink.event(0, started(1));
        sink.event(0, ended(0));
        assert_eq!(clock.total(), Duration::ZERO, "job 1 is still in flight");
        std::thread::sleep(Duration::from_millis(1));
        sink.event(0, ended(1));
        let total = clock.total();
        assert!(total >= Duration::from_millis(1), "{total:?}");
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(clock.total(), total, "no job is in flight");
    }
}
