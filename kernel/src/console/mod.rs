//! Console: the board's UART, as text.
//!
//! Needs: the UART is mapped as device memory.  Guarantees: what is written is out when the call returns, unless the
//! UART hangs; interrupts are masked meanwhile, so a handler may print too.

mod uart;

use crate::interrupts::masked;
use crate::irq_mutex::IrqMutex;
use core::fmt::{self, Write};
use eitri_boards::Console;
use uart::Uart;

static UART: IrqMutex<Option<Uart>> = IrqMutex::new(None);

/// Opens the console; only the first call does something.
///
/// # Safety
/// The UART is there, mapped as device memory, and driven by nobody else.
pub(crate) unsafe fn open(console: &Console) {
    UART.with(|uart| {
        if uart.is_none() {
            // SAFETY: the caller's promise, and it is opened once.
            *uart = Some(unsafe { Uart::open(console) });
        }
    });
}

/// Goes on with another UART.
///
/// # Safety
/// As for [`open`].
pub(crate) unsafe fn change(console: &Console) {
    flush();
    UART.with(|uart| {
        // SAFETY: the caller's promise.
        *uart = Some(unsafe { Uart::open(console) });
    });
}

/// For a report of the last moments: whoever held the console does not come back.
pub(crate) fn seize() {
    // SAFETY: one CPU, and it has given up what it did.
    unsafe { UART.seize() };
}

/// Sends bytes as they are.
pub(crate) fn send(bytes: &[u8]) {
    UART.with(|uart| {
        if let Some(uart) = uart {
            uart.send(bytes);
        }
    });
}

/// Waits until everything that was printed is on the line.
pub fn flush() {
    UART.with(|uart| {
        if let Some(uart) = uart {
            uart.flush();
        }
    });
}

struct Lines;

impl Write for Lines {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive('\n') {
            match part.strip_suffix('\n') {
                Some(line) => {
                    send(line.as_bytes());
                    send(b"\r\n");
                }
                None => send(part.as_bytes()),
            }
        }
        Ok(())
    }
}

#[doc(hidden)]
pub fn print(text: fmt::Arguments<'_>) {
    masked(|| {
        // Sending can't fail, so an error is one of the value's own formatting: the rest is printed all the same.
        let _ = Lines.write_fmt(text);
    });
}

/// Prints to the console.
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => { $crate::console::print(format_args!($($text)*)) };
}

/// Prints a line to the console.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($text:tt)*) => { $crate::console::print(format_args!("{}\n", format_args!($($text)*))) };
}
