//! Register files: which units a program may use.

use std::ops::Range;

use smallvec::SmallVec;

/// A set of units to allocate from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RegisterFile {
    /// Those that are there, as runs in order. No value lies across the end of one.
    runs: SmallVec<[Range<usize>; 4]>,
}

impl RegisterFile {
    /// Of so many units those for which `has` is true.
    pub(crate) fn of(units: usize, has: impl Fn(usize) -> bool) -> RegisterFile {
        let mut runs: SmallVec<[Range<usize>; 4]> = SmallVec::new();
        for unit in (0..units).filter(|&unit| has(unit)) {
            match runs.last_mut() {
                Some(run) if run.end == unit => run.end += 1,
                _ => runs.push(unit..unit + 1),
            }
        }
        RegisterFile { runs }
    }

    /// The same counted in units of `grain` of these. What is not whole is left out.
    pub(crate) fn coarse(&self, grain: usize) -> RegisterFile {
        let runs = self.runs.iter();
        let whole = runs.map(|run| run.start.div_ceil(grain)..run.end / grain);
        RegisterFile {
            runs: whole.filter(|run| !run.is_empty()).collect(),
        }
    }

    /// The units at which a run of `width` units may begin.
    pub(crate) fn bases(&self, width: usize) -> impl Iterator<Item = usize> {
        let runs = self.runs.iter();
        runs.flat_map(move |run| run.start..(run.end + 1).saturating_sub(width))
    }

    /// One more than the highest unit.
    pub(crate) fn end(&self) -> usize {
        self.runs.last().map_or(0, |run| run.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_units_are_whole() {
        let file = RegisterFile::of(24, |unit| !(5..11).contains(&unit));
        let coarse = file.coarse(4);
        assert_eq!(coarse.bases(1).collect::<Vec<_>>(), [0, 3, 4, 5]);
        assert_eq!(coarse.end(), 6);
        assert_eq!(file.coarse(1), file);
    }

    #[test]
    fn runs_do_not_cross_a_hole() {
        let file = RegisterFile::of(64, |unit| !(16..48).contains(&unit));
        assert!(
            file.bases(4)
                .all(|base| base <= 12 || (48..=60).contains(&base))
        );
        assert_eq!(file.bases(1).count(), 32);
        assert_eq!(file.bases(17).count(), 0);
        assert_eq!(file.end(), 64);
    }
}
