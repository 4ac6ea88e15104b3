//! What is compiled for.
use eitri_isa::Arch;

/// The machine, as far as passes ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// Architecture version.
    pub arch: Arch,
}

impl Default for Target {
    /// Mali-G610.
    fn default() -> Self {
        Target { arch: Arch::V10 }
    }
}
