//! Steps on images outside of passes: copies, clears, blits, resolves.

use crate::state::{BlitRegion, BufferImageRegion, Color, Filter, ImageRegion};
use crate::{BufferId, ImageId};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A step on images. Names and meaning are Vulkan's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ImageStep {
    /// Texels from a buffer into an image.
    CopyBufferToImage {
        /// The buffer.
        from: BufferId,
        /// The image.
        to: ImageId,
        /// What is copied.
        regions: Vec<BufferImageRegion>,
    },
    /// Texels from an image into a buffer.
    CopyImageToBuffer {
        /// The image.
        from: ImageId,
        /// The buffer.
        to: BufferId,
        /// What is copied.
        regions: Vec<BufferImageRegion>,
    },
    /// Texels from one image into another.
    CopyImage {
        /// The source.
        from: ImageId,
        /// The destination.
        to: ImageId,
        /// What is copied.
        regions: Vec<ImageRegion>,
    },
    /// Samples of one image into texels of another.
    Resolve {
        /// The source.
        from: ImageId,
        /// The destination.
        to: ImageId,
        /// What is resolved.
        regions: Vec<ImageRegion>,
    },
    /// Texels from one image into another, scaled and converted.
    Blit {
        /// The source.
        from: ImageId,
        /// The destination.
        to: ImageId,
        /// How texels are chosen.
        filter: Filter,
        /// What is copied.
        regions: Vec<BlitRegion>,
    },
    /// A colour in all texels of levels and layers.
    ClearColor {
        /// The image.
        image: ImageId,
        /// The colour.
        color: Color,
        /// What is cleared.
        range: LevelRange,
    },
    /// Depth and stencil in all texels of levels and layers.
    ClearDepthStencil {
        /// The image.
        image: ImageId,
        /// The depth, if it is cleared.
        depth: Option<f32>,
        /// The stencil value, if it is cleared.
        stencil: Option<u32>,
        /// What is cleared.
        range: LevelRange,
    },
}

impl ImageStep {
    /// Whether a render pass does it.
    pub const fn is_pass(&self) -> bool {
        match self {
            ImageStep::CopyBufferToImage { .. }
            | ImageStep::CopyImageToBuffer { .. }
            | ImageStep::CopyImage { .. } => false,
            ImageStep::Resolve { .. }
            | ImageStep::Blit { .. }
            | ImageStep::ClearColor { .. }
            | ImageStep::ClearDepthStencil { .. } => true,
        }
    }
}

/// Levels and layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelRange {
    /// The first level.
    pub level: u32,
    /// Levels.
    pub levels: u32,
    /// The first layer.
    pub layer: u32,
    /// Layers.
    pub layers: u32,
}
