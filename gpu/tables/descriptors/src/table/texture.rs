//! Textures and samplers.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::DescriptorType;
use crate::member::{Aligned, PixelFormat, RawOrFloat, Slod, Swizzle, Ulod};

#[rustfmt::skip]
enumeration! {
    /// How the texels of a footprint become one.
    ReductionMode "Reduction Mode";
    Average, "Average",   0;
    Minimum, "Minimum",   2;
    Maximum, "Maximum",   3;
}

#[rustfmt::skip]
enumeration! {
    /// What a coordinate outside the texture reads.
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
    /// How levels are chosen and mixed.
    MipmapMode "Mipmap Mode";
    Nearest,              "Nearest",                 0;
    None,                 "None",                    1;
    PerformanceTrilinear, "Performance Trilinear",   2;
    Trilinear,            "Trilinear",               3;
}

#[rustfmt::skip]
enumeration! {
    /// Comparison of depth, stencil or a shadow reference.
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
    /// How the level of detail is computed.
    LodAlgorithm "LOD Algorithm";
    Isotropic,   "Isotropic",     0;
    Anisotropic, "Anisotropic",   3;
}

#[rustfmt::skip]
enumeration! {
    /// Shape of a texture.
    TextureDimension "Texture Dimension";
    Cube,          "Cube",            0;
    OneD,          "1D",              1;
    TwoD,          "2D",              2;
    ThreeD,        "3D",              3;
    TwoDImageCrop, "2D Image Crop",   4;
}

#[rustfmt::skip]
descriptor! {
    /// How a texture is filtered.
    Sampler "Sampler", bytes [32], align Some(32), section "7";
    kind:                        DescriptorType, "Type",                           0,  4, fixed(1)              => "kind of descriptor";
    reduction_mode:              ReductionMode,  "Reduction mode",                 4,  2                        => "how the texels of a footprint become one";
    wrap_mode_r:                 WrapMode,       "Wrap Mode R",                    8,  4, default(9)            => "third coordinate (w). 8 Repeat, 9 Clamp to Edge, 11 Clamp to Border, 12 Mirrored Repeat, 13 Mirrored Clamp to Edge, 15 Mirrored Clamp to Border";
    wrap_mode_t:                 WrapMode,       "Wrap Mode T",                   12,  4, default(9)            => "second coordinate (v)";
    wrap_mode_s:                 WrapMode,       "Wrap Mode S",                   16,  4, default(9)            => "first coordinate (u)";
    round_to_nearest_even:       bool,           "Round to nearest even",         21,  1, default(1)            => "coordinate to texel rounding; 0 only when min and mag filters are both nearest";
    srgb_override:               bool,           "sRGB override",                 22,  1                        => "1 = skip sRGB decode; drivers 0";
    seamless_cube_map:           bool,           "Seamless Cube Map",             23,  1, default(1)            => "1 = filter across faces; drivers 1 (0 for the Vulkan non-seamless flag)";
    clamp_integer_coordinates:   bool,           "Clamp integer coordinates",     24,  1                        => "drivers 0";
    normalized_coordinates:      bool,           "Normalized Coordinates",        25,  1, default(1)            => "0 = texel coordinates (wrap must be a clamp, LOD 0)";
    clamp_integer_array_indices: bool,           "Clamp integer array indices",   26,  1, default(1)            => "0 from drivers: an integer layer outside the array is out of bounds. 1: clamp";
    minify_nearest:              bool,           "Minify nearest",                27,  1                        => "1 = nearest when minifying";
    magnify_nearest:             bool,           "Magnify nearest",               28,  1                        => "1 = nearest when magnifying";
    magnify_cutoff:              bool,           "Magnify cutoff",                29,  1                        => "LOD threshold between mag and min; drivers 0";
    mipmap_mode:                 MipmapMode,     "Mipmap Mode",                   30,  2                        => "None: level 0 (base) only. Performance Trilinear chosen with anisotropy";
    minimum_lod:                 Ulod,           "Minimum LOD",                   32, 13                        => "5.8 fixed";
    compare_function:            Func,           "Compare Function",              45,  3                        => "result = compare(texel, reference). Drivers store the flip of the API function (Less↔Greater, Lequal↔Gequal); Never when compare is off";
    maximum_lod:                 Ulod,           "Maximum LOD",                   48, 13                        => "5.8 fixed; equal to minimum for 'no mipmaps'";
    lod_bias:                    Slod,           "LOD bias",                      64, 16                        => "8.8 signed";
    maximum_anisotropy:          u32,            "Maximum anisotropy",            80,  5, minus(1), default(1)  => "1..16 (field 5 bits); 1 when off";
    lod_algorithm:               LodAlgorithm,   "LOD algorithm",                 88,  2                        => "Anisotropic iff max anisotropy > 1";
    border_color_r:              RawOrFloat,     "Border Color R",               128, 32                        => "raw bits as the shader should see them: f32 for float/normalized, int for integer formats";
    border_color_g:              RawOrFloat,     "Border Color G",               160, 32                        => "as red";
    border_color_b:              RawOrFloat,     "Border Color B",               192, 32                        => "as red";
    border_color_a:              RawOrFloat,     "Border Color A",               224, 32                        => "as red";
}

#[rustfmt::skip]
descriptor! {
    /// A texture view: dimensions, format, levels, and its planes.
    // FACT: hardware/descriptors.md 8 says that the array of planes is 64-byte aligned; an unmodified PanVK 26.2.6 puts arrays of one
    // plane at multiples of 32 (kernel gaussian_blur, a linear storage image). 32 is what is asked for. Settled by an image on a
    // board whose planes begin at an odd multiple of 32.
    Texture "Texture", bytes [32], align Some(32), section "8";
    kind:                   DescriptorType,   "Type",                     0,  4, fixed(2)              => "kind of descriptor";
    dimension:              TextureDimension, "Dimension",                4,  3                        => "shape";
    sample_corner_position: bool,             "Sample corner position",   8,  1                        => "drivers 0";
    normalize_coordinates:  bool,             "Normalize coordinates",    9,  1                        => "drivers 0";
    format:                 PixelFormat,      "Format",                  10, 22                        => "section 10; for YCbCr section 10.3";
    width:                  u32,              "Width",                   32, 16, minus(1)              => "of the view's first level, 1..65536; texel buffer: element count";
    height:                 u32,              "Height",                  48, 16, minus(1)              => "of the view's first level; 1 for 1D";
    swizzle:                Swizzle,          "Swizzle",                 64, 12                        => "view swizzle composed with the format; depth/stencil: replicate R then view swizzle";
    texel_interleave:       bool,             "Texel interleave",        76,  1                        => "1 when any non-linear layout or a compressed format";
    levels:                 u32,              "Levels",                  80,  5, minus(1), default(1)  => "number of levels in the plane array";
    minimum_level:          u32,              "Minimum level",           88,  5                        => "drivers 0 (planes start at the base level)";
    minimum_lod:            Ulod,             "Minimum LOD",             96, 13                        => "drivers 0 (or image-view min LOD)";
    sample_count:           u32,              "Sample count",           109,  3, log2(), default(1)    => "1, 2 [v12+], 4, 8, 16";
    maximum_lod:            Ulod,             "Maximum LOD",            112, 13                        => "levels - 1";
    surfaces:               Aligned<32>,      "Surfaces",               128, 64                        => "address of the plane array, 32-byte descriptors, 32-byte aligned";
    array_size:             u32,              "Array size",             192, 16, minus(1), default(1)  => "layers; cubes: layers / 6; multi-plane YCbCr: x 2";
    depth:                  u32,              "Depth",                  224, 16, minus(1), default(1)  => "3D only, else 1";
}
