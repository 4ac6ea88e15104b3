//! Critical sections of this image: one CPU, so interrupts are masked.

use critical_section::{Impl, RawRestoreState, set_impl};

struct Masked;

set_impl!(Masked);

// SAFETY: one CPU runs the image, and nothing interrupts it while its interrupts are masked.
unsafe impl Impl for Masked {
    unsafe fn acquire() -> RawRestoreState {
        let before: u64;
        // SAFETY: masks interrupts, and says what was before.
        unsafe {
            core::arch::asm!("mrs {}, daif", "msr daifset, #3", out(reg) before, options(nostack));
        }
        before
    }

    unsafe fn release(before: RawRestoreState) {
        // SAFETY: as it was when the section began.
        unsafe {
            core::arch::asm!("msr daif, {}", in(reg) before, options(nostack));
        }
    }
}
