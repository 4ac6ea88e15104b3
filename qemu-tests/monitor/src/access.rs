//! Access: a load or store of the image that stage 2 stopped, decoded from the syndrome.
//!
//! Only a plain load or store of one general register comes with a decoded syndrome; others (pairs, write-back, SIMD)
//! don't, and are an error of whoever wrote that access to a register.
//! Facts: the fields of ESR_EL2 for a data abort are the architecture's; csf-mmio.md section 1 item 1 for the width.

use core::fmt;
use cortex_a::registers::{ESR_EL2, FAR_EL2, HPFAR_EL2, Readable};

/// A decoded access of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Guest physical address.
    pub(crate) address: u64,
    /// The general register that is loaded or stored; 31 is zero.
    pub(crate) register: u8,
    /// Loads whose register is 64 bits wide and which extend the sign of what was read.
    pub(crate) sign_extended: bool,
    /// Which way.
    pub(crate) direction: Direction,
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
    let (valid, sign_extended, wide, write) = (bit(24), bit(21), bit(15), bit(6));
    if !valid {
        return Err(AccessError::NotDecoded { address, esr });
    }
    let bytes = 1 << (esr >> 22 & 3);
    if bytes != 4 {
        return Err(AccessError::Width { address, bytes });
    }
    if !address.is_multiple_of(4) {
        return Err(AccessError::Unaligned { address });
    }
    Ok(Access {
        address,
        register: (esr >> 16 & 0x1F) as u8,
        sign_extended: sign_extended && wide,
        direction: if write {
            Direction::Write
        } else {
            Direction::Read
        },
    })
}

impl Access {
    /// What a load leaves in the register.
    pub(crate) fn loaded(self, value: u32) -> u64 {
        if self.sign_extended {
            i64::from(value as i32) as u64
        } else {
            u64::from(value)
        }
    }
}
