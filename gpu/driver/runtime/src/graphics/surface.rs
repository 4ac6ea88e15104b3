//! Surfaces: images that a pass renders to, by a view of them.
//!
//! Facts: hardware/graphics-framebuffer.md 5.4 to 5.6, descriptors.md 8 and 9.

use super::error::{Attachment, GraphicsError};
use super::rendering::ImageView;
use crate::device::Device;
use crate::error::Error;
use crate::platform::Platform;
use crate::resource::{Aspect, ImageInfo, ImagePlane, Level, OTHER_CHANNELS, Tiling};
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_descriptors::framebuffer::{BlockFormat, Msaa};
use eitri_program::ImageDimension;

/// The first bit of the mode in the third word of a compressed colour target.
const COMPRESSION_MODE: u32 = 10;

/// An image that is rendered to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    image: Key,
    /// The plane that is rendered to, as an image of its own, in the view's format.
    pub(super) info: ImageInfo,
    plane: ImagePlane,
    address: GpuAddress,
    pub(super) level: u32,
    /// First layer, or first slice of an image of three dimensions.
    pub(super) layer: u32,
}

/// A surface as a framebuffer has it: where its layers lie, and in which order their texels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) image: Key,
    first: Place,
    /// Bytes from a layer to the next.
    layer: u64,
    pub(super) block_format: BlockFormat,
    /// How samples of a pass are written to it: each to its own place, unless there is but one.
    pub(super) msaa: Msaa,
    /// The bits of a colour target's third word, if it is compressed without loss.
    pub(super) compression: Option<u32>,
}

impl Target {
    /// Where a layer lies.
    pub(super) const fn place(&self, layer: u32) -> Place {
        let skipped = self.layer.saturating_mul(layer as u64);
        Place {
            address: self.first.address.saturating_add(skipped),
            ..self.first
        }
    }
}

/// Where a layer of a surface lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) address: u64,
    pub(super) row: u32,
    /// Bytes from a sample to the next, in two words; of a compressed surface those before its body. And bytes of all.
    pub(super) slice: u32,
    pub(super) slice_high: u32,
    pub(super) bytes: u64,
}

impl Surface {
    pub(super) const fn image(&self) -> Key {
        self.image
    }

    pub(super) const fn level(&self) -> u32 {
        self.level
    }

    /// How all slices of the first layer lie, and where.
    pub(super) fn all_slices(&self) -> (Level, u64) {
        let lies = self.plane.level(self.level, 0);
        (lies, self.address.offset(lies.offset).0)
    }

    pub(super) fn place(&self, layer: u32) -> Place {
        let layer = self.layer.saturating_add(layer);
        let (lies, skipped, bytes) = if self.is_deep() {
            let lies = self.plane.level(self.level, 0);
            (lies, lies.slice.saturating_mul(layer.into()), lies.slice)
        } else {
            let lies = self.plane.level(self.level, layer);
            (lies, 0, lies.bytes())
        };
        // A compressed surface has its body there, where others have their samples.
        let second = if lies.body > 0 { lies.body } else { lies.slice };
        Place {
            address: self.address.offset(lies.offset.saturating_add(skipped)).0,
            row: u32::try_from(lies.row).unwrap_or(u32::MAX),
            slice: second as u32,
            slice_high: (second >> 32) as u32,
            bytes,
        }
    }

    /// The surface as a framebuffer has it.
    pub(super) fn target(&self) -> Target {
        let first = self.place(0);
        let second = if self.layers() > 1 {
            self.place(1)
        } else {
            first
        };
        Target {
            image: self.image,
            first,
            layer: second.address.saturating_sub(first.address),
            block_format: self.block_format(),
            msaa: self.msaa(),
            compression: self.compression(),
        }
    }

    /// Whether layers of the pass are slices of the image.
    fn is_deep(&self) -> bool {
        self.info.dimension == ImageDimension::ThreeD
    }

    /// Layers that the level has for passes.
    pub(super) fn layers(&self) -> u32 {
        if self.is_deep() {
            self.info.slices(self.level)
        } else {
            self.info.layers
        }
    }

    fn block_format(&self) -> BlockFormat {
        match self.info.tiling {
            Tiling::Linear => BlockFormat::Linear,
            Tiling::UInterleaved => BlockFormat::TiledUInterleaved,
            Tiling::Afbc if self.plane.info.groups_headers() => BlockFormat::AfbcTiled,
            Tiling::Afbc => BlockFormat::Afbc,
        }
    }

    /// What a colour target says of its compression (hardware/descriptors.md 15); `None` of an image that has none.
    fn compression(&self) -> Option<u32> {
        if !self.info.is_afbc() {
            return None;
        }
        // Attachments that are compressed have a compression: the image was checked.
        let compression = self.info.format.compression()?;
        let mode = compression.mode.number();
        Some(mode << COMPRESSION_MODE | u32::from(compression.transform))
    }

    const fn msaa(&self) -> Msaa {
        if self.info.samples > 1 {
            Msaa::Layered
        } else {
            Msaa::Single
        }
    }

    pub(super) fn size(&self) -> (u32, u32) {
        let [width, height, _] = self.info.level_size(self.level);
        (width, height)
    }
}

/// What a view renders to, of an aspect of its image.
pub(super) fn surface<P: Platform>(
    device: &Device<'_, '_, P>,
    view: ImageView,
    attachment: Attachment,
) -> Result<Surface, Error> {
    let info = device.image_info(view.image)?;
    let object = device.object(view.image.0, crate::error::Thing::Image)?;
    let aspect = match attachment {
        Attachment::Color(_) => Aspect::Color,
        Attachment::Depth => Aspect::Depth,
        Attachment::Stencil => Aspect::Stencil,
    };
    let refused = GraphicsError::Format {
        attachment,
        format: info.format.name,
    };
    let plane = info.plane(Some(aspect)).ok_or(refused)?;
    let format = match view.format {
        Some(format) if !plane.info.has_channels_of(format) => {
            return Err(info.refused(OTHER_CHANNELS).into());
        }
        Some(format) if format.block_bytes == plane.info.format.block_bytes => format,
        Some(_) => return Err(refused.into()),
        None => plane.info.format,
    };
    Ok(Surface {
        image: view.image.0,
        info: ImageInfo {
            format,
            ..plane.info
        },
        plane,
        address: object.mapping.address(),
        level: view.level,
        layer: view.layer,
    })
}
