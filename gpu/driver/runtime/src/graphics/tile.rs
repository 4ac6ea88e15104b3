//! Tiles: how large they can be with what a pixel takes in the tile buffer, and which sizes of bins the tiler uses.
//!
//! Pure.  Facts: hardware/graphics-framebuffer.md 5.2, graphics.md 2.6, graphics-ops-products.md 9.2 and 9.3.

use eitri_csf::Arch;
use eitri_csf::product::{TileBuffers, tile_buffers};
use eitri_csf::registers::identity::tiler_features;

/// Least pixels of a tile.
const LEAST: u32 = 16;

/// Tile buffers of a core, and how many pixels a tile has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileLimits {
    buffers: TileBuffers,
    most: u32,
}

/// Least tile buffers that a product has.
const LEAST_BUFFERS: TileBuffers = TileBuffers {
    color: 16 << 10,
    depth: 8 << 10,
};

impl TileLimits {
    /// Those of a product, by its generation and its marketing name.
    // FACT: tile buffers of G310 (which has variants of 16 and of 32 KiB), G510, G620, G625 and G925 are not published
    // (hardware/graphics-ops-products.md 9.2): they are taken to have the least, which only makes tiles smaller. Settled by drawing
    // with more and looking for wrong pixels, on each.
    pub(crate) fn of(arch: Arch, name: Option<&str>) -> TileLimits {
        TileLimits {
            buffers: name.and_then(tile_buffers).unwrap_or(LEAST_BUFFERS),
            most: if arch < Arch::V12 { 1024 } else { 4096 },
        }
    }

    /// The tile for pixels that take so many bytes of colour, all samples together; `None` if they do not fit.
    pub(crate) fn tile(&self, color_bytes: u32, samples: u32) -> Option<Tile> {
        let bytes = color_bytes.max(1);
        let shift = |bytes: u32| bytes.checked_next_power_of_two().map(u32::ilog2);
        // Half of each: two tiles are worked on at a time.
        let of_color = (self.buffers.color / 2).checked_shr(shift(bytes)?)?;
        let of_depth = (self.buffers.depth / 2).checked_shr(shift(samples.saturating_mul(4))?)?;
        let mut pixels = of_color.min(of_depth);
        if pixels < LEAST {
            pixels = pixels.saturating_mul(2);
        }
        let pixels = pixels.min(self.most);
        let allocation = bytes.checked_mul(pixels)?.checked_next_multiple_of(1024)?;
        let fits = pixels >= LEAST && allocation <= self.buffers.color;
        fits.then_some(Tile { pixels, allocation })
    }
}

/// A tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Pixels, a power of two.
    pub(crate) pixels: u32,
    /// Bytes of the colour buffer.
    pub(crate) allocation: u32,
}

/// The levels of bins that a tiler uses: bit n for bins of 16 << n pixels along a side.
pub(crate) fn hierarchy_mask(
    arch: Arch,
    features: u32,
    (width, height): (u32, u32),
    tile: Tile,
    chunk_bytes: u32,
) -> u32 {
    let levels = tiler_features::MAX_LEVELS.get(features);
    // What a chunk has behind its header.
    let budget = u64::from(chunk_bytes.saturating_sub(64));
    let pointer = if arch < Arch::V12 { 8 } else { 16 };
    let size = |mask: u32| bins(mask, width, height).saturating_mul(pointer);
    if arch >= Arch::V12 {
        let automatic = if tile.pixels <= 32 * 32 { 0xAA } else { 0xAC };
        if size(automatic) <= budget {
            // The hardware picks.
            return 0;
        }
    }
    let last = u32::BITS.saturating_sub(width.max(height).div_ceil(16).leading_zeros());
    // Where there are fewer than eight, which they are.
    const FEW: [u32; 8] = [0x80, 0x80, 0x82, 0xA2, 0xAA, 0xEA, 0xEE, 0xFE];
    let (mut mask, levels) = match FEW.get(levels as usize) {
        Some(mask) => (*mask, 8),
        None => (
            1_u32.checked_shl(levels).unwrap_or(0).wrapping_sub(1),
            levels,
        ),
    };
    if last > levels {
        mask = mask.checked_shl(last.saturating_sub(levels)).unwrap_or(0);
    }
    for level in 0..12_u32 {
        let bin = 256_u32
            .checked_shl(level.saturating_mul(2))
            .unwrap_or(u32::MAX);
        if tile.pixels > bin {
            mask &= !(1 << level);
        }
    }
    while size(mask) > budget && mask & mask.wrapping_sub(1) != 0 {
        mask &= mask.wrapping_sub(1);
    }
    mask & 0x1FFF
}

/// Bins of all levels of a mask.
fn bins(mask: u32, width: u32, height: u32) -> u64 {
    let levels = (0..13_u32).filter(|level| mask >> level & 1 != 0);
    let of_level = |level: u32| {
        let side = 16_u32.checked_shl(level).unwrap_or(u32::MAX);
        u64::from(width.div_ceil(side)).saturating_mul(height.div_ceil(side).into())
    };
    levels
        .map(of_level)
        .fold(0_u64, u64::saturating_add)
        .next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G610: TileLimits = TileLimits {
        buffers: TileBuffers {
            color: 32 << 10,
            depth: 16 << 10,
        },
        most: 1024,
    };

    #[track_caller]
    fn tiles(limits: TileLimits, color: u32, expected: [u32; 4]) {
        let found = [1, 4, 8, 16].map(|samples| limits.tile(color * samples, samples));
        let found = found.map(|tile| tile.map(|tile| tile.pixels));
        assert_eq!(found, expected.map(Some), "{color} bytes");
    }

    /// The table of hardware/graphics-framebuffer.md 5.2.
    #[test]
    fn tiles_are_as_the_facts_say() {
        tiles(G610, 4, [32 * 32, 32 * 16, 16 * 16, 16 * 8]);
        tiles(G610, 8, [32 * 32, 32 * 16, 16 * 16, 16 * 8]);
        tiles(G610, 16, [32 * 32, 16 * 16, 16 * 8, 8 * 8]);
        tiles(G610, 32, [32 * 16, 16 * 8, 8 * 8, 8 * 4]);
        tiles(G610, 64, [16 * 16, 8 * 8, 8 * 4, 4 * 4]);
        let least = TileLimits::of(Arch::V10, Some("Mali-G310"));
        tiles(least, 4, [32 * 32, 16 * 16, 16 * 8, 8 * 8]);
        let large = TileLimits::of(Arch::V12, Some("Mali-G720"));
        tiles(large, 4, [64 * 64, 32 * 32, 32 * 16, 16 * 16]);
        let large = TileLimits::of(Arch::V13, Some("Mali-G725"));
        tiles(large, 4, [64 * 64, 64 * 32, 32 * 32, 32 * 16]);
        let tile = G610.tile(4, 1).expect("it fits");
        assert_eq!(tile.allocation, 4096);
        assert_eq!(G610.tile(16 * 256, 16), None);
    }

    /// A tile of 16 pixels may take the whole buffer: then only one is worked on at a time.
    #[test]
    fn the_least_tile_may_take_all_of_the_buffer() {
        let all = Tile {
            pixels: 16,
            allocation: 32 << 10,
        };
        assert_eq!(G610.tile(2048, 16), Some(all));
        assert_eq!(G610.tile(2049, 16), None);
        let half = Tile {
            pixels: 16,
            allocation: 16 << 10,
        };
        assert_eq!(G610.tile(1024, 16), Some(half));
        // Allocations are whole KiB, and what has no colour takes one, too.
        let none = G610.tile(0, 16).expect("it fits");
        assert_eq!((none.pixels, none.allocation), (128, 1024));
        let odd = G610.tile(12, 1).expect("it fits");
        assert_eq!((odd.pixels, odd.allocation), (1024, 12 << 10));
    }

    /// Levels of bins go, the finest first, until a list fits into a chunk; one always stays.
    #[test]
    fn bins_fit_into_a_chunk() {
        let mask = |arch, size, pixels, chunk| {
            let tile = Tile {
                pixels,
                allocation: 0,
            };
            hierarchy_mask(arch, 0x809, size, tile, chunk)
        };
        let fits = |arch, size: (u32, u32), mask: u32, chunk: u32| {
            let pointer = if arch < Arch::V12 { 8 } else { 16 };
            bins(mask, size.0, size.1) * pointer <= u64::from(chunk) - 64
        };
        for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
            for size in [(64, 64), (1920, 1080), (4096, 4096), (16384, 16384)] {
                for chunk in [4 << 10, 16 << 10, 128 << 10, 2 << 20] {
                    let all = mask(Arch::V10, size, 256, 1 << 30);
                    let found = mask(arch, size, 256, chunk);
                    if arch >= Arch::V12 && fits(arch, size, 0xAA, chunk) {
                        assert_eq!(found, 0, "{arch}: the hardware picks");
                        continue;
                    }
                    assert!(
                        found != 0 && all & found == found,
                        "{arch} {size:?} {chunk}"
                    );
                    // The coarser levels stay, and no more went than had to.
                    let finer = all & !found;
                    assert!(
                        finer < found & found.wrapping_neg(),
                        "{arch} {size:?} {chunk}"
                    );
                    let last = found.is_power_of_two();
                    assert!(fits(arch, size, found, chunk) || last, "{arch} {size:?}");
                    if finer != 0 {
                        let next = found | 1 << finer.ilog2();
                        assert!(!fits(arch, size, next, chunk), "{arch} {size:?} {chunk}");
                    }
                }
            }
        }
        // Large tiles: the hardware picks other levels, of which there are fewer bins.
        let between = (bins(0xAA, 1920, 1080) * 16 + 64) as u32 - 16;
        assert_ne!(mask(Arch::V12, (1920, 1080), 32 * 32, between), 0);
        assert_eq!(mask(Arch::V12, (1920, 1080), 64 * 64, between), 0);
    }

    /// As many bins as cover all pixels in each level, up to a multiple of eight.
    #[test]
    fn bins_cover_all_pixels() {
        assert_eq!(bins(1, 64, 32), 8);
        assert_eq!(bins(1, 65, 32), 16);
        assert_eq!(bins(0b11, 128, 128), 64 + 16);
        assert_eq!(bins(0b10, 33, 1), 8);
        assert_eq!(bins(1 << 12, 16384, 16384), 8);
    }

    /// The examples of hardware/graphics.md 2.6.
    #[test]
    fn bins_are_as_the_facts_say() {
        let mask = |size, pixels| {
            let tile = Tile {
                pixels,
                allocation: 0,
            };
            hierarchy_mask(Arch::V10, 0x809, size, tile, 2 << 20)
        };
        assert_eq!(mask((256, 256), 1024), 0xFE);
        assert_eq!(mask((1920, 1080), 256), 0xFF);
        assert_eq!(mask((1920, 1080), 1024), 0xFE);
        assert_eq!(mask((8192, 4096), 256), 0x3FC);
        assert_eq!(mask((64, 64), 1024), 0xFE);
    }
}
