//! Stuck: a UART that does not take a byte in its time.

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
pub(super) fn wait_until(mut ready: impl FnMut() -> bool) -> Result<(), Stuck> {
    for _ in 0..LOOKS {
        if ready() {
            return Ok(());
        }
        core::hint::spin_loop();
    }
    Err(Stuck)
}
