//! Register files: which registers a program may use.
//!
//! Facts: hardware/compiler-abi.md 3.10.

use crate::valhall::mir::Register;

/// A set of registers to allocate from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegisterFile(u64);

impl RegisterFile {
    /// r0 to r15 and r48 to r63: twice as many threads fit.
    pub(crate) const HALF: RegisterFile = RegisterFile(0xffff_0000_0000_ffff);
    /// All 64 registers.
    pub(crate) const FULL: RegisterFile = RegisterFile(u64::MAX);

    /// The file without all but the `count` lowest of its registers below r48 and the preloaded ones above.
    /// Shrinks the file so that small functions spill.
    pub(crate) fn limited(self, count: u32, preloaded: u64) -> RegisterFile {
        let low = if count < 48 {
            (1u64 << count) - 1
        } else {
            (1 << 48) - 1
        };
        RegisterFile(self.0 & (low | preloaded))
    }

    /// The bases at which a run of `width` registers lies in the file.
    pub(crate) fn bases(self, width: usize) -> impl Iterator<Item = usize> {
        let run = u64::MAX >> (64 - width.clamp(1, 64));
        (0..=Register::COUNT.saturating_sub(width)).filter(move |&base| self.0 >> base & run == run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_do_not_cross_the_hole_of_the_half_file() {
        assert!(
            RegisterFile::HALF
                .bases(4)
                .all(|base| base <= 12 || (48..=60).contains(&base))
        );
        assert_eq!(RegisterFile::FULL.bases(1).count(), 64);
    }
}
