//! Ranges: what is free of an address space or of memory, in a table of fixed size.
//!
//! Guarantees: what is given out was free, aligned, and does not overlap; nothing allocates.  Bounded: a free range
//! that the table has no place for is lost, and counted.

use core::ops::Range;
use heapless::Vec;

/// At most `N` free ranges.
#[derive(Debug)]
pub(crate) struct Ranges<const N: usize> {
    free: Vec<Range<u64>, N>,
    lost: u64,
}

impl<const N: usize> Ranges<N> {
    /// Nothing free.
    pub(crate) const fn new() -> Ranges<N> {
        Ranges {
            free: Vec::new(),
            lost: 0,
        }
    }

    /// `range` free.
    pub(crate) fn of(range: Range<u64>) -> Ranges<N> {
        let mut ranges = Ranges::new();
        ranges.keep(range);
        ranges
    }

    /// Takes `bytes` at a multiple of `alignment`, a power of two; the first place that fits.
    pub(crate) fn take(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        let (slot, start, end) = self.free.iter_mut().find_map(|range| {
            let start = range.start.checked_next_multiple_of(alignment)?;
            let end = start.checked_add(bytes)?;
            (bytes > 0 && end <= range.end).then_some((range, start, end))
        })?;
        let behind = end..slot.end;
        slot.end = start;
        self.free.retain(|range| !range.is_empty());
        self.keep(behind);
        Some(start)
    }

    /// Gives a range back that was taken.
    pub(crate) fn give_back(&mut self, range: Range<u64>) {
        let before = self
            .free
            .iter()
            .find(|other| other.end == range.start)
            .cloned();
        let behind = self
            .free
            .iter()
            .find(|other| other.start == range.end)
            .cloned();
        let start = before.map_or(range.start, |other| other.start);
        let end = behind.map_or(range.end, |other| other.end);
        self.free
            .retain(|other| other.end != range.start && other.start != range.end);
        self.keep(start..end);
    }

    /// Bytes lost because the table was full.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    fn keep(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        if let Err(range) = self.free.push(range) {
            self.lost = self
                .lost
                .saturating_add(range.end.saturating_sub(range.start));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_aligned_and_apart() {
        let mut ranges: Ranges<4> = Ranges::of(0x1000..0x9000);
        assert_eq!(ranges.take(0x1000, 0x1000), Some(0x1000));
        assert_eq!(ranges.take(0x1000, 0x4000), Some(0x4000));
        assert_eq!(ranges.take(0x2000, 0x1000), Some(0x2000));
        assert_eq!(ranges.take(0x5000, 0x1000), None);
        assert_eq!(ranges.take(0, 0x1000), None);
        assert_eq!(ranges.take(u64::MAX, 0x1000), None);
    }

    #[test]
    fn neighbours_are_joined_again() {
        let mut ranges: Ranges<4> = Ranges::of(0..0x4000);
        for expected in [0, 0x1000, 0x2000, 0x3000] {
            assert_eq!(ranges.take(0x1000, 0x1000), Some(expected));
        }
        for start in [0, 0x2000, 0x1000, 0x3000] {
            ranges.give_back(start..start + 0x1000);
        }
        assert_eq!(ranges.take(0x4000, 0x4000), Some(0));
        assert_eq!(ranges.lost(), 0);
    }

    #[test]
    fn a_full_table_loses_and_counts() {
        let mut ranges: Ranges<1> = Ranges::of(0..0x3000);
        assert_eq!(ranges.take(0x1000, 0x1000), Some(0));
        ranges.give_back(0x8000..0x9000);
        assert_eq!(ranges.lost(), 0x1000);
    }
}
