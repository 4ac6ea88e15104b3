//! Core dumps of the GPU: an ELF core file that any driver of Mali CSF GPUs can write, and what can be read from it.
//!
//! Memory is physical, page tables included; notes hold what the hardware and its firmware interface say. Everything else
//! (virtual addresses, streams, descriptors, code) follows by a walk.  docs/core-dumps.md has the format.
//!
//! Needs: nothing for writing; `alloc` for reading.  Guarantees: a writer allocates nothing and holds a page at a time; a reader,
//! and every walk, ends without a panic in bounded time and memory, whatever the file holds.
//!
//! ```
//! use eitri_csf::registers::identity::GPU_ID;
//! use eitri_dump::{Dump, Region, write};
//!
//! let regions = [Region { start: 0x8000_0000, bytes: 4096 }];
//! let mut file = Vec::new();
//! write(
//!     &mut file,
//!     &regions,
//!     |notes| notes.registers(&mut |tell| tell(GPU_ID.offset, 0xA867_0005)),
//!     |_address, page| {
//!         page.fill(7);
//!         Ok(())
//!     },
//! )?;
//! let dump = Dump::parse(&file)?;
//! assert_eq!(dump.register(GPU_ID), Some(0xA867_0005));
//! assert_eq!(dump.memory()[0].data, [7; 4096]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

// The file.
mod elf;
pub mod note;
mod write;

#[cfg(feature = "alloc")]
mod add_lines;
#[cfg(feature = "alloc")]
mod read;

// The GPU that it is taken from.
mod regions;
mod source;
pub mod walk;

mod collect;
mod interface;

#[cfg(feature = "alloc")]
pub mod show;
#[cfg(feature = "alloc")]
mod streams;

#[cfg(feature = "alloc")]
pub use add_lines::add_lines;
pub use collect::{Extent, Summary, collect, collect_part, registers};
#[cfg(feature = "alloc")]
pub use read::{BlockWords, Contents, Dump, Group, ReadError, Stream, Words};
pub use regions::{Region, Regions};
pub use source::{Memory, Source, Unreadable};
#[cfg(feature = "alloc")]
pub use streams::{StreamNow, streams};
pub use write::{Notes, Pairs, Sink, WriteError, write};
