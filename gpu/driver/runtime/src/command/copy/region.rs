//! Regions of copies, as their caller says them. Names and meaning are Vulkan's.

use crate::resource::Aspect;

/// Layers of a level of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSubresource {
    /// The aspect; without one the image's first.
    pub aspect: Option<Aspect>,
    /// The level.
    pub level: u32,
    /// The first layer.
    pub layer: u32,
    /// Layers.
    pub layers: u32,
}

impl Default for ImageSubresource {
    /// The first layer of the first level.
    fn default() -> ImageSubresource {
        ImageSubresource {
            aspect: None,
            level: 0,
            layer: 0,
            layers: 1,
        }
    }
}

/// Texels that are copied between a buffer and an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferImageCopy {
    /// First byte in the buffer: a multiple of the bytes of a texel or block, except that three-byte texels lie anywhere.
    pub buffer_offset: u64,
    /// Texels from one row in the buffer to the next; 0: as many as are copied.
    pub row_length: u32,
    /// Rows of texels from one slice or layer in the buffer to the next; 0: as many as are copied.
    pub image_height: u32,
    /// What of the image is copied.
    pub subresource: ImageSubresource,
    /// First texel in the image.
    pub offset: [u32; 3],
    /// Texels along x, y and z.
    pub extent: [u32; 3],
}

/// Texels that are copied between images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageCopy {
    /// What of the source is copied.
    pub from: ImageSubresource,
    /// First texel in the source.
    pub from_offset: [u32; 3],
    /// What of the destination is written.
    pub to: ImageSubresource,
    /// First texel in the destination.
    pub to_offset: [u32; 3],
    /// Texels of the source along x, y and z.
    pub extent: [u32; 3],
}
