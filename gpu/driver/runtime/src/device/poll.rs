//! The running phase: what the three interrupt lines and the firmware's words say, and what is to be done about it.
//!
//! Interrupts are cleared first and memory is read after, so that nothing is missed in between. Every request to the firmware
//! is a state with a deadline, looked at here; nothing is waited for.
//! Facts: hardware/csf-firmware.md section 11, gpu-mmu.md section 8, csf-mmio.md sections 7 and 8, csf-scheduling.md.

use super::backlog::{Backlog, Filed};
use super::{Device, DeviceLost};
use crate::firmware::PendingRequest;
use crate::gpu::interrupts::clear_job_line;
use crate::group::Group;
use crate::mmu::pending_faults;
use crate::platform::{Instant, Lines, Platform};
use core::time::Duration;
use eitri_csf::registers::interrupts::job_irq;

/// What to sleep on until the next [`Device::poll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Interrupt lines that call for it.
    pub lines: Lines,
    /// When it is due even if none of them rises; `None`: never.
    pub at: Option<Instant>,
}

/// Time between two pings, as the vendor driver has it.
const PING_EVERY: Duration = Duration::from_secs(12);
/// How long a lost interrupt may go unnoticed while the firmware is asked for something, and while jobs run.
const LOOK_AT_REQUESTS: Duration = Duration::from_millis(1);
const LOOK_AT_JOBS: Duration = Duration::from_millis(10);

/// Whether the firmware lives.
#[derive(Debug)]
pub(super) struct Watch {
    /// A sign of life that is asked for.
    asked: Option<PendingRequest>,
    /// When to ask next.
    next: Instant,
}

impl Watch {
    /// It has just shown a sign of life.
    pub(super) const fn new(now: Instant) -> Watch {
        Watch {
            asked: None,
            next: now.after(PING_EVERY),
        }
    }

    /// Asks at the next look.
    pub(super) const fn ask_now(&mut self, now: Instant) {
        self.next = now;
    }

    /// Whether an answer is awaited, or a question due.
    pub(super) fn is_asking(&self, now: Instant) -> bool {
        self.asked.is_some() || now >= self.next
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Looks at everything that the GPU reports, does what is to be done, and says when to be called again. Never waits for
    /// the firmware, a job, or any other part of the hardware.
    ///
    /// `now` is the platform's clock ([`Platform::now`]): deadlines are compared with it, here and inside. With the time of another
    /// clock a firmware that answers looks silent, which costs a recovery.
    ///
    /// A GPU that is lost is started again, call by call: what was saved, and what had not begun, goes on.
    pub fn poll(&mut self, now: Instant) -> Next {
        let held = self.held_loss.filter(|_| !self.hold_faults);
        let polled = match held {
            Some(lost) => Err(lost),
            None if self.is_running() => self.poll_running(now),
            None => Ok(now),
        };
        if let Err(lost) = polled {
            self.lose(lost, now);
        }
        self.due = match polled {
            _ if !self.is_running() => self.poll_phase(now),
            Ok(due) => Some(due),
            Err(_) => Some(now),
        };
        let lines = match self.due {
            Some(_) => Lines::ALL,
            None => Lines::NONE,
        };
        Next {
            lines,
            at: self.due,
        }
    }

    fn poll_running(&mut self, now: Instant) -> Result<Instant, DeviceLost> {
        if self.holds_a_fault() {
            return Ok(now);
        }
        self.check_gpu()?;
        // Read once for all spaces: a fault that comes after this keeps its line high until the next poll.
        let faults = pending_faults(&mut self.hw.platform);
        self.check_firmware(faults)?;
        // What the firmware reports stands in the words of the global block and of each slot: the bits of the JOB line say
        // only where something changed.
        let reported = clear_job_line(&mut self.hw.platform);
        let all = self.restless || faults != 0 || now >= self.look_at;
        if reported == 0 && !all && self.in_flight == 0 {
            return Ok(self.look_at);
        }
        // What is requested from here on is checked next time.
        self.restless = false;
        self.poll_reports(reported, all, now)?;
        if self.holds_a_fault() {
            self.restless = true;
            return Ok(now);
        }
        let all = all || self.restless;
        let mut asking = false;
        if all {
            self.check_spaces(now, faults)?;
            asking = self.watch(now)?;
        }
        let arranged = if all || self.backlog.has_ready() {
            self.arrange(now)?
        } else {
            None
        };
        #[cfg(debug_assertions)]
        self.check_backlog();
        if !all && !self.restless && arranged.is_none() {
            self.watch_jobs(now);
            return Ok(self.look_at);
        }
        Ok(self.next_poll(now, all, asking, arranged))
    }

    /// Jobs that are in flight are looked at some time from now on, whether an interrupt comes or not: none may be lost in silence.
    /// Without jobs nothing of theirs can be lost.
    fn watch_jobs(&mut self, now: Instant) {
        let busy = self.in_flight > 0;
        if busy == self.watches_jobs {
            return;
        }
        self.watches_jobs = busy;
        self.look_at = self.look_without_jobs;
        if busy {
            self.look_at = self.look_at.min(now.after(LOOK_AT_JOBS));
        }
    }

    /// When to poll again at the latest, after a poll that has looked at `all`, or has begun something.
    fn next_poll(
        &mut self,
        now: Instant,
        all: bool,
        asking: bool,
        arranged: Option<Instant>,
    ) -> Instant {
        let requests = asking || self.seated_groups().any(Group::moves);
        let soon = if requests {
            now.after(LOOK_AT_REQUESTS)
        } else {
            self.watch.next
        };
        let at = soon.min(self.watch.next);
        let at = arranged.map_or(at, |other| other.min(at));
        let off = self.poll_power(now);
        let at = off.map_or(at, |other| other.min(at));
        // Whatever else was noted meanwhile was seen to above.
        let ending = self.backlog.first(Filed::Ending).is_some();
        self.restless = requests || ending || self.spaces_faulted || self.spaces_move;
        // Without an interrupt everything is looked at all the same when it is due.
        if all {
            self.look_without_jobs = at;
            self.look_at = at;
            self.watches_jobs = false;
        } else {
            self.look_without_jobs = at.min(self.look_without_jobs);
            self.look_at = at.min(self.look_at);
        }
        self.watch_jobs(now);
        self.look_at
    }

    /// Takes in what the firmware reports where the JOB line says so, or everywhere; retires completed jobs; and goes on with
    /// groups that are on their way.
    fn poll_reports(&mut self, reported: u32, all: bool, now: Instant) -> Result<(), DeviceLost> {
        if all || job_irq::GLOBAL.get(reported) {
            self.take_global_events();
        }
        if self.holds_a_fault() {
            return Ok(());
        }
        let before = self.in_flight;
        let mut changed = false;
        let mut next = 0;
        while let Some(seat) = self.slot_seats.next_taken(next) {
            next = seat.saturating_add(1);
            let Some(key) = self.group_on(seat) else {
                continue;
            };
            let says = reported.checked_shr(seat as u32).unwrap_or(0) & 1 != 0;
            if all || says {
                changed |= self.poll_group(key, now)?;
            } else {
                self.retire(key);
            }
        }
        if all {
            let mut next = self.backlog.first(Filed::Ending);
            // There are no more in a list than groups.
            for _ in 0..self.groups.capacity() {
                let Some(key) = next else { break };
                next = Backlog::after(&self.groups, key);
                changed |= self.poll_group(key, now)?;
            }
        }
        if changed {
            self.recheck_blocked();
        }
        // Nothing is left to do: who wants the GPU off when it is idle counts from now on.
        if before > 0 && self.in_flight == 0 && self.options.idle_off.is_some() {
            self.restless = true;
        }
        Ok(())
    }

    /// Asks the firmware for a sign of life from time to time; whether one is or was asked for, which takes bits of the JOB line.
    fn watch(&mut self, now: Instant) -> Result<bool, DeviceLost> {
        let global = self.hw.interface.global;
        match &self.watch.asked {
            None if now >= self.watch.next => {
                self.watch.asked = Some(global.begin_ping(&mut self.hw.platform, now));
                Ok(true)
            }
            None => Ok(false),
            Some(asked) => match asked.poll(&mut self.hw.platform, now) {
                Ok(true) => {
                    self.watch = Watch::new(now);
                    Ok(true)
                }
                Ok(false) => Ok(true),
                Err(ignored) => Err(DeviceLost::Silent(ignored)),
            },
        }
    }
}
