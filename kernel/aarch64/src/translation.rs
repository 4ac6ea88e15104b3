//! Translation: what the CPU answers when it is asked how it would read an address.
//!
//! Facts: PAR_EL1 of the architecture.

use bitfield::bitfield;

bitfield! {
    /// The value of PAR_EL1 after an `AT` instruction.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct Par(u64);
    impl Debug;
    /// The access would fault.
    pub bool, faults, _: 0;
    /// Fault status code; only when it faults.
    pub u8, status, _: 6, 1;
    /// Number of the page's physical address, in units of 4 KiB; only when it does not fault.
    pub u64, frame, _: 47, 12;
    /// The byte of MAIR that applies; only when it does not fault.
    pub u8, attribute, _: 63, 56;
}

/// How the CPU would access an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// It would fault, with this status code.
    Fault(u8),
    /// It is mapped, with the attribute byte that MAIR_EL1 holds for it.
    Mapped {
        /// Physical address of its page.
        page: u64,
        /// Attribute byte.
        attribute: u8,
    },
}

impl From<u64> for Translation {
    /// Reads a value of PAR_EL1.
    fn from(value: u64) -> Translation {
        let par = Par(value);
        if par.faults() {
            Translation::Fault(par.status())
        } else {
            Translation::Mapped {
                page: par.frame() << 12,
                attribute: par.attribute(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_answers_are_read() {
        let mapped = Translation::Mapped {
            page: 0x4020_1000,
            attribute: 0xFF,
        };
        // Bits 7 to 11 and 48 to 55 say other things.
        assert_eq!(Translation::from(0xFF00_0000_4020_1F80), mapped);
        assert_eq!(Translation::from(0x80B), Translation::Fault(5));
    }
}
