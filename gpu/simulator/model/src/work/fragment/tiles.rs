//! Tiles of a box, in order.
//!
//! Facts: hardware/graphics-raster.md 4.16.

use crate::raster;
use crate::tile::PixelBox;
use crate::tile::framebuffer::TileShape;

/// The tiles of a box, row by row.
// The tile order of RUN_FRAGMENT is not taken notice of: no tile sees another, so any order gives the same picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiles {
    shape: TileShape,
    first: [u32; 2],
    columns: u32,
    pub(super) count: u64,
    pub(super) next: u64,
    /// Upper left pixel of the current one.
    pub(super) origin: [u32; 2],
}

impl Tiles {
    pub(super) fn new(shape: TileShape, area: Option<PixelBox>) -> Tiles {
        let sides = [shape.width, shape.height];
        let range = |axis: usize| {
            area.map_or((0, 0), |area| {
                let first = area.min[axis] / sides[axis];
                (first, area.max[axis] / sides[axis] - first + 1)
            })
        };
        let ((left, columns), (top, rows)) = (range(0), range(1));
        Tiles {
            shape,
            first: [left, top],
            columns,
            count: u64::from(columns) * u64::from(rows),
            next: 0,
            origin: [0; 2],
        }
    }

    /// Goes to the next tile; `false` if there is none.
    pub(super) fn advance(&mut self) -> bool {
        if self.next >= self.count {
            return false;
        }
        let columns = u64::from(self.columns);
        let (column, row) = ((self.next % columns) as u32, (self.next / columns) as u32);
        self.next += 1;
        self.origin = [
            (self.first[0] + column) * self.shape.width,
            (self.first[1] + row) * self.shape.height,
        ];
        true
    }

    /// The pixels of the current tile.
    pub(super) fn pixels(&self) -> PixelBox {
        let [x, y] = self.origin;
        PixelBox {
            min: self.origin,
            max: [x + self.shape.width - 1, y + self.shape.height - 1],
        }
    }
}

/// A box of the tile buffer's in the rasteriser's form: framebuffers have at most 65536 pixels to a side.
pub(super) fn raster_box(area: PixelBox) -> raster::PixelBox {
    let clamped = |pixel: u32| pixel.min(u16::MAX.into()) as u16;
    raster::PixelBox {
        min_x: clamped(area.min[0]),
        min_y: clamped(area.min[1]),
        max_x: clamped(area.max[0]),
        max_y: clamped(area.max[1]),
    }
}
