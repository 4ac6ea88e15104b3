//! Entry: the arm64 Image header, the drop from EL2 to EL1, and what an image states about itself.
//!
//! The stub runs with the MMU off and without a stack; it hands over to `aarch64-rt`, which turns the MMU on with the
//! initial table, clears `.bss` and calls [`crate::start`].
//! Facts: hardware/boards.md 2.1 (header) and 2.2 (state at entry, values for the drop).

use cortex_a::registers::HCR_EL2::RW;

/// EL1 is AArch64, and nothing of it is trapped.
#[doc(hidden)]
pub const HCR_EL2: u64 = RW::EL1IsAarch64.value;

/// Makes a binary an image: entry, vectors, initial page table, panic handler.
///
/// `board` is a constant [`eitri_boards::Board`], `main` a function from [`crate::Kernel`] to [`eitri_boards::Exit`].
/// Before it, `first` gets the board while the initial map is still in use: for an image that has a look at that.
#[macro_export]
macro_rules! image {
    (board: $board:expr, first: $first:path, main: $main:path $(,)?) => {
        $crate::image!(@ $board, Some($first), $main);
    };
    (board: $board:expr, main: $main:path $(,)?) => {
        $crate::image!(@ $board, None, $main);
    };
    (@ $board:expr, $first:expr, $main:path) => {
        const IMAGE_BOARD: $crate::eitri_boards::Board = $board;
        static LINKED_BOARD: $crate::eitri_boards::Board = IMAGE_BOARD;

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
                mov     w10, #'3'       // EL3 is the firmware's
                b.hi    give_up

                // EL2: let EL1 have everything, then drop.
                ldr     x9, ={hcr}      // EL1 is AArch64
                msr     hcr_el2, x9
                isb
                mov     x9, #{cnthctl}
                msr     cnthctl_el2, x9
                msr     cntvoff_el2, xzr
                mov     x9, #{cptr}
                msr     cptr_el2, x9
                msr     hstr_el2, xzr
                mrs     x9, midr_el1
                msr     vpidr_el2, x9
                mrs     x9, mpidr_el1
                msr     vmpidr_el2, x9
                mov     x9, #{icc_sre}
                msr     S3_4_C12_C9_5, x9
                isb
                ldr     x9, ={sctlr}
                msr     sctlr_el1, x9
                mov     x9, #{spsr}
                msr     spsr_el2, x9
                adr     x9, at_el1
                msr     elr_el2, x9
                eret

            at_el1:
                b       entry

            wrong_place:
                mov     w10, #'@'
            give_up:
                // No stack, no map: four characters, then stop.
                ldr     x9, ={uart}
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
            uart = const IMAGE_BOARD.description().console.data_register(),
            hcr = const $crate::entry::HCR_EL2,
            cnthctl = const $crate::eitri_aarch64::entry_state::CNTHCTL_EL2,
            cptr = const $crate::eitri_aarch64::entry_state::CPTR_EL2,
            icc_sre = const $crate::eitri_aarch64::entry_state::ICC_SRE_EL2,
            sctlr = const $crate::eitri_aarch64::entry_state::SCTLR_EL1,
            spsr = const $crate::eitri_aarch64::entry_state::SPSR_EL2,
        );

        static INITIAL_TABLES: $crate::memory::InitialTables = $crate::memory::InitialTables::new(
            &$crate::memory::initial_map(&IMAGE_BOARD),
            &raw const INITIAL_TABLES,
        );
        $crate::aarch64_rt::enable_mmu!(
            INITIAL_TABLES,
            $crate::eitri_aarch64::MAIR,
            $crate::aarch64_rt::DEFAULT_SCTLR,
            $crate::aarch64_rt::DEFAULT_TCR_EL1,
            $crate::aarch64_rt::DEFAULT_TCR_EL2,
            $crate::aarch64_rt::DEFAULT_TCR_EL3
        );
        $crate::aarch64_rt::exception_handlers!($crate::vectors::Vectors);
        $crate::aarch64_rt::entry!(image_main, 8);

        fn image_main(x0: u64, _x1: u64, _x2: u64, _x3: u64) -> ! {
            let image = $crate::Image {
                board: &LINKED_BOARD,
                first: $first,
                main: $main,
            };
            // SAFETY: this is the entry; the initial map is the one above.
            unsafe { $crate::start(image, x0) }
        }

        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::crash::panicked(info)
        }
    };
}
