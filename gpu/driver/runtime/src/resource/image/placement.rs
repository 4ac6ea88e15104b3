//! Images in memory of their caller's: where their rows may lie.
//!
//! Facts: hardware/graphics-framebuffer.md 5.8.1 to 5.8.4, hardware/descriptors.md 9.1.

use super::{ALIGNMENT, ImageError, ImageInfo, Level};

/// Messages of refusals ([`ImageError::Layout`]): an image is made or used as if its texels lay elsewhere.
pub(crate) const NOT_PLACED: &str =
    "has no place in the memory that is imported: ImageInfo::placed says it";
pub(crate) const NOT_IMPORTED: &str =
    "has a place in memory of the caller's: Device::import_image makes it";
pub(crate) const IMPORTED: &str =
    "lies in memory of the caller's, who reads and writes it there: Device::scan_out";
const SEVERAL: &str =
    "has several levels, layers, samples or aspects, which memory of the caller's can't hold";
const COMPRESSED_ROW: &str =
    "is compressed (AFBC), so that its rows of headers lie as ImageInfo::least_row_bytes says";

impl ImageInfo {
    /// Bytes from one row of texels, of tiles, or of headers to the next at least: what [`super::Placement::row_bytes`] may be. More is
    /// possible unless the image is compressed.
    pub fn least_row_bytes(&self) -> u64 {
        let own = ImageInfo {
            placed: None,
            ..*self
        };
        own.plane(None).map_or(0, |plane| plane.level(0, 0).row)
    }

    /// Checks where the texels of an image lie, if its caller says it.
    pub(super) fn check_placement(&self) -> Result<(), ImageError> {
        let Some(placed) = self.placed else {
            return Ok(());
        };
        let one = [self.levels, self.layers, self.samples, self.depth] == [1; 4];
        if !one || self.aspects().len() != 1 {
            return Err(self.refused(SEVERAL));
        }
        let (row, offset) = (placed.row_bytes, placed.offset);
        let least = self.least_row_bytes();
        if self.is_afbc() {
            if u64::from(row) != least {
                return Err(self.refused(COMPRESSED_ROW));
            }
        } else if !u64::from(row).is_multiple_of(ALIGNMENT) || u64::from(row) < least {
            let what = "bytes from row to row of";
            return Err(ImageError::Number { what, value: row });
        }
        if !u64::from(offset).is_multiple_of(self.level_alignment()) {
            let what = "bytes in front of";
            return Err(ImageError::Number {
                what,
                value: offset,
            });
        }
        Ok(())
    }

    /// A level whose rows lie as the caller of the image says.
    pub(super) fn placed_rows(&self, level: Level) -> Level {
        let (Some(placed), 0) = (self.placed, level.body) else {
            return level;
        };
        let rows = level.slice.checked_div(level.row).unwrap_or(0);
        let row = u64::from(placed.row_bytes);
        Level {
            row,
            slice: row.saturating_mul(rows),
            ..level
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::{Placement, Tiling};
    use super::*;
    use eitri_descriptors::Arch;
    use eitri_descriptors::formats::VkFormat;

    fn image(tiling: Tiling, offset: u32, row_bytes: u32) -> ImageInfo {
        let format = VkFormat::of_name(Arch::V10, "B8G8R8A8_UNORM").expect("a format");
        ImageInfo {
            tiling,
            placed: Some(Placement { offset, row_bytes }),
            ..ImageInfo::two_d(format, 100, 40)
        }
    }

    #[test]
    fn rows_lie_where_the_caller_says() {
        let info = image(Tiling::Linear, 4096, 512);
        assert_eq!(info.check(), Ok(()));
        let level = info.plane(None).expect("a plane").level(0, 0);
        assert_eq!(
            (level.offset, level.row, level.slice),
            (4096, 512, 40 * 512)
        );
        assert_eq!(info.bytes(), 4096 + 40 * 512);
        // Seven tiles of 1024 bytes, and three rows of them.
        let info = image(Tiling::UInterleaved, 64, 8192);
        assert_eq!(info.least_row_bytes(), 7 * 1024);
        let level = info.plane(None).expect("a plane").level(0, 0);
        assert_eq!((level.row, level.slice), (8192, 3 * 8192));
    }

    #[test]
    fn rows_that_can_not_be_are_named() {
        let refused = |info: ImageInfo| {
            let error = info.check().expect_err("refused");
            std::format!("{error}")
        };
        let row = |row| refused(image(Tiling::Linear, 0, row));
        assert_eq!(
            row(384),
            "an image with bytes from row to row of 384 can't be made"
        );
        assert_eq!(
            row(500),
            "an image with bytes from row to row of 500 can't be made"
        );
        assert_eq!(
            refused(image(Tiling::Linear, 32, 448)),
            "an image with bytes in front of 32 can't be made"
        );
        let mut info = image(Tiling::Linear, 0, 448);
        info.layers = 2;
        assert!(refused(info).contains("several levels, layers"));
        let rows = image(Tiling::Afbc, 0, 0).least_row_bytes() as u32;
        assert_eq!(image(Tiling::Afbc, 0, rows).check(), Ok(()));
        assert!(refused(image(Tiling::Afbc, 0, rows + 64)).contains("least_row_bytes"));
    }
}
