//! Scheduler: which groups are on slots. A pure function of who there is and what time it is.
//!
//! The higher priority first; among equals who has waited longest. A group that has nothing to do gives way to one that has;
//! a busy one to a higher priority at once, and to an equal after its time slice. Nobody moves while a slot is free.
//! A seed perturbs choices that have no single right answer, for tests.
//! Facts: hardware/csf-scheduling.md sections 3.2, 3.6 and 10.

use crate::platform::Instant;
use core::cmp::Ordering;
use core::time::Duration;

/// How urgent a queue's work is, among all queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Priority {
    /// Whenever nothing else is to be done.
    Low,
    /// The usual.
    #[default]
    Medium,
    /// Before the usual.
    High,
    /// Before everything.
    RealTime,
}

/// How long a busy group keeps its slot while an equal waits for one.
pub(crate) const SLICE: Duration = Duration::from_millis(10);

/// Where a contender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On no slot.
    Off,
    /// On a slot since then, and free to leave it.
    On(Instant),
    /// On a slot, on its way to or from it.
    Moving {
        /// It will be gone.
        leaves: bool,
    },
}

/// A group, as the scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contender {
    /// Who.
    pub(crate) who: usize,
    pub(crate) priority: Priority,
    /// It has work that could go on.
    pub(crate) ready: bool,
    pub(crate) place: Place,
    /// The smaller, the longer it has waited.
    pub(crate) stamp: u64,
    /// Its address space.
    pub(crate) space: usize,
}

/// Slots and spaces to share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Slots.
    pub(crate) slots: usize,
    /// Address spaces.
    pub(crate) spaces: usize,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Put this one onto a slot, and ask again.
    Bind(usize),
    /// Take this one off its slot, and ask again.
    Evict(usize),
    /// Nothing; ask again then, if nothing happens before.
    Wait(Option<Instant>),
}

/// The scheduler: but for the state of its seed it is its arguments' function.
#[derive(Debug)]
pub(crate) struct Scheduler {
    /// 0 bends nothing.
    seed: u64,
}

impl Scheduler {
    pub(crate) const fn new(seed: u64) -> Scheduler {
        Scheduler { seed }
    }

    /// A number below `sides`; 0 without a seed.
    fn roll(&mut self, sides: u64) -> u64 {
        if self.seed == 0 {
            return 0;
        }
        // xorshift64
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed.checked_rem(sides).unwrap_or(0)
    }

    /// The next thing to do for `all`.
    pub(crate) fn decide(
        &mut self,
        all: impl Iterator<Item = Contender> + Clone,
        room: Room,
        now: Instant,
    ) -> Decision {
        let bend = self.roll(1 << 32);
        // Equals are ordered by their time, or by the seed.
        let order = |it: &Contender| match bend {
            0 => it.stamp,
            bend => it.stamp.wrapping_mul(bend | 1) >> 7,
        };
        let mut waiting = 0_usize;
        let mut first: Option<(Contender, (Priority, u64))> = None;
        for it in all.clone() {
            if it.ready && it.place == Place::Off {
                waiting = waiting.saturating_add(1);
                let rank = (it.priority, u64::MAX.wrapping_sub(order(&it)));
                if first.as_ref().is_none_or(|(_, highest)| rank >= *highest) {
                    first = Some((it, rank));
                }
            }
        }
        let Some((first, _)) = first else {
            return Decision::Wait(None);
        };
        let seated = all.filter(|it| it.place != Place::Off);
        let (mut taken, mut spaces, mut leaving) = (0_usize, 0_usize, 0_usize);
        let mut shares = false;
        let mut victim: Option<(Contender, Instant)> = None;
        let rank = |it: &Contender, since| (it.ready.then_some(it.priority), since);
        for it in seated.clone() {
            taken = taken.saturating_add(1);
            // A space counts once, however many groups share it.
            let mut of_space = seated.clone().filter(|other| other.space == it.space);
            if of_space.next().is_some_and(|other| other.who == it.who) {
                spaces = spaces.saturating_add(1);
            }
            shares |= it.space == first.space;
            match it.place {
                Place::Moving { leaves: true } => leaving = leaving.saturating_add(1),
                Place::On(since) => {
                    let lower = |(other, long): &(Contender, Instant)| {
                        rank(&it, since) < rank(other, *long)
                    };
                    if victim.as_ref().is_none_or(lower) {
                        victim = Some((it, since));
                    }
                }
                _ => {}
            }
        }
        if taken < room.slots && (shares || spaces < room.spaces) {
            return Decision::Bind(first.who);
        }
        if leaving >= waiting {
            return Decision::Wait(None);
        }
        let Some((victim, since)) = victim else {
            return Decision::Wait(None);
        };
        let over = since.after(SLICE);
        let early = bend & 3 == 3;
        match () {
            () if !victim.ready || victim.priority < first.priority => Decision::Evict(victim.who),
            () if victim.priority > first.priority => Decision::Wait(None),
            () if now >= over || early => Decision::Evict(victim.who),
            () => Decision::Wait(Some(over)),
        }
    }
}

/// Numbers that a slot's priority can have.
pub(crate) const NUMBERS: u32 = 16;

/// A number for a group of this `priority` that no other group on a slot has, in order with theirs: equal numbers can
/// dead-lock in the firmware. `None` if the numbers of the others leave no place in order: then all get new ones, by
/// [`ranked`].
pub(crate) fn number_between(others: &[(Priority, u32)], priority: Priority) -> Option<u32> {
    let (mut start, mut end, mut taken) = (0, NUMBERS, 0_u32);
    for (other, number) in others {
        match other.cmp(&priority) {
            Ordering::Greater => end = end.min(*number),
            Ordering::Less => start = start.max(number.saturating_add(1)),
            Ordering::Equal => {}
        }
        taken |= 1_u32.checked_shl(*number).unwrap_or(0);
    }
    // Each priority has a home, which leaves places for the others; the place that is nearest to it is taken.
    let home = match priority {
        Priority::Low => 2,
        Priority::Medium => 6,
        Priority::High => 10,
        Priority::RealTime => 14_u32,
    };
    let free = (start..end).filter(|number| taken.checked_shr(*number).unwrap_or(0) & 1 == 0);
    free.min_by_key(|number| number.abs_diff(home))
}

/// The number of a group when all groups on slots are numbered anew: `before` of them come before it.
pub(crate) const fn ranked(before: u32) -> u32 {
    NUMBERS.saturating_sub(1).saturating_sub(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn at(ms: u64) -> Instant {
        Instant(Duration::from_millis(ms))
    }

    const ROOM: Room = Room {
        slots: 2,
        spaces: 2,
    };

    fn waiting(who: usize, priority: Priority, stamp: u64) -> Contender {
        Contender {
            who,
            priority,
            ready: true,
            place: Place::Off,
            stamp,
            space: who,
        }
    }

    fn on(who: usize, priority: Priority, since: u64) -> Contender {
        Contender {
            place: Place::On(at(since)),
            ..waiting(who, priority, 0)
        }
    }

    #[track_caller]
    fn check(all: &[Contender], now: u64, expected: Decision) {
        let decision = Scheduler::new(0).decide(all.iter().copied(), ROOM, at(now));
        assert_eq!(decision, expected, "{all:#?}");
    }

    use Priority::{High, Low, Medium, RealTime};

    #[test]
    fn a_free_slot_goes_to_the_highest_priority_and_then_to_the_longest_wait() {
        check(&[], 0, Decision::Wait(None));
        let all = [
            waiting(0, Medium, 5),
            waiting(1, High, 9),
            waiting(2, High, 7),
        ];
        check(&all, 0, Decision::Bind(2));
        let idle = Contender {
            ready: false,
            ..waiting(0, RealTime, 0)
        };
        check(&[idle], 0, Decision::Wait(None));
    }

    #[test]
    fn the_idle_give_way_first_then_the_lower_then_equals_after_their_slice() {
        let idle = Contender {
            ready: false,
            ..on(1, RealTime, 90)
        };
        let low = waiting(2, Low, 0);
        check(&[on(0, Medium, 0), idle, low], 100, Decision::Evict(1));
        check(
            &[on(0, Medium, 0), on(1, Low, 99), waiting(2, High, 0)],
            100,
            Decision::Evict(1),
        );
        check(
            &[on(0, Medium, 0), on(1, Medium, 0), low],
            100,
            Decision::Wait(None),
        );
        let all = [on(0, Medium, 95), on(1, Medium, 93), waiting(2, Medium, 0)];
        check(&all, 100, Decision::Wait(Some(at(103))));
        check(&all, 103, Decision::Evict(1));
    }

    #[test]
    fn nobody_is_evicted_for_one_whose_slot_is_being_freed() {
        let leaving = Contender {
            place: Place::Moving { leaves: true },
            ..on(0, Low, 0)
        };
        check(
            &[leaving, on(1, Low, 0), waiting(2, High, 0)],
            100,
            Decision::Wait(None),
        );
        let two = [
            leaving,
            on(1, Low, 0),
            waiting(2, High, 0),
            waiting(3, High, 0),
        ];
        check(&two, 100, Decision::Evict(1));
    }

    #[test]
    fn groups_of_one_space_share_it_and_others_wait_for_one() {
        let room = Room {
            slots: 3,
            spaces: 1,
        };
        let decide =
            |all: &[Contender]| Scheduler::new(0).decide(all.iter().copied(), room, at(100));
        let with = Contender {
            space: 0,
            ..waiting(1, Medium, 1)
        };
        assert_eq!(decide(&[on(0, Medium, 99), with]), Decision::Bind(1));
        let other = waiting(2, Medium, 0);
        assert_eq!(
            decide(&[on(0, Medium, 99), other]),
            Decision::Wait(Some(at(109)))
        );
        assert_eq!(decide(&[on(0, Low, 99), other]), Decision::Evict(0));
    }

    /// Carries decisions out until there are none; who is on slots.
    fn run(all: &mut [Contender], scheduler: &mut Scheduler, now: u64) {
        for _ in 0..64 {
            match scheduler.decide(all.iter().copied(), ROOM, at(now)) {
                Decision::Bind(who) => all[who].place = Place::On(at(now)),
                Decision::Evict(who) => {
                    all[who].place = Place::Off;
                    all[who].stamp = now + 1;
                }
                Decision::Wait(_) => return,
            }
            let seated = all.iter().filter(|it| it.place != Place::Off).count();
            assert!(seated <= ROOM.slots);
        }
        panic!("it never comes to rest: {all:#?}");
    }

    /// Without a seed and with any: all equals get on, none for ever; nobody lower while a higher one waits.
    #[test]
    fn everybody_gets_on_and_nobody_lower_while_a_higher_one_waits() {
        for seed in 0..50 {
            let mut scheduler = Scheduler::new(seed);
            let mut all: Vec<Contender> =
                (0..5).map(|who| waiting(who, Medium, who as u64)).collect();
            all.push(waiting(5, Low, 0));
            let mut got_on = [0; 6];
            for now in (0..6000).step_by(10) {
                let before: Vec<Place> = all.iter().map(|it| it.place).collect();
                // An early eviction by the seed may go on for ever at one moment: the time moves.
                run_bent(&mut all, &mut scheduler, now);
                for (who, it) in all.iter().enumerate() {
                    got_on[who] += u32::from(before[who] == Place::Off && it.place != Place::Off);
                }
                assert_eq!(all[5].place, Place::Off, "seed {seed}");
            }
            assert!(
                got_on[..5].iter().all(|times| *times > 10),
                "seed {seed}: {got_on:?}"
            );
        }
        let mut all = [
            waiting(0, Low, 0),
            waiting(1, High, 1),
            waiting(2, RealTime, 2),
        ];
        run(&mut all, &mut Scheduler::new(0), 0);
        let seated = all.map(|it| it.place != Place::Off);
        assert_eq!(seated, [false, true, true]);
    }

    /// As [`run`], for a scheduler with a seed: at most one round of evictions at a time.
    fn run_bent(all: &mut [Contender], scheduler: &mut Scheduler, now: u64) {
        for _ in 0..8 {
            match scheduler.decide(all.iter().copied(), ROOM, at(now)) {
                Decision::Bind(who) => all[who].place = Place::On(at(now)),
                Decision::Evict(who) => {
                    all[who].place = Place::Off;
                    all[who].stamp = now + 1;
                }
                Decision::Wait(_) => return,
            }
        }
        while let Decision::Bind(who) = scheduler.decide(all.iter().copied(), ROOM, at(now)) {
            all[who].place = Place::On(at(now));
        }
    }

    /// Equals that came at the same time give way in the order in which they are named.
    #[test]
    fn of_equals_that_came_together_the_first_gives_way() {
        let all = [on(0, Low, 90), on(1, Low, 90), waiting(2, High, 0)];
        check(&all, 100, Decision::Evict(0));
        let all = [waiting(0, High, 3), waiting(1, High, 3)];
        check(&all, 0, Decision::Bind(1));
    }

    /// A group that is on its way to a slot or from it does not give way, and takes room.
    #[test]
    fn a_group_that_moves_takes_room_and_stays() {
        let coming = Contender {
            place: Place::Moving { leaves: false },
            ..on(0, Low, 0)
        };
        let all = [coming, on(1, Medium, 0), waiting(2, High, 0)];
        check(&all, 100, Decision::Evict(1));
        let all = [
            coming,
            Contender {
                who: 1,
                space: 1,
                ..coming
            },
            waiting(2, High, 0),
        ];
        check(&all, 100, Decision::Wait(None));
    }

    #[test]
    fn a_number_is_between_those_of_other_priorities() {
        assert_eq!(number_between(&[(Low, 14)], Medium), Some(15));
        assert_eq!(number_between(&[(Low, 15)], Medium), None);
        assert_eq!(number_between(&[(High, 1)], Medium), Some(0));
        assert_eq!(number_between(&[(High, 0)], Medium), None);
        assert_eq!(number_between(&[(Low, 3), (High, 5)], Medium), Some(4));
        let homes = [Low, Medium, High, RealTime].map(|it| number_between(&[], it));
        assert_eq!(homes, [Some(2), Some(6), Some(10), Some(14)]);
        // The place next to home that is free.
        assert_eq!(number_between(&[(Medium, 6)], Medium), Some(5));
        assert_eq!(number_between(&[(Medium, 6), (Medium, 5)], Medium), Some(7));
    }

    #[test]
    fn numbers_are_unique_and_in_order() {
        let mut given: Vec<(Priority, u32)> = Vec::new();
        let mut add = |priority| {
            let number = number_between(&given, priority);
            if let Some(number) = number {
                for (other, taken) in &given {
                    assert_ne!(*taken, number);
                    assert_eq!(other.cmp(&priority), {
                        let order = taken.cmp(&number);
                        if *other == priority {
                            other.cmp(&priority)
                        } else {
                            order
                        }
                    });
                }
                given.push((priority, number));
            }
            number
        };
        for priority in [Medium, Medium, Low, RealTime, High, Medium, High, Low] {
            assert!(add(priority).is_some());
        }
        let full: Vec<_> = (0..NUMBERS).map(|number| (Medium, number)).collect();
        assert_eq!(number_between(&full, High), None);
        assert_eq!((ranked(0), ranked(15)), (15, 0));
    }
}
