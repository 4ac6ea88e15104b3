//! Vectors: what exceptions are taken to.
//!
//! The table itself and the saving of general registers is `aarch64-rt`'s. It runs on SP_EL1, which the image itself
//! does not use ([`crate::start`]). Interrupts are dispatched; everything else ends the image with a report.

use crate::crash::{Preserved, report};
use crate::interrupts;
use aarch64_rt::{ExceptionHandlers, RegisterState, RegisterStateRef};

/// Adds the registers that a call preserves to those that the vector saved, and calls a report that does not return.
macro_rules! report_with_all_registers {
    ($report:ident) => {
        core::arch::naked_asm!(
            "stp x19, x20, [sp, #-80]!",
            "stp x21, x22, [sp, #16]",
            "stp x23, x24, [sp, #32]",
            "stp x25, x26, [sp, #48]",
            "stp x27, x28, [sp, #64]",
            "mov x1, sp",
            "b {report}",
            report = sym $report,
        )
    };
}

/// The exception vectors' handlers.
pub struct Vectors;

impl ExceptionHandlers for Vectors {
    #[unsafe(naked)]
    extern "C" fn sync_current(_state: RegisterStateRef<'_>) {
        report_with_all_registers!(report_synchronous)
    }

    /// The vector saves general registers only; handlers use the others too.
    #[unsafe(naked)]
    extern "C" fn irq_current(_state: RegisterStateRef<'_>) {
        core::arch::naked_asm!(
            "stp x29, x30, [sp, #-16]!",
            "mov x29, sp",
            "mrs x9, fpcr",
            "mrs x10, fpsr",
            "stp x9, x10, [sp, #-16]!",
            "stp q0, q1, [sp, #-512]!",
            "stp q2, q3, [sp, #32]",
            "stp q4, q5, [sp, #64]",
            "stp q6, q7, [sp, #96]",
            "stp q8, q9, [sp, #128]",
            "stp q10, q11, [sp, #160]",
            "stp q12, q13, [sp, #192]",
            "stp q14, q15, [sp, #224]",
            "stp q16, q17, [sp, #256]",
            "stp q18, q19, [sp, #288]",
            "stp q20, q21, [sp, #320]",
            "stp q22, q23, [sp, #352]",
            "stp q24, q25, [sp, #384]",
            "stp q26, q27, [sp, #416]",
            "stp q28, q29, [sp, #448]",
            "stp q30, q31, [sp, #480]",
            "bl {dispatch}",
            "ldp q2, q3, [sp, #32]",
            "ldp q4, q5, [sp, #64]",
            "ldp q6, q7, [sp, #96]",
            "ldp q8, q9, [sp, #128]",
            "ldp q10, q11, [sp, #160]",
            "ldp q12, q13, [sp, #192]",
            "ldp q14, q15, [sp, #224]",
            "ldp q16, q17, [sp, #256]",
            "ldp q18, q19, [sp, #288]",
            "ldp q20, q21, [sp, #320]",
            "ldp q22, q23, [sp, #352]",
            "ldp q24, q25, [sp, #384]",
            "ldp q26, q27, [sp, #416]",
            "ldp q28, q29, [sp, #448]",
            "ldp q30, q31, [sp, #480]",
            "ldp q0, q1, [sp], #512",
            "ldp x9, x10, [sp], #16",
            "msr fpcr, x9",
            "msr fpsr, x10",
            "ldp x29, x30, [sp], #16",
            "ret",
            dispatch = sym dispatch,
        )
    }

    #[unsafe(naked)]
    extern "C" fn fiq_current(_state: RegisterStateRef<'_>) {
        report_with_all_registers!(report_fiq)
    }

    #[unsafe(naked)]
    extern "C" fn serror_current(_state: RegisterStateRef<'_>) {
        report_with_all_registers!(report_serror)
    }
}

extern "C" fn dispatch() {
    interrupts::dispatch();
}

extern "C" fn report_synchronous(state: &RegisterState, preserved: &Preserved) -> ! {
    report("exception", state, preserved)
}

extern "C" fn report_fiq(state: &RegisterState, preserved: &Preserved) -> ! {
    report("fast interrupt, which nothing here uses", state, preserved)
}

extern "C" fn report_serror(state: &RegisterState, preserved: &Preserved) -> ! {
    report(
        "SError: an earlier access to memory or a device failed",
        state,
        preserved,
    )
}
