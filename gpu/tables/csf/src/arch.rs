//! Generations that the tables know, so that "v11 and later" is a comparison.
//!
//! Facts: hardware/csf-host-interface.md section 3.

pub use eitri_arch::{Arch, ArchSet};

/// The generations with a command-stream front end that the tables know.
pub const SUPPORTED: ArchSet = ArchSet::range(Arch::V10, Arch::V14);
