//! Access: a load or store of the image that stage 2 stopped, decoded from the syndrome.
//!
//! Only a plain load or store of one general register comes with a decoded syndrome; others (pairs, write-back, SIMD)
//! don't, and are an error of whoever wrote that access to a register.
//! Facts: the fields of ESR_EL2 for a data abort are the architecture's; csf-mmio.md section 1 item 1 for the width.

use core::fmt;
use cortex_a::registers::{ESR_EL2, FAR_EL2, HPFAR_EL2, Readable};

/// A decoded access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Guest physical address.
    pub(crate) address: u64,
    /// How wide it is.
    pub(crate) width: Width,
    /// The general register that is loaded or stored; 31 is zero.
    pub(crate) register: u8,
    /// A load that extends the sign of what was read.
    pub(crate) sign_extended: bool,
    /// Whether the register is used in its 64 bits.
    pub(crate) wide_register: bool,
    /// Which way.
    pub(crate) direction: Direction,
}

/// How wide an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
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
    pub(crate) const fn bytes(self) -> u32 {
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
pub(crate) enum Direction {
    /// A load.
    Read,
    /// A store.
    Write,
}

/// Why an access can't be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessError {
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

/// The guest physical address of the data abort that was taken.
pub(crate) fn address() -> u64 {
    /// HPFAR_EL2 holds the page number from bit 4 on.
    const PAGE_SHIFT: u32 = 8;
    let page = (HPFAR_EL2.get() & !0xF) << PAGE_SHIFT;
    page | (FAR_EL2.get() & 0xFFF)
}

/// Decodes the data abort that was taken.
pub(crate) fn decode() -> Result<Access, AccessError> {
    decode_syndrome(ESR_EL2.get(), address())
}

fn decode_syndrome(esr: u64, address: u64) -> Result<Access, AccessError> {
    let bit = |number: u32| esr >> number & 1 == 1;
    let (valid, sign_extended, wide_register, write) = (bit(24), bit(21), bit(15), bit(6));
    if !valid {
        return Err(AccessError::NotDecoded { address, esr });
    }
    let width = match esr >> 22 & 3 {
        0 => Width::Byte,
        1 => Width::Half,
        2 => Width::Word,
        _ => Width::Double,
    };
    Ok(Access {
        address,
        width,
        register: (esr >> 16 & 0x1F) as u8,
        sign_extended,
        wide_register,
        direction: if write {
            Direction::Write
        } else {
            Direction::Read
        },
    })
}

impl Access {
    /// Checks that it is one of an aligned word.
    pub(crate) fn of_word(self) -> Result<Access, AccessError> {
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
    pub(crate) fn loaded(self, value: u64) -> u64 {
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
