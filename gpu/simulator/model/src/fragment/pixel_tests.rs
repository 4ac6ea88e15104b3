//! Tests of one pixel against its tile: what [`Order`](super::Order) asks for, done to the tile buffer.
//!
//! Facts: hardware/graphics-model.md 3.2, 4.2.

use super::order::{Emitted, SampleTests};
use crate::tile::depth::quantised;
use crate::tile::{DepthBounds, Pixel, StoredZs, TileBuffer, TileError, ZsState};

/// Depth and stencil tests of a pixel of a tile.
pub(crate) struct PixelTests<'t> {
    tile: &'t mut TileBuffer,
    pixel: Pixel,
    state: &'t ZsState,
    /// Depth of the primitive at each sample, biased, not clamped.
    depths: &'t [f64],
    bounds: DepthBounds,
}

impl<'t> PixelTests<'t> {
    /// The tests of `pixel`. Samples beyond the depths that are given have depth 0.
    ///
    /// # Errors
    /// [`TileError::Outside`] if the tile has no such pixel.
    pub(crate) fn new(
        tile: &'t mut TileBuffer,
        pixel: Pixel,
        state: &'t ZsState,
        depths: &'t [f64],
        bounds: DepthBounds,
    ) -> Result<PixelTests<'t>, TileError> {
        tile.zs(pixel, 0)?;
        Ok(PixelTests {
            tile,
            pixel,
            state,
            depths,
            bounds,
        })
    }

    /// The result of a sample's test; `None` if the tile has no such sample.
    fn tested(&self, sample: u32, emitted: Emitted) -> Option<(StoredZs, bool)> {
        let stored = self.tile.zs(self.pixel, sample).ok()?;
        let fixed = self.depths.get(sample as usize).copied().unwrap_or(0.0);
        let depth = self.state.tested_depth(fixed, emitted.depth, self.bounds);
        let format = self.tile.depth_format();
        let code = quantised(format, depth);
        Some(self.state.tested(format, stored, code, emitted.stencil))
    }
}

fn samples_of(coverage: u16) -> impl Iterator<Item = u32> {
    (0..16).filter(move |sample| coverage >> sample & 1 != 0)
}

impl SampleTests for PixelTests<'_> {
    fn passing(&self, coverage: u16) -> u16 {
        samples_of(coverage).fold(0, |mask, sample| {
            let passes = self.tested(sample, Emitted::default());
            mask | u16::from(passes.is_some_and(|(_, passes)| passes)) << sample
        })
    }

    fn update(&mut self, coverage: u16, emitted: Emitted) -> u16 {
        samples_of(coverage).fold(0, |mask, sample| {
            let Some((left, passes)) = self.tested(sample, emitted) else {
                return mask;
            };
            // The sample was read above, so it is there.
            let written = self.tile.set_zs(self.pixel, sample, left);
            mask | u16::from(passes && written.is_ok()) << sample
        })
    }
}
