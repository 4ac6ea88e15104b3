//! Knowledge: what invocations and workgroups know of the accesses of others, and what they have released.
//!
//! Facts: hardware/memory-model.md 3.
use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::event::{Agent, Classes, Order, Scope};

/// What is known of accesses of one class of memory: more in each than in the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    /// They happened before.
    pub(crate) before: Clock,
    /// What they wrote is available to the subgroup.
    pub(crate) available_subgroup: Clock,
    /// What they wrote is available to the workgroup.
    pub(crate) available_group: Clock,
    /// What they wrote is available to the device.
    pub(crate) available_device: Clock,
    /// What is available to the subgroup is visible here.
    pub(crate) visible_subgroup: Clock,
    /// What is available to the workgroup is visible here.
    pub(crate) visible_group: Clock,
    /// What is available to the device is visible here.
    pub(crate) visible_device: Clock,
}

impl Knowledge {
    /// Learns what another invocation knows, which is in the same subgroup, the same workgroup, or further away.
    pub(crate) fn join(&mut self, other: &Knowledge, order: &Order, within: Scope) {
        self.before.join(&other.before);
        self.available_device.join(&other.available_device);
        if within <= Scope::Subgroup {
            self.available_subgroup.join(&other.available_subgroup);
            self.visible_group.join(&other.visible_group);
        }
        if within <= Scope::Workgroup {
            self.available_group.join(&other.available_group);
            self.visible_device.join(&other.visible_device);
        }
        if order.visible {
            self.make_visible(order.scope);
        }
    }

    pub(crate) fn available(&self) -> [(Scope, &Clock); 3] {
        [
            (Scope::Subgroup, &self.available_subgroup),
            (Scope::Workgroup, &self.available_group),
            (Scope::Device, &self.available_device),
        ]
    }

    pub(crate) fn visible(&self) -> [(Scope, &Clock); 3] {
        [
            (Scope::Subgroup, &self.visible_subgroup),
            (Scope::Workgroup, &self.visible_group),
            (Scope::Device, &self.visible_device),
        ]
    }

    pub(crate) fn make_visible(&mut self, scope: Scope) {
        let before = self.before.clone();
        self.visible_subgroup.join(&before);
        if scope >= Scope::Workgroup {
            self.visible_group.join(&before);
        }
        if scope >= Scope::Device {
            self.visible_device.join(&before);
        }
    }
}

/// What somebody has released, by class.
pub(crate) type Released = [Knowledge; Classes::COUNT];

/// A release that others may see by reading from an atomic.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    pub(crate) by: Agent,
    pub(crate) scope: Scope,
    pub(crate) classes: Classes,
    pub(crate) knowledge: std::rc::Rc<Released>,
}

/// An invocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    pub(crate) releases: u32,
    pub(crate) known: Released,
    /// What its last fences have released, for the atomics behind them.
    pub(crate) fences: Vec<Release>,
    /// What relaxed atomics have seen, for the fences behind them: with the class of the atomic.
    pub(crate) seen: Vec<(Classes, Release)>,
}

/// A workgroup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) barriers: u32,
    /// By class, how many barriers have ordered it.
    pub(crate) ordered: [u32; Classes::COUNT],
    pub(crate) lanes: Lanes,
}

/// Invocations of a workgroup by their numbers, which mostly follow each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    /// The number of the first of `row`.
    first: u32,
    row: Vec<Lane>,
    /// Those that are outside of the row.
    others: FxHashMap<u32, Lane>,
}

impl Lanes {
    /// Those of a workgroup that begins.
    pub(crate) fn of(agents: impl Iterator<Item = Agent>) -> Lanes {
        let mut lanes = Lanes::default();
        for agent in agents {
            if lanes.row.is_empty() {
                lanes.first = agent.lane;
            }
            match u32::try_from(lanes.row.len()) {
                Ok(next) if agent.lane.wrapping_sub(lanes.first) == next => {
                    lanes.row.push(Lane::default());
                }
                _ => {
                    lanes.others.insert(agent.lane, Lane::default());
                }
            }
        }
        lanes
    }

    pub(crate) fn get(&self, lane: u32) -> Option<&Lane> {
        let place = lane.wrapping_sub(self.first) as usize;
        self.row.get(place).or_else(|| self.others.get(&lane))
    }

    pub(crate) fn get_or_begin(&mut self, lane: u32) -> &mut Lane {
        let place = lane.wrapping_sub(self.first) as usize;
        match self.row.get_mut(place) {
            Some(own) => own,
            None => self.others.entry(lane).or_default(),
        }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Lane> {
        self.row.iter().chain(self.others.values())
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Lane> {
        self.row.iter_mut().chain(self.others.values_mut())
    }
}

/// The smallest scope that has both.
pub(crate) fn within(a: Agent, b: Agent) -> Scope {
    if a.reaches(b, Scope::Subgroup) {
        Scope::Subgroup
    } else if a.reaches(b, Scope::Workgroup) {
        Scope::Workgroup
    } else {
        Scope::Device
    }
}
