//! The first instructions at EL1, and the end of the machine.

core::arch::global_asm!(
    r#"
    .section .text.start, "ax"
    .global _start
    _start:
        mov     x0, #(3 << 20)          // FP and SIMD registers may be used
        msr     cpacr_el1, x0
        isb
        adrp    x0, stack_end
        add     x0, x0, :lo12:stack_end
        mov     sp, x0
        adrp    x0, bss_start
        add     x0, x0, :lo12:bss_start
        adrp    x1, bss_end
        add     x1, x1, :lo12:bss_end
    1:  cmp     x0, x1
        b.hs    2f
        stp     xzr, xzr, [x0], #16
        b       1b
    2:  bl      {main}
    "#,
    main = sym crate::main,
);

/// Ends QEMU with a status, by semihosting (SYS_EXIT). On a board there is nobody to take the call: replace it.
pub fn exit(status: u64) -> ! {
    /// "The application exited", and the status.
    const EXITED: u64 = 0x20026;
    let block = [EXITED, status];
    // SAFETY: the call reads the two words and does not return.
    unsafe {
        core::arch::asm!("hlt #0xf000", in("w0") 0x18, in("x1") &block, options(noreturn));
    }
}
