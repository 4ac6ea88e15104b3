//! Stream interfaces: which streams the hardware executes now. There are fewer than streams; the firmware shares them out.
//!
//! Guarantees: among streams of the highest priority that can go on, each gets its turn.
//!
//! Facts: hardware/csf-scheduling.md 1, csf-mmio.md 14.

use alloc::vec::Vec;

/// Turns on an interface after which a stream of the same priority may have it.
const SLICE: u32 = 8;

/// A stream, by its slot and its number there.
pub(super) type Name = (u8, u8);

/// A stream that wants an interface, or has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) name: Name,
    /// That of its group, then its own; higher goes first.
    pub(super) priority: (u32, u32),
    /// Whether it could execute an instruction.
    pub(super) can_step: bool,
}

/// A stream on an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Resident {
    candidate: Candidate,
    turns: u32,
}

/// The interfaces.
#[derive(Clone, Debug, Default)]
pub(super) struct Interfaces {
    on: Vec<Option<Resident>>,
    /// When each stream lost its interface, as a running number; the longest ago goes first.
    left: Vec<(Name, u64)>,
    clock: u64,
}

impl Interfaces {
    /// Gives `count` interfaces to streams. A stream that waits keeps its place until another needs it.
    // FACT: how the firmware shares interfaces among streams is not published, beyond that priorities order groups and
    // streams (hardware/csf-firmware.md 9 and 10). Settled by the firmware's timeline trace of more than four busy streams
    // on any board.
    pub(super) fn share(&mut self, count: usize, candidates: &[Candidate]) {
        self.on.resize(count, None);
        for place in &mut self.on {
            *place = place.and_then(|resident| {
                let name = resident.candidate.name;
                let candidate = *candidates.iter().find(|it| it.name == name)?;
                Some(Resident {
                    candidate,
                    ..resident
                })
            });
        }
        let mut waiting: Vec<Candidate> = candidates.to_vec();
        waiting.retain(|it| it.can_step && self.place(it.name).is_none());
        waiting.sort_by_key(|it| (core::cmp::Reverse(it.priority), self.left_at(it.name)));
        for candidate in waiting {
            let Some(index) = self.place_for(candidate) else {
                break;
            };
            if let Some(displaced) = self.on[index] {
                self.leave(displaced.candidate.name);
            }
            self.on[index] = Some(Resident {
                candidate,
                turns: 0,
            });
        }
    }

    /// The interface that a stream may have: a free one, one whose stream waits, one of lower priority, or one whose stream
    /// of the same priority has had its slice.
    fn place_for(&self, candidate: Candidate) -> Option<usize> {
        let gives_way = |resident: &Resident| {
            let other = resident.candidate;
            !other.can_step
                || other.priority < candidate.priority
                || other.priority == candidate.priority && resident.turns >= SLICE
        };
        let free = self.on.iter().position(Option::is_none);
        free.or_else(|| {
            let taken = self.on.iter().enumerate();
            let residents = taken.filter_map(|(index, place)| Some((index, (*place)?)));
            let (index, _) = residents
                .filter(|(_, resident)| gives_way(resident))
                .min_by_key(|(_, resident)| {
                    (resident.candidate.can_step, resident.candidate.priority)
                })?;
            Some(index)
        })
    }

    fn left_at(&self, name: Name) -> u64 {
        let found = self.left.iter().find(|(other, _)| *other == name);
        found.map_or(0, |(_, time)| *time)
    }

    fn leave(&mut self, name: Name) {
        self.clock += 1;
        let now = self.clock;
        match self.left.iter_mut().find(|(other, _)| *other == name) {
            Some((_, time)) => *time = now,
            // At most one entry a stream of the interface.
            None => self.left.push((name, now)),
        }
    }

    fn place(&self, name: Name) -> Option<usize> {
        let has = |place: &Option<Resident>| place.is_some_and(|it| it.candidate.name == name);
        self.on.iter().position(has)
    }

    /// The streams on the interfaces, by interface.
    pub(super) fn residents(&self) -> impl Iterator<Item = (usize, Name)> + '_ {
        let taken = self.on.iter().enumerate();
        taken.filter_map(|(index, place)| Some((index, place.as_ref()?.candidate.name)))
    }

    /// How many interfaces there are.
    pub(super) fn len(&self) -> usize {
        self.on.len()
    }

    /// The stream on an interface has its turn.
    pub(super) fn turn(&mut self, index: usize) -> Option<Name> {
        let resident = self.on.get_mut(index)?.as_mut()?;
        resident.turns = resident.turns.saturating_add(1);
        Some(resident.candidate.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(slot: u8, number: u8, priority: (u32, u32)) -> Candidate {
        Candidate {
            name: (slot, number),
            priority,
            can_step: true,
        }
    }

    fn names(interfaces: &Interfaces) -> Vec<Name> {
        interfaces.residents().map(|(_, name)| name).collect()
    }

    #[test]
    fn the_highest_priorities_are_on_the_hardware() {
        let mut interfaces = Interfaces::default();
        let low: Vec<_> = (0..4).map(|number| stream(0, number, (1, 0))).collect();
        interfaces.share(4, &low);
        assert_eq!(names(&interfaces).len(), 4);
        let mut all = low.clone();
        all.extend([stream(1, 0, (9, 0)), stream(1, 1, (9, 5))]);
        interfaces.share(4, &all);
        let on = names(&interfaces);
        assert!(on.contains(&(1, 0)) && on.contains(&(1, 1)), "{on:?}");
        assert_eq!(on.iter().filter(|(slot, _)| *slot == 0).count(), 2);
    }

    #[test]
    fn streams_of_one_priority_take_turns() {
        let mut interfaces = Interfaces::default();
        let six: Vec<_> = (0..6).map(|number| stream(0, number, (3, 1))).collect();
        let mut turns = [0; 6];
        for _ in 0..600 {
            interfaces.share(4, &six);
            for index in 0..interfaces.len() {
                let (_, number) = interfaces.turn(index).expect("all are taken");
                turns[usize::from(number)] += 1;
            }
        }
        assert!(turns.iter().all(|&turns| turns > 300), "{turns:?}");
    }

    #[test]
    fn a_stream_that_waits_keeps_its_place_until_another_needs_it() {
        let mut interfaces = Interfaces::default();
        let waits = Candidate {
            can_step: false,
            ..stream(0, 0, (9, 0))
        };
        interfaces.share(1, &[stream(0, 0, (9, 0))]);
        interfaces.share(1, &[waits]);
        assert_eq!(names(&interfaces), [(0, 0)]);
        interfaces.share(1, &[waits, stream(0, 1, (1, 0))]);
        assert_eq!(names(&interfaces), [(0, 1)]);
        interfaces.share(1, &[]);
        assert_eq!(names(&interfaces), []);
    }
}
