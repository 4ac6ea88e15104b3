//! The GPU's caches: cleaned and invalidated by command, one command at a time.
//!
//! Facts: hardware/csf-mmio.md sections 6 and 16.10.

use crate::access::Access;
use crate::platform::{Lines, Platform};
use crate::wait::{Condition, Pace, TimedOut, ms, wait_until};
use eitri_csf::command::{CacheFlush, GpuCommand};
use eitri_csf::registers::control::GPU_COMMAND;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};

/// Flushes caches and waits until it is done.
///
/// # Errors
/// If it is not done in time: the GPU must be reset.
pub(crate) fn flush<P: Platform>(platform: &mut P, what: CacheFlush) -> Result<(), TimedOut> {
    let completed = gpu_irq::CLEAN_CACHES_COMPLETED.mask();
    platform.write(GPU_IRQ.clear, completed);
    platform.publish();
    platform.write(GPU_COMMAND, u64::from(GpuCommand::FlushCaches(what).word()));
    let pace = Pace::interrupt(Lines::GPU, ms(100));
    wait_until(platform, GPU_IRQ.rawstat, Condition::set(completed), pace)?;
    platform.write(GPU_IRQ.clear, completed);
    Ok(())
}
