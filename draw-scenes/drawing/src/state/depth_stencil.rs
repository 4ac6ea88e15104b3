//! The depth test and the stencil test.

use serde::{Deserialize, Serialize};

/// A comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StencilTest {
    /// Of front faces, lines and points.
    pub front: StencilFace,
    /// Of back faces; by default the same.
    pub back: Option<StencilFace>,
}

/// The stencil test of one kind of faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
