//! Upkeep: caches by address, and the barriers that order memory against the GPU.
//!
//! Facts: hardware/boards.md 3.1; the instructions are the architecture's.

use core::ops::Range;

/// How the CPU maps the memory that it shares with the GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    /// Not cached, or cached on a system that is coherent: there is nothing to keep up.
    #[default]
    None,
    /// Cached, and the GPU does not see the caches: they are cleaned and invalidated by address.
    WriteBack,
}

/// Keeps the CPU's caches of the GPU's memory up. [`Caching`] does, by the CPU's instructions; a kernel whose driver may not use
/// those, or that has caches of its own to care for, does it its way.
pub trait Upkeep {
    /// Whether there is anything to keep up: without it nothing is cleaned or invalidated.
    fn is_needed(&self) -> bool {
        true
    }

    /// Writes back what the caches hold of a range of the CPU's addresses.
    ///
    /// # Safety
    /// The range is mapped.
    unsafe fn clean(&mut self, range: Range<usize>);

    /// Drops what the caches hold of a range of the CPU's addresses.
    ///
    /// # Safety
    /// The range is mapped for writing, and no line of it has a store that was not cleaned.
    unsafe fn invalidate(&mut self, range: Range<usize>);
}

impl Upkeep for Caching {
    #[inline]
    fn is_needed(&self) -> bool {
        *self == Caching::WriteBack
    }

    unsafe fn clean(&mut self, range: Range<usize>) {
        if self.is_needed() {
            // SAFETY: the caller's promise.
            unsafe { clean(range) };
        }
    }

    unsafe fn invalidate(&mut self, range: Range<usize>) {
        if self.is_needed() {
            // SAFETY: the caller's promise.
            unsafe { invalidate(range) };
        }
    }
}

/// A barrier of loads and stores, for the whole system.
pub(crate) fn barrier() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier changes nothing.
    unsafe {
        core::arch::asm!("dsb sy", options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "aarch64"))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

/// Bytes of the smallest data cache line (`CTR_EL0.DminLine`: the logarithm of its words).
#[cfg(target_arch = "aarch64")]
fn line_bytes() -> usize {
    let value: u64;
    // SAFETY: reads a constant of the CPU.
    unsafe {
        core::arch::asm!("mrs {}, ctr_el0", out(reg) value, options(nostack, nomem, preserves_flags));
    }
    4 << (value >> 16 & 0xF)
}

/// Writes back what the caches hold of a range.
///
/// # Safety
/// The range is mapped.
unsafe fn clean(range: Range<usize>) {
    #[cfg(target_arch = "aarch64")]
    {
        let line = line_bytes();
        for address in ((range.start & !(line - 1))..range.end).step_by(line) {
            // SAFETY: writes to memory what the program has written already.
            unsafe {
                core::arch::asm!("dc cvac, {}", in(reg) address, options(nostack, preserves_flags))
            };
        }
    }
    // Other machines that run this have one memory.
    #[cfg(not(target_arch = "aarch64"))]
    let _ = range;
}

/// Drops what the caches hold of a range.
///
/// # Safety
/// The range is mapped for writing, and no line of it has a store that was not cleaned.
unsafe fn invalidate(range: Range<usize>) {
    #[cfg(target_arch = "aarch64")]
    {
        let line = line_bytes();
        for address in ((range.start & !(line - 1))..range.end).step_by(line) {
            // SAFETY: the caller's promise: no store is lost.
            unsafe {
                core::arch::asm!("dc ivac, {}", in(reg) address, options(nostack, preserves_flags))
            };
        }
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = range;
}
