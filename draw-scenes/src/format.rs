//! Formats of images: bytes of a level, and the components of a texel.
//!
//! Formats of depth and stencil have an aspect each, which files hold apart: shared/scenes/README.md ("Images").

use crate::scene::Aspect;
use eitri_texels::{Block, Stored, TexelFormat};

/// A format of an image, of one aspect.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageFormat {
    block: Block,
    /// None of what is compressed.
    texel: Option<TexelFormat>,
}

impl ImageFormat {
    /// The format of a name as scenes have it; `None` if it is unknown, or does not have the aspect.
    pub fn of(name: &str, aspect: Aspect) -> Option<ImageFormat> {
        let name = name.to_ascii_uppercase();
        let name = match (aspect, name.as_str()) {
            (Aspect::Depth, "D16_UNORM" | "D16_UNORM_S8_UINT") => "D16_UNORM",
            (Aspect::Depth, "D24_UNORM_S8_UINT" | "X8_D24_UNORM_PACK32") => "X8_D24_UNORM_PACK32",
            (Aspect::Depth, "D32_SFLOAT" | "D32_SFLOAT_S8_UINT") => "D32_SFLOAT",
            (
                Aspect::Stencil,
                "S8_UINT" | "D16_UNORM_S8_UINT" | "D24_UNORM_S8_UINT" | "D32_SFLOAT_S8_UINT",
            ) => "S8_UINT",
            (Aspect::Color, name)
                if !name.starts_with(['D', 'S']) && !name.starts_with("X8_D24") =>
            {
                name
            }
            _ => return None,
        };
        Some(ImageFormat {
            block: Block::of_name(name)?,
            texel: TexelFormat::of_name(name),
        })
    }

    /// Bytes of so many texels, tightly packed.
    pub fn bytes_of(&self, extent: [u32; 3]) -> u64 {
        self.block.bytes_of(extent)
    }

    /// Bytes of a texel; of compressed formats, of a block.
    pub fn bytes(&self) -> usize {
        self.block.bytes
    }

    /// Red, green, blue and alpha of texels as bytes; none of a compressed format.
    pub(crate) fn colors(&self, texels: &[u8]) -> Option<impl Iterator<Item = u8>> {
        let texel = self.texel.as_ref()?;
        let texels = texels.chunks_exact(self.bytes().max(1));
        Some(texels.flat_map(|bytes| texel.to_bytes(texel.load(bytes))))
    }

    /// Whether a texel has bits that mean nothing.
    pub(crate) fn is_padded(&self) -> bool {
        self.texel.as_ref().is_some_and(TexelFormat::is_padded)
    }

    /// The components of a texel; none of a compressed format.
    pub(crate) fn components(&self, texel: &[u8]) -> Option<Vec<Stored>> {
        Some(self.texel.as_ref()?.stored(texel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, aspect: Aspect, bytes: Option<usize>) {
        let format = ImageFormat::of(name, aspect);
        let found = format.map(|format| format.bytes());
        assert_eq!(found, bytes, "{name}, {aspect:?}");
    }

    #[test]
    fn an_aspect_is_a_format_of_its_own() {
        check("r8g8b8a8_unorm", Aspect::Color, Some(4));
        check("r8g8b8a8_unorm", Aspect::Depth, None);
        check("d24_unorm_s8_uint", Aspect::Depth, Some(4));
        check("d24_unorm_s8_uint", Aspect::Stencil, Some(1));
        check("d24_unorm_s8_uint", Aspect::Color, None);
        check("d32_sfloat", Aspect::Stencil, None);
        check("bc1_rgb_unorm_block", Aspect::Color, Some(8));
        check("x8_d24_unorm_pack32", Aspect::Color, None);
    }
}
