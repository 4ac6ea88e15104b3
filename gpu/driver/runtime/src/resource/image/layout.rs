//! Layout of an image in memory: its planes, and their levels and layers.
//!
//! An image has one plane, or one for depth and one for stencil. Plane descriptors come first, plane by plane, layer by layer and
//! level by level; texels follow in the same order. Levels start at multiples of 64 bytes.
//! Facts: hardware/descriptors.md 8, 9 and 9.1; hardware/graphics-framebuffer.md 5.6 (planes) and 5.8 (layouts).

use super::{ALIGNMENT, Aspect, ImageInfo, PLANE_BYTES, Tiling};
use eitri_descriptors::Arch;
use eitri_descriptors::attachment_formats::DepthStencilFormat;
use eitri_descriptors::formats::{Uses, VkFormat};

/// Log2 of the texels, or blocks, along a side of a tile.
pub(crate) const TEXEL_TILE_LOG2: u32 = 4;
const BLOCK_TILE_LOG2: u32 = 2;

/// A level of a layer: where it begins, and how it lies. Elements are texels, or blocks of a compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Bytes from the start of the image's memory.
    pub(crate) offset: u64,
    /// Elements along x.
    pub(crate) width: u32,
    /// Elements along y.
    pub(crate) height: u32,
    /// Depth, or samples.
    pub(crate) slices: u32,
    /// Bytes from one row, or row of tiles, to the next.
    pub(crate) row: u64,
    /// Bytes from one slice to the next.
    pub(crate) slice: u64,
    /// Bytes of headers with what is free behind them, if the level is compressed without loss: `row` is one of headers then.
    pub(crate) body: u64,
}

impl Level {
    /// Bytes of all slices.
    pub(crate) fn bytes(&self) -> u64 {
        self.slice.saturating_mul(self.slices.into())
    }
}

/// A plane of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ImagePlane {
    /// The plane as an image of its own.
    pub(crate) info: ImageInfo,
    /// Bytes of the image's memory before the plane's descriptors.
    pub(crate) descriptors: u64,
    /// Bytes of the image's memory before the plane's texels.
    texels: u64,
}

impl ImagePlane {
    /// Where a level of a layer lies.
    pub(crate) fn level(&self, level: u32, layer: u32) -> Level {
        let layers = self.layer_stride().saturating_mul(layer.into());
        let before = self.info.bytes_of_levels(level);
        let offset = self.texels.saturating_add(layers);
        Level {
            offset: offset.saturating_add(before),
            ..self.info.shape(level)
        }
    }

    /// Bytes from a layer to the next.
    pub(crate) fn layer_stride(&self) -> u64 {
        self.info.layer_bytes()
    }
}

impl ImageInfo {
    /// The aspects that the image's texels have.
    pub fn aspects(&self) -> &'static [Aspect] {
        if !self.format.uses.contains(Uses::DEPTH_STENCIL) {
            return &[Aspect::Color];
        }
        let Some(format) = DepthStencilFormat::of_name(self.format.name) else {
            return &[Aspect::Color];
        };
        match (format.depth, format.stencil) {
            (Some(_), Some(_)) => &[Aspect::Depth, Aspect::Stencil],
            (None, Some(_)) => &[Aspect::Stencil],
            (_, None) => &[Aspect::Depth],
        }
    }

    /// The format in which an aspect lies in memory; `None` if the image has no such aspect.
    pub fn aspect_format(&self, aspect: Aspect) -> Option<&'static VkFormat> {
        let is_color = !self.format.uses.contains(Uses::DEPTH_STENCIL);
        if is_color && aspect == Aspect::Color {
            return Some(self.format);
        }
        let format = DepthStencilFormat::of_name(self.format.name);
        let name = match (aspect, format) {
            (Aspect::Depth, Some(format)) => format.depth_plane()?,
            (Aspect::Stencil, Some(format)) => format.stencil_plane()?,
            _ => return None,
        };
        if name == self.format.name {
            return Some(self.format);
        }
        // Every generation has these formats.
        VkFormat::of_name(Arch::V10, name)
    }

    /// The plane of an aspect; without one the first. `None` if the image has no such aspect.
    pub(crate) fn plane(&self, aspect: Option<Aspect>) -> Option<ImagePlane> {
        self.planes()
            .find(|(of, _)| aspect.is_none_or(|aspect| aspect == *of))
            .map(|(_, plane)| plane)
    }

    /// The planes, each with its aspect.
    pub(crate) fn planes(&self) -> impl Iterator<Item = (Aspect, ImagePlane)> + '_ {
        let aspects = self.aspects();
        let descriptors = self.plane_descriptor_bytes();
        let mut before = (0_u64, self.texels_start());
        aspects.iter().filter_map(move |aspect| {
            let format = self.aspect_format(*aspect)?;
            let info = ImageInfo { format, ..*self };
            let (of_descriptors, texels) = before;
            let layers = info.layer_bytes().saturating_mul(info.layers.into());
            before = (
                of_descriptors.saturating_add(descriptors),
                texels.saturating_add(layers),
            );
            let plane = ImagePlane {
                info,
                descriptors: of_descriptors,
                texels,
            };
            Some((*aspect, plane))
        })
    }

    /// Bytes of the image with its plane descriptors.
    pub(crate) fn bytes(&self) -> u64 {
        self.planes().last().map_or(0, |(_, plane)| {
            let layers = plane.layer_stride().saturating_mul(self.layers.into());
            plane.texels.saturating_add(layers)
        })
    }

    /// Bytes of the image's memory before the first texel.
    pub(crate) fn texels_start(&self) -> u64 {
        if let Some(placed) = self.placed {
            return placed.offset.into();
        }
        self.descriptor_bytes()
            .next_multiple_of(self.level_alignment())
    }

    /// Bytes of the descriptors of a plane's levels and layers.
    fn plane_descriptor_bytes(&self) -> u64 {
        u64::from(self.layers)
            .saturating_mul(self.levels.into())
            .saturating_mul(PLANE_BYTES)
    }

    /// Bytes of all plane descriptors.
    pub(crate) fn descriptor_bytes(&self) -> u64 {
        let planes = self.aspects().len() as u64;
        self.plane_descriptor_bytes().saturating_mul(planes)
    }

    fn layer_bytes(&self) -> u64 {
        self.bytes_of_levels(self.levels)
    }

    /// Bytes of the first levels of a layer.
    fn bytes_of_levels(&self, count: u32) -> u64 {
        let alignment = self.level_alignment();
        (0..count).fold(0_u64, |sum, level| {
            let bytes = self.shape(level).bytes();
            sum.saturating_add(bytes.next_multiple_of(alignment))
        })
    }

    /// Elements of a level along x and y: texels, or blocks of a compressed format.
    pub(crate) fn elements(&self, level: u32) -> [u32; 2] {
        let [width, height, _] = self.level_size(level);
        let [across, down] = self.format.block();
        // A block has texels.
        let blocks = |texels: u32, block: u32| texels.div_ceil(block.max(1));
        [blocks(width, across), blocks(height, down)]
    }

    /// Log2 of the elements along a side of a tile of a U-interleaved image.
    pub(crate) fn tile_log2(&self) -> u32 {
        match self.format.compressed() {
            Some(_) => BLOCK_TILE_LOG2,
            None => TEXEL_TILE_LOG2,
        }
    }

    /// A level of a format in one plane, as if it began at 0.
    fn shape(&self, level: u32) -> Level {
        self.placed_rows(self.usual_shape(level))
    }

    /// The same with rows as close as they may be.
    fn usual_shape(&self, level: u32) -> Level {
        let [width, height] = self.elements(level);
        let element = u64::from(self.texel_bytes());
        let (row, rows) = match self.tiling {
            Tiling::Afbc => return self.compressed_shape(level),
            Tiling::Linear => {
                let row = u64::from(width).saturating_mul(element);
                (row.next_multiple_of(ALIGNMENT), height)
            }
            Tiling::UInterleaved => {
                let side = 1_u32 << self.tile_log2();
                let tiles = u64::from(width.div_ceil(side));
                let tile = element.saturating_mul(side.saturating_mul(side).into());
                let row = tiles.saturating_mul(tile);
                (row.next_multiple_of(ALIGNMENT), height.div_ceil(side))
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
            body: 0,
        }
    }
}

/// The place of an element in its tile: bit 2i is `x_i xor y_i`, bit 2i + 1 is `y_i`.
pub(crate) fn in_tile(x: u32, y: u32) -> u32 {
    (0..TEXEL_TILE_LOG2).fold(0, |index, bit| {
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
        let plane = info.plane(None).expect("a plane");
        // Four planes, then rows of 128 bytes.
        let first = plane.level(0, 0);
        assert_eq!((first.offset, first.row, first.bytes()), (128, 128, 384));
        let second = plane.level(1, 0);
        assert_eq!((second.offset, second.row, second.bytes()), (512, 64, 64));
        assert_eq!(plane.level(0, 1).offset, 128 + 384 + 64);
        assert_eq!(info.bytes(), 128 + 2 * (384 + 64));
        assert_eq!(info.packed_bytes(), 2 * 4 * (60 + 10));
    }

    #[test]
    fn tiles_cover_the_edges() {
        let mut info = ImageInfo::two_d(format("R8_UINT"), 17, 16);
        info.tiling = Tiling::UInterleaved;
        let level = info.plane(None).expect("a plane").level(0, 0);
        assert_eq!((level.row, level.slice), (512, 512));
        // hardware/descriptors.md 9.1, by hand.
        let places = [(1, 0), (1, 1), (0, 1), (2, 0), (15, 15)];
        assert_eq!(
            places.map(|(x, y)| in_tile(x, y)),
            [1, 2, 3, 4, 0b1010_1010]
        );
    }

    #[test]
    fn depth_and_stencil_lie_in_planes_of_their_own() {
        let info = ImageInfo::two_d(format("D24_UNORM_S8_UINT"), 16, 4);
        assert_eq!(info.aspects(), [Aspect::Depth, Aspect::Stencil]);
        let depth = info.plane(Some(Aspect::Depth)).expect("depth");
        let stencil = info.plane(Some(Aspect::Stencil)).expect("stencil");
        assert_eq!(depth.info.format.name, "X8_D24_UNORM_PACK32");
        assert_eq!(stencil.info.format.name, "S8_UINT");
        assert_eq!((depth.descriptors, stencil.descriptors), (0, 32));
        // Two descriptors, then four rows of 64 bytes, and four more.
        assert_eq!(depth.level(0, 0).offset, 64);
        assert_eq!(stencil.level(0, 0).offset, 64 + 4 * 64);
        assert_eq!(info.bytes(), 64 + 4 * 64 + 4 * 64);
        assert_eq!(info.plane(Some(Aspect::Color)), None);
    }

    #[test]
    fn blocks_of_compressed_formats_are_elements() {
        let mut info = ImageInfo::two_d(format("ASTC_6x5_UNORM_BLOCK"), 13, 11);
        assert_eq!(info.check(), Ok(()));
        let level = info.plane(None).expect("a plane").level(0, 0);
        assert_eq!((level.width, level.height, level.row), (3, 3, 64));
        info.tiling = Tiling::UInterleaved;
        // One tile of 4 by 4 blocks.
        let level = info.plane(None).expect("a plane").level(0, 0);
        assert_eq!((level.row, level.slice), (256, 256));
        assert_eq!(info.part_bytes(0), 9 * 16);
    }
}
