//! Machine: the registers and the firmware of the board, for what boards state as data.

use crate::time;
use core::marker::PhantomData;
use cortex_a::asm::barrier::{SY, dsb};
use eitri_boards::Board;
use eitri_boards::steps::{Machine, SmcCall};
use embedded_hal::delay::DelayNs;

/// The machine that the image runs on. Its registers are mapped as devices, and the board says that they are there.
pub(crate) struct ThisMachine(PhantomData<&'static Board>);

impl ThisMachine {
    /// The machine that this board is.
    pub(crate) fn of(_: &'static Board) -> ThisMachine {
        ThisMachine(PhantomData)
    }
}

impl DelayNs for ThisMachine {
    fn delay_ns(&mut self, nanoseconds: u32) {
        time::Delay.delay_ns(nanoseconds);
    }
}

impl Machine for ThisMachine {
    fn read(&mut self, at: usize) -> u32 {
        let value: u32;
        // SAFETY: a register that the board states, which was checked to be in one of its devices, and is aligned; a plain
        // load.
        unsafe {
            core::arch::asm!("ldr {0:w}, [{1}]", out(reg) value, in(reg) at, options(nostack, preserves_flags));
        }
        value
    }

    fn write(&mut self, at: usize, value: u32) {
        dsb(SY);
        // SAFETY: as in `read`; a plain store.
        unsafe {
            core::arch::asm!("str {0:w}, [{1}]", in(reg) value, in(reg) at, options(nostack, preserves_flags));
        }
    }

    fn smc(&mut self, call: SmcCall) -> u64 {
        let mut arguments = [0; 17];
        arguments[..2].copy_from_slice(&call.arguments);
        let [answer, ..] = smccc::smc64(call.function, arguments);
        answer
    }
}
