//! Size of a tile: the largest that a product's tile memories hold twice, since two tiles overlap.
//!
//! Drivers choose by this rule and may choose less. All numbers are bytes and pixels below 2^24, in u32.
//! Facts: hardware/graphics-framebuffer.md 5.2.

/// Tile memories of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileMemories {
    /// Bytes for colour.
    pub(crate) colour: u32,
    /// Bytes for depth.
    pub(crate) depth: u32,
    /// Most pixels of a tile.
    pub(crate) cap: u32,
}

/// A tile's size, and the colour memory that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileSize {
    pub(crate) pixels: u32,
    pub(crate) colour_allocation: u32,
}

/// Fewest pixels of a tile.
const LEAST: u32 = 16;

impl TileMemories {
    /// The size of a framebuffer's tiles, of so many colour bytes a pixel and sample. `None` if not even the least tile fits.
    pub(crate) fn tile(self, colour_bytes: u32, samples: u32) -> Option<TileSize> {
        let colour = (colour_bytes * samples).max(1);
        // Depth takes four bytes a sample, whatever its format; stencil rides along.
        let depth = 4 * samples;
        let log = |bytes: u32| bytes.next_power_of_two().trailing_zeros();
        let mut pixels = ((self.colour / 2) >> log(colour)).min((self.depth / 2) >> log(depth));
        if pixels < LEAST {
            // Tiles no longer overlap.
            pixels *= 2;
        }
        let pixels = pixels.min(self.cap);
        (pixels >= LEAST).then_some(TileSize {
            pixels,
            colour_allocation: (colour * pixels).next_multiple_of(1024),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::tests::vectors;

    #[test]
    fn tiles_are_as_large_as_the_vectors_say() {
        let Some(vectors) = vectors("graphics-vectors.json") else {
            return;
        };
        for case in vectors["tile_size"].as_array().expect("a list") {
            let number = |name: &str| case[name].as_u64().expect("a number") as u32;
            let memories = TileMemories {
                colour: number("T"),
                depth: number("Zt"),
                cap: number("cap"),
            };
            let found = memories.tile(number("bytes_per_pixel"), number("samples"));
            let expected = TileSize {
                pixels: number("tile_pixels"),
                colour_allocation: number("allocation"),
            };
            assert_eq!(found, Some(expected), "{case}");
        }
    }

    #[test]
    fn a_framebuffer_that_fits_no_tile_has_none() {
        let memories = TileMemories {
            colour: 1024,
            depth: 16_384,
            cap: 1024,
        };
        assert_eq!(memories.tile(16, 8), None);
    }
}
