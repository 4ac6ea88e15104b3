//! MMU: page tables in memory, address spaces in registers, and the faults they report.
//!
//! Facts: hardware/gpu-mmu.md.

mod address_space;
mod fault;
mod tables;

pub(crate) use address_space::{AddressSpace, LOOK, Part, pending_faults};
pub use address_space::{AsCommandStuck, MmuError};
pub use fault::MmuFault;
pub use tables::MapError;
pub(crate) use tables::largest;
