//! What a caller must supply: workgroups, push constants, access to resources.

use crate::error::ProgramError;

/// What a program does with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It only reads.
    Read,
    /// It may write.
    ReadWrite,
}

impl Access {
    /// Its number in a record.
    pub const fn number(self) -> u32 {
        match self {
            Access::Read => 0,
            Access::ReadWrite => 1,
        }
    }

    /// What a number in a record means.
    pub const fn from_number(number: u32) -> Option<Access> {
        match number {
            0 => Some(Access::Read),
            1 => Some(Access::ReadWrite),
            _ => None,
        }
    }
}

/// A member of the push-constant block, for tools that show the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PushRange {
    /// Bytes from the start of the push constants.
    pub offset: u32,
    /// Length in bytes.
    pub bytes: u32,
}

impl PushRange {
    /// The range of a record; `None` when it leaves the push constants.
    pub fn from_record([offset, bytes]: [u32; 2], push_bytes: u32) -> Option<PushRange> {
        let end = offset.checked_add(bytes)?;
        (end <= push_bytes).then_some(PushRange { offset, bytes })
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
    /// Most invocations of a workgroup: that any CSF part runs, though one may allow fewer, as its
    /// THREAD_MAX_WORKGROUP_SIZE register tells (hardware/csf-mmio.md 4); 16 waves of 64 lanes of an Adreno
    /// (hardware/ir3-isa.md 19).
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

    /// Invocations along all three.
    pub const fn sides(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }

    /// Invocations in all: 1 to [`WorkgroupSize::MAX_INVOCATIONS`].
    pub const fn invocations(self) -> u32 {
        self.x * self.y * self.z
    }
}
