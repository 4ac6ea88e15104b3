//! Each job has its own outcome, and a queue has only its own faults.

use crate::bench::{
    DOUBLE, FOREVER, OrFail, Ready, Work, brief, diagnoses, inject, machine, queue, queue_in,
    ready, submit, up, wait,
};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::{Error, Instant, Status, SubQueue};

const GOOD: Result<(), String> = Ok(());

fn failed(job: u32, name: &str) -> Result<(), String> {
    Err(format!(
        "job {job} of the compute stream of queue 0 failed: {name}"
    ))
}

pub(crate) fn every_job_has_its_own_outcome() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 256);
    inject(&machine, Injection::JobFault { exception: 0x58 });
    inject(&machine, Injection::JobFault { exception: 0x59 });
    let [a, b, c] = [0; 3].map(|_| submit(&mut device, queue, &work));
    let invalid = failed(1, "DATA_INVALID_FAULT (0x58): a descriptor is not valid");
    let range = failed(2, "TILE_RANGE_FAULT (0x59): a tile is out of range");
    // In this order: that of the last job is asked for first, and each may be asked for again.
    assert_eq!(wait(&mut device, c), GOOD);
    for _ in 0..2 {
        assert_eq!(wait(&mut device, b), range);
        assert_eq!(wait(&mut device, a), invalid);
        assert_eq!(wait(&mut device, c), GOOD);
    }
    // One of three jobs has run.
    assert_eq!(work.words(&mut device, 4), [0, 2, 4, 6]);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// A failure keeps its place until it is discarded: nothing is forgotten in silence, and a table that is full says so.
pub(crate) fn failures_are_kept_until_they_are_discarded() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    let first = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, first), GOOD);
    let failures: Vec<_> = (0..64)
        .map(|_| {
            inject(&machine, Injection::JobFault { exception: 0x58 });
            let fence = submit(&mut device, queue, &work);
            assert!(wait(&mut device, fence).is_err());
            fence
        })
        .collect();
    let full = device
        .submit(queue, work.commands)
        .expect_err("64 failures");
    assert!(matches!(full, Error::Full { places: 64, .. }), "{full}");
    assert!(
        failures
            .iter()
            .all(|fence| wait(&mut device, *fence).is_err())
    );
    assert_eq!(wait(&mut device, first), GOOD);

    device.discard(failures[0]);
    assert_eq!(device.status(failures[0]), Status::Unknown);
    assert_eq!(device.status(first), Status::Unknown, "it is older");
    assert!(wait(&mut device, failures[1]).is_err());
    let last = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, last), GOOD);
}

/// A fault that was pending when a queue was destroyed is that queue's.
pub(crate) fn a_reused_slot_has_no_events_of_its_last_user() {
    for injection in [
        Injection::JobFault { exception: 0x58 },
        Injection::StreamFatal { exception: 0x49 },
    ] {
        let machine = machine();
        let mut device = up(machine.clone());
        let space = device.create_space().or_fail("there is memory");
        let work = Work::in_space(&mut device, space, &DOUBLE, 256);
        let first = queue_in(&mut device, space);
        inject(&machine, injection);
        let old = submit(&mut device, first, &work);
        device.poll(Instant(machine.time()));
        // The fault is reported, and nobody looks.
        machine.pass(Duration::from_millis(5));
        device.cancel(first).or_fail("it is there");
        assert!(wait(&mut device, old).is_err());
        device.destroy_queue(first).or_fail("it has ended");
        assert!(device.settle());

        let second = queue_in(&mut device, space);
        let fence = submit(&mut device, second, &work);
        assert_eq!(wait(&mut device, fence), GOOD, "{injection:?}");
        assert_eq!(device.status(old), Status::Unknown);
    }
}

pub(crate) fn jobs_behind_a_fatal_fault_are_lost_and_say_so() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    let good = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, good), GOOD);
    inject(&machine, Injection::StreamFatal { exception: 0x49 });
    let guilty = submit(&mut device, queue, &work);
    let innocent = submit(&mut device, queue, &work);
    let lost = "job 3 of the compute stream of queue 0 was lost with its queue";
    assert_eq!(wait(&mut device, innocent), Err(lost.to_string()));
    let text = wait(&mut device, guilty).expect_err("it failed");
    assert!(
        text.starts_with(
            "job 2 of the compute stream of queue 0 failed for good: CS_INSTR_INVALID"
        ),
        "{text}"
    );
    assert_eq!(wait(&mut device, good), GOOD);
    assert!(matches!(
        device.submit(queue, work.commands),
        Err(Error::QueueFailed { .. })
    ));
}

/// The words of a ring before its end and after it are one job.
pub(crate) fn jobs_follow_each_other_around_the_ring() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    // 128 wrappers fill the ring once.
    let jobs = if brief() { 140 } else { 300 };
    for _ in 0..jobs {
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), GOOD);
    }
    assert_eq!(device.reached(queue, SubQueue::Compute), Ok(jobs));
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// A time limit is an answer, not an execution.
pub(crate) fn a_time_limit_is_an_answer_and_the_job_goes_on() {
    let Ready {
        mut device,
        queue,
        work,
        ..
    } = ready(&DOUBLE, 256);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(device.wait(fence, Duration::ZERO), Status::Pending);
    assert_eq!(wait(&mut device, fence), GOOD);
}

/// Only `cancel` kills: the job that runs, and those behind it; never another queue's.
pub(crate) fn cancelling_ends_a_queue_and_no_other() {
    let machine = machine();
    let mut device = up(machine.clone());
    let (stuck, other) = (queue(&mut device), queue(&mut device));
    let long = Work::new(&mut device, stuck, &FOREVER, 64);
    let short = Work::new(&mut device, other, &DOUBLE, 256);
    let [a, b] = [0; 2].map(|_| submit(&mut device, stuck, &long));
    assert_eq!(device.wait(a, Duration::from_millis(3)), Status::Pending);
    let good = submit(&mut device, other, &short);
    device.cancel(stuck).or_fail("it is there");
    for fence in [a, b] {
        let text = wait(&mut device, fence).expect_err("cancelled");
        assert!(text.ends_with("was cancelled with its queue"), "{text}");
    }
    assert_eq!(wait(&mut device, good), GOOD);
    device.destroy_queue(stuck).or_fail("the queue is dead");
    assert_eq!(diagnoses(&machine), [""; 0]);
}

pub(crate) fn a_fault_is_seen_by_whoever_only_polls() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 256);
    inject(&machine, Injection::StreamFatal { exception: 0x49 });
    let fence = submit(&mut device, queue, &work);
    for _ in 0..50 {
        machine.pass(Duration::from_millis(1));
        device.poll(eitri_runtime::Instant(machine.time()));
    }
    assert!(matches!(device.status(fence), Status::Failed(_)));
    assert!(!machine.lines().job, "the line is still high");
}

/// The three streams of a queue have each their own timeline, and none waits for another.
pub(crate) fn streams_of_a_queue_run_side_by_side() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let long = Work::new(&mut device, queue, &FOREVER, 64);
    let short = Work::new(&mut device, queue, &DOUBLE, 256);
    let stuck = submit(&mut device, queue, &long);
    for stream in [SubQueue::VertexTiler, SubQueue::Fragment] {
        let fence = device
            .submit_to(queue, stream, short.commands)
            .or_fail("there is room");
        assert_eq!((fence.point, fence.sub_queue), (1, stream));
        assert_eq!(wait(&mut device, fence), GOOD);
    }
    assert_eq!(device.status(stuck), Status::Pending);
    assert_eq!(short.words(&mut device, 3), [0, 4, 8]);
    assert_eq!(device.reached(queue, SubQueue::Compute), Ok(0));
}
