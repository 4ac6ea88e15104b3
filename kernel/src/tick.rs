//! Tick: something that is done every so often, whatever else the image does, by the physical timer's interrupt.
//!
//! The virtual timer is for alarms ([`crate::time`]), which whoever waits sets anew each time.

use crate::interrupts::{self, Interrupt, RegisterError};
use crate::irq_mutex::IrqMutex;
use crate::time;
use core::time::Duration;
use cortex_a::registers::{CNTP_CTL_EL0, CNTP_CVAL_EL0, CNTPCT_EL0, Readable, Writeable};
use eitri_boards::Board;

#[derive(Clone, Copy)]
struct Tick {
    ticks: u64,
    what: fn(&'static Board),
    board: &'static Board,
}

static TICK: IrqMutex<Option<Tick>> = IrqMutex::new(None);

/// Does `what` now, and then every `period`; what was done before is not done any more. It runs in the interrupt.
///
/// # Errors
/// When the interrupt can't be had.
pub fn every(
    board: &'static Board,
    period: Duration,
    what: fn(&'static Board),
) -> Result<(), RegisterError> {
    let timer = Interrupt::Private(board.physical_timer_ppi);
    interrupts::register(timer, tick)?;
    let ticks = time::ticks(period);
    TICK.with(|tick| *tick = Some(Tick { ticks, what, board }));
    interrupts::enable(timer);
    CNTP_CVAL_EL0.set(CNTPCT_EL0.get());
    CNTP_CTL_EL0.write(CNTP_CTL_EL0::ENABLE::SET + CNTP_CTL_EL0::IMASK::CLEAR);
    Ok(())
}

/// Ends it.
pub fn never() {
    CNTP_CTL_EL0.write(CNTP_CTL_EL0::ENABLE::CLEAR);
}

fn tick(_: Interrupt) {
    // Outside of the lock, so that what is done may set another tick.
    if let Some(tick) = TICK.with(|tick| *tick) {
        CNTP_CVAL_EL0.set(CNTPCT_EL0.get() + tick.ticks);
        (tick.what)(tick.board);
    }
}
