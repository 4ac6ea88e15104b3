//! What others bring: command streams of their own at addresses of their own, and a program that is run in one call.

use crate::bench::{
    DOUBLE, FOREVER, OrFail, Work, diagnoses, fault, machine, program, queue, submit, up, wait,
};
use crate::machine::Machine;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::Config;
use eitri_runtime::{Access, Bound, Cause, Error, ErrorKind, GpuAddress, SubQueue};

const BLOCK: u64 = 2 << 20;
const WHERE: GpuAddress = GpuAddress(0x7000_0000);

/// A stream that another driver wrote: stores a word, where both were mapped by hand.
pub(crate) fn a_stream_at_a_given_address_runs() {
    use eitri_cs::instr::{Move32, Move48, StoreMultiple, Wait};
    use eitri_cs::{Arch, Pair, SlotMask, r};
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let code = device.create_buffer(space, 4096).or_fail("there is memory");
    let data = device.create_buffer(space, 4096).or_fail("there is memory");
    let arch = Arch::V10;
    let to = WHERE.offset(0x1_0000);
    let address = Pair::new(8).or_fail("the register is even");
    let store = StoreMultiple {
        address,
        mask: eitri_cs::RegMask::first(1),
        base_register: r!(4),
        offset: 8,
    };
    let wait_all = Wait {
        wait_mask: SlotMask::first(8),
        ..Wait::default()
    };
    let stream = [
        Move48 {
            destination: address,
            immediate: to.0,
        }
        .encode(arch),
        Move32 {
            destination: r!(4),
            immediate: 0xC0DE,
        }
        .encode(arch),
        store.encode(arch),
        wait_all.encode(arch),
    ];
    let bytes: Vec<u8> = stream
        .into_iter()
        .flat_map(|word| word.or_fail("it is legal").to_le_bytes())
        .collect();
    device.write_buffer(code, 0, &bytes).or_fail("it fits");
    device
        .map_buffer(code, 0, 4096, WHERE, Access::Read)
        .or_fail("the place is free");
    device
        .map_buffer(data, 0, 4096, to, Access::ReadWrite)
        .or_fail("the place is free");
    let run = |device: &mut eitri_runtime::Device<'_, '_, _>| {
        let fence = device.submit_stream(queue, SubQueue::Compute, WHERE, bytes.len() as u32);
        fence.or_fail("there is room")
    };
    let fence = run(&mut device);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(crate::bench::words(&mut device, data, 3), [0, 0, 0xC0DE]);
    assert_eq!(diagnoses(&machine), [""; 0]);

    // Unmapped, it faults, and the fault says where.
    device
        .unmap_range(space, to, 4096)
        .or_fail("it is an alias");
    let fence = run(&mut device);
    let failed = fault(&mut device, fence);
    let mmu = match (failed.mmu, failed.cause) {
        (Some(mmu), _) | (None, Cause::Mmu(mmu)) => mmu,
        _ => panic!("{failed}"),
    };
    assert_eq!(mmu.address & !0xFFF, to.0);
}

/// A block of 2 MiB may go in part; its rest still leads to the same memory; the place may be mapped again.
pub(crate) fn blocks_are_unmapped_in_part_and_mapped_again() {
    let mut device = up(machine());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let buffer = device
        .create_buffer(space, 2 * BLOCK)
        .or_fail("there is memory");
    let map = |device: &mut eitri_runtime::Device<'_, '_, _>, offset, bytes, at| {
        device.map_buffer(buffer, offset, bytes, at, Access::ReadWrite)
    };
    map(&mut device, 0, 2 * BLOCK, WHERE).or_fail("the place is free");
    let taken = map(&mut device, 0, 4096, WHERE.offset(0x5000)).expect_err("taken");
    assert_eq!(taken.kind(), ErrorKind::Refused, "{taken}");
    device
        .unmap_range(space, WHERE.offset(0x5000), 0x2000)
        .or_fail("it is a part");
    map(&mut device, BLOCK, 4096, WHERE.offset(0x5000)).or_fail("the place is free now");
    let outside = map(&mut device, 2 * BLOCK, 4096, WHERE.offset(4 * BLOCK));
    assert!(matches!(outside, Err(Error::Outside { .. })), "{outside:?}");

    // What has its address from the device is not unmapped by hand.
    let own = device.buffer_address(buffer).or_fail("it is there");
    let refused = device
        .unmap_range(space, own, 4096)
        .expect_err("the buffer's");
    assert!(matches!(refused, Error::Occupied { .. }), "{refused}");

    // With the buffer go its aliases: the place is free for another.
    device.destroy_buffer(buffer).or_fail("nothing uses it");
    let other = device.create_buffer(space, 4096).or_fail("there is memory");
    device
        .map_buffer(other, 0, 4096, WHERE, Access::Execute)
        .or_fail("the place is free");
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
}

pub(crate) fn a_program_runs_in_one_call() {
    let machine = Machine::new(Config::default());
    let mut device = up(machine.clone());
    let before = machine.memory_in_use();
    let mut data: Vec<u8> = (0..64_u32).flat_map(u32::to_le_bytes).collect();
    let limit = Duration::from_millis(50);
    for round in 1..=3 {
        let ran = device.run(
            &program(&DOUBLE),
            [1, 1, 1],
            &[],
            &mut [Bound::new(0, &mut data)],
            limit,
        );
        assert_eq!(ran, Ok(()), "{round}");
        assert_eq!(data[4..8], (1_u32 << round).to_le_bytes());
    }
    let endless = device.run(
        &program(&FOREVER),
        [1, 1, 1],
        &[],
        &mut [Bound::new(0, &mut data)],
        limit,
    );
    assert!(
        matches!(endless, Err(Error::TimedOut { .. })),
        "{endless:?}"
    );
    let unbound = device.run(&program(&DOUBLE), [1, 1, 1], &[], &mut [], limit);
    assert_eq!(
        unbound.map_err(|error| error.kind()),
        Err(ErrorKind::Refused)
    );
    let after = machine.memory_in_use();
    assert!(after <= before + 2 * 4096, "{before} {after}");
    assert_eq!(diagnoses(&machine), [""; 0]);
}
