//! Registers, firmware interface and page tables of CSF GPUs.
//!
//! Every hardware fact of the host's side stands here once, as a row of a table: the runtime programs the GPU by
//! these rows, the model plays the GPU by them, and `eitri explain` prints them.
//! Needs: nothing. No allocator, no standard library.  Facts: hardware/csf-mmio.md, csf-firmware.md, gpu-mmu.md.
//!
//! ```
//! use eitri_csf::fault::Exception;
//! use eitri_csf::product::GpuId;
//! use eitri_csf::registers::mcu::{MCU_STATUS, McuState, mcu_status};
//!
//! assert_eq!(mcu_status::STATE.get(3u32), Some(McuState::Fatal));
//! assert_eq!(MCU_STATUS.decode(3).to_string(), "MCU_STATUS (0x704) = 0x3: STATE 3 Fatal");
//! assert_eq!(GpuId(0xA867_0005).product(4, 0).map(|row| row.name), Some("Mali-G610"));
//! assert_eq!(Exception(0xC2).to_string(), "TRANSLATION_FAULT_2");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

// What a row of a table is.
pub mod arch;
pub mod table;

// The GPU's window: what it is, its registers, commands, faults.
pub mod product;

pub mod registers;

pub mod command;

pub mod fault;

// What lies in memory: page tables, firmware images, the interface of the running firmware.
pub mod page_table;

pub mod image;

pub mod interface;

pub mod counters;

// What people ask the tables.
pub mod explain;

pub use arch::Arch;

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
