//! The running phase against firmware that says yes: what a user sees when jobs end, fail, or do not end.

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
    CS_ACK, CS_CONFIG, CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO, CS_STATUS_BLOCKED_REASON,
    CS_USER_INPUT, cs_config,
};
use eitri_csf::interface::sync_object::{SYNC64_STATUS, SYNC64_VALUE};
use eitri_csf::registers::address_space::{AS_FAULTADDRESS, AS_FAULTSTATUS};
use eitri_csf::registers::interrupts::{GPU_IRQ, JOB_IRQ_RAWSTAT, MMU_IRQ_RAWSTAT, gpu_irq};
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
fn a_fault_fails_its_job_and_the_queue_goes_on() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    let (_, stream) = outputs(&mut device.hw.platform);
    stream.write(&mut device.hw.platform, CS_FAULT, 0x58);
    stream.write(&mut device.hw.platform, CS_FAULT_INFO, 0x1234);
    raise(&mut device, 1 << 31);
    let now = device.hw.platform.now();
    device.poll(now);
    end_job(&mut device, 1, 1);
    assert_eq!(
        wait(&mut device, fence),
        Err("job 1 of the compute stream of queue 0 failed: DATA_INVALID_FAULT (0x58): a descriptor is not valid\n  \
             information 0x1234, data 0x0\n  \
             help: shader program, resource table, local storage descriptors: `eitri unpack`\n  \
             the queue goes on"
            .to_string())
    );
    let second = device.submit(fence.queue, commands).expect("room");
    end_job(&mut device, 2, 0);
    assert_eq!(wait(&mut device, second), Ok(()));
}

#[test]
fn a_fatal_fault_stops_the_queue() {
    let image = image(&control_blocks());
    let (mut device, fence, _commands) = submitted(&image);
    let (_, stream) = outputs(&mut device.hw.platform);
    stream.write(&mut device.hw.platform, CS_FATAL, 0x49);
    stream.write(&mut device.hw.platform, CS_FATAL_INFO, 0x200_0000);
    raise(&mut device, 1 << 30);
    assert_eq!(
        wait(&mut device, fence),
        Err(
            "job 1 of the compute stream of queue 0 failed for good: CS_INSTR_INVALID (0x49): \
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
fn a_stream_that_can_not_go_on_costs_its_queue_and_a_reset() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    let (_, stream) = outputs(&mut device.hw.platform);
    stream.write(&mut device.hw.platform, CS_FATAL, 0x41);
    raise(&mut device, 1 << 30);
    let text = wait(&mut device, fence).expect_err("it can't go on");
    assert!(
        text.ends_with("the GPU is started again; the queue was stopped: make another"),
        "{text}"
    );
    assert!(device.settle());
    assert_eq!((device.recoveries(), device.lost()), (1, None));
    assert!(device.submit(fence.queue, commands).is_err());
    device.destroy_queue(fence.queue).expect("dead");
    device
        .create_queue(QueueConfig::default())
        .map(drop)
        .expect("a place");
}

#[test]
fn an_mmu_fault_names_the_address_and_stops_the_queue() {
    let image = image(&control_blocks());
    let (mut device, fence, _commands) = submitted(&image);
    let fake = &mut device.hw.platform;
    fake.registers.insert(MMU_IRQ_RAWSTAT.offset, 1 << 1);
    fake.registers
        .insert(AS_FAULTSTATUS.at(1).offset, 0x00C3 | 3 << 8 | 0x180 << 16);
    fake.registers.insert(AS_FAULTADDRESS.at(1).offset, 0x7000);
    assert_eq!(
        wait(&mut device, fence),
        Err(
            "job 1 of the compute stream of queue 0 failed: TRANSLATION_FAULT_3 in address space 1: \
             a write of 0x7000 by shader core 0, load/store cache: the address is not mapped\n  \
             the address lies 0x1ff9000 bytes before the start of queue 0, which has 0xc000 bytes at 0x2000000\n  \
             help: the access is outside every buffer, or the buffer was freed\n  \
             the queue was stopped: make another"
                .to_string()
        )
    );
}

/// An access that a mapping forbids lies in an object, not beside one.
#[test]
fn a_fault_names_the_object_that_its_address_lies_in() {
    let image = image(&control_blocks());
    for (address, words) in [
        (0x200_0000, "the address lies at the start of queue 0,"),
        (0x200_0010, "the address lies 0x10 bytes into queue 0,"),
        (0x200_BFFF, "the address lies 0xbfff bytes into queue 0,"),
    ] {
        let (mut device, fence, _commands) = submitted(&image);
        let fake = &mut device.hw.platform;
        fake.registers.insert(MMU_IRQ_RAWSTAT.offset, 1 << 1);
        fake.registers
            .insert(AS_FAULTSTATUS.at(1).offset, 0x00CB | 3 << 8 | 0x180 << 16);
        fake.registers.insert(AS_FAULTADDRESS.at(1).offset, address);
        let told = wait(&mut device, fence).expect_err("it failed");
        assert!(told.contains(words), "{address:#x}: {told}");
    }
}

#[test]
fn no_progress_and_unreported_errors_are_told() {
    let image = image(&control_blocks());
    let (mut device, fence, _commands) = submitted(&image);
    let (group, _) = outputs(&mut device.hw.platform);
    let ack = group.read(&mut device.hw.platform, CSG_ACK);
    group.write(&mut device.hw.platform, CSG_ACK, ack ^ 1 << 31);
    assert_eq!(
        wait(&mut device, fence),
        Err("job 1 of the compute stream of queue 0 failed: the firmware saw no progress for too long\n  \
             the queue was stopped: make another"
            .to_string())
    );
    let (mut device, fence, _commands) = submitted(&image);
    end_job(&mut device, 1, 7);
    assert_eq!(
        wait(&mut device, fence),
        Err(
            "job 1 of the compute stream of queue 0 failed: its sync object carries status 0x7, \
             no fault was reported\n  the queue goes on"
                .to_string()
        )
    );
}

/// The job that was on a slot is lost; the one behind it is the queue's next.
#[test]
fn crashed_firmware_is_started_again() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    let second = device.submit(fence.queue, commands).expect("room");
    device.hw.platform.registers.insert(MCU_STATUS.offset, 3);
    let text = "job 1 of the compute stream of queue 0 was lost with the GPU\n  the queue goes on";
    assert_eq!(wait(&mut device, fence), Err(text.to_string()));
    let text =
        "the firmware has crashed: MCU_STATUS (0x704) = 0x3: STATE 3 Fatal, GLB_HALT_STATUS = 0x0";
    assert_eq!(
        device.last_loss().map(ToString::to_string).as_deref(),
        Some(text)
    );
    assert_eq!(device.status(second), Status::Pending);
    assert_eq!(device.reached(fence.queue, SubQueue::Compute), Ok(1));
    assert!(device.settle());
    let now = device.hw.platform.now();
    device.poll(now);
    let slot = &device.hw.interface.slots[0];
    let pages = slot.streams[2]
        .input
        .read(&mut device.hw.platform, CS_USER_INPUT);
    assert_ne!(pages, 0, "the group was started again");
    end_job(&mut device, 2, 0);
    assert_eq!(wait(&mut device, second), Ok(()));
    device.shutdown(&mut ()).expect("in order");
}

#[test]
fn silent_firmware_is_started_again_until_the_device_is_given_up() {
    let image = image(&control_blocks());
    let mut device = device(&image);
    device.hw.platform.set_bell(None);
    let queue = device
        .create_queue(QueueConfig::default())
        .expect("a place");
    let space = device.space(queue).expect("it has one");
    let commands = device.create_command_buffer(space).expect("memory");
    device.record(commands, |_| Ok(())).expect("nothing");
    let fence = device
        .submit(queue, commands)
        .expect("nobody was asked yet");
    let _ = device.wait(fence, Duration::from_millis(220));
    let error = device.last_loss().expect("silent").to_string();
    let (text, rest) = error.split_once(" (in memory").expect("an address");
    assert_eq!(
        text,
        "the firmware did not answer the start of a group: CSG_ACK"
    );
    let (_, rest) = rest.split_once(") ").expect("an address");
    assert_eq!(
        rest,
        "= 0x0, wanted 0x11 in bits 0x17, after 100ms\n  \
         MCU_STATUS (0x704) = 0x1: STATE 1 Enabled"
    );
    assert_eq!(device.lost(), None);
    assert!(!matches!(
        device.wait(fence, Duration::from_secs(20)),
        Status::Pending
    ));
    assert!(device.settle());
    let lost = device.lost().expect("given up").to_string();
    let text =
        "the GPU could not be started again: the firmware did not answer the global configuration";
    assert!(lost.starts_with(text), "{lost}");
    let refused = device.submit(queue, commands).expect_err("given up");
    assert_eq!(
        refused.to_string(),
        std::format!("{lost}\n  the GPU must be restarted")
    );
}

#[test]
fn the_firmware_is_told_cores_and_priorities() {
    let image = image(&control_blocks());
    let mut device = device(&image);
    let cores = device.properties().cores;
    let one = cores & cores.wrapping_neg();
    let config = QueueConfig {
        cores: Some(one),
        streams: [3, 0, 15],
        ..QueueConfig::default()
    };
    let queue = device.create_queue(config).expect("a place");
    let space = device.space(queue).expect("it has one");
    let commands = device.create_command_buffer(space).expect("memory");
    device.record(commands, |_| Ok(())).expect("nothing");
    device.submit(queue, commands).expect("room");
    let slot = &device.hw.interface.slots[0];
    let it = &mut device.hw.platform;
    assert_eq!(slot.input.read(it, CSG_ALLOW_COMPUTE), one);
    assert_eq!(slot.input.read(it, CSG_ALLOW_FRAGMENT), one);
    assert_eq!(slot.input.read(it, CSG_ALLOW_OTHER), 1, "the tiler");
    assert_eq!(ep_req::COMPUTE.get(slot.input.read_word(it, CSG_EP_REQ)), 1);
    let told = |number: usize, it: &mut Fake| {
        let config = slot.streams[number].input.read_word(it, CS_CONFIG);
        cs_config::PRIORITY.get(config)
    };
    assert_eq!([0, 1, 2].map(|number| told(number, it)), [3, 0, 15]);
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

#[test]
fn a_line_that_stays_high_does_not_stop_time() {
    let mut fake = Fake::new(0);
    fake.high = Lines::JOB;
    let mut looks = 0;
    let found = poll(
        &mut fake,
        |it| it,
        |_| None,
        Pace::new(Lines::ALL, LIMIT),
        |_, _| {
            looks += 1;
            Ok::<Option<()>, ()>(None)
        },
    );
    assert_eq!(found, Ok(None));
    assert!(looks < 50 * 70, "{looks}");
}

/// From interface version to version the word for endpoints is another.
#[test]
fn endpoints_stand_in_the_word_of_the_interface() {
    let image = image(&control_blocks());
    for (version, word, other) in [
        (Version::new(1, 1), CSG_EP_REQ, CSG_EP_REQ2),
        (Version::EP_REQ2, CSG_EP_REQ2, CSG_EP_REQ),
    ] {
        let mut device = device(&image);
        device.hw.interface.version = version;
        let queue = device
            .create_queue(QueueConfig::default())
            .expect("a place");
        let space = device.space(queue).expect("it has one");
        let commands = device.create_command_buffer(space).expect("memory");
        device.record(commands, |_| Ok(())).expect("nothing");
        device.submit(queue, commands).expect("room");
        let slot = &device.hw.interface.slots[0];
        let it = &mut device.hw.platform;
        let found = [word, other].map(|word| slot.input.read(it, word) != 0);
        assert_eq!(found, [true, false], "{version:?}");
    }
}

#[test]
fn the_firmware_is_told_where_to_save_protected_groups() {
    let image = image(&control_blocks());
    for bytes in [0, 4096] {
        let mut device = device(&image);
        device.hw.interface.facts.protected_suspend_bytes = bytes;
        let queue = device
            .create_queue(QueueConfig::default())
            .expect("a place");
        let space = device.space(queue).expect("it has one");
        let commands = device.create_command_buffer(space).expect("memory");
        device.record(commands, |_| Ok(())).expect("nothing");
        // What the slot's last user had.
        let input = device.hw.interface.slots[0].input;
        input.write(&mut device.hw.platform, CSG_PROTM_SUSPEND_BUF, 0x1000);
        device.submit(queue, commands).expect("room");
        let told = input.read(&mut device.hw.platform, CSG_PROTM_SUSPEND_BUF);
        let space = &device.firmware_vm.space;
        let mapped = space.translate(&mut device.hw.platform, told).is_some();
        assert_eq!((told != 0, mapped), (bytes > 0, bytes > 0), "{told:#x}");
    }
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

/// Firmware raises an event of a stream, and has not said so in the slot's word yet.
#[test]
fn a_stream_is_looked_at_when_it_asks_for_it_and_when_its_group_goes() {
    let image = image(&control_blocks());
    for cancelled in [false, true] {
        let (mut device, fence, _commands) = submitted(&image);
        let (group, stream) = outputs(&mut device.hw.platform);
        stream.write(&mut device.hw.platform, CS_FATAL, 0x49);
        raise(&mut device, 1 << 30);
        group.write(&mut device.hw.platform, CSG_IRQ_REQ, 0);
        for _ in 0..2 {
            let now = device.hw.platform.now();
            device.poll(now);
        }
        assert_eq!(device.status(fence), Status::Pending);
        if cancelled {
            device.cancel(fence.queue).expect("it is there")
        } else {
            group.write(&mut device.hw.platform, CSG_IRQ_REQ, 1 << 2)
        }
        let told = wait(&mut device, fence).expect_err("a fatal fault");
        assert!(told.contains("CS_INSTR_INVALID (0x49)"), "{told}");
    }
}

/// What a slot reports when nobody is on it is of its last user.
#[test]
fn events_of_a_free_slot_are_not_its_next_users() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    end_job(&mut device, 1, 0);
    assert_eq!(wait(&mut device, fence), Ok(()));
    device.destroy_command_buffer(commands).expect("unused");
    device.destroy_queue(fence.queue).expect("idle");
    assert!(device.settle());
    let (_, stream) = outputs(&mut device.hw.platform);
    stream.write(&mut device.hw.platform, CS_FATAL, 0x49);
    let ack = stream.read(&mut device.hw.platform, CS_ACK);
    raise(&mut device, ack ^ 1 << 30);
    let queue = device
        .create_queue(QueueConfig::default())
        .expect("a place");
    let space = device.space(queue).expect("it has one");
    let commands = device.create_command_buffer(space).expect("memory");
    device.record(commands, |_| Ok(())).expect("nothing");
    let next = device.submit(queue, commands).expect("room");
    let now = device.hw.platform.now();
    device.poll(now);
    end_job(&mut device, 1, 0);
    assert_eq!(wait(&mut device, next), Ok(()));
}

#[test]
fn faults_of_the_gpu_interrupt_after_each_start() {
    let image = image(&control_blocks());
    let mut device = device(&image);
    let faults = gpu_irq::GPU_FAULT.mask() as u32 | gpu_irq::GPU_PROTECTED_FAULT.mask() as u32;
    for round in 0..2 {
        let mask = device.hw.platform.written(GPU_IRQ.mask).unwrap_or(0);
        assert_eq!(mask & faults, faults, "start {round}");
        device.hw.platform.write32(GPU_IRQ.mask.offset, 0);
        device.restart(&mut ()).expect("everything succeeds");
    }
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
