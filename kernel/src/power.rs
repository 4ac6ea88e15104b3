//! Power: carries a board's power sequence out on the machine itself.
//!
//! Each step is said before it is done, and the line is out before the access: a wrong one may hang the machine.
//! Facts: hardware/boards.md 3.1 item 5, 3.2, and 5 (steps 9 to 11).

use crate::machine::ThisMachine;
use crate::{console, println};
use eitri_boards::Board;
use eitri_boards::steps::bus::{BusError, Buses};
use eitri_boards::steps::{self, Action, Certainty, Found, Log, Machine, Permission, StepError};

/// Looks whether the GPU's supply is on, and at a voltage that it may have; nothing of it is written. `buses` is what the image
/// drives, `()` if that is nothing: then the supply is as the loader left it, which is said.
///
/// # Errors
/// At the first step that goes wrong.
pub fn supply(board: &'static Board, buses: &mut impl Buses) -> Result<(), StepError> {
    match run(board, board.gpu.supply, Permission::SourcedOnly, buses) {
        Err(StepError::Bus {
            device,
            error: BusError::NoDriver,
            ..
        }) => {
            println!(
                "power: the supply is as the loader left it: this image has no driver for {device}"
            );
            Ok(())
        }
        ran => ran,
    }
}

/// Gives the GPU its clocks and its power. Nothing is done on a board whose GPU has them already.
///
/// # Errors
/// At the first step that goes wrong.
pub fn on(board: &'static Board, permission: Permission) -> Result<(), StepError> {
    run(board, board.gpu.power_on, permission, &mut ())
}

/// Takes them away again. Its microcontroller is stopped and its L2 off before.
///
/// # Errors
/// At the first step that goes wrong.
pub fn off(board: &'static Board, permission: Permission) -> Result<(), StepError> {
    run(board, board.gpu.power_off, permission, &mut ())
}

/// The shader cores that the power controller lets be used; `None` where that is not its to say, or it has not said it.
pub fn usable_cores(board: &'static Board) -> Option<u64> {
    let at = board.memory.controller?.base + board.gpu.usable_cores?;
    match ThisMachine::of(board).read(at) {
        0 => None,
        cores => Some(u64::from(cores)),
    }
}

/// Carries other steps out than the board's own: for a test of what is told of wrong ones.
///
/// # Errors
/// At the first step that goes wrong.
///
/// # Safety
/// Each register is one of the board's own, and whatever the access does there is wanted.
pub unsafe fn carry_out(board: &'static Board, steps: &[Action]) -> Result<(), StepError> {
    run(board, steps, Permission::InferredToo, &mut ())
}

fn run(
    board: &'static Board,
    sequence: &[Action],
    permission: Permission,
    buses: &mut impl Buses,
) -> Result<(), StepError> {
    steps::run(
        sequence,
        board.power_controllers,
        permission,
        &mut ThisMachine::with(board, buses),
        &mut Console,
    )
}

struct Console;

impl Log for Console {
    fn begin(&mut self, action: &Action) {
        let inferred = match action.certainty {
            Certainty::Sourced => "",
            Certainty::Inferred | Certainty::Spare => " (only inferred)",
        };
        println!("power: {}{inferred}...", action.what);
        console::flush();
    }

    fn done(&mut self, action: &Action, found: Found) {
        println!("power: {}: {found}", action.what);
    }

    fn left_out(&mut self, action: &Action) {
        println!(
            "power: {}: left out, since it is only inferred",
            action.what
        );
    }
}
