//! The lines that the L2 has, for counting: which requests go on to memory.
//!
//! Data comes from elsewhere (`l2`, where it is modelled): these tags say only what a request costs. Lines are replaced in the order
//! in which they came.
//!
//! Needs: physical addresses.  Guarantees: a request that hits moves nothing; a line that was written is moved once more, when it
//! leaves.
//!
//! Facts: hardware/csf-mmio.md 5 (L2_FEATURES).
// FACT: how the L2 picks the line that leaves is not published; the oldest of its set. Settled by counters of walks over buffers
// around the size of the L2, on any board.

use crate::l2::LINE;
use alloc::vec;
use alloc::vec::Vec;
use eitri_csf::registers::identity::l2_features;

/// In a tag: the line was written. The rest is the line's number and one, so that 0 is no line.
const WRITTEN: u64 = 1 << 63;

/// The tags of all slices.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    tags: Vec<u64>,
    ways: usize,
    /// The way of each set that is replaced next.
    oldest: Vec<u8>,
    /// For each set the tag of the last line asked for.
    last: Vec<u32>,
    /// Sets that may have lines, a bit each: a flush visits no others.
    in_use: Vec<u64>,
}

/// Lines that a request moved between the L2 and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

/// `number` modulo `count`, without a division where that is a power of two.
#[inline(always)]
pub(crate) fn place_of(number: usize, count: usize) -> usize {
    if count.is_power_of_two() {
        number & (count - 1)
    } else {
        number % count
    }
}

impl Tags {
    /// The tags of an empty L2 with these features and that many slices.
    pub(crate) fn new(features: u32, slices: u32) -> Tags {
        let ways = 1usize << l2_features::ASSOCIATIVITY.get(features).min(4);
        let bytes = u64::from(slices.max(1)) << l2_features::CACHE_SIZE.get(features).clamp(12, 24);
        let sets = (bytes / LINE) as usize / ways;
        Tags {
            tags: vec![0; sets * ways],
            ways,
            oldest: vec![0; sets],
            last: (0..sets).map(|set| (set * ways) as u32).collect(),
            in_use: vec![0; sets.div_ceil(64)],
        }
    }

    /// Tags of nothing, where requests are recorded.
    pub(crate) fn unused() -> Tags {
        Tags {
            tags: Vec::new(),
            ways: 0,
            oldest: Vec::new(),
            last: Vec::new(),
            in_use: Vec::new(),
        }
    }

    /// A line is read or written; what that moves.
    #[inline]
    pub(crate) fn request(&mut self, line: u64, write: bool) -> Moved {
        let set = place_of(line as usize, self.last.len());
        let wanted = (line + 1) & !WRITTEN;
        // Most lines are asked for several times in a row.
        let last = self.last.get(set).copied().unwrap_or(0);
        if let Some(tag) = self.tags.get_mut(last as usize)
            && *tag & !WRITTEN == wanted
        {
            *tag |= u64::from(write) << 63;
            return Moved::default();
        }
        self.request_other(set, wanted, write)
    }

    #[inline(never)]
    fn request_other(&mut self, set: usize, wanted: u64, write: bool) -> Moved {
        self.in_use[set / 64] |= 1 << (set % 64);
        let first = set * self.ways;
        let ways = &mut self.tags[first..][..self.ways];
        let written = if write { WRITTEN } else { 0 };
        let known = ways.iter().position(|tag| *tag & !WRITTEN == wanted);
        if let Some(way) = known {
            ways[way] |= written;
            self.last[set] = (first + way) as u32;
            return Moved::default();
        }
        let oldest = &mut self.oldest[set];
        self.last[set] = (first + usize::from(*oldest)) as u32;
        let left = core::mem::replace(&mut ways[usize::from(*oldest)], wanted | written);
        *oldest = (*oldest + 1) % self.ways as u8;
        Moved {
            // What is written in part is fetched like any other.
            read: 1,
            written: left >> 63,
        }
    }

    /// Lines are cleaned, or dropped too; how many were written to memory.
    pub(crate) fn flush(&mut self, invalidate: bool) -> Moved {
        let mut moved = Moved::default();
        for (word, sets) in self.in_use.iter_mut().enumerate() {
            let mut left = *sets;
            while left != 0 {
                let set = 64 * word + left.trailing_zeros() as usize;
                left &= left - 1;
                for tag in &mut self.tags[set * self.ways..][..self.ways] {
                    moved.written += *tag >> 63;
                    *tag = if invalidate { 0 } else { *tag & !WRITTEN };
                }
            }
            if invalidate {
                *sets = 0;
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 KiB in two ways: 32 sets.
    fn small() -> Tags {
        let features = l2_features::ASSOCIATIVITY.word(1);
        Tags::new(l2_features::CACHE_SIZE.set32(features, 12), 1)
    }

    #[test]
    fn a_line_is_fetched_once_and_written_when_it_leaves() {
        let mut tags = small();
        let moved = |read, written| Moved { read, written };
        assert_eq!(tags.request(5, true), moved(1, 0));
        assert_eq!(tags.request(5, false), moved(0, 0));
        assert_eq!(tags.request(5 + 32, false), moved(1, 0), "the other way");
        assert_eq!(tags.request(5 + 64, false), moved(1, 1), "line 5 leaves");
        assert_eq!(
            tags.request(5, false),
            moved(1, 0),
            "and was not written since"
        );
    }

    #[test]
    fn a_flush_writes_what_was_written() {
        let mut tags = small();
        tags.request(1, true);
        tags.request(2, false);
        assert_eq!(tags.flush(false).written, 1);
        assert_eq!(
            tags.request(1, false),
            Moved::default(),
            "it is still there"
        );
        assert_eq!(tags.flush(true).written, 0);
        assert_eq!(tags.request(1, false).read, 1);
    }

    #[test]
    fn a_flush_reaches_every_set_however_often() {
        // 16 KiB in two ways: 128 sets.
        let features = l2_features::ASSOCIATIVITY.word(1);
        let mut tags = Tags::new(l2_features::CACHE_SIZE.set32(features, 14), 1);
        for time in 0..3 {
            for line in 0..256 {
                tags.request(line, line % 3 != 0);
            }
            let cleaned = tags.flush(false).written;
            assert_eq!(cleaned, 170, "time {time}: two lines of three were written");
            for line in 0..256 {
                tags.request(line, line % 5 == 0);
            }
            assert_eq!(tags.flush(true).written, 52, "time {time}");
            assert!(tags.tags.iter().all(|tag| *tag == 0), "time {time}");
        }
    }
}
