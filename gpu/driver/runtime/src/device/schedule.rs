//! Schedule: carries out what the scheduler decides. Groups get slots and leave them, and `poll` sees the firmware's answers.
//!
//! Facts: hardware/csf-scheduling.md sections 3.1 to 3.5.

use super::backlog::{Backlog, Filed};
use super::{Device, DeviceLost};
use crate::firmware::MAX_SLOTS;
use crate::group::{Group, Off, Residency, Seated, Stage, request_number, ring};
use crate::platform::{Instant, Platform};
use crate::scheduler::{Contender, Decision, Place, Priority, Room, number_between, ranked};
use crate::seats::Claim;
use crate::slab::Key;
use core::time::Duration;
use eitri_csf::interface::group::CsgState;
use heapless::Vec;

/// How soon to look again when a decision can't be carried out yet.
const SOON: Duration = Duration::from_millis(1);
/// Groups that the scheduler chooses among at most: those on slots, and those who may follow.
const CONTENDERS: usize = 2 * MAX_SLOTS + 1;

impl<P: Platform> Device<'_, '_, P> {
    /// Schedules, and does what follows from it without waiting: spaces into the hardware, groups to start on their slots; says
    /// when to go on.
    pub(super) fn arrange(&mut self, now: Instant) -> Result<Option<Instant>, DeviceLost> {
        let scheduled = self.schedule(now)?;
        let moving = self.move_spaces(now)?;
        for seat in 0..self.hw.interface.slots.len() {
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
        let seats = 0..self.hw.interface.slots.len();
        let keys = seats.filter_map(|seat| self.group_on(seat));
        keys.filter_map(|key| self.groups.get(key))
    }

    /// Priorities of the groups on slots, with their numbers.
    fn numbers(&self) -> Vec<(Priority, u32), MAX_SLOTS> {
        let mut numbers = Vec::new();
        for group in self.seated_groups() {
            let number = group.residency.seated().map_or(0, |seated| seated.number);
            let _ = numbers.push((group.priority, number));
        }
        numbers
    }

    /// Who may be on a slot next: those who are, and of those who are ready as many as could matter, the most urgent first.
    fn contenders(&self, slots: usize) -> Vec<Contender, CONTENDERS> {
        let mut all = Vec::new();
        for key in (0..MAX_SLOTS).filter_map(|seat| self.group_on(seat)) {
            if let Some(group) = self.groups.get(key) {
                let _ = all.push(contender(key, group));
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
                if all.len() >= most || all.push(contender(key, group)).is_err() {
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
        let number = match number_between(&self.numbers(), priority) {
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
        let Residency::Off(Off { saved, .. }) = group.residency else {
            return false;
        };
        group.residency = Residency::Seated(Seated::new(seat, number, saved));
        self.file(key);
        self.restless = true;
        self.slot_seats.take(seat, key.index());
        self.space_seats.pin(space.index());
        true
    }

    /// Asks for a group to be started that has a slot, if the hardware has its space.
    pub(super) fn start_seated(&mut self, key: Key, now: Instant) {
        let until = self.hw.deadline(now);
        let waits = |group: &&Group| {
            let seated = group.residency.seated();
            seated.is_some_and(|seated| seated.stage == Stage::Waiting)
        };
        let group = self.groups.get(key).filter(waits);
        let number = group.and_then(|group| self.seated(group.space));
        let (Some(number), Some(group)) = (number, self.groups.get_mut(key)) else {
            return;
        };
        group.request_start(&mut self.hw.platform, &self.hw.interface, number);
        if let Some(seated) = group.residency.seated_mut() {
            seated.stage = Stage::Starting { until };
        }
    }

    /// Gives all groups on slots new numbers, with a place for one more of `priority`; gives its number. `None` while the
    /// firmware is still taking a number in.
    fn renumber(&mut self, priority: Priority) -> Option<u32> {
        let moves = |it: &Group| {
            let seated = it.residency.seated();
            seated.is_some_and(|it| !it.is_running() && it.stage != Stage::Waiting)
        };
        if self.seated_groups().any(moves) {
            return None;
        }
        let version = self.hw.interface.version;
        let before = self.numbers();
        for seat in 0..self.hw.interface.slots.len() {
            let key = self.group_on(seat);
            let group = key.and_then(|key| self.groups.get_mut(key));
            let (Some(slot), Some(group)) = (self.hw.interface.slots.get(seat), group) else {
                continue;
            };
            let Some(seated) = group.residency.seated_mut() else {
                continue;
            };
            let own = (group.priority, seated.number);
            let higher = before.iter().filter(|it| **it > own).count();
            let number = rank(higher.saturating_add(usize::from(priority > group.priority)));
            if seated.number == number {
                continue;
            }
            seated.number = number;
            // One that has not started yet gets it then.
            if seated.is_running() {
                let it = &mut self.hw.platform;
                request_number(it, slot, version, group.endpoints, number);
                ring(it, &self.hw.interface.global, slot);
            }
        }
        let higher = before.iter().filter(|(other, _)| *other >= priority);
        Some(rank(higher.count()))
    }

    /// Asks for a group to be saved.
    pub(super) fn evict(&mut self, key: Key, now: Instant) {
        let until = self.hw.deadline(now);
        self.change(key, CsgState::Suspend, Stage::Suspending { until });
    }

    /// Asks for a group to be dropped.
    pub(super) fn terminate(&mut self, key: Key, now: Instant) {
        let until = self.hw.deadline(now);
        self.change(key, CsgState::Terminate, Stage::Terminating { until });
    }

    fn change(&mut self, key: Key, state: CsgState, stage: Stage) {
        if let Some(group) = self.groups.get_mut(key)
            && group.request(&mut self.hw, state, stage)
        {
            self.restless = true;
        }
    }

    /// Takes the slot of a group back that has not used it.
    pub(super) fn give_up_slot(&mut self, key: Key) {
        let group = self.groups.get(key);
        if let Some(seated) = group.and_then(|group| group.residency.seated()) {
            let (saved, blocked) = (seated.saved, None);
            self.leave_slot(key, Residency::Off(Off { saved, blocked }));
        }
    }

    /// A group is on no slot any more.
    pub(super) fn leave_slot(&mut self, key: Key, residency: Residency) {
        self.stamps = self.stamps.wrapping_add(1);
        if let Some(group) = self.groups.get_mut(key) {
            if !group.is_off() {
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

/// The number of a group that so many others come before.
fn rank(before: usize) -> u32 {
    ranked(u32::try_from(before).unwrap_or(0))
}

/// A group, as the scheduler sees it.
fn contender(key: Key, group: &Group) -> Contender {
    let place = match &group.residency {
        Residency::Off(_) | Residency::Dead => Place::Off,
        Residency::Seated(seated) => match seated.stage {
            Stage::Waiting | Stage::Starting { .. } => Place::Moving { leaves: false },
            Stage::Running { since } if group.ending.is_none() => Place::On(since),
            Stage::Running { .. } | Stage::Suspending { .. } | Stage::Terminating { .. } => {
                Place::Moving { leaves: true }
            }
        },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::QueueConfig;
    use crate::group::Saved;
    use crate::testing::Fake;
    use crate::testing::firmware::{control_blocks, device, image};

    fn queue(device: &mut Device<'_, '_, Fake>) -> Key {
        let queue = device.create_queue(QueueConfig::default());
        queue.expect("a place").0
    }

    fn number(device: &Device<'_, '_, Fake>, key: Key) -> Option<u32> {
        let group = device.groups.get(key)?;
        group.residency.seated().map(|seated| seated.number)
    }

    /// Who has just left a slot waits behind all others.
    #[test]
    fn who_has_left_a_slot_last_waits_longest() {
        let image = image(&control_blocks());
        let mut device = device(&image);
        let keys = [(); 3].map(|()| queue(&mut device));
        for _ in 0..2 {
            for key in keys {
                device.leave_slot(key, Residency::Off(Off::FRESH));
            }
            let stamps = keys.map(|key| device.groups.get(key).map(|group| group.stamp));
            assert!(stamps[0] < stamps[1] && stamps[1] < stamps[2], "{stamps:?}");
        }
    }

    /// Where no number is left above those of groups on slots, they get others, which the firmware hears of those that run.
    #[test]
    fn groups_on_slots_make_room_for_a_higher_number() {
        let image = image(&control_blocks());
        let mut device = device(&image);
        let key = queue(&mut device);
        let seated = Seated::new(0, 15, Saved::Nothing);
        if let Some(group) = device.groups.get_mut(key) {
            group.residency = Residency::Seated(seated);
        }
        device.slot_seats.take(0, key.index());
        let lower = device.renumber(Priority::Low);
        assert_eq!((lower, number(&device, key)), (Some(14), Some(15)));
        let higher = device.renumber(Priority::RealTime);
        assert_eq!((higher, number(&device, key)), (Some(15), Some(14)));
    }
}
