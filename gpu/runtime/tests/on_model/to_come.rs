//! What the runtime does not do yet: each test says what is missing, and fails until it is there.

use crate::bench::{DOUBLE, FOREVER, Work, inject, machine, queue, up, wait};
use eitri_model::Injection;
use eitri_runtime::QueueConfig;
use std::time::Duration;

#[test]
#[ignore = "a wait kills its queue at the time limit: the running phase without waits makes a limit an answer"]
fn a_time_limit_is_an_answer_and_the_job_goes_on() {
    let mut device = up(machine());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 256);
    let point = queue.submit(&mut device, &work.commands).expect("room");
    assert!(
        queue
            .timeline()
            .wait(&mut device, point, Duration::ZERO)
            .is_err()
    );
    assert_eq!(wait(&mut device, &queue, point), Ok(()));
}

#[test]
#[ignore = "asking for the value looks at no events: `poll` will, and the value only tells"]
fn a_fault_is_seen_by_whoever_only_asks_for_the_value() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 256);
    inject(&machine, Injection::StreamFatal { exception: 0x49 });
    queue.submit(&mut device, &work.commands).expect("room");
    for _ in 0..50 {
        machine.pass(Duration::from_millis(1));
        let _ = queue.timeline().value(&mut device);
    }
    assert!(
        !machine.gpu(|gpu| gpu.lines().job),
        "the line is still high"
    );
}

#[test]
#[ignore = "all queues share one address space: each gets its own with the manager of address spaces"]
fn a_page_fault_stops_the_queue_that_made_it_alone() {
    let machine = machine();
    let mut device = up(machine.clone());
    let mut create = |priority| {
        device
            .create_queue(QueueConfig { priority })
            .expect("a slot")
    };
    let (innocent, guilty) = (create(1), create(2));
    let long = Work::new(&mut device, &FOREVER, 64);
    let short = Work::new(&mut device, &DOUBLE, 256);
    innocent.submit(&mut device, &long.commands).expect("room");
    machine.pass(Duration::from_micros(200));
    inject(&machine, Injection::PageFault { space: 1 });
    let point = guilty.submit(&mut device, &short.commands).expect("room");
    assert!(wait(&mut device, &guilty, point).is_err());
    assert!(innocent.submit(&mut device, &long.commands).is_ok());
}

#[test]
#[ignore = "a queue's priority is that of its slot and must be its own: the scheduler will give slots theirs"]
fn queues_may_have_the_same_priority() {
    let mut device = up(machine());
    let _first = queue(&mut device);
    assert!(
        device
            .create_queue(QueueConfig::default())
            .map(drop)
            .is_ok()
    );
}

#[test]
#[ignore = "a group has its slot for life: with suspend and resume there are more groups than slots"]
fn there_are_more_queues_than_slots() {
    let mut device = up(machine());
    for priority in 0..12 {
        let made = device.create_queue(QueueConfig { priority });
        made.map(drop)
            .unwrap_or_else(|error| panic!("queue {priority}: {error}"));
    }
}

#[test]
#[ignore = "nobody looks after a firmware that falls silent: ping and watchdog belong into `poll`"]
fn silent_firmware_is_noticed_without_a_ping_of_the_callers() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &FOREVER, 64);
    let point = queue.submit(&mut device, &work.commands).expect("room");
    inject(&machine, Injection::PingIgnored);
    let _ = queue
        .timeline()
        .wait(&mut device, point, Duration::from_secs(15));
    assert!(device.lost().is_some());
}

#[test]
#[ignore = "every job flushes unconditionally at both ends: flush ids will spare a job what nobody wrote"]
fn a_small_job_pays_no_full_flush() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 64);
    let flushes = |machine: &eitri_on_model::Machine| {
        // LATEST_FLUSH counts the flushes that were done (hardware/csf-mmio.md 13).
        use eitri_runtime::Platform;
        machine.clone().read32(0x1_0000)
    };
    let before = flushes(&machine);
    for _ in 0..4 {
        let point = queue.submit(&mut device, &work.commands).expect("room");
        assert_eq!(wait(&mut device, &queue, point), Ok(()));
    }
    assert_eq!(flushes(&machine), before);
}
