//! Generations of the instruction set, in order. The tables know all of them.
//!
//! Facts: hardware/valhall-isa.md sections 14 and 15.

pub use eitri_arch::{Arch, ArchSet, UnknownArch};
