//! Vectors: exceptions taken to EL2. From EL1 they end [`crate::guest::Guest::run`]; from EL2 they are faults of our own.

use crate::guest::leave;
use crate::report::own_fault;

core::arch::global_asm!(
    r#"
    .section .text.monitor_vectors, "ax"
    .global monitor_vectors
    .balign 0x800
    monitor_vectors:
    .rept 8                             // from EL2
        .balign 0x80
        mrs     x0, esr_el2
        mrs     x1, elr_el2
        mrs     x2, far_el2
        b       {own_fault}
    .endr
    .macro from_el1 kind
        .balign 0x80
        stp     x0, x1, [sp, #-16]!
        mov     x1, #\kind
        b       {leave}
    .endm
        from_el1 0
        from_el1 1
        from_el1 2
        from_el1 3
    .rept 4                             // from AArch32, which the image can't be in
        .balign 0x80
        mrs     x0, esr_el2
        mrs     x1, elr_el2
        mrs     x2, far_el2
        b       {own_fault}
    .endr
    "#,
    own_fault = sym own_fault,
    leave = sym leave,
);

/// Makes them EL2's.
pub(crate) fn install() {
    // SAFETY: the table is complete, and aligned as VBAR_EL2 wants it.
    unsafe {
        core::arch::asm!(
            "adrp {table}, monitor_vectors",
            "add {table}, {table}, :lo12:monitor_vectors",
            "msr vbar_el2, {table}",
            "isb",
            table = out(reg) _,
            options(nostack, nomem),
        );
    }
}
