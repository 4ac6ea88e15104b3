//! A console that takes whatever it is given, at once.
//!
//! Facts: hardware/boards-rk3588.md 4; hardware/boards-imx95.md 4.

use crate::board::Console;

/// Offsets, and the bits that say that there is room and that everything is out.
#[rustfmt::skip]
mod dw8250 {
    pub(super) const THR:   usize = 0x00;
    pub(super) const LSR:   usize = 0x14;
    pub(super) const READY: u32   = 1 << 5 | 1 << 6;
}
#[rustfmt::skip]
mod lpuart {
    pub(super) const STAT:  usize = 0x14;
    pub(super) const DATA:  usize = 0x1C;
    pub(super) const READY: u32   = 1 << 23;
}

/// A console.
pub struct Uart {
    base: usize,
    /// The register that takes a character.
    data: usize,
    /// The register that says that there is room, and what it says.
    status: (usize, u32),
}

impl Uart {
    /// The console of a board; `None` for a PL011, which QEMU itself has.
    pub fn of(console: &Console) -> Option<Uart> {
        let (data, status) = match console {
            Console::Pl011 { .. } => return None,
            Console::Dw8250 { .. } => (dw8250::THR, (dw8250::LSR, dw8250::READY)),
            Console::Lpuart { .. } => (lpuart::DATA, (lpuart::STAT, lpuart::READY)),
        };
        let base = console.base().address();
        Some(Uart { base, data, status })
    }

    /// Whether a register of its is at an address.
    pub fn has(&self, at: usize) -> bool {
        (self.base..self.base + 0x1000).contains(&at)
    }

    /// A register is read.
    pub fn read(&self, at: usize) -> u32 {
        let (status, ready) = self.status;
        if at - self.base == status { ready } else { 0 }
    }

    /// A register is written; gives the character that goes out.
    pub fn write(&mut self, at: usize, value: u32) -> Option<u8> {
        (at - self.base == self.data).then_some(value as u8)
    }
}
