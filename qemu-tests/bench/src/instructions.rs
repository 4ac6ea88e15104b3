//! Instructions that were executed, by the performance monitor of the CPU.
//!
//! QEMU counts them exactly when its time is that of instructions (`-icount`).
//! Facts: the registers are the architecture's (PMUv3); event 0x08 is INST_RETIRED, and without NSH nothing is counted at EL2.

const INST_RETIRED: u64 = 0x08;
/// PMCR_EL0: counters run, and begin at zero.
const RUN: u64 = 0b11;
const COUNTER_0: u64 = 1;

/// Begins to count.
pub(crate) fn start() {
    // SAFETY: sets up a counter that nobody else uses.
    unsafe {
        core::arch::asm!(
            "msr pmevtyper0_el0, {event}",
            "msr pmcntenset_el0, {counter}",
            "msr pmcr_el0, {run}",
            "isb",
            event = in(reg) INST_RETIRED,
            counter = in(reg) COUNTER_0,
            run = in(reg) RUN,
            options(nostack, nomem),
        );
    }
}

/// How many there were, modulo 2^32.
pub(crate) fn executed() -> u32 {
    let count: u64;
    // SAFETY: reads a counter.
    unsafe {
        core::arch::asm!("isb", "mrs {}, pmevcntr0_el0", out(reg) count, options(nostack, nomem));
    }
    count as u32
}
