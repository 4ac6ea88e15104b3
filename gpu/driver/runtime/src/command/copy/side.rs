//! Sides of a copy: from regions in texels to elements in memory.
//!
//! Pure.  Facts: hardware/graphics-framebuffer.md 5.8.1 to 5.8.3.

use super::kernel::Order;
use super::region::ImageSubresource;
use crate::handle::Image;
use crate::resource::{Aspect, ImageError, ImageInfo, ImagePlane, Tiling};
use eitri_program::ImageDimension;

/// Elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    /// Address of element (0, 0) of the first slice.
    pub(crate) base: u64,
    /// First column and row that are copied.
    pub(crate) first: [u32; 2],
    /// Bytes from one row, or row of tiles, to the next.
    pub(crate) row: u32,
    /// Bytes from one slice to the next.
    pub(crate) slice: u64,
    pub(crate) order: Order,
    /// Log2 of the elements along a side of a tile.
    pub(crate) tile_log2: u32,
}

impl Side {
    /// From another slice on.
    pub(crate) fn at_slice(self, number: u32) -> Side {
        let skipped = self.slice.saturating_mul(number.into());
        Side {
            base: self.base.saturating_add(skipped),
            ..self
        }
    }
}

/// Where a region of an image that is compressed without loss begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompressedRegion {
    pub(crate) image: Image,
    pub(crate) aspect: Option<Aspect>,
    pub(crate) level: u32,
    pub(crate) layer: u32,
    /// The first texel along x and y.
    pub(crate) first: [u32; 2],
}

/// A region of a plane of an image, checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    plane: ImagePlane,
    level: u32,
    layer: u32,
    /// First element along x and y, first slice.
    first: [u32; 3],
    /// Elements along x and y, and slices or layers.
    pub(super) count: [u32; 3],
}

impl Region {
    /// A region of an image.
    pub(super) fn of(
        info: &ImageInfo,
        part: ImageSubresource,
        offset: [u32; 3],
        extent: [u32; 3],
    ) -> Result<Region, ImageError> {
        let ImageSubresource {
            aspect,
            level,
            layer,
            layers,
        } = part;
        let plane = info.plane(aspect).ok_or(ImageError::NoAspect {
            aspect: aspect.unwrap_or(Aspect::Color),
            format: info.format.name,
        })?;
        if level >= info.levels {
            let slice = 0;
            return Err(ImageError::NoPart {
                level,
                layer,
                slice,
            });
        }
        let size = info.level_size(level);
        let [across, down] = info.format.block();
        let blocks = [across, down, 1];
        let axes = offset.into_iter().zip(extent).zip(size).zip(blocks);
        for ((((first, count), size), block), what) in axes.zip(["x", "y", "z"]) {
            inside((what, level), (first, count), size, block)?;
        }
        inside(("layers", level), (layer, layers), info.layers, 1)?;
        let [x, y, z] = offset;
        let [width, height, depth] = extent;
        let slices = match info.dimension {
            ImageDimension::ThreeD => depth,
            _ => layers,
        };
        Ok(Region {
            plane,
            level,
            layer,
            first: [
                x.checked_div(across).unwrap_or(0),
                y.checked_div(down).unwrap_or(0),
                z,
            ],
            count: [width.div_ceil(across), height.div_ceil(down), slices],
        })
    }

    /// The region of an image that is compressed without loss.
    pub(super) fn compressed(&self, image: Image, part: ImageSubresource) -> CompressedRegion {
        let [x, y, _] = self.first;
        CompressedRegion {
            image,
            aspect: part.aspect,
            level: self.level,
            layer: self.layer,
            first: [x, y],
        }
    }

    /// Bytes of an element.
    pub(super) fn element(&self) -> u32 {
        self.plane.info.texel_bytes()
    }

    /// The side of a sample of the image at `address`.
    pub(super) fn side(&self, address: u64, sample: u32) -> Side {
        let info = &self.plane.info;
        let lies = self.plane.level(self.level, self.layer);
        let [x, y, z] = self.first;
        let deep = info.dimension == ImageDimension::ThreeD;
        let slice = if deep {
            lies.slice
        } else {
            self.plane.layer_stride()
        };
        // Of an image of three dimensions `sample` is 0, of others `z`.
        let skipped = lies.slice.saturating_mul(z.max(sample).into());
        Side {
            base: address.saturating_add(lies.offset).saturating_add(skipped),
            first: [x, y],
            row: u32::try_from(lies.row).unwrap_or(u32::MAX),
            slice,
            order: match info.tiling {
                Tiling::Linear => Order::Rows,
                // What is compressed without loss is copied otherwise.
                Tiling::UInterleaved | Tiling::Afbc => Order::Tiles,
            },
            tile_log2: info.tile_log2(),
        }
    }
}

/// Checks that texels, or layers, are in a level, and are whole blocks.
fn inside(
    (what, level): (&'static str, u32),
    (first, count): (u32, u32),
    size: u32,
    block: u32,
) -> Result<(), ImageError> {
    let end = first.checked_add(count).filter(|end| *end <= size);
    let whole = |end: u32| end == size || end.is_multiple_of(block);
    if count > 0 && first.is_multiple_of(block) && end.is_some_and(whole) {
        return Ok(());
    }
    Err(ImageError::Region {
        what,
        first,
        count,
        size,
        level,
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use eitri_descriptors::Arch;
    use eitri_descriptors::formats::VkFormat;

    fn info(name: &str) -> ImageInfo {
        let format = VkFormat::of_name(Arch::V10, name).expect("a format");
        ImageInfo {
            levels: 3,
            layers: 2,
            ..ImageInfo::two_d(format, 13, 11)
        }
    }

    #[test]
    fn regions_of_compressed_images_are_whole_blocks_or_reach_the_edge() {
        let info = info("BC3_UNORM_BLOCK");
        let all = ImageSubresource::default();
        let region = Region::of(&info, all, [4, 8, 0], [9, 3, 1]).expect("to the edges");
        assert_eq!((region.first, region.count), ([1, 2, 0], [3, 1, 1]));
        for (offset, extent, what) in [
            ([2, 0, 0], [4, 4, 1], "x"),
            ([0, 0, 0], [4, 6, 1], "y"),
            ([0, 0, 1], [4, 4, 1], "z"),
        ] {
            let error = Region::of(&info, all, offset, extent).expect_err("refused");
            assert!(
                matches!(error, ImageError::Region { what: axis, .. } if axis == what),
                "{error}"
            );
        }
    }

    #[test]
    fn levels_and_layers_that_are_not_there_are_refused() {
        let info = info("R8G8_UNORM");
        let part = |level, layer, layers| ImageSubresource {
            level,
            layer,
            layers,
            ..ImageSubresource::default()
        };
        let one = [1, 1, 1];
        assert!(Region::of(&info, part(2, 0, 2), [0; 3], [3, 2, 1]).is_ok());
        for refused in [part(3, 0, 1), part(0, 1, 2), part(0, 2, 1), part(0, 0, 0)] {
            let found = Region::of(&info, refused, [0; 3], one);
            assert!(found.is_err(), "{refused:?}");
        }
        let stencil = ImageSubresource {
            aspect: Some(Aspect::Stencil),
            ..part(0, 0, 1)
        };
        let error = Region::of(&info, stencil, [0; 3], one).expect_err("refused");
        assert!(matches!(error, ImageError::NoAspect { .. }), "{error}");
    }

    #[test]
    fn layers_and_samples_are_apart() {
        let mut info = info("R8G8_UNORM");
        (info.levels, info.samples, info.tiling) = (1, 4, Tiling::UInterleaved);
        let part = ImageSubresource {
            layer: 1,
            ..ImageSubresource::default()
        };
        let region = Region::of(&info, part, [0; 3], [13, 11, 1]).expect("all of it");
        let [first, third] = [0, 2].map(|sample| region.side(0x1000, sample));
        // Two descriptors of planes, then a layer of four tiles.
        assert_eq!(first.base, 0x1000 + 64 + 4 * 512);
        assert_eq!(third.base, first.base + 2 * 512);
        assert_eq!((first.row, first.slice), (512, 4 * 512));
    }
}
