//! Entry: the first instructions, at EL2, and the table of the first moments.
//!
//! `aarch64-rt` turns the MMU on, clears `.bss` and sets the stack up; its vectors serve until [`crate::vectors`] are in.

use aarch64_rt::{
    DEFAULT_SCTLR, DEFAULT_TCR_EL1, DEFAULT_TCR_EL2, DEFAULT_TCR_EL3, ExceptionHandlers,
    InitialPagetable, entry, exception_handlers, initial_pagetable,
};
use eitri_boards::qemu_virt::{GUEST_RAM, MONITOR_RAM};
use eitri_kernel::memory::MAIR;

const GIB: usize = 1 << 30;
/// Block descriptor, accessed, with the bit that EL2's tables want set; attribute index 0 is a device.
const DEVICE: usize = 0x441;
/// The same, inner shareable, attribute index 1: cached.
const CACHED: usize = 0x441 | 1 << 2 | 3 << 8;

core::arch::global_asm!(
    r#"
    .section .head, "ax"
    .global image_head
    image_head:
        msr     daifset, #0xf
        mrs     x9, CurrentEL
        cmp     x9, #(2 << 2)
        b.ne    2f                      // without virtualization=on there is nothing to do
        mov     x9, #0x33ff             // no traps of FP and SIMD
        msr     cptr_el2, x9
        isb
        b       entry
    2:  wfe
        b       2b
    "#
);

initial_pagetable!(
    {
        let mut table = [0; 512];
        table[0] = DEVICE;
        table[GUEST_RAM.base / GIB] = GUEST_RAM.base | CACHED;
        table[MONITOR_RAM.base / GIB] = MONITOR_RAM.base | CACHED;
        InitialPagetable(table)
    },
    MAIR,
    DEFAULT_SCTLR,
    DEFAULT_TCR_EL1,
    DEFAULT_TCR_EL2,
    DEFAULT_TCR_EL3
);

exception_handlers!(Early);
entry!(start, 256);

/// Handlers that panic, which is reported.
struct Early;

impl ExceptionHandlers for Early {}

fn start(_x0: u64, _x1: u64, _x2: u64, _x3: u64) -> ! {
    crate::main()
}
