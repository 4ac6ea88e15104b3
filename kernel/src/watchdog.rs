//! Watchdog: refreshes the board's, if it runs, as long as interrupts come.
//!
//! An image that hangs with interrupts masked is reset by it; that is what it is for.

use crate::interrupts::RegisterError;
use crate::machine::ThisMachine;
use crate::{println, tick};
use eitri_boards::Board;

/// How many times in its period it is refreshed.
const TIMES: u32 = 4;

/// Begins to refresh the board's watchdog.
///
/// # Errors
/// When the tick's interrupt can't be had.
pub(crate) fn open(board: &'static Board) -> Result<(), RegisterError> {
    let Some(watchdog) = board.watchdog else {
        return Ok(());
    };
    if !watchdog.is_running(&mut ThisMachine::of(board)) {
        println!("the watchdog does not run");
        return Ok(());
    }
    let period = watchdog.expires / TIMES;
    println!(
        "the watchdog runs: refreshed every {} s and {} ms",
        period.as_secs(),
        period.subsec_millis()
    );
    tick::every(board, period, refresh)
}

fn refresh(board: &'static Board) {
    if let Some(watchdog) = board.watchdog {
        watchdog.refresh(&mut ThisMachine::of(board));
    }
}
