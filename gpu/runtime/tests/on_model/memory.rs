//! Memory in the long run: what comes back is of use again.

use crate::bench::{DOUBLE, Work, diagnoses, machine, queue, up, wait};
use eitri_runtime::Buffer;

#[test]
fn buffers_that_come_and_go_leave_nothing_behind() {
    let machine = machine();
    let mut device = up(machine.clone());
    let mut page = || device.create_buffer(4096).expect("memory");
    let mut first: Vec<Option<Buffer>> = (0..300).map(|_| Some(page())).collect();
    for buffer in first.iter_mut().step_by(2) {
        let buffer = buffer.take().expect("still there");
        device.destroy_buffer(buffer).expect("unused");
    }
    let before = (device.memory_in_use(), machine.memory_in_use());
    for round in 0..8 {
        let mut page = || device.create_buffer(4096).expect("memory");
        let buffers: Vec<Buffer> = (0..150).map(|_| page()).collect();
        for buffer in buffers {
            device.destroy_buffer(buffer).expect("unused");
        }
        // Page tables that hold nothing any more are given back too.
        let after = (device.memory_in_use(), machine.memory_in_use());
        assert!(after.0 <= before.0 + 4096, "{round}: {before:?} {after:?}");
        assert_eq!(after.0 - before.0, after.1 - before.1);
    }
}

/// Addresses come round: a space that is nearly full finds the places that were freed.
#[test]
fn addresses_are_reused_when_the_space_is_full() {
    let machine = machine();
    let options = eitri_runtime::Options {
        first_address: 32 << 20,
        end_address: (32 << 20) + 64 * 4096,
    };
    let up = eitri_runtime::Device::bring_up(machine, &crate::bench::FIRMWARE, options, &mut ());
    let mut device = up.expect("brought up");
    let mut held: Vec<Buffer> = Vec::new();
    while let Ok(buffer) = device.create_buffer(4096) {
        held.push(buffer);
    }
    // Every buffer has a page of nothing behind it.
    assert_eq!(held.len(), 32);
    for _ in 0..100 {
        let one = held.swap_remove(7);
        let address = one.address();
        device.destroy_buffer(one).expect("unused");
        let again = device.create_buffer(4096).expect("the place is free again");
        assert_eq!(again.address(), address);
        held.push(again);
    }
}

#[test]
fn everything_is_the_platforms_again_after_shutdown() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 256);
    let point = queue.submit(&mut device, &work.commands).expect("room");
    assert_eq!(wait(&mut device, &queue, point), Ok(()));
    work.destroy(&mut device);
    // The queue is not destroyed: the device takes it down with it.
    device.shutdown(&mut ()).expect("in order");
    assert_eq!(machine.memory_in_use(), 0);
    assert_eq!(diagnoses(&machine), [""; 0]);
}
