//! Uses of images, and the order of texels that suits them.
//!
//! Facts: hardware/graphics-framebuffer.md 5.8.4 and 5.8.6.

use super::compressed::SUPERBLOCK;
use super::{ImageInfo, Tiling};
use core::ops::BitOr;
use eitri_program::ImageDimension;

/// What an image is for: all that will ever be asked of it. Names and meaning are near those of Vulkan's usage flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImageUses(u8);

impl ImageUses {
    /// Nothing yet.
    pub const NONE: ImageUses = ImageUses(0);
    /// Passes render to it: as colour, depth, stencil, or the target of a resolve.
    pub const ATTACHMENT: ImageUses = ImageUses(1);
    /// Shaders sample it, or fetch its texels.
    pub const SAMPLED: ImageUses = ImageUses(2);
    /// Shaders use it as a storage image.
    pub const STORAGE: ImageUses = ImageUses(4);
    /// Commands copy it to and from buffers and other images. Clears, blits and resolves need no use of their own: they are passes.
    pub const TRANSFER: ImageUses = ImageUses(8);
    /// The host reads or writes it: [`Device::read_image`](crate::Device::read_image) and its like.
    pub const HOST: ImageUses = ImageUses(16);
    /// Views, or passes, see it in formats with other channels.
    pub const OTHER_FORMATS: ImageUses = ImageUses(32);
    /// Something else reads its rows where they lie: a display.
    pub const DISPLAY: ImageUses = ImageUses(64);

    /// Whether all of `other` is among the uses.
    pub const fn contains(self, other: ImageUses) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for ImageUses {
    type Output = ImageUses;

    fn bitor(self, other: ImageUses) -> ImageUses {
        ImageUses(self.0 | other.0)
    }
}

impl ImageInfo {
    /// The same image with the order of texels that suits its uses best. What passes render to and nothing but shaders, passes and
    /// commands read is compressed without loss, if its format allows that and it has one sample and a superblock of texels at least;
    /// what a display reads is linear, and so are images of one dimension. All else is U-interleaved.
    pub fn for_uses(self, uses: ImageUses) -> ImageInfo {
        let blocks_as_texels =
            uses.contains(ImageUses::OTHER_FORMATS) && self.format.compressed().is_some();
        let rows = uses.contains(ImageUses::DISPLAY)
            || blocks_as_texels
            || self.dimension == ImageDimension::OneD;
        let tiling = match () {
            () if rows && self.samples == 1 => Tiling::Linear,
            () if self.is_compressed_for(uses) => Tiling::Afbc,
            () => Tiling::UInterleaved,
        };
        ImageInfo { tiling, ..self }
    }

    fn is_compressed_for(&self, uses: ImageUses) -> bool {
        let compressed = ImageInfo {
            tiling: Tiling::Afbc,
            ..*self
        };
        let read_by_others = [
            ImageUses::STORAGE,
            ImageUses::HOST,
            ImageUses::OTHER_FORMATS,
        ];
        let large = self.width.min(self.height) >= SUPERBLOCK;
        uses.contains(ImageUses::ATTACHMENT)
            && !read_by_others.iter().any(|other| uses.contains(*other))
            && (!uses.contains(ImageUses::TRANSFER) || self.copies_compressed())
            && large
            && compressed.check().is_ok()
    }

    /// Whether there are copies to and from the image if it is compressed without loss: floats of 11 and 10 bits have none.
    pub(crate) fn copies_compressed(&self) -> bool {
        !self.format.has("UFLOAT")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Arch;
    use eitri_descriptors::formats::VkFormat;

    #[track_caller]
    fn check(name: &str, uses: ImageUses, expected: Tiling) {
        let format = VkFormat::of_name(Arch::V10, name).expect("a format");
        let info = ImageInfo::two_d(format, 64, 64).for_uses(uses);
        assert_eq!(info.tiling, expected, "{name} for {uses:?}");
    }

    #[test]
    fn uses_choose_the_order_of_texels() {
        let rendered = ImageUses::ATTACHMENT | ImageUses::SAMPLED;
        check("R8G8B8A8_UNORM", rendered, Tiling::Afbc);
        check(
            "R8G8B8A8_UNORM",
            rendered | ImageUses::TRANSFER,
            Tiling::Afbc,
        );
        check("S8_UINT", rendered, Tiling::Afbc);
        check("B10G11R11_UFLOAT_PACK32", rendered, Tiling::Afbc);
        let all = Tiling::UInterleaved;
        check(
            "B10G11R11_UFLOAT_PACK32",
            rendered | ImageUses::TRANSFER,
            all,
        );
        check("R8G8B8A8_UNORM", ImageUses::SAMPLED, all);
        for other in [
            ImageUses::STORAGE,
            ImageUses::HOST,
            ImageUses::OTHER_FORMATS,
        ] {
            check("R8G8B8A8_UNORM", rendered | other, all);
        }
        check("R32_SFLOAT", rendered, all);
        check("D32_SFLOAT", rendered, all);
        check(
            "R8G8B8A8_UNORM",
            rendered | ImageUses::DISPLAY,
            Tiling::Linear,
        );
        check(
            "BC1_RGB_UNORM_BLOCK",
            ImageUses::SAMPLED | ImageUses::OTHER_FORMATS,
            Tiling::Linear,
        );
    }

    #[test]
    fn samples_and_small_images_are_not_compressed() {
        let format = VkFormat::of_name(Arch::V10, "R8G8B8A8_UNORM").expect("a format");
        let plain = ImageInfo::two_d(format, 64, 15);
        let found = |info: ImageInfo| info.for_uses(ImageUses::ATTACHMENT).tiling;
        assert_eq!(found(plain), Tiling::UInterleaved, "15 rows");
        let samples = ImageInfo {
            height: 64,
            samples: 4,
            ..plain
        };
        assert_eq!(found(samples), Tiling::UInterleaved, "four samples");
    }
}
