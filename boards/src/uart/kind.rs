//! Kind: what a UART asks of whoever sends a byte, as data.
//!
//! Of a UART that its loader has set up an image needs three registers: one that takes a byte, one that says when, and one that
//! keeps interrupts away. So a UART is a row here, or of whoever describes a board.
//! Facts: hardware/boards-rk3588.md 4; hardware/boards-imx95.md 4.

/// How wide the accesses of a UART's registers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Width {
    /// A byte.
    Byte,
    /// A word of 32 bits.
    Word,
}

impl Width {
    /// In bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Width::Byte => 1,
            Width::Word => 4,
        }
    }
}

/// A kind of UART. Offsets are in bytes from its first register, and multiples of the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The register that takes a byte.
    pub data: usize,
    /// The register that says how far it is.
    pub status: usize,
    /// Status: there is room for a byte. A mask; all of its bits are set then.
    pub room: u32,
    /// Status: the last byte is on the line, as a mask; the same as `room` where the UART does not tell.
    pub sent: u32,
    /// The register that is cleared to keep its interrupts away, where there is one that may be.
    pub interrupts: Option<usize>,
    /// Width of an access.
    pub width: Width,
}

/// The kinds that boards of this crate have.
#[rustfmt::skip]
impl Kind {
    /// A DesignWare 8250: a 16550 with registers of 32 bits. Neither speed nor format may be changed: a write to LCR while the UART
    /// is busy is ignored and raises an interrupt.
    pub const DW8250: Kind = Kind { data: 0x00, status: 0x14, room: 1 << 5,  sent: 1 << 6,  interrupts: Some(0x04), width: Width::Word };
    /// An LPUART of the i.MX family, with registers of 32 bits.
    pub const LPUART: Kind = Kind { data: 0x1C, status: 0x14, room: 1 << 23, sent: 1 << 23, interrupts: None,       width: Width::Word };
}

impl Kind {
    /// How many registers there are up to the last one that is used.
    pub const fn registers(&self) -> usize {
        let mut last = if self.data > self.status {
            self.data
        } else {
            self.status
        };
        if let Some(interrupts) = self.interrupts
            && interrupts > last
        {
            last = interrupts;
        }
        last / self.width.bytes() + 1
    }

    /// What is wrong with it.
    pub(crate) const fn problem(&self) -> Option<&'static str> {
        let width = self.width.bytes();
        let aligned = self.data.is_multiple_of(width) && self.status.is_multiple_of(width);
        let interrupts = match self.interrupts {
            Some(at) => at.is_multiple_of(width),
            None => true,
        };
        if !aligned || !interrupts {
            return Some("console: a register that is not aligned");
        }
        if self.registers() * width > PAGE {
            return Some("console: registers beyond its page");
        }
        if self.room == 0 || self.sent == 0 {
            return Some("console: a status without a bit");
        }
        None
    }
}

/// A console is one page of registers at most.
const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// A 16550 as PCs have it, with registers of a byte side by side.
    const OF_PC: Kind = Kind {
        data: 0,
        status: 5,
        room: 1 << 5,
        sent: 1 << 6,
        interrupts: Some(1),
        width: Width::Byte,
    };

    #[test]
    fn registers_are_counted_by_their_width() {
        assert_eq!(Kind::DW8250.registers(), 6);
        assert_eq!(Kind::LPUART.registers(), 8);
        assert_eq!(OF_PC.registers(), 6);
    }

    #[test]
    fn what_no_uart_has_is_told() {
        for kind in [Kind::DW8250, Kind::LPUART, OF_PC] {
            assert_eq!(kind.problem(), None, "{kind:?}");
        }
        let wrong = [
            Kind {
                status: 5,
                ..Kind::DW8250
            },
            Kind {
                interrupts: Some(2),
                ..Kind::DW8250
            },
            Kind {
                data: 4096,
                ..OF_PC
            },
            Kind { room: 0, ..OF_PC },
        ];
        for kind in wrong {
            assert!(kind.problem().is_some(), "{kind:?}");
        }
    }
}
