//! Console: the board's UART, as text.
//!
//! Needs: the UART is mapped as device memory.  Guarantees: what is written is out when the call returns, unless the
//! UART hangs; interrupts are masked meanwhile, so a handler may print too.

use crate::interrupts::masked;
use arm_pl011_uart::{
    DataBits, LineConfig, PL011Registers, Parity, StopBits, Uart, UniqueMmioPointer,
};
use core::fmt::{self, Write};
use core::ptr::NonNull;
use eitri_boards::Pl011;
use spin::Mutex;

static UART: Mutex<Option<Uart<'static>>> = Mutex::new(None);

/// Opens the console; only the first call does something.
pub(crate) fn open(pl011: &Pl011) {
    let mut uart = UART.lock();
    if uart.is_some() {
        return;
    }
    let Some(registers) = NonNull::new(pl011.base as *mut PL011Registers) else {
        return;
    };
    // SAFETY: the board says that a PL011 is there, the initial table maps it as device memory, and this is the only
    // driver of it: it is made once.
    let registers = unsafe { UniqueMmioPointer::new(registers) };
    let mut opened = Uart::new(registers);
    let line = LineConfig {
        data_bits: DataBits::Bits8,
        parity: Parity::None,
        stop_bits: StopBits::One,
    };
    // A speed that the clock can't give leaves the one that the loader set, which is better than none.
    let _ = opened.enable(line, pl011.baud, pl011.clock_hertz);
    *uart = Some(opened);
}

/// For a report of the last moments: whoever held the console does not come back.
pub(crate) fn seize() {
    // SAFETY: one CPU, and it has given up what it did.
    unsafe { UART.force_unlock() };
}

/// Sends bytes as they are.
pub(crate) fn send(bytes: &[u8]) {
    masked(|| {
        if let Some(uart) = UART.lock().as_mut() {
            bytes.iter().for_each(|byte| uart.write_word(*byte));
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
