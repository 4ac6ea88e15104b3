//! Facts about the whole program: generation, waves, workgroup.
//!
//! Facts: hardware/ir3-isa.md 14, 19.

use crate::error::ProgramError;

/// The generations that a program can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gen {
    /// Adreno 6xx.
    A6xx,
}

impl Gen {
    /// The hundreds of its products' numbers.
    pub const fn number(self) -> u32 {
        match self {
            Gen::A6xx => 6,
        }
    }

    pub(crate) const fn from_number(number: u32) -> Option<Gen> {
        match number {
            6 => Some(Gen::A6xx),
            _ => None,
        }
    }
}

/// Lanes of a wave: the thread size of the compute control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaveSize {
    /// 64 lanes.
    Single,
    /// 128 lanes.
    Double,
}

impl WaveSize {
    /// 64 or 128.
    pub const fn lanes(self) -> u32 {
        match self {
            WaveSize::Single => 64,
            WaveSize::Double => 128,
        }
    }

    pub(crate) const fn from_lanes(lanes: u32) -> Option<WaveSize> {
        match lanes {
            64 => Some(WaveSize::Single),
            128 => Some(WaveSize::Double),
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
    /// Most invocations of a workgroup: 16 waves of 64 lanes.
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

    /// Invocations along x, y and z.
    pub const fn sides(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }

    /// Invocations in all: 1 to [`WorkgroupSize::MAX_INVOCATIONS`].
    pub const fn invocations(self) -> u32 {
        self.x * self.y * self.z
    }
}
