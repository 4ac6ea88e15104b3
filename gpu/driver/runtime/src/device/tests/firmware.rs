//! What the firmware is told, and what it asks for.

use super::*;

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

/// The next user of a slot must find its streams stopped (hardware/csf-scheduling.md section 3).
#[test]
fn streams_are_stopped_when_their_group_has_left_its_slot() {
    let image = image(&control_blocks());
    let (mut device, fence, commands) = submitted(&image);
    let states = |device: &mut Device<'_, '_, Fake>| {
        let slot = &device.hw.interface.slots[0];
        let it = &mut device.hw.platform;
        [0, 1, 2].map(|number| {
            let request = slot.streams[number].input.read_word(it, CS_REQ);
            request & cs_req::STATE.mask32()
        })
    };
    end_job(&mut device, 1, 0);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(states(&mut device), [cs_req::STATE.word(CsState::Start); 3]);
    device.destroy_command_buffer(commands).expect("unused");
    device.destroy_queue(fence.queue).expect("idle");
    assert!(device.settle());
    assert_eq!(states(&mut device), [cs_req::STATE.word(CsState::Stop); 3]);
}
