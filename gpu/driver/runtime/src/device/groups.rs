//! Groups: polls one group, and carries out its end.
//!
//! A poll answers what the slot reports, retires completed jobs, and goes on with the group's way to its slot or from it.
//! Every request to the firmware is a state with a deadline. Who ends for what stands in [`crate::policy`].
//! Facts: hardware/csf-firmware.md section 11, csf-scheduling.md section 3.

use super::{Device, DeviceLost};
use crate::fault::{Cause, Recovery};
use crate::graphics::News;
use crate::group::{
    Ending, Off, Reported, Request, Residency, Saved, SlotWords, Stage, Termination, Whom,
    discard_events,
};
use crate::handle::Queue;
use crate::platform::{Instant, Platform};
use crate::policy::{Event, Outcome, outcome};
use crate::slab::Key;

impl<P: Platform> Device<'_, '_, P> {
    /// Answers what a group's slot reports, and goes on with what the firmware was asked for; whether a sync object has changed.
    pub(super) fn poll_group(&mut self, key: Key, now: Instant) -> Result<bool, DeviceLost> {
        let reported = self.take_reports(key, true, Whom::Asking);
        if reported.exhausted != 0 {
            self.answer_heaps(key, reported.exhausted);
        }
        self.retire(key);
        let changed = reported.sync_changed;
        let Some(group) = self.groups.get(key) else {
            return Ok(changed);
        };
        let ends = group.ending.is_some();
        let seated = group.residency.seated();
        if let (Some(_), Some(fault)) = (seated, group.fault_for_reset()) {
            return Err(DeviceLost::Stream(fault));
        }
        match seated.map(|seated| seated.stage) {
            Some(Stage::Starting { until }) => {
                if self.poll_answer(key, Request::START, until, now)? {
                    self.started(key, now);
                }
            }
            Some(Stage::Suspending { until }) => {
                if self.poll_answer(key, Request::SUSPEND, until, now)? {
                    self.suspended(key);
                }
            }
            Some(Stage::Terminating { until }) => {
                if self.poll_answer(key, Request::TERMINATE, until, now)? {
                    self.terminated(key);
                }
            }
            Some(Stage::Waiting | Stage::Running { .. }) | None if ends => {
                self.go_on_ending(key, now);
            }
            Some(Stage::Waiting) => self.start_seated(key, now),
            Some(Stage::Running { .. }) | None => {}
        }
        Ok(changed)
    }

    /// Goes on with the end of a group for which nothing was requested yet, if it is to end.
    fn go_on_ending(&mut self, key: Key, now: Instant) {
        let group = self.groups.get(key);
        let Some((Ending { why, .. }, residency)) =
            group.and_then(|group| Some((group.ending?, group.residency)))
        else {
            return;
        };
        match (outcome(Event::Ending, residency.state()), why) {
            (Outcome::IsGone, _) => self.end_group(key, why.cause(), Recovery::NewQueue),
            (Outcome::LeavesSlot, _) => self.give_up_slot(key),
            (Outcome::IsTerminated, Termination::Space(fault)) => {
                self.end_by_space(key, now, fault);
            }
            (Outcome::IsTerminated, _) => self.terminate(key, now),
            _ => {}
        }
    }

    /// Whether the firmware has done what a group's slot asks for. What is late is answered as the policy says.
    fn poll_answer(
        &mut self,
        key: Key,
        request: Request,
        until: Instant,
        now: Instant,
    ) -> Result<bool, DeviceLost> {
        let Some(group) = self.groups.get_mut(key) else {
            return Ok(false);
        };
        let state = group.residency.state();
        match group.answered(&mut self.hw, request, now >= until) {
            Ok(answered) => Ok(answered),
            Err(_) if outcome(Event::NotAnswered, state) == Outcome::IsTerminated => {
                group.end_for(Termination::NotSuspended);
                self.terminate(key, now);
                Ok(false)
            }
            Err(ignored) => Err(DeviceLost::Silent(ignored)),
        }
    }

    /// Answers what a group's slot reports, with a doorbell if the firmware `lives`.
    pub(super) fn take_reports(&mut self, key: Key, lives: bool, whom: Whom) -> Reported {
        let group = self.groups.get(key);
        let draws = self.drawing.is_some() && group.is_some_and(|group| group.tiler.is_some());
        let slot = group.and_then(|group| group.blocks(&self.hw.interface));
        let words = slot.map(|slot| SlotWords::read(&mut self.hw.platform, slot));
        // What failed is found while the streams still stand there.
        if draws && words.is_some_and(SlotWords::may_be_failure) {
            self.name_failed(News::Reports(key));
        }
        let reported = match (self.groups.get_mut(key), words) {
            (Some(group), Some(words)) => {
                let (hw, jobs) = (&mut self.hw, &mut self.jobs);
                group.take_reports(hw, jobs, words, Queue(key), lives, whom)
            }
            _ => Reported::NOTHING,
        };
        if draws && self.has_named() {
            self.name_failed(News::Faults(key));
        }
        reported
    }

    /// Retires completed jobs of a group.
    pub(super) fn retire(&mut self, key: Key) {
        let late = self.late(key);
        let mut number = 0;
        while let Some(group) = self.groups.get_mut(key)
            && let Some(ended) =
                group.retire(&mut number, &mut self.hw.platform, &mut self.jobs, late)
        {
            if ended.well {
                self.attempts = 0;
            }
            self.count_end(key, ended);
        }
    }

    /// Whether the firmware has done what a group's slot asks for.
    pub(super) fn answered(&mut self, key: Key, request: Request) -> bool {
        let group = self.groups.get(key);
        let answered = group.map(|group| group.answered(&mut self.hw, request, false));
        matches!(answered, Some(Ok(true)))
    }

    fn started(&mut self, key: Key, now: Instant) {
        if let Some(group) = self.groups.get_mut(key) {
            group.started(&mut self.hw, now);
        }
    }

    /// The firmware has saved a group.
    pub(super) fn suspended(&mut self, key: Key) {
        let Some(group) = self.groups.get(key) else {
            return;
        };
        let space = self.spaces.get(group.space);
        let blocked = match (group.blocks(&self.hw.interface), space) {
            (Some(slot), Some(vm)) => group.blocked_on(&mut self.hw.platform, slot, &vm.space),
            _ => None,
        };
        self.stop_streams(key);
        let saved = Saved::State;
        self.leave_slot(key, Residency::Off(Off { saved, blocked }));
    }

    /// The firmware has dropped a group.
    pub(super) fn terminated(&mut self, key: Key) {
        self.stop_streams(key);
        let ending = self.groups.get(key).and_then(|group| group.ending);
        let why = ending.map_or(Termination::Cancelled, |ending| ending.why);
        self.end_group(key, why.cause(), Recovery::NewQueue);
    }

    /// Leaves the slot of a group that is not on it any more to its next user: takes in what is left, and marks its streams as
    /// stopped.
    fn stop_streams(&mut self, key: Key) {
        if let Some(group) = self.groups.get_mut(key) {
            group.mark_stopped(&mut self.hw);
        }
        let _ = self.take_reports(key, true, Whom::Everyone);
        let group = self.groups.get(key);
        if let Some(slot) = group.and_then(|group| group.blocks(&self.hw.interface)) {
            discard_events(&mut self.hw.platform, slot);
        }
        self.retire(key);
    }

    /// Ends a group, of which nothing runs any more. Jobs of which nothing was reported failed for `cause`.
    pub(super) fn end_group(&mut self, key: Key, cause: Cause, recovery: Recovery) {
        self.retire(key);
        while let Some(group) = self.groups.get_mut(key)
            && let Some(ended) = group.abandon(&mut self.jobs, cause, recovery)
        {
            self.count_end(key, ended);
        }
        self.leave_slot(key, Residency::Dead);
    }
}
