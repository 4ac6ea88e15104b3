//! Power: carries a board's power sequence out on the machine itself.
//!
//! Each step is said before it is done, and the line is out before the access: a wrong one may hang the machine.
//! Facts: hardware/boards.md 3.1 item 5, 3.2, and 5 (steps 9 to 11).

use crate::{console, println, time};
use cortex_a::asm::barrier::{SY, dsb};
use eitri_boards::Board;
use eitri_boards::steps::{
    self, Action, Certainty, Found, Log, Machine, Permission, SmcCall, StepError,
};
use embedded_hal::delay::DelayNs;

/// Gives the GPU its clocks and its power. Nothing is done on a board whose GPU has them already.
///
/// # Errors
/// At the first step that goes wrong.
pub fn on(board: &'static Board, permission: Permission) -> Result<(), StepError> {
    run(board, board.gpu.power_on, permission)
}

/// Takes them away again. Its microcontroller is stopped and its L2 off before.
///
/// # Errors
/// At the first step that goes wrong.
pub fn off(board: &'static Board, permission: Permission) -> Result<(), StepError> {
    run(board, board.gpu.power_off, permission)
}

fn run(
    board: &'static Board,
    sequence: &[Action],
    permission: Permission,
) -> Result<(), StepError> {
    let channel = board.power_controller.as_ref();
    steps::run(
        sequence,
        channel,
        permission,
        &mut Registers { _board: board },
        &mut Console,
    )
}

/// The registers of a board, which its steps touch: they are mapped as devices, and the board says that they are there.
struct Registers {
    _board: &'static Board,
}

impl DelayNs for Registers {
    fn delay_ns(&mut self, nanoseconds: u32) {
        time::Delay.delay_ns(nanoseconds);
    }
}

impl Machine for Registers {
    fn read(&mut self, at: usize) -> u32 {
        let value: u32;
        // SAFETY: a step of the board, which was checked to be in one of its devices, and is aligned; a plain load.
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

struct Console;

impl Log for Console {
    fn begin(&mut self, action: &Action) {
        let inferred = match action.certainty {
            Certainty::Sourced => "",
            Certainty::Inferred => " (only inferred)",
        };
        println!("power: {}{inferred}...", action.what);
        console::flush();
    }

    fn done(&mut self, action: &Action, found: Found) {
        println!("power: {}: {found}", action.what);
    }
}
