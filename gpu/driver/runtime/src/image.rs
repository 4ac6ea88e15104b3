//! Images: what they are, and where their texels lie.
//!
//! An image is one piece of memory: its plane descriptors, layer by layer and level by level, then its texels in the same
//! order. Levels start at multiples of 64 bytes.  Facts: hardware/descriptors.md 8, 9 and 9.1.

use eitri_descriptors::Arch;
use eitri_descriptors::formats::{Uses, VkFormat};
use eitri_descriptors::plane::{ClumpFormat, ClumpOrdering};
use eitri_program::ImageDimension;
use thiserror::Error;

/// Levels, rows of linear images and planes start at multiples of this.
const ALIGNMENT: u64 = 64;
/// Bytes of a plane descriptor.
pub(crate) const PLANE_BYTES: u64 = 32;
/// Texels along a side of a tile.
pub(crate) const TILE: u32 = 16;
/// Most texels along an axis, and most layers.
const MOST: u32 = 1 << 16;
/// Most bytes of a texel.
const MOST_TEXEL: usize = 16;
/// Most bytes of a tile.
pub(crate) const TILE_BYTES: usize = (TILE * TILE) as usize * MOST_TEXEL;

/// In which order the texels of a level lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Row by row.
    Linear,
    /// In tiles of 16 by 16 texels, and in those in the hardware's own order.
    UInterleaved,
}

/// What an image is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageInfo {
    /// Its coordinates.
    pub dimension: ImageDimension,
    /// Its texels: not compressed, and usable for textures.
    pub format: &'static VkFormat,
    /// Texels along x.
    pub width: u32,
    /// Texels along y; 1 of an image of one dimension.
    pub height: u32,
    /// Texels along z; 1 except of an image of three dimensions.
    pub depth: u32,
    /// Layers; of cubes six each.
    pub layers: u32,
    /// Levels, each half as large as the one before.
    pub levels: u32,
    /// Samples of a texel. More than one need [`Tiling::UInterleaved`].
    pub samples: u32,
    /// The order of texels.
    pub tiling: Tiling,
}

/// Why there can't be such an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ImageError {
    /// The format is compressed, or none of textures.
    #[error("images of format {format} can't be made")]
    Format {
        /// Vulkan's name.
        format: &'static str,
    },
    /// A number of texels, layers, levels or samples is impossible.
    #[error("an image with {what} {value} can't be made")]
    Number {
        /// Of what.
        what: &'static str,
        /// How many.
        value: u32,
    },
    /// There is no such level, layer or slice.
    #[error("the image has no level {level} of layer {layer} with slice {slice}")]
    NoPart {
        /// Level.
        level: u32,
        /// Layer.
        layer: u32,
        /// Depth or sample.
        slice: u32,
    },
    /// Texels of a part that are more or fewer than it has.
    #[error("{given} bytes for a part of an image that has {wanted}")]
    Bytes {
        /// Bytes given.
        given: u64,
        /// Bytes that it has.
        wanted: u64,
    },
    /// The binding holds something else.
    #[error("binding {set}:{binding} of the program is no {what}")]
    Kind {
        /// The set.
        set: u32,
        /// The binding.
        binding: u32,
        /// What was to be bound.
        what: &'static str,
    },
}

/// A level of a layer: where it begins in the image, and how it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Bytes from the start of the image's memory.
    pub(crate) offset: u64,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Depth, or samples.
    pub(crate) slices: u32,
    /// Bytes from one row, or row of tiles, to the next.
    pub(crate) row: u64,
    /// Bytes from one slice to the next.
    pub(crate) slice: u64,
}

impl Level {
    /// Bytes of all slices.
    pub(crate) fn bytes(&self) -> u64 {
        self.slice.saturating_mul(self.slices.into())
    }
}

impl ImageInfo {
    /// A single image of two dimensions.
    pub const fn two_d(format: &'static VkFormat, width: u32, height: u32) -> ImageInfo {
        ImageInfo {
            dimension: ImageDimension::TwoD,
            format,
            width,
            height,
            depth: 1,
            layers: 1,
            levels: 1,
            samples: 1,
            tiling: Tiling::Linear,
        }
    }

    /// Checks it for any GPU.
    ///
    /// # Errors
    /// The first thing that is impossible everywhere.
    pub fn check(&self) -> Result<(), ImageError> {
        let texels =
            self.format.uses.contains(Uses::TEXTURE) || self.format.uses.contains(Uses::IMAGE);
        if !texels || self.clump().is_none() {
            let format = self.format.name;
            return Err(ImageError::Format { format });
        }
        let cube = self.dimension == ImageDimension::Cube;
        let one = |is: bool| if is { 1 } else { MOST };
        let flat = self.dimension == ImageDimension::OneD;
        let deep = self.dimension == ImageDimension::ThreeD;
        let largest = self.width.max(self.height).max(self.depth);
        let levels = u32::BITS.saturating_sub(largest.leading_zeros());
        let many = self.samples != 1;
        for (what, value, most) in [
            ("width", self.width, MOST),
            ("height", self.height, one(flat)),
            ("depth", self.depth, one(!deep)),
            ("layers", self.layers, one(deep)),
            ("levels", self.levels, if many { 1 } else { levels }),
            ("samples", self.samples, 16),
        ] {
            if value == 0 || value > most {
                return Err(ImageError::Number { what, value });
            }
        }
        let (what, value) = match () {
            () if cube && !self.layers.is_multiple_of(6) => ("layers", self.layers),
            () if cube && self.width != self.height => ("height", self.height),
            () if !self.samples.is_power_of_two() => ("samples", self.samples),
            () if many && self.dimension != ImageDimension::TwoD => ("samples", self.samples),
            () if many && self.tiling == Tiling::Linear => ("samples", self.samples),
            () => return Ok(()),
        };
        Err(ImageError::Number { what, value })
    }

    /// Checks it for GPUs of a generation (hardware/graphics-texture.md 7.10).
    ///
    /// # Errors
    /// The first thing that is impossible anywhere, or there.
    pub fn check_for(&self, arch: Arch) -> Result<(), ImageError> {
        self.check()?;
        // FACT: products may have fewer than 16 samples (hardware/graphics-texture.md 7.10), and no fact says how many each has:
        // all are taken to have 16. Settled by the most samples of each product.
        match self.samples {
            2 if arch < Arch::V12 => Err(ImageError::Number {
                what: "samples",
                value: 2,
            }),
            _ => Ok(()),
        }
    }

    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> u32 {
        self.format.block_bytes
    }

    /// Bytes of all texels, without gaps: what a copy of the whole image has.
    pub fn packed_bytes(&self) -> u64 {
        let levels = 0..self.levels;
        let texels = levels.map(|level| {
            self.part_bytes(level)
                .saturating_mul(self.slices(level).into())
        });
        texels
            .fold(0, u64::saturating_add)
            .saturating_mul(self.layers.into())
    }

    /// Bytes of a slice of a level, without gaps.
    pub fn part_bytes(&self, level: u32) -> u64 {
        let [width, height, _] = self.level_size(level);
        u64::from(width)
            .saturating_mul(height.into())
            .saturating_mul(self.texel_bytes().into())
    }

    /// Depth of a level, or samples.
    pub fn slices(&self, level: u32) -> u32 {
        match self.dimension {
            ImageDimension::ThreeD => self.level_size(level)[2],
            _ => self.samples,
        }
    }

    /// Width, height and depth of a level.
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        [self.width, self.height, self.depth]
            .map(|size| size.checked_shr(level).unwrap_or(0).max(1))
    }

    /// The elements of its planes: single texels.
    pub(crate) fn clump(&self) -> Option<ClumpFormat> {
        Some(match self.format.clump_code? {
            0 => ClumpFormat::RAW8,
            1 => ClumpFormat::RAW16,
            2 => ClumpFormat::RAW32,
            3 => ClumpFormat::RAW64,
            4 => ClumpFormat::RAW128,
            8 => ClumpFormat::RAW24,
            10 => ClumpFormat::RAW96,
            22 => ClumpFormat::S8,
            26 => ClumpFormat::A8,
            _ => return None,
        })
    }

    pub(crate) fn ordering(&self) -> ClumpOrdering {
        match self.tiling {
            Tiling::Linear => ClumpOrdering::Linear,
            Tiling::UInterleaved => ClumpOrdering::TiledUInterleaved,
        }
    }

    /// Number of planes.
    pub(crate) fn planes(&self) -> u64 {
        u64::from(self.layers).saturating_mul(self.levels.into())
    }

    /// Where the texels begin.
    pub(crate) fn start(&self) -> u64 {
        self.planes()
            .saturating_mul(PLANE_BYTES)
            .next_multiple_of(ALIGNMENT)
    }

    /// Bytes of the image with its planes.
    pub(crate) fn bytes(&self) -> u64 {
        let layers = self.layer_bytes().saturating_mul(self.layers.into());
        self.start().saturating_add(layers)
    }

    fn layer_bytes(&self) -> u64 {
        let levels = 0..self.levels;
        levels.fold(0_u64, |sum, level| {
            let bytes = self.shape(level).bytes();
            sum.saturating_add(bytes.next_multiple_of(ALIGNMENT))
        })
    }

    /// A level, as if it began at 0.
    fn shape(&self, level: u32) -> Level {
        let [width, height, _] = self.level_size(level);
        let texel = u64::from(self.texel_bytes());
        let (row, rows) = match self.tiling {
            Tiling::Linear => {
                let row = u64::from(width).saturating_mul(texel);
                (row.next_multiple_of(ALIGNMENT), height)
            }
            Tiling::UInterleaved => {
                let tiles = u64::from(width.div_ceil(TILE));
                let tile = texel.saturating_mul((TILE * TILE).into());
                (tiles.saturating_mul(tile), height.div_ceil(TILE))
            }
        };
        let slice = row.saturating_mul(rows.into()).next_multiple_of(ALIGNMENT);
        Level {
            offset: 0,
            width,
            height,
            slices: self.slices(level),
            row,
            slice,
        }
    }

    /// Where a level of a layer lies.
    pub(crate) fn level(&self, level: u32, layer: u32) -> Level {
        let layers = self.layer_bytes().saturating_mul(layer.into());
        let before = (0..level).fold(0_u64, |sum, level| {
            let bytes = self.shape(level).bytes();
            sum.saturating_add(bytes.next_multiple_of(ALIGNMENT))
        });
        let offset = self.start().saturating_add(layers);
        Level {
            offset: offset.saturating_add(before),
            ..self.shape(level)
        }
    }
}

/// The place of a texel in its tile: bit 2i is `x_i xor y_i`, bit 2i + 1 is `y_i`.
pub(crate) fn in_tile(x: u32, y: u32) -> u32 {
    (0..4).fold(0, |index, bit| {
        let (x, y) = (x >> bit & 1, y >> bit & 1);
        index | (x ^ y) << (bit + bit) | y << (bit + bit + 1)
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn format(name: &str) -> &'static VkFormat {
        VkFormat::of_name(Arch::V10, name).expect("a format")
    }

    #[test]
    fn levels_and_layers_follow_one_another() {
        let mut info = ImageInfo::two_d(format("R8G8B8A8_UNORM"), 20, 3);
        (info.layers, info.levels) = (2, 2);
        assert_eq!(info.check(), Ok(()));
        // Four planes, then rows of 128 bytes.
        let first = info.level(0, 0);
        assert_eq!((first.offset, first.row, first.bytes()), (128, 128, 384));
        let second = info.level(1, 0);
        assert_eq!((second.offset, second.row, second.bytes()), (512, 64, 64));
        assert_eq!(info.level(0, 1).offset, 128 + 384 + 64);
        assert_eq!(info.bytes(), 128 + 2 * (384 + 64));
        assert_eq!(info.packed_bytes(), 2 * 4 * (60 + 10));
    }

    #[test]
    fn tiles_cover_the_edges() {
        let mut info = ImageInfo::two_d(format("R8_UINT"), 17, 16);
        info.tiling = Tiling::UInterleaved;
        assert_eq!((info.level(0, 0).row, info.level(0, 0).slice), (512, 512));
        // hardware/descriptors.md 9.1, by hand.
        let places = [(1, 0), (1, 1), (0, 1), (2, 0), (15, 15)];
        assert_eq!(
            places.map(|(x, y)| in_tile(x, y)),
            [1, 2, 3, 4, 0b1010_1010]
        );
    }

    #[test]
    fn what_is_impossible_is_named() {
        let plain = ImageInfo::two_d(format("R8_UINT"), 4, 4);
        let refused = |info: ImageInfo| {
            let error = info.check().expect_err("refused");
            std::format!("{error}")
        };
        let cube = ImageInfo {
            dimension: ImageDimension::Cube,
            ..plain
        };
        assert_eq!(refused(cube), "an image with layers 1 can't be made");
        let levels = ImageInfo { levels: 4, ..plain };
        assert_eq!(refused(levels), "an image with levels 4 can't be made");
        let samples = ImageInfo {
            samples: 4,
            ..plain
        };
        assert_eq!(refused(samples), "an image with samples 4 can't be made");
        let two = ImageInfo {
            samples: 2,
            tiling: Tiling::UInterleaved,
            ..plain
        };
        assert_eq!(two.check_for(Arch::V12), Ok(()));
        let error = two.check_for(Arch::V11).expect_err("refused");
        assert_eq!(
            std::format!("{error}"),
            "an image with samples 2 can't be made"
        );
        let compressed = ImageInfo {
            format: format("BC1_RGB_UNORM_BLOCK"),
            ..plain
        };
        assert_eq!(
            refused(compressed),
            "images of format BC1_RGB_UNORM_BLOCK can't be made"
        );
    }
}
