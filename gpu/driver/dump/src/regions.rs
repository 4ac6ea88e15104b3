//! Regions: which physical memory a dump holds, as runs that neither touch nor overlap, in order.
//!
//! Storage is the caller's. When it is full, what does not fit is counted, never silently forgotten.

/// A run of physical memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Physical address, page aligned.
    pub start: u64,
    /// Size, a multiple of a page.
    pub bytes: u64,
}

impl Region {
    /// The first address behind it; saturates at the end of the address space.
    pub const fn end(self) -> u64 {
        self.start.saturating_add(self.bytes)
    }
}

/// Regions in storage of the caller.
#[derive(Debug)]
pub struct Regions<'r> {
    room: &'r mut [Region],
    count: usize,
    lost: u64,
}

impl<'r> Regions<'r> {
    /// No regions; at most as many as `room` holds, and as many as a file can.
    pub fn new(room: &'r mut [Region]) -> Regions<'r> {
        let most = room.len().min(crate::elf::MOST_SEGMENTS - 1);
        Regions {
            room: room.get_mut(..most).unwrap_or_default(),
            count: 0,
            lost: 0,
        }
    }

    /// The regions, by rising address.
    pub fn as_slice(&self) -> &[Region] {
        self.room.get(..self.count).unwrap_or_default()
    }

    /// Bytes for which there was no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether `address` is in a region.
    pub fn contains(&self, address: u64) -> bool {
        let regions = self.as_slice();
        let after = regions.partition_point(|region| region.start <= address);
        let before = after.checked_sub(1).and_then(|last| regions.get(last));
        before.is_some_and(|region| address < region.end())
    }

    /// Adds a region; what was in one already stays there once.
    pub fn add(&mut self, new: Region) {
        if new.bytes == 0 {
            return;
        }
        // Every region that overlaps or touches the new one becomes part of it.
        let regions = self.as_slice();
        let first = regions.partition_point(|region| region.end() < new.start);
        let last = regions.partition_point(|region| region.start <= new.end());
        if first == last {
            if self.count == self.room.len() {
                self.lost = self.lost.saturating_add(new.bytes);
                return;
            }
            // Each one behind it moves up by a place.
            self.count += 1;
            let mut next = new;
            for place in self.room.iter_mut().take(self.count).skip(first) {
                next = core::mem::replace(place, next);
            }
            return;
        }
        let merged = regions.iter().take(last).skip(first);
        let (start, end) = merged.fold((new.start, new.end()), |(start, end), region| {
            (start.min(region.start), end.max(region.end()))
        });
        let bytes = end - start;
        // Those behind the merged ones move down.
        let gone = last - first - 1;
        for from in last..self.count {
            let moved = self.room.get(from).copied();
            if let (Some(moved), Some(to)) = (moved, self.room.get_mut(from - gone)) {
                *to = moved;
            }
        }
        if let Some(place) = self.room.get_mut(first) {
            *place = Region { start, bytes };
        }
        self.count -= gone;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[track_caller]
    fn check(added: &[(u64, u64)], expected: &[(u64, u64)], lost: u64) {
        let mut room = [Region::default(); 4];
        let mut regions = Regions::new(&mut room);
        for &(start, bytes) in added {
            regions.add(Region { start, bytes });
        }
        let found: Vec<_> = regions
            .as_slice()
            .iter()
            .map(|region| (region.start, region.bytes))
            .collect();
        assert_eq!((found.as_slice(), regions.lost()), (expected, lost));
    }

    #[test]
    fn regions_are_merged_and_in_order() {
        check(&[(8, 4), (0, 4)], &[(0, 4), (8, 4)], 0);
        check(&[(8, 4), (0, 4), (4, 4)], &[(0, 12)], 0);
        check(&[(0, 4), (8, 4), (16, 4), (2, 15)], &[(0, 20)], 0);
        check(&[(0, 8), (2, 2)], &[(0, 8)], 0);
        check(&[(0, 4), (0, 0)], &[(0, 4)], 0);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let apart = [(0, 1), (2, 1), (4, 1), (6, 1), (9, 3), (11, 1)];
        check(&apart, &apart[..4], 4);
        check(
            &[(0, 1), (2, 1), (4, 1), (6, 1), (1, 1)],
            &[(0, 3), (4, 1), (6, 1)],
            0,
        );
    }
}
