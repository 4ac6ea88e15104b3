//! Entry: the arm64 Image header, the drop from EL2 to EL1, and what an image states about itself.
//!
//! The stub runs without a stack. Where it finds the MMU on, as UEFI firmware and U-Boot's `go` leave it, it cleans what the
//! image occupies and turns MMU and caches off; the map must be the identity. `aarch64-rt` turns the MMU on with the initial
//! table; then the stub takes the vectors of EL1, clears `.bss` and calls [`crate::start`]. Everything runs at EL1: the vector
//! tables of other exception levels, which `aarch64-rt`'s own entry would keep, are left out by the linker.
//!
//! An image for a board is linked for one place, and says where it finds itself at another. One for an outline is linked with
//! relocations: the stub adds to each the distance between where it is linked and where it lies, and maps nothing but the image
//! and the device tree, by which everything else is found (`found.rs`).
//! Facts: hardware/boards.md 2.1 (header), 2.2 (state at entry, values for the drop) and 2.4 (MMU and caches on).

use cortex_a::registers::HCR_EL2::{API, APK, RW};
use cortex_a::registers::MDCR_EL2::HPMN;
use cortex_a::registers::SCTLR_EL1::{C, I, M};

/// EL1 is AArch64, and nothing of it is trapped: neither are keys and instructions of pointer authentication, where a CPU has
/// them.
#[doc(hidden)]
pub const HCR_EL2: u64 = RW::EL1IsAarch64.value | API::SET.value | APK::SET.value;

// FACT: no sheet says what MDCR_EL2 holds where an image begins, nor what it must hold for EL1 (hardware/boards.md 2.2 lists the
// others); the bits are those of the crate aarch64-cpu. Settled by reading it at EL2 on a board.
/// MDCR_EL2: what stays as firmware left it, how many event counters EL1 has. All else becomes 0: neither debug registers nor
/// performance counters trap to EL2, where there are no vectors.
#[doc(hidden)]
pub const MDCR_EL2_KEPT: u64 = HPMN.mask << HPMN.shift;

/// SCTLR_ELx: MMU, data cache, instruction cache; in the same place at every exception level.
#[doc(hidden)]
pub const MMU_AND_CACHES: u64 = M::SET.value | C::SET.value | I::SET.value;

/// The kind of relocation that a linker leaves in an AArch64 image which may lie anywhere: where the image lies, plus a number.
#[doc(hidden)]
pub const RELATIVE: u64 = 1027;

/// Makes a binary an image: entry, vectors, initial page table, panic handler.
///
/// `board` is a constant [`eitri_boards::Board`], `main` a function from [`crate::Kernel`] to [`eitri_boards::Exit`].
/// Before it, `first` gets the board while the initial map is still in use: for an image that has a look at that.
/// Without `board` it is the one that the build script has linked the image for (`EITRI_BOARD`).
///
/// `reads_tree: false` is for an image that is to be small: it does not look at the device tree that a boot loader hands over. So
/// nobody notices when it runs on another board, `Kernel` has no tree, file or command line of the loader, and a board's firmware
/// of which only a tree says how it is called can't be asked for a reset.
#[macro_export]
macro_rules! image {
    (main: $main:path $(,)?) => {
        $crate::image!(main: $main, reads_tree: true);
    };
    (main: $main:path, reads_tree: $reads_tree:expr $(,)?) => {
        $crate::image!(
            @ match $crate::eitri_boards::Target::named(env!("EITRI_BOARD")) {
                Some(target) => target,
                None => panic!("the build script names a board that there is"),
            },
            $reads_tree,
            None,
            $main
        );
    };
    (board: $board:expr, first: $first:path, main: $main:path $(,)?) => {
        $crate::image!(@ $crate::eitri_boards::Target::Board(&$board), true, Some($first), $main);
    };
    (board: $board:expr, main: $main:path $(,)?) => {
        $crate::image!(@ $crate::eitri_boards::Target::Board(&$board), true, None, $main);
    };
    (@ $target:expr, $reads_tree:expr, $first:expr, $main:path) => {
        const IMAGE_TARGET: $crate::eitri_boards::Target = $target;
        const IMAGE_ORIGIN: $crate::Origin = $crate::Origin::of(IMAGE_TARGET, $reads_tree);
        const INITIAL: $crate::memory::Initial = $crate::memory::Initial::of(IMAGE_TARGET);

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

            .global image_start
            image_start:
                msr     daifset, #0xf
                // Linked here, or able to run here?
                adr     x9, image_head
                ldr     x10, =image_head
                subs    x13, x9, x10
                b.eq    0f
                adrp    x9, relocations_begin
                add     x9, x9, :lo12:relocations_begin
                adrp    x10, relocations_end
                add     x10, x10, :lo12:relocations_end
                cmp     x9, x10
                b.eq    wrong_place
            0:

                mrs     x9, CurrentEL
                cmp     x9, #(2 << 2)
                b.lo    from_el1
                mov     w10, #'3'       // EL3 is the firmware's
                b.hi    give_up

                mrs     x11, sctlr_el2
                tbz     x11, #0, 1f
                bl      clean_image
                bic     x11, x11, x12
                msr     sctlr_el2, x11
                isb
                tlbi    alle2
                tlbi    alle1
                bl      caches_are_off
            1:  adr     x30, at_el1
                b       drop_to_el1

            from_el1:
                mrs     x11, sctlr_el1
                tbz     x11, #0, at_el1
                bl      clean_image
                bic     x11, x11, x12
                msr     sctlr_el1, x11
                isb
                tlbi    vmalle1
                bl      caches_are_off
            at_el1:
                cbz     x13, placed
                // Every address in the image, by how far it is from where it was linked.
                adrp    x9, relocations_begin
                add     x9, x9, :lo12:relocations_begin
                adrp    x10, relocations_end
                add     x10, x10, :lo12:relocations_end
                adr     x15, image_head
                sub     x15, x15, x13
            4:  cmp     x9, x10
                b.hs    placed
                ldp     x11, x12, [x9], #16
                ldr     x14, [x9], #8
                cmp     x12, #{relative}
                b.ne    4b
                cmp     x11, x15        // of what is in the file alone: the table of log messages
                b.lo    4b
                add     x14, x14, x13
                str     x14, [x11, x13]
                b       4b
            placed:
                // The initial map. What the caches may still have of its memory is not to be written over it later.
                ldr     x12, ={tables}
                mov     x9, x12
                add     x10, x12, #{tables_bytes}
                bl      forget_lines
                mov     x9, x12
            6:  stp     xzr, xzr, [x9], #16
                cmp     x9, x10
                b.lo    6b
                add     x13, x12, #{table_bytes}
                adr     x9, image_head
                ldr     x10, =image_end
                ldr     x11, ={as_image}
                bl      map_blocks
                .if {anywhere}
                // Nothing else is known but where the tree is.
                cbz     x0, 5f
                mov     x9, x0
                add     x10, x0, #{block}
                ldr     x11, ={as_tree}
                bl      map_blocks
            5:  adr     x9, image_head
                ldr     x10, =image_end
                .else
                ldr     x9, ={heap}
                ldr     x10, ={heap_end}
                ldr     x11, ={as_heap}
                bl      map_blocks
                ldr     x9, ={console}
                add     x10, x9, #{block}
                ldr     x11, ={as_console}
                bl      map_blocks
                mov     x9, x12
                add     x10, x12, #{tables_bytes}
                .endif
                // What was written past the caches is not hidden by what they still have of it.
                bl      forget_lines
                bl      at_home
                adrp    x9, bss_begin
                add     x9, x9, :lo12:bss_begin
                adrp    x10, bss_end
                add     x10, x10, :lo12:bss_end
            7:  cmp     x9, x10
                b.hs    9f
                stp     xzr, xzr, [x9], #16
                b       7b
            9:  adrp    x9, boot_stack_end
                add     x9, x9, :lo12:boot_stack_end
                mov     sp, x9
                mov     x29, xzr
                mov     x30, xzr
                b       {main}

                // The MMU on, floating point for EL1, and the vectors of EL1. Changes x8 to x16.
            at_home:
                mov     x16, x30
                bl      enable_mmu
                mrs     x9, cpacr_el1
                orr     x9, x9, #(3 << 20)
                msr     cpacr_el1, x9
                adrp    x9, vector_table_el1
                add     x9, x9, :lo12:vector_table_el1
                msr     vbar_el1, x9
                isb
                ret     x16

                // The caches have nothing of the memory from x9 to x10 any more.
            forget_lines:
                dsb     sy
                mrs     x11, ctr_el0
                ubfx    x11, x11, #16, #4
                mov     x14, #4
                lsl     x14, x14, x11
            8:  dc      ivac, x9
                add     x9, x9, x14
                cmp     x9, x10
                b.lo    8b
                dsb     sy
                ret

                // Maps the blocks from x9 to x10 with the attributes in x11, by the root at x12 and tables from x13 on. A block that
                // is mapped stays as it is.
            map_blocks:
                and     x9, x9, #~({block} - 1)
            2:  cmp     x9, x10
                b.hs    5f
                ubfx    x14, x9, #30, #9
                ldr     x15, [x12, x14, lsl #3]
                cbnz    x15, 3f
                orr     x15, x13, #3
                str     x15, [x12, x14, lsl #3]
                add     x13, x13, #{table_bytes}
            3:  and     x15, x15, #~({table_bytes} - 1)
                ubfx    x14, x9, #{block_shift}, #9
                ldr     x16, [x15, x14, lsl #3]
                cbnz    x16, 4f
                orr     x16, x9, x11
                str     x16, [x15, x14, lsl #3]
            4:  add     x9, x9, #{block}
                b       2b
            5:  ret

                // From EL2: lets EL1 have everything, and goes on there at x30.
            drop_to_el1:
                ldr     x9, ={hcr}
                msr     hcr_el2, x9
                isb
                mov     x9, #{cnthctl}
                msr     cnthctl_el2, x9
                msr     cntvoff_el2, xzr
                mov     x9, #{cptr}
                msr     cptr_el2, x9
                msr     hstr_el2, xzr
                mrs     x9, mdcr_el2
                and     x9, x9, #{mdcr_kept}
                msr     mdcr_el2, x9
                mrs     x9, midr_el1
                msr     vpidr_el2, x9
                mrs     x9, mpidr_el1
                msr     vmpidr_el2, x9
                mrs     x9, id_aa64pfr0_el1
                ubfx    x9, x9, #{gic}, #4
                cbz     x9, 2f
                mov     x9, #{icc_sre}
                msr     S3_4_C12_C9_5, x9
            2:  isb
                ldr     x9, ={sctlr}
                msr     sctlr_el1, x9
                mov     x9, #{spsr}
                msr     spsr_el2, x9
                msr     elr_el2, x30
                eret

                // Another CPU begins here, started by firmware with its MMU off and the top of its stack in x0.
            .global another_cpu
            another_cpu:
                msr     daifset, #0xf
                mrs     x9, CurrentEL
                cmp     x9, #(2 << 2)
                b.lo    3f
                b.hi    stop
                adr     x30, 3f
                b       drop_to_el1
            3:  bl      at_home
                mov     sp, x0
                sub     x9, x0, #{exceptions}
                msr     sp_el0, x9
                msr     spsel, #0
                mov     x29, xzr
                mov     x30, xzr
                b       {park}

                // To memory with everything that the image is read from while its caches are off. Leaves in x12 the
                // bits of SCTLR_ELx that turn them off.
            clean_image:
                mrs     x9, ctr_el0
                ubfx    x9, x9, #16, #4 // words of the smallest line, as a logarithm
                mov     x10, #4
                lsl     x10, x10, x9
                adr     x9, image_head
                adrp    x12, file_end
                add     x12, x12, :lo12:file_end
            2:  dc      civac, x9
                add     x9, x9, x10
                cmp     x9, x12
                b.lo    2b
                dsb     sy
                ldr     x12, ={mmu_and_caches}
                ret

            caches_are_off:
                ic      iallu
                dsb     sy
                isb
                ret

            wrong_place:
                mov     w10, #'@'
            give_up:
                // No stack, no map: four characters where the console is known, then stop.
                ldr     x9, ={uart}
                cbz     x9, stop
                // The last three, which a zero ends.
                mov     w11, #0x0D3F
                movk    w11, #0x000A, lsl #16
            next_character:
                .if     {uart_of_a_byte}
                strb    w10, [x9]
                .else
                str     w10, [x9]
                .endif
                and     w10, w11, #0xFF
                lsr     w11, w11, #8
                cbnz    w10, next_character
            stop:
                wfe
                b       stop
            "#,
            uart = const INITIAL.uart,
            uart_of_a_byte = const INITIAL.uart_of_a_byte as u32,
            relative = const $crate::entry::RELATIVE,
            anywhere = const INITIAL.anywhere as u32,
            as_image = const $crate::memory::Initial::AS_IMAGE,
            as_tree = const $crate::memory::Initial::AS_TREE,
            as_heap = const $crate::memory::Initial::AS_HEAP,
            as_console = const $crate::memory::Initial::AS_CONSOLE,
            heap = const INITIAL.heap.base,
            heap_end = const INITIAL.heap.end(),
            console = const INITIAL.console,
            tables_bytes = const INITIAL.tables * $crate::memory::TABLE_BYTES,
            table_bytes = const $crate::memory::TABLE_BYTES,
            hcr = const $crate::entry::HCR_EL2,
            mdcr_kept = const $crate::entry::MDCR_EL2_KEPT,
            mmu_and_caches = const $crate::entry::MMU_AND_CACHES,
            exceptions = const $crate::cpus::EXCEPTIONS_BYTES,
            tables = sym INITIAL_TABLES,
            main = sym image_main,
            block = const $crate::eitri_aarch64::BLOCK,
            block_shift = const $crate::eitri_aarch64::BLOCK.trailing_zeros(),
            park = sym $crate::cpus::park,
            cnthctl = const $crate::eitri_aarch64::entry_state::CNTHCTL_EL2,
            cptr = const $crate::eitri_aarch64::entry_state::CPTR_EL2,
            gic = const $crate::eitri_aarch64::entry_state::GIC_IN_PFR0,
            icc_sre = const $crate::eitri_aarch64::entry_state::ICC_SRE_EL2,
            sctlr = const $crate::eitri_aarch64::entry_state::SCTLR_EL1,
            spsr = const $crate::eitri_aarch64::entry_state::SPSR_EL2,
        );

        // Not where variables are cleared: the MMU is on by then.
        #[unsafe(link_section = ".initial_tables")]
        static INITIAL_TABLES: $crate::memory::InitialTables<{ INITIAL.tables }> =
            $crate::memory::InitialTables::empty();
        $crate::aarch64_rt::enable_mmu!(
            INITIAL_TABLES,
            $crate::eitri_aarch64::MAIR,
            $crate::aarch64_rt::DEFAULT_SCTLR,
            $crate::aarch64_rt::DEFAULT_TCR_EL1,
            $crate::aarch64_rt::DEFAULT_TCR_EL2,
            $crate::aarch64_rt::DEFAULT_TCR_EL3
        );
        $crate::aarch64_rt::exception_handlers!($crate::vectors::Vectors);
        #[used]
        #[unsafe(link_section = ".stack.boot_stack")]
        static mut BOOT_STACK: $crate::aarch64_rt::Stack<8> = $crate::aarch64_rt::Stack::new();

        extern "C" fn image_main(x0: u64) -> ! {
            let image = $crate::Image {
                origin: IMAGE_ORIGIN,
                tables: INITIAL_TABLES.pages(),
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
