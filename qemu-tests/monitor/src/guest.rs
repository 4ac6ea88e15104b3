//! Guest: the image's registers while the monitor runs, and the way into it and out again.

use core::mem::offset_of;
use eitri_aarch64::entry_state;

/// Registers that the monitor's own code would overwrite. EL1's system registers stay where they are.
#[derive(Clone)]
#[repr(C, align(16))]
pub(crate) struct Guest {
    /// x0 to x30. First: the switch counts on it.
    pub(crate) x: [u64; 31],
    /// Where it goes on.
    pub(crate) elr: u64,
    /// Its PSTATE.
    pub(crate) spsr: u64,
    fpcr: u64,
    fpsr: u64,
    /// FP and SIMD registers, which the model uses too.
    q: [u128; 32],
}

const _: () = assert!(offset_of!(Guest, x) == 0);

/// Why the image stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did something that ESR_EL2 tells.
    Synchronous,
    /// A physical interrupt came.
    Interrupt,
    /// A physical fast interrupt came.
    FastInterrupt,
    /// An SError came.
    SystemError,
}

impl Guest {
    /// An image that begins at `entry`.
    pub(crate) fn at(entry: u64, device_tree: u64) -> Guest {
        let mut x = [0; 31];
        x[0] = device_tree;
        Guest {
            x,
            elr: entry,
            spsr: entry_state::SPSR_EL2,
            fpcr: 0,
            fpsr: 0,
            q: [0; 32],
        }
    }

    /// Register `number` as a load or store names it: 31 is zero.
    pub(crate) fn register(&self, number: u8) -> u64 {
        self.x.get(usize::from(number)).copied().unwrap_or(0)
    }

    /// Sets a register; 31 keeps nothing.
    pub(crate) fn set_register(&mut self, number: u8, value: u64) {
        if let Some(register) = self.x.get_mut(usize::from(number)) {
            *register = value;
        }
    }

    /// Goes on after the instruction that stopped it.
    pub(crate) fn skip_instruction(&mut self) {
        self.elr = self.elr.wrapping_add(4);
    }

    /// Lets the image run until it stops.
    pub(crate) fn run(&mut self) -> Exit {
        // SAFETY: stage 2 keeps the image away from all of the monitor's memory; the switch saves and restores every
        // register that the monitor's code may hold.
        match unsafe { enter(self) } {
            0 => Exit::Synchronous,
            1 => Exit::Interrupt,
            2 => Exit::FastInterrupt,
            _ => Exit::SystemError,
        }
    }
}

/// Saves the monitor's registers, loads the guest's, and goes to EL1. Comes back through [`leave`].
#[unsafe(naked)]
unsafe extern "C" fn enter(guest: *mut Guest) -> u64 {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-176]!",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "msr tpidr_el2, x0",
        "ldp x1, x2, [x0, #{elr}]",
        "msr elr_el2, x1",
        "msr spsr_el2, x2",
        "ldp x1, x2, [x0, #{fpcr}]",
        "msr fpcr, x1",
        "msr fpsr, x2",
        "ldp q0, q1, [x0, #{q} + 0]",
        "ldp q2, q3, [x0, #{q} + 32]",
        "ldp q4, q5, [x0, #{q} + 64]",
        "ldp q6, q7, [x0, #{q} + 96]",
        "ldp q8, q9, [x0, #{q} + 128]",
        "ldp q10, q11, [x0, #{q} + 160]",
        "ldp q12, q13, [x0, #{q} + 192]",
        "ldp q14, q15, [x0, #{q} + 224]",
        "ldp q16, q17, [x0, #{q} + 256]",
        "ldp q18, q19, [x0, #{q} + 288]",
        "ldp q20, q21, [x0, #{q} + 320]",
        "ldp q22, q23, [x0, #{q} + 352]",
        "ldp q24, q25, [x0, #{q} + 384]",
        "ldp q26, q27, [x0, #{q} + 416]",
        "ldp q28, q29, [x0, #{q} + 448]",
        "ldp q30, q31, [x0, #{q} + 480]",
        "ldp x2, x3, [x0, #16]",
        "ldp x4, x5, [x0, #32]",
        "ldp x6, x7, [x0, #48]",
        "ldp x8, x9, [x0, #64]",
        "ldp x10, x11, [x0, #80]",
        "ldp x12, x13, [x0, #96]",
        "ldp x14, x15, [x0, #112]",
        "ldp x16, x17, [x0, #128]",
        "ldp x18, x19, [x0, #144]",
        "ldp x20, x21, [x0, #160]",
        "ldp x22, x23, [x0, #176]",
        "ldp x24, x25, [x0, #192]",
        "ldp x26, x27, [x0, #208]",
        "ldp x28, x29, [x0, #224]",
        "ldr x30, [x0, #240]",
        "ldp x0, x1, [x0]",
        "eret",
        elr = const offset_of!(Guest, elr),
        fpcr = const offset_of!(Guest, fpcr),
        q = const offset_of!(Guest, q),
    )
}

/// What the vectors branch to, with the guest's x0 and x1 on the stack and the kind of exit in x1: the other half of
/// [`enter`].
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn leave() {
    core::arch::naked_asm!(
        "mrs x0, tpidr_el2",
        "stp x2, x3, [x0, #16]",
        "stp x4, x5, [x0, #32]",
        "stp x6, x7, [x0, #48]",
        "stp x8, x9, [x0, #64]",
        "stp x10, x11, [x0, #80]",
        "stp x12, x13, [x0, #96]",
        "stp x14, x15, [x0, #112]",
        "stp x16, x17, [x0, #128]",
        "stp x18, x19, [x0, #144]",
        "stp x20, x21, [x0, #160]",
        "stp x22, x23, [x0, #176]",
        "stp x24, x25, [x0, #192]",
        "stp x26, x27, [x0, #208]",
        "stp x28, x29, [x0, #224]",
        "str x30, [x0, #240]",
        "ldp x2, x3, [sp], #16",
        "stp x2, x3, [x0]",
        "mrs x2, elr_el2",
        "mrs x3, spsr_el2",
        "stp x2, x3, [x0, #{elr}]",
        "mrs x2, fpcr",
        "mrs x3, fpsr",
        "stp x2, x3, [x0, #{fpcr}]",
        "stp q0, q1, [x0, #{q} + 0]",
        "stp q2, q3, [x0, #{q} + 32]",
        "stp q4, q5, [x0, #{q} + 64]",
        "stp q6, q7, [x0, #{q} + 96]",
        "stp q8, q9, [x0, #{q} + 128]",
        "stp q10, q11, [x0, #{q} + 160]",
        "stp q12, q13, [x0, #{q} + 192]",
        "stp q14, q15, [x0, #{q} + 224]",
        "stp q16, q17, [x0, #{q} + 256]",
        "stp q18, q19, [x0, #{q} + 288]",
        "stp q20, q21, [x0, #{q} + 320]",
        "stp q22, q23, [x0, #{q} + 352]",
        "stp q24, q25, [x0, #{q} + 384]",
        "stp q26, q27, [x0, #{q} + 416]",
        "stp q28, q29, [x0, #{q} + 448]",
        "stp q30, q31, [x0, #{q} + 480]",
        "msr fpcr, xzr",
        "mov x0, x1",
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "ldp x29, x30, [sp], #176",
        "ret",
        elr = const offset_of!(Guest, elr),
        fpcr = const offset_of!(Guest, fpcr),
        q = const offset_of!(Guest, q),
    )
}
