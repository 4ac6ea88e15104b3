//! What a job pays for caches: nothing, unless the host has written what the GPU has in its caches, or reads what they have.

use crate::bench::{DOUBLE, Work, diagnoses, machine, queue, submit, up, wait};
use eitri_on_model::Machine;
use eitri_runtime::{Accesses, Platform};

/// LATEST_FLUSH counts the flushes that were done (hardware/csf-mmio.md 13).
fn flushes(machine: &Machine) -> u32 {
    machine.clone().read32(0x1_0000)
}

#[test]
fn a_small_job_pays_no_full_flush() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let before = flushes(&machine);
    for _ in 0..4 {
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(flushes(&machine), before);
    // Whoever reads pays, once.
    for _ in 0..2 {
        assert_eq!(work.words(&mut device, 3), [0, 16, 32]);
        assert_eq!(flushes(&machine), before + 1);
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// The caches may hold what the host has written over: the first of the jobs that follow flushes, by its id, and the others
/// do not.
#[test]
fn of_several_jobs_behind_a_write_one_flushes() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    device.write_buffer(work.buffer, 0, &[7; 4]).expect("fits");
    let before = flushes(&machine);
    let fences = [0; 3].map(|_| submit(&mut device, queue, &work));
    for fence in fences {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(flushes(&machine), before + 1);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(
        flushes(&machine),
        before + 1,
        "it is known to have been done"
    );
    let word = 0x0707_0707_u32.wrapping_mul(16);
    assert_eq!(work.words(&mut device, 1), [word]);
}

/// What no job has used is in no cache.
#[test]
fn fresh_memory_is_written_for_nothing() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let first = Work::new(&mut device, queue, &DOUBLE, 64);
    let fence = submit(&mut device, queue, &first);
    assert_eq!(wait(&mut device, fence), Ok(()));
    let second = Work::new(&mut device, queue, &DOUBLE, 64);
    let before = flushes(&machine);
    device
        .write_buffer(second.buffer, 0, &[1; 4])
        .expect("fits");
    let fence = submit(&mut device, queue, &second);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(flushes(&machine), before);
}

/// A barrier to the host flushes in the job, and the host need not.
#[test]
fn a_barrier_to_the_host_is_the_flush_of_the_host() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let recorded = device.record(work.commands, |it| {
        it.bind_pipeline(work.pipeline)?;
        it.bind_descriptor_set(work.set)?.dispatch([1, 1, 1])?;
        it.barrier(Accesses::SHADER_WRITE, Accesses::HOST_READ)?;
        Ok(())
    });
    recorded.expect("fits");
    let before = flushes(&machine);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(flushes(&machine), before + 1);
    assert_eq!(work.words(&mut device, 2), [0, 2]);
    assert_eq!(flushes(&machine), before + 1);
}

/// Commands that are recorded again may stand in caches of the cores; the L2 does not cache them.
#[test]
fn commands_that_are_recorded_again_are_seen() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 128);
    for round in 1..4_u32 {
        let recorded = device.record(work.commands, |it| {
            it.bind_pipeline(work.pipeline)?;
            it.bind_descriptor_set(work.set)?.dispatch([1, 1, 1])?;
            Ok(())
        });
        recorded.expect("fits");
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
        assert_eq!(work.words(&mut device, 65)[1], 1 << round);
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
}
