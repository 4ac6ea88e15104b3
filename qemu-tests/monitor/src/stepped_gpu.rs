//! The GPU in a process of the host whose clock is the machine's: it works when it is asked to, and the machine stands still meanwhile.
//!
//! While the image sleeps the model goes on step by step, and the CPU then sleeps until the machine's clock shows as much as the
//! model's: so the image sees jobs take the time that they take on the model's clock, whatever they take on the host. But for jobs that
//! execute much: there each instruction takes the machine [`WORK`], about what it takes a host, so that the limit of a job that never
//! ends passes in about as much of a person's time.

use crate::bell::Bell;
use crate::gpu::Rest;
use crate::host_gpu::HostGpu;
use crate::report;
use core::time::Duration;
use eitri_boards::Exit;
use eitri_kernel::time;
use eitri_mailbox::{Next, Stepped};

/// What the model is given at least when its time is not behind: a clock that is ahead shows in the GPU's timestamp.
const SHORTEST_SLICE: u64 = 1_000;
/// What it is given while it works and the image sleeps, which then sleeps as long.
const RESTING_SLICE: u64 = 100_000;
/// What it is given at most at once.
const LONGEST_SLICE: u64 = 2_000_000;
/// Instructions that it executes at most at once: QEMU answers nobody else meanwhile.
const MOST_INSTRUCTIONS: u32 = 20_000;

/// What an instruction takes the machine at least where a step ends because there were so many.
const WORK: Duration = Duration::from_nanos(50);

/// The model and its time.
pub(crate) struct SteppedGpu {
    pub(crate) host: HostGpu,
    /// The machine's time when the model's was zero.
    start: Duration,
    /// What the model's clock shows.
    now: u64,
}

impl SteppedGpu {
    /// The GPU of the process that waits at these pipes.
    pub(crate) fn new(ask: &str, answer: &str) -> SteppedGpu {
        let Some(bell) = Bell::open(ask, answer) else {
            report::end(Exit::Monitor)
        };
        SteppedGpu {
            host: HostGpu::new(Some(bell)),
            start: time::now(),
            now: 0,
        }
    }

    /// What the machine's clock shows, in nanoseconds since the model's showed zero.
    fn machine_now(&self) -> u64 {
        let passed = time::now().saturating_sub(self.start).as_nanos();
        u64::try_from(passed).unwrap_or(u64::MAX)
    }

    fn step(&mut self, time: u64) -> Step {
        let end = self.now.saturating_add(time);
        match self.host.step(time, MOST_INSTRUCTIONS) {
            Some(Stepped { next, now }) => {
                self.now = now;
                let cut = next == Next::Busy && now < end;
                Step { next, cut }
            }
            None => Step {
                next: Next::Idle,
                cut: false,
            },
        }
    }

    /// Lets it work for the time that has passed.
    fn work(&mut self) -> Step {
        let behind = self.machine_now().saturating_sub(self.now);
        self.step(behind.clamp(SHORTEST_SLICE, LONGEST_SLICE))
    }

    /// Lets it work for the time that has passed.
    pub(crate) fn catch_up(&mut self) {
        self.work();
    }

    /// The image sleeps: lets the model work, or its time go on to where something happens next. Tells what the CPU may do.
    pub(crate) fn rest(&mut self) -> Rest {
        let mut step = self.work();
        match step.next {
            Next::Interrupt => {}
            Next::Busy => step = self.step(RESTING_SLICE),
            Next::Waiting(moment) => {
                let ahead = moment.saturating_sub(self.now);
                step = self.step(ahead.clamp(SHORTEST_SLICE, LONGEST_SLICE));
            }
            Next::Idle => return Rest::Sleep,
        }
        let ahead = Duration::from_nanos(self.now.saturating_sub(self.machine_now()));
        let work = if step.cut {
            WORK * MOST_INSTRUCTIONS
        } else {
            Duration::ZERO
        };
        match ahead.max(work) {
            Duration::ZERO => Rest::Look,
            time => Rest::For(time),
        }
    }
}

/// What came of a step.
struct Step {
    next: Next,
    /// It executed as many instructions as it may, in less time than it had.
    cut: bool,
}
