//! Console: the board's UART, as text.
//!
//! Needs: the UART is mapped as device memory.  Guarantees: what is written is out when the call returns, unless the
//! UART hangs; interrupts are masked meanwhile, so a handler may print too.

use crate::interrupts::masked;
use crate::irq_mutex::IrqMutex;
use arm_pl011_uart::{
    DataBits, LineConfig, PL011Registers, Parity, StopBits, Uart, UniqueMmioPointer,
};
use core::fmt::{self, Write};
use eitri_boards::Pl011;

static UART: IrqMutex<Option<Uart<'static>>> = IrqMutex::new(None);

/// Opens the console; only the first call does something.
///
/// # Safety
/// A PL011 is there, mapped as device memory, and driven by nobody else.
pub(crate) unsafe fn open(pl011: &Pl011) {
    UART.with(|uart| {
        if uart.is_none() {
            // SAFETY: the caller's promise.
            *uart = Some(unsafe { opened(pl011) });
        }
    });
}

/// The driver of the UART, set up.
///
/// # Safety
/// As for [`open`], and no other driver of it was made.
unsafe fn opened(pl011: &Pl011) -> Uart<'static> {
    // SAFETY: the caller's promise.
    let registers = unsafe { UniqueMmioPointer::new(pl011.base.pointer::<PL011Registers>()) };
    let mut opened = Uart::new(registers);
    let line = LineConfig {
        data_bits: DataBits::Bits8,
        parity: Parity::None,
        stop_bits: StopBits::One,
    };
    // A speed that the clock can't give leaves the one that the loader set, which is better than none.
    let _ = opened.enable(line, pl011.baud, pl011.clock_hertz);
    opened
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
