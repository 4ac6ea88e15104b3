//! Images that are compressed without loss (AFBC): which there can be, and where their headers and bodies lie.
//!
//! A level of a layer is an area of headers, 16 bytes for each superblock of 16 by 16 texels, and a body behind it, with as much room
//! for each superblock as its texels take. Large images have their headers in square groups of superblocks.
//! Facts: hardware/graphics-framebuffer.md 5.8.4, hardware/descriptors.md 9.1.

use super::{ALIGNMENT, ImageError, ImageInfo, Level, Tiling};
use eitri_descriptors::plane::AfbcPlane;
use eitri_descriptors::{Address, Arch, DescriptorError};
use eitri_program::ImageDimension;

/// Texels along a side of a superblock.
pub(crate) const SUPERBLOCK: u32 = 16;
/// Bytes of a header.
const HEADER_BYTES: u64 = 16;
/// What a body begins at a multiple of, behind headers in rows and behind headers in groups; so do levels.
const BODY_ALIGNMENTS: [u64; 2] = [128, 4096];

/// Messages of refusals ([`ImageError::Layout`]): uses that a compressed image does not have.
pub(crate) const NO_HOST: &str = "is compressed (AFBC), so that the host can't read or write it: copy it to a buffer, or make it for \
    ImageUses::HOST";
pub(crate) const NO_STORAGE: &str =
    "is compressed (AFBC), so that it is no storage image: make it for ImageUses::STORAGE";
pub(crate) const OTHER_CHANNELS: &str = "is compressed (AFBC), so that it has views with the same channels only: make it for \
    ImageUses::OTHER_FORMATS";

impl ImageInfo {
    /// Whether passes and textures alone read its texels, which are compressed without loss.
    pub(crate) fn is_afbc(&self) -> bool {
        self.tiling == Tiling::Afbc
    }

    pub(crate) const fn refused(&self, what: &'static str) -> ImageError {
        ImageError::Layout {
            format: self.format.name,
            what,
        }
    }

    /// Checks what is to be compressed without loss.
    // FACT: where AFBC_FEATURES lies, which says whether a GPU has AFBC, is in no fact file (hardware/graphics-framebuffer.md 5.8.4
    // names the register): all of v10 to v13 are taken to have it, as drivers that can't read it do (hardware/graphics-model.md 0).
    // Settled by the register's offset.
    pub(super) fn check_compression(&self) -> Result<(), ImageError> {
        if !self.is_afbc() {
            return Ok(());
        }
        let flat = matches!(self.dimension, ImageDimension::TwoD | ImageDimension::Cube);
        let what = match () {
            () if self.format.compression().is_none() => {
                "can't be compressed (AFBC): the format has no compression"
            }
            () if !flat => "can't be compressed (AFBC): it has other than two dimensions",
            () if self.samples != 1 => "can't be compressed (AFBC): it has several samples",
            () => return Ok(()),
        };
        Err(self.refused(what))
    }

    /// Superblocks along a side of a group whose headers lie together; 1 without groups.
    fn group(&self) -> u32 {
        let group = if self.texel_bytes() > 4 { 4 } else { 8 };
        // Half a group along each side fills enough of it (hardware/graphics-framebuffer.md 5.8.6). All levels have the same form.
        let least = SUPERBLOCK.saturating_mul(group) / 2;
        let [width, height, _] = self.level_size(self.levels.saturating_sub(1));
        if width.min(height) >= least { group } else { 1 }
    }

    /// Whether headers lie in groups.
    pub(crate) fn groups_headers(&self) -> bool {
        self.group() > 1
    }

    /// What levels begin at a multiple of.
    pub(super) fn level_alignment(&self) -> u64 {
        if !self.is_afbc() {
            return ALIGNMENT;
        }
        let [in_rows, in_groups] = BODY_ALIGNMENTS;
        if self.groups_headers() {
            in_groups
        } else {
            in_rows
        }
    }

    /// Superblocks of a level with its edges, along x in bytes of a row of headers, and rows of headers.
    fn headers(&self, [width, height]: [u32; 2]) -> (u64, u64) {
        let group = self.group();
        let side = SUPERBLOCK.saturating_mul(group);
        let in_group = u64::from(group).saturating_mul(group.into());
        let row = u64::from(width.div_ceil(side))
            .saturating_mul(in_group)
            .saturating_mul(HEADER_BYTES);
        (row, height.div_ceil(side).into())
    }

    /// A level, as if it began at 0.
    pub(super) fn compressed_shape(&self, level: u32) -> Level {
        let [width, height] = self.elements(level);
        let (row, rows) = self.headers([width, height]);
        let headers = row.saturating_mul(rows);
        let body = headers.next_multiple_of(self.level_alignment());
        let texels = u64::from(SUPERBLOCK).saturating_mul(SUPERBLOCK.into());
        let of_superblock = texels.saturating_mul(self.texel_bytes().into());
        let superblocks = headers.checked_div(HEADER_BYTES).unwrap_or(0);
        let bodies = superblocks.saturating_mul(of_superblock);
        Level {
            offset: 0,
            width,
            height,
            slices: 1,
            row,
            slice: body.saturating_add(bodies),
            body,
        }
    }

    /// The plane of a level with so many texels and bytes at `address`, whose rows of headers lie `row` bytes apart.
    pub(crate) fn compressed_plane(
        &self,
        arch: Arch,
        (size, row, bytes): ([u32; 2], u64, u64),
        address: u64,
    ) -> Result<[u32; 8], DescriptorError> {
        let (_, rows) = self.headers(size);
        let [width, height] = size;
        let mut plane = AfbcPlane {
            tiled_header: self.groups_headers(),
            prefetch: true,
            size: bytes as u32,
            size_hi: (bytes >> 32) as u32,
            pointer: Address(address),
            header_row_stride: u32::try_from(row).unwrap_or(u32::MAX),
            header_slice_size: u32::try_from(row.saturating_mul(rows)).unwrap_or(u32::MAX),
            width,
            height,
            ..AfbcPlane::default()
        };
        // `ImageInfo::check` has looked at the format.
        if let Some(compression) = self.format.compression() {
            plane.compression_mode = compression.mode;
            plane.ytr = compression.transform;
        }
        super::super::descriptors::pack(arch, plane)
    }

    /// Whether texels of a compressed image can be seen in a format.
    pub(crate) fn has_channels_of(&self, format: &eitri_descriptors::formats::VkFormat) -> bool {
        !self.is_afbc() || self.format.compression() == format.compression()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use eitri_descriptors::formats::VkFormat;

    fn image(name: &str, side: u32) -> ImageInfo {
        let format = VkFormat::of_name(Arch::V10, name).expect("a format");
        ImageInfo {
            tiling: Tiling::Afbc,
            ..ImageInfo::two_d(format, side, side)
        }
    }

    /// Sizes, strides and bodies of hardware/worked: texdepth, copyimage, mrt, stencil.
    #[test]
    fn levels_lie_as_drivers_have_them() {
        for (name, side, row, body, bytes) in [
            ("R8G8B8A8_UNORM", 16, 16, 128, 1152),
            ("R8G8B8A8_UNORM", 32, 32, 128, 4224),
            ("R8G8B8A8_UNORM", 64, 1024, 4096, 69632),
            ("R16G16B16A16_UINT", 64, 256, 4096, 4096 + 64 * 64 * 8),
            ("S8_UINT", 64, 1024, 4096, 4096 + 128 * 128),
        ] {
            let info = image(name, side);
            assert_eq!(info.check(), Ok(()), "{name}");
            let level = info.plane(None).expect("a plane").level(0, 0);
            let found = (level.row, level.body, level.slice);
            assert_eq!(found, (row, body, bytes), "{name}, {side} texels wide");
        }
    }

    /// The words of planes in hardware/worked/texdepth.md and copyimage.md.
    #[test]
    fn planes_are_as_drivers_have_them() {
        let info = image("R8G8B8A8_UNORM", 64);
        let plane = info.compressed_plane(Arch::V10, ([64, 64], 1024, 69632), 0x7fff_fffe_0000);
        let expected = [
            0x2819_006a,
            0x1_1000,
            0xfffe_0000,
            0x7fff,
            0x400,
            0x400,
            0,
            0x003f_003f,
        ];
        assert_eq!(plane, Ok(expected));
        let info = image("R8G8B8A8_UNORM", 32);
        let plane = info.compressed_plane(Arch::V10, ([32, 32], 32, 4224), 0x7fff_ffff_e000);
        let expected = [
            0x2811_006a,
            0x1080,
            0xffff_e000,
            0x7fff,
            0x20,
            0x40,
            0,
            0x001f_001f,
        ];
        assert_eq!(plane, Ok(expected));
    }

    /// Small levels would waste whole groups.
    #[test]
    fn an_image_with_small_levels_has_its_headers_in_rows() {
        let mut info = image("R8G8B8A8_UNORM", 256);
        assert!(info.groups_headers());
        info.levels = 3;
        assert!(info.groups_headers(), "the last level has 64 texels a side");
        info.levels = 4;
        assert!(!info.groups_headers());
        let plane = info.plane(None).expect("a plane");
        // Four planes; 256 headers; bodies of 1024 bytes each.
        assert_eq!(plane.level(0, 0).offset, 128);
        assert_eq!(plane.level(1, 0).offset, 128 + 4096 + 256 * 1024);
    }

    #[test]
    fn what_can_not_be_compressed_is_named() {
        let refused = |info: ImageInfo| {
            let error = info.check().expect_err("refused");
            std::format!("{error}")
        };
        assert_eq!(
            refused(image("R32_UINT", 64)),
            "the image, of format R32_UINT, can't be compressed (AFBC): the format has no compression"
        );
        let mut info = image("R8_UNORM", 64);
        info.samples = 4;
        assert_eq!(
            refused(info),
            "the image, of format R8_UNORM, can't be compressed (AFBC): it has several samples"
        );
        let mut info = image("R8_UNORM", 64);
        (info.dimension, info.depth) = (ImageDimension::ThreeD, 4);
        assert_eq!(
            refused(info),
            "the image, of format R8_UNORM, can't be compressed (AFBC): it has other than two dimensions"
        );
    }
}
