//! Blending: equations, shaders, conversions.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::InternalConversion;

#[rustfmt::skip]
enumeration! {
    /// First operand of A + B * C; 0 is none.
    BlendOperandA "Blend Operand A";
    Zero, "Zero",   1;
    Src,  "Src",    2;
    Dest, "Dest",   3;
}

#[rustfmt::skip]
enumeration! {
    /// Second operand of A + B * C.
    BlendOperandB "Blend Operand B";
    SrcMinusDest, "Src Minus Dest",   0;
    SrcPlusDest,  "Src Plus Dest",    1;
    Src,          "Src",              2;
    Dest,         "Dest",             3;
}

#[rustfmt::skip]
enumeration! {
    /// Third operand of A + B * C; 0 is none.
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
    /// How a colour is blended.
    BlendMode "Blend Mode";
    Shader,        "Shader",           0;
    Opaque,        "Opaque",           1;
    FixedFunction, "Fixed-Function",   2;
    Off,           "Off",              3;
}

#[rustfmt::skip]
descriptor! {
    /// A + B * C for one of colour and alpha.
    BlendFunction "Blend Function", bytes [2], align None, section "21";
    a:        Option<BlendOperandA>, "A",         0, 2  => "first operand of A + B * C";
    negate_a: bool,                  "Negate A",  3, 1  => "-A";
    b:        BlendOperandB,         "B",         4, 2  => "second operand";
    negate_b: bool,                  "Negate B",  7, 1  => "-B";
    c:        Option<BlendOperandC>, "C",         8, 3  => "third operand";
    invert_c: bool,                  "Invert C", 11, 1  => "use 1 - C";
}

#[rustfmt::skip]
descriptor! {
    /// A + B * C for colour and alpha.
    BlendEquation "Blend Equation", bytes [4], align None, section "21";
    rgb:        BlendFunction, "RGB",           0, 12  => "Blend Function";
    alpha:      BlendFunction, "Alpha",        12, 12  => "Blend Function";
    color_mask: u32,           "Color Mask",   28,  4  => "bit 0 R, 1 G, 2 B, 3 A";
}

#[rustfmt::skip]
descriptor! {
    /// Program that blends.
    BlendShader "Blend Shader", bytes [8], align None, section "21";
    pc: u64, "PC",   36, 28, shr(4)  => "address bits 31:4; the upper half is that of the fragment program";
}

#[rustfmt::skip]
descriptor! {
    /// Blending in hardware: target and conversion.
    BlendFixedFunction "Blend Fixed-Function", bytes [8], align None, section "21";
    num_comps:  u32,                "Num Comps",     3,  2, minus(1), default(1)  => "1..4; drivers 4";
    rt:         u32,                "RT",           16,  4                        => "render target number";
    conversion: InternalConversion, "Conversion",   32, 32                        => "Internal Conversion";
}

#[rustfmt::skip]
descriptor! {
    /// How a colour is blended; also what the BLEND instruction reads.
    InternalBlend "Internal Blend", bytes [8], align Some(8), section "21";
    shader:         Option<BlendShader>,        "Shader",         0, 64, alternative()  => "mode Shader";
    fixed_function: Option<BlendFixedFunction>, "Fixed-Function", 0, 64, alternative()  => "the other modes";
    mode:           BlendMode,                  "Mode",           0,  2                 => "which of the others holds";
}

#[rustfmt::skip]
descriptor! {
    /// How one colour target is blended. The pointer to an array leaves 4 bits for its count, so 16-byte alignment is forced;
    /// drivers allocate 64.
    Blend "Blend", bytes [16], align Some(64), section "21";
    load_destination:      bool,          "Load Destination",         0,  1              => "the equation reads the destination (tile-buffer read needed)";
    alpha_to_one:          bool,          "Alpha To One",             8,  1              => "source alpha forced to 1";
    enable:                bool,          "Enable",                   9,  1, default(1)  => "0: target not written";
    srgb:                  bool,          "sRGB",                    10,  1              => "sRGB target (destination decode/encode in blending)";
    round_to_fb_precision: bool,          "Round to FB precision",   11,  1              => "round result to target precision; drivers: not dithered";
    blend_constant:        u32,           "Blend Constant",          16, 16              => "unorm left-justified to 16 bits: round(c x (2^k - 1)) << (16 - k), k = largest channel width of the target";
    equation:              BlendEquation, "Equation",                32, 32              => "below";
    internal:              InternalBlend, "Internal",                64, 64              => "below";
}
