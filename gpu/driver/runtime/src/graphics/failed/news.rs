//! Calls for the device to name what failed.

use crate::mmu::MmuFault;
use crate::slab::Key;
use eitri_csf::fault::FaultSource;

/// What makes the device name what failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    /// The slot of a group may report a failure, as its words say, which was not answered.
    Reports(Key),
    /// An access in a space failed.
    Access(Key, FailedAccess),
    /// Faults were laid to jobs of a group.
    Faults(Key),
    /// The same of all groups of a space.
    FaultsIn(Key),
}

/// An access that failed: its address, if that is one of the space, and the unit that made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedAccess {
    pub(crate) address: Option<u64>,
    pub(crate) unit: FaultSource,
}

impl From<MmuFault> for FailedAccess {
    fn from(fault: MmuFault) -> FailedAccess {
        FailedAccess {
            address: Some(fault.address),
            unit: fault.unit,
        }
    }
}
