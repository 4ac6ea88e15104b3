//! Regions: parts of buffers and images that are copied.

use super::images::Aspect;
use super::one;
use serde::{Deserialize, Serialize};

/// Texels of a level in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferImageRegion {
    /// The first byte in the buffer.
    #[serde(default)]
    pub buffer_offset: u64,
    /// Texels of a row in the buffer; 0: the region's.
    #[serde(default)]
    pub row_length: u32,
    /// Rows of a slice in the buffer; 0: the region's.
    #[serde(default)]
    pub image_height: u32,
    /// The part of the texels.
    #[serde(default)]
    pub aspect: Aspect,
    /// The level.
    #[serde(default)]
    pub level: u32,
    /// The first layer.
    #[serde(default)]
    pub layer: u32,
    /// Layers.
    #[serde(default = "one")]
    pub layers: u32,
    /// The first texel.
    #[serde(default)]
    pub offset: [i32; 3],
    /// Texels; by default the level.
    pub extent: Option<[u32; 3]>,
}

/// Texels of one image that go to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageRegion {
    /// Where they come from.
    #[serde(default)]
    pub src: Subresource,
    /// Where they go.
    #[serde(default)]
    pub dst: Subresource,
    /// Texels.
    pub extent: [u32; 3],
}

/// A place in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Subresource {
    /// The part of the texels.
    pub aspect: Aspect,
    /// The level.
    pub level: u32,
    /// The first layer.
    pub layer: u32,
    /// Layers.
    pub layers: u32,
    /// The first texel.
    pub offset: [i32; 3],
}

impl Default for Subresource {
    fn default() -> Subresource {
        Subresource {
            aspect: Aspect::Color,
            level: 0,
            layer: 0,
            layers: 1,
            offset: [0; 3],
        }
    }
}

/// A box of one image that fills a box of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub struct BlitRegion {
    pub src: BlitBox,
    pub dst: BlitBox,
}

/// Two corners; the second may lie before the first, which mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlitBox {
    /// The part of the texels.
    #[serde(default)]
    pub aspect: Aspect,
    /// The level.
    #[serde(default)]
    pub level: u32,
    /// The first layer.
    #[serde(default)]
    pub layer: u32,
    /// Layers.
    #[serde(default = "one")]
    pub layers: u32,
    /// The first corner.
    pub from: [i32; 3],
    /// The corner opposite.
    pub to: [i32; 3],
}
