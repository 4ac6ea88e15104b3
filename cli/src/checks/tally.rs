//! Counts of results, and how they are read from what `cargo test` prints.

use std::ops::AddAssign;

/// Results counted apart: what was skipped has not passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Tally {
    /// One result.
    pub(crate) fn one(good: bool) -> Tally {
        Tally {
            passed: usize::from(good),
            failed: usize::from(!good),
            skipped: 0,
        }
    }

    /// The sum of the `test result:` lines that `cargo test` prints, one a test binary.
    pub(crate) fn of_cargo_test(output: &str) -> Tally {
        let mut tally = Tally::default();
        for line in output.lines() {
            let Some(counts) = line.strip_prefix("test result: ") else {
                continue;
            };
            let count = |what: &str| {
                let before = counts.split_once(what).map_or("", |(before, _)| before);
                let number = before.trim_end().rsplit([' ', ';']).next();
                number.and_then(|text| text.parse().ok()).unwrap_or(0)
            };
            tally += Tally {
                passed: count("passed"),
                failed: count("failed"),
                skipped: count("ignored"),
            };
        }
        tally
    }

    /// Counts tests that said of themselves that they were skipped; libtest has counted them as passed.
    pub(crate) fn skip(&mut self, skipped: usize) {
        let skipped = skipped.min(self.passed);
        self.passed -= skipped;
        self.skipped += skipped;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binary_counts() {
        let output = "running 2 tests\n\
            test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n\
            test result: FAILED. 11 passed; 1 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";
        let mut tally = Tally::of_cargo_test(output);
        assert_eq!(
            tally,
            Tally {
                passed: 13,
                failed: 1,
                skipped: 3
            }
        );
        tally.skip(2);
        assert_eq!(
            tally,
            Tally {
                passed: 11,
                failed: 1,
                skipped: 5
            }
        );
    }
}
