//! The automaton of data races on histories, without a GPU. Names are those of the shapes in hardware/memory-model.md.
use eitri_checks::event::{Access, Agent, Classes, Kind, Order, Reach, Scope};
use eitri_checks::race::{Cause, Gravity, Race, Races};

/// Two lanes of one subgroup, one of another subgroup, one of another workgroup.
const A: Agent = agent(0, 0, 0);
const B: Agent = agent(1, 0, 0);
const C: Agent = agent(16, 1, 0);
const D: Agent = agent(64, 4, 1);

const fn agent(lane: u32, subgroup: u32, group: u32) -> Agent {
    Agent {
        lane,
        subgroup,
        group,
    }
}

const PLAIN: Reach = Reach {
    private: false,
    coherent: None,
    atomic: None,
};
const PRIVATE: Reach = Reach {
    private: true,
    ..PLAIN
};

const fn coherent(scope: Scope) -> Reach {
    Reach {
        coherent: Some(scope),
        ..PLAIN
    }
}

const fn atomic(scope: Scope) -> Reach {
    Reach {
        private: false,
        coherent: Some(scope),
        atomic: Some(scope),
    }
}

/// Acquire and release with all that belongs to them.
const fn both(scope: Scope, classes: Classes) -> Order {
    Order {
        scope,
        acquire: true,
        release: true,
        available: true,
        visible: true,
        classes,
    }
}

const DATA: u64 = 0;
const FLAG: u64 = 64;

fn access(agent: Agent, kind: Kind, start: u64, reach: Reach) -> Access {
    Access {
        agent,
        object: 0,
        class: Classes::BUFFER,
        start,
        bytes: 4,
        kind,
        reach,
        order: None,
        value: u64::from(agent.lane) + 1,
        fixed: true,
        site: agent.lane,
    }
}

/// Data are written, a flag is set and seen, the data are read: who, how, in which order.
struct MessagePassing {
    to: Agent,
    data: [Reach; 2],
    release: Option<Order>,
    acquire: Option<Order>,
    flag: Scope,
}

impl Default for MessagePassing {
    fn default() -> MessagePassing {
        let order = both(Scope::Device, Classes::BUFFER);
        MessagePassing {
            to: D,
            data: [PLAIN; 2],
            release: Some(order),
            acquire: Some(order),
            flag: Scope::Device,
        }
    }
}

impl MessagePassing {
    fn races(&self) -> Vec<Race> {
        let mut races = Races::default();
        let flag = |agent, kind, order| Access {
            order,
            ..access(agent, kind, FLAG, atomic(self.flag))
        };
        let history = [
            access(A, Kind::Write, DATA, self.data[0]),
            flag(A, Kind::Write, self.release),
            flag(self.to, Kind::Read, self.acquire),
            access(self.to, Kind::Read, DATA, self.data[1]),
        ];
        history
            .iter()
            .filter_map(|access| races.access(access))
            .collect()
    }

    #[track_caller]
    fn gives(&self, wanted: &[Cause]) {
        let causes: Vec<Cause> = self.races().iter().map(|race| race.cause).collect();
        assert_eq!(causes, wanted);
    }
}

#[test]
fn a_release_that_an_acquire_has_seen_orders_what_came_before() {
    MessagePassing::default().gives(&[]);
}

#[test]
fn without_release_or_without_acquire_nothing_is_ordered() {
    let default = MessagePassing::default;
    MessagePassing {
        release: None,
        ..default()
    }
    .gives(&[Cause::Unordered]);
    MessagePassing {
        acquire: None,
        ..default()
    }
    .gives(&[Cause::Unordered]);
}

#[test]
fn availability_and_visibility_are_both_needed() {
    let order = both(Scope::Device, Classes::BUFFER);
    let default = MessagePassing::default;
    MessagePassing {
        release: Some(Order {
            available: false,
            ..order
        }),
        ..default()
    }
    .gives(&[Cause::NotAvailable]);
    MessagePassing {
        acquire: Some(Order {
            visible: false,
            ..order
        }),
        ..default()
    }
    .gives(&[Cause::NotVisible]);
    // What the accesses themselves make available and visible needs nothing of the flag.
    let bare = Some(Order {
        available: false,
        visible: false,
        ..order
    });
    MessagePassing {
        data: [coherent(Scope::Device); 2],
        release: bare,
        acquire: bare,
        ..default()
    }
    .gives(&[]);
    MessagePassing {
        data: [coherent(Scope::Workgroup); 2],
        release: bare,
        acquire: bare,
        ..default()
    }
    .gives(&[Cause::NotAvailable]);
}

#[test]
fn a_scope_that_has_not_both_orders_nothing() {
    let narrow = Some(both(Scope::Workgroup, Classes::BUFFER));
    let of = |to| MessagePassing {
        to,
        release: narrow,
        acquire: narrow,
        flag: Scope::Workgroup,
        ..MessagePassing::default()
    };
    of(C).gives(&[]);
    of(D).gives(&[Cause::ScopeTooSmall, Cause::Unordered]);
}

#[test]
fn semantics_order_the_memories_that_they_name() {
    let other = Some(both(Scope::Device, Classes::IMAGE));
    MessagePassing {
        release: other,
        acquire: other,
        ..MessagePassing::default()
    }
    .gives(&[Cause::Unordered]);
}

#[test]
fn private_accesses_are_ordered_by_nothing() {
    let found = MessagePassing {
        data: [PRIVATE; 2],
        ..MessagePassing::default()
    };
    found.gives(&[Cause::Private]);
    assert_eq!(found.races()[0].gravity, Gravity::Harmful);
}

#[test]
fn fences_around_relaxed_atomics_order_as_they_do() {
    let order = both(Scope::Device, Classes::BUFFER);
    for (before, behind, wanted) in [(true, true, 0), (true, false, 1), (false, true, 1)] {
        let mut races = Races::default();
        let mut found = 0;
        let mut tell = |races: &mut Races, access: Access| {
            found += usize::from(races.access(&access).is_some());
        };
        tell(&mut races, access(A, Kind::Write, DATA, PLAIN));
        if before {
            races.fence(A, order);
        }
        tell(
            &mut races,
            access(A, Kind::Update, FLAG, atomic(Scope::Device)),
        );
        tell(
            &mut races,
            access(D, Kind::Update, FLAG, atomic(Scope::Device)),
        );
        if behind {
            races.fence(D, order);
        }
        tell(&mut races, access(D, Kind::Read, DATA, PLAIN));
        assert_eq!(found, wanted, "fence before: {before}, behind: {behind}");
    }
}

#[test]
fn a_read_modify_write_goes_on_with_a_release_and_a_store_does_not() {
    let order = Some(both(Scope::Device, Classes::BUFFER));
    for (kind, wanted) in [(Kind::Update, 0), (Kind::Write, 1)] {
        let mut races = Races::default();
        let history = [
            access(A, Kind::Write, DATA, PLAIN),
            Access {
                order,
                ..access(A, Kind::Write, FLAG, atomic(Scope::Device))
            },
            access(B, kind, FLAG, atomic(Scope::Device)),
            Access {
                order,
                ..access(D, Kind::Read, FLAG, atomic(Scope::Device))
            },
            access(D, Kind::Read, DATA, PLAIN),
        ];
        let found = history
            .iter()
            .filter_map(|access| races.access(access))
            .count();
        assert_eq!(found, wanted, "{kind:?}");
    }
}

/// Starts a workgroup of the three lanes.
fn group() -> Races {
    let mut races = Races::default();
    races.begin(0, [A, B, C].into_iter());
    races
}

#[test]
fn lanes_of_a_subgroup_are_ordered_by_a_barrier_and_by_nothing_else() {
    for barrier in [false, true] {
        let mut races = group();
        assert_eq!(races.access(&access(A, Kind::Write, DATA, PLAIN)), None);
        if barrier {
            races.barrier(0, both(Scope::Workgroup, Classes::BUFFER));
        }
        let race = races.access(&access(B, Kind::Read, DATA, PLAIN));
        assert_eq!(race.is_some(), !barrier);
        if let Some(race) = race {
            assert_eq!((race.first.site, race.second.site), (A.lane, B.lane));
            assert_eq!(
                (race.first.kind, race.second.kind),
                (Kind::Write, Kind::Read)
            );
        }
    }
}

#[test]
fn a_barrier_orders_the_memories_that_it_names() {
    let mut races = group();
    races.access(&access(A, Kind::Write, DATA, PLAIN));
    races.barrier(0, both(Scope::Workgroup, Classes::SHARED));
    let race = races.access(&access(C, Kind::Read, DATA, PLAIN));
    assert_eq!(race.map(|race| race.gravity), Some(Gravity::Harmful));
}

#[test]
fn fences_before_and_behind_a_barrier_order_what_it_does_not_name() {
    for (behind, wanted) in [(true, None), (false, Some(Gravity::Disputed))] {
        let mut races = group();
        let fence = both(Scope::Device, Classes::BUFFER);
        races.access(&access(A, Kind::Write, DATA, PLAIN));
        [A, B, C]
            .into_iter()
            .for_each(|agent| races.fence(agent, fence));
        races.barrier(0, both(Scope::Workgroup, Classes::SHARED));
        if behind {
            [A, B, C]
                .into_iter()
                .for_each(|agent| races.fence(agent, fence));
        }
        let race = races.access(&access(C, Kind::Read, DATA, PLAIN));
        assert_eq!(race.map(|race| race.gravity), wanted);
    }
}

#[test]
fn a_barrier_does_not_order_another_workgroup() {
    let mut races = group();
    races.access(&access(A, Kind::Write, DATA, PLAIN));
    races.barrier(0, both(Scope::Device, Classes::BUFFER));
    assert!(races.access(&access(D, Kind::Read, DATA, PLAIN)).is_some());
}

#[test]
fn bytes_side_by_side_are_no_race_and_the_same_byte_is() {
    let mut races = Races::default();
    let byte = |agent, start| Access {
        bytes: 1,
        ..access(agent, Kind::Write, start, PLAIN)
    };
    assert_eq!(races.access(&byte(A, 0)), None);
    assert_eq!(races.access(&byte(B, 1)), None);
    assert!(races.access(&byte(C, 1)).is_some());
    // A word over both races with each.
    let race = races.access(&access(D, Kind::Write, 0, PLAIN));
    assert_eq!(race.map(|race| race.second.agent), Some(D));
}

#[test]
fn stores_of_the_same_value_are_told_apart() {
    let mut races = Races::default();
    let one = |agent| Access {
        value: 1,
        ..access(agent, Kind::Write, DATA, PLAIN)
    };
    races.access(&one(A));
    let race = races.access(&one(B));
    assert_eq!(race.map(|race| race.gravity), Some(Gravity::SameValue));
    let by_chance = Access {
        fixed: false,
        ..one(C)
    };
    let race = races.access(&by_chance);
    assert_eq!(race.map(|race| race.gravity), Some(Gravity::EqualValue));
    let race = races.access(&access(C, Kind::Read, DATA, PLAIN));
    assert_eq!(race.map(|race| race.gravity), Some(Gravity::Harmful));
}

#[test]
fn an_atomic_races_with_a_plain_access_and_not_with_another_atomic() {
    let mut races = Races::default();
    let update = |agent| access(agent, Kind::Update, DATA, atomic(Scope::Device));
    assert_eq!(races.access(&update(A)), None);
    assert_eq!(races.access(&update(D)), None);
    let race = races.access(&access(B, Kind::Read, DATA, PLAIN));
    assert!(race.is_some_and(|race| race.first.atomic && !race.second.atomic));
}

#[test]
fn a_write_behind_many_readers_is_a_race_with_one_of_them() {
    let mut races = Races::default();
    for lane in 0..1000 {
        let reader = agent(lane, lane / 16, lane / 64);
        assert_eq!(races.access(&access(reader, Kind::Read, DATA, PLAIN)), None);
    }
    let race = races.access(&access(agent(5, 0, 0), Kind::Write, DATA, PLAIN));
    assert!(race.is_some());
}

#[test]
fn dispatches_and_the_host_are_ordered_by_a_dependency_between_them() {
    for dependency in [false, true] {
        let mut races = Races::default();
        races.access(&access(Agent::HOST, Kind::Write, DATA, PRIVATE));
        races.boundary(dependency);
        let first = races
            .access(&access(A, Kind::Write, DATA, PRIVATE))
            .is_some();
        races.boundary(dependency);
        let next = agent(1000, 100, 10);
        let second = races
            .access(&access(next, Kind::Read, DATA, PRIVATE))
            .is_some();
        races.boundary(dependency);
        let host = races
            .access(&access(Agent::HOST, Kind::Read, DATA, PRIVATE))
            .is_some();
        assert_eq!(
            (first, second, host),
            (!dependency, !dependency, !dependency)
        );
    }
}

#[test]
fn a_barrier_of_the_subgroup_orders_its_lanes_alone() {
    let mut races = group();
    races.access(&access(A, Kind::Write, DATA, PLAIN));
    races.meet(&[A, B], both(Scope::Subgroup, Classes::BUFFER));
    assert_eq!(races.access(&access(B, Kind::Read, DATA, PLAIN)), None);
    assert!(races.access(&access(C, Kind::Read, DATA, PLAIN)).is_some());
}
