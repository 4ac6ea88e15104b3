//! Families of compressed formats: their blocks, and the feature bit that a GPU shows for each.
//!
//! Facts: hardware/graphics-texture.md 7.9 and 7.10, `block` and `feature_bit` of data/formats.json.

use super::formats::VkFormat;
use super::plane::Astc2DDimension;

/// Least number of a clump format whose elements are blocks.
const LEAST_BLOCK_CLUMP: u32 = 32;

/// A family of compressed formats, which a GPU has as a whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedFamily {
    /// Beginning of the names of its formats, without `VK_FORMAT_`.
    pub prefix: &'static str,
    /// Texels of a block along x and y.
    pub block: [u32; 2],
    /// Bit of `TEXTURE_FEATURES_0`.
    pub feature_bit: u32,
}

const fn family(prefix: &'static str, block: [u32; 2], feature_bit: u32) -> CompressedFamily {
    CompressedFamily {
        prefix,
        block,
        feature_bit,
    }
}

/// Every family.
#[rustfmt::skip]
pub static COMPRESSED_FAMILIES: &[CompressedFamily] = &[
    family("ETC2_R8G8B8_",     [ 4,  4],  1),
    family("EAC_R11_UNORM",    [ 4,  4],  2),
    family("ETC2_R8G8B8A8_",   [ 4,  4],  3),
    family("EAC_R11G11_UNORM", [ 4,  4],  4),
    family("BC1_",             [ 4,  4],  7),
    family("BC2_",             [ 4,  4],  8),
    family("BC3_",             [ 4,  4],  9),
    family("BC4_UNORM",        [ 4,  4], 10),
    family("BC4_SNORM",        [ 4,  4], 11),
    family("BC5_UNORM",        [ 4,  4], 12),
    family("BC5_SNORM",        [ 4,  4], 13),
    family("BC6H_UFLOAT",      [ 4,  4], 14),
    family("BC6H_SFLOAT",      [ 4,  4], 15),
    family("BC7_",             [ 4,  4], 16),
    family("EAC_R11_SNORM",    [ 4,  4], 17),
    family("EAC_R11G11_SNORM", [ 4,  4], 18),
    family("ETC2_R8G8B8A1_",   [ 4,  4], 19),
    family("ASTC_4x4_",        [ 4,  4], 22),
    family("ASTC_5x4_",        [ 5,  4], 22),
    family("ASTC_5x5_",        [ 5,  5], 22),
    family("ASTC_6x5_",        [ 6,  5], 22),
    family("ASTC_6x6_",        [ 6,  6], 22),
    family("ASTC_8x5_",        [ 8,  5], 22),
    family("ASTC_8x6_",        [ 8,  6], 22),
    family("ASTC_8x8_",        [ 8,  8], 22),
    family("ASTC_10x5_",       [10,  5], 22),
    family("ASTC_10x6_",       [10,  6], 22),
    family("ASTC_10x8_",       [10,  8], 22),
    family("ASTC_10x10_",      [10, 10], 22),
    family("ASTC_12x10_",      [12, 10], 22),
    family("ASTC_12x12_",      [12, 12], 22),
];

impl VkFormat {
    /// The family of a compressed format; `None` of any other format.
    pub fn compressed(&self) -> Option<&'static CompressedFamily> {
        if self.clump_code.is_some_and(|code| code < LEAST_BLOCK_CLUMP) {
            return None;
        }
        let mut all = COMPRESSED_FAMILIES.iter();
        all.find(|family| self.name.starts_with(family.prefix))
    }

    /// Texels of a block along x and y: one texel unless the format is compressed.
    pub fn block(&self) -> [u32; 2] {
        self.compressed().map_or([1, 1], |family| family.block)
    }
}

impl CompressedFamily {
    /// The codes of the block's sides in an ASTC plane; `None` of families of other planes.
    pub fn astc(&self) -> Option<[Astc2DDimension; 2]> {
        let code = |side: u32| {
            Some(match side {
                4 => Astc2DDimension::Four,
                5 => Astc2DDimension::Five,
                6 => Astc2DDimension::Six,
                8 => Astc2DDimension::Eight,
                10 => Astc2DDimension::Ten,
                12 => Astc2DDimension::Twelve,
                _ => return None,
            })
        };
        if !self.prefix.starts_with("ASTC_") {
            return None;
        }
        let [width, height] = self.block;
        Some([code(width)?, code(height)?])
    }
}
