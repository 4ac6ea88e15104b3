//! Entry: the first instructions, at EL2, and the table of the first moments.
//!
//! `aarch64-rt` turns the MMU on, clears `.bss` and sets the stack up; its vectors serve until [`crate::vectors`] are in.

use aarch64_paging::descriptor::El23Attributes;
use aarch64_rt::{
    DEFAULT_SCTLR, DEFAULT_TCR_EL1, DEFAULT_TCR_EL2, DEFAULT_TCR_EL3, ExceptionHandlers,
    InitialPagetable, entry, exception_handlers, initial_pagetable,
};
use eitri_aarch64::{MAIR, entry_state};
use eitri_boards::qemu_virt::{GUEST_RAM, MONITOR_RAM};

const GIB: usize = 1 << 30;
const VALID: El23Attributes = El23Attributes::VALID
    .union(El23Attributes::ACCESSED)
    .union(El23Attributes::USER_RES1);
const DEVICE: usize = VALID.union(El23Attributes::XN).bits();
const CACHED: usize = VALID
    .union(El23Attributes::ATTRIBUTE_INDEX_1)
    .union(El23Attributes::INNER_SHAREABLE)
    .bits();

core::arch::global_asm!(
    r#"
    .section .head, "ax"
    .global image_head
    image_head:
        msr     daifset, #0xf
        mrs     x9, CurrentEL
        cmp     x9, #(2 << 2)
        b.ne    2f                      // without virtualization=on there is nothing to do
        mov     x9, #{cptr}
        msr     cptr_el2, x9
        isb
        b       entry
    2:  wfe
        b       2b
    "#,
    cptr = const entry_state::CPTR_EL2,
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
