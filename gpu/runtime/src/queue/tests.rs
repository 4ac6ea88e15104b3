//! Queues against firmware that says yes: what a user sees when jobs end, fail, or do not end.

use crate::access::SharedBlock;
use crate::device::{Device, QueueConfig};
use crate::platform::Lines;
use crate::testing::Fake;
use crate::testing::firmware::{control_blocks, device, image, outputs};
use crate::wait::{Pace, poll};
use crate::{CommandBuffer, Queue};
use core::time::Duration;
use eitri_csf::interface::group::{CSG_ACK, CSG_IRQ_REQ};
use eitri_csf::interface::stream::{
    CS_ACK, CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO, CS_STATUS_BLOCKED_REASON,
};
use eitri_csf::interface::sync_object::{SYNC64_STATUS, SYNC64_VALUE};
use eitri_csf::registers::address_space::{AS_FAULTADDRESS, AS_FAULTSTATUS};
use eitri_csf::registers::interrupts::{JOB_IRQ_RAWSTAT, MMU_IRQ_RAWSTAT};
use eitri_csf::registers::mcu::MCU_STATUS;
use std::string::{String, ToString};

const LIMIT: Duration = Duration::from_millis(10);

/// A queue with one job in it that has not ended.
fn submitted<'f>(image: &'f [u8]) -> (Device<'f, Fake>, Queue, CommandBuffer) {
    let mut device = device(image);
    let queue = device
        .create_queue(QueueConfig::default())
        .expect("a free slot");
    let mut commands = device.create_command_buffer().expect("memory");
    commands
        .record(&mut device, |_| Ok(()))
        .expect("nothing to record");
    assert_eq!(queue.submit(&mut device, &commands), Ok(1));
    (device, queue, commands)
}

/// The sync object of the only queue.
fn sync(device: &Device<'_, Fake>) -> SharedBlock {
    device.groups[0].streams[0].sync_object()
}

fn end_job(device: &mut Device<'_, Fake>, point: u64, status: u64) {
    let sync = sync(device);
    sync.write(&mut device.platform, SYNC64_STATUS, status);
    sync.write(&mut device.platform, SYNC64_VALUE, point);
}

/// Flips bits of CS_ACK, and says so in the group's interrupt word.
fn raise(device: &mut Device<'_, Fake>, bits: u64) {
    let fake = &mut device.platform;
    let (group, stream) = outputs(fake);
    stream.write(fake, CS_ACK, bits);
    group.write(fake, CSG_IRQ_REQ, 1);
    fake.registers.insert(JOB_IRQ_RAWSTAT.offset, 1);
}

fn wait(device: &mut Device<'_, Fake>, queue: &Queue, point: u64) -> Result<(), String> {
    let waited = queue.timeline().wait(device, point, LIMIT);
    waited.map_err(|error| error.to_string())
}

#[test]
fn a_job_ends_when_its_point_is_reached() {
    let image = image(&control_blocks());
    let (mut device, queue, commands) = submitted(&image);
    end_job(&mut device, 1, 0);
    assert_eq!(wait(&mut device, &queue, 1), Ok(()));
    assert_eq!(queue.timeline().value(&mut device), Ok(1));
    let never = wait(&mut device, &queue, 2);
    assert_eq!(
        never,
        Err("point 2 was never submitted: the last is 1".to_string())
    );
    device.destroy_queue(queue).expect("idle");
    device.destroy_command_buffer(commands).expect("unused");
    device.shutdown(&mut ()).expect("in order");
}

#[test]
fn a_job_that_does_not_end_is_diagnosed_and_its_queue_stopped() {
    let image = image(&control_blocks());
    let (mut device, queue, commands) = submitted(&image);
    let (_, stream) = outputs(&mut device.platform);
    stream.write(&mut device.platform, CS_STATUS_BLOCKED_REASON, 1);
    let text = "job 1 of the compute queue (slot 0) did not finish within 10ms\n  \
                ring: 0x80 bytes filled, 0x0 consumed\n  \
                instruction at 0x0, scoreboards in use 0x0\n  \
                CS_STATUS_BLOCKED_REASON (0x060) = 0x1: REASON 1 Scoreboard\n  \
                CS_STATUS_WAIT (0x048) = 0x0: SOURCE 0 None, CONDITION 0 LessEqual\n  \
                it waits for scoreboard entries\n  \
                help: does the shader end?\n  \
                the queue was stopped: make another";
    assert_eq!(wait(&mut device, &queue, 1), Err(text.to_string()));
    let again = queue.submit(&mut device, &commands).expect_err("stopped");
    assert_eq!(
        again.to_string(),
        std::format!("the queue has failed: {text}")
    );
}

#[test]
fn a_fault_fails_its_job_and_the_queue_goes_on() {
    let image = image(&control_blocks());
    let (mut device, queue, commands) = submitted(&image);
    let (_, stream) = outputs(&mut device.platform);
    stream.write(&mut device.platform, CS_FAULT, 0x58);
    stream.write(&mut device.platform, CS_FAULT_INFO, 0x1234);
    raise(&mut device, 1 << 31);
    device.process_events().expect("alive");
    end_job(&mut device, 1, 1);
    assert_eq!(
        wait(&mut device, &queue, 1),
        Err("job 1 of the compute queue (slot 0) failed: DATA_INVALID_FAULT (0x58): a descriptor is not valid\n  \
             information 0x1234, data 0x0\n  \
             help: shader program, resource table, local storage descriptors: `eitri unpack`\n  \
             the queue goes on"
            .to_string())
    );
    assert_eq!(queue.submit(&mut device, &commands), Ok(2));
    end_job(&mut device, 2, 0);
    assert_eq!(wait(&mut device, &queue, 2), Ok(()));
}

#[test]
fn a_fatal_fault_stops_the_queue() {
    let image = image(&control_blocks());
    let (mut device, queue, _commands) = submitted(&image);
    let (_, stream) = outputs(&mut device.platform);
    stream.write(&mut device.platform, CS_FATAL, 0x49);
    stream.write(&mut device.platform, CS_FATAL_INFO, 0x200_0000);
    raise(&mut device, 1 << 30);
    assert_eq!(
        wait(&mut device, &queue, 1),
        Err(
            "job 1 of the compute queue (slot 0) failed for good: CS_INSTR_INVALID (0x49): \
             bad opcode or field, or a register number out of range\n  \
             information 0x2000000, data 0x0\n  \
             help: disassemble the stream at CS_STATUS_CMD_PTR: `eitri cs disasm`\n  \
             the queue was stopped: make another"
                .to_string()
        )
    );
    assert!(device.lost().is_none());
}

#[test]
fn a_stream_that_can_not_go_on_loses_the_device() {
    let image = image(&control_blocks());
    let (mut device, queue, _commands) = submitted(&image);
    let (_, stream) = outputs(&mut device.platform);
    stream.write(&mut device.platform, CS_FATAL, 0x41);
    raise(&mut device, 1 << 30);
    assert!(wait(&mut device, &queue, 1).is_err());
    assert!(device.lost().is_some());
    device.restart(&mut ()).expect("everything succeeds");
    assert!(device.lost().is_none());
    device.destroy_queue(queue).expect("gone already");
    device
        .create_queue(QueueConfig::default())
        .map(drop)
        .expect("a free slot");
}

#[test]
fn an_mmu_fault_names_the_address_and_stops_the_queue() {
    let image = image(&control_blocks());
    let (mut device, queue, _commands) = submitted(&image);
    let fake = &mut device.platform;
    fake.registers.insert(MMU_IRQ_RAWSTAT.offset, 1 << 1);
    fake.registers
        .insert(AS_FAULTSTATUS.at(1).offset, 0x00C3 | 3 << 8 | 0x12 << 16);
    fake.registers.insert(AS_FAULTADDRESS.at(1).offset, 0x7000);
    assert_eq!(
        wait(&mut device, &queue, 1),
        Err(
            "job 1 of the compute queue (slot 0) failed: TRANSLATION_FAULT_3 in address space 1: \
             a write of 0x7000 (unit 0x12): the address is not mapped\n  \
             help: the access is outside every buffer, or the buffer was freed\n  \
             the queue was stopped: make another"
                .to_string()
        )
    );
}

#[test]
fn no_progress_and_unreported_errors_are_told() {
    let image = image(&control_blocks());
    let (mut device, queue, _commands) = submitted(&image);
    let (group, _) = outputs(&mut device.platform);
    let ack = group.read(&mut device.platform, CSG_ACK);
    group.write(&mut device.platform, CSG_ACK, ack ^ 1 << 31);
    assert_eq!(
        wait(&mut device, &queue, 1),
        Err("job 1 of the compute queue (slot 0) failed: the firmware saw no progress for too long\n  \
             the queue was stopped: make another"
            .to_string())
    );
    let (mut device, queue, _commands) = submitted(&image);
    end_job(&mut device, 1, 7);
    assert_eq!(
        wait(&mut device, &queue, 1),
        Err(
            "job 1 of the compute queue (slot 0) failed: its sync object carries status 0x7, \
             no fault was reported\n  the queue goes on"
                .to_string()
        )
    );
}

#[test]
fn crashed_firmware_loses_the_device() {
    let image = image(&control_blocks());
    let (mut device, queue, commands) = submitted(&image);
    device.platform.registers.insert(MCU_STATUS.offset, 3);
    let text = "the firmware has crashed: MCU_STATUS (0x704) = 0x3: STATE 3 Fatal, GLB_HALT_STATUS = 0x0\n  \
                the GPU must be restarted";
    assert!(wait(&mut device, &queue, 1).is_err());
    assert_eq!(
        device.lost().map(ToString::to_string).as_deref(),
        Some(text)
    );
    let refused = queue.submit(&mut device, &commands).expect_err("lost");
    assert_eq!(refused.to_string(), text);
    device.shutdown(&mut ()).expect("a reset does it");
}

#[test]
fn silent_firmware_loses_the_device() {
    let image = image(&control_blocks());
    let mut device = device(&image);
    device.platform.set_bell(None);
    let error = device
        .create_queue(QueueConfig::default())
        .expect_err("silent")
        .to_string();
    let (text, rest) = error.split_once(" (in memory").expect("an address");
    assert_eq!(
        text,
        "the firmware did not answer the start of a group: CSG_ACK"
    );
    let (_, rest) = rest.split_once(") ").expect("an address");
    assert_eq!(
        rest,
        "= 0x0, wanted 0x11 in bits 0x17, after 100ms\n  \
         MCU_STATUS (0x704) = 0x1: STATE 1 Enabled\n  the GPU must be restarted"
    );
}

#[test]
fn queues_are_limited_and_need_their_own_priority() {
    let image = image(&control_blocks());
    let mut device = device(&image);
    let mut create = |priority| {
        let made = device.create_queue(QueueConfig { priority });
        made.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(create(16), Err("priority 16 is not 0 to 15".to_string()));
    for priority in 0..4 {
        assert_eq!(create(priority), Ok(()));
    }
    let taken = "another queue has priority 2: every queue needs its own";
    assert_eq!(create(2), Err(taken.to_string()));
    assert_eq!(create(9), Err("all 4 group slots are taken".to_string()));
}

#[test]
fn a_full_queue_takes_nothing_more() {
    let image = image(&control_blocks());
    let (mut device, queue, commands) = submitted(&image);
    for point in 2..=32 {
        assert_eq!(queue.submit(&mut device, &commands), Ok(point));
    }
    let error = queue.submit(&mut device, &commands).expect_err("full");
    assert_eq!(
        error.to_string(),
        "the queue is full: wait for one of its jobs first"
    );
    end_job(&mut device, 3, 0);
    assert_eq!(queue.submit(&mut device, &commands), Ok(33));
}

#[test]
fn a_device_fits_on_a_stack() {
    // Bounded memory, stated: a device is moved at most a few times, while it is brought up.
    assert!(
        size_of::<Device<'_, ()>>() < 40 << 10,
        "{}",
        size_of::<Device<'_, ()>>()
    );
}

#[test]
fn a_line_that_stays_high_does_not_stop_time() {
    let mut fake = Fake::new(0);
    fake.high = Lines::JOB;
    let mut looks = 0;
    let found = poll(
        &mut fake,
        |it| it,
        Pace::interrupt(Lines::ALL, LIMIT),
        |_| {
            looks += 1;
            Ok::<Option<()>, ()>(None)
        },
    );
    assert_eq!(found, Ok(None));
    assert!(looks < 100, "{looks}");
}
