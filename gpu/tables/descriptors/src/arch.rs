//! Generations that the tables know.
//!
//! Facts: hardware/descriptors.md 1.

pub use eitri_arch::{Arch, ArchSet};

/// The generations whose descriptors the tables know. On others no structure exists: the error says so.
pub const SUPPORTED: ArchSet = ArchSet::range(Arch::V10, Arch::V13);

/// `first` and all later ones that the tables know.
pub(crate) const fn since(first: Arch) -> ArchSet {
    SUPPORTED.and(ArchSet::since(first))
}

/// `last` and all earlier ones that the tables know.
pub(crate) const fn until(last: Arch) -> ArchSet {
    SUPPORTED.and(ArchSet::until(last))
}
