//! Each job has its own outcome, and a queue has only its own faults.

use crate::bench::{DOUBLE, Work, diagnoses, inject, machine, queue, up, wait};
use eitri_model::Injection;
use eitri_runtime::WaitError;
use std::time::Duration;

const GOOD: Result<(), String> = Ok(());

fn failed(job: u32, name: &str) -> Result<(), String> {
    Err(format!(
        "job {job} of the compute queue (slot 0) failed: {name}"
    ))
}

#[test]
fn every_job_has_its_own_outcome() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 256);
    inject(&machine, Injection::JobFault { exception: 0x58 });
    inject(&machine, Injection::JobFault { exception: 0x59 });
    let mut submit = || queue.submit(&mut device, &work.commands).expect("room");
    let (a, b, c) = (submit(), submit(), submit());
    let invalid = failed(1, "DATA_INVALID_FAULT (0x58): a descriptor is not valid");
    let range = failed(2, "TILE_RANGE_FAULT (0x59): a tile is out of range");
    // In this order: that of the last job is asked for first, and each may be asked for again.
    assert_eq!(wait(&mut device, &queue, c), GOOD);
    for _ in 0..2 {
        assert_eq!(wait(&mut device, &queue, b), range);
        assert_eq!(wait(&mut device, &queue, a), invalid);
        assert_eq!(wait(&mut device, &queue, c), GOOD);
    }
    // One of three jobs has run.
    assert_eq!(work.words(&mut device, 4), [0, 2, 4, 6]);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

#[test]
fn a_failure_that_is_too_old_is_not_taken_for_success() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 64);
    let first = queue.submit(&mut device, &work.commands).expect("room");
    assert_eq!(wait(&mut device, &queue, first), GOOD);
    for _ in 0..9 {
        inject(&machine, Injection::JobFault { exception: 0x58 });
        let point = queue.submit(&mut device, &work.commands).expect("room");
        assert!(wait(&mut device, &queue, point).is_err());
    }
    // Nine failed and eight are kept: of the first of them, and of the good job before it, nothing is known.
    let forgotten = |point| Err(WaitError::Forgotten { point });
    let timeline = queue.timeline();
    for point in [1, 2] {
        let waited = timeline.wait(&mut device, point, Duration::ZERO);
        assert_eq!(waited, forgotten(point));
    }
    assert!(wait(&mut device, &queue, 3).is_err());
    let last = queue.submit(&mut device, &work.commands).expect("room");
    assert_eq!(wait(&mut device, &queue, last), GOOD);
}

/// A fault that was pending when a queue was destroyed is that queue's.
#[test]
fn a_reused_slot_has_no_events_of_its_last_user() {
    for injection in [
        Injection::JobFault { exception: 0x58 },
        Injection::StreamFatal { exception: 0x49 },
    ] {
        let machine = machine();
        let mut device = up(machine.clone());
        let work = Work::new(&mut device, &DOUBLE, 256);
        let first = queue(&mut device);
        inject(&machine, injection);
        first.submit(&mut device, &work.commands).expect("room");
        // The fault is reported, and nobody looks.
        machine.pass(Duration::from_millis(5));
        device.destroy_queue(first).expect("it ends");

        let second = queue(&mut device);
        let point = second.submit(&mut device, &work.commands);
        let point = point.unwrap_or_else(|error| panic!("{injection:?}: {error}"));
        assert_eq!(wait(&mut device, &second, point), GOOD, "{injection:?}");
    }
}

#[test]
fn jobs_behind_a_fatal_fault_are_lost_and_say_so() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 64);
    let good = queue.submit(&mut device, &work.commands).expect("room");
    assert_eq!(wait(&mut device, &queue, good), GOOD);
    inject(&machine, Injection::StreamFatal { exception: 0x49 });
    let guilty = queue.submit(&mut device, &work.commands).expect("room");
    let innocent = queue.submit(&mut device, &work.commands).expect("room");
    let lost = "job 3 of the compute queue (slot 0) was lost with its queue";
    assert_eq!(wait(&mut device, &queue, innocent), Err(lost.to_string()));
    let text = wait(&mut device, &queue, guilty).expect_err("it failed");
    assert!(
        text.starts_with("job 2 of the compute queue (slot 0) failed for good: CS_INSTR_INVALID"),
        "{text}"
    );
    assert_eq!(wait(&mut device, &queue, good), GOOD);
    assert!(queue.submit(&mut device, &work.commands).is_err());
}

/// The words of a ring before its end and after it are one job.
#[test]
fn jobs_follow_each_other_around_the_ring() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 64);
    // 512 wrappers fill the ring once.
    for _ in 0..1100 {
        let point = queue.submit(&mut device, &work.commands).expect("room");
        assert_eq!(wait(&mut device, &queue, point), GOOD);
    }
    assert_eq!(queue.timeline().value(&mut device), Ok(1100));
    assert_eq!(diagnoses(&machine), [""; 0]);
}
