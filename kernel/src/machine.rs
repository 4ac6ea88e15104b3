//! Machine: the registers and the firmware of the board, for what boards state as data.

use crate::time;
use cortex_a::asm::barrier::{SY, dsb};
use eitri_boards::steps::bus::{BusError, Buses, Device};
use eitri_boards::steps::{Machine, SmcCall};
use eitri_boards::{Board, Region};
use embedded_hal::delay::DelayNs;

/// The machine that the image runs on. Its registers are mapped as devices, and the board says that they are there.
pub(crate) struct ThisMachine<B = ()> {
    board: &'static Board,
    buses: B,
}

impl ThisMachine {
    /// The machine that this board is.
    pub(crate) fn of(board: &'static Board) -> ThisMachine {
        ThisMachine::with(board, ())
    }
}

impl<B: Buses> ThisMachine<B> {
    /// The same with what the image drives.
    pub(crate) fn with(board: &'static Board, buses: B) -> ThisMachine<B> {
        ThisMachine { board, buses }
    }
}

impl<B: Buses> Buses for ThisMachine<B> {
    fn transfer(&mut self, to: Device, send: &[u8], reply: &mut [u8]) -> Result<(), BusError> {
        self.buses.transfer(to, send, reply)
    }
}

impl<B> DelayNs for ThisMachine<B> {
    fn delay_ns(&mut self, nanoseconds: u32) {
        time::Delay.delay_ns(nanoseconds);
    }
}

impl<B: Buses> Machine for ThisMachine<B> {
    fn read(&mut self, at: usize) -> u32 {
        let value: u32;
        // SAFETY: a register that the board states, which was checked to be in one of its devices, or a word of the memory for its
        // power controller; aligned, and a plain load.
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

    fn shared_memory(&self) -> Option<Region> {
        self.board.memory.controller
    }
}
