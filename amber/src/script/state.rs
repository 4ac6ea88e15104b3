//! Fixed state of a graphics pipeline: language reference, section 9.2.

use crate::words::words;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

words! {
    /// A switch.
    Switch, "a switch":
    On  = "on",
    Off = "off",
}

words! {
    /// A comparison of depths, stencils or texels.
    CompareOperation, "a compare operation":
    Never          = "never",
    Less           = "less",
    Equal          = "equal",
    LessOrEqual    = "less_or_equal",
    Greater        = "greater",
    NotEqual       = "not_equal",
    GreaterOrEqual = "greater_or_equal",
    Always         = "always",
}

words! {
    /// How polygons are drawn.
    PolygonMode, "a polygon mode":
    Fill  = "fill",
    Line  = "line",
    Point = "point",
}

words! {
    /// What happens to a stencil value.
    StencilOperation, "a stencil operation":
    Keep              = "keep",
    Zero              = "zero",
    Replace           = "replace",
    IncrementAndClamp = "increment_and_clamp",
    DecrementAndClamp = "decrement_and_clamp",
    Invert            = "invert",
    IncrementAndWrap  = "increment_and_wrap",
    DecrementAndWrap  = "decrement_and_wrap",
}

words! {
    /// A factor of blending.
    BlendFactor, "a blend factor":
    Zero                  = "zero",
    One                   = "one",
    SrcColor              = "src_color",
    OneMinusSrcColor      = "one_minus_src_color",
    DstColor              = "dst_color",
    OneMinusDstColor      = "one_minus_dst_color",
    SrcAlpha              = "src_alpha",
    OneMinusSrcAlpha      = "one_minus_src_alpha",
    DstAlpha              = "dst_alpha",
    OneMinusDstAlpha      = "one_minus_dst_alpha",
    ConstantColor         = "constant_color",
    OneMinusConstantColor = "one_minus_constant_color",
    ConstantAlpha         = "constant_alpha" | "costant_alpha",
    OneMinusConstantAlpha = "one_minus_constant_alpha",
    SrcAlphaSaturate      = "src_alpha_saturate",
    Src1Color             = "src1_color",
    OneMinusSrc1Color     = "one_minus_src1_color",
    Src1Alpha             = "src1_alpha",
    OneMinusSrc1Alpha     = "one_minus_src1_alpha",
}

words! {
    /// An operation of blending; those after `max` are of VK_EXT_blend_operation_advanced.
    BlendOperation, "a blend operation":
    Add              = "add",
    Subtract         = "substract",
    ReverseSubtract  = "reverse_substract",
    Min              = "min",
    Max              = "max",
    Zero             = "zero",
    Src              = "src",
    Dst              = "dst",
    SrcOver          = "src_over",
    DstOver          = "dst_over",
    SrcIn            = "src_in",
    DstIn            = "dst_in",
    SrcOut           = "src_out",
    DstOut           = "dst_out",
    SrcAtop          = "src_atop",
    DstAtop          = "dst_atop",
    Xor              = "xor",
    Multiply         = "multiply",
    Screen           = "screen",
    Overlay          = "overlay",
    Darken           = "darken",
    Lighten          = "lighten",
    ColorDodge       = "color_dodge",
    ColorBurn        = "color_burn",
    HardLight        = "hard_light",
    SoftLight        = "soft_light",
    Difference       = "difference",
    Exclusion        = "exclusion",
    Invert           = "invert",
    InvertRgb        = "invert_rgb",
    LinearDodge      = "linear_dodge",
    LinearBurn       = "linear_burn",
    VividLight       = "vivid_light",
    LinearLight      = "linear_light",
    PinLight         = "pin_light",
    HardMix          = "hard_mix",
    HslHue           = "hsl_hue",
    HslSaturation    = "hsl_saturation",
    HslColor         = "hsl_color",
    HslLuminosity    = "hsl_luminosity",
    Plus             = "plus",
    PlusClamped      = "plus_clamped",
    PlusClampedAlpha = "plus_clamped_alpha",
    PlusDarker       = "plus_darker",
    Minus            = "minus",
    MinusClamped     = "minus_clamped",
    Contrast         = "contrast",
    InvertOvg        = "invert_ovg" | "invert_org",
    Red              = "red",
    Green            = "green",
    Blue             = "blue",
}

/// A viewport, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Viewport {
    /// Left edge and top edge.
    pub origin: [f64; 2],
    /// Width and height.
    pub size: [f64; 2],
    /// Depths of the near and the far plane.
    pub depth: [f64; 2],
}

/// What is added to a fragment's depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DepthBias {
    /// Added always.
    pub constant: f64,
    /// The most that is added.
    pub clamp: f64,
    /// Times the slope.
    pub slope: f64,
}

/// Stencil state of one face.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StencilFace {
    /// When the stencil test fails.
    pub fail: StencilOperation,
    /// When both tests pass.
    pub pass: StencilOperation,
    /// When the depth test fails.
    pub depth_fail: StencilOperation,
    /// The test.
    pub compare: CompareOperation,
    /// Bits that are compared.
    pub compare_mask: u32,
    /// Bits that are written.
    pub write_mask: u32,
    /// What is compared with.
    pub reference: u32,
}

/// Blending of all color attachments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blend {
    /// Of the new color and of the old.
    pub color_factors: [BlendFactor; 2],
    /// How they go together.
    pub color: BlendOperation,
    /// Of the new alpha and of the old.
    pub alpha_factors: [BlendFactor; 2],
    /// How they go together.
    pub alpha: BlendOperation,
}

/// Everything fixed about drawing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixedState {
    /// In place of the whole framebuffer.
    pub viewport: Option<Viewport>,
    /// How polygons are drawn.
    pub polygon_mode: PolygonMode,
    /// Vertices of a patch.
    pub patch_control_points: u32,
    /// The depth test.
    pub depth_test: bool,
    /// Depths are written.
    pub depth_write: bool,
    /// How depths are compared.
    pub depth_compare: CompareOperation,
    /// Depths are clamped, not clipped.
    pub depth_clamp: bool,
    /// Least and greatest depth, which are kept but never tested.
    pub depth_bounds: Option<[f64; 2]>,
    /// What is added to a depth.
    pub depth_bias: Option<DepthBias>,
    /// The stencil test, of both faces.
    pub stencil_test: bool,
    /// Front face and back face.
    pub stencil: [StencilFace; 2],
    /// Blending, where it is on.
    pub blend: Option<Blend>,
    /// State that only VkScript sets, in order: name and value.
    pub named: Vec<(String, String)>,
}

impl Default for StencilFace {
    fn default() -> StencilFace {
        StencilFace {
            fail: StencilOperation::Keep,
            pass: StencilOperation::Keep,
            depth_fail: StencilOperation::Keep,
            compare: CompareOperation::Always,
            compare_mask: u32::MAX,
            write_mask: u32::MAX,
            reference: 0,
        }
    }
}

impl Default for FixedState {
    fn default() -> FixedState {
        FixedState {
            viewport: None,
            polygon_mode: PolygonMode::Fill,
            patch_control_points: 3,
            depth_test: false,
            depth_write: false,
            depth_compare: CompareOperation::Always,
            depth_clamp: false,
            depth_bounds: None,
            depth_bias: None,
            stencil_test: false,
            stencil: [StencilFace::default(); 2],
            blend: None,
            named: Vec::new(),
        }
    }
}
