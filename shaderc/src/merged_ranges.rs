//! Merged ranges: ranges of numbers, of which those that overlap become one.
//!
//! Needs: numbers below a limit.  Guarantees: a range is found, and ranges are merged, in nearly constant time each,
//! however many there are (a disjoint-set forest whose sets are neighbours).

/// The ranges. At first each number is a range of its own.
pub(crate) struct MergedRanges {
    /// By number: one of the same range that is not behind it; itself, if it is the first.
    earlier: Vec<usize>,
}

impl MergedRanges {
    /// So many ranges of one number.
    pub(crate) fn new(count: usize) -> MergedRanges {
        MergedRanges {
            earlier: (0..count).collect(),
        }
    }

    /// The first number of the range that a number is in.
    pub(crate) fn first(&mut self, mut number: usize) -> usize {
        while self.earlier[number] != number {
            self.earlier[number] = self.earlier[self.earlier[number]];
            number = self.earlier[number];
        }
        number
    }

    /// Puts the numbers from one to another, both included, into one range.
    pub(crate) fn merge(&mut self, from: usize, to: usize) {
        let mut first = self.first(to);
        while first > from {
            self.earlier[first] = first - 1;
            first = self.first(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn overlapping_ranges_become_one(ranges in prop::collection::vec((0..20usize, 0..20usize), 0..12)) {
            let mut merged = MergedRanges::new(20);
            // By number: whether it is in one range with the next one.
            let mut linked = [false; 20];
            for (a, b) in ranges {
                let (from, to) = (a.min(b), a.max(b));
                merged.merge(from, to);
                linked[from..to].fill(true);
                for number in 0..20 {
                    let first = (0..number).rev().take_while(|before| linked[*before]).last();
                    prop_assert_eq!(merged.first(number), first.unwrap_or(number));
                }
            }
        }
    }
}
