//! Rasterisation: how primitives become fragments, and samples.

use serde::{Deserialize, Serialize};

/// Which triangles are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum CullMode {
    #[default]
    None,
    Front,
    Back,
    FrontAndBack,
}

/// Which triangles are front faces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum FrontFace {
    #[default]
    CounterClockwise,
    Clockwise,
}

/// What is drawn of a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum PolygonMode {
    #[default]
    Fill,
    Line,
    Point,
}

/// How lines become fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum LineMode {
    #[default]
    Default,
    Rectangular,
    Bresenham,
    RectangularSmooth,
}

/// The vertex of a primitive that flat inputs come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum ProvokingVertex {
    #[default]
    First,
    Last,
}

/// How primitives become fragments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Raster {
    /// Triangles that are dropped.
    pub cull: CullMode,
    /// Triangles that are front faces.
    pub front: FrontFace,
    /// What is drawn of a triangle.
    pub polygon: PolygonMode,
    /// Pixels.
    pub line_width: f32,
    /// How lines become fragments.
    pub line_mode: LineMode,
    /// The vertex that flat inputs come from.
    pub provoking: ProvokingVertex,
    /// Whether nothing is drawn at all.
    pub discard: bool,
    /// Whether depth is clamped to the viewport's range.
    pub depth_clamp: bool,
    /// Whether primitives are cut at the near and the far plane; by default where depth is not clamped.
    pub depth_clip: Option<bool>,
    /// What is added to depth.
    pub depth_bias: Option<DepthBias>,
}

impl Default for Raster {
    fn default() -> Raster {
        Raster {
            cull: CullMode::default(),
            front: FrontFace::default(),
            polygon: PolygonMode::default(),
            line_width: 1.0,
            line_mode: LineMode::default(),
            provoking: ProvokingVertex::default(),
            discard: false,
            depth_clamp: false,
            depth_clip: None,
            depth_bias: None,
        }
    }
}

impl Raster {
    /// Whether primitives are cut at the near and the far plane.
    pub fn clips_depth(&self) -> bool {
        self.depth_clip.unwrap_or(!self.depth_clamp)
    }
}

/// What is added to depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DepthBias {
    /// In units of the depth format.
    pub constant: f32,
    /// The most that is added, if it is not 0.
    pub clamp: f32,
    /// For each unit of slope.
    pub slope: f32,
}

/// Samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Multisample {
    /// Samples of a pixel.
    pub samples: u32,
    /// Samples that are written.
    pub mask: u32,
    /// Whether alpha says which samples are covered.
    pub alpha_to_coverage: bool,
    /// Whether alpha becomes 1.
    pub alpha_to_one: bool,
    /// The least share of samples for which the fragment shader runs by itself.
    pub min_sample_shading: Option<f32>,
}

impl Default for Multisample {
    fn default() -> Multisample {
        Multisample {
            samples: 1,
            mask: u32::MAX,
            alpha_to_coverage: false,
            alpha_to_one: false,
            min_sample_shading: None,
        }
    }
}
