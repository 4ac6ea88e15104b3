//! Interrupts: which sources of the three lines are let through.
//!
//! Facts: hardware/csf-mmio.md section 3.

use crate::access::RegisterAccess;
use crate::platform::Platform;
use eitri_csf::registers::interrupts::{GPU_IRQ, InterruptBlock, JOB_IRQ, MMU_IRQ};

/// Lets the sources of `bits` through, and forgets what was latched before.
pub(crate) fn unmask<P: Platform>(platform: &mut P, block: InterruptBlock, bits: u32) {
    platform.write(block.clear, u64::from(bits));
    platform.write(block.mask, u64::from(bits));
}

/// Lets no interrupt through.
pub(crate) fn mask_all<P: Platform>(platform: &mut P) {
    for block in [GPU_IRQ, JOB_IRQ, MMU_IRQ] {
        platform.write(block.mask, 0);
    }
}

/// Clears whatever holds the JOB line, and gives its bits; what is read of memory afterwards is not older.
pub(crate) fn clear_job_line<P: Platform>(platform: &mut P) -> u32 {
    let seen = platform.read_word(JOB_IRQ.rawstat);
    if seen != 0 {
        platform.write(JOB_IRQ.clear, u64::from(seen));
    }
    platform.observe();
    seen
}
