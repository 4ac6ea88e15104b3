//! LPUART of the i.MX family, with registers of 32 bits.
//!
//! Never: changes speed or format: whoever loaded the image has set them.  Facts: hardware/boards-imx95.md section 4.

use super::{Stuck, wait_until};
use embedded_io::{ErrorType, Write};
use safe_mmio::fields::{ReadPure, ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field, field_shared};

/// The registers up to the last one that is used.
#[repr(C)]
pub struct LpuartRegisters {
    /// VERID, PARAM, GLOBAL, PINCFG and BAUD: left as they are.
    set_up: [ReadPureWrite<u32>; 5],
    /// Status.
    stat: ReadPure<u32>,
    /// Left as it is.
    ctrl: ReadPureWrite<u32>,
    /// What is written goes out.
    data: WriteOnly<u32>,
}

/// Offset of DATA, which is all that an image needs before it has a stack.
pub(crate) const DATA: usize = core::mem::offset_of!(LpuartRegisters, data);
/// STAT: there is room for a byte.
const TRANSMIT_EMPTY: u32 = 1 << 23;

/// A UART of that kind.
pub struct Lpuart<'a>(UniqueMmioPointer<'a, LpuartRegisters>);

impl<'a> Lpuart<'a> {
    /// Drives the UART, which is set up already.
    pub fn new(registers: UniqueMmioPointer<'a, LpuartRegisters>) -> Lpuart<'a> {
        Lpuart(registers)
    }

    fn wait_for_room(&self) -> Result<(), Stuck> {
        wait_until(|| field_shared!(self.0, stat).read() & TRANSMIT_EMPTY != 0)
    }
}

impl ErrorType for Lpuart<'_> {
    type Error = Stuck;
}

impl Write for Lpuart<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Stuck> {
        for byte in bytes {
            self.wait_for_room()?;
            field!(self.0, data).write(u32::from(*byte));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Stuck> {
        self.wait_for_room()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    fn registers(stat: u32) -> LpuartRegisters {
        LpuartRegisters {
            set_up: [const { ReadPureWrite(0x77) }; 5],
            stat: ReadPure(stat),
            ctrl: ReadPureWrite(0x77),
            data: WriteOnly(0),
        }
    }

    #[test]
    fn registers_are_where_the_facts_say() {
        assert_eq!(offset_of!(LpuartRegisters, stat), 0x14);
        assert_eq!(offset_of!(LpuartRegisters, ctrl), 0x18);
        assert_eq!(DATA, 0x1C);
    }

    #[test]
    fn a_byte_goes_out_and_nothing_is_set_up_anew() {
        let mut registers = registers(TRANSMIT_EMPTY);
        let mut uart = Lpuart::new(UniqueMmioPointer::from(&mut registers));
        assert_eq!(uart.write(b"ok"), Ok(2));
        assert_eq!(uart.flush(), Ok(()));
        assert_eq!(registers.data.0, u32::from(b'k'));
        assert_eq!(registers.ctrl.0, 0x77);
        assert!(registers.set_up.iter().all(|register| register.0 == 0x77));
    }

    #[test]
    fn a_uart_that_hangs_is_an_error() {
        let mut registers = registers(0);
        let mut uart = Lpuart::new(UniqueMmioPointer::from(&mut registers));
        assert_eq!(uart.write(b"x"), Err(Stuck));
        assert_eq!(registers.data.0, 0, "nothing was written");
    }
}
