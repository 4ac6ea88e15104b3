//! Placing groups: what the scheduler decides is asked of the firmware. Nobody waits for its answers: `poll` sees them.
//!
//! Facts: hardware/csf-scheduling.md sections 3.1 to 3.5.

use super::backlog::{Backlog, Filed};
use super::{Device, DeviceLost};
use crate::firmware::{ANSWER, MAX_SLOTS};
use crate::group::{Doom, Group, Residency, request_number, request_state, ring};
use crate::platform::{Instant, Platform};
use crate::scheduler::{Contender, Decision, Place, Priority, Room, number_between, ranked};
use crate::seats::Claim;
use crate::slab::Key;
use crate::wait::scaled;
use core::time::Duration;
use eitri_csf::interface::group::CsgState;
use heapless::Vec;

/// How soon to look again when a decision can't be carried out yet.
const SOON: Duration = Duration::from_millis(1);
/// Groups that the scheduler chooses among at most: those on slots, and those who may follow.
const CONTENDERS: usize = 2 * MAX_SLOTS + 1;

impl<P: Platform> Device<'_, '_, P> {
    /// When an answer of the firmware that is asked for now is late.
    pub(super) fn deadline(&self, now: Instant) -> Instant {
        now.after(self.scaled(ANSWER))
    }

    /// A limit on a GPU that is clocked as it is.
    pub(super) fn scaled(&self, limit: Duration) -> Duration {
        scaled(&self.platform, limit)
    }

    /// Schedules, and does what follows from it without waiting: spaces into the hardware, groups to start on their slots; says
    /// when to go on.
    pub(super) fn arrange(&mut self, now: Instant) -> Result<Option<Instant>, DeviceLost> {
        let scheduled = self.schedule(now)?;
        let moving = self.move_spaces(now)?;
        for seat in 0..self.interface.slots.len() {
            if let Some(key) = self.group_on(seat) {
                self.start_seated(key, now);
            }
        }
        Ok(match (scheduled, moving) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        })
    }

    /// Lets groups onto slots and off them, as far as there is something to decide; says when to ask again.
    fn schedule(&mut self, now: Instant) -> Result<Option<Instant>, DeviceLost> {
        let room = Room {
            slots: self.slot_seats.count(),
            spaces: self.space_seats.count(),
        };
        // Each round puts a group onto a slot or begins to take one off: there are no more rounds than that.
        for _ in 0..MAX_SLOTS.saturating_mul(2) {
            if !self.backlog.has_ready() {
                return Ok(None);
            }
            let all = self.contenders(room.slots);
            match self.scheduler.decide(all.iter().copied(), room, now) {
                Decision::Bind(who) => match self.groups.key_at(who) {
                    Some(key) if self.bind(key) => {}
                    _ => return Ok(Some(now.after(SOON))),
                },
                Decision::Evict(who) => match self.groups.key_at(who) {
                    Some(key) => self.evict(key, now),
                    None => return Ok(None),
                },
                Decision::Wait(at) => return Ok(at),
            }
        }
        Ok(Some(now.after(SOON)))
    }

    /// The group on a slot.
    pub(super) fn group_on(&self, seat: usize) -> Option<Key> {
        self.groups.key_at(self.slot_seats.who(seat)?)
    }

    /// The groups on slots.
    pub(super) fn seated_groups(&self) -> impl Iterator<Item = &Group> + Clone {
        let seats = 0..self.interface.slots.len();
        let keys = seats.filter_map(|seat| self.group_on(seat));
        keys.filter_map(|key| self.groups.get(key))
    }

    /// Who may be on a slot next: those who are, and of those who are ready as many as could matter, the most urgent first.
    fn contenders(&self, slots: usize) -> Vec<Contender, CONTENDERS> {
        let mut all = Vec::new();
        for key in (0..MAX_SLOTS).filter_map(|seat| self.group_on(seat)) {
            if let Some(group) = self.groups.get(key) {
                let _ = all.push(contender((key, group)));
            }
        }
        // All slots could be leaving, and one more wait.
        let most = all.len().saturating_add(slots).saturating_add(1);
        for priority in [
            Priority::RealTime,
            Priority::High,
            Priority::Medium,
            Priority::Low,
        ] {
            let mut next = self.backlog.first(Filed::Ready(priority));
            while let Some((key, group)) = next.and_then(|key| Some((key, self.groups.get(key)?))) {
                if all.len() >= most || all.push(contender((key, group))).is_err() {
                    return all;
                }
                next = Backlog::after(&self.groups, key);
            }
        }
        all
    }

    /// Gives a group a free slot and its space a number; false if it can't be now. It is started when the hardware has its
    /// space.
    fn bind(&mut self, key: Key) -> bool {
        let Some(group) = self.groups.get(key) else {
            return false;
        };
        let (space, priority) = (group.space, group.priority);
        let Claim::Free(seat) = self.slot_seats.claim(key.index()) else {
            return false;
        };
        let others = self.seated_groups();
        let others = others.map(|other| (other.priority, other.number));
        let number = match number_between(others, priority) {
            Some(number) => number,
            None => match self.renumber(priority) {
                Some(number) => number,
                None => return false,
            },
        };
        if !self.seat_space(space) {
            return false;
        }
        let Some(group) = self.groups.get_mut(key) else {
            return false;
        };
        group.number = number;
        group.slot = Some(seat);
        group.idle = false;
        group.unseen = false;
        group.residency = Residency::Seating;
        self.file(key);
        self.restless = true;
        self.slot_seats.take(seat, key.index());
        self.space_seats.pin(space.index());
        true
    }

    /// Asks for a group to be started that has a slot, if the hardware has its space.
    pub(super) fn start_seated(&mut self, key: Key, now: Instant) {
        let until = self.deadline(now);
        let version = self.interface.version;
        let group = self.groups.get(key);
        let group = group.filter(|group| group.residency == Residency::Seating);
        let number = group.and_then(|group| self.seated(group.space));
        let Some(group) = self.groups.get_mut(key) else {
            return;
        };
        let slot = group.slot.and_then(|slot| self.interface.slots.get(slot));
        if let (Some(number), Some(slot)) = (number, slot) {
            group.residency = Residency::Starting { until };
            group.request_start(&mut self.platform, slot, version, number);
            ring(&mut self.platform, &self.interface.global, slot);
        }
    }

    /// Gives all groups on slots new numbers, with a place for one more of `priority`; gives its number. `None` while the
    /// firmware is still taking a number in.
    fn renumber(&mut self, priority: crate::scheduler::Priority) -> Option<u32> {
        let still = |it: &Group| matches!(it.residency, Residency::On { .. } | Residency::Seating);
        let moves = |it: &Group| it.slot.is_some() && !still(it);
        if self.seated_groups().any(moves) {
            return None;
        }
        let version = self.interface.version;
        let mut ranks = [None; MAX_SLOTS];
        for (rank, seat) in ranks.iter_mut().zip(0..) {
            let on = |it: &&Group| it.slot == Some(seat);
            let groups = || self.seated_groups();
            let Some(group) = groups().find(on) else {
                continue;
            };
            let order = |it: &Group| (it.priority, it.number);
            let before = groups().filter(|it| it.slot.is_some() && order(it) > order(group));
            let before = before
                .count()
                .saturating_add(usize::from(priority > group.priority));
            *rank = Some(ranked(u32::try_from(before).unwrap_or(0)));
        }
        for (seat, number) in ranks.iter().enumerate() {
            let key = self.group_on(seat);
            let group = key.and_then(|key| self.groups.get_mut(key));
            let slot = self.interface.slots.get(seat);
            let (Some(slot), Some(group), Some(number)) = (slot, group, number) else {
                continue;
            };
            if group.number != *number {
                group.number = *number;
                // One that has not started yet is told when it is.
                if group.residency == Residency::Seating {
                    continue;
                }
                request_number(&mut self.platform, slot, version, group.endpoints, *number);
                ring(&mut self.platform, &self.interface.global, slot);
            }
        }
        let before = self.seated_groups();
        let before = before.filter(|it| it.priority >= priority);
        Some(ranked(u32::try_from(before.count()).unwrap_or(0)))
    }

    /// Asks for a group to be saved.
    pub(super) fn evict(&mut self, key: Key, now: Instant) {
        let until = self.deadline(now);
        self.change(key, CsgState::Suspend, Residency::Suspending { until });
    }

    /// Asks for a group to be dropped.
    pub(super) fn terminate(&mut self, key: Key, now: Instant) {
        let until = self.deadline(now);
        self.change(key, CsgState::Terminate, Residency::Terminating { until });
    }

    fn change(&mut self, key: Key, state: CsgState, residency: Residency) {
        let Some(group) = self.groups.get_mut(key) else {
            return;
        };
        let Some(slot) = group.slot.and_then(|slot| self.interface.slots.get(slot)) else {
            return;
        };
        request_state(&mut self.platform, slot, state);
        ring(&mut self.platform, &self.interface.global, slot);
        group.residency = residency;
        self.restless = true;
    }

    /// A group is on no slot any more.
    pub(super) fn leave_slot(&mut self, key: Key, residency: Residency) {
        self.stamps = self.stamps.wrapping_add(1);
        if let Some(group) = self.groups.get_mut(key) {
            if group.slot.take().is_some() {
                self.slot_seats.leave(key.index());
                self.space_seats.unpin(group.space.index());
            }
            group.residency = residency;
            group.stamp = self.stamps;
        }
        self.restless = true;
        self.file(key);
    }
}

/// A group, as the scheduler sees it.
fn contender((key, group): (Key, &Group)) -> Contender {
    let leaves = Place::Moving { leaves: true };
    let place = match group.residency {
        Residency::Off | Residency::Dead => Place::Off,
        Residency::Seating | Residency::Starting { .. } => Place::Moving { leaves: false },
        Residency::On { .. } if group.doom.is_some() => leaves,
        Residency::On { since } => Place::On(since),
        Residency::Suspending { .. } | Residency::Terminating { .. } => leaves,
    };
    Contender {
        who: key.index(),
        priority: group.priority,
        ready: group.is_ready(),
        place,
        stamp: group.stamp,
        space: group.space.index(),
    }
}

impl Doom {
    /// Why the jobs fail of which nothing else is known.
    pub(super) const fn cause(self) -> crate::fault::Cause {
        use crate::fault::Cause;
        match self {
            Doom::Cancelled => Cause::Cancelled,
            Doom::NotSuspended => Cause::NotSuspended,
            Doom::Stream | Doom::Space { .. } => Cause::Lost,
        }
    }
}
