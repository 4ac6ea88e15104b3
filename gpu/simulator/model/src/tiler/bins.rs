//! Bins: squares of the framebuffer at several sizes, each with a list of primitives.
//!
//! A primitive is entered at the finest level where it touches at most four bins, and in one bin for the whole framebuffer
//! where it touches more at every level. So an entry never takes more than four allocations, whatever the mask.
//!
//! Facts: hardware/graphics.md 2.1 (sizes of levels), 2.6 (mask, mask 0 on v12 and later, budget). The choice of the level is
//! the model's.

use crate::raster::PixelBox;
use alloc::vec::Vec;
use eitri_descriptors::Arch;

/// Bins of a level that one primitive may be entered in.
const MOST_TOUCHED: u32 = 4;
/// Levels of a hierarchy mask.
const LEVELS: u32 = 12;
/// Levels in a mask that v12 and later take notice of.
const MOST_LEVELS_V12: u32 = 4;

/// The bin that holds the whole framebuffer.
const WHOLE: u32 = 0;

/// Hierarchy mask and framebuffer size, which the bins follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// Bit n: bins of 16 << n pixels.
    pub(super) mask: u32,
    /// Pixels of the framebuffer.
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Hierarchy {
    /// The mask that a tiler context asks for. Mask 0, and on v12 and later a mask of more than four levels, lets the tiler
    /// choose. The smallest bins are dropped until `most_bins` are left.
    pub(super) fn chosen(self, arch: Arch, tile_pixels: u32, most_bins: u64) -> Hierarchy {
        let automatic = if tile_pixels <= 32 * 32 { 0xaa } else { 0xac };
        let asked = self.mask & ((1 << LEVELS) - 1);
        let too_many = arch >= Arch::V12 && asked.count_ones() > MOST_LEVELS_V12;
        let mask = if asked == 0 || too_many {
            automatic
        } else {
            asked
        };
        let mut hierarchy = Hierarchy { mask, ..self };
        while hierarchy.mask != 0 && u64::from(Bins::new(hierarchy).count) > most_bins {
            hierarchy.mask &= hierarchy.mask - 1;
        }
        hierarchy
    }
}

/// One size of bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    /// Log2 of a bin's side in pixels.
    shift: u32,
    columns: u32,
    rows: u32,
    /// Number of the level's first bin.
    first: u32,
}

/// Bins of a framebuffer, numbered from the whole one, 0, through the levels from the finest up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bins {
    levels: Vec<Level>,
    /// Number of bins: below 2^25 for 65536 pixels to a side.
    pub(super) count: u32,
}

impl Bins {
    pub(super) fn new(hierarchy: Hierarchy) -> Bins {
        let mut count = 1;
        let enabled = (0..LEVELS).filter(|level| hierarchy.mask >> level & 1 != 0);
        let level = |level: u32| {
            let shift = 4 + level;
            let bins = |pixels: u32| pixels.clamp(1, 1 << 16).div_ceil(1 << shift);
            let (columns, rows) = (bins(hierarchy.width), bins(hierarchy.height));
            let first = count;
            count += columns * rows;
            Level {
                shift,
                columns,
                rows,
                first,
            }
        };
        let levels = enabled.map(level).collect();
        Bins { levels, count }
    }

    /// Bins that a primitive with these bounds is entered in: four at most.
    pub(super) fn entered(&self, bounds: PixelBox) -> Vec<u32> {
        let few = self
            .levels
            .iter()
            .find(|level| level.touched(bounds).count() <= MOST_TOUCHED);
        match few {
            Some(level) => level.touched(bounds).numbers(level).collect(),
            None => [WHOLE].to_vec(),
        }
    }

    /// All bins that may hold primitives of a part of the framebuffer.
    pub(super) fn covering(&self, part: PixelBox) -> Vec<u32> {
        let finer = self
            .levels
            .iter()
            .flat_map(|level| level.touched(part).numbers(level));
        core::iter::once(WHOLE).chain(finer).collect()
    }
}

/// Columns and rows of bins, both ends included.
#[derive(Clone, Copy, Debug)]
struct Touched {
    columns: (u32, u32),
    rows: (u32, u32),
}

impl Level {
    fn touched(&self, bounds: PixelBox) -> Touched {
        let bin = |pixel: u16, bins: u32| (u32::from(pixel) >> self.shift).min(bins - 1);
        Touched {
            columns: (
                bin(bounds.min_x, self.columns),
                bin(bounds.max_x, self.columns),
            ),
            rows: (bin(bounds.min_y, self.rows), bin(bounds.max_y, self.rows)),
        }
    }
}

impl Touched {
    fn count(&self) -> u32 {
        let length = |(first, last): (u32, u32)| (last + 1).saturating_sub(first);
        length(self.columns) * length(self.rows)
    }

    fn numbers(self, level: &Level) -> impl Iterator<Item = u32> + use<> {
        let (columns, first) = (level.columns, level.first);
        let rows = self.rows.0..=self.rows.1;
        rows.flat_map(move |row| {
            (self.columns.0..=self.columns.1).map(move |column| first + row * columns + column)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const FULL_HD: Hierarchy = Hierarchy {
        mask: 0xfe,
        width: 1920,
        height: 1080,
    };

    #[test]
    fn masks_are_the_driver_s_unless_it_leaves_the_choice() {
        let mask = |mask, arch, tile_pixels, most_bins| {
            Hierarchy { mask, ..FULL_HD }
                .chosen(arch, tile_pixels, most_bins)
                .mask
        };
        let room = u64::MAX;
        assert_eq!(mask(0xfe, Arch::V10, 256, room), 0xfe);
        assert_eq!(
            mask(0xfe, Arch::V12, 256, room),
            0xaa,
            "more than four levels are ignored"
        );
        assert_eq!(mask(0, Arch::V12, 1024, room), 0xaa);
        assert_eq!(mask(0, Arch::V13, 4096, room), 0xac);
        // 60 * 34 bins of 32 pixels, 30 * 17 of 64, 15 * 9 of 128, …
        assert_eq!(mask(0xfe, Arch::V10, 256, 1000), 0xfc);
        assert_eq!(mask(0xfe, Arch::V10, 256, 1), 0, "the whole bin is left");
        // 120 * 68 bins of 16 pixels.
        assert_eq!(
            mask(0x01, Arch::V10, 256, 1000),
            0,
            "its only level is gone"
        );
    }

    #[test]
    fn a_primitive_is_entered_where_every_tile_that_it_touches_finds_it() {
        let mut random = Random::new(7);
        for round in 0..2000 {
            let mask = random.below(1 << 12) as u32;
            let (width, height) = (1 + random.below(3000) as u32, 1 + random.below(3000) as u32);
            let bins = Bins::new(Hierarchy {
                mask,
                width,
                height,
            });
            let mut part = |most: u64| {
                let mut range = |pixels: u32| {
                    let first = random.below(u64::from(pixels));
                    (
                        first as u16,
                        (first + random.below(most)).min(u64::from(pixels) - 1) as u16,
                    )
                };
                let ((min_x, max_x), (min_y, max_y)) = (range(width), range(height));
                PixelBox {
                    min_x,
                    min_y,
                    max_x,
                    max_y,
                }
            };
            let (bounds, tile) = (part(500), part(64));
            let (entered, covering) = (bins.entered(bounds), bins.covering(tile));
            assert!(
                entered.len() <= 4 && !entered.is_empty(),
                "{bounds:?}: {entered:?}"
            );
            assert!(
                entered.iter().all(|bin| *bin < bins.count),
                "{bounds:?}: {entered:?}"
            );
            let found = entered.iter().any(|bin| covering.contains(bin));
            let meets = bounds.intersection(tile).is_some();
            assert!(
                found || !meets,
                "round {round}: mask {mask:#x}, {bounds:?} not found in {tile:?}"
            );
        }
    }

    #[test]
    fn small_primitives_are_found_near_themselves_only() {
        let bins = Bins::new(FULL_HD);
        let at = |x: u16, y: u16| PixelBox {
            min_x: x,
            min_y: y,
            max_x: x + 7,
            max_y: y + 7,
        };
        let entered = bins.entered(at(100, 100));
        assert_eq!(entered.len(), 1);
        assert!(bins.covering(at(96, 96)).contains(&entered[0]));
        assert!(!bins.covering(at(1000, 100)).contains(&entered[0]));
    }
}
