//! Phases of the device: it takes jobs, or it is being stopped and started again, each part of which is a state with a
//! deadline that `poll` looks at.
//!
//! A recovery saves the groups that are on slots as far as the firmware still answers, cleans the caches, stops and resets the
//! GPU, loads the firmware anew, and goes on with what was saved or had not begun.  Guarantees: what the GPU could write to has
//! no new owner before the reset has completed; the outcome of each job is found once.
//! Facts: hardware/csf-mmio.md sections 16.8 and 16.9, csf-scheduling.md sections 3.4 and 9.

use super::bring_up::{all_slots, words};
use super::poll::Watch;
use super::start::{Ground, Looked, Passed, Start};
use super::{BringUpError, Device, DeviceLost};
use crate::fault::{Cause, Recovery};
use crate::firmware::{ANSWER, Interface};
use crate::gpu::caches::Flush;
use crate::gpu::mcu::{McuTransition, begin_stop};
use crate::gpu::power::Switch;
use crate::group::{Group, Off, Request, Residency, STREAMS, Saved, Stage, Termination, Whom};
use crate::mmu;
use crate::platform::{Instant, Lines, Platform, PowerChange};
use crate::policy::{Event, Outcome, outcome};
use crate::seats::Seats;
use crate::slab::Key;
use crate::wait::{Pace, ms, poll};
use core::convert::Infallible;
use core::time::Duration;
use eitri_csf::command::CacheFlush;
use eitri_csf::interface::global::GLB_ACK;

/// State of the device.
#[derive(Debug)]
pub(super) enum Phase {
    /// It takes jobs.
    Running,
    /// Groups on slots are being saved, as far as they let themselves; by then.
    Saving(Instant),
    /// On the way off: the firmware is to halt.
    Halting(McuTransition),
    /// The caches are being cleaned, so that what groups were saved to reaches memory.
    Cleaning(Flush),
    /// The microcontroller is to stop.
    Stopping(McuTransition),
    /// On the way off: address spaces leave the hardware.
    Leaving,
    /// On the way off: the L2 is being switched off.
    SwitchingOff(Switch),
    /// The supply is on its way; it has to be there, or gone, by then.
    Supplying {
        /// Where to.
        change: PowerChange,
        /// Its deadline.
        until: Instant,
    },
    /// It has no power, until there is work.
    Off,
    /// The GPU is being reset, and started if the device is not given up or to be off.
    Starting(Start),
    /// It was given up, and the GPU is stopped.
    Dead,
}

/// How soon one looks again while groups are being saved.
const SOON: Duration = ms(1);
/// Steps that one `poll` goes through at most: there are not as many in a row that need no time.
const STEPS: usize = 24;

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// What a start needs.
    pub(super) fn ground(&mut self) -> Ground<'_, 'd, P> {
        Ground {
            platform: &mut self.hw.platform,
            properties: &self.hw.properties,
            coherency: self.hw.coherency,
            space: &mut self.firmware_vm.space,
            image: &self.image,
        }
    }

    /// Takes the interface in that the firmware has offered.
    pub(super) fn set_interface(&mut self, interface: Interface) {
        self.words = words(&self.hw.properties, &interface);
        self.hw.interface = interface;
    }

    /// Whether the device takes jobs now.
    pub(crate) const fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    /// The GPU is lost: begins to start it again, unless somebody wants to see it first as it is.
    pub(super) fn lose(&mut self, lost: DeviceLost, now: Instant) {
        if self.hold_faults {
            self.held_loss = self.held_loss.or(Some(lost))
        } else {
            self.recover(lost, now)
        }
    }

    /// The GPU is lost: begins to start it again, or gives the device up if that was tried too often in a row.
    pub(super) fn recover(&mut self, lost: DeviceLost, now: Instant) {
        self.held_loss = None;
        if !self.is_running() {
            return;
        }
        self.power_is_settled();
        self.last_loss = Some(lost);
        if self.attempts >= self.options.recoveries {
            self.lost = Some(lost);
        } else {
            self.attempts = self.attempts.saturating_add(1);
            self.recoveries = self.recoveries.saturating_add(1);
        }
        let limit = if answers(&lost) && self.lost.is_none() {
            self.hw.scaled(ANSWER)
        } else {
            Duration::ZERO
        };
        self.phase = Phase::Saving(now.after(limit));
    }

    /// Goes on with the phase until it takes time; when to look again.
    pub(super) fn poll_phase(&mut self, now: Instant) -> Option<Instant> {
        for _ in 0..STEPS {
            let again = match &mut self.phase {
                Phase::Running => return Some(now),
                Phase::Dead => return None,
                Phase::Off => {
                    self.wake_for_work(now);
                    if matches!(self.phase, Phase::Off) {
                        return None;
                    }
                    None
                }
                Phase::Leaving => self.leave_spaces(now),
                Phase::SwitchingOff(_) => self.switch_off(now),
                Phase::Supplying { change, until } => {
                    let (change, until) = (*change, *until);
                    self.poll_supply(now, change, until)
                }
                Phase::Halting(transition) => match transition.poll(&mut self.hw.platform, now) {
                    Ok(false) => Some(SOON),
                    Ok(true) => {
                        self.stop_microcontroller(now);
                        None
                    }
                    Err(_) => {
                        self.reset_for_power(now);
                        None
                    }
                },
                Phase::Saving(until) => {
                    let until = *until;
                    self.save(now, until)
                }
                Phase::Cleaning(flush) => {
                    let looked = flush.poll(&mut self.hw.platform, now);
                    match looked {
                        Ok(false) => Some(SOON),
                        looked => {
                            if looked.is_err() {
                                self.forget_saved();
                            }
                            self.stop_microcontroller(now);
                            None
                        }
                    }
                }
                Phase::Stopping(transition) => match transition.poll(&mut self.hw.platform, now) {
                    Ok(false) => Some(transition.pause(now)),
                    looked if self.power.going_off => {
                        self.stopped_for_power(now, looked.is_ok());
                        None
                    }
                    // One that does not stop is stopped by the reset.
                    Ok(true) | Err(_) => {
                        self.phase = Phase::Starting(match self.lost {
                            Some(_) => Start::stop(),
                            None => Start::slow(),
                        });
                        None
                    }
                },
                Phase::Starting(_) => self.go_on_starting(now),
            };
            if let Some(time) = again {
                return Some(now.after(time));
            }
        }
        Some(now)
    }

    fn go_on_starting(&mut self, now: Instant) -> Option<Duration> {
        let Phase::Starting(start) = &mut self.phase else {
            return None;
        };
        let ground = Ground {
            platform: &mut self.hw.platform,
            properties: &self.hw.properties,
            coherency: self.hw.coherency,
            space: &mut self.firmware_vm.space,
            image: &self.image,
        };
        match start.poll(ground, now) {
            Ok(Looked::Waits(time)) => return Some(time),
            Ok(Looked::Passed(passed)) => {
                let through = start.step().is_none();
                match passed {
                    Passed::Reset(_) => self.stopped(true),
                    Passed::Interface(interface) => self.set_interface(interface),
                    Passed::Other => {}
                }
                match self.lost {
                    _ if !through => {}
                    Some(lost) => self.give_up(lost),
                    None if self.power.going_off => self.cut_supply(now),
                    None => self.run_again(),
                }
            }
            Err(error) => {
                let lost = DeviceLost::Restart(error);
                self.last_loss = Some(lost);
                if let BringUpError::Reset(_) = error {
                    self.stopped(false);
                    self.give_up(lost);
                    return None;
                }
                if self.attempts >= self.options.recoveries {
                    self.lost = Some(lost);
                }
                self.attempts = self.attempts.saturating_add(1);
                self.stop_microcontroller(now);
            }
        }
        None
    }

    /// Saves the groups that are on slots, and ends what the hardware is through with; when to look again.
    fn save(&mut self, now: Instant, until: Instant) -> Option<Duration> {
        let faults = mmu::pending_faults(&mut self.hw.platform);
        let lives = now < until && self.check_firmware(faults).is_ok();
        let mut waits = false;
        for index in 0..self.groups.capacity() {
            if let Some(key) = self.groups.key_at(index) {
                self.take_reports(key, lives, Whom::Everyone);
                self.retire(key);
                waits |= lives && self.save_group(key, now);
            }
        }
        // One flush at a time: that of a space which is leaving comes first. It has its own limit.
        let flushing = self.finish_flush(now);
        if waits || flushing == Some(false) {
            return Some(SOON);
        }
        if self.power.going_off && flushing.is_some() && self.halt_for_power(now) {
            return None;
        }
        let saved = self.groups.iter().any(|(_, group)| group.has_saved_state());
        match (saved || self.jobs_have_written(), flushing) {
            (true, Some(true)) => {
                let flush = Flush::begin(&mut self.hw.platform, now, CacheFlush::CLEAN);
                self.phase = Phase::Cleaning(flush);
            }
            _ => {
                // A flush that hangs keeps others from the caches.
                if flushing.is_none() {
                    self.forget_saved();
                }
                self.stop_microcontroller(now);
            }
        }
        None
    }

    /// Saves a group; whether it is still to be waited for.
    fn save_group(&mut self, key: Key, now: Instant) -> bool {
        let Some(group) = self.groups.get_mut(key) else {
            return false;
        };
        let state = group.residency.state();
        let Residency::Seated(seated) = &mut group.residency else {
            return false;
        };
        match (seated.stage, outcome(Event::Saving, state)) {
            (Stage::Starting { .. }, _) => {
                if matches!(
                    group.answered(&mut self.hw, Request::START, false),
                    Ok(true)
                ) && let Some(seated) = group.residency.seated_mut()
                {
                    // What came into its rings meanwhile is looked at when it is resumed.
                    seated.start_running(now);
                    seated.unseen = false;
                }
                true
            }
            (Stage::Suspending { .. }, _) => {
                let saved = self.answered(key, Request::SUSPEND);
                if saved {
                    self.suspended(key);
                }
                !saved
            }
            (Stage::Terminating { .. }, _) => {
                // Nothing of it is to be saved: the reset ends it too.
                if self.answered(key, Request::TERMINATE) {
                    self.terminated(key);
                }
                false
            }
            (_, Outcome::LeavesSlot) => {
                self.give_up_slot(key);
                false
            }
            (_, Outcome::IsSuspended) if group.ending.is_none() => {
                self.evict(key, now);
                true
            }
            _ => false,
        }
    }

    pub(super) fn stop_microcontroller(&mut self, now: Instant) {
        self.phase = Phase::Stopping(begin_stop(&mut self.hw.platform, now));
    }

    /// Whether jobs of a group that are found to have ended have ended too late, and what helps then. A group that could not be
    /// saved goes on until the reset: what its jobs leave in the caches when these have been cleaned for the last time is lost.
    #[inline]
    pub(super) fn late(&self, key: Key) -> Option<Recovery> {
        match self.phase {
            Phase::Running | Phase::Saving(_) => None,
            _ => self.groups.get(key).map(|it| when_stopped(it).recovery()),
        }
    }

    /// What groups were saved to may be nothing, and so may what jobs have written: the caches were not cleaned.
    pub(super) fn forget_saved(&mut self) {
        self.forget_written();
        for (_, group) in self.groups.iter_mut() {
            if let Residency::Off(Off {
                saved: saved @ Saved::State,
                ..
            }) = &mut group.residency
            {
                *saved = Saved::Uncertain;
            }
        }
    }

    /// The GPU reaches no memory any more, or, if it did not even reset, all that it had: puts everything right that was
    /// under way.
    pub(super) fn stopped(&mut self, reset: bool) {
        self.memory.set_gpu_runs_free(!reset);
        self.forget_spaces();
        self.caches_are_empty();
        if let Some(counters) = &mut self.counters {
            counters.forget();
        }
        // Which jobs had not begun is found out of all groups first: a job that is lost signals what others wait for.
        for pass in [Self::keep_what_waits, Self::put_right] {
            for index in 0..self.groups.capacity() {
                if let Some(key) = self.groups.key_at(index) {
                    let state = self.groups.get(key).map(|group| group.residency.state());
                    let concerned = state.map(|state| outcome(Event::Stopped, state));
                    if concerned == Some(Outcome::JobsAreLost) {
                        pass(self, key);
                    }
                }
            }
        }
        self.slot_seats.clear();
        self.space_seats.clear();
    }

    /// Keeps the jobs that still wait for a semaphore, of a group that was on its slot when the GPU was stopped or whose save is
    /// uncertain: they have not begun. Semaphores only grow, and nobody has signalled since.
    fn keep_what_waits(&mut self, key: Key) {
        self.retire(key);
        for number in 0..STREAMS {
            let stream = self.groups.get(key).and_then(|it| it.streams.get(number));
            let points = stream.and_then(|stream| stream.oldest(&self.jobs)?.points);
            if !points.is_some_and(|points| self.still_waits(points)) {
                continue;
            }
            let group = self.groups.get_mut(key);
            if let Some(stream) = group.and_then(|group| group.streams.get_mut(number)) {
                stream.keep_current(&mut self.hw.platform, &self.jobs);
            }
        }
    }

    /// A group that was on its slot when the GPU was stopped, or that was saved to nothing. Jobs that are done are done, one
    /// that had begun is lost, and what comes after it has not begun: an entry of a ring is left only when its job is over.
    fn put_right(&mut self, key: Key) {
        self.retire(key);
        let Some(group) = self.groups.get(key) else {
            return;
        };
        let why = group.ending.map(|ending| ending.why);
        let outcome = when_stopped(group);
        if let Some(Termination::Space(it)) = why {
            self.blame_space(key, it.fault, it.reached);
        }
        if outcome == Outcome::IsGone {
            let cause = why.map_or(Cause::LostWithGpu, Termination::cause);
            return self.end_group(key, cause, outcome.recovery());
        }
        self.lose_begun_parts(key);
        for number in 0..STREAMS {
            let group = self.groups.get_mut(key);
            let stream = group.and_then(|group| group.streams.get_mut(number));
            let Some(stream) = stream else { break };
            let ended = stream.lose_current(&mut self.hw.platform, &mut self.jobs);
            if let Some(ended) = ended {
                self.count_end(key, ended);
            }
        }
        self.leave_slot(key, Residency::Off(Off::FRESH));
    }

    /// The GPU is up again.
    pub(super) fn run_again(&mut self) {
        let now = self.hw.platform.now();
        self.slot_seats = Seats::new(all_slots(&self.hw.interface));
        self.watch = Watch::new(now);
        for index in 0..self.groups.capacity() {
            let Some(key) = self.groups.key_at(index) else {
                continue;
            };
            if let Some(group) = self.groups.get_mut(key)
                && group.is_blocked()
            {
                group.wake();
            }
            self.file(key);
        }
        self.restless = true;
        self.lost = None;
        self.power_is_settled();
        self.phase = Phase::Running;
    }

    /// The device is given up: the GPU was stopped, or does not stop.
    pub(super) fn give_up(&mut self, lost: DeviceLost) {
        self.lost = Some(lost);
        self.last_loss = Some(lost);
        self.power_is_settled();
        for index in 0..self.groups.capacity() {
            if let Some(key) = self.groups.key_at(index) {
                self.end_group(key, Cause::LostWithGpu, Recovery::Restart);
            }
        }
        self.phase = Phase::Dead;
    }

    /// Saves what can be saved and stops the GPU, for a restart that waits for each step.
    pub(super) fn stop_for_restart(&mut self) {
        self.supply_for_reset();
        let now = self.hw.platform.now();
        if self.is_running() {
            self.phase = Phase::Saving(now.after(self.hw.scaled(ANSWER)));
        }
        self.wait_for_phase(|phase| !matches!(phase, Phase::Saving(_) | Phase::Cleaning(_)));
        // Whatever state it is in, the reset comes next, by itself.
        self.phase = Phase::Dead;
    }

    /// Waits until memory that the GPU had may have a new owner, and nothing is under way in the MMU.
    pub(crate) fn wait_for_mmu(&mut self) {
        self.wait_for_phase(is_quiet);
        if !self.is_running() {
            return;
        }
        let moved = poll(
            self,
            |device| &mut device.hw.platform,
            |device| device.due,
            Pace::new(Lines::ALL, Duration::MAX),
            |device, now| {
                let moved = device.move_spaces(now)?;
                device.due = moved;
                Ok(moved.is_none().then_some(()))
            },
        );
        if let Err(lost) = moved {
            self.stop_now(lost);
        }
    }

    /// Goes on with the phase until `done`.
    pub(super) fn wait_for_phase(&mut self, done: fn(&Phase) -> bool) {
        let ended = poll(
            self,
            |device| &mut device.hw.platform,
            |device| device.due,
            Pace::new(Lines::ALL, Duration::MAX),
            |device, now| {
                if done(&device.phase) {
                    return Ok(Some(()));
                }
                device.due = device.poll_phase(now);
                Ok::<_, Infallible>(done(&device.phase).then_some(()))
            },
        );
        match ended {
            Ok(_) => {}
            Err(never) => match never {},
        }
    }

    /// The hardware did not obey while memory was being mapped or unmapped, whose owner waits: the GPU is stopped at once, and
    /// `poll` goes on from there.
    pub(super) fn stop_now(&mut self, lost: DeviceLost) -> DeviceLost {
        if !self.is_running() {
            return lost;
        }
        let now = self.hw.platform.now();
        self.recover(lost, now);
        self.wait_for_phase(is_quiet);
        lost
    }
}

/// What becomes of a group that was on its slot when the GPU was stopped, or whose save is uncertain.
fn when_stopped(group: &Group) -> Outcome {
    let event = if group.ending.is_some() {
        Event::StoppedWhileEnding
    } else if group.relies_on_registers {
        Event::StoppedWithRegisters
    } else {
        Event::Stopped
    };
    outcome(event, group.residency.state())
}

/// Whether memory that the GPU had may have a new owner.
fn is_quiet(phase: &Phase) -> bool {
    match phase {
        Phase::Running | Phase::Dead | Phase::Supplying { .. } | Phase::Off => true,
        Phase::Starting(start) => !start.is_before_reset(),
        Phase::Saving(_)
        | Phase::Halting(_)
        | Phase::Cleaning(_)
        | Phase::Stopping(_)
        | Phase::Leaving
        | Phase::SwitchingOff(_) => false,
    }
}

/// Whether the firmware may answer after a loss.
fn answers(lost: &DeviceLost) -> bool {
    match lost {
        DeviceLost::Firmware(_) | DeviceLost::Restart(_) => false,
        DeviceLost::Silent(ignored) => *ignored.timed_out.register != GLB_ACK,
        DeviceLost::Gpu(_) | DeviceLost::Mmu(_) | DeviceLost::Stream(_) => true,
    }
}
