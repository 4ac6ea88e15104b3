//! Footprints: the texels that a filter takes of a slice of a level, and the part of the whole that each has.
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
    /// Of all corners of all footprints of a sample together 1. A corner whose part is 0 is no texel of the footprint.
    pub(crate) weights: [f64; CORNERS],
}

impl Footprint {
    /// One texel, with its part of the whole.
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

    /// Whether a corner is a texel of the footprint.
    #[inline(always)]
    pub(crate) fn has(&self, corner: usize) -> bool {
        self.weights[corner] > 0.0
    }

    /// Corners that are texels of the footprint, in their order.
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
