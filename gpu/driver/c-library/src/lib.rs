//! The driver as a static library for C programs without an operating system: `libeitri.a`.
//!
//! Everything in it is `eitri-c-interface`'s; this crate adds what a Rust library of its own needs. docs/c.md has the steps.
#![no_std]

// Its functions are the library's.
use eitri_c_interface as _;

use core::panic::PanicInfo;

/// What a panic calls. The driver has none that can be reached (`cargo eitri test --filter no-panic`): this is for a broken build, or
/// memory that something else has written to. A debugger or an exception handler sees the breakpoint.
#[panic_handler]
fn panic(_panic: &PanicInfo<'_>) -> ! {
    loop {
        // SAFETY: an exception, whose handler is the program's.
        unsafe { core::arch::asm!("brk #1", options(nostack)) };
    }
}
