//! Backlog: the groups on no slot that something is to be done about, in lists, so that a poll does not look at all others.
//!
//! Ready ones are in a list for each priority, in the order in which they became ready; those that wait for sync objects in
//! another; those that are to end in a third, and those whose memory can be given back in a fourth. A group that sleeps is in none.
//! [`Device::file`] puts a group where it belongs and is called whenever that may have changed.
//! Guarantees: filing costs the same however many groups there are.

use super::Device;
use crate::group::{Group, Residency};
use crate::platform::Platform;
use crate::scheduler::Priority;
use crate::slab::{Key, Slab};

/// A list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filed {
    /// Has work that could go on.
    Ready(Priority),
    /// Was saved while all its work waited for sync objects.
    Blocked,
    /// Has to end.
    Ending,
    /// Was destroyed, and is on no slot: its memory can be given back.
    Gone,
}

const LISTS: usize = 7;

impl Filed {
    const fn index(self) -> usize {
        match self {
            Filed::Ready(priority) => priority as usize,
            Filed::Blocked => 4,
            Filed::Ending => 5,
            Filed::Gone => 6,
        }
    }
}

/// Where a group is in the lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    list: Option<Filed>,
    previous: Option<Key>,
    next: Option<Key>,
}

impl Entry {
    /// In none.
    pub(crate) const NONE: Entry = Entry {
        list: None,
        previous: None,
        next: None,
    };
}

/// First and last of each list.
#[derive(Debug)]
pub(crate) struct Backlog {
    ends: [Option<(Key, Key)>; LISTS],
}

impl Backlog {
    /// Nobody.
    pub(crate) const fn new() -> Backlog {
        Backlog {
            ends: [None; LISTS],
        }
    }

    /// The first of a list.
    pub(crate) fn first(&self, list: Filed) -> Option<Key> {
        let (first, _) = (*self.ends.get(list.index())?)?;
        Some(first)
    }

    /// Whether somebody is ready.
    pub(crate) const fn has_ready(&self) -> bool {
        matches!(&self.ends, [low, medium, high, real_time, ..]
            if low.is_some() || medium.is_some() || high.is_some() || real_time.is_some())
    }

    /// The next of the same list.
    pub(crate) fn after(groups: &Slab<'_, Group>, key: Key) -> Option<Key> {
        groups.get(key)?.backlog.next
    }

    /// Takes a group out of its list, if it is in one.
    fn remove(&mut self, groups: &mut Slab<'_, Group>, key: Key) {
        let Some(group) = groups.get_mut(key) else {
            return;
        };
        let entry = core::mem::replace(&mut group.backlog, Entry::NONE);
        let Some(list) = entry.list else { return };
        if let Some(previous) = entry.previous.and_then(|key| groups.get_mut(key)) {
            previous.backlog.next = entry.next;
        }
        if let Some(next) = entry.next.and_then(|key| groups.get_mut(key)) {
            next.backlog.previous = entry.previous;
        }
        if let Some(ends) = self.ends.get_mut(list.index())
            && let Some((first, last)) = *ends
        {
            let first = if first == key {
                entry.next
            } else {
                Some(first)
            };
            let last = if last == key {
                entry.previous
            } else {
                Some(last)
            };
            *ends = first.zip(last);
        }
    }

    /// Puts a group that is in no list at the end of one.
    fn append(&mut self, groups: &mut Slab<'_, Group>, key: Key, list: Filed) {
        let Some(ends) = self.ends.get_mut(list.index()) else {
            return;
        };
        let previous = ends.map(|(_, last)| last);
        if let Some(previous) = previous.and_then(|key| groups.get_mut(key)) {
            previous.backlog.next = Some(key);
        }
        let first = ends.map_or(key, |(first, _)| first);
        *ends = Some((first, key));
        if let Some(group) = groups.get_mut(key) {
            group.backlog = Entry {
                list: Some(list),
                previous,
                next: None,
            };
        }
    }
}

/// Where a group belongs.
fn belongs(group: &Group) -> Option<Filed> {
    if group.is_destroyed() && group.is_off() {
        return Some(Filed::Gone);
    }
    if !matches!(group.residency, Residency::Off(_)) {
        return None;
    }
    if group.ending.is_some() {
        return Some(Filed::Ending);
    }
    if group.is_ready() {
        return Some(Filed::Ready(group.priority));
    }
    (group.is_blocked() && group.is_busy()).then_some(Filed::Blocked)
}

impl<P: Platform> Device<'_, '_, P> {
    /// Puts a group into the list where it belongs; the next poll looks at everything if that is another than before.
    pub(super) fn file(&mut self, key: Key) {
        let Some(group) = self.groups.get_mut(key) else {
            return;
        };
        let list = belongs(group);
        if list == group.backlog.list {
            return;
        }
        self.restless = true;
        self.backlog.remove(&mut self.groups, key);
        if let Some(list) = list {
            if let (Filed::Ready(_), Some(group)) = (list, self.groups.get_mut(key)) {
                self.stamps = self.stamps.wrapping_add(1);
                group.stamp = self.stamps;
            }
            self.backlog.append(&mut self.groups, key, list);
        }
    }

    /// Takes a group out of the lists that is about to go.
    pub(super) fn unfile(&mut self, key: Key) {
        self.backlog.remove(&mut self.groups, key);
    }

    /// Checks that every group is in the list where it belongs: a change that was not filed would be seen by nobody.
    #[cfg(debug_assertions)]
    pub(super) fn check_backlog(&self) {
        for (key, group) in self.groups.iter() {
            let (is, should) = (group.backlog.list, belongs(group));
            debug_assert_eq!(
                is,
                should,
                "queue {} was not filed: {group:#?}",
                key.index()
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::QueueConfig;
    use crate::testing::firmware::{control_blocks, device, image};
    use std::vec::Vec;

    /// Whatever comes and goes in whatever order.
    #[test]
    fn each_list_holds_who_was_put_there_in_order() {
        let image = image(&control_blocks());
        let mut device = device(&image);
        let make = || device.create_queue(QueueConfig::default()).ok();
        let keys: Vec<Key> = core::iter::from_fn(make).map(|queue| queue.0).collect();
        let lists = [
            Filed::Ready(Priority::Medium),
            Filed::Ready(Priority::High),
            Filed::Blocked,
        ];
        let mut expected: [Vec<Key>; 3] = Default::default();
        let (backlog, groups) = (&mut device.backlog, &mut device.groups);
        let mut random = 7_u64;
        for round in 0..2000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let key = keys[(random >> 33) as usize % keys.len()];
            let which = (random >> 50) as usize % 4;
            backlog.remove(groups, key);
            expected
                .iter_mut()
                .for_each(|all| all.retain(|it| *it != key));
            if let Some(list) = lists.get(which) {
                backlog.append(groups, key, *list);
                expected[which].push(key);
            }
            for (list, expected) in lists.iter().zip(&expected) {
                let next = |key: &Key| Backlog::after(groups, *key);
                let found = core::iter::successors(backlog.first(*list), next);
                assert_eq!(&found.collect::<Vec<_>>(), expected, "round {round}");
            }
        }
    }
}
