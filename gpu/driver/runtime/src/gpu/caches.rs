//! The GPU's caches: cleaned and invalidated by command, one command at a time.
//!
//! Facts: hardware/csf-mmio.md sections 6 and 16.10.

use crate::access::RegisterAccess;
use crate::platform::{Instant, Lines, Platform};
use crate::wait::{Condition, RegisterWait, TimedOut, finish, ms};
use core::time::Duration;
use eitri_csf::command::{CacheFlush, GpuCommand};
use eitri_csf::registers::control::GPU_COMMAND;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};

/// How long a flush may take.
const LIMIT: Duration = ms(100);

/// A flush under way. Nobody else's may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flush(RegisterWait);

impl Flush {
    /// Asks for it.
    pub(crate) fn begin<P: Platform>(platform: &mut P, now: Instant, what: CacheFlush) -> Flush {
        let completed = gpu_irq::CLEAN_CACHES_COMPLETED.mask();
        platform.write(GPU_IRQ.clear, completed);
        platform.publish();
        platform.write(GPU_COMMAND, u64::from(GpuCommand::FlushCaches(what).word()));
        let wanted = Condition::set(completed);
        Flush(RegisterWait::new(
            platform,
            now,
            &GPU_IRQ.rawstat,
            wanted,
            LIMIT,
        ))
    }

    /// Whether it is done.
    ///
    /// # Errors
    /// If it is not done in time: the GPU must be reset.
    pub(crate) fn poll<P: Platform>(
        &self,
        platform: &mut P,
        now: Instant,
    ) -> Result<bool, TimedOut> {
        let done = self.0.poll(platform, now)?;
        if done {
            platform.write(GPU_IRQ.clear, gpu_irq::CLEAN_CACHES_COMPLETED.mask());
        }
        Ok(done)
    }
}

/// Flushes caches and waits until it is done.
///
/// # Errors
/// If it is not done in time: the GPU must be reset.
pub(crate) fn flush<P: Platform>(platform: &mut P, what: CacheFlush) -> Result<(), TimedOut> {
    let now = platform.now();
    let flush = Flush::begin(platform, now, what);
    finish(platform, Lines::GPU, ms(1), |it, now| flush.poll(it, now))
}
