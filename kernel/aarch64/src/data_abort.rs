//! Data abort: the load or store that was stopped, decoded from the syndrome.
//!
//! Only a plain load or store of one general register comes with a decoded syndrome; others (pairs, write-back, SIMD)
//! don't, and are an error of whoever wrote that access to a register.
//! Facts: the ISS encoding for a data abort, and HPFAR_EL2, are the architecture's; csf-mmio.md section 1 item 1 for the
//! width.

use crate::Syndrome;
use bitfield::bitfield;
use core::fmt;

bitfield! {
    /// An ESR value whose class is a data abort.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct DataAbort(pub u64);
    impl Debug;
    /// Fault status code.
    pub u8, status, _: 5, 0;
    /// A store.
    pub bool, is_write, _: 6;
    /// The register is used in its 64 bits.
    pub bool, wide_register, _: 15;
    /// The register that is loaded or stored.
    pub u8, register, _: 20, 16;
    /// A load that extends the sign.
    pub bool, sign_extended, _: 21;
    /// Logarithm of the number of bytes.
    pub u8, log2_bytes, _: 23, 22;
    /// The fields from `wide_register` on say something.
    pub bool, is_decoded, _: 24;
}

bitfield! {
    /// The value of HPFAR_EL2: the page of the guest physical address that faulted.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct FaultPage(u64);
    impl Debug;
    /// Page number, in units of 4 KiB.
    pub u64, page, _: 43, 4;
}

impl FaultPage {
    /// The guest physical address, from the values of HPFAR_EL2 and FAR_EL2.
    pub fn address(hpfar: u64, far: u64) -> u64 {
        FaultPage(hpfar).page() << 12 | far & 0xFFF
    }
}

/// A decoded access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Guest physical address.
    pub address: u64,
    /// How wide it is.
    pub width: Width,
    /// The general register that is loaded or stored; 31 is zero.
    pub register: u8,
    /// A load that extends the sign of what was read.
    pub sign_extended: bool,
    /// Whether the register is used in its 64 bits.
    pub wide_register: bool,
    /// Which way.
    pub direction: Direction,
}

/// How wide an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 1 byte.
    Byte,
    /// 2 bytes.
    Half,
    /// 4 bytes.
    Word,
    /// 8 bytes.
    Double,
}

impl Width {
    /// In bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Width::Byte => 1,
            Width::Half => 2,
            Width::Word => 4,
            Width::Double => 8,
        }
    }
}

/// Which way an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A load.
    Read,
    /// A store.
    Write,
}

/// Why an access can't be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// The syndrome says nothing about the instruction.
    NotDecoded {
        /// Guest physical address.
        address: u64,
        /// The syndrome.
        esr: u64,
    },
    /// Not 32 bits wide.
    Width {
        /// Guest physical address.
        address: u64,
        /// Bytes.
        bytes: u32,
    },
    /// Not at a multiple of 4.
    Unaligned {
        /// Guest physical address.
        address: u64,
    },
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::NotDecoded { address, esr } => write!(
                f,
                "an access to {address:#x} that is no plain load or store of one register (ESR {esr:#x})"
            ),
            AccessError::Width { address, bytes } => {
                write!(
                    f,
                    "an access of {bytes} bytes to {address:#x}, where words of 4 are"
                )
            }
            AccessError::Unaligned { address } => {
                write!(f, "an access to {address:#x}, which is no multiple of 4")
            }
        }
    }
}

impl core::error::Error for AccessError {}

impl Access {
    /// Decodes a data abort.
    ///
    /// # Errors
    /// [`AccessError::NotDecoded`] when the syndrome says nothing about the instruction.
    pub fn decode(syndrome: Syndrome, address: u64) -> Result<Access, AccessError> {
        let abort = DataAbort(syndrome.0);
        if !abort.is_decoded() {
            let esr = syndrome.0;
            return Err(AccessError::NotDecoded { address, esr });
        }
        Ok(Access {
            address,
            width: match abort.log2_bytes() {
                0 => Width::Byte,
                1 => Width::Half,
                2 => Width::Word,
                _ => Width::Double,
            },
            register: abort.register(),
            sign_extended: abort.sign_extended(),
            wide_register: abort.wide_register(),
            direction: if abort.is_write() {
                Direction::Write
            } else {
                Direction::Read
            },
        })
    }

    /// Checks that it is one of an aligned word.
    ///
    /// # Errors
    /// When it has another width, or is not aligned.
    pub fn of_word(self) -> Result<Access, AccessError> {
        let (address, bytes) = (self.address, self.width.bytes());
        if self.width != Width::Word {
            return Err(AccessError::Width { address, bytes });
        }
        if !address.is_multiple_of(4) {
            return Err(AccessError::Unaligned { address });
        }
        Ok(self)
    }

    /// What a load of `value` leaves in the register.
    pub fn loaded(self, value: u64) -> u64 {
        let unused = 64 - 8 * self.width.bytes();
        let extended = if self.sign_extended {
            ((value << unused) as i64 >> unused) as u64
        } else {
            value << unused >> unused
        };
        if self.wide_register {
            extended
        } else {
            u64::from(extended as u32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ldr w3, [..]` and `strh w5, [..]` as stage 2 stops them.
    const LDR_W3: u64 = 0x9383_0007;
    const STRH_W5: u64 = 0x9345_0047;

    #[test]
    fn a_load_of_a_word_is_decoded() {
        let access = Access::decode(Syndrome(LDR_W3), 0xB00_0004).unwrap();
        let wanted = Access {
            address: 0xB00_0004,
            width: Width::Word,
            register: 3,
            sign_extended: false,
            wide_register: false,
            direction: Direction::Read,
        };
        assert_eq!(access, wanted);
        assert_eq!(access.of_word(), Ok(wanted));
    }

    #[test]
    fn a_store_of_another_width_is_no_word() {
        let access = Access::decode(Syndrome(STRH_W5), 0xB00_0002).unwrap();
        assert_eq!((access.register, access.direction), (5, Direction::Write));
        let error = access.of_word().unwrap_err();
        let text = "an access of 2 bytes to 0xb000002, where words of 4 are";
        assert_eq!(std::format!("{error}"), text);
    }

    #[test]
    fn a_word_that_is_not_aligned_is_refused() {
        let access = Access::decode(Syndrome(LDR_W3), 0xB00_0002).unwrap();
        let text = "an access to 0xb000002, which is no multiple of 4";
        assert_eq!(std::format!("{}", access.of_word().unwrap_err()), text);
    }

    #[test]
    fn a_pair_is_not_decoded() {
        let error = Access::decode(Syndrome(0x9200_0007), 0xB00_0000).unwrap_err();
        let text = "an access to 0xb000000 that is no plain load or store of one register (ESR 0x92000007)";
        assert_eq!(std::format!("{error}"), text);
    }

    #[test]
    fn a_load_extends_as_the_instruction_says() {
        let access = |sign_extended, wide_register| Access {
            address: 0,
            width: Width::Byte,
            register: 0,
            sign_extended,
            wide_register,
            direction: Direction::Read,
        };
        assert_eq!(access(false, false).loaded(0xF80), 0x80);
        assert_eq!(access(true, false).loaded(0x80), 0xFFFF_FF80);
        assert_eq!(access(true, true).loaded(0x80), 0xFFFF_FFFF_FFFF_FF80);
    }

    #[test]
    fn the_page_and_the_offset_make_the_address() {
        assert_eq!(
            FaultPage::address(0x000B_0120, 0xFFFF_8000_0123_4ABC),
            0x0B01_2ABC
        );
    }
}
