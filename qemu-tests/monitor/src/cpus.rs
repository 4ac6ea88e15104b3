//! CPUs: those that the image starts by PSCI. Each enters the monitor first, which makes of it what the first one is, and starts the
//! image there at EL1.
//!
//! Facts: hardware/boards.md 2.2 and 3.2 (PSCI); the registers are the architecture's.

use crate::guest::Guest;
use crate::{interrupts, run, stage2, vectors};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use core::mem::offset_of;
use cortex_a::registers::{MAIR_EL2, MPIDR_EL1, Readable, SCTLR_EL2, TCR_EL2, TTBR0_EL2};
use eitri_aarch64::entry_state;
use spin::Mutex;

/// Functions of PSCI that start a CPU, with arguments of 32 and of 64 bits.
const CPU_ON: [u32; 2] = [0x8400_0003, 0xC400_0003];
/// Words of a CPU's stack: as much as the first one has.
const STACK_WORDS: usize = (1 << 20) / size_of::<u128>();

/// What a CPU needs to become one of the monitor's, and what the image wants of it.
#[repr(C)]
struct Start {
    stack: u64,
    mair: u64,
    tcr: u64,
    tables: u64,
    sctlr: u64,
    entry: u64,
    context: u64,
}

/// The CPU that this is.
pub(crate) fn own() -> usize {
    (MPIDR_EL1.get() & 0xFF) as usize
}

/// Has the machine's firmware do what the image asks of it: x0 to x3 afterwards.
pub(crate) fn call_firmware(arguments: [u64; 4]) -> [u64; 4] {
    let [function, target, entry, context] = arguments;
    if !CPU_ON.contains(&(function as u32)) {
        return call(arguments);
    }
    let start = Box::into_raw(Box::new(Start {
        stack: stack_of(target),
        mair: MAIR_EL2.get(),
        tcr: TCR_EL2.get(),
        tables: TTBR0_EL2.get(),
        sctlr: SCTLR_EL2.get(),
        entry,
        context,
    }));
    let result = call([function, target, enter as *const () as u64, start as u64]);
    if result[0] != 0 {
        // SAFETY: made above, and no CPU was started that could have it.
        drop(unsafe { Box::from_raw(start) });
    }
    result
}

/// Where the stack of a CPU ends: it has one from its first start on. While it is off nobody uses it, and one that is on is not
/// started.
fn stack_of(cpu: u64) -> u64 {
    static STACKS: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());
    let mut stacks = STACKS.lock();
    *stacks.entry(cpu).or_insert_with(|| {
        let stack = Box::leak(vec![0u128; STACK_WORDS].into_boxed_slice());
        stack.as_ptr_range().end as u64
    })
}

/// Calls QEMU's firmware.
fn call([mut a, mut b, mut c, mut d]: [u64; 4]) -> [u64; 4] {
    // SAFETY: the SMC calling convention: x4 to x17 may change, everything else stays. What the call does concerns the image,
    // whose call it is; a CPU that it starts comes to `enter`.
    unsafe {
        core::arch::asm!(
            "smc #0",
            inout("x0") a, inout("x1") b, inout("x2") c, inout("x3") d,
            out("x4") _, out("x5") _, out("x6") _, out("x7") _, out("x8") _, out("x9") _, out("x10") _, out("x11") _,
            out("x12") _, out("x13") _, out("x14") _, out("x15") _, out("x16") _, out("x17") _,
            options(nostack),
        );
    }
    [a, b, c, d]
}

/// The first instructions of a CPU, at EL2 with everything off and [`Start`] in x0.
#[unsafe(naked)]
unsafe extern "C" fn enter() -> ! {
    core::arch::naked_asm!(
        "msr daifset, #0xf",
        "mov x9, #{cptr}",
        "msr cptr_el2, x9",
        "ldp x1, x2, [x0, #{stack}]",
        "mov sp, x1",
        "msr mair_el2, x2",
        "ldp x1, x2, [x0, #{tcr}]",
        "msr tcr_el2, x1",
        "msr ttbr0_el2, x2",
        "ldr x1, [x0, #{sctlr}]",
        "isb",
        "tlbi alle2",
        "dsb nsh",
        "isb",
        "msr sctlr_el2, x1",
        "isb",
        "mov x29, xzr",
        "mov x30, xzr",
        "b {go_on}",
        cptr = const entry_state::CPTR_EL2,
        stack = const offset_of!(Start, stack),
        tcr = const offset_of!(Start, tcr),
        sctlr = const offset_of!(Start, sctlr),
        go_on = sym go_on,
    )
}

extern "C" fn go_on(start: *mut Start) -> ! {
    // SAFETY: `call_firmware` made it for this CPU alone.
    let start = unsafe { Box::from_raw(start) };
    vectors::install();
    let interrupts = interrupts::open_cpu(own());
    stage2::set_up_cpu();
    let guest = Guest::at(start.entry, start.context);
    drop(start);
    run::on_cpu(guest, interrupts)
}
