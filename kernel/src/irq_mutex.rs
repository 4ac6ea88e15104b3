//! A lock whose holder is not interrupted.
//!
//! An interrupt that came while a spin lock was held would wait for ever for a holder that can't go on. So whatever an
//! interrupt's handler may want too (the console, the GIC, the heap) is behind one of these.

use crate::interrupts::masked;
use spin::Mutex;

/// Says that this CPU only waits for another.
fn relax() {
    // SAFETY: a hint.
    unsafe { core::arch::asm!("yield", options(nomem, nostack, preserves_flags)) };
}

/// A value that one context has at a time.
pub struct IrqMutex<T>(Mutex<T>);

impl<T> IrqMutex<T> {
    /// The lock around a value.
    pub const fn new(value: T) -> IrqMutex<T> {
        IrqMutex(Mutex::new(value))
    }

    /// Runs `f` with the value; interrupts are masked meanwhile. `f` must not ask for the same lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        masked(|| {
            loop {
                if let Some(mut value) = self.0.try_lock() {
                    break f(&mut value);
                }
                // Another CPU has it. Where CPUs take turns, as in QEMU, it is that one's.
                relax();
            }
        })
    }

    /// Takes the lock away from whoever holds it.
    ///
    /// # Safety
    /// The holder does not go on.
    pub(crate) unsafe fn seize(&self) {
        // SAFETY: the caller's promise: nobody uses what the holder was given.
        unsafe { self.0.force_unlock() };
    }
}
