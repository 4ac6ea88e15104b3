//! DesignWare 8250: a 16550 with registers of 32 bits.
//!
//! Never: changes speed or format. Whoever loaded the image has set them, and a write to LCR while the UART is busy is
//! ignored and raises an interrupt.  Facts: hardware/boards-rk3588.md section 4.

use super::{Stuck, wait_until};
use embedded_io::{ErrorType, Write};
use safe_mmio::fields::{ReadPure, ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field, field_shared};

/// The registers up to the last one that is used.
#[repr(C)]
pub struct Dw8250Registers {
    /// What is written goes out.
    thr: WriteOnly<u32>,
    /// Interrupts.
    ier: ReadPureWrite<u32>,
    /// FCR, LCR and MCR: left as they are.
    set_up: [ReadPureWrite<u32>; 3],
    /// Line status.
    lsr: ReadPure<u32>,
}

/// LSR: there is room for a byte.
const THR_EMPTY: u32 = 1 << 5;
/// LSR: the last byte is on the line.
const TRANSMITTER_EMPTY: u32 = 1 << 6;

/// A UART of that kind.
pub struct Dw8250<'a>(UniqueMmioPointer<'a, Dw8250Registers>);

impl<'a> Dw8250<'a> {
    /// Drives the UART, which is set up already; its interrupts are switched off.
    pub fn new(mut registers: UniqueMmioPointer<'a, Dw8250Registers>) -> Dw8250<'a> {
        field!(registers, ier).write(0);
        Dw8250(registers)
    }

    fn status(&self) -> u32 {
        field_shared!(self.0, lsr).read()
    }
}

impl ErrorType for Dw8250<'_> {
    type Error = Stuck;
}

impl Write for Dw8250<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Stuck> {
        for byte in bytes {
            wait_until(|| self.status() & THR_EMPTY != 0)?;
            field!(self.0, thr).write(u32::from(*byte));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Stuck> {
        wait_until(|| self.status() & TRANSMITTER_EMPTY != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    fn registers(lsr: u32) -> Dw8250Registers {
        Dw8250Registers {
            thr: WriteOnly(0),
            ier: ReadPureWrite(5),
            set_up: [const { ReadPureWrite(0x77) }; 3],
            lsr: ReadPure(lsr),
        }
    }

    #[test]
    fn registers_are_where_the_facts_say() {
        assert_eq!(offset_of!(Dw8250Registers, thr), 0x00);
        assert_eq!(offset_of!(Dw8250Registers, ier), 0x04);
        assert_eq!(offset_of!(Dw8250Registers, lsr), 0x14);
    }

    #[test]
    fn a_byte_goes_out_and_nothing_is_set_up_anew() {
        let mut registers = registers(THR_EMPTY | TRANSMITTER_EMPTY);
        let mut uart = Dw8250::new(UniqueMmioPointer::from(&mut registers));
        assert_eq!(uart.write(b"ok"), Ok(2));
        assert_eq!(uart.flush(), Ok(()));
        assert_eq!(registers.thr.0, u32::from(b'k'));
        assert_eq!(registers.ier.0, 0, "interrupts are off");
        assert!(registers.set_up.iter().all(|register| register.0 == 0x77));
    }

    #[test]
    fn a_uart_that_hangs_is_an_error() {
        let mut registers = registers(0);
        let mut uart = Dw8250::new(UniqueMmioPointer::from(&mut registers));
        assert_eq!(uart.write(b"x"), Err(Stuck));
        assert_eq!(registers.thr.0, 0, "nothing was written");
    }
}
