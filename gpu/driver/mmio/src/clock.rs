//! Clock: the time that limits are measured by.
//!
//! Facts: hardware/boards.md 3.4.

use eitri_runtime::Instant;

/// A monotonic clock.
pub trait Clock {
    /// Time since some fixed moment.
    fn now(&mut self) -> Instant;

    /// The rate of the system counter that the GPU sees too, in hertz; 0 if not known.
    fn hertz(&self) -> u64;
}

/// The generic timer's virtual counter, which is there on every 64-bit Arm CPU.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug, Default)]
pub struct GenericTimer;

#[cfg(target_arch = "aarch64")]
impl Clock for GenericTimer {
    fn now(&mut self) -> Instant {
        let ticks: u64;
        // SAFETY: reads a counter. The barrier keeps the read behind what the program did before.
        unsafe {
            core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags));
        }
        // The register's upper half is reserved: so what is left of a second, in nanoseconds, fits 64 bits.
        let hertz = u64::from(self.hertz() as u32).max(1);
        let nanoseconds = (ticks % hertz) * 1_000_000_000 / hertz;
        Instant(core::time::Duration::new(ticks / hertz, nanoseconds as u32))
    }

    fn hertz(&self) -> u64 {
        let hertz: u64;
        // SAFETY: reads what firmware has set.
        unsafe {
            core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hertz, options(nostack, nomem, preserves_flags));
        }
        hertz
    }
}
