//! Pipelines: shaders, and the state that draws with them have.
//!
//! Facts: shared/scenes/README.md ("Pipelines").

use eitri_drawing::state::{
    Attribute, Blend, DepthTest, Multisample, Raster, StencilTest, Topology, VertexBinding, one,
};
use serde::Deserialize;

/// A pipeline: for draws, or with one compute stage for dispatches.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Its name in the scene.
    pub name: String,
    /// Its shaders.
    pub stages: Vec<PipelineStage>,
    /// Names of the sets whose layouts it takes, and which a draw without sets of its own uses.
    #[serde(default)]
    pub sets: Vec<String>,
    /// Bytes of push constants, which all stages see.
    #[serde(default)]
    pub push_bytes: u32,
    /// Where vertices come from.
    #[serde(default)]
    pub vertex_bindings: Vec<VertexBinding>,
    /// The inputs of the vertex shader.
    #[serde(default)]
    pub attributes: Vec<Attribute>,
    /// What vertices make.
    #[serde(default)]
    pub topology: Topology,
    /// Whether an index of all ones begins anew.
    #[serde(default)]
    pub restart: bool,
    /// Viewports, and scissors.
    #[serde(default = "one")]
    pub viewports: u32,
    /// How primitives become fragments.
    #[serde(default)]
    pub raster: Raster,
    /// Samples.
    #[serde(default)]
    pub multisample: Multisample,
    /// The depth test; absent, there is none, and nothing is written.
    pub depth: Option<DepthTest>,
    /// The stencil test; absent, there is none.
    pub stencil: Option<StencilTest>,
    /// How colours are mixed with those that are there.
    #[serde(default)]
    pub blend: Blend,
}

/// A shader of a pipeline.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineStage {
    /// Name of the shader.
    pub shader: String,
    /// Specialisation constants.
    #[serde(default)]
    pub spec: Vec<SpecConstant>,
}

/// A specialisation constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecConstant {
    /// The SpecId.
    pub id: u32,
    /// Its 32 bits.
    pub value: u32,
}
