//! Facts about the whole program: generation, stage, registers.
//!
//! Facts: hardware/compiler-abi.md 3.9 and 3.10, valhall-isa.md 13.

use eitri_arch::ArchSet;

pub use eitri_arch::Arch;

/// The generations that a program can be for.
pub const SUPPORTED: ArchSet = ArchSet::range(Arch::V10, Arch::V13);

/// The generation that the header's number names.
pub(crate) fn arch(major: u32) -> Option<Arch> {
    Arch::from_major(major).filter(|arch| SUPPORTED.contains(*arch))
}

/// Pipeline stage that the code runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A compute shader.
    Compute,
    /// A vertex shader: several programs of one text ([`crate::EntryKind`]).
    Vertex,
    /// A fragment shader.
    Fragment,
}

impl Stage {
    pub(crate) const fn code(self) -> u32 {
        match self {
            Stage::Compute => 0,
            Stage::Vertex => 1,
            Stage::Fragment => 2,
        }
    }

    /// Compute, and nothing else: the format of programs of one entry point has no other stage.
    pub(crate) const fn compute(code: u32) -> Option<Stage> {
        match code {
            0 => Some(Stage::Compute),
            _ => None,
        }
    }

    /// A stage of the graphics pipeline.
    pub(crate) const fn graphics(code: u32) -> Option<Stage> {
        match code {
            1 => Some(Stage::Vertex),
            2 => Some(Stage::Fragment),
            _ => None,
        }
    }
}

/// Registers that each thread is given; half of them doubles the threads that fit on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterFile {
    /// r0 to r15 and r48 to r63.
    Half,
    /// r0 to r63.
    Full,
}

impl RegisterFile {
    /// 32 or 64.
    pub const fn registers(self) -> u32 {
        match self {
            RegisterFile::Half => 32,
            RegisterFile::Full => 64,
        }
    }

    pub(crate) const fn from_registers(registers: u32) -> Option<RegisterFile> {
        match registers {
            32 => Some(RegisterFile::Half),
            64 => Some(RegisterFile::Full),
            _ => None,
        }
    }
}
