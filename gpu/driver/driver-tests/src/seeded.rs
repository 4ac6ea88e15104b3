//! Seeded: drivers whose upkeep of caches is left out once, so that it is seen that this is found and told.
//!
//! They are no tests of the list, since what they do is wrong: whoever runs the tests runs them too, and looks at what is told.

use crate::bench::{DOUBLE, LIMIT, OrFail, Work, machine, queue, submit, up_on, wait};
use crate::machine::Upkeep;
use alloc::string::String;
use alloc::vec::Vec;
use eitri_runtime::Options;

/// A driver that lacks upkeep of caches.
#[derive(Clone, Copy, Debug)]
pub struct Seeded {
    /// What is missing.
    pub name: &'static str,
    /// Runs it behind caches; what was told of it.
    pub run: fn() -> Vec<String>,
    /// What is told, besides the addresses: who of the GPU, and what it did.
    pub told: &'static [&'static str],
    /// The driver's function that is at fault.
    pub at_fault: &'static str,
}

/// Every one of them.
#[rustfmt::skip]
pub static SEEDED: &[Seeded] = &[
    Seeded { name: "a clean",        run: without_a_clean,        told: &["shader core", "of the GPU reads the line of 0x", "has stored what was not cleaned"], at_fault: "write_buffer" },
    Seeded { name: "an invalidation", run: without_an_invalidation, told: &["loads 0x", "which the L2 of the GPU has written since the line of 0x"],                at_fault: "read_buffer" },
];

/// What the host writes into a buffer stays in its caches; a job reads it.
fn without_a_clean() -> Vec<String> {
    let machine = machine();
    let mut device = up_on(machine.behind_caches(1), Options::default());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    machine.leave_out(Some(Upkeep::Clean));
    let written = device.write_buffer(work.buffer, 0, &[7; 256]);
    machine.leave_out(None);
    written.or_fail("it is inside of the buffer");
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()), "the job itself is good");
    machine.diagnoses()
}

/// The host has a buffer in its caches when a job writes it, and reads it there.
fn without_an_invalidation() -> Vec<String> {
    let machine = machine();
    let mut device = up_on(machine.behind_caches(1), Options::default());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    assert_eq!(work.words(&mut device, 2), [0, 1]);
    let fence = submit(&mut device, queue, &work);
    let ended = device.wait(fence, LIMIT);
    assert_eq!(ended, eitri_runtime::Status::Done, "the job itself is good");
    machine.leave_out(Some(Upkeep::Invalidate));
    let stale = work.words(&mut device, 2);
    machine.leave_out(None);
    assert_eq!(stale, [0, 1], "what was in the caches before the job");
    machine.diagnoses()
}
