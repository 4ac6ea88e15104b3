//! What the runtime does not do yet: each test says what is missing, and fails until it is there.

use crate::bench::{DOUBLE, Work, machine, queue, submit, up, wait};

#[test]
#[ignore = "every job flushes unconditionally at both ends: flush ids will spare a job what nobody wrote"]
fn a_small_job_pays_no_full_flush() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let flushes = |machine: &eitri_on_model::Machine| {
        // LATEST_FLUSH counts the flushes that were done (hardware/csf-mmio.md 13).
        use eitri_runtime::Platform;
        machine.clone().read32(0x1_0000)
    };
    let before = flushes(&machine);
    for _ in 0..4 {
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(flushes(&machine), before);
}
