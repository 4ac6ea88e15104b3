//! Vertex input: buffers of vertices, attributes, and what vertices make.

use super::one;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// When a vertex binding goes on to its next element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum VertexRate {
    #[default]
    Vertex,
    Instance,
}

/// A buffer of vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VertexBinding {
    /// Its number.
    pub binding: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// When the next element is taken.
    #[serde(default)]
    pub rate: VertexRate,
    /// Instances for each element.
    #[serde(default = "one")]
    pub divisor: u32,
}

/// An input of the vertex shader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// Its location in the shader.
    pub location: u32,
    /// The number of its [`VertexBinding`].
    pub binding: u32,
    /// Vulkan's name of the format, as of images.
    pub format: String,
    /// Bytes into the element.
    pub offset: u32,
}

/// What vertices make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Topology {
    PointList,
    LineList,
    LineStrip,
    #[default]
    TriangleList,
    TriangleStrip,
    TriangleFan,
    LineListWithAdjacency,
    LineStripWithAdjacency,
    TriangleListWithAdjacency,
    TriangleStripWithAdjacency,
}
