//! Generations that the tables know, and the sets of them that rows name.
//!
//! Facts: hardware/command-stream.md 2 and 9.

pub use eitri_arch::{Arch, ArchSet};

/// The generations whose command streams the tables know. On others nothing encodes or decodes: the error says so.
pub const SUPPORTED: ArchSet = ArchSet::range(Arch::V10, Arch::V13);

/// Sets, as rows name them. None reaches beyond [`SUPPORTED`].
pub(crate) mod on {
    use super::{Arch, ArchSet, SUPPORTED};

    pub(crate) const ALL: ArchSet = SUPPORTED;
    pub(crate) const V10: ArchSet = ArchSet::only(Arch::V10);
    pub(crate) const V11: ArchSet = ArchSet::only(Arch::V11);
    pub(crate) const V12: ArchSet = ArchSet::only(Arch::V12);
    pub(crate) const V13: ArchSet = ArchSet::only(Arch::V13);
    pub(crate) const TO_V11: ArchSet = ArchSet::range(Arch::V10, Arch::V11);
    pub(crate) const FROM_V11: ArchSet = ArchSet::range(Arch::V11, Arch::V13);
    pub(crate) const FROM_V12: ArchSet = ArchSet::range(Arch::V12, Arch::V13);
}
