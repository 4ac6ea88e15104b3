//! Which instruction set a command is about: a generation of Mali, or one of Adreno.

use eitri_ir3_isa::Gen;
use eitri_isa::Arch;
use std::str::FromStr;
use thiserror::Error;

/// A generation of an instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    /// Valhall.
    Valhall(Arch),
    /// IR3.
    Ir3(Gen),
}

/// The text names no generation.
#[derive(Debug, Error)]
#[error("it can be v9 to v14 (Mali), a5xx, a6xx or a7xx (Adreno)")]
pub(crate) struct UnknownSet;

impl FromStr for InstructionSet {
    type Err = UnknownSet;

    fn from_str(text: &str) -> Result<Self, UnknownSet> {
        let ir3 = text.parse().map(InstructionSet::Ir3);
        ir3.or_else(|_| text.parse().map(InstructionSet::Valhall))
            .map_err(|_| UnknownSet)
    }
}
