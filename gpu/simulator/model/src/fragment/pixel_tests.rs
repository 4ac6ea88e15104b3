//! Tests of one pixel against its tile: what [`Order`](super::Order) asks for, done to the tile buffer.
//!
//! Facts: hardware/graphics-model.md 3.2, 4.2.

use super::order::{Emitted, SampleTests};
use crate::tile::depth::{DepthCodes, quantised};
use crate::tile::{DepthBounds, Pixel, StoredZs, TileBuffer, TileError, ZsState};
use eitri_descriptors::framebuffer::ZInternalFormat;

/// Depth and stencil tests of a pixel of a tile.
pub(crate) struct PixelTests<'t> {
    /// What the tile holds of the pixel's samples.
    stored: &'t mut [StoredZs],
    format: ZInternalFormat,
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
    #[inline]
    pub(crate) fn new(
        tile: &'t mut TileBuffer,
        pixel: Pixel,
        state: &'t ZsState,
        depths: &'t [f64],
        bounds: DepthBounds,
    ) -> Result<PixelTests<'t>, TileError> {
        Ok(PixelTests {
            format: tile.depth_format(),
            stored: tile.zs_of_pixel(pixel)?,
            state,
            depths,
            bounds,
        })
    }

    /// Codes of the depths that are tested.
    #[inline]
    fn codes(&self, emitted: Emitted) -> DepthCodes {
        let mut codes = DepthCodes::default();
        for (sample, code) in codes.iter_mut().enumerate().take(self.stored.len()) {
            let fixed = self.depths.get(sample).copied().unwrap_or(0.0);
            let depth = self.state.tested_depth(fixed, emitted.depth, self.bounds);
            *code = quantised(self.format, depth);
        }
        codes
    }
}

impl SampleTests for PixelTests<'_> {
    fn passing(&self, coverage: u16) -> u16 {
        let (format, codes) = (self.format, self.codes(Emitted::default()));
        self.state
            .passing_samples(format, self.stored, &codes, None)
            & coverage
    }

    fn update(&mut self, coverage: u16, emitted: Emitted) -> u16 {
        let (format, codes) = (self.format, self.codes(emitted));
        self.state
            .update_samples(format, self.stored, &codes, (coverage, emitted.stencil))
    }
}
