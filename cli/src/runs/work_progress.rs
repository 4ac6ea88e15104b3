//! Progress of a job on the model: how many of its workgroups are done, for a person who waits.
//!
//! Begins when a job has run for [`PATIENCE`], so that short jobs print nothing.

use eitri_launch::progress::{self, Step};
use eitri_model::{
    Event, JobKind, Nanoseconds, Sink, UndefinedUse, WarpAccess, WorkgroupPlace, WorkgroupStep,
};
use std::time::{Duration, Instant};

/// How long a job runs before its progress is shown.
const PATIENCE: Duration = Duration::from_secs(2);
/// Workgroups between two looks at the clock: small ones end within microseconds.
const EVERY: u64 = 16;

/// Shows progress, and hands events on to another.
pub(crate) struct WorkProgress {
    inner: Option<Box<dyn Sink>>,
    job: Option<Running>,
}

/// The compute job that runs.
struct Running {
    number: u64,
    started: Instant,
    workgroups: u64,
    done: u64,
    step: Option<Step>,
}

impl WorkProgress {
    /// In front of `inner`.
    pub(crate) fn before(inner: Option<Box<dyn Sink>>) -> WorkProgress {
        WorkProgress { inner, job: None }
    }
}

impl Running {
    fn new(number: u64, size: [u32; 3]) -> Running {
        let factors = size.map(u64::from);
        Running {
            number,
            started: Instant::now(),
            workgroups: factors.into_iter().fold(1, u64::saturating_mul),
            done: 0,
            step: None,
        }
    }

    fn workgroup_done(&mut self) {
        self.done += 1;
        if !self.done.is_multiple_of(EVERY) {
            return;
        }
        let passed = self.started.elapsed();
        if passed < PATIENCE {
            return;
        }
        let step = self
            .step
            .get_or_insert_with(|| progress::start("running on the model"));
        step.detail(&how_far(self.done, self.workgroups, passed));
    }
}

/// `313 of 1000 workgroups, about 45 s more`.
fn how_far(done: u64, all: u64, passed: Duration) -> String {
    let left = all.saturating_sub(done);
    let more = passed.as_secs_f64() * left as f64 / done.max(1) as f64;
    format!("{done} of {all} workgroups, about {more:.0} s more")
}

impl Sink for WorkProgress {
    fn event(&mut self, time: Nanoseconds, event: Event) {
        match event {
            Event::JobStarted {
                kind: JobKind::Compute,
                number,
                size,
                ..
            } => self.job = Some(Running::new(number, size)),
            Event::Workgroup { begun: false, .. } => {
                if let Some(job) = &mut self.job {
                    job.workgroup_done();
                }
            }
            Event::JobEnded {
                number, exception, ..
            } if self.job.as_ref().is_some_and(|job| job.number == number) => {
                let step = self.job.take().and_then(|job| job.step);
                if let Some(step) = step {
                    step.finish(exception == 0);
                }
            }
            _ => {}
        }
        if let Some(inner) = &mut self.inner {
            inner.event(time, event);
        }
    }

    fn wants_instructions(&self) -> bool {
        self.inner
            .as_ref()
            .is_some_and(|inner| inner.wants_instructions())
    }

    fn wants_accesses(&self) -> bool {
        self.inner
            .as_ref()
            .is_some_and(|inner| inner.wants_accesses())
    }

    fn workgroup(&mut self, place: WorkgroupPlace, step: WorkgroupStep) {
        if let Some(inner) = &mut self.inner {
            inner.workgroup(place, step);
        }
    }

    fn accesses(&mut self, access: &WarpAccess<'_>) {
        if let Some(inner) = &mut self.inner {
            inner.accesses(access);
        }
    }

    fn undefined(&mut self, used: &UndefinedUse) {
        if let Some(inner) = &mut self.inner {
            inner.undefined(used);
        }
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        let step = self.job.take().and_then(|job| job.step);
        if let Some(step) = step {
            step.finish(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_by_what_was_done() {
        assert_eq!(
            how_far(250, 1000, Duration::from_secs(15)),
            "250 of 1000 workgroups, about 45 s more"
        );
        assert_eq!(
            how_far(1, 1, Duration::from_secs(3)),
            "1 of 1 workgroups, about 0 s more"
        );
    }
}
