//! CPU caches that the GPU does not see: everything that one side writes reaches the other in time.

use crate::bench::{
    DOUBLE, OrFail, Work, diagnoses, inject, machine, queue_in, some, submit, up, up_on, wait,
};
use alloc::vec::Vec;
use eitri_model::Injection;
use eitri_runtime::{Options, SubQueue};

/// Brings up, runs jobs, reads back, changes a part, runs again; with the caches of `seed`.
fn round_trip(seed: u64) {
    let machine = machine();
    let mut device = up_on(machine.behind_caches(seed), Options::default());
    let space = device.create_space().or_fail("there is memory");
    let queue = queue_in(&mut device, space);
    let work = Work::in_space(&mut device, space, &DOUBLE, 256);
    for _ in 0..3 {
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()), "seed {seed}");
    }
    let expected: Vec<u32> = (0..256).map(|word| word * 8).collect();
    assert_eq!(work.words(&mut device, 256), expected, "seed {seed}");
    // A part of a line that the GPU has written since the CPU read it: its neighbours stay.
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()), "seed {seed}");
    device
        .write_buffer(work.buffer, 4, &[9, 0, 0, 0])
        .or_fail("it is inside");
    let fences = [0; 4].map(|_| submit(&mut device, queue, &work));
    for fence in fences {
        assert_eq!(wait(&mut device, fence), Ok(()), "seed {seed}");
    }
    let mut expected: Vec<u32> = (0..256).map(|word| word * 16 * 16).collect();
    expected[1] = 9 * 16;
    assert_eq!(work.words(&mut device, 256), expected, "seed {seed}");
    work.destroy(&mut device);
    device.destroy_queue(queue).or_fail("the queue is idle");
    device.shutdown(&mut ()).or_fail("it shuts down in order");
    // Stores that an invalidation has thrown away would be told too.
    assert_eq!(diagnoses(&machine), [""; 0], "seed {seed}");
}

pub(crate) fn jobs_run_on_memory_that_is_not_coherent() {
    let seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    some(&seeds, 1).iter().copied().for_each(round_trip);
}

/// The status of a failed job stands in the line that the GPU adds to: the CPU never writes there.
pub(crate) fn a_failed_job_leaves_the_timeline_of_the_next_alone() {
    for seed in some(&[1, 2, 3, 4, 5, 6, 7, 8], 1).iter().copied() {
        let machine = machine();
        let mut device = up_on(machine.behind_caches(seed), Options::default());
        let space = device.create_space().or_fail("there is memory");
        let queue = queue_in(&mut device, space);
        let work = Work::in_space(&mut device, space, &DOUBLE, 256);
        inject(&machine, Injection::JobFault { exception: 0x58 });
        let [a, b] = [0; 2].map(|_| submit(&mut device, queue, &work));
        assert!(wait(&mut device, a).is_err(), "seed {seed}");
        assert_eq!(wait(&mut device, b), Ok(()), "seed {seed}");
        let reached = device.reached(queue, SubQueue::Compute);
        assert_eq!(reached, Ok(2), "seed {seed}");
    }
}

/// Order is asked for where it matters and not once a word: a submission with its wait is a handful of barriers.
pub(crate) fn barriers_are_few() {
    let machine = machine();
    let mut device = up(machine.clone());
    let space = device.create_space().or_fail("there is memory");
    let queue = queue_in(&mut device, space);
    let work = Work::in_space(&mut device, space, &DOUBLE, 256);
    for _ in 0..2 {
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    let before = machine.accesses();
    let fence = submit(&mut device, queue, &work);
    let between = machine.accesses();
    assert_eq!(wait(&mut device, fence), Ok(()));
    let after = machine.accesses();
    let submit = between.publishes - before.publishes;
    let all = after.publishes - before.publishes + after.observes - before.observes;
    assert!(submit <= 5 && all <= 24, "{submit}, {all}");
}
