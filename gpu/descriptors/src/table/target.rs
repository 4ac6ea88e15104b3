//! Render targets: colour, plain and compressed.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::framebuffer::{BlockFormat, Msaa};
use super::macros::{descriptor, enumeration};
use super::plane::{AfbcCompressionMode, AfrcBlockSize, AfrcFormat};
use crate::arch::Arch::{V11, V12, V13};
use crate::member::{Address, Swizzle};

#[rustfmt::skip]
enumeration! {
    /// `Writeback Mode`.
    WritebackMode "Writeback Mode";
    Compat,  "Compat",     0;
    AfrcRgb, "AFRC RGB",   6;
    AfrcYuv, "AFRC YUV",   7;
}

#[rustfmt::skip]
enumeration! {
    /// `Color Buffer Internal Format`.
    ColorBufferInternalFormat "Color Buffer Internal Format";
    RawValue,    "Raw Value",     0;
    R8G8B8A8,    "R8G8B8A8",      1;
    R10G10B10A2, "R10G10B10A2",   2;
    R8G8B8A2,    "R8G8B8A2",      3;
    R4G4B4A4,    "R4G4B4A4",      4;
    R5G6B5A0,    "R5G6B5A0",      5;
    R5G5B5A1,    "R5G5B5A1",      6;
    R16F,        "R16F",         16;
    RG16F,       "RG16F",        17;
    RGBA16F,     "RGBA16F",      18;
    RG11FB10F,   "RG11F_B10F",   20;
    RAW8,        "RAW8",         32;
    RAW16,       "RAW16",        33;
    RAW32,       "RAW32",        34;
    RAW64,       "RAW64",        35;
    RAW128,      "RAW128",       36;
}

#[rustfmt::skip]
enumeration! {
    /// `Color Format`.
    ColorFormat "Color Format";
    RAW8,               "RAW8",                   0;
    RAW16,              "RAW16",                  1;
    RAW24,              "RAW24",                  2;
    RAW32,              "RAW32",                  3;
    RAW48,              "RAW48",                  4;
    RAW64,              "RAW64",                  5;
    RAW96,              "RAW96",                  6;
    RAW128,             "RAW128",                 7;
    RAW192,             "RAW192",                 8;
    RAW256,             "RAW256",                 9;
    RAW384,             "RAW384",                10;
    RAW512,             "RAW512",                11;
    RAW768,             "RAW768",                12;
    RAW1024,            "RAW1024",               13;
    RAW1536,            "RAW1536",               14;
    RAW2048,            "RAW2048",               15;
    R8,                 "R8",                    16;
    R8G8,               "R8G8",                  17;
    R8G8B8,             "R8G8B8",                18;
    R8G8B8A8,           "R8G8B8A8",              19;
    R4G4B4A4,           "R4G4B4A4",              20;
    R5G6B5,             "R5G6B5",                21;
    R8G8B8FromR8G8B8A2, "R8G8B8_FROM_R8G8B8A2",  22;
    R10G10B10A2,        "R10G10B10A2",           24;
    A2B10G10R10,        "A2B10G10R10",           25;
    R5G5B5A1,           "R5G5B5A1",              28;
    A1B5G5R5,           "A1B5G5R5",              29;
    Native,             "NATIVE",                31;
}

#[rustfmt::skip]
enumeration! {
    /// `Float Color Format`.
    FloatColorFormat "Float Color Format";
    RAW8,      "RAW8",         0;
    RAW16,     "RAW16",        1;
    RAW24,     "RAW24",        2;
    RAW32,     "RAW32",        3;
    RAW48,     "RAW48",        4;
    RAW64,     "RAW64",        5;
    RAW96,     "RAW96",        6;
    RAW128,    "RAW128",       7;
    R16F,      "R16F",        16;
    RG16F,     "RG16F",       17;
    RGB16F,    "RGB16F",      18;
    RGBA16F,   "RGBA16F",     19;
    RG11FB10F, "RG11F_B10F",  20;
}

#[rustfmt::skip]
enumeration! {
    /// `RT Downscale`.
    RtDownscale "RT Downscale";
    None, "None",   0;
    TwoX, "2x",     1;
}

#[rustfmt::skip]
enumeration! {
    /// `YUV Swizzle`.
    YuvSwizzle "YUV Swizzle";
    Yuva, "YUVA",   0;
    Yvua, "YVUA",   1;
    Uyva, "UYVA",   2;
    Uvya, "UVYA",   3;
    Vuya, "VUYA",   4;
    Vyua, "VYUA",   5;
    Y00A, "Y00A",   6;
    Yxxa, "YXXA",   7;
}

#[rustfmt::skip]
enumeration! {
    /// `YUV Conversion Mode`.
    YuvConversionMode "YUV Conversion Mode";
    NoConversion, "No Conversion",   0;
    Bt601,        "BT 601",          3;
    Bt709,        "BT 709",          4;
    Bt2020,       "BT 2020",         6;
}

#[rustfmt::skip]
enumeration! {
    /// `YUV Cr Siting`.
    YuvCrSiting "YUV Cr Siting";
    CoSited,       "Co-Sited",         0;
    CenterY,       "Center Y",         1;
    CenterX,       "Center X",         2;
    Center,        "Center",           3;
    OneQuarter,    "One Quarter",      4;
    ThreeQuarters, "Three Quarters",   5;
    Replicated,    "Replicated",       7;
}

#[rustfmt::skip]
descriptor! {
    /// `RT Buffer`.
    RtBuffer "RT Buffer", bytes [16], align None;
    base:              Address, "Base",                 0, 64;
    row_stride:        u32,     "Row Stride",          64, 32, moved(V11, 64, 27);
    surface_stride_hi: u32,     "Surface Stride hi",   91,  5, since(V11);
    surface_stride:    u32,     "Surface Stride",      96, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `RT Clear`.
    RtClear "RT Clear", bytes [16], align None;
    color_0: u32, "Color 0",    0, 32;
    color_1: u32, "Color 1",   32, 32;
    color_2: u32, "Color 2",   64, 32;
    color_3: u32, "Color 3",   96, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `RGB Render Target`.
    RgbRenderTarget "RGB Render Target", bytes [64], align Some(64);
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(0);
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4);
    yuv_enable:              bool,                      "YUV Enable",                24,  1, fixed(0);
    dithered_clear:          bool,                      "Dithered Clear",            25,  1;
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6;
    write_enable:            bool,                      "Write Enable",              32,  1;
    writeback_format:        ColorFormat,               "Writeback Format",          35,  5;
    writeback_float_format:  FloatColorFormat,          "Writeback Float Format",    35,  5;
    writeback_block_format:  BlockFormat,               "Writeback Block Format",    40,  4;
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2;
    srgb:                    bool,                      "sRGB",                      46,  1;
    dithering_enable:        bool,                      "Dithering Enable",          47,  1;
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12;
    downscale_mode:          RtDownscale,               "Downscale Mode",            61,  2, since(V11), until(V11);
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1;
    writeback_buffer:        RtBuffer,                  "Writeback buffer",         256, 128;
    clear:                   RtClear,                   "Clear",                    384, 128;
}

#[rustfmt::skip]
descriptor! {
    /// `YUV Render Target`.
    YuvRenderTarget "YUV Render Target", bytes [64], align Some(64);
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(0);
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4);
    yuv_enable:              bool,                      "YUV Enable",                24,  1, fixed(1);
    dithered_clear:          bool,                      "Dithered Clear",            25,  1;
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6;
    write_enable:            bool,                      "Write Enable",              32,  1;
    writeback_format:        ColorFormat,               "Writeback Format",          35,  5;
    writeback_block_format:  BlockFormat,               "Writeback Block Format",    40,  4;
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2;
    srgb:                    bool,                      "sRGB",                      46,  1;
    dithering_enable:        bool,                      "Dithering Enable",          47,  1;
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12;
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1;
    yuv_swizzle:             YuvSwizzle,                "YUV Swizzle",               80,  3;
    full_range:              bool,                      "Full Range",                84,  1;
    conversion_mode:         YuvConversionMode,         "Conversion Mode",           85,  4;
    cr_siting:               YuvCrSiting,               "Cr Siting",                 89,  3;
    unsigned_cr_range:       bool,                      "Unsigned Cr Range",         92,  1;
    plane_0_base:            Address,                   "Plane 0 Base",             128, 64;
    plane_1_base:            Address,                   "Plane 1 Base",             192, 64;
    plane_2_base:            Address,                   "Plane 2 Base",             256, 64;
    plane_0_stride:          u32,                       "Plane 0 Stride",           320, 32, moved(V11, 320, 27);
    plane_1_2_stride:        u32,                       "Plane 1 2 Stride",         352, 32, moved(V11, 352, 27);
    clear:                   RtClear,                   "Clear",                    384, 128;
}

#[rustfmt::skip]
descriptor! {
    /// `AFBC RGB Render Target`.
    AfbcRgbRenderTarget "AFBC RGB Render Target", bytes [64], align Some(64);
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(0);
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4);
    yuv_enable:              bool,                      "YUV Enable",                24,  1, fixed(0);
    dithered_clear:          bool,                      "Dithered Clear",            25,  1;
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6;
    write_enable:            bool,                      "Write Enable",              32,  1;
    writeback_format:        ColorFormat,               "Writeback Format",          35,  5;
    writeback_float_format:  FloatColorFormat,          "Writeback Float Format",    35,  5;
    writeback_block_format:  BlockFormat,               "Writeback Block Format",    40,  4;
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2;
    srgb:                    bool,                      "sRGB",                      46,  1;
    dithering_enable:        bool,                      "Dithering Enable",          47,  1;
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12;
    downscale_mode:          RtDownscale,               "Downscale Mode",            61,  2, since(V11), until(V11);
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1;
    yuv_transform:           bool,                      "YUV Transform",             64,  1;
    split_block:             bool,                      "Split block",               65,  1;
    wide_block:              bool,                      "Wide block",                66,  1;
    reverse_issue_order:     bool,                      "Reverse issue order",       67,  1;
    front_buffer:            bool,                      "Front buffer",              68,  1;
    alpha_hint:              bool,                      "Alpha hint",                69,  1;
    compression_mode:        AfbcCompressionMode,       "Compression mode",          74,  6;
    header:                  Address,                   "Header",                   256, 64;
    row_stride:              u32,                       "Row stride",               320, 32, moved(V11, 320, 27);
    body_offset:             u32,                       "Body offset",              352, 32;
    clear:                   RtClear,                   "Clear",                    384, 128;
}

#[rustfmt::skip]
descriptor! {
    /// `AFBC YUV Render Target`.
    AfbcYuvRenderTarget "AFBC YUV Render Target", bytes [64], align Some(64);
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(0);
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4);
    yuv_enable:              bool,                      "YUV Enable",                24,  1, fixed(1);
    dithered_clear:          bool,                      "Dithered Clear",            25,  1;
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6;
    write_enable:            bool,                      "Write Enable",              32,  1;
    writeback_format:        ColorFormat,               "Writeback Format",          35,  5;
    writeback_block_format:  BlockFormat,               "Writeback Block Format",    40,  4;
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2;
    srgb:                    bool,                      "sRGB",                      46,  1;
    dithering_enable:        bool,                      "Dithering Enable",          47,  1;
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12;
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1;
    yuv_transform:           bool,                      "YUV Transform",             64,  1;
    split_block:             bool,                      "Split block",               65,  1;
    wide_block:              bool,                      "Wide block",                66,  1;
    reverse_issue_order:     bool,                      "Reverse issue order",       67,  1;
    front_buffer:            bool,                      "Front buffer",              68,  1;
    alpha_hint:              bool,                      "Alpha hint",                69,  1;
    compression_mode:        AfbcCompressionMode,       "Compression mode",          74,  6;
    yuv_swizzle:             YuvSwizzle,                "YUV Swizzle",               80,  3;
    full_range:              bool,                      "Full Range",                84,  1;
    conversion_mode:         YuvConversionMode,         "Conversion Mode",           85,  4;
    cr_siting:               YuvCrSiting,               "Cr Siting",                 89,  3;
    unsigned_cr_range:       bool,                      "Unsigned Cr Range",         92,  1;
    header:                  Address,                   "Header",                   256, 64;
    row_stride:              u32,                       "Row stride",               320, 32, moved(V11, 320, 27);
    body_offset:             u32,                       "Body offset",              352, 32;
    clear:                   RtClear,                   "Clear",                    384, 128;
}

#[rustfmt::skip]
descriptor! {
    /// `AFRC RGB Render Target`.
    AfrcRgbRenderTarget "AFRC RGB Render Target", bytes [64], align Some(64);
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(6);
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4);
    dithered_clear:          bool,                      "Dithered Clear",            25,  1;
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6;
    writeback_format:        ColorFormat,               "Writeback Format",          32,  8;
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2;
    srgb:                    bool,                      "sRGB",                      46,  1;
    dithering_enable:        bool,                      "Dithering Enable",          47,  1;
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12;
    downscale_mode:          RtDownscale,               "Downscale Mode",            61,  2, since(V11), until(V11);
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1;
    afrc_block_size:         AfrcBlockSize,             "AFRC Block Size",           68,  4;
    afrc_format:             AfrcFormat,                "AFRC Format",               72,  8;
    afrc_codec_args:         u32,                       "AFRC Codec args",           96,  8, until(V12);
    codec_args:              u32,                       "Codec args",                96,  8, since(V13);
    writeback_buffer:        RtBuffer,                  "Writeback buffer",         256, 128;
    clear:                   RtClear,                   "Clear",                    384, 128;
}

#[rustfmt::skip]
descriptor! {
    /// `AFRC YUV Render Target`.
    AfrcYuvRenderTarget "AFRC YUV Render Target", bytes [64], align Some(64);
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(7);
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4);
    dithered_clear:          bool,                      "Dithered Clear",            25,  1;
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6;
    writeback_format:        ColorFormat,               "Writeback Format",          32,  8;
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2;
    srgb:                    bool,                      "sRGB",                      46,  1;
    dithering_enable:        bool,                      "Dithering Enable",          47,  1;
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12;
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1;
    afrc_luma_block_size:    AfrcBlockSize,             "AFRC Luma Block Size",      68,  4;
    afrc_luma_format:        AfrcFormat,                "AFRC Luma Format",          72,  8;
    yuv_swizzle:             YuvSwizzle,                "YUV Swizzle",               80,  3;
    full_range:              bool,                      "Full Range",                84,  1;
    conversion_mode:         YuvConversionMode,         "Conversion Mode",           85,  4;
    cr_siting:               YuvCrSiting,               "Cr Siting",                 89,  3;
    unsigned_cr_range:       bool,                      "Unsigned Cr Range",         92,  1;
    afrc_luma_codec_args:    u32,                       "AFRC Luma codec args",      96,  8;
    afrc_chroma_codec_args:  u32,                       "AFRC Chroma codec args",   104,  8;
    afrc_chroma_block_size:  AfrcBlockSize,             "AFRC Chroma Block Size",   116,  4;
    afrc_chroma_format:      AfrcFormat,                "AFRC Chroma Format",       120,  8;
    plane_0_base:            Address,                   "Plane 0 Base",             128, 64;
    plane_1_base:            Address,                   "Plane 1 Base",             192, 64;
    plane_2_base:            Address,                   "Plane 2 Base",             256, 64;
    plane_0_stride:          u32,                       "Plane 0 Stride",           320, 32, moved(V11, 320, 27);
    plane_1_2_stride:        u32,                       "Plane 1 2 Stride",         352, 32, moved(V11, 352, 27);
    clear:                   RtClear,                   "Clear",                    384, 128;
}

#[rustfmt::skip]
descriptor! {
    /// `Render Target`.
    RenderTarget "Render Target", bytes [64], align Some(64);
    rgb:      RgbRenderTarget,     "RGB",         0, 512;
    yuv:      YuvRenderTarget,     "YUV",         0, 512;
    afbc_rgb: AfbcRgbRenderTarget, "AFBC RGB",    0, 512;
    afbc_yuv: AfbcYuvRenderTarget, "AFBC YUV",    0, 512;
    afrc_rgb: AfrcRgbRenderTarget, "AFRC RGB",    0, 512;
    afrc_yuv: AfrcYuvRenderTarget, "AFRC YUV",    0, 512;
}
