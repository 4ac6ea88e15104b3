//! Footprints: up to four neighbouring texels of a level that a filter reads, each with its weight.
//!
//! Never: reads memory, or says which texels a sample takes; `sampling` does.

use super::texture::Texel;

/// Corners of a footprint: two columns, and two rows.
pub(crate) const CORNERS: usize = 4;

/// Texels where two columns and two rows of a slice meet. Bit 0 of a corner's number is its column, bit 1 its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Footprint {
    /// None is the border.
    pub(crate) columns: [Option<u32>; 2],
    pub(crate) rows: [Option<u32>; 2],
    pub(crate) slice: Option<u32>,
    pub(crate) layer: u32,
    pub(crate) level: u32,
    /// By corner. The weights of all footprints of one sample add up to 1. A corner of weight 0 is not read.
    pub(crate) weights: [f64; CORNERS],
}

impl Footprint {
    /// One texel, with its weight.
    pub(crate) fn of_texel(
        at: [Option<u32>; 3],
        (layer, level): (u32, u32),
        weight: f64,
    ) -> Footprint {
        let [x, y, slice] = at;
        Footprint {
            columns: [x; 2],
            rows: [y; 2],
            slice,
            layer,
            level,
            weights: [weight, 0.0, 0.0, 0.0],
        }
    }

    /// Whether a corner has a weight.
    #[inline(always)]
    pub(crate) fn has(&self, corner: usize) -> bool {
        self.weights[corner] > 0.0
    }

    /// The corners that have a weight, in their order.
    #[inline]
    pub(crate) fn corners(&self) -> impl Iterator<Item = usize> {
        (0..CORNERS).filter(|corner| self.has(*corner))
    }

    /// The texel of a corner; none is the border.
    #[inline]
    pub(crate) fn texel(&self, corner: usize) -> Option<Texel> {
        let x = self.columns[corner & 1]?;
        let y = self.rows[corner >> 1 & 1]?;
        Some(Texel {
            at: [x.into(), y.into(), self.slice?.into()],
            layer: self.layer,
            level: self.level,
            sample: 0,
        })
    }
}
