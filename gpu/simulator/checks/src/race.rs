//! Data races, by the Vulkan memory model.
//!
//! Must be told: every access to shared memory, buffers and images of a run, every fence, every barrier at which a whole workgroup has
//! met, and the boundaries between dispatches and between them and the host, in an order in which they may have happened.
//! Finds: two accesses to one byte, one of them a write and not both atomic in each other's scope, that nothing orders: no barrier,
//! no release that an acquire has seen, no boundary; or that are ordered while the write was not made available, or not visible.
//! Does not find: races between accesses that this run did not do, and those that a release orders which happened to be seen in this
//! run. Of many readers of one byte a few are kept, from different workgroups where there are such.
//! Facts: hardware/memory-model.md 3 (relations), 3.5 (what follows); two references to one location are taken for one.
use rustc_hash::FxHashMap;

use crate::clock::{Clock, Stamp};
use crate::event::{Access, Agent, Classes, Kind, Order, Reach, Scope};
use crate::history::{Histories, Record};
use crate::knowledge::{Group, Knowledge, Lane, Lanes, Release, Released, within};

/// How much a race is worth telling.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Gravity {
    /// The letter of the model has it, and both ways of reading it have a case: an exchange inside of a workgroup, over a barrier, by
    /// memory that is not coherent or that only a fence before the barrier names.
    Disputed,
    /// All store the same, whatever invocation they are.
    SameValue,
    /// They store the same in this run, by chance as far as is known.
    EqualValue,
    /// Anything may come out.
    Harmful,
}

/// What is missing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// Nothing orders the two.
    Unordered,
    /// Both are atomic, but not in a scope that has both.
    ScopeTooSmall,
    /// The order is there, but one access is private: neither coherent nor NonPrivate.
    Private,
    /// The order is there, but the write was not made available to the other.
    NotAvailable,
    /// The order is there, but the read does not see what is available.
    NotVisible,
}

/// Two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// The earlier one in this run.
    pub first: Party,
    /// The later one.
    pub second: Party,
    /// The memory.
    pub object: u32,
    /// The byte.
    pub offset: u64,
    /// What is missing.
    pub cause: Cause,
    /// How bad it is.
    pub gravity: Gravity,
}

/// One side of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Party {
    /// Who.
    pub agent: Agent,
    /// The instruction.
    pub site: u32,
    /// What it does.
    pub kind: Kind,
    /// Whether it is atomic.
    pub atomic: bool,
}

impl Party {
    fn of(record: &Record) -> Party {
        Party {
            agent: record.agent,
            site: record.site,
            kind: record.kind,
            atomic: record.reach.atomic.is_some(),
        }
    }
}

/// The automaton.
#[derive(Debug, Default)]
pub struct Races {
    histories: Histories,
    groups: FxHashMap<u32, Group>,
    /// By object and byte: the releases that who reads there sees.
    released: FxHashMap<(u32, u64), Vec<Release>>,
    /// Dispatches, and which of them everything from now on comes after.
    epoch: u32,
    ordered_epoch: u32,
}

/// Releases that are kept a place.
const KEPT: usize = 64;

fn index(class: Classes) -> usize {
    (class.0.trailing_zeros() as usize).min(Classes::COUNT - 1)
}

fn each_class(classes: Classes) -> impl Iterator<Item = usize> {
    (0..Classes::COUNT).filter(move |number| classes.0 >> number & 1 != 0)
}

impl Races {
    /// An access; the race that it is in with an earlier one.
    pub fn access(&mut self, access: &Access) -> Option<Race> {
        if access.reach.atomic.is_some() && access.kind != Kind::Read {
            self.release(access);
        }
        let stamp = self.stamp(access.agent);
        let record = Record {
            agent: access.agent,
            stamp,
            epoch: self.epoch,
            kind: access.kind,
            reach: access.reach,
            value: access.value,
            fixed: access.fixed,
            site: access.site,
        };
        let class = index(access.class);
        let mut found: Option<Race> = None;
        let (histories, groups) = (&mut self.histories, &self.groups);
        let ordered_epoch = self.ordered_epoch;
        let view = View {
            group: groups.get(&access.agent.group),
            agent: access.agent,
            class,
            ordered_epoch,
        };
        histories.visit(access, |offset, history, value| {
            let record = Record { value, ..record };
            // Most places are one invocation's: nothing else was done there since.
            if history.is_only_of(&record) {
                return history.replace(record);
            }
            for earlier in history.iter() {
                if let Some((cause, gravity)) = view.races(earlier, &record)
                    && found.is_none_or(|found| found.gravity < gravity)
                {
                    found = Some(Race {
                        first: Party::of(earlier),
                        second: Party::of(&record),
                        object: access.object,
                        offset,
                        cause,
                        gravity,
                    });
                }
            }
            history.add(record, |earlier| view.before(earlier));
        });
        self.see(access);
        found
    }

    /// A fence.
    pub fn fence(&mut self, agent: Agent, order: Order) {
        if order.acquire {
            let seen = self.lane(agent).seen.clone();
            for (class, release) in &seen {
                if order.classes.has(*class) {
                    self.acquire(agent, order, release);
                }
            }
        }
        if order.release {
            let release = self.publish(agent, order);
            let fences = &mut self.lane(agent).fences;
            fences.retain(|fence| fence.scope > order.scope || !order.classes.has(fence.classes));
            fences.push(release);
        }
    }

    /// All invocations of a workgroup have met at a barrier.
    pub fn barrier(&mut self, group: u32, order: Order) {
        let state = self.groups.entry(group).or_default();
        let number = state.barriers + 1;
        // What fences before it have released, fences behind it may acquire.
        let mut fences: Vec<Release> = vec![];
        for lane in state.lanes.values() {
            fences.extend(lane.fences.iter().cloned());
        }
        let full = order.acquire && order.release && order.scope >= Scope::Workgroup;
        let mut joined = Released::default();
        if full {
            for lane in state.lanes.values() {
                for class in each_class(order.classes) {
                    let all = Order {
                        visible: false,
                        ..order
                    };
                    joined[class].join(&lane.known[class], &all, Scope::Workgroup);
                }
            }
            for class in each_class(order.classes) {
                state.ordered[class] = number;
                let known = &mut joined[class];
                known.before.learn_group(group, number);
                if order.available {
                    known.available_group.learn_group(group, number);
                    if order.scope >= Scope::Device {
                        known.available_device.learn_group(group, number);
                    }
                }
                if order.visible {
                    known.make_visible(order.scope);
                }
            }
        }
        state.barriers = number;
        let seen = merged(fences);
        for lane in state.lanes.values_mut() {
            if full {
                for class in each_class(order.classes) {
                    let known = &mut lane.known[class];
                    let own = std::mem::replace(known, joined[class].clone());
                    known.available_subgroup.join(&own.available_subgroup);
                    known.visible_subgroup.join(&own.visible_subgroup);
                    known.visible_group.join(&own.visible_group);
                    known.visible_device.join(&own.visible_device);
                }
            }
            for (classes, release) in &seen {
                keep(&mut lane.seen, (*classes, release.clone()));
            }
        }
    }

    /// Invocations of a subgroup have met at a barrier of it.
    pub fn meet(&mut self, agents: &[Agent], order: Order) {
        if !order.acquire || !order.release {
            return;
        }
        let releases: Vec<Release> = agents
            .iter()
            .map(|agent| self.publish(*agent, order))
            .collect();
        for agent in agents {
            for release in releases.iter().filter(|release| release.by != *agent) {
                self.acquire(*agent, order, release);
            }
        }
    }

    /// A workgroup begins, with its invocations.
    pub fn begin(&mut self, group: u32, agents: impl Iterator<Item = Agent>) {
        self.groups.entry(group).or_default().lanes = Lanes::of(agents);
    }

    /// A workgroup has ended: nothing of it comes any more.
    pub fn end(&mut self, group: u32) {
        self.groups.remove(&group);
    }

    /// What comes now is another dispatch, or the host's. With a dependency of memory all before it happened before all behind it.
    pub fn boundary(&mut self, dependency: bool) {
        self.epoch += 1;
        if dependency {
            self.ordered_epoch = self.epoch;
        }
    }

    /// Forgets a memory, such as the shared one of a workgroup that has ended.
    pub fn forget(&mut self, object: u32) {
        self.histories.forget(object);
        self.released.retain(|(own, _), _| *own != object);
    }

    fn lane(&mut self, agent: Agent) -> &mut Lane {
        let group = self.groups.entry(agent.group).or_default();
        group.lanes.get_or_begin(agent.lane)
    }

    fn stamp(&mut self, agent: Agent) -> Stamp {
        let group = self.groups.entry(agent.group).or_default();
        Stamp {
            group: agent.group,
            lane: agent.lane,
            barrier: group.barriers,
            release: group.lanes.get_or_begin(agent.lane).releases,
        }
    }

    /// What an invocation releases at this point; its own accesses so far are among that.
    fn publish(&mut self, agent: Agent, order: Order) -> Release {
        let lane = self.lane(agent);
        lane.releases += 1;
        let number = lane.releases;
        for class in each_class(order.classes) {
            let known = &mut lane.known[class];
            known.before.learn_lane(agent.lane, number);
            if order.available {
                // What others have made available nearer by goes on with it.
                known.available_subgroup.learn_lane(agent.lane, number);
                if order.scope >= Scope::Workgroup {
                    known.available_group.join(&known.available_subgroup);
                }
                if order.scope >= Scope::Device {
                    known.available_device.join(&known.available_group);
                }
            }
        }
        Release {
            by: agent,
            scope: order.scope,
            classes: order.classes,
            knowledge: std::rc::Rc::new(lane.known.clone()),
        }
    }

    /// What an atomic that writes lets others see.
    fn release(&mut self, access: &Access) {
        let mut releases: Vec<Release> = vec![];
        for fence in &self.lane(access.agent).fences {
            if fence.classes.has(access.class) {
                releases.push(fence.clone());
            }
        }
        if let Some(order) = access.order.filter(|order| order.release) {
            releases.push(self.publish(access.agent, order));
        }
        let kept = self
            .released
            .entry((access.object, access.start))
            .or_default();
        if access.kind == Kind::Write {
            kept.clear();
        }
        kept.retain(|old| releases.iter().all(|new| new.by != old.by));
        kept.extend(releases);
        if kept.len() > KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }

    /// What an access sees of the releases at its place.
    fn see(&mut self, access: &Access) {
        let place = (access.object, access.start);
        if access.reach.atomic.is_none() {
            if access.kind != Kind::Read && !self.released.is_empty() {
                self.released.remove(&place);
            }
            return;
        }
        if access.kind == Kind::Write {
            return;
        }
        let releases = self.released.get(&place).cloned().unwrap_or_default();
        for release in releases.into_iter().filter(|it| it.by != access.agent) {
            if let Some(order) = access.order.filter(|order| order.acquire) {
                self.acquire(access.agent, order, &release);
            }
            keep(&mut self.lane(access.agent).seen, (access.class, release));
        }
    }

    fn acquire(&mut self, agent: Agent, order: Order, release: &Release) {
        let by = release.by;
        if !agent.reaches(by, order.scope) || !by.reaches(agent, release.scope) {
            return;
        }
        let known = &mut self.lane(agent).known;
        let both = Classes(order.classes.0 & release.classes.0);
        for class in each_class(both) {
            known[class].join(&release.knowledge[class], &order, within(agent, by));
        }
    }
}

/// Keeps a release that was seen, once.
fn keep(seen: &mut Vec<(Classes, Release)>, new: (Classes, Release)) {
    let same = |(class, old): &(Classes, Release)| {
        *class == new.0 && std::rc::Rc::ptr_eq(&old.knowledge, &new.1.knowledge)
    };
    if seen.iter().any(same) {
        return;
    }
    if seen.len() >= KEPT {
        seen.remove(0);
    }
    seen.push(new);
}

/// What the fences of a whole workgroup have released, as one release for each scope and choice of classes.
fn merged(fences: Vec<Release>) -> Vec<(Classes, Release)> {
    let mut all: Vec<(Classes, Release)> = vec![];
    for fence in fences {
        let same = |(_, old): &&mut (Classes, Release)| {
            old.scope == fence.scope && old.classes == fence.classes
        };
        match all.iter_mut().find(same) {
            Some((_, old)) => {
                let order = Order {
                    scope: fence.scope,
                    acquire: true,
                    release: true,
                    available: true,
                    visible: false,
                    classes: fence.classes,
                };
                let known = std::rc::Rc::make_mut(&mut old.knowledge);
                for class in each_class(fence.classes) {
                    known[class].join(&fence.knowledge[class], &order, Scope::Workgroup);
                }
            }
            None => all.push((fence.classes, fence)),
        }
    }
    all
}

/// What an access is judged by.
struct View<'g> {
    group: Option<&'g Group>,
    agent: Agent,
    class: usize,
    ordered_epoch: u32,
}

impl View<'_> {
    fn known(&self) -> Option<&Knowledge> {
        let lane = self.group?.lanes.get(self.agent.lane)?;
        Some(&lane.known[self.class])
    }

    /// Whether an earlier access happened before this one.
    fn before(&self, earlier: &Record) -> bool {
        if earlier.agent == self.agent || earlier.epoch < self.ordered_epoch {
            return true;
        }
        let by_barrier = earlier.agent.group == self.agent.group
            && self
                .group
                .is_some_and(|group| group.ordered[self.class] > earlier.stamp.barrier);
        by_barrier
            || self
                .known()
                .is_some_and(|known| known.before.knows(&earlier.stamp))
    }

    /// What is wrong between an earlier access and this one.
    fn races(&self, earlier: &Record, own: &Record) -> Option<(Cause, Gravity)> {
        if earlier.agent == own.agent || earlier.epoch < self.ordered_epoch {
            return None;
        }
        let reads = |record: &Record| record.kind == Kind::Read;
        if reads(earlier) && reads(own) {
            return None;
        }
        let same_value =
            earlier.kind == Kind::Write && own.kind == Kind::Write && earlier.value == own.value;
        let bad = match (same_value, earlier.fixed && own.fixed) {
            (true, true) => Gravity::SameValue,
            (true, false) => Gravity::EqualValue,
            (false, _) => Gravity::Harmful,
        };
        let unordered = match (earlier.reach.atomic, own.reach.atomic) {
            (Some(first), Some(second)) => {
                let in_scope = earlier.agent.reaches(own.agent, first)
                    && own.agent.reaches(earlier.agent, second);
                if in_scope {
                    return None;
                }
                Cause::ScopeTooSmall
            }
            _ => Cause::Unordered,
        };
        let same_group = earlier.agent.group == own.agent.group;
        if !self.before(earlier) {
            return Some(match same_group && self.almost(earlier) {
                true => (Cause::Unordered, Gravity::Disputed),
                false => (unordered, bad),
            });
        }
        if earlier.reach.private || own.reach.private {
            return Some(match same_group {
                true => (Cause::Private, Gravity::Disputed),
                false => (Cause::Private, bad),
            });
        }
        self.reached(earlier, &own.reach, reads(own))
            .map(|cause| (cause, bad))
    }

    /// What is missing for a write that happened before to count here.
    fn reached(&self, earlier: &Record, own: &Reach, reads: bool) -> Option<Cause> {
        if earlier.kind == Kind::Read {
            return None;
        }
        let near = within(earlier.agent, self.agent);
        let covers = |reach: &Reach| {
            let scope = reach.coherent;
            scope.is_some_and(|scope| earlier.agent.reaches(self.agent, scope))
        };
        let known = self.known();
        let knows = |clocks: fn(&Knowledge) -> [(Scope, &Clock); 3]| {
            known.is_some_and(|known| {
                let reach = clocks(known).into_iter();
                reach
                    .filter(|(scope, _)| near <= *scope)
                    .any(|(_, clock)| clock.knows(&earlier.stamp))
            })
        };
        if !covers(&earlier.reach) && !knows(Knowledge::available) {
            return Some(Cause::NotAvailable);
        }
        if reads && !covers(own) && !knows(Knowledge::visible) {
            return Some(Cause::NotVisible);
        }
        None
    }

    /// Whether a fence before a barrier and the barrier would order an access if there were a fence behind it.
    fn almost(&self, earlier: &Record) -> bool {
        let lane = self
            .group
            .and_then(|group| group.lanes.get(self.agent.lane));
        lane.is_some_and(|lane| {
            lane.seen.iter().any(|(_, release)| {
                release.by.group == self.agent.group
                    && release.knowledge[self.class].before.knows(&earlier.stamp)
                    && self
                        .group
                        .is_some_and(|group| group.barriers > earlier.stamp.barrier)
            })
        })
    }
}
