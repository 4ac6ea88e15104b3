//! The automaton of races in machine code on histories, without a GPU.
use eitri_checks::code_race::{Act, Certainty, CodeRaces, Lane, Memory, Message, Party, Race};

/// What a warp does.
#[derive(Clone, Copy)]
struct Does {
    group: u32,
    warp: u32,
    /// Lanes that run.
    running: u16,
    joined: u32,
    site: u32,
    act: Act,
    may_be_atomic: bool,
    memory: Memory,
    /// First byte of the first lane; that of the next lies `step` bytes further.
    start: u64,
    step: u64,
    bytes: u8,
    value: u128,
}

const READ: Does = Does {
    group: 0,
    warp: 0,
    running: 1,
    joined: 1,
    site: 0,
    act: Act::Read,
    may_be_atomic: true,
    memory: Memory::Shared,
    start: 0x40,
    step: 4,
    bytes: 4,
    value: 0,
};

impl Does {
    const fn writes(self, value: u128) -> Does {
        Does {
            act: Act::Write,
            value,
            ..self
        }
    }

    const fn atomic(self) -> Does {
        Does {
            act: Act::Atomic,
            ..self
        }
    }

    const fn by(self, group: u32, warp: u32, site: u32) -> Does {
        Does {
            group,
            warp,
            site,
            ..self
        }
    }

    const fn at(self, start: u64) -> Does {
        Does { start, ..self }
    }

    /// By all lanes of the warp, a word each.
    const fn by_all(self) -> Does {
        Does {
            running: u16::MAX,
            ..self
        }
    }

    const fn in_global(self) -> Does {
        Does {
            memory: Memory::Global,
            ..self
        }
    }
}

/// What happens.
#[derive(Clone, Copy)]
enum Step {
    Message(Does),
    Barrier(u32),
    End(u32),
}

use Step::{Barrier, End, Message as Sends};

fn tell(races: &mut CodeRaces, does: Does) {
    let lanes: Vec<Lane> = (0..16u8)
        .filter(|lane| does.running >> lane & 1 != 0)
        .enumerate()
        .map(|(number, lane)| Lane {
            lane,
            memory: does.memory,
            start: does.start + number as u64 * does.step,
            bytes: does.bytes,
            value: does.value + u128::from(lane),
        })
        .collect();
    races.message(&Message {
        group: does.group,
        warp: does.warp,
        running: does.running,
        joined: does.joined,
        act: does.act,
        may_be_atomic: does.may_be_atomic,
        site: does.site,
        lanes: &lanes,
    });
}

fn after(steps: &[Step]) -> Vec<Race> {
    let mut races = CodeRaces::default();
    for step in steps {
        match *step {
            Sends(does) => tell(&mut races, does),
            Barrier(group) => races.barrier(group),
            End(group) => races.end(group),
        }
    }
    races.races().collect()
}

/// The certainty of each race.
#[track_caller]
fn check(steps: &[Step], expected: &[Certainty]) {
    let races = after(steps);
    let found: Vec<Certainty> = races.iter().map(|race| race.certainty).collect();
    assert_eq!(found, expected, "{races:?}");
}

const W: Does = READ.writes(7);

#[test]
fn warps_of_a_workgroup_are_ordered_by_a_barrier() {
    let write = W.by_all().by(0, 0, 0);
    let read = READ.by_all().by(0, 1, 1);
    check(&[Sends(write), Sends(read)], &[Certainty::Certain]);
    check(&[Sends(read), Sends(write)], &[Certainty::Certain]);
    check(&[Sends(write), Barrier(0), Sends(read)], &[]);
    check(
        &[Sends(write), Barrier(1), Sends(read)],
        &[Certainty::Certain],
    );
}

#[test]
fn a_race_names_both_sides_and_the_word() {
    let steps = [
        Sends(W.by_all().by(0, 0, 3)),
        Sends(READ.by_all().at(0x44).by(0, 1, 5)),
    ];
    let races = after(&steps);
    let [race] = races.as_slice() else {
        panic!("{races:?}")
    };
    let party = |warp, lane, site, act| Party {
        group: 0,
        warp,
        lane,
        site,
        act,
    };
    assert_eq!(race.first, party(0, 1, 3, Act::Write));
    assert_eq!(race.second, party(1, 0, 5, Act::Read));
    assert_eq!((race.memory, race.start), (Memory::Shared, 0x44));
    assert_eq!(race.count, 1, "what a warp has seen, it has seen all of");
}

#[test]
fn shared_memory_is_that_of_the_workgroup() {
    check(&[Sends(W), Sends(READ.by(1, 1, 1))], &[]);
    check(&[Sends(W), End(0), Sends(W.by(0, 1, 1))], &[]);
}

#[test]
fn workgroups_are_ordered_by_no_barrier() {
    let write = W.in_global().by_all();
    let read = READ.in_global().by_all().by(1, 1, 1);
    let steps = [Sends(write), Barrier(0), Barrier(1), Sends(read)];
    check(&steps, &[Certainty::Certain]);
}

#[test]
fn what_may_be_an_atomic_load_or_store_is_less_certain() {
    // One word of one lane: within a workgroup, and between two.
    check(&[Sends(W), Sends(READ.by(0, 1, 1))], &[Certainty::Likely]);
    let (write, read) = (W.in_global(), READ.in_global().by(1, 1, 1));
    check(&[Sends(write), Sends(read)], &[Certainty::Doubtful]);
    // Of bytes, halves and vectors there are no atomics.
    let narrow = Does {
        may_be_atomic: false,
        bytes: 1,
        ..read
    };
    check(&[Sends(write), Sends(narrow)], &[Certainty::Certain]);
}

#[test]
fn atomics_are_no_races_and_order_what_is_around_them() {
    let flag = READ.in_global().at(0x80).atomic();
    let data = W.in_global().by_all().at(0x1000);
    let read = READ.in_global().by_all().at(0x1000).by(1, 1, 3);
    let steps = [
        Sends(data),
        Sends(flag.by(0, 0, 1)),
        Sends(flag.by(1, 1, 2)),
        Sends(read),
    ];
    check(&steps, &[]);
    // The other way round nothing was seen.
    let steps = [
        Sends(flag.by(1, 1, 2)),
        Sends(data),
        Sends(flag.by(0, 0, 1)),
        Sends(read),
    ];
    check(&steps, &[Certainty::Certain]);
}

#[test]
fn what_a_warp_knows_its_workgroup_knows_behind_a_barrier() {
    let flag = READ.in_global().at(0x80).atomic();
    let steps = [
        Sends(W.in_global().by_all().at(0x1000)),
        Sends(flag.by(0, 0, 1)),
        Sends(flag.by(1, 4, 2)),
        Sends(READ.by(1, 5, 4)),
        Barrier(1),
        Sends(READ.in_global().by_all().at(0x1000).by(1, 5, 3)),
    ];
    check(&steps, &[]);
}

#[test]
fn a_word_with_atomics_may_be_loaded_and_stored_atomically() {
    let lock = READ.in_global().at(0x80);
    let steps = [
        Sends(lock.atomic().by(0, 0, 0)),
        Sends(W.in_global().by_all().at(0x1000).by(0, 0, 1)),
        Sends(lock.writes(0).by(0, 0, 2)),
        Sends(lock.atomic().by(1, 1, 0)),
        Sends(W.in_global().by_all().at(0x1000).by(1, 1, 1)),
    ];
    check(&steps, &[]);
    // An array that is filled beside atomics on it is none.
    let steps = [
        Sends(W.by_all().by(0, 0, 0)),
        Sends(READ.atomic().by(0, 1, 1)),
    ];
    check(&steps, &[Certainty::Likely]);
}

#[test]
fn a_load_that_waits_for_a_store_is_atomic_and_so_is_the_store() {
    let flag = READ.in_global().at(0x80);
    let data = W.in_global().by_all().at(0x1000);
    let steps = [
        Sends(flag.by(1, 1, 2)),
        Sends(flag.by(1, 1, 2)),
        Sends(data.by(0, 0, 0)),
        Sends(flag.writes(1).by(0, 0, 1)),
        Sends(flag.by(1, 1, 2)),
        Sends(READ.in_global().by_all().at(0x1000).by(1, 1, 3)),
    ];
    check(&steps, &[]);
}

#[test]
fn stores_of_the_same_value_are_doubtful() {
    let same = [Sends(W.by(0, 0, 0)), Sends(W.by(0, 1, 0))];
    check(&same, &[Certainty::Doubtful]);
    assert!(after(&same)[0].same_value);
    let other = [Sends(W.by(0, 0, 0)), Sends(W.writes(8).by(0, 1, 0))];
    check(&other, &[Certainty::Likely]);
}

#[test]
fn lanes_that_run_together_are_ordered() {
    // All lanes store, then all load the word of another.
    let steps = [Sends(W.by_all()), Sends(READ.by_all().at(0x44).by(0, 0, 1))];
    check(&steps, &[]);
}

#[test]
fn lanes_of_one_message_that_store_to_one_word_race() {
    let all_to_one = Does {
        step: 0,
        ..W.by_all()
    };
    check(&[Sends(all_to_one)], &[Certainty::Likely]);
    // The next round of a loop is another message.
    let round = |running| Sends(Does { running, ..W });
    check(&[round(1), round(2)], &[Certainty::Likely]);
    let together = |running| {
        Sends(Does {
            running,
            step: 64,
            ..W
        })
    };
    check(&[together(3), together(3)], &[]);
}

#[test]
fn lanes_that_have_gone_apart_race_until_they_have_run_together() {
    let lanes = |running, joined, does: Does| {
        Sends(Does {
            running,
            joined,
            ..does
        })
    };
    let other = READ.by(0, 0, 1);
    check(
        &[lanes(0b01, 1, W), lanes(0b10, 1, other)],
        &[Certainty::Likely],
    );
    check(&[lanes(0b01, 1, W), lanes(0b10, 2, other)], &[]);
    check(&[lanes(0b01, 1, W), lanes(0b11, 1, other)], &[]);
    check(&[lanes(0b01, 1, W), Barrier(0), lanes(0b10, 1, other)], &[]);
}

#[test]
fn bytes_side_by_side_are_no_race() {
    let byte = |start, value, warp| {
        Sends(Does {
            bytes: 1,
            may_be_atomic: false,
            ..W.writes(value).at(start).by(0, warp, warp)
        })
    };
    check(&[byte(0x40, 1, 0), byte(0x41, 2, 1)], &[]);
    check(
        &[byte(0x40, 1, 0), byte(0x41, 2, 1), byte(0x40, 3, 2)],
        &[Certainty::Certain],
    );
}

/// Pages that are followed below.
const FOLLOWED: usize = 4;

#[test]
fn memory_beyond_what_is_followed_is_said_and_not_checked() {
    let mut races = CodeRaces::following(FOLLOWED);
    let write = |page: usize, warp| {
        W.in_global()
            .by_all()
            .at(page as u64 * 256)
            .by(warp, warp, warp)
    };
    for page in 0..FOLLOWED {
        tell(&mut races, write(page, 0));
    }
    assert!(!races.is_full());
    tell(&mut races, write(FOLLOWED, 0));
    assert!(races.is_full());
    tell(&mut races, write(FOLLOWED, 1).writes(9));
    assert_eq!(races.races().count(), 0);
    tell(&mut races, write(2, 1).writes(9));
    assert_eq!(races.races().count(), 1, "what is followed is checked on");
}

#[test]
fn a_counter_of_many_warps_takes_bounded_memory_and_hides_no_race_beside_it() {
    let mut races = CodeRaces::default();
    let count = READ.in_global().at(0x80).atomic();
    for warp in 0..2000 {
        tell(&mut races, count.by(warp, warp, 0));
        races.end(warp);
    }
    assert!(!races.is_full());
    // Who has counted has seen those before; two that have not are in no order.
    let (write, read) = (W.in_global().by_all().at(0x1000), READ.in_global().by_all());
    tell(&mut races, write.by(5000, 5000, 1));
    tell(&mut races, count.by(5000, 5000, 0));
    tell(&mut races, count.by(5001, 5001, 0));
    tell(&mut races, read.at(0x1000).by(5001, 5001, 2));
    assert_eq!(races.races().count(), 0);
    tell(&mut races, read.at(0x1000).by(5002, 5002, 3));
    assert_eq!(races.races().count(), 1);
}
