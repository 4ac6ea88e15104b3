//! Facts about the whole program: generation, stage, registers, workgroup.
//!
//! Facts: hardware/compiler-abi.md 3.9 and 3.10, valhall-isa.md 13.

use crate::error::ProgramError;
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
}

impl Stage {
    pub(crate) const fn code(self) -> u32 {
        match self {
            Stage::Compute => 0,
        }
    }

    pub(crate) const fn from_code(code: u32) -> Option<Stage> {
        match code {
            0 => Some(Stage::Compute),
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

/// Invocations of a workgroup along x, y and z: each at least 1, and at most 1024 in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkgroupSize {
    x: u32,
    y: u32,
    z: u32,
}

impl WorkgroupSize {
    /// Most invocations that any CSF part runs in one workgroup. A part may allow fewer: its
    /// THREAD_MAX_WORKGROUP_SIZE register tells (hardware/csf-mmio.md 4).
    pub const MAX_INVOCATIONS: u32 = 1024;

    /// A size of `x * y * z` invocations.
    ///
    /// # Errors
    /// [`ProgramError::WorkgroupSize`] when a side is 0 or the product exceeds [`WorkgroupSize::MAX_INVOCATIONS`].
    pub const fn new(x: u32, y: u32, z: u32) -> Result<WorkgroupSize, ProgramError> {
        let error = ProgramError::WorkgroupSize { x, y, z };
        let Some(plane) = x.checked_mul(y) else {
            return Err(error);
        };
        match plane.checked_mul(z) {
            Some(1..=Self::MAX_INVOCATIONS) => Ok(WorkgroupSize { x, y, z }),
            _ => Err(error),
        }
    }

    /// Invocations along x.
    pub const fn x(self) -> u32 {
        self.x
    }

    /// Invocations along y.
    pub const fn y(self) -> u32 {
        self.y
    }

    /// Invocations along z.
    pub const fn z(self) -> u32 {
        self.z
    }

    /// Invocations in all: 1 to [`WorkgroupSize::MAX_INVOCATIONS`].
    pub const fn invocations(self) -> u32 {
        self.x * self.y * self.z
    }
}
