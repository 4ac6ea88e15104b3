//! Pipelines: shaders, and the state that draws with them have.
//!
//! Facts: shared/scenes/README.md ("Pipelines").

use super::resources::one;
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

/// When a vertex binding goes on to its next element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum VertexRate {
    #[default]
    Vertex,
    Instance,
}

/// A buffer of vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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

/// Which triangles are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum FrontFace {
    #[default]
    CounterClockwise,
    Clockwise,
}

/// What is drawn of a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum PolygonMode {
    #[default]
    Fill,
    Line,
    Point,
}

/// How lines become fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum ProvokingVertex {
    #[default]
    First,
    Last,
}

/// How primitives become fragments.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
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

/// A comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum CompareOp {
    Never,
    Less,
    Equal,
    LessOrEqual,
    Greater,
    NotEqual,
    GreaterOrEqual,
    #[default]
    Always,
}

/// The depth test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DepthTest {
    /// Whether there is a test.
    pub test: bool,
    /// Whether depth is written.
    pub write: bool,
    /// The comparison.
    #[serde(default)]
    pub compare: CompareOp,
}

/// What becomes of a stencil value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum StencilOp {
    #[default]
    Keep,
    Zero,
    Replace,
    IncrementAndClamp,
    DecrementAndClamp,
    Invert,
    IncrementAndWrap,
    DecrementAndWrap,
}

/// The stencil test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StencilTest {
    /// Of front faces, lines and points.
    pub front: StencilFace,
    /// Of back faces; by default the same.
    pub back: Option<StencilFace>,
}

/// The stencil test of one kind of faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StencilFace {
    /// Where the test fails.
    pub fail: StencilOp,
    /// Where the depth test fails.
    pub depth_fail: StencilOp,
    /// Where both pass.
    pub pass: StencilOp,
    /// The comparison of the reference with the value.
    pub compare: CompareOp,
    /// Bits that are compared.
    pub compare_mask: u32,
    /// Bits that are written.
    pub write_mask: u32,
    /// The reference.
    pub reference: u32,
}

impl Default for StencilFace {
    fn default() -> StencilFace {
        StencilFace {
            fail: StencilOp::Keep,
            depth_fail: StencilOp::Keep,
            pass: StencilOp::Keep,
            compare: CompareOp::Always,
            compare_mask: 255,
            write_mask: 255,
            reference: 0,
        }
    }
}

/// How colours are mixed with those that are there.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Blend {
    /// The constant colour of factors.
    pub constants: [f32; 4],
    /// The logic operation, in place of mixing.
    pub logic_op: Option<LogicOp>,
    /// By colour attachment. Those that are missing are written as they come.
    pub attachments: Vec<BlendAttachment>,
}

/// How one attachment's colours are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlendAttachment {
    /// Of red, green and blue; nothing is mixed without.
    pub color: Option<BlendEquation>,
    /// Of alpha; by default the same.
    pub alpha: Option<BlendEquation>,
    /// The components that are written.
    #[serde(default)]
    pub write: WriteMask,
}

/// Source factor, destination factor, operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct BlendEquation(pub BlendFactor, pub BlendFactor, pub BlendOp);

/// What a colour is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum BlendFactor {
    Zero,
    One,
    SrcColor,
    OneMinusSrcColor,
    DstColor,
    OneMinusDstColor,
    SrcAlpha,
    OneMinusSrcAlpha,
    DstAlpha,
    OneMinusDstAlpha,
    ConstantColor,
    OneMinusConstantColor,
    ConstantAlpha,
    OneMinusConstantAlpha,
    SrcAlphaSaturate,
    Src1Color,
    OneMinusSrc1Color,
    Src1Alpha,
    OneMinusSrc1Alpha,
}

/// How two products are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum BlendOp {
    Add,
    Subtract,
    ReverseSubtract,
    Min,
    Max,
}

/// An operation on bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum LogicOp {
    Clear,
    And,
    AndReverse,
    Copy,
    AndInverted,
    NoOp,
    Xor,
    Or,
    Nor,
    Equivalent,
    Invert,
    OrReverse,
    CopyInverted,
    OrInverted,
    Nand,
    Set,
}

/// The components that are written, red in bit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct WriteMask(pub u8);

impl Default for WriteMask {
    fn default() -> WriteMask {
        WriteMask(0xF)
    }
}

impl TryFrom<String> for WriteMask {
    type Error = String;

    fn try_from(text: String) -> Result<WriteMask, String> {
        let mut mask = 0;
        for letter in text.chars() {
            let bit = "rgba".find(letter);
            let bit = bit.ok_or_else(|| format!("`{text}` has other letters than `rgba`"))?;
            mask |= 1 << bit;
        }
        Ok(WriteMask(mask))
    }
}
