//! Command-stream instructions of Mali CSF GPUs, v10 to v13: encode, decode, text, and the builder.
//!
//! A command stream is a run of 64-bit words that the GPU's front end executes: it fills registers, starts jobs, waits
//! for them and signals sync objects.  Every instruction is one row of [`table`]; types, words, text and documentation
//! derive from it.  Facts: hardware/command-stream.md.
//!
//! ```
//! use eitri_cs::instr::{Instr, Move48};
//! use eitri_cs::{Arch, d};
//!
//! let load = Move48 { destination: d!(66), immediate: 0x41_0000_1000 };
//! let word = load.encode(Arch::V10)?;
//! assert_eq!(word, 0x0142_0041_0000_1000);
//! assert_eq!(Instr::decode(word, Arch::V10), Ok(Instr::Move48(load)));
//! # Ok::<(), eitri_cs::EncodeError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// The words of the field: generations, registers, slots.
mod arch;
mod register;
mod scoreboard;

// The tables, and the types that derive from them.
pub mod enums;
pub mod field;
pub mod instr;
pub mod staging;
pub mod table;

// As people read and write them.
pub mod text;

// What a driver does with them.
pub mod builder;
mod layout;
mod random;
mod usage;

pub use arch::{Arch, ArchSet, SUPPORTED};
pub use instr::{DecodeError, EncodeError, Instr};
pub use layout::{Layout, SubQueue};
pub use random::random_word;
pub use register::{Pair, Reg, RegMask, RegSet};
pub use scoreboard::{Slot, SlotMask};
pub use usage::Usage;

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
