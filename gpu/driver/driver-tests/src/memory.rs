//! Memory in the long run: what comes back is of use again.

use crate::bench::{
    DOUBLE, OrFail, Ready, Work, config, diagnoses, machine, queue, queue_in, ready, submit, up,
    up_on, up_with, wait,
};
use crate::machine::Machine;
use alloc::boxed::Box;
use alloc::vec::Vec;
use eitri_runtime::{Buffer, Device, Error, ErrorKind, Options, Storage};

/// Commands hold what they use from one job to the next; when none of their jobs is in flight, they give way.
pub(crate) fn what_only_idle_commands_use_is_destroyed_and_they_run_no_more() {
    let mut device = up(machine());
    let queue = queue(&mut device);
    let [idle, busy] = [0, 1].map(|_| Work::new(&mut device, queue, &DOUBLE, 64));
    for _ in 0..2 {
        let fence = submit(&mut device, queue, &idle);
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    let fence = submit(&mut device, queue, &busy);
    let refused = device.destroy_descriptor_set(busy.set);
    let in_use = matches!(refused, Err(Error::InUse { by, .. }) if by == fence);
    assert!(in_use, "{refused:?}");
    assert_eq!(device.destroy_descriptor_set(idle.set), Ok(()));
    let again = device.submit(queue, idle.commands);
    assert_eq!(again, Err(Error::NotRecorded));
    assert_eq!(wait(&mut device, fence), Ok(()));
    let fence = submit(&mut device, queue, &busy);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(device.destroy_descriptor_set(busy.set), Ok(()));
}

pub(crate) fn buffers_that_come_and_go_leave_nothing_behind() {
    let machine = machine();
    let storage = Box::leak(Box::new(Storage::<2, 8, 400>::new()));
    let firmware = crate::bench::firmware();
    let up = Device::bring_up(
        machine.platform(),
        firmware,
        storage,
        Options::default(),
        &mut (),
    );
    let mut device = up.or_fail("the GPU comes up");
    let space = device.create_space().or_fail("there is memory");
    let mut page = || device.create_buffer(space, 4096).or_fail("there is memory");
    let mut first: Vec<Option<Buffer>> = (0..300).map(|_| Some(page())).collect();
    for buffer in first.iter_mut().step_by(2) {
        let buffer = buffer.take().or_fail("it is still there");
        device.destroy_buffer(buffer).or_fail("nothing uses it");
    }
    let before = (device.memory_in_use(), machine.memory_in_use());
    for round in 0..8 {
        let mut page = || device.create_buffer(space, 4096).or_fail("there is memory");
        let buffers: Vec<Buffer> = (0..150).map(|_| page()).collect();
        for buffer in buffers {
            device.destroy_buffer(buffer).or_fail("nothing uses it");
        }
        // Page tables that hold nothing any more are given back too.
        let after = (device.memory_in_use(), machine.memory_in_use());
        assert!(after.0 <= before.0 + 4096, "{round}: {before:?} {after:?}");
        assert_eq!(after.0 - before.0, after.1 - before.1);
    }
}

/// Addresses come round: a space that is nearly full finds the places that were freed.
pub(crate) fn addresses_are_reused_when_the_space_is_full() {
    let machine = machine();
    let options = Options {
        first_address: 32 << 20,
        end_address: (32 << 20) + 64 * 4096,
        ..Options::default()
    };
    let mut device = up_with(machine, options);
    let space = device.create_space().or_fail("there is memory");
    let mut held: Vec<Buffer> = Vec::new();
    let refused = loop {
        match device.create_buffer(space, 4096) {
            Ok(buffer) => held.push(buffer),
            Err(error) => break error,
        }
    };
    assert_eq!(refused.kind(), ErrorKind::OutOfMemory, "{refused}");
    // Every buffer has a page of nothing behind it.
    assert_eq!(held.len(), 32);
    for _ in 0..100 {
        let one = held.swap_remove(7);
        let address = device.buffer_address(one).or_fail("it is there");
        device.destroy_buffer(one).or_fail("nothing uses it");
        let again = device.create_buffer(space, 4096);
        let again = again.or_fail("the place is free again");
        assert_eq!(device.buffer_address(again), Ok(address));
        held.push(again);
    }
}

/// A buffer that is mapped by a block of 1 GiB: the GPU finds its last words.
pub(crate) fn a_buffer_of_a_gibibyte_is_one_block() {
    const HUGE: u64 = 1 << 30;
    let machine = Machine::with_memory(config(), 3 * HUGE);
    let mut device = up_on(machine.platform(), Options::default());
    let space = device.create_space().or_fail("there is memory");
    let tables = machine.memory_in_use();
    let buffer = device.create_buffer(space, HUGE).or_fail("there is memory");
    assert_eq!(
        device.buffer_address(buffer).or_fail("it is there").0 % HUGE,
        0
    );
    assert!(
        machine.memory_in_use() <= tables + HUGE + 4096,
        "tables for blocks of 2 MiB"
    );
    let queue = queue_in(&mut device, space);
    let work = Work::on_buffer(&mut device, space, &DOUBLE, buffer, HUGE - 256, 64);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    let mut read = [0; 256];
    device
        .read_buffer(buffer, HUGE - 256, &mut read)
        .or_fail("it is inside");
    let doubled: Vec<u8> = (0..64_u32)
        .flat_map(|word| (2 * word).to_le_bytes())
        .collect();
    assert_eq!(read[..], doubled[..]);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

pub(crate) fn everything_is_the_platforms_again_after_shutdown() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 256);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    // Nothing is destroyed: the device takes it all down with it.
    device.shutdown(&mut ()).or_fail("it shuts down in order");
    assert_eq!(machine.memory_in_use(), 0);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// A queue's own space goes with it, and everything in it; its handles are known to be void.
pub(crate) fn a_queue_takes_its_own_space_with_it() {
    let machine = machine();
    let mut device = up(machine.clone());
    let before = machine.memory_in_use();
    for _ in 0..20 {
        let queue = queue(&mut device);
        let work = Work::new(&mut device, queue, &DOUBLE, 256);
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
        device.destroy_queue(queue).or_fail("the queue is idle");
        assert!(device.settle());
        let gone = device.destroy_buffer(work.buffer).expect_err("gone");
        assert_eq!(gone.kind(), ErrorKind::Gone, "{gone}");
    }
    // A table of the firmware's space may have come to stay.
    let after = machine.memory_in_use();
    assert!(after <= before + 2 * 4096, "{before} {after}");
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// What a job in flight uses, through commands and sets, stays; the error says which job.
pub(crate) fn what_a_job_in_flight_uses_is_not_destroyed() {
    let Ready {
        mut device,
        queue,
        work,
        ..
    } = ready(&DOUBLE, 256);
    let fence = submit(&mut device, queue, &work);
    let in_use = |result: Result<(), Error>| match result {
        Err(Error::InUse { by, .. }) => assert_eq!(by, fence),
        other => panic!("{other:?}"),
    };
    in_use(device.destroy_buffer(work.buffer));
    in_use(device.destroy_pipeline(work.pipeline));
    in_use(device.destroy_descriptor_set(work.set));
    in_use(device.destroy_command_buffer(work.commands));
    in_use(device.bind_buffer(work.set, 0, work.buffer));
    in_use(device.record(work.commands, |_| Ok(())));
    in_use(device.destroy_queue(queue));
    assert_eq!(wait(&mut device, fence), Ok(()));
    // Commands whose buffer has gone are not run.
    device
        .destroy_buffer(work.buffer)
        .or_fail("nothing uses it");
    let refused = device
        .submit(queue, work.commands)
        .expect_err("the buffer is gone");
    assert_eq!(refused, Error::NotRecorded);
}

/// Spaces keep apart: nothing of one is of use in another.
pub(crate) fn what_is_in_one_space_is_not_used_in_another() {
    let mut device = up(machine());
    let (a, b) = (queue(&mut device), queue(&mut device));
    let work = Work::new(&mut device, a, &DOUBLE, 64);
    let other = device.space(b).or_fail("it is there");
    let buffer = device.create_buffer(other, 256).or_fail("there is memory");
    let commands = device
        .create_command_buffer(other)
        .or_fail("there is memory");
    let apart = |result: Result<(), Error>| {
        assert!(
            matches!(result, Err(Error::OtherSpace { .. })),
            "{result:?}"
        );
    };
    apart(device.submit(b, work.commands).map(drop));
    apart(device.bind_buffer(work.set, 0, buffer));
    apart(device.record(commands, |it| it.bind_pipeline(work.pipeline).map(drop)));
    apart(device.record(commands, |it| it.bind_descriptor_set(work.set).map(drop)));
}

/// Two devices of one program, and one after the other: what is of one names nothing of another.
pub(crate) fn handles_of_another_device_are_void() {
    let [mut a, mut b] = [0; 2].map(|_| up(machine()));
    let of_a = queue(&mut a);
    let of_b = queue(&mut b);
    let [work_a, work_b] = [(&mut a, of_a), (&mut b, of_b)]
        .map(|(device, queue)| Work::new(device, queue, &DOUBLE, 64));
    let fence = submit(&mut b, of_b, &work_b);
    assert_eq!(wait(&mut b, fence), Ok(()));
    assert!(of_a != of_b && work_a.buffer != work_b.buffer);
    let gone = |result: Result<(), Error>| matches!(result, Err(Error::Gone { .. }));
    assert!(gone(a.write_buffer(work_b.buffer, 0, &[9; 4])));
    assert!(gone(a.space(of_b).map(drop)));
    assert!(gone(a.submit(of_a, work_b.commands).map(drop)));
    assert!(gone(a.submit(of_b, work_a.commands).map(drop)));
    assert!(gone(a.destroy_queue(of_b)));
    assert_eq!(a.status(fence), eitri_runtime::Status::Unknown);
    assert_eq!(work_a.words(&mut a, 2), [0, 1], "nothing was written");
    a.shutdown(&mut ()).or_fail("it shuts down in order");
    let mut c = up(machine());
    let of_c = queue(&mut c);
    let work_c = Work::new(&mut c, of_c, &DOUBLE, 64);
    assert!(gone(c.write_buffer(work_a.buffer, 0, &[9; 4])));
    assert_eq!(work_c.words(&mut c, 2), [0, 1]);
}
