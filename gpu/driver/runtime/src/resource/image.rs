//! Images: what they are. Where their texels lie is in [`layout`].
//!
//! Facts: hardware/descriptors.md 8 and 9, hardware/graphics-texture.md 7.9 and 7.10.

mod compressed;
mod layout;
mod placement;
mod range;
mod uses;

pub(crate) use compressed::{NO_HOST, NO_STORAGE, OTHER_CHANNELS, SUPERBLOCK};
pub(crate) use layout::{ImagePlane, Level, in_tile};
pub(crate) use placement::{IMPORTED, NOT_IMPORTED, NOT_PLACED};
pub use range::ImageRange;
pub use uses::ImageUses;

use eitri_descriptors::Arch;
use eitri_descriptors::formats::{Uses, VkFormat};
use eitri_descriptors::plane::{ClumpFormat, ClumpOrdering};
use eitri_program::ImageDimension;
use thiserror::Error;

/// Levels, rows of linear images and planes start at multiples of this.
const ALIGNMENT: u64 = 64;
/// Bytes of a plane descriptor.
pub(crate) const PLANE_BYTES: u64 = 32;
/// Most texels along an axis, and most layers.
const MOST: u32 = 1 << 16;
/// Most bytes of a texel.
const MOST_TEXEL: usize = 16;
/// Most bytes of a tile.
pub(crate) const TILE_BYTES: usize = 16 * 16 * MOST_TEXEL;

/// A part of a texel. The names are Vulkan's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aspect {
    /// Colour: all of a texel that has neither depth nor stencil.
    Color,
    /// Depth.
    Depth,
    /// Stencil.
    Stencil,
}

/// In which order the texels of a level lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Row by row.
    Linear,
    /// In tiles of 16 by 16 texels, and in those in the hardware's own order.
    UInterleaved,
    /// Compressed without loss (AFBC) in superblocks of 16 by 16 texels, by the hardware alone: passes write it, and textures and
    /// passes read it. The host and storage images can't. Of two dimensions and one sample; the formats are those that have a
    /// [compression](VkFormat::compression).
    Afbc,
}

/// What an image is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageInfo {
    /// Its coordinates.
    pub dimension: ImageDimension,
    /// Its texels, usable for textures. Depth and stencil of one format lie in planes of their own.
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
    /// Where they lie in memory of the caller's, for [`Device::import_image`](crate::Device::import_image) alone.
    pub placed: Option<Placement>,
}

/// Where texels of an image lie in memory of its caller's. The image has one level, one layer, one sample and one aspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Bytes of the memory before the first texel, a multiple of 64; of compressed images of 4096 (128 if they are small).
    pub offset: u32,
    /// Bytes from one row of texels to the next, or from one row of tiles to the next, a multiple of 64; of compressed images from one
    /// row of headers to the next, which is what [`ImageInfo::least_row_bytes`] says.
    pub row_bytes: u32,
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
    /// The GPU does not have the format's family: its bit of `TEXTURE_FEATURES` is not set.
    #[error("the GPU has no images of format {format}")]
    Family {
        /// Vulkan's name.
        format: &'static str,
    },
    /// The image has no such aspect.
    #[error("the image, of format {format}, has no {aspect:?} aspect")]
    NoAspect {
        /// The aspect.
        aspect: Aspect,
        /// Vulkan's name of the image's format.
        format: &'static str,
    },
    /// A region that leaves a level of an image, or has blocks of a compressed format that are not whole.
    #[error(
        "{what} {first} and {count} more are not in level {level} of the image, which has {size}, or are no whole blocks"
    )]
    Region {
        /// Texels along which axis, or layers.
        what: &'static str,
        /// The first.
        first: u32,
        /// How many.
        count: u32,
        /// How many there are.
        size: u32,
        /// The level.
        level: u32,
    },
    /// Texels of different sizes, or numbers of samples, which a copy does not convert.
    #[error("a copy from {from} to {to} is not possible: sizes of texels, or samples, differ")]
    Incompatible {
        /// Vulkan's name of the source's format.
        from: &'static str,
        /// Vulkan's name of the destination's format.
        to: &'static str,
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
    /// A view that the image can't have: of another dimension, a format of another size, slices of several levels.
    #[error("the image, of format {format}, can't be seen so: {what}")]
    View {
        /// Vulkan's name of the image's format.
        format: &'static str,
        /// What is not possible.
        what: &'static str,
    },
    /// The order or the place of an image's texels does not allow that: it is compressed without loss ([`Tiling::Afbc`]), or lies in
    /// memory of the caller's ([`ImageInfo::placed`]).
    #[error("the image, of format {format}, {what}")]
    Layout {
        /// Vulkan's name of the image's format.
        format: &'static str,
        /// What it is and can't be used for, and what to do instead.
        what: &'static str,
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
            placed: None,
        }
    }

    /// Checks it for any GPU.
    ///
    /// # Errors
    /// The first thing that is impossible everywhere.
    pub fn check(&self) -> Result<(), ImageError> {
        let texels =
            self.format.uses.contains(Uses::TEXTURE) || self.format.uses.contains(Uses::IMAGE);
        let compressed = self.format.compressed();
        let astc = compressed.and_then(|family| family.astc());
        if !texels || (self.clump().is_none() && astc.is_none()) {
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
            () if compressed.is_some() && many => ("samples", self.samples),
            // FACT: which compressed formats have textures of one and of three dimensions is not published, ASTC apart, whose
            // planes of two dimensions have blocks of two (hardware/graphics-texture.md 7.3). Of one dimension there are none here.
            // Settled by sampling a texture of one dimension in each of these formats on any board.
            () if compressed.is_some() && flat => ("height", self.height),
            () if astc.is_some() && deep => ("depth", self.depth),
            () => {
                self.check_compression()?;
                return self.check_placement();
            }
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

    /// Bytes of a texel, or of a block of a compressed format. Of depth and stencil in planes of their own: of depth.
    pub fn texel_bytes(&self) -> u32 {
        self.format.block_bytes
    }

    /// Bytes of all texels of the first aspect, without gaps: what a copy of the whole image has.
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

    /// Bytes of a slice of a level of the first aspect, without gaps.
    pub fn part_bytes(&self, level: u32) -> u64 {
        let [width, height] = self.elements(level);
        u64::from(width)
            .saturating_mul(height.into())
            .saturating_mul(self.texel_bytes().into())
    }

    /// Bytes of a slice of a level of an aspect, without gaps; `None` if the image has no such aspect.
    pub fn aspect_bytes(&self, aspect: Aspect, level: u32) -> Option<u64> {
        let format = self.aspect_format(aspect)?;
        Some(ImageInfo { format, ..*self }.part_bytes(level))
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

    /// The elements of a generic plane: single texels, or blocks.
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
            32 => ClumpFormat::ETC2RGB8,
            33 => ClumpFormat::ETC2R11Unorm,
            34 => ClumpFormat::ETC2R11Snorm,
            35 => ClumpFormat::ETC2RG11Unorm,
            36 => ClumpFormat::ETC2RG11Snorm,
            37 => ClumpFormat::ETC2RGBA8,
            38 => ClumpFormat::ETC2RGB8A1,
            48 => ClumpFormat::BC1Unorm,
            49 => ClumpFormat::BC2Unorm,
            50 => ClumpFormat::BC3Unorm,
            51 => ClumpFormat::BC4Unorm,
            52 => ClumpFormat::BC4Snorm,
            53 => ClumpFormat::BC5Unorm,
            54 => ClumpFormat::BC5Snorm,
            55 => ClumpFormat::BC6HUF16,
            56 => ClumpFormat::BC6HSF16,
            57 => ClumpFormat::BC7Unorm,
            _ => return None,
        })
    }

    /// Whether textures say that texels are interleaved: all are that are not row by row (hardware/graphics-texture.md 7.2).
    pub(crate) fn interleaves(&self) -> bool {
        self.tiling != Tiling::Linear || self.format.compressed().is_some()
    }

    /// The order of a plane that is not compressed without loss.
    pub(crate) fn ordering(&self) -> ClumpOrdering {
        match self.tiling {
            Tiling::Linear => ClumpOrdering::Linear,
            Tiling::UInterleaved | Tiling::Afbc => ClumpOrdering::TiledUInterleaved,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn format(name: &str) -> &'static VkFormat {
        VkFormat::of_name(Arch::V10, name).expect("a format")
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
        let six = ImageInfo { layers: 6, ..cube };
        assert_eq!(six.check(), Ok(()));
        let high = ImageInfo { height: 8, ..six };
        assert_eq!(refused(high), "an image with height 8 can't be made");
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
        let samples = ImageInfo {
            format: format("BC1_RGB_UNORM_BLOCK"),
            samples: 4,
            tiling: Tiling::UInterleaved,
            ..plain
        };
        assert_eq!(refused(samples), "an image with samples 4 can't be made");
        let most = ImageInfo {
            width: MOST,
            height: MOST,
            layers: MOST,
            ..plain
        };
        assert_eq!(most.check(), Ok(()));
        for (what, changed) in [
            (
                "width",
                ImageInfo {
                    width: MOST + 1,
                    ..plain
                },
            ),
            ("height", ImageInfo { height: 0, ..plain }),
            ("depth", ImageInfo { depth: 2, ..plain }),
            (
                "layers",
                ImageInfo {
                    layers: MOST + 1,
                    ..plain
                },
            ),
            (
                "samples",
                ImageInfo {
                    samples: 3,
                    ..plain
                },
            ),
            (
                "samples",
                ImageInfo {
                    samples: 32,
                    ..plain
                },
            ),
        ] {
            let text = refused(changed);
            assert!(
                text.starts_with(&std::format!("an image with {what} ")),
                "{text}"
            );
        }
        let wide = ImageInfo {
            format: format("R64_UINT"),
            ..plain
        };
        assert_eq!(refused(wide), "images of format R64_UINT can't be made");
    }
}
