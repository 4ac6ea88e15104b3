//! A console that takes whatever it is given, at once.

use crate::board::Console;
use crate::uart::{Kind, Width};

/// A console.
pub struct Uart {
    base: usize,
    kind: Kind,
}

impl Uart {
    /// The console of a board; `None` for a PL011, which QEMU itself has.
    pub fn of(console: &Console) -> Option<Uart> {
        match *console {
            Console::Pl011 { .. } => None,
            Console::Polled { base, kind } => Some(Uart {
                base: base.address(),
                kind,
            }),
        }
    }

    /// Whether a register of its is at an address.
    pub fn has(&self, at: usize) -> bool {
        (self.base..self.base + 0x1000).contains(&at)
    }

    /// How wide an access of its registers is.
    pub fn width(&self) -> Width {
        self.kind.width
    }

    /// A register is read.
    pub fn read(&self, at: usize) -> u32 {
        match at - self.base == self.kind.status {
            true => self.kind.room | self.kind.sent,
            false => 0,
        }
    }

    /// A register is written; gives the character that goes out.
    pub fn write(&mut self, at: usize, value: u32) -> Option<u8> {
        (at - self.base == self.kind.data).then_some(value as u8)
    }
}
