//! The architecture, as each leaf names it.
//!
//! v14 does not come here: the probe refuses it.

use eitri_csf::Arch;

/// For command-stream instructions.
pub(crate) const fn of_commands(arch: Arch) -> eitri_cs::Arch {
    match arch {
        Arch::V10 => eitri_cs::Arch::V10,
        Arch::V11 => eitri_cs::Arch::V11,
        Arch::V12 => eitri_cs::Arch::V12,
        Arch::V13 | Arch::V14 => eitri_cs::Arch::V13,
    }
}

/// For descriptors.
pub(crate) const fn of_descriptors(arch: Arch) -> eitri_descriptors::Arch {
    match arch {
        Arch::V10 => eitri_descriptors::Arch::V10,
        Arch::V11 => eitri_descriptors::Arch::V11,
        Arch::V12 => eitri_descriptors::Arch::V12,
        Arch::V13 | Arch::V14 => eitri_descriptors::Arch::V13,
    }
}
