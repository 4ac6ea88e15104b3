//! Polled: a UART of any kind of [`Kind`], a byte at a time.
//!
//! Never: changes speed or format; whoever loaded the image has set them.

use super::stuck::{Stuck, wait_until};
use super::{Kind, Width};
use embedded_io::{ErrorType, Write};
use safe_mmio::UniqueMmioPointer;
use safe_mmio::fields::ReadPureWrite;

/// The registers of a UART, up to the last one that is used.
pub enum Registers<'a> {
    /// Of a byte each.
    Bytes(UniqueMmioPointer<'a, [ReadPureWrite<u8>]>),
    /// Of 32 bits each.
    Words(UniqueMmioPointer<'a, [ReadPureWrite<u32>]>),
}

impl Registers<'_> {
    /// The register at an offset in bytes; 0 where none is.
    fn read(&mut self, offset: usize) -> u32 {
        match self {
            Registers::Bytes(bytes) => {
                let register = bytes.get(offset / Width::Byte.bytes());
                register.map_or(0, |register| u32::from(register.read()))
            }
            Registers::Words(words) => {
                let register = words.get(offset / Width::Word.bytes());
                register.map_or(0, |register| register.read())
            }
        }
    }

    fn write(&mut self, offset: usize, value: u8) {
        match self {
            Registers::Bytes(bytes) => {
                if let Some(mut register) = bytes.get(offset / Width::Byte.bytes()) {
                    register.write(value);
                }
            }
            Registers::Words(words) => {
                if let Some(mut register) = words.get(offset / Width::Word.bytes()) {
                    register.write(u32::from(value));
                }
            }
        }
    }
}

/// A UART.
pub struct Polled<'a> {
    kind: Kind,
    registers: Registers<'a>,
}

impl<'a> Polled<'a> {
    /// Drives a UART of that kind, which is set up already; its interrupts are switched off. A register that is not among
    /// `registers` is left alone.
    pub fn new(kind: Kind, mut registers: Registers<'a>) -> Polled<'a> {
        if let Some(interrupts) = kind.interrupts {
            registers.write(interrupts, 0);
        }
        Polled { kind, registers }
    }

    fn wait_for(&mut self, bits: u32) -> Result<(), Stuck> {
        let Polled { kind, registers } = self;
        wait_until(|| registers.read(kind.status) & bits == bits)
    }
}

impl ErrorType for Polled<'_> {
    type Error = Stuck;
}

impl Write for Polled<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Stuck> {
        for byte in bytes {
            self.wait_for(self.kind.room)?;
            self.registers.write(self.kind.data, *byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Stuck> {
        self.wait_for(self.kind.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What registers hold that nobody is to write.
    const KEPT: u8 = 0x77;

    /// Sends two bytes over a UART whose status is this, and gives what its registers hold then.
    fn send<const COUNT: usize>(kind: Kind, status: u32) -> (Result<usize, Stuck>, [u32; COUNT]) {
        let mut registers = [const { ReadPureWrite(KEPT as u32) }; COUNT];
        registers[kind.status / 4] = ReadPureWrite(status);
        let pointer: UniqueMmioPointer<'_, [_]> = UniqueMmioPointer::from(&mut registers).into();
        let mut uart = Polled::new(kind, Registers::Words(pointer));
        let sent = uart
            .write(b"ok")
            .and_then(|sent| uart.flush().map(|()| sent));
        (sent, registers.map(|register| register.0))
    }

    #[test]
    fn a_byte_goes_out_over_an_8250_and_nothing_is_set_up_anew() {
        let (sent, registers) = send::<6>(Kind::DW8250, 0x60);
        assert_eq!(sent, Ok(2));
        let kept = u32::from(KEPT);
        assert_eq!(registers, [u32::from(b'k'), 0, kept, kept, kept, 0x60]);
    }

    #[test]
    fn a_byte_goes_out_over_an_lpuart_and_nothing_is_set_up_anew() {
        let (sent, registers) = send::<8>(Kind::LPUART, 1 << 23);
        assert_eq!(sent, Ok(2));
        assert_eq!(registers[7], u32::from(b'k'));
        let kept = |at: usize| registers[at] == u32::from(KEPT);
        assert!((0..5).all(kept) && kept(6), "{registers:x?}");
    }

    #[test]
    fn registers_of_a_byte_are_written_by_bytes() {
        let kind = Kind {
            data: 0,
            status: 5,
            room: 0x20,
            sent: 0x40,
            interrupts: Some(1),
            width: Width::Byte,
        };
        let mut registers = [const { ReadPureWrite(KEPT) }; 6];
        registers[5] = ReadPureWrite(0x60);
        let pointer: UniqueMmioPointer<'_, [_]> = UniqueMmioPointer::from(&mut registers).into();
        let mut uart = Polled::new(kind, Registers::Bytes(pointer));
        assert_eq!(uart.write(b"ok"), Ok(2));
        assert_eq!(uart.flush(), Ok(()));
        let now = registers.map(|register| register.0);
        assert_eq!(now, [b'k', 0, KEPT, KEPT, KEPT, 0x60]);
    }

    #[test]
    fn a_uart_that_hangs_is_an_error() {
        let (sent, registers) = send::<6>(Kind::DW8250, 0);
        assert_eq!(sent, Err(Stuck));
        assert_eq!(registers[0], u32::from(KEPT), "nothing was written");
        let (sent, _) = send::<6>(Kind::DW8250, 1 << 5);
        assert_eq!(sent, Err(Stuck), "the last byte does not get out");
    }
}
