//! Places: where in one page the lanes of a message access memory, found for all lanes at once.

use crate::memory::{PAGE, PAGE_BYTES, PageAccess};
use crate::shader::lanes::{Lanes, WARP, WideLanes, spread};
use core::array;

/// Where in a page each lane's bytes begin.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Virtual address of the first lane's bytes.
    pub(super) first: u64,
    /// Of each lane, in the page. Only the first counts if all lanes are at one place or in a row; a lane that takes no part is where
    /// the first one is that does.
    starts: Lanes,
    pub(super) bytes: u32,
    pub(super) order: Order,
}

/// How the places of the lanes lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// All at one.
    Same,
    /// All lanes of the warp, one behind the other without a gap.
    InRow,
    /// All lanes of the warp, none before the lane below it, and each in one beat.
    Ascending,
    Any,
}

/// By the bytes of an element: how far from the first lane's the others are if they stand in a row.
const ROWS: [Lanes; 17] = {
    let mut rows = [[0; WARP]; 17];
    let mut bytes = 0;
    while bytes < rows.len() {
        let mut lane = 0;
        while lane < WARP {
            rows[bytes][lane] = (lane * bytes) as u32;
            lane += 1;
        }
        bytes += 1;
    }
    rows
};

// The loops over lanes stand alone: among other code compilers make scalar code of some.

/// Bits in which lanes are not where they would be in a row.
#[inline(never)]
fn gaps(offsets: &Lanes, origin: u32, row: &Lanes) -> u32 {
    let lanes = offsets.iter().zip(row);
    lanes.fold(0, |all, (offset, step)| {
        all | (offset.wrapping_sub(origin) ^ step)
    })
}

/// Bits that any place has, and those in which any differs from `start`.
#[inline(never)]
fn union(starts: &Lanes, start: u32) -> (u32, u32) {
    let none = (0, 0);
    starts.iter().fold(none, |(all, differs), it| {
        (all | it, differs | (it ^ start))
    })
}

/// Whether a place is beyond `last`.
#[inline(never)]
fn exceed(starts: &Lanes, last: u32) -> bool {
    // Places are small, so the difference of two has the sign of their order.
    starts
        .iter()
        .fold(0, |all, it| all | last.wrapping_sub(*it))
        >> 31
        != 0
}

/// Whether no lane is before the one below it.
#[inline(never)]
fn ascend(starts: &Lanes) -> bool {
    let pairs = starts.iter().zip(&starts[1..]);
    let falls = pairs.fold(0, |all, (before, after)| all | after.wrapping_sub(*before));
    falls >> 31 == 0
}

/// Whether the offsets of `lanes` are all in the lower half of 32 bits or all in the upper one, as `origin` is.
#[cold]
fn same_half(offsets: &Lanes, origin: u32, lanes: u16) -> bool {
    let offsets = offsets.iter().zip(spread(lanes));
    let differs = offsets.fold(0, |all, (it, runs)| all | (it ^ origin) & runs);
    differs >> 31 == 0
}

/// Where each lane is in the page, of lanes whose offsets are `by` less; a lane that takes no part is at `start`.
#[inline(never)]
fn set_starts(starts: &mut Lanes, offsets: &Lanes, by: u32, (lanes, start): (u16, u32)) {
    for ((place, offset), runs) in starts.iter_mut().zip(offsets).zip(spread(lanes)) {
        *place = offset.wrapping_add(by) & runs | start & !runs;
    }
}

impl Places {
    /// None found yet.
    pub(super) fn new() -> Places {
        Places {
            first: 0,
            starts: [0; WARP],
            bytes: 0,
            order: Order::Any,
        }
    }

    /// Finds the places of `lanes`, each `bytes` from its offset above `base` on; `None` if they are not all in one page, at multiples
    /// of `alignment`, or if there are none. Offsets are at most 32 bits apart from each other, so places are found by them alone.
    #[inline]
    pub(super) fn find(
        &mut self,
        (base, offsets): (u64, &Lanes),
        lanes: u16,
        (bytes, alignment): (u8, u64),
    ) -> Option<()> {
        let origin = *offsets.get(lanes.trailing_zeros() as usize)?;
        let row = ROWS.get(usize::from(bytes))?;
        let address = base.wrapping_add(origin.into());
        let start = address as u32 % PAGE as u32;
        let (bytes, alignment) = (u32::from(bytes), alignment as u32);
        // At the ends of 32 bits, offsets that are far from each other look like neighbours.
        let near_an_end = origin.wrapping_add(PAGE as u32) < 2 * PAGE as u32;
        if near_an_end && !same_half(offsets, origin, lanes) {
            return None;
        }
        (self.first, self.bytes) = (address, bytes);
        let whole = lanes == u16::MAX;
        if whole && start + bytes * WARP as u32 <= PAGE as u32 && gaps(offsets, origin, row) == 0 {
            self.starts[0] = start;
            self.order = Order::InRow;
            return start.is_multiple_of(alignment).then_some(());
        }
        let by = start.wrapping_sub(origin);
        set_starts(&mut self.starts, offsets, by, (lanes, start));
        let (all, differs) = union(&self.starts, start);
        if all >= PAGE as u32 || !all.is_multiple_of(alignment) {
            return None;
        }
        if bytes > alignment && exceed(&self.starts, PAGE as u32 - bytes) {
            return None;
        }
        self.order = if differs == 0 {
            Order::Same
        } else if whole && all.is_multiple_of(bytes.next_power_of_two()) && ascend(&self.starts) {
            Order::Ascending
        } else {
            Order::Any
        };
        Some(())
    }

    /// As [`Places::find`], of lanes at these addresses, which are all in one page.
    pub(super) fn find_in_page(
        &mut self,
        addresses: &WideLanes,
        lanes: u16,
        aligned: (u8, u64),
    ) -> Option<()> {
        let first = *addresses.get(lanes.trailing_zeros() as usize)?;
        // Offsets from a place far below, so that all lie in the middle of 32 bits. Those of lanes that take no part do not count.
        let base = (first / PAGE * PAGE).wrapping_sub(1 << 30);
        let offsets = addresses.map(|address| address.wrapping_sub(base) as u32);
        self.find((base, &offsets), lanes, aligned)
    }

    /// Virtual address of the page.
    pub(super) fn page(&self) -> u64 {
        self.first / PAGE * PAGE
    }

    /// The places of all lanes.
    #[inline(always)]
    pub(super) fn all_starts(&self) -> Lanes {
        match self.order {
            Order::InRow => array::from_fn(|lane| self.starts[0] + lane as u32 * self.bytes),
            _ => self.starts,
        }
    }

    /// The first lane's place.
    #[inline(always)]
    pub(super) fn start(&self) -> usize {
        self.starts[0] as usize % PAGE_BYTES
    }

    /// The place of a lane.
    #[inline(always)]
    pub(super) fn start_of(&self, lane: usize) -> usize {
        let start = match self.order {
            Order::InRow => self.starts[0] + lane as u32 * self.bytes,
            _ => self.starts[lane % WARP],
        };
        start as usize % PAGE_BYTES
    }

    /// The bytes of the page that `lanes` access.
    pub(super) fn access(&self, lanes: u16) -> PageAccess<'_> {
        let (lanes, bytes) = match self.order {
            Order::Same => (1, self.bytes),
            Order::InRow => (1, self.bytes * WARP as u32),
            Order::Ascending | Order::Any => (lanes, self.bytes),
        };
        PageAccess {
            starts: &self.starts,
            lanes,
            bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u16 = u16::MAX;

    /// Finds words of lanes whose offsets are `offset(lane)`.
    fn words(base: u64, offset: impl Fn(u32) -> u32, lanes: u16) -> Option<Places> {
        let offsets = array::from_fn(|lane| offset(lane as u32));
        found((base, &offsets), lanes, (4, 4))
    }

    fn found(reach: (u64, &Lanes), lanes: u16, aligned: (u8, u64)) -> Option<Places> {
        let mut places = Places::new();
        places.find(reach, lanes, aligned)?;
        Some(places)
    }

    #[track_caller]
    fn check(found: Option<Places>, order: Order, first: u64) {
        let found = found.map(|places| (places.order, places.first, places.start() as u64));
        assert_eq!(found, Some((order, first, first % PAGE)));
    }

    #[test]
    fn the_order_of_places_is_found() {
        check(words(0x1000, |lane| 4 * lane, ALL), Order::InRow, 0x1000);
        check(words(0x1fc0, |lane| 4 * lane, ALL), Order::InRow, 0x1fc0);
        check(words(0x1000, |_| 8, ALL), Order::Same, 0x1008);
        check(
            words(0x1000, |lane| 64 * lane, ALL),
            Order::Ascending,
            0x1000,
        );
        check(words(0x1000, |lane| 64 - 4 * lane, ALL), Order::Any, 0x1040);
        check(words(0x1000, |lane| 4 * lane, 0x7ffe), Order::Any, 0x1004);
        check(
            words(0x1000, |lane| 4 * (lane & 1), 0x5550),
            Order::Same,
            0x1000,
        );
    }

    #[test]
    fn places_of_two_pages_or_between_words_are_none() {
        let none = |found: Option<Places>| assert!(found.is_none(), "{found:?}");
        none(words(0x1fc4, |lane| 4 * lane, ALL));
        none(words(0x1002, |lane| 4 * lane, ALL));
        none(words(0x1000, |lane| if lane == 5 { 2 } else { 4 }, ALL));
        none(words(0x1000, |lane| 0x1000 * (lane & 1), ALL));
        none(words(0x1000, |lane| 4 * lane, 0));
        let offsets = array::from_fn(|lane| 0xff8 - 8 * (lane as u32 & 1));
        none(found((0x1000, &offsets), ALL, (16, 4)));
    }

    #[test]
    fn offsets_from_both_ends_of_32_bits_are_not_neighbours() {
        let ends = |lane: u32| {
            if lane < 8 {
                4 * lane
            } else {
                u32::MAX - 0x43 + 4 * lane
            }
        };
        assert!(words(0x1100, ends, ALL).is_none());
        check(words(0x1100, ends, 0x00ff), Order::Any, 0x1100);
        // The end of all addresses is crossed by all lanes alike.
        let base = 0u64.wrapping_sub(0x1_0000_0000);
        let before = |lane: u32| u32::MAX - 63 + 4 * lane;
        check(words(base, before, ALL), Order::InRow, u64::MAX - 63);
    }

    #[test]
    fn lanes_that_take_no_part_are_where_the_first_is() {
        let found = words(0x1000, |lane| 4 * lane, 0x0f00).expect("places");
        let starts: [usize; WARP] = array::from_fn(|lane| found.start_of(lane));
        assert_eq!(starts[..8], [32; 8]);
        assert_eq!(starts[8..12], [32, 36, 40, 44]);
        assert_eq!(starts[12..], [32; 4]);
    }
}
