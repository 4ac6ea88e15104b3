//! A page allocator for platforms: one bit a page, in storage of the caller's.
//!
//! Guarantees: what is given out was free, is aligned and does not overlap; what comes back joins its neighbours by
//! itself, so nothing is lost in the long run.  Never: touches the memory that it gives out.

use crate::platform::{DmaRegion, PhysicalAddress};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Pages of a word of the map.
const WORD: u64 = u64::BITS as u64;

/// Gives out the pages of one range of memory. `S` holds the map: [`PageAllocator::words`] words of 64 bits, all zero at
/// first.
///
/// ```
/// use eitri_runtime::{PageAllocator, PhysicalAddress};
///
/// let base = PhysicalAddress(0x5000_0000);
/// let mut pages = PageAllocator::new(base, 1 << 20, [0; PageAllocator::words(1 << 20)]).expect("words enough");
/// let region = pages.allocate(8192, 4096).expect("free pages");
/// assert_eq!(pages.in_use(), 8192);
/// pages.free(region);
/// assert_eq!(pages.in_use(), 0);
/// ```
#[derive(Debug)]
pub struct PageAllocator<S> {
    base: PhysicalAddress,
    pages: u64,
    /// A bit is set for a page that is taken.
    map: S,
    in_use: u64,
    /// Where the last search ended: the next begins there.
    next: u64,
}

impl PageAllocator<[u64; 0]> {
    /// Words of the map for `bytes` bytes of memory.
    pub const fn words(bytes: u64) -> usize {
        (bytes / PAGE).div_ceil(WORD) as usize
    }
}

impl<S: AsRef<[u64]> + AsMut<[u64]>> PageAllocator<S> {
    /// An allocator of the `bytes` bytes from `base` on, both multiples of 4096. `None` if they are not, or `map` is too
    /// short.
    pub fn new(base: PhysicalAddress, bytes: u64, mut map: S) -> Option<PageAllocator<S>> {
        let whole = base.0.is_multiple_of(PAGE) && bytes.is_multiple_of(PAGE);
        let inside = base.0.checked_add(bytes).is_some();
        let words = PageAllocator::words(bytes);
        map.as_mut().get_mut(..words)?.fill(0);
        (whole && inside).then_some(PageAllocator {
            base,
            pages: bytes / PAGE,
            map,
            in_use: 0,
            next: 0,
        })
    }

    /// Takes `bytes` bytes, rounded up to pages, at a multiple of `alignment`, a power of two.
    pub fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let count = bytes.max(1).checked_next_multiple_of(PAGE)? / PAGE;
        let alignment = alignment.max(PAGE);
        let found = self.search(self.next, count, alignment);
        let first = found.or_else(|| self.search(0, count, alignment))?;
        self.mark(first, count, true);
        self.next = first.wrapping_add(count);
        let bytes = count.wrapping_mul(PAGE);
        self.in_use = self.in_use.wrapping_add(bytes);
        Some(DmaRegion::new(
            self.base.offset(first.wrapping_mul(PAGE)),
            bytes,
        ))
    }

    /// Takes a region back that [`PageAllocator::allocate`] gave. Of a region from elsewhere nothing is taken.
    pub fn free(&mut self, region: DmaRegion) {
        let Some(offset) = region.start().0.checked_sub(self.base.0) else {
            return;
        };
        let (first, count) = (offset / PAGE, region.bytes() / PAGE);
        let inside = first
            .checked_add(count)
            .is_some_and(|end| end <= self.pages);
        if inside {
            self.mark(first, count, false);
            self.in_use = self.in_use.saturating_sub(count.wrapping_mul(PAGE));
        }
    }

    /// Bytes that are given out.
    pub const fn in_use(&self) -> u64 {
        self.in_use
    }

    /// The first free run of `count` pages from page `from` on whose address is a multiple of `alignment`.
    fn search(&self, from: u64, count: u64, alignment: u64) -> Option<u64> {
        let mut first = self.aligned(from, alignment)?;
        loop {
            let end = first.checked_add(count).filter(|end| *end <= self.pages)?;
            match (first..end).find(|page| self.is_taken(*page)) {
                None => return Some(first),
                Some(taken) => first = self.aligned(self.after_run(taken), alignment)?,
            }
        }
    }

    /// The first page from `page` on at a multiple of `alignment`.
    fn aligned(&self, page: u64, alignment: u64) -> Option<u64> {
        let address = self.base.0.checked_add(page.checked_mul(PAGE)?)?;
        let aligned = address.checked_next_multiple_of(alignment)?;
        Some(aligned.wrapping_sub(self.base.0) / PAGE)
    }

    /// The first page after `page` that is free, or the first of the next word if the rest of this one is taken.
    fn after_run(&self, page: u64) -> u64 {
        let word = self.word(page) >> (page % WORD);
        let run = u64::from(word.trailing_ones()).max(1);
        page.saturating_add(run)
    }

    fn word(&self, page: u64) -> u64 {
        let index = usize::try_from(page / WORD).unwrap_or(usize::MAX);
        // What is beyond the map is not to be had.
        self.map.as_ref().get(index).copied().unwrap_or(u64::MAX)
    }

    fn is_taken(&self, page: u64) -> bool {
        self.word(page) >> (page % WORD) & 1 != 0
    }

    fn mark(&mut self, first: u64, count: u64, taken: bool) {
        for page in first..first.saturating_add(count) {
            let index = usize::try_from(page / WORD).unwrap_or(usize::MAX);
            if let Some(word) = self.map.as_mut().get_mut(index) {
                let bit = 1_u64 << (page % WORD);
                *word = if taken { *word | bit } else { *word & !bit };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    const BASE: PhysicalAddress = PhysicalAddress(0x10_3000);

    fn allocator(pages: u64) -> PageAllocator<Vec<u64>> {
        let bytes = pages * PAGE;
        let map = std::vec![u64::MAX; PageAllocator::words(bytes)];
        PageAllocator::new(BASE, bytes, map).expect("words enough")
    }

    #[test]
    fn what_is_taken_is_aligned_and_apart() {
        let mut pages = allocator(300);
        let first = pages.allocate(1, 4096).expect("free");
        assert_eq!((first.start(), first.bytes()), (BASE, PAGE));
        let second = pages.allocate(2 * PAGE, 0x10_0000).expect("free");
        assert_eq!(second.start(), PhysicalAddress(0x20_0000));
        assert_eq!(pages.allocate(300 * PAGE, 4096), None);
        assert_eq!(pages.allocate(u64::MAX, 4096), None);
        assert_eq!(pages.in_use(), 3 * PAGE);
    }

    #[test]
    fn a_map_that_is_too_short_or_a_range_that_is_not_pages_is_refused() {
        assert!(PageAllocator::new(BASE, 65 * PAGE, [0; 1]).is_none());
        assert!(PageAllocator::new(PhysicalAddress(8), PAGE, [0; 1]).is_none());
        assert!(PageAllocator::new(BASE, 64 * PAGE, [0; 1]).is_some());
    }

    /// A long run of random sizes: no region overlaps another, and everything comes back as one piece.
    #[test]
    fn nothing_is_lost_in_a_long_run() {
        let mut pages = allocator(1000);
        let mut held: BTreeMap<u64, DmaRegion> = BTreeMap::new();
        let mut seed = 0x9E37_79B9_u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let roll = seed >> 33;
            if roll.is_multiple_of(2) {
                let (bytes, alignment) = ((roll / 2 % 20 + 1) * PAGE, PAGE << (roll / 64 % 4));
                if let Some(region) = pages.allocate(bytes, alignment) {
                    let start = region.start().0;
                    assert!(start.is_multiple_of(alignment));
                    let before = held
                        .range(..=start)
                        .next_back()
                        .map(|(_, it)| it.span().end.0);
                    assert!(before.is_none_or(|end| end <= start));
                    let behind = held.range(start..).next().map(|(at, _)| *at);
                    assert!(behind.is_none_or(|at| start + bytes <= at));
                    held.insert(start, region);
                }
            } else if let Some(at) = held.keys().nth(roll as usize % held.len().max(1)).copied() {
                pages.free(held.remove(&at).expect("held"));
            }
            let sum: u64 = held.values().map(DmaRegion::bytes).sum();
            assert_eq!(pages.in_use(), sum);
        }
        held.into_values().for_each(|region| pages.free(region));
        assert!(pages.allocate(1000 * PAGE, PAGE).is_some());
    }
}
