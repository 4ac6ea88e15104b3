//! UARTs that have no crate of their own kept for them: a byte at a time, set up by whoever loaded the image.
//!
//! Each is an [`embedded_io::Write`], as the PL011's driver is. A byte that the UART does not take in its time is an
//! error: a console that hangs must not hang the image.

mod dw8250;
mod lpuart;

pub use dw8250::{Dw8250, Dw8250Registers};
pub(crate) use lpuart::DATA as LPUART_DATA;
pub use lpuart::{Lpuart, LpuartRegisters};

use core::fmt;

/// How often a UART is asked whether it has room: many times what a byte takes at 9600 baud.
const LOOKS: u32 = 1_000_000;

/// The UART did not take a byte in its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the UART takes no more bytes")
    }
}

impl core::error::Error for Stuck {}

impl embedded_io::Error for Stuck {
    fn kind(&self) -> embedded_io::ErrorKind {
        embedded_io::ErrorKind::TimedOut
    }
}

/// Asks until the answer is yes.
fn wait_until(mut ready: impl FnMut() -> bool) -> Result<(), Stuck> {
    for _ in 0..LOOKS {
        if ready() {
            return Ok(());
        }
        core::hint::spin_loop();
    }
    Err(Stuck)
}
