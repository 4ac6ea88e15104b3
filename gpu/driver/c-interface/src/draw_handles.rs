//! Handles of what draws: images, graphics pipelines, and what belongs to them.

use crate::handles::{Handle, handle};
use crate::status::Refusal;
use eitri_runtime::{DescriptorSet, GraphicsPipeline, GraphicsSet, Image, TilerHeap};

/// Texels that shaders sample and passes render to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriImage {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriImage, Image);

/// Shaders of vertices and fragments, with the state of their draws.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriGraphicsPipeline {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriGraphicsPipeline, GraphicsPipeline);

/// Memory that the tiler of a queue works with.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriTilerHeap {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriTilerHeap, TilerHeap);

/// The resources that are bound to one set of a graphics pipeline, for each stage that has bindings in it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriGraphicsSet {
    /// The set of the vertex stage; 0 if it has none.
    pub vertex: u64,
    /// The set of the fragment stage; 0 if it has none.
    pub fragment: u64,
}

impl Handle for EitriGraphicsSet {
    type Own = GraphicsSet;

    fn own(self) -> Result<GraphicsSet, Refusal> {
        Ok(GraphicsSet {
            vertex: DescriptorSet::from_bits(self.vertex),
            fragment: DescriptorSet::from_bits(self.fragment),
        })
    }

    fn of(own: GraphicsSet) -> EitriGraphicsSet {
        EitriGraphicsSet {
            vertex: own.vertex.map_or(0, DescriptorSet::to_bits),
            fragment: own.fragment.map_or(0, DescriptorSet::to_bits),
        }
    }
}
