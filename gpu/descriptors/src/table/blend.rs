//! Blending: equations, shaders, conversions.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::InternalConversion;

#[rustfmt::skip]
enumeration! {
    /// `Blend Operand A`.
    BlendOperandA "Blend Operand A";
    Zero, "Zero",   1;
    Src,  "Src",    2;
    Dest, "Dest",   3;
}

#[rustfmt::skip]
enumeration! {
    /// `Blend Operand B`.
    BlendOperandB "Blend Operand B";
    SrcMinusDest, "Src Minus Dest",   0;
    SrcPlusDest,  "Src Plus Dest",    1;
    Src,          "Src",              2;
    Dest,         "Dest",             3;
}

#[rustfmt::skip]
enumeration! {
    /// `Blend Operand C`.
    BlendOperandC "Blend Operand C";
    Zero,      "Zero",         1;
    Src,       "Src",          2;
    Dest,      "Dest",         3;
    SrcX2,     "Src x 2",      4;
    SrcAlpha,  "Src Alpha",    5;
    DestAlpha, "Dest Alpha",   6;
    Constant,  "Constant",     7;
}

#[rustfmt::skip]
enumeration! {
    /// `Blend Mode`.
    BlendMode "Blend Mode";
    Shader,        "Shader",           0;
    Opaque,        "Opaque",           1;
    FixedFunction, "Fixed-Function",   2;
    Off,           "Off",              3;
}

#[rustfmt::skip]
descriptor! {
    /// `Blend Function`.
    BlendFunction "Blend Function", bytes [2], align None;
    a:        BlendOperandA, "A",           0,  2;
    negate_a: bool,          "Negate A",    3,  1;
    b:        BlendOperandB, "B",           4,  2;
    negate_b: bool,          "Negate B",    7,  1;
    c:        BlendOperandC, "C",           8,  3;
    invert_c: bool,          "Invert C",   11,  1;
}

#[rustfmt::skip]
descriptor! {
    /// `Blend Equation`.
    BlendEquation "Blend Equation", bytes [4], align None;
    rgb:        BlendFunction, "RGB",           0, 12;
    alpha:      BlendFunction, "Alpha",        12, 12;
    color_mask: u32,           "Color Mask",   28,  4;
}

#[rustfmt::skip]
descriptor! {
    /// `Blend Shader`.
    BlendShader "Blend Shader", bytes [8], align None;
    pc: u64, "PC",   36, 28, shr(4);
}

#[rustfmt::skip]
descriptor! {
    /// `Blend Fixed-Function`.
    BlendFixedFunction "Blend Fixed-Function", bytes [8], align None;
    num_comps:  u32,                "Num Comps",     3,  2, minus(1), default(1);
    rt:         u32,                "RT",           16,  4;
    conversion: InternalConversion, "Conversion",   32, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `Internal Blend`.
    InternalBlend "Internal Blend", bytes [8], align Some(8);
    shader:         BlendShader,        "Shader",            0, 64;
    fixed_function: BlendFixedFunction, "Fixed-Function",    0, 64;
    mode:           BlendMode,          "Mode",              0,  2;
}

#[rustfmt::skip]
descriptor! {
    /// `Blend`.
    Blend "Blend", bytes [16], align Some(64);
    load_destination:      bool,          "Load Destination",         0,  1;
    alpha_to_one:          bool,          "Alpha To One",             8,  1;
    enable:                bool,          "Enable",                   9,  1, default(1);
    srgb:                  bool,          "sRGB",                    10,  1;
    round_to_fb_precision: bool,          "Round to FB precision",   11,  1;
    blend_constant:        u32,           "Blend Constant",          16, 16;
    equation:              BlendEquation, "Equation",                32, 32;
    internal:              InternalBlend, "Internal",                64, 64;
}
