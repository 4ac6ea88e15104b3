//! Blocks: the smallest piece of an image that stands by itself in memory: a texel, or of compressed formats several.
//!
//! Facts: the sizes are Vulkan's table of compatible formats.

use crate::format::TexelFormat;

/// A block of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Texels along x.
    pub width: u32,
    /// Texels along y.
    pub height: u32,
    /// Bytes.
    pub bytes: usize,
}

impl Block {
    /// The block of the format of a Vulkan name without `VK_FORMAT_`; `None` if it is unknown.
    pub fn of_name(name: &str) -> Option<Block> {
        let four_by_four = |bytes| Block {
            width: 4,
            height: 4,
            bytes,
        };
        let (family, rest) = name.split_once('_')?;
        match family {
            "ASTC" => {
                let (size, _) = rest.split_once('_')?;
                let (width, height) = size.split_once(['x', 'X'])?;
                let side = |text: &str| text.parse().ok().filter(|side| (4..=12).contains(side));
                Some(Block {
                    width: side(width)?,
                    height: side(height)?,
                    bytes: 16,
                })
            }
            "BC1" | "BC4" => Some(four_by_four(8)),
            "BC2" | "BC3" | "BC5" | "BC6H" | "BC7" => Some(four_by_four(16)),
            "ETC2" if rest.starts_with("R8G8B8A8_") => Some(four_by_four(16)),
            "ETC2" => Some(four_by_four(8)),
            "EAC" if rest.starts_with("R11G11_") => Some(four_by_four(16)),
            "EAC" => Some(four_by_four(8)),
            _ => Some(Block {
                width: 1,
                height: 1,
                bytes: TexelFormat::of_name(name)?.bytes(),
            }),
        }
    }

    /// Bytes of an image of so many texels, without gaps.
    pub fn bytes_of(self, [width, height, depth]: [u32; 3]) -> u64 {
        let blocks = |texels: u32, side: u32| u64::from(texels.div_ceil(side));
        let plane = blocks(width, self.width).saturating_mul(blocks(height, self.height));
        plane
            .saturating_mul(depth.into())
            .saturating_mul(self.bytes as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, wanted: Option<(u32, u32, usize)>) {
        let block = Block::of_name(name);
        let found = block.map(|block| (block.width, block.height, block.bytes));
        assert_eq!(found, wanted, "{name}");
    }

    #[test]
    fn names_say_how_large_blocks_are() {
        check("R8G8B8A8_UNORM", Some((1, 1, 4)));
        check("BC1_RGB_UNORM_BLOCK", Some((4, 4, 8)));
        check("BC7_SRGB_BLOCK", Some((4, 4, 16)));
        check("ETC2_R8G8B8A1_UNORM_BLOCK", Some((4, 4, 8)));
        check("ETC2_R8G8B8A8_SRGB_BLOCK", Some((4, 4, 16)));
        check("EAC_R11G11_SNORM_BLOCK", Some((4, 4, 16)));
        check("ASTC_10x6_UNORM_BLOCK", Some((10, 6, 16)));
        check("ASTC_0x6_UNORM_BLOCK", None);
        check("PVRTC1_2BPP_UNORM", None);
    }

    #[test]
    fn partial_blocks_are_whole_in_memory() {
        let block = Block::of_name("BC1_RGB_UNORM_BLOCK").expect("a name");
        assert_eq!(block.bytes_of([5, 4, 2]), 2 * 2 * 8);
    }
}
