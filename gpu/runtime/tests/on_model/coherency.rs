//! CPU caches that the GPU does not see: everything that one side writes reaches the other in time.

use crate::bench::{DOUBLE, Work, diagnoses, inject, machine, queue, up, wait};
use eitri_model::Injection;
use eitri_on_model::{Machine, NonCoherent};

/// Brings up, runs jobs, reads back, changes a part, runs again; with the caches of `seed`.
fn round_trip(seed: u64) {
    let machine = machine();
    let mut device = up(NonCoherent::new(machine.clone(), seed));
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 256);
    for _ in 0..3 {
        let point = queue.submit(&mut device, &work.commands).expect("room");
        assert_eq!(wait(&mut device, &queue, point), Ok(()), "seed {seed}");
    }
    let expected: Vec<u32> = (0..256).map(|word| word * 8).collect();
    assert_eq!(work.words(&mut device, 256), expected, "seed {seed}");
    // A part of a line that the GPU wrote: its neighbours stay.
    device
        .write_buffer(&work.buffer, 4, &[9, 0, 0, 0])
        .expect("inside");
    let points = [0; 4].map(|_| queue.submit(&mut device, &work.commands).expect("room"));
    for point in points {
        assert_eq!(wait(&mut device, &queue, point), Ok(()), "seed {seed}");
    }
    let mut expected: Vec<u32> = (0..256).map(|word| word * 8 * 16).collect();
    expected[1] = 9 * 16;
    assert_eq!(work.words(&mut device, 256), expected, "seed {seed}");
    work.destroy(&mut device);
    device.destroy_queue(queue).expect("idle");
    let platform: NonCoherent<Machine> = device.shutdown(&mut ()).expect("in order");
    assert_eq!(platform.lost_stores(), [0; 0], "seed {seed}");
    assert_eq!(diagnoses(&machine), [""; 0], "seed {seed}");
}

#[test]
fn jobs_run_on_memory_that_is_not_coherent() {
    (1..=12).for_each(round_trip);
}

/// The status of a failed job stands in the line that the GPU adds to: the CPU never writes there.
#[test]
fn a_failed_job_leaves_the_timeline_of_the_next_alone() {
    for seed in 1..=8 {
        let machine = machine();
        let mut device = up(NonCoherent::new(machine.clone(), seed));
        let queue = queue(&mut device);
        let work = Work::new(&mut device, &DOUBLE, 256);
        inject(&machine, Injection::JobFault { exception: 0x58 });
        let a = queue.submit(&mut device, &work.commands).expect("room");
        let b = queue.submit(&mut device, &work.commands).expect("room");
        assert!(wait(&mut device, &queue, a).is_err(), "seed {seed}");
        assert_eq!(wait(&mut device, &queue, b), Ok(()), "seed {seed}");
        assert_eq!(queue.timeline().value(&mut device), Ok(2), "seed {seed}");
    }
}

/// Order is asked for where it matters and not once a word: a submission with its wait is a handful of barriers.
#[test]
fn barriers_are_few() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 256);
    for _ in 0..2 {
        let point = queue.submit(&mut device, &work.commands).expect("room");
        assert_eq!(wait(&mut device, &queue, point), Ok(()));
    }
    let before = machine.accesses();
    let point = queue.submit(&mut device, &work.commands).expect("room");
    let between = machine.accesses();
    assert_eq!(wait(&mut device, &queue, point), Ok(()));
    let after = machine.accesses();
    let submit = between.publishes - before.publishes;
    let all = after.publishes - before.publishes + after.observes - before.observes;
    assert!(submit <= 5 && all <= 24, "{submit}, {all}");
}
