//! Shaders of a script.

use crate::words::words;
use alloc::string::String;

words! {
    /// A stage of a pipeline.
    Stage, "a shader stage":
    Vertex                 = "vertex",
    Fragment               = "fragment",
    Geometry               = "geometry",
    TessellationControl    = "tessellation_control",
    TessellationEvaluation = "tessellation_evaluation",
    Compute                = "compute",
    Multi                  = "multi",
    RayGeneration          = "ray_generation",
    AnyHit                 = "any_hit",
    ClosestHit             = "closest_hit",
    Miss                   = "miss",
    Intersection           = "intersection",
    Callable               = "callable",
}

impl Stage {
    /// Whether only ray tracing pipelines have it.
    pub fn is_ray_tracing(self) -> bool {
        use Stage::{AnyHit, Callable, ClosestHit, Intersection, Miss, RayGeneration};
        matches!(
            self,
            RayGeneration | AnyHit | ClosestHit | Miss | Intersection | Callable
        )
    }
}

words! {
    /// What a shader is written in.
    Language, "a shader format":
    Glsl          = "GLSL",
    Hlsl          = "HLSL",
    SpirvAssembly = "SPIRV-ASM",
    SpirvHex      = "SPIRV-HEX",
    SpirvBinary   = "SPIRV-BIN",
    OpenClC       = "OPENCL-C",
}

words! {
    /// The environment that a shader is compiled and validated for.
    TargetEnvironment, "a target environment":
    Spirv10          = "spv1.0",
    Spirv11          = "spv1.1",
    Spirv12          = "spv1.2",
    Spirv13          = "spv1.3",
    Spirv14          = "spv1.4",
    Spirv15          = "spv1.5",
    Spirv16          = "spv1.6",
    Vulkan10         = "vulkan1.0",
    Vulkan11         = "vulkan1.1",
    Vulkan11Spirv14  = "vulkan1.1spv1.4",
    Vulkan12         = "vulkan1.2",
}

/// Where a shader's text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShaderSource {
    /// The vertex shader that copies its input to the position.
    Passthrough,
    /// In the script.
    Text(String),
    /// In a file beside the script.
    File(String),
}

/// A shader of the script.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// What it is written in; of no meaning for a passthrough.
    pub language: Language,
    /// Its text.
    pub source: ShaderSource,
    /// Where the script names an environment.
    pub target: Option<TargetEnvironment>,
    /// Line of the script on which its text starts, from 1.
    pub first_line: usize,
}
