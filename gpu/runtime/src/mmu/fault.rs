//! A fault that an address space reports: which address, which access, why.
//!
//! Facts: hardware/gpu-mmu.md section 8.

use core::fmt;
use eitri_csf::fault::Exception;
use eitri_csf::fault::fault_access::AccessKind;
use eitri_csf::registers::address_space::as_faultstatus;

/// A fault of an address space. The first is kept by the hardware; later ones are dropped until it is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmuFault {
    /// The address space: 0 is the firmware's.
    pub space: u32,
    /// Why.
    pub exception: Exception,
    /// What kind of access.
    pub access: AccessKind,
    /// The virtual address.
    pub address: u64,
    /// Which unit.
    pub unit: u32,
}

impl MmuFault {
    pub(crate) fn decode(space: u32, status: u32, address: u64) -> MmuFault {
        MmuFault {
            space,
            exception: Exception(as_faultstatus::EXCEPTION.get(status) as u8),
            // Two bits, four kinds: every number has one.
            access: as_faultstatus::ACCESS
                .get(status)
                .unwrap_or(AccessKind::Read),
            address,
            unit: as_faultstatus::SOURCE.get(status),
        }
    }
}

impl fmt::Display for MmuFault {
    /// `TRANSLATION_FAULT_3 in address space 1: a read of 0x5000 (unit 0x12): the address is not mapped`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MmuFault {
            space,
            exception,
            access,
            address,
            unit,
        } = self;
        write!(
            f,
            "{exception} in address space {space}: {} of {address:#x}",
            access.about()
        )?;
        write!(f, " (unit {unit:#x})")?;
        match exception.row() {
            Some(row) => write!(f, ": {}", row.about),
            None => Ok(()),
        }
    }
}

impl core::error::Error for MmuFault {}
