//! A fault that an address space reports: which address, which access, why.
//!
//! Facts: hardware/gpu-mmu.md section 8.

use core::fmt;
use eitri_csf::Arch;
use eitri_csf::fault::fault_access::AccessKind;
use eitri_csf::fault::{Exception, FaultSource};
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
    /// Which unit made the access.
    pub unit: FaultSource,
}

impl MmuFault {
    pub(crate) fn decode(arch: Arch, space: u32, status: u32, address: u64) -> MmuFault {
        // Two bits, four kinds: every number has one.
        let access = as_faultstatus::ACCESS
            .get(status)
            .unwrap_or(AccessKind::Read);
        MmuFault {
            space,
            exception: Exception(as_faultstatus::EXCEPTION.get(status) as u8),
            access,
            address,
            unit: FaultSource {
                arch,
                id: as_faultstatus::SOURCE.get(status) as u16,
                access,
            },
        }
    }
}

impl fmt::Display for MmuFault {
    /// `TRANSLATION_FAULT_3 in address space 1: a read of 0x5000 by shader core 1, load/store cache: the address is not mapped`.
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
        write!(f, " by {unit}")?;
        match exception.explained() {
            Some(row) => write!(f, ": {}", row.about),
            None => Ok(()),
        }
    }
}

impl core::error::Error for MmuFault {}
