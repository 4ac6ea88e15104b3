//! Clocks: which accesses of others an invocation knows to have happened.
//!
//! An access is stamped with the invocation, the number of its barrier and the number of its release. A clock knows all accesses of a
//! workgroup before a barrier, and all of an invocation before a release: the first needs one entry for as many as 1024 invocations.
use std::rc::Rc;

/// When an access happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub(crate) group: u32,
    pub(crate) lane: u32,
    /// Barriers that the workgroup had passed.
    pub(crate) barrier: u32,
    /// Releases that the invocation had done.
    pub(crate) release: u32,
}

/// Pairs of a number and what is known of it, ordered by the number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Known(Vec<(u32, u32)>);

impl Known {
    fn get(&self, of: u32) -> u32 {
        match self.0.binary_search_by_key(&of, |(own, _)| *own) {
            Ok(at) => self.0[at].1,
            Err(_) => 0,
        }
    }

    fn raise(&mut self, of: u32, to: u32) {
        match self.0.binary_search_by_key(&of, |(own, _)| *own) {
            Ok(at) => self.0[at].1 = self.0[at].1.max(to),
            Err(at) => self.0.insert(at, (of, to)),
        }
    }

    fn covers(&self, other: &Known) -> bool {
        other.0.iter().all(|(of, to)| self.get(*of) >= *to)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Entries {
    groups: Known,
    lanes: Known,
}

/// A set of accesses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Clock(Option<Rc<Entries>>);

impl Clock {
    /// Whether it knows an access.
    pub(crate) fn knows(&self, stamp: &Stamp) -> bool {
        self.0.as_ref().is_some_and(|entries| {
            entries.groups.get(stamp.group) > stamp.barrier
                || entries.lanes.get(stamp.lane) > stamp.release
        })
    }

    /// Whether it knows of nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many invocations and workgroups it knows of.
    pub(crate) fn len(&self) -> usize {
        let entries = self.0.as_ref();
        entries.map_or(0, |entries| entries.groups.0.len() + entries.lanes.0.len())
    }

    /// Learns of all accesses of a workgroup before its barrier with that number.
    pub(crate) fn learn_group(&mut self, group: u32, barriers: u32) {
        let entries = self.0.get_or_insert_default();
        if entries.groups.get(group) < barriers {
            Rc::make_mut(entries).groups.raise(group, barriers);
        }
    }

    /// Learns of all accesses of an invocation before its release with that number.
    pub(crate) fn learn_lane(&mut self, lane: u32, releases: u32) {
        let entries = self.0.get_or_insert_default();
        if entries.lanes.get(lane) < releases {
            Rc::make_mut(entries).lanes.raise(lane, releases);
        }
    }

    /// Learns of all that another clock knows.
    pub(crate) fn join(&mut self, other: &Clock) {
        let (Some(own), Some(others)) = (&mut self.0, &other.0) else {
            if self.0.is_none() {
                self.0.clone_from(&other.0);
            }
            return;
        };
        if Rc::ptr_eq(own, others)
            || own.groups.covers(&others.groups) && own.lanes.covers(&others.lanes)
        {
            return;
        }
        let own = Rc::make_mut(own);
        for (of, to) in &others.groups.0 {
            own.groups.raise(*of, *to);
        }
        for (of, to) in &others.lanes.0 {
            own.lanes.raise(*of, *to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Stamp};

    #[test]
    fn a_clock_knows_what_it_has_learnt_and_what_those_knew_that_it_joined() {
        let stamp = |group, lane, barrier, release| Stamp {
            group,
            lane,
            barrier,
            release,
        };
        let mut clock = Clock::default();
        clock.learn_group(1, 2);
        let mut other = Clock::default();
        other.learn_lane(70, 1);
        clock.join(&other);
        for (access, known) in [
            (stamp(1, 16, 1, 0), true),
            (stamp(1, 16, 2, 0), false),
            (stamp(2, 70, 5, 0), true),
            (stamp(2, 70, 5, 1), false),
            (stamp(2, 71, 0, 0), false),
        ] {
            assert_eq!(clock.knows(&access), known, "{access:?}");
        }
        assert!(!other.knows(&stamp(1, 16, 1, 0)));
    }
}
