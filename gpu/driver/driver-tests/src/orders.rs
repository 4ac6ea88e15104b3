//! Orders: a driver's whole life, with each of its stores, barriers and register writes checked against the rules of order.
//!
//! What a rule forbids shows in results only where the hardware takes the chance; the rules are those of
//! [`crate::recording`], and need none.

use crate::bench::{DOUBLE, LIMIT, OrFail, Work, firmware, machine, queue_in, submit};
use crate::machine::{Host, Machine};
use crate::recording::{Log, Recording, Rule};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use eitri_model::Injection;
use eitri_runtime::{
    Access, Device, Fence, GpuAddress, Options, Queue, QueueConfig, SemaphorePoint, Space, Status,
    Storage, SubmitInfo,
};

type Up = Device<'static, 'static, Recording<Host>>;

/// Bytes that a table of pages maps, and of one of such tables.
const TABLE: u64 = 2 << 20;
const TABLES: u64 = 1 << 30;

fn recorded() -> (Machine, Log, Up) {
    let machine = machine();
    let (platform, log) = Recording::new(machine.platform());
    let storage = Box::leak(Box::new(Storage::<20, 64, 160>::new()));
    let options = Options::default();
    let device = Device::bring_up(platform, firmware(), storage, options, &mut ());
    (machine, log, device.or_fail("the GPU comes up"))
}

/// Waits as a caller does that looks at memory by itself as soon as it is told that a job is done.
#[track_caller]
fn done(device: &mut Up, log: &Log, fence: Fence) {
    assert_eq!(device.wait(fence, LIMIT), Status::Done);
    let unobserved = log.unobserved_timelines();
    assert_eq!(unobserved, [0; 0], "read with no load barrier behind");
}

/// More queues than there are address spaces and slots, with work for each: spaces leave, groups are saved and resumed.
fn crowd(device: &mut Up, log: &Log) {
    let count = 18;
    let all: Vec<(Queue, Space, Work)> = (0..count)
        .map(|_| {
            let made = device.create_queue(QueueConfig::default());
            let queue = made.or_fail("there is a place for a queue");
            let space = device.space(queue).or_fail("it is there");
            (queue, space, Work::in_space(device, space, &DOUBLE, 64))
        })
        .collect();
    for _ in 0..2 {
        let fences: Vec<Fence> = all
            .iter()
            .map(|(queue, _, work)| submit(device, *queue, work))
            .collect();
        for fence in fences {
            done(device, log, fence);
        }
    }
    for (queue, _, work) in all {
        work.destroy(device);
        device.destroy_queue(queue).or_fail("it is idle");
    }
}

/// Maps and unmaps while the hardware walks the tables: also where tables of pages are new, and tables of those.
fn map(device: &mut Up, space: Space) {
    let buffer = device.create_buffer(space, 4096).or_fail("there is memory");
    for at in [8 * TABLES, 8 * TABLES + TABLE, 9 * TABLES, 600 * TABLES] {
        let at = GpuAddress(at);
        let mapped = device.map_buffer(buffer, 0, 4096, at, Access::ReadWrite);
        mapped.or_fail("nothing is there");
        device
            .unmap_range(space, at, 4096)
            .or_fail("it is an alias");
    }
    device.destroy_buffer(buffer).or_fail("nothing uses it");
}

/// Jobs with semaphores, whose wrappers are of another length, around the end of the ring.
fn signals(device: &mut Up, log: &Log, (queue, space): (Queue, Space), work: &Work) {
    let semaphore = device.create_semaphore(0).or_fail("there is memory");
    let mapped = device.map_semaphore(semaphore, space, Access::ReadWrite);
    mapped.or_fail("there is memory");
    for value in 1..200 {
        let signals = [SemaphorePoint { semaphore, value }];
        let info = SubmitInfo {
            signals: &signals,
            ..SubmitInfo::default()
        };
        let submitted = device.submit_with(queue, work.commands, info);
        done(device, log, submitted.or_fail("there is room"));
        assert_eq!(device.semaphore_value(semaphore), Ok(value));
        assert_eq!(log.unobserved(), [0; 0], "value {value}");
    }
}

pub(crate) fn a_life_keeps_the_rules_of_order() {
    let (_, log, mut device) = recorded();
    let space = device.create_space().or_fail("there is memory");
    let queue = queue_in(&mut device, space);
    let work = Work::in_space(&mut device, space, &DOUBLE, 256);
    let first = submit(&mut device, queue, &work);
    done(&mut device, &log, first);
    for _ in 0..40 {
        let fences = [0; 5].map(|_| submit(&mut device, queue, &work));
        for fence in fences {
            done(&mut device, &log, fence);
        }
    }
    signals(&mut device, &log, (queue, space), &work);
    map(&mut device, space);
    crowd(&mut device, &log);
    device.restart(&mut ()).or_fail("nothing is wrong");
    let fence = submit(&mut device, queue, &work);
    done(&mut device, &log, fence);
    work.destroy(&mut device);
    device.destroy_queue(queue).or_fail("it is idle");
    device.shutdown(&mut ()).or_fail("it shuts down in order");
    assert_eq!(log.violations(), [""; 0]);
    // A rule that this life never came by is not held by it.
    let least = [
        (Rule::RingBeforeInsert, 400),
        (Rule::InsertBeforeDoorbell, 400),
        (Rule::TableBeforeEntry, 4),
        (Rule::FlushBeforeUnlock, 10),
        (Rule::FlushBeforeLeave, 2),
        (Rule::FlushBeforeFree, 2),
        (Rule::ClearBeforeFlush, 10),
    ];
    let few: Vec<String> = least
        .iter()
        .filter(|(rule, least)| log.checked(*rule) < *least)
        .map(|(rule, _)| alloc::format!("{rule:?}: {}", log.checked(*rule)))
        .collect();
    assert_eq!(few, [""; 0], "rules that were checked too seldom");
}

/// A flush that does not end costs the GPU; tables that were taken out keep their memory until it has been reset.
pub(crate) fn tables_outlive_a_flush_that_does_not_end() {
    let (machine, log, mut device) = recorded();
    let space = device.create_space().or_fail("there is memory");
    let queue = queue_in(&mut device, space);
    let work = Work::in_space(&mut device, space, &DOUBLE, 64);
    let fence = submit(&mut device, queue, &work);
    done(&mut device, &log, fence);
    let (at, all) = (GpuAddress(8 * TABLES), Access::ReadWrite);
    let alias = device.map_buffer(work.buffer, 0, 4096, at, all);
    assert!(alias.is_ok(), "{alias:?}");
    machine.inject(Injection::FlushNeverCompletes);
    let unmapped = device.unmap_range(space, at, 4096);
    assert!(unmapped.is_err(), "the flush does not end");
    machine.withdraw(Injection::FlushNeverCompletes);
    let told = log.violations();
    let early = told.iter().find(|text| text.starts_with("FlushBeforeFree"));
    assert_eq!(early, None);
}
