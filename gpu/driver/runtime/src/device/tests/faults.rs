//! Faults: of jobs, of streams, of address spaces, and of the firmware, which is started again.

use super::*;

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

/// The line of an MMU fault is high until somebody clears it: a poll that comes for it does so at once, not when jobs are due to be
/// looked at.
#[test]
fn an_mmu_fault_is_taken_by_the_poll_that_its_interrupt_asks_for() {
    let image = image(&control_blocks());
    let (mut device, _fence, _commands) = submitted(&image);
    assert!(device.settle(), "the group has its slot");
    // Until nothing is left to do but to wait.
    let mut now = device.hw.platform.now();
    for _ in 0..10 {
        now = device.hw.platform.now();
        device.poll(now);
    }
    let fake = &mut device.hw.platform;
    fake.writes.clear();
    fake.registers.insert(MMU_IRQ_RAWSTAT.offset, 1 << 1);
    fake.registers
        .insert(AS_FAULTSTATUS.at(1).offset, 0x00C3 | 3 << 8 | 0x180 << 16);
    device.poll(now);
    let cleared = device.hw.platform.written(MMU_IRQ_CLEAR);
    assert_eq!(cleared, Some(1 << 1), "what was written to MMU_IRQ_CLEAR");
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
