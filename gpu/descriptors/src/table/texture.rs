//! Textures and samplers.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::DescriptorType;
use crate::member::{Address, PixelFormat, RawOrFloat, Slod, Swizzle, Ulod};

#[rustfmt::skip]
enumeration! {
    /// `Reduction Mode`.
    ReductionMode "Reduction Mode";
    Average, "Average",   0;
    Minimum, "Minimum",   2;
    Maximum, "Maximum",   3;
}

#[rustfmt::skip]
enumeration! {
    /// `Wrap Mode`.
    WrapMode "Wrap Mode";
    Repeat,                "Repeat",                     8;
    ClampToEdge,           "Clamp to Edge",              9;
    ClampToBorder,         "Clamp to Border",           11;
    MirroredRepeat,        "Mirrored Repeat",           12;
    MirroredClampToEdge,   "Mirrored Clamp to Edge",    13;
    MirroredClampToBorder, "Mirrored Clamp to Border",  15;
}

#[rustfmt::skip]
enumeration! {
    /// `Mipmap Mode`.
    MipmapMode "Mipmap Mode";
    Nearest,              "Nearest",                 0;
    None,                 "None",                    1;
    PerformanceTrilinear, "Performance Trilinear",   2;
    Trilinear,            "Trilinear",               3;
}

#[rustfmt::skip]
enumeration! {
    /// `Func`.
    Func "Func";
    Never,    "Never",       0;
    Less,     "Less",        1;
    Equal,    "Equal",       2;
    Lequal,   "Lequal",      3;
    Greater,  "Greater",     4;
    NotEqual, "Not Equal",   5;
    Gequal,   "Gequal",      6;
    Always,   "Always",      7;
}

#[rustfmt::skip]
enumeration! {
    /// `LOD Algorithm`.
    LodAlgorithm "LOD Algorithm";
    Isotropic,   "Isotropic",     0;
    Anisotropic, "Anisotropic",   3;
}

#[rustfmt::skip]
enumeration! {
    /// `Texture Dimension`.
    TextureDimension "Texture Dimension";
    Cube,          "Cube",            0;
    OneD,          "1D",              1;
    TwoD,          "2D",              2;
    ThreeD,        "3D",              3;
    TwoDImageCrop, "2D Image Crop",   4;
}

#[rustfmt::skip]
descriptor! {
    /// `Sampler`.
    Sampler "Sampler", bytes [32], align Some(32);
    kind:                        DescriptorType, "Type",                           0,  4, fixed(1);
    reduction_mode:              ReductionMode,  "Reduction mode",                 4,  2;
    wrap_mode_r:                 WrapMode,       "Wrap Mode R",                    8,  4, default(9);
    wrap_mode_t:                 WrapMode,       "Wrap Mode T",                   12,  4, default(9);
    wrap_mode_s:                 WrapMode,       "Wrap Mode S",                   16,  4, default(9);
    round_to_nearest_even:       bool,           "Round to nearest even",         21,  1, default(1);
    srgb_override:               bool,           "sRGB override",                 22,  1;
    seamless_cube_map:           bool,           "Seamless Cube Map",             23,  1, default(1);
    clamp_integer_coordinates:   bool,           "Clamp integer coordinates",     24,  1;
    normalized_coordinates:      bool,           "Normalized Coordinates",        25,  1, default(1);
    clamp_integer_array_indices: bool,           "Clamp integer array indices",   26,  1, default(1);
    minify_nearest:              bool,           "Minify nearest",                27,  1;
    magnify_nearest:             bool,           "Magnify nearest",               28,  1;
    magnify_cutoff:              bool,           "Magnify cutoff",                29,  1;
    mipmap_mode:                 MipmapMode,     "Mipmap Mode",                   30,  2;
    minimum_lod:                 Ulod,           "Minimum LOD",                   32, 13;
    compare_function:            Func,           "Compare Function",              45,  3;
    maximum_lod:                 Ulod,           "Maximum LOD",                   48, 13;
    lod_bias:                    Slod,           "LOD bias",                      64, 16;
    maximum_anisotropy:          u32,            "Maximum anisotropy",            80,  5, minus(1), default(1);
    lod_algorithm:               LodAlgorithm,   "LOD algorithm",                 88,  2;
    border_color_r:              RawOrFloat,     "Border Color R",               128, 32;
    border_color_g:              RawOrFloat,     "Border Color G",               160, 32;
    border_color_b:              RawOrFloat,     "Border Color B",               192, 32;
    border_color_a:              RawOrFloat,     "Border Color A",               224, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `Texture`.
    Texture "Texture", bytes [32], align Some(32);
    kind:                   DescriptorType,   "Type",                      0,  4, fixed(2);
    dimension:              TextureDimension, "Dimension",                 4,  3;
    sample_corner_position: bool,             "Sample corner position",    8,  1;
    normalize_coordinates:  bool,             "Normalize coordinates",     9,  1;
    format:                 PixelFormat,      "Format",                   10, 22;
    width:                  u32,              "Width",                    32, 16, minus(1);
    height:                 u32,              "Height",                   48, 16, minus(1);
    swizzle:                Swizzle,          "Swizzle",                  64, 12;
    texel_interleave:       bool,             "Texel interleave",         76,  1;
    levels:                 u32,              "Levels",                   80,  5, minus(1), default(1);
    minimum_level:          u32,              "Minimum level",            88,  5;
    minimum_lod:            Ulod,             "Minimum LOD",              96, 13;
    sample_count:           u32,              "Sample count",            109,  3, log2(), default(1);
    maximum_lod:            Ulod,             "Maximum LOD",             112, 13;
    surfaces:               Address,          "Surfaces",                128, 64;
    array_size:             u32,              "Array size",              192, 16, minus(1), default(1);
    depth:                  u32,              "Depth",                   224, 16, minus(1), default(1);
}
