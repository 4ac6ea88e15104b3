//! Ranges of levels and layers.

use super::{ImageError, ImageInfo};

/// Levels and layers of an image. Of an image of three dimensions all slices are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageRange {
    /// The first level.
    pub level: u32,
    /// Levels, or [`ImageRange::REMAINING`].
    pub levels: u32,
    /// The first layer.
    pub layer: u32,
    /// Layers, or [`ImageRange::REMAINING`].
    pub layers: u32,
}

impl ImageRange {
    /// All levels, or layers, from the first one on.
    pub const REMAINING: u32 = u32::MAX;

    /// All levels and layers.
    pub const ALL: ImageRange = ImageRange {
        level: 0,
        levels: ImageRange::REMAINING,
        layer: 0,
        layers: ImageRange::REMAINING,
    };

    /// The same with numbers for what remains, inside an image.
    pub(crate) fn of(self, info: &ImageInfo) -> Result<ImageRange, ImageError> {
        let inside = |what, (first, given): (u32, u32), size: u32| {
            let count = match given {
                ImageRange::REMAINING => size.saturating_sub(first),
                given => given,
            };
            let end = first.checked_add(count).filter(|end| *end <= size);
            match end {
                Some(_) if count > 0 => Ok(count),
                _ => Err(ImageError::Region {
                    what,
                    first,
                    count,
                    size,
                    level: self.level,
                }),
            }
        };
        Ok(ImageRange {
            levels: inside("levels", (self.level, self.levels), info.levels)?,
            layers: inside("layers", (self.layer, self.layers), info.layers)?,
            ..self
        })
    }
}
