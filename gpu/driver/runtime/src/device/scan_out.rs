//! Images that something else reads where they lie: a display that takes its pictures from memory.
//!
//! Guarantees: what jobs that are over have written is in memory when the place is told.  Never: keeps the place in use; who
//! reads there stops before the image is drawn again or destroyed.

use super::Device;
use crate::error::{Error, Thing};
use crate::handle::Image;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::Tiling;

/// Where the rows of a picture lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOut {
    /// The first texel of the first row.
    pub memory: PhysicalAddress,
    /// Bytes from one row to the next.
    pub row_bytes: u64,
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl<P: Platform> Device<'_, '_, P> {
    /// Where the first level of an image's first layer lies, after the GPU's caches were cleaned of it. `None` if its rows do not lie
    /// one behind the other; of an imported image caches are cleaned then, too.
    ///
    /// # Errors
    /// If it was destroyed; or the caches were not cleaned in time, as with [`Device::read_buffer`].
    pub fn scan_out(&mut self, image: Image) -> Result<Option<ScanOut>, Error> {
        let info = self.image_info(image)?;
        let in_rows = info.tiling == Tiling::Linear;
        let Some(plane) = info
            .plane(None)
            .filter(|_| in_rows || info.placed.is_some())
        else {
            return Ok(None);
        };
        let lies = plane.level(0, 0);
        let part = lies.offset..lies.offset.saturating_add(lies.slice);
        self.host_reads(image.0, Thing::Image, &part)?;
        if !in_rows {
            return Ok(None);
        }
        let memory = self.object(image.0, Thing::Image)?.mapping.memory();
        Ok(Some(ScanOut {
            memory: memory.offset(lies.offset),
            row_bytes: lies.row,
            width: lies.width,
            height: lies.height,
        }))
    }
}
