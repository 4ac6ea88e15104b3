//! Boards: what is particular to one, as data; one module a board.
//!
//! A [`Board`] says where things are and how an image ends there. The kernel is told one and knows nothing else about
//! the machine; the linker script of the same name in `linker/` says where the image is loaded.
//!
//! Guarantees: regions are multiples of 4 KiB and do not overlap (checked when a board is compiled).
//! Facts: hardware/boards.md section 9.
//!
//! ```
//! let board = eitri_boards::qemu_virt::BOARD;
//! assert_eq!(board.gpu.window.end() - board.gpu.window.base, 0x20_0000);
//! ```
#![no_std]
#![warn(missing_docs)]

mod board;
mod host;

pub mod qemu_virt;

pub use board::{Board, Coherency, Gic, Gpu, Memory, Pl011, Region, Spi};
pub use host::{Exit, Host, HostError, HostFile};
