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
    /// Which family of render-target layouts holds.
    WritebackMode "Writeback Mode";
    Compat,  "Compat",     0;
    AfrcRgb, "AFRC RGB",   6;
    AfrcYuv, "AFRC YUV",   7;
}

#[rustfmt::skip]
enumeration! {
    /// Format of a colour target in the tile buffer.
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
    /// Format of a colour target in memory.
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
    /// Format of a float colour target in memory.
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
    /// Downscale of a colour target.
    RtDownscale "RT Downscale";
    None, "None",   0;
    TwoX, "2x",     1;
}

#[rustfmt::skip]
enumeration! {
    /// Order of Y, U and V in a YCbCr format.
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
    /// Standard of the colour conversion.
    YuvConversionMode "YUV Conversion Mode";
    NoConversion, "No Conversion",   0;
    Bt601,        "BT 601",          3;
    Bt709,        "BT 709",          4;
    Bt2020,       "BT 2020",         6;
}

#[rustfmt::skip]
enumeration! {
    /// Where chroma samples lie.
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
    /// Memory of a render target.
    RtBuffer "RT Buffer", bytes [16], align None, section "15";
    base:              Address, "Base",                 0, 64                      => "address of level/layer";
    row_stride:        u32,     "Row Stride",          64, 32, moved(V11, 64, 27)  => "bytes: linear: between texel (or block) rows; u-interleaved and 64k: between rows of tiles";
    surface_stride_hi: u32,     "Surface Stride hi",   91,  5, since(V11)          => "bits above those of Surface Stride";
    surface_stride:    u32,     "Surface Stride",      96, 32                      => "sample stride for Layered; else ignored";
}

#[rustfmt::skip]
descriptor! {
    /// What the tile buffer is cleared to: 128 bits.
    RtClear "RT Clear", bytes [16], align None, section "16";
    color_0: u32, "Color 0",    0, 32  => "bits 31:0 of the clear value";
    color_1: u32, "Color 1",   32, 32  => "bits 63:32";
    color_2: u32, "Color 2",   64, 32  => "bits 95:64";
    color_3: u32, "Color 3",   96, 32  => "bits 127:96";
}

#[rustfmt::skip]
descriptor! {
    /// A colour target in linear or tiled memory.
    RgbRenderTarget "RGB Render Target", bytes [64], align Some(64), section "15";
    writeback_mode:          WritebackMode,             "Writeback Mode",            0,   4, fixed(0)                => "tells the layouts of render targets apart";
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",    4,  12, shr(4)                  => "byte offset of this RT in the tile buffer, multiple of 16";
    yuv_enable:              bool,                      "YUV Enable",               24,   1, fixed(0)                => "discriminates the YUV layouts";
    dithered_clear:          bool,                      "Dithered Clear",           25,   1                          => "clear value carries fraction bits; drivers 0";
    internal_format:         ColorBufferInternalFormat, "Internal Format",          26,   6                          => "format in the tile buffer";
    write_enable:            bool,                      "Write Enable",             32,   1                          => "0 for absent or discarded targets";
    writeback_format:        ColorFormat,               "Writeback Format",         35,   5                          => "format in memory";
    writeback_float_format:  Option<FloatColorFormat>,  "Writeback Float Format",   35,   5, alternative()           => "the same bits, for float internal formats";
    writeback_block_format:  BlockFormat,               "Writeback Block Format",   40,   4                          => "order of pixels in memory";
    writeback_msaa:          Msaa,                      "Writeback MSAA",           44,   2                          => "Single: one sample stored; Average: resolve (unweighted mean; float16 only v11+); Layered: one surface per sample";
    srgb:                    bool,                      "sRGB",                     46,   1                          => "encode RGB on write (and on tile clear packing)";
    dithering_enable:        bool,                      "Dithering Enable",         47,   1                          => "drivers 1";
    swizzle:                 Swizzle,                   "Swizzle",                  48,  12                          => "inverse of the format's component order for blendable formats; identity for raw";
    downscale_mode:          RtDownscale,               "Downscale Mode",           61,   2, since(V11), until(V11)  => "halves the target while it is written";
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",  63,   1                          => "set if cleared, or AFBC superblock larger than tile";
    writeback_buffer:        RtBuffer,                  "Writeback buffer",        256, 128                          => "RT Buffer: base (w8-9), row stride (w10), surface stride (w11)";
    clear:                   RtClear,                   "Clear",                   384, 128                          => "four words, section 16";
}

#[rustfmt::skip]
descriptor! {
    /// A YCbCr target in linear or tiled memory.
    YuvRenderTarget "YUV Render Target", bytes [64], align Some(64), section "15";
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(0)             => "tells the layouts of render targets apart";
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4)               => "byte offset of this RT in the tile buffer, multiple of 16";
    yuv_enable:              bool,                      "YUV Enable",                24,  1, fixed(1)             => "discriminates the YUV layouts";
    dithered_clear:          bool,                      "Dithered Clear",            25,  1                       => "clear value carries fraction bits; drivers 0";
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6                       => "format in the tile buffer";
    write_enable:            bool,                      "Write Enable",              32,  1                       => "0 for absent or discarded targets";
    writeback_format:        ColorFormat,               "Writeback Format",          35,  5                       => "format in memory";
    writeback_block_format:  BlockFormat,               "Writeback Block Format",    40,  4                       => "order of pixels in memory";
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2                       => "Single: one sample stored; Average: resolve (unweighted mean; float16 only v11+); Layered: one surface per sample";
    srgb:                    bool,                      "sRGB",                      46,  1                       => "encode RGB on write (and on tile clear packing)";
    dithering_enable:        bool,                      "Dithering Enable",          47,  1                       => "drivers 1";
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12                       => "inverse of the format's component order for blendable formats; identity for raw";
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1                       => "set if cleared, or AFBC superblock larger than tile";
    yuv_swizzle:             YuvSwizzle,                "YUV Swizzle",               80,  3                       => "order of Y, U and V";
    full_range:              bool,                      "Full Range",                84,  1                       => "1 = full range";
    conversion_mode:         YuvConversionMode,         "Conversion Mode",           85,  4                       => "standard of the conversion to YCbCr";
    cr_siting:               YuvCrSiting,               "Cr Siting",                 89,  3                       => "where chroma samples lie";
    unsigned_cr_range:       bool,                      "Unsigned Cr Range",         92,  1                       => "by its name: chroma is unsigned";
    plane_0_base:            Address,                   "Plane 0 Base",             128, 64                       => "luma plane";
    plane_1_base:            Address,                   "Plane 1 Base",             192, 64                       => "first chroma plane";
    plane_2_base:            Address,                   "Plane 2 Base",             256, 64                       => "second chroma plane";
    plane_0_stride:          u32,                       "Plane 0 Stride",           320, 32, moved(V11, 320, 27)  => "bytes";
    plane_1_2_stride:        u32,                       "Plane 1 2 Stride",         352, 32, moved(V11, 352, 27)  => "bytes";
    clear:                   RtClear,                   "Clear",                    384, 128                      => "four words, section 16";
}

#[rustfmt::skip]
descriptor! {
    /// A colour target with lossless compression.
    AfbcRgbRenderTarget "AFBC RGB Render Target", bytes [64], align Some(64), section "15";
    writeback_mode:          WritebackMode,             "Writeback Mode",            0,   4, fixed(0)                => "tells the layouts of render targets apart";
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",    4,  12, shr(4)                  => "byte offset of this RT in the tile buffer, multiple of 16";
    yuv_enable:              bool,                      "YUV Enable",               24,   1, fixed(0)                => "discriminates the YUV layouts";
    dithered_clear:          bool,                      "Dithered Clear",           25,   1                          => "clear value carries fraction bits; drivers 0";
    internal_format:         ColorBufferInternalFormat, "Internal Format",          26,   6                          => "format in the tile buffer";
    write_enable:            bool,                      "Write Enable",             32,   1                          => "0 for absent or discarded targets";
    writeback_format:        ColorFormat,               "Writeback Format",         35,   5                          => "format in memory";
    writeback_float_format:  Option<FloatColorFormat>,  "Writeback Float Format",   35,   5, alternative()           => "the same bits, for float internal formats";
    writeback_block_format:  BlockFormat,               "Writeback Block Format",   40,   4                          => "order of pixels in memory";
    writeback_msaa:          Msaa,                      "Writeback MSAA",           44,   2                          => "Single: one sample stored; Average: resolve (unweighted mean; float16 only v11+); Layered: one surface per sample";
    srgb:                    bool,                      "sRGB",                     46,   1                          => "encode RGB on write (and on tile clear packing)";
    dithering_enable:        bool,                      "Dithering Enable",         47,   1                          => "drivers 1";
    swizzle:                 Swizzle,                   "Swizzle",                  48,  12                          => "inverse of the format's component order for blendable formats; identity for raw";
    downscale_mode:          RtDownscale,               "Downscale Mode",           61,   2, since(V11), until(V11)  => "halves the target while it is written";
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",  63,   1                          => "set if cleared, or AFBC superblock larger than tile";
    yuv_transform:           bool,                      "YUV Transform",            64,   1                          => "YTR";
    split_block:             bool,                      "Split block",              65,   1                          => "body blocks split in two halves";
    wide_block:              bool,                      "Wide block",               66,   1                          => "superblock wider than 16";
    reverse_issue_order:     bool,                      "Reverse issue order",      67,   1                          => "superblock larger than tile";
    front_buffer:            bool,                      "Front buffer",             68,   1                          => "drivers 0";
    alpha_hint:              bool,                      "Alpha hint",               69,   1                          => "drivers 0";
    compression_mode:        AfbcCompressionMode,       "Compression mode",         74,   6                          => "channels that are compressed";
    header:                  Address,                   "Header",                  256,  64                          => "header address";
    row_stride:              u32,                       "Row stride",              320,  32, moved(V11, 320, 27)     => "header row stride, bytes";
    body_offset:             u32,                       "Body offset",             352,  32                          => "body - header";
    clear:                   RtClear,                   "Clear",                   384, 128                          => "four words, section 16";
}

#[rustfmt::skip]
descriptor! {
    /// A YCbCr target with lossless compression.
    AfbcYuvRenderTarget "AFBC YUV Render Target", bytes [64], align Some(64), section "15";
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(0)             => "tells the layouts of render targets apart";
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4)               => "byte offset of this RT in the tile buffer, multiple of 16";
    yuv_enable:              bool,                      "YUV Enable",                24,  1, fixed(1)             => "discriminates the YUV layouts";
    dithered_clear:          bool,                      "Dithered Clear",            25,  1                       => "clear value carries fraction bits; drivers 0";
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6                       => "format in the tile buffer";
    write_enable:            bool,                      "Write Enable",              32,  1                       => "0 for absent or discarded targets";
    writeback_format:        ColorFormat,               "Writeback Format",          35,  5                       => "format in memory";
    writeback_block_format:  BlockFormat,               "Writeback Block Format",    40,  4                       => "order of pixels in memory";
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2                       => "Single: one sample stored; Average: resolve (unweighted mean; float16 only v11+); Layered: one surface per sample";
    srgb:                    bool,                      "sRGB",                      46,  1                       => "encode RGB on write (and on tile clear packing)";
    dithering_enable:        bool,                      "Dithering Enable",          47,  1                       => "drivers 1";
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12                       => "inverse of the format's component order for blendable formats; identity for raw";
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1                       => "set if cleared, or AFBC superblock larger than tile";
    yuv_transform:           bool,                      "YUV Transform",             64,  1                       => "YTR";
    split_block:             bool,                      "Split block",               65,  1                       => "body blocks split in two halves";
    wide_block:              bool,                      "Wide block",                66,  1                       => "superblock wider than 16";
    reverse_issue_order:     bool,                      "Reverse issue order",       67,  1                       => "superblock larger than tile";
    front_buffer:            bool,                      "Front buffer",              68,  1                       => "drivers 0";
    alpha_hint:              bool,                      "Alpha hint",                69,  1                       => "block alpha hints present; drivers 0";
    compression_mode:        AfbcCompressionMode,       "Compression mode",          74,  6                       => "channels that are compressed";
    yuv_swizzle:             YuvSwizzle,                "YUV Swizzle",               80,  3                       => "order of Y, U and V";
    full_range:              bool,                      "Full Range",                84,  1                       => "1 = full range";
    conversion_mode:         YuvConversionMode,         "Conversion Mode",           85,  4                       => "standard of the conversion to YCbCr";
    cr_siting:               YuvCrSiting,               "Cr Siting",                 89,  3                       => "where chroma samples lie";
    unsigned_cr_range:       bool,                      "Unsigned Cr Range",         92,  1                       => "by its name: chroma is unsigned";
    header:                  Address,                   "Header",                   256, 64                       => "header address";
    row_stride:              u32,                       "Row stride",               320, 32, moved(V11, 320, 27)  => "bytes: linear: between texel (or block) rows; u-interleaved and 64k: between rows of tiles";
    body_offset:             u32,                       "Body offset",              352, 32                       => "body - header";
    clear:                   RtClear,                   "Clear",                    384, 128                      => "four words, section 16";
}

#[rustfmt::skip]
descriptor! {
    /// A colour target with fixed-rate compression.
    AfrcRgbRenderTarget "AFRC RGB Render Target", bytes [64], align Some(64), section "15";
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(6)                => "tells the layouts of render targets apart";
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4)                  => "byte offset of this RT in the tile buffer, multiple of 16";
    dithered_clear:          bool,                      "Dithered Clear",            25,  1                          => "clear value carries fraction bits; drivers 0";
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6                          => "format in the tile buffer";
    writeback_format:        ColorFormat,               "Writeback Format",          32,  8                          => "format in memory";
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2                          => "Single: one sample stored; Average: resolve (unweighted mean; float16 only v11+); Layered: one surface per sample";
    srgb:                    bool,                      "sRGB",                      46,  1                          => "encode RGB on write (and on tile clear packing)";
    dithering_enable:        bool,                      "Dithering Enable",          47,  1                          => "drivers 1";
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12                          => "inverse of the format's component order for blendable formats; identity for raw";
    downscale_mode:          RtDownscale,               "Downscale Mode",            61,  2, since(V11), until(V11)  => "halves the target while it is written";
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1                          => "set if cleared, or AFBC superblock larger than tile";
    afrc_block_size:         AfrcBlockSize,             "AFRC Block Size",           68,  4                          => "bytes of a coding unit";
    afrc_format:             AfrcFormat,                "AFRC Format",               72,  8                          => "section 9";
    afrc_codec_args:         u32,                       "AFRC Codec args",           96,  8, until(V12)              => "drivers 0";
    codec_args:              u32,                       "Codec args",                96,  8, since(V13)              => "drivers 0";
    writeback_buffer:        RtBuffer,                  "Writeback buffer",         256, 128                         => "RT Buffer: base (w8-9), row stride (w10), surface stride (w11)";
    clear:                   RtClear,                   "Clear",                    384, 128                         => "four words, section 16";
}

#[rustfmt::skip]
descriptor! {
    /// A YCbCr target with fixed-rate compression.
    AfrcYuvRenderTarget "AFRC YUV Render Target", bytes [64], align Some(64), section "15";
    writeback_mode:          WritebackMode,             "Writeback Mode",             0,  4, fixed(7)             => "tells the layouts of render targets apart";
    internal_buffer_offset:  u32,                       "Internal Buffer Offset",     4, 12, shr(4)               => "byte offset of this RT in the tile buffer, multiple of 16";
    dithered_clear:          bool,                      "Dithered Clear",            25,  1                       => "clear value carries fraction bits; drivers 0";
    internal_format:         ColorBufferInternalFormat, "Internal Format",           26,  6                       => "format in the tile buffer";
    writeback_format:        ColorFormat,               "Writeback Format",          32,  8                       => "format in memory";
    writeback_msaa:          Msaa,                      "Writeback MSAA",            44,  2                       => "Single: one sample stored; Average: resolve (unweighted mean; float16 only v11+); Layered: one surface per sample";
    srgb:                    bool,                      "sRGB",                      46,  1                       => "encode RGB on write (and on tile clear packing)";
    dithering_enable:        bool,                      "Dithering Enable",          47,  1                       => "drivers 1";
    swizzle:                 Swizzle,                   "Swizzle",                   48, 12                       => "inverse of the format's component order for blendable formats; identity for raw";
    clean_tile_write_enable: bool,                      "Clean Tile Write Enable",   63,  1                       => "set if cleared, or AFBC superblock larger than tile";
    afrc_luma_block_size:    AfrcBlockSize,             "AFRC Luma Block Size",      68,  4                       => "bytes of a coding unit of luma";
    afrc_luma_format:        AfrcFormat,                "AFRC Luma Format",          72,  8                       => "components and order of luma";
    yuv_swizzle:             YuvSwizzle,                "YUV Swizzle",               80,  3                       => "order of Y, U and V";
    full_range:              bool,                      "Full Range",                84,  1                       => "1 = full range";
    conversion_mode:         YuvConversionMode,         "Conversion Mode",           85,  4                       => "standard of the conversion to YCbCr";
    cr_siting:               YuvCrSiting,               "Cr Siting",                 89,  3                       => "where chroma samples lie";
    unsigned_cr_range:       bool,                      "Unsigned Cr Range",         92,  1                       => "by its name: chroma is unsigned";
    afrc_luma_codec_args:    u32,                       "AFRC Luma codec args",      96,  8                       => "drivers 0";
    afrc_chroma_codec_args:  u32,                       "AFRC Chroma codec args",   104,  8                       => "drivers 0";
    afrc_chroma_block_size:  AfrcBlockSize,             "AFRC Chroma Block Size",   116,  4                       => "bytes of a coding unit of chroma";
    afrc_chroma_format:      AfrcFormat,                "AFRC Chroma Format",       120,  8                       => "components and order of chroma";
    plane_0_base:            Address,                   "Plane 0 Base",             128, 64                       => "luma";
    plane_1_base:            Address,                   "Plane 1 Base",             192, 64                       => "chroma";
    plane_2_base:            Address,                   "Plane 2 Base",             256, 64                       => "second chroma plane";
    plane_0_stride:          u32,                       "Plane 0 Stride",           320, 32, moved(V11, 320, 27)  => "bytes";
    plane_1_2_stride:        u32,                       "Plane 1 2 Stride",         352, 32, moved(V11, 352, 27)  => "bytes";
    clear:                   RtClear,                   "Clear",                    384, 128                      => "four words, section 16";
}

#[rustfmt::skip]
descriptor! {
    /// A colour target: one of six layouts, told apart by writeback mode, YUV enable and block format.
    RenderTarget "Render Target", bytes [64], align Some(64), section "15";
    rgb:      Option<RgbRenderTarget>,     "RGB",      0, 512, alternative()  => "linear or tiled";
    yuv:      Option<YuvRenderTarget>,     "YUV",      0, 512, alternative()  => "YCbCr, linear or tiled";
    afbc_rgb: Option<AfbcRgbRenderTarget>, "AFBC RGB", 0, 512, alternative()  => "lossless compression";
    afbc_yuv: Option<AfbcYuvRenderTarget>, "AFBC YUV", 0, 512, alternative()  => "YCbCr with lossless compression";
    afrc_rgb: Option<AfrcRgbRenderTarget>, "AFRC RGB", 0, 512, alternative()  => "fixed-rate compression";
    afrc_yuv: Option<AfrcYuvRenderTarget>, "AFRC YUV", 0, 512, alternative()  => "YCbCr with fixed-rate compression";
}
