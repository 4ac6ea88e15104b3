//! Core dumps: taken before a fault is answered, whole, and of use to whoever reads them.

use crate::bench::{
    DOUBLE, FOREVER, OrFail, Ready, Work, inject, machine, queue, ready, submit, up, up_on,
    withdraw,
};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_dump::note::Reporter;
use eitri_dump::{Dump, Region, show};
use eitri_model::Injection;
use eitri_runtime::{
    Access, Device, DeviceLost, Fence, Options, Platform, SemaphorePoint, Status, SubmitInfo,
};

const LIMIT: Duration = Duration::from_millis(50);

fn dump<P: Platform>(device: &mut Device<'_, '_, P>, overdue: Option<Fence>) -> Vec<u8> {
    let (mut room, mut file) = (vec![Region::default(); 512], Vec::new());
    let summary = device
        .dump(overdue, &mut room, &mut file)
        .or_fail("it makes a file");
    assert!(summary.incomplete.is_complete(), "{summary:?}");
    file
}

fn first_line(dump: &Dump<'_>) -> String {
    let entries = show::entries(dump, &show::Options::default());
    entries[0]
        .to_string()
        .lines()
        .next()
        .unwrap_or("")
        .to_owned()
}

/// A job with a fault on any platform: the dump names it, and the job fails as if nobody had looked.
fn check_fault<P: Platform>(mut device: Device<'static, 'static, P>, strike: impl FnOnce()) {
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    strike();
    let fence = submit(&mut device, queue, &work);
    assert_eq!(device.wait_or_fault(fence, LIMIT), None);
    assert!(device.has_news_of_a_fault());
    let file = dump(&mut device, None);
    // Nothing was answered.
    assert!(device.has_news_of_a_fault());
    let read = Dump::parse(&file).or_fail("it reads as a dump");
    let text = first_line(&read);
    assert_eq!(
        text,
        "fault: DATA_INVALID_FAULT (0x58): a descriptor is not valid"
    );
    let submissions = read.submissions();
    assert_eq!(submissions.len(), 1);
    assert_eq!((submissions[0].sequence, submissions[0].position), (1, 0));
    let stream = read
        .streams()
        .iter()
        .find(|stream| stream.number == 2)
        .or_fail("the stream is in the dump");
    assert_eq!(submissions[0].start, stream.ring.address);
    assert!(matches!(device.wait(fence, LIMIT), Status::Failed(_)));
    assert!(!device.has_news_of_a_fault());
    device.shutdown(&mut ()).or_fail("it shuts down in order");
}

pub(crate) fn a_fault_is_dumped_before_it_is_answered() {
    let machine = machine();
    check_fault(up(machine.clone()), || {
        inject(&machine, Injection::JobFault { exception: 0x58 });
    });
}

/// Firmware that falls silent costs the GPU: whoever looks after the device sees it first as it is.
pub(crate) fn a_silent_firmware_is_dumped_before_the_reset() {
    let machine = machine().with_slowdown(1);
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let space = device.space(queue).or_fail("it is there");
    let semaphore = device.create_semaphore(0).or_fail("there is memory");
    let mapped = device.map_semaphore(semaphore, space, Access::Read);
    mapped.or_fail("there is memory");
    let info = SubmitInfo {
        waits: &[SemaphorePoint {
            semaphore,
            value: 1,
        }],
        ..SubmitInfo::default()
    };
    let fence = device
        .submit_with(queue, work.commands, info)
        .or_fail("there is room");
    assert_eq!(device.wait(fence, LIMIT), Status::Pending);
    inject(&machine, Injection::TerminateIgnored);
    device.cancel(queue).or_fail("it is there");
    let second = Duration::from_secs(1);
    assert_eq!(device.wait_or_fault(fence, second), None);
    assert!(device.has_news_of_a_fault());
    let file = dump(&mut device, None);
    let read = Dump::parse(&file).or_fail("it reads as a dump");
    assert_eq!(read.submissions().len(), 1, "the job is still there");
    assert_eq!(device.recoveries(), 0, "nothing was reset");
    withdraw(&machine, Injection::TerminateIgnored);
    assert!(matches!(device.wait(fence, second), Status::Failed(_)));
    assert_eq!(device.recoveries(), 1);
    assert!(matches!(device.last_loss(), Some(DeviceLost::Silent(_))));
}

pub(crate) fn a_dump_sees_memory_behind_caches() {
    let machine = machine();
    check_fault(up_on(machine.behind_caches(7), Options::default()), || {
        inject(&machine, Injection::JobFault { exception: 0x58 });
    });
}

pub(crate) fn a_job_that_takes_too_long_is_dumped_with_fresh_status() {
    let Ready {
        mut device,
        queue,
        work,
        ..
    } = ready(&FOREVER, 1);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(device.wait_or_fault(fence, LIMIT), Some(Status::Pending));
    let file = dump(&mut device, Some(fence));
    let read = Dump::parse(&file).or_fail("it reads as a dump");
    let faults = read.faults();
    assert_eq!((faults.len(), faults[0].reporter), (1, Reporter::Timeout));
    assert_eq!((faults[0].slot, faults[0].stream), (0, 2));
    device.cancel(queue).or_fail("it is there");
    assert!(device.settle());
}

pub(crate) fn a_device_without_a_fault_can_be_dumped() {
    let mut device = up(machine());
    assert!(!device.has_news_of_a_fault());
    let file = dump(&mut device, None);
    assert!(show::is_free_of_faults(
        &Dump::parse(&file).or_fail("it reads as a dump")
    ));
}
