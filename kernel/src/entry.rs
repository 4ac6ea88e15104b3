//! Entry: the arm64 Image header, the drop from EL2 to EL1, and what an image states about itself.
//!
//! The stub runs with the MMU off and without a stack; it hands over to `aarch64-rt`, which turns the MMU on with the
//! initial table, clears `.bss` and calls [`crate::start`].
//! Facts: hardware/boards.md 2.1 (header) and 2.2 (state at entry, values for the drop).

/// Makes a binary an image: entry, vectors, initial page table, panic handler.
///
/// `board` is a constant [`eitri_boards::Board`], `main` a function from [`crate::Kernel`] to [`eitri_boards::Exit`].
#[macro_export]
macro_rules! image {
    (board: $board:expr, main: $main:path $(,)?) => {
        const IMAGE_BOARD: $crate::eitri_boards::Board = $board;
        static BOARD: $crate::eitri_boards::Board = IMAGE_BOARD;

        core::arch::global_asm!(
            r#"
            .section .head, "ax"
            .global image_head
            image_head:
                b       image_start
                .word   0
                .quad   0               // text_offset
                .quad   image_bytes
                .quad   0xA             // little-endian, 4 KiB pages, may be placed anywhere
                .quad   0, 0, 0
                .ascii  "ARM\x64"
                .word   0

            image_start:
                msr     daifset, #0xf
                // Linked here?
                adr     x9, image_head
                ldr     x10, =image_head
                cmp     x9, x10
                b.ne    wrong_place

                mrs     x9, CurrentEL
                cmp     x9, #(2 << 2)
                b.lo    at_el1
                b.hi    stop            // EL3 is the firmware's

                // EL2: let EL1 have everything, then drop.
                mov     x9, #(1 << 31)  // HCR_EL2.RW: EL1 is AArch64
                msr     hcr_el2, x9
                isb
                mov     x9, #3          // counter and physical timer
                msr     cnthctl_el2, x9
                msr     cntvoff_el2, xzr
                mov     x9, #0x33ff     // no traps of FP and SIMD
                msr     cptr_el2, x9
                msr     hstr_el2, xzr
                mrs     x9, midr_el1
                msr     vpidr_el2, x9
                mrs     x9, mpidr_el1
                msr     vmpidr_el2, x9
                mov     x9, #0xf        // GIC system registers
                msr     S3_4_C12_C9_5, x9
                isb
                movz    x9, #0x0800
                movk    x9, #0x30d0, lsl #16
                msr     sctlr_el1, x9
                mov     x9, #0x3c5      // EL1h, all masked
                msr     spsr_el2, x9
                adr     x9, at_el1
                msr     elr_el2, x9
                eret

            at_el1:
                b       entry

            wrong_place:
                // No stack, no map: four characters, then stop.
                ldr     x9, ={uart}
                mov     w10, #'@'
                str     w10, [x9]
                mov     w10, #'?'
                str     w10, [x9]
                mov     w10, #'\r'
                str     w10, [x9]
                mov     w10, #'\n'
                str     w10, [x9]
            stop:
                wfe
                b       stop
            "#,
            uart = const IMAGE_BOARD.console.base,
        );

        $crate::aarch64_rt::initial_pagetable!(
            $crate::memory::initial_table(&IMAGE_BOARD),
            $crate::memory::MAIR,
            $crate::aarch64_rt::DEFAULT_SCTLR,
            $crate::aarch64_rt::DEFAULT_TCR_EL1,
            $crate::aarch64_rt::DEFAULT_TCR_EL2,
            $crate::aarch64_rt::DEFAULT_TCR_EL3
        );
        $crate::aarch64_rt::exception_handlers!($crate::vectors::Vectors);
        $crate::aarch64_rt::entry!(image_main, 8);

        fn image_main(x0: u64, _x1: u64, _x2: u64, _x3: u64) -> ! {
            $crate::start(&BOARD, x0, $main)
        }

        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::crash::panicked(info)
        }
    };
}
