//! Registers that jobs read: what each means, by kind of job and architecture.

use crate::arch::Arch;
use crate::register::RegSet;
use crate::table::Info;

/// A kind of job, by the registers it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StagingMap {
    /// RUN_COMPUTE and RUN_COMPUTE_INDIRECT.
    Compute,
    /// RUN_IDVS and RUN_IDVS2.
    Idvs,
    /// RUN_FRAGMENT.
    Fragment,
    /// RUN_FULLSCREEN.
    Fullscreen,
    /// RUN_TILING.
    Tiling,
}

impl StagingMap {
    pub(crate) fn registers(self, _info: &Info, _word: u64, _arch: Arch) -> RegSet {
        RegSet::EMPTY
    }
}
