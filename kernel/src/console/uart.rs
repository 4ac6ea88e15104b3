//! The board's UART, of whichever kind it is.

use arm_pl011_uart::{
    DataBits, LineConfig, PL011Registers, Parity, StopBits, Uart as Pl011, UniqueMmioPointer,
};
use core::ptr::NonNull;
use eitri_boards::uart::{Polled, Registers, Width};
use eitri_boards::{Console, LineSpeed};
use embedded_io::Write;

/// Its driver.
pub(super) enum Uart {
    Pl011(Pl011<'static>),
    Polled(Polled<'static>),
}

impl Uart {
    /// Opens it; one that its loader has set up is left as it is.
    ///
    /// # Safety
    /// The UART is there, mapped as device memory, and driven by nobody else.
    pub(super) unsafe fn open(console: &Console) -> Uart {
        match *console {
            Console::Pl011 { base, set_up } => {
                // SAFETY: the caller's promise.
                let registers = unsafe { UniqueMmioPointer::new(base.pointer::<PL011Registers>()) };
                let mut uart = Pl011::new(registers);
                if let Some(LineSpeed { clock_hertz, baud }) = set_up {
                    let line = LineConfig {
                        data_bits: DataBits::Bits8,
                        parity: Parity::None,
                        stop_bits: StopBits::One,
                    };
                    // A speed that the clock can't give leaves the one that the loader set, which is better than none.
                    let _ = uart.enable(line, baud, clock_hertz);
                }
                Uart::Pl011(uart)
            }
            Console::Polled { base, kind } => {
                let count = kind.registers();
                let registers = match kind.width {
                    Width::Byte => {
                        let first = NonNull::slice_from_raw_parts(base.pointer(), count);
                        // SAFETY: the caller's promise.
                        Registers::Bytes(unsafe { UniqueMmioPointer::new(first) })
                    }
                    Width::Word => {
                        let first = NonNull::slice_from_raw_parts(base.pointer(), count);
                        // SAFETY: the same.
                        Registers::Words(unsafe { UniqueMmioPointer::new(first) })
                    }
                };
                Uart::Polled(Polled::new(kind, registers))
            }
        }
    }

    /// Sends bytes as they are. There is nobody to be told that a UART takes no more of them.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        match self {
            Uart::Pl011(uart) => bytes.iter().for_each(|byte| uart.write_word(*byte)),
            Uart::Polled(uart) => drop(uart.write(bytes)),
        }
    }

    /// Waits until the last byte is on the line.
    pub(super) fn flush(&mut self) {
        match self {
            Uart::Pl011(uart) => drop(uart.flush()),
            Uart::Polled(uart) => drop(uart.flush()),
        }
    }
}
