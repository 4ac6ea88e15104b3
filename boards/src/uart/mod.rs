//! UARTs that have no crate of their own kept for them: rows of a table, and one driver, which sends a byte at a time.
//!
//! Each is an [`embedded_io::Write`], as the PL011's driver is. A byte that the UART does not take in its time is an
//! error: a console that hangs must not hang the image.

mod kind;
#[cfg(feature = "drivers")]
mod polled;
#[cfg(feature = "drivers")]
mod stuck;

pub use kind::{Kind, Width};
#[cfg(feature = "drivers")]
pub use polled::{Polled, Registers};
#[cfg(feature = "drivers")]
pub use stuck::Stuck;
