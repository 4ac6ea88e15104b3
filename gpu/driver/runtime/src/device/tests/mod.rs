//! The running phase against firmware that says yes: what a user sees when jobs end, fail, or do not end.

mod faults;
mod firmware;

use super::{Device, QueueConfig};
use crate::access::SharedBlock;
use crate::error::Error;
use crate::handle::{CommandBuffer, Fence};
use crate::platform::{Lines, Platform};
use crate::queue::Status;
use crate::testing::Fake;
use crate::testing::firmware::{control_blocks, device, image, outputs};
use crate::wait::{Pace, poll};
use core::time::Duration;
use eitri_cs::SubQueue;
use eitri_csf::interface::control::Version;
use eitri_csf::interface::group::{
    CSG_ACK, CSG_ALLOW_COMPUTE, CSG_ALLOW_FRAGMENT, CSG_ALLOW_OTHER, CSG_EP_REQ, CSG_EP_REQ2,
    CSG_IRQ_REQ, CSG_PROTM_SUSPEND_BUF, ep_req,
};
use eitri_csf::interface::stream::{
    CS_ACK, CS_CONFIG, CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO, CS_REQ,
    CS_STATUS_BLOCKED_REASON, CS_USER_INPUT, CsState, cs_config, cs_req,
};
use eitri_csf::interface::sync_object::{SYNC64_STATUS, SYNC64_VALUE};
use eitri_csf::registers::address_space::{AS_FAULTADDRESS, AS_FAULTSTATUS};
use eitri_csf::registers::interrupts::{
    GPU_IRQ, JOB_IRQ_RAWSTAT, MMU_IRQ_CLEAR, MMU_IRQ_RAWSTAT, gpu_irq,
};
use eitri_csf::registers::mcu::MCU_STATUS;
use std::string::{String, ToString};

const LIMIT: Duration = Duration::from_millis(50);

/// A queue with one job in it that has not ended.
fn submitted(image: &[u8]) -> (Device<'_, '_, Fake>, Fence, CommandBuffer) {
    let mut device = device(image);
    let queue = device
        .create_queue(QueueConfig::default())
        .expect("a place");
    let space = device.space(queue).expect("it has one");
    let commands = device.create_command_buffer(space).expect("memory");
    device
        .record(commands, |_| Ok(()))
        .expect("nothing to record");
    let fence = device.submit(queue, commands).expect("room");
    assert_eq!((fence.point, fence.sub_queue), (1, SubQueue::Compute));
    (device, fence, commands)
}

/// The sync object of the compute stream of the only queue.
fn sync(device: &Device<'_, '_, Fake>) -> SharedBlock {
    let (_, group) = device.groups.iter().next().expect("one");
    group
        .stream(SubQueue::Compute)
        .expect("three")
        .sync_object()
}

fn end_job(device: &mut Device<'_, '_, Fake>, point: u64, status: u64) {
    let sync = sync(device);
    sync.write(&mut device.hw.platform, SYNC64_STATUS, status);
    sync.write(&mut device.hw.platform, SYNC64_VALUE, point);
}

/// Flips bits of CS_ACK, and says so in the group's interrupt word.
fn raise(device: &mut Device<'_, '_, Fake>, bits: u64) {
    let fake = &mut device.hw.platform;
    let (group, stream) = outputs(fake);
    stream.write(fake, CS_ACK, bits);
    group.write(fake, CSG_IRQ_REQ, 1 << 2);
    fake.registers.insert(JOB_IRQ_RAWSTAT.offset, 1);
}

/// What became of a job after a while, in words.
fn wait(device: &mut Device<'_, '_, Fake>, fence: Fence) -> Result<(), String> {
    match device.wait(fence, LIMIT) {
        Status::Done => Ok(()),
        Status::Failed(fault) => Err(fault.to_string()),
        status => Err(std::format!("{status:?}")),
    }
}

#[test]
fn a_job_ends_when_its_point_is_reached() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    assert_eq!(device.status(fence), Status::Pending);
    end_job(&mut device, 1, 0);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(device.reached(fence.queue, SubQueue::Compute), Ok(1));
    let never = Fence { point: 2, ..fence };
    assert_eq!(device.status(never), Status::Unknown);
    device.destroy_command_buffer(commands).expect("unused");
    device.destroy_queue(fence.queue).expect("idle");
    assert_eq!(device.status(fence), Status::Unknown);
    let reached = device.reached(fence.queue, SubQueue::Compute);
    assert!(matches!(reached, Err(Error::Gone { .. })), "{reached:?}");
    device.shutdown(&mut ()).expect("in order");
}

/// An interrupt may be lost while a job is in flight, and no longer.
#[test]
fn jobs_in_flight_are_looked_at_in_time_and_idle_queues_are_not() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    let due = |device: &mut Device<'_, '_, Fake>| {
        assert!(device.settle(), "the group has its slot");
        let now = device.hw.platform.now();
        device.poll(now).at.map(|at| at.since(now))
    };
    let often = Duration::from_millis(10);
    for point in 1..4 {
        let busy = due(&mut device);
        assert!(busy.is_some_and(|at| at <= often), "job {point}: {busy:?}");
        end_job(&mut device, point, 0);
        let job = Fence { point, ..fence };
        assert_eq!(wait(&mut device, job), Ok(()));
        let idle = due(&mut device);
        assert!(idle.is_some_and(|at| at > often), "after {point}: {idle:?}");
        device.submit(fence.queue, commands).expect("it goes on");
    }
}

#[test]
fn a_job_that_does_not_end_is_explained_and_its_queue_cancelled() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    let (_, stream) = outputs(&mut device.hw.platform);
    stream.write(&mut device.hw.platform, CS_STATUS_BLOCKED_REASON, 1);
    assert_eq!(device.wait(fence, LIMIT), Status::Pending);
    let status = device.explain(fence).expect("it is on a slot");
    assert_eq!(
        status.to_string(),
        "  ring: 0x80 bytes filled, 0x0 consumed\n  \
         instruction at 0x0, scoreboards in use 0x0\n  \
         CS_STATUS_BLOCKED_REASON (0x060) = 0x1: REASON 1 Scoreboard\n  \
         CS_STATUS_WAIT (0x048) = 0x0: SOURCE 0 None, CONDITION 0 LessEqual\n  \
         it waits for scoreboard entries"
    );
    device.cancel(fence.queue).expect("there");
    let text = "job 1 of the compute stream of queue 0 was cancelled with its queue\n  \
                the queue was stopped: make another";
    assert_eq!(wait(&mut device, fence), Err(text.to_string()));
    let again = device.submit(fence.queue, commands).expect_err("stopped");
    assert_eq!(
        again.to_string(),
        "queue 0 has failed: a job of queue 0 was cancelled with its queue\n  \
         the queue was stopped: make another"
    );
}

#[test]
fn what_does_not_fit_the_storage_is_refused_by_name() {
    let image = image(&control_blocks());
    let mut device = device(&image);
    for _ in 0..8 {
        device
            .create_queue(QueueConfig::default())
            .map(drop)
            .expect("a place");
    }
    let refused = device.create_queue(QueueConfig::default()).map(drop);
    let text = "the storage holds 8 queues, and all places are taken";
    assert_eq!(refused.expect_err("full").to_string(), text);
}

#[test]
fn a_full_queue_takes_nothing_more() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    for _ in 2..=64 {
        device.submit(fence.queue, commands).expect("room");
    }
    let error = device.submit(fence.queue, commands).expect_err("full");
    assert_eq!(
        error.to_string(),
        "the storage holds 64 jobs in flight or failed, and all places are taken"
    );
    end_job(&mut device, 3, 0);
    let third = Fence { point: 3, ..fence };
    assert_eq!(wait(&mut device, third), Ok(()));
    let next = device.submit(fence.queue, commands).expect("room");
    assert_eq!(next.point, 65);
}

#[test]
fn what_a_job_in_flight_uses_is_not_given_back() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    let refused = device.destroy_command_buffer(commands);
    assert_eq!(
        refused.expect_err("in use").to_string(),
        "the command buffer is in use: job 1 of the compute stream of queue 0 is in flight"
    );
    assert!(matches!(
        device.record(commands, |_| Ok(())),
        Err(Error::InUse { .. })
    ));
    assert!(matches!(
        device.destroy_queue(fence.queue),
        Err(Error::InUse { .. })
    ));
    end_job(&mut device, 1, 0);
    assert_eq!(wait(&mut device, fence), Ok(()));
    device.destroy_command_buffer(commands).expect("unused");
    assert!(matches!(
        device.submit(fence.queue, commands),
        Err(Error::Gone { .. })
    ));
}

#[test]
fn a_device_fits_on_a_stack() {
    // Bounded memory, stated: a device is moved at most a few times, while it is brought up.
    assert!(
        size_of::<Device<'_, '_, ()>>() < 24 << 10,
        "{}",
        size_of::<Device<'_, '_, ()>>()
    );
}

/// A stream is still in the last words of a job that is done, and the next has not begun: a fault now is the next one's.
#[test]
fn a_job_that_is_done_is_not_the_current_one() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    device.submit(fence.queue, commands).expect("room");
    let mut current = || {
        let (_, group) = device.groups.iter().next().expect("one");
        let stream = group.stream(SubQueue::Compute).expect("three");
        let job = stream.current_job(&mut device.hw.platform, &device.jobs);
        let job = job.and_then(|job| device.jobs.get(job));
        let point = job.map(|job| job.fence.point);
        let sync = stream.sync_object();
        let next = sync.read(&mut device.hw.platform, SYNC64_VALUE) + 1;
        sync.write(&mut device.hw.platform, SYNC64_VALUE, next);
        point
    };
    assert_eq!([current(), current(), current()], [Some(1), Some(2), None]);
}

/// The host has given a semaphore a smaller value over what the GPU has written for a job: its end puts that right.
#[test]
fn a_semaphore_has_the_value_of_a_job_that_is_over() {
    let image = image(&control_blocks());
    let (mut device, first, commands) = submitted(&image);
    let semaphore = device.create_semaphore(0).expect("memory");
    let space = device.space(first.queue).expect("it has one");
    device
        .map_semaphore(semaphore, space, super::Access::ReadWrite)
        .expect("memory");
    let signals = [super::SemaphorePoint {
        semaphore,
        value: 7,
    }];
    let info = super::SubmitInfo {
        signals: &signals,
        ..super::SubmitInfo::default()
    };
    let second = device
        .submit_with(first.queue, commands, info)
        .expect("room");
    end_job(&mut device, 2, 0);
    assert_eq!(device.semaphore_value(semaphore), Ok(0));
    assert_eq!(wait(&mut device, second), Ok(()));
    assert_eq!(device.semaphore_value(semaphore), Ok(7));
}
