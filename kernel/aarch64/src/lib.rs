//! What an AArch64 CPU and its interrupt controller keep in bits, and nothing that runs.
//!
//! The kernel and the EL2 monitor both read syndromes, walk frame records and write tables; the meaning of those bits
//! stands here, apart from the code that can run only on such a CPU, so that it is tested on any.
//!
//! Never: touches a register or memory.  Facts: the layouts are the architecture's (Arm ARM: ESR_ELx, PAR_EL1,
//! HPFAR_EL2, VMSAv8-64 descriptors; GICv3: `ICH_LR<n>_EL2`; AAPCS64: frame records); hardware/boards.md 2.2 and 5 has
//! the values that matter.
//!
//! ```
//! use eitri_aarch64::Syndrome;
//!
//! let syndrome = Syndrome(0x9600_0045);
//! assert_eq!(syndrome.to_string(), "data abort: nothing mapped on a write (ESR 0x96000045)");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

// What the CPU tells.
mod cache_instruction;
mod cache_loop;
mod cache_type;
mod data_abort;
mod frames;
mod software_interrupt;
mod syndrome;
mod system_instruction;
mod translation;

// What it is told.
mod abort_entry;
pub mod entry_state;
mod initial_map;
mod list_register;
mod mair;

pub use abort_entry::AbortEntry;
pub use cache_instruction::{CacheInstruction, Upkeep};
pub use cache_loop::CacheLoop;
pub use cache_type::CacheType;
pub use data_abort::{Access, AccessError, DataAbort, Direction, FaultPage, Width};
pub use frames::frames;
pub use initial_map::{BLOCK, block_tables};
pub use list_register::ListRegister;
pub use mair::{CACHED, DEVICE, MAIR, UNCACHED};
pub use software_interrupt::SoftwareInterrupt;
pub use syndrome::Syndrome;
pub use translation::{Par, Translation};
