//! Staging registers: what jobs read beside the operands in their words, and how those registers are laid out.
//!
//! Guarantees: a register in no row is not read by the job.  Facts: hardware/command-stream.md 4.

mod registers;
mod words;

pub use words::{
    DepthViewport, DrawFlags1, DrawFlags2, FramebufferPointer, PixelPoint, PixelRect,
    PrimitiveFlags, PrimitiveFlags2, WORDS, WordInfo, WorkgroupSize,
};

use crate::arch::{Arch, ArchSet};
use crate::register::{Reg, RegSet};
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

/// When a job reads a staging register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagingWhen {
    /// Always.
    Always,
    /// When this field of the instruction has this value.
    Field(&'static str, u64),
    /// When other registers say so.
    Registers(&'static str),
    /// Never: the number is taken, but no instruction selects it.
    Never,
}

/// A register that jobs read: one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagingRegister {
    /// The register, or the low half of the pair.
    pub register: Reg,
    /// Whether it is a pair.
    pub is_pair: bool,
    /// Its name.
    pub name: &'static str,
    /// Where the job reads it.
    pub archs: ArchSet,
    /// When the job reads it.
    pub when: StagingWhen,
    /// How its bits are laid out, where that is more than one number.
    pub word: Option<&'static WordInfo>,
    /// What it says.
    pub note: &'static str,
}

impl StagingRegister {
    /// Whether the job of `word`, which is the instruction `info`, may read it.
    pub fn may_be_read(&self, info: &Info, word: u64, arch: Arch) -> bool {
        match self.when {
            StagingWhen::Always | StagingWhen::Registers(_) => true,
            StagingWhen::Field(field, value) => info.field_bits(field, word, arch) == value,
            StagingWhen::Never => false,
        }
    }

    /// The registers that it is.
    pub const fn registers(&self) -> RegSet {
        let first = self.register.number();
        RegSet::range(first, first + self.is_pair as u8)
    }
}

impl StagingMap {
    /// All, in the order of the rows' files.
    pub const ALL: [StagingMap; 5] = [
        StagingMap::Compute,
        StagingMap::Idvs,
        StagingMap::Fragment,
        StagingMap::Fullscreen,
        StagingMap::Tiling,
    ];

    /// The rows of every architecture.
    pub const fn rows(self) -> &'static [StagingRegister] {
        match self {
            StagingMap::Compute => registers::COMPUTE,
            StagingMap::Idvs => registers::IDVS,
            StagingMap::Fragment => registers::FRAGMENT,
            StagingMap::Fullscreen => registers::FULLSCREEN,
            StagingMap::Tiling => registers::TILING,
        }
    }

    /// The rows of `arch`, by rising register.
    pub fn rows_of(self, arch: Arch) -> impl Iterator<Item = &'static StagingRegister> {
        let has = move |row: &&StagingRegister| row.archs.contains(arch);
        self.rows().iter().filter(has)
    }

    /// The registers that the job of `word`, which is the instruction `info`, may read.
    pub(crate) fn registers(self, info: &Info, word: u64, arch: Arch) -> RegSet {
        self.rows_of(arch)
            .filter(|row| row.may_be_read(info, word, arch))
            .map(StagingRegister::registers)
            .fold(RegSet::EMPTY, RegSet::union)
    }
}
