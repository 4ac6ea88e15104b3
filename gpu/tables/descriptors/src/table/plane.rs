//! Planes: where the texels of a texture lie.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::DescriptorType;
use crate::arch::Arch::{V11, V12, V13};
use crate::member::Address;

#[rustfmt::skip]
enumeration! {
    /// Layout of a plane descriptor.
    PlaneType "Plane Type";
    Null,         "Null",             0;
    Generic,      "Generic",          1;
    Astc2D,       "ASTC 2D",          4;
    Astc3D,       "ASTC 3D",          5;
    Afbc,         "AFBC",             6;
    Chroma2p,     "Chroma 2p",        8;
    Afrc,         "AFRC",            10;
    AfrcChroma2p, "AFRC Chroma 2p",  11;
}

#[rustfmt::skip]
enumeration! {
    /// Order of texels in memory.
    ClumpOrdering "Clump Ordering";
    TiledUInterleaved,           "Tiled U-Interleaved",              1;
    Linear,                      "Linear",                           2;
    BlockLinearInterleaved16x16, "Block-linear interleaved 16x16",   3;
    BlockLinearInterleaved8x16,  "Block-linear interleaved 8x16",    4;
    BlockLinearInterleaved8x8,   "Block-linear interleaved 8x8",     5;
    Interleaved64k,              "Interleaved 64k",                  8;
}

#[rustfmt::skip]
enumeration! {
    /// Element format of a plane.
    ClumpFormat "Clump Format";
    RAW8,          "RAW8",              0;
    RAW16,         "RAW16",             1;
    RAW32,         "RAW32",             2;
    RAW64,         "RAW64",             3;
    RAW128,        "RAW128",            4;
    RAW24,         "RAW24",             8;
    RAW48,         "RAW48",             9;
    RAW96,         "RAW96",            10;
    D32X32,        "D32X32",           16;
    X32D32,        "X32D32",           17;
    X32S8X24,      "X32S8X24",         18;
    X24S8X32,      "X24S8X32",         19;
    X24S8,         "X24S8",            20;
    S8X24,         "S8X24",            21;
    S8,            "S8",               22;
    L4A4,          "L4A4",             24;
    L8A8,          "L8A8",             25;
    A8,            "A8",               26;
    ETC2RGB8,      "ETC2 RGB8",        32;
    ETC2R11Unorm,  "ETC2 R11 UNORM",   33;
    ETC2R11Snorm,  "ETC2 R11 SNORM",   34;
    ETC2RG11Unorm, "ETC2 RG11 UNORM",  35;
    ETC2RG11Snorm, "ETC2 RG11 SNORM",  36;
    ETC2RGBA8,     "ETC2 RGBA8",       37;
    ETC2RGB8A1,    "ETC2 RGB8A1",      38;
    BC1Unorm,      "BC1 UNORM",        48;
    BC2Unorm,      "BC2 UNORM",        49;
    BC3Unorm,      "BC3 UNORM",        50;
    BC4Unorm,      "BC4 UNORM",        51;
    BC4Snorm,      "BC4 SNORM",        52;
    BC5Unorm,      "BC5 UNORM",        53;
    BC5Snorm,      "BC5 SNORM",        54;
    BC6HUF16,      "BC6H UF16",        55;
    BC6HSF16,      "BC6H SF16",        56;
    BC7Unorm,      "BC7 UNORM",        57;
    Y8UV8_422,     "Y8 UV8 422",       64;
    Y10UV10_422,   "Y10 UV10 422",     65;
    Y16UV16_422,   "Y16 UV16 422",     67;
    Y8UV8_420,     "Y8 UV8 420",       72;
    Y10UV10_420,   "Y10 UV10 420",     73;
    Y16UV16_420,   "Y16 UV16 420",     75;
    YUV420_10x6,   "YUV420 10x6",      76;
    RAW10,         "RAW10",           120;
    RAW12,         "RAW12",           121;
    R8G8B8G8,      "R8G8B8G8",        124;
    G8R8G8B8,      "G8R8G8B8",        125;
}

#[rustfmt::skip]
enumeration! {
    /// Texels along an edge of a 2D ASTC block.
    Astc2DDimension "ASTC 2D Dimension";
    Four,   "4",    0;
    Five,   "5",    1;
    Six,    "6",    2;
    Eight,  "8",    4;
    Ten,    "10",   6;
    Twelve, "12",   7;
}

#[rustfmt::skip]
enumeration! {
    /// Texels along an edge of a 3D ASTC block.
    Astc3DDimension "ASTC 3D Dimension";
    Four,  "4",   0;
    Five,  "5",   1;
    Six,   "6",   2;
    Three, "3",   3;
}

#[rustfmt::skip]
enumeration! {
    /// Pixels of an AFBC superblock.
    AfbcSuperblockSize "AFBC Superblock Size";
    SixteenX16,  "16x16",   0;
    ThirtyTwoX8, "32x8",    1;
    SixtyFourX4, "64x4",    2;
}

#[rustfmt::skip]
enumeration! {
    /// What AFBC compresses.
    AfbcCompressionMode "AFBC Compression Mode";
    R8,           "R8",             0;
    R16,          "R16",            1;
    R8G8,         "R8G8",           3;
    R5G6B5,       "R5G6B5",         4;
    R4G4B4A4,     "R4G4B4A4",       5;
    R5G5B5A1,     "R5G5B5A1",       6;
    R16G16,       "R16G16",         8;
    R8G8B8,       "R8G8B8",         9;
    R8G8B8A8,     "R8G8B8A8",      10;
    R10G10B10A2,  "R10G10B10A2",   11;
    R11G11B10,    "R11G11B10",     12;
    S8,           "S8",            14;
    X24S8,        "X24S8",         15;
    R16G16B16,    "R16G16B16",     16;
    R16G16B16A16, "R16G16B16A16",  17;
    R10G10B10A10, "R10G10B10A10",  23;
    YUV420_6c8,   "YUV420 6c8",    32;
    YUV420_2c8,   "YUV420 2c8",    34;
    YUV420_1c8,   "YUV420 1c8",    35;
    YUV422_4c8,   "YUV422 4c8",    37;
    YUV422_2c8,   "YUV422 2c8",    38;
    YUV422_1c8,   "YUV422 1c8",    39;
    YUV420_6c10,  "YUV420 6c10",   40;
    YUV420_2c10,  "YUV420 2c10",   42;
    YUV420_1c10,  "YUV420 1c10",   43;
    YUV422_4c10,  "YUV422 4c10",   45;
    YUV422_2c10,  "YUV422 2c10",   46;
    YUV422_1c10,  "YUV422 1c10",   47;
}

#[rustfmt::skip]
enumeration! {
    /// Bytes of an AFRC coding unit.
    AfrcBlockSize "AFRC Block Size";
    Sixteen,    "16",   4;
    TwentyFour, "24",   5;
    ThirtyTwo,  "32",   6;
}

#[rustfmt::skip]
enumeration! {
    /// Components and order of an AFRC plane.
    AfrcFormat "AFRC Format";
    R8Scan,           "R8 SCAN",             0;
    R8G8Scan,         "R8G8 SCAN",           1;
    R8G8B8Scan,       "R8G8B8 SCAN",         2;
    R8G8B8A8Scan,     "R8G8B8A8 SCAN",       3;
    R8Rot,            "R8 ROT",              4;
    R8G8Rot,          "R8G8 ROT",            5;
    R8G8B8Rot,        "R8G8B8 ROT",          6;
    R8G8B8A8Rot,      "R8G8B8A8 ROT",        7;
    R10G10B10A10Scan, "R10G10B10A10 SCAN",  11;
    R10G10B10A10Rot,  "R10G10B10A10 ROT",   15;
    R8_444Scan,       "R8_444 SCAN",        64;
    R8_422Scan,       "R8_422 SCAN",        65;
    R8_420Scan,       "R8_420 SCAN",        66;
    R8_444Rot,        "R8_444 ROT",         68;
    R8_422Rot,        "R8_422 ROT",         69;
    R8_420Rot,        "R8_420 ROT",         70;
    R8G8_444Scan,     "R8G8_444 SCAN",      72;
    R8G8_422Scan,     "R8G8_422 SCAN",      73;
    R8G8_420Scan,     "R8G8_420 SCAN",      74;
    R8G8_444Rot,      "R8G8_444 ROT",       76;
    R8G8_422Rot,      "R8G8_422 ROT",       77;
    R8G8_420Rot,      "R8G8_420 ROT",       78;
    R10_444Scan,      "R10_444 SCAN",       80;
    R10_422Scan,      "R10_422 SCAN",       81;
    R10_420Scan,      "R10_420 SCAN",       82;
    R10_444Rot,       "R10_444 ROT",        84;
    R10_422Rot,       "R10_422 ROT",        85;
    R10_420Rot,       "R10_420 ROT",        86;
    R10G10_422Scan,   "R10G10_422 SCAN",    89;
    R10G10_420Scan,   "R10G10_420 SCAN",    90;
    R10G10_422Rot,    "R10G10_422 ROT",     93;
    R10G10_420Rot,    "R10G10_420 ROT",     94;
    Invalid,          "INVALID",           256;
}

#[rustfmt::skip]
descriptor! {
    /// What a reader of an unknown plane looks at first.
    PlaneHeader "Plane Header", bytes [4], align Some(32), section "9";
    kind:       DescriptorType, "Type",          0,  4, default(10), until(V12)  => "kind of descriptor";
    kind_v13:   DescriptorType, "Type",          0,  4, since(V13)               => "kind of descriptor";
    plane_type: PlaneType,      "Plane type",    4,  4                           => "kind of plane";
    ignore:     u32,            "Ignore",        8, 24                           => "the rest of the word, whatever the kind";
}

#[rustfmt::skip]
descriptor! {
    /// No plane: reads give 0.
    NullPlane "Null Plane", bytes [32], align Some(32), section "9";
    kind:       DescriptorType, "Type",          0,  4, fixed(10)  => "kind of descriptor";
    plane_type: PlaneType,      "Plane type",    4,  4, fixed(0)   => "kind of plane";
}

#[rustfmt::skip]
descriptor! {
    /// A level and layer in memory, linear or in tiles.
    GenericPlane "Generic Plane", bytes [32], align Some(32), section "9";
    kind:            DescriptorType, "Type",               0,  4, fixed(10)             => "kind of descriptor";
    plane_type:      PlaneType,      "Plane type",         4,  4, fixed(1)              => "kind of plane";
    clump_ordering:  ClumpOrdering,  "Clump ordering",     8,  4                        => "order of texels in memory";
    clump_format:    ClumpFormat,    "Clump format",      24,  8                        => "number of the element format";
    size:            u32,            "Size",              32, 32                        => "bytes from Pointer that may be accessed; drivers: rest of the image or the level's bytes";
    pointer:         Address,        "Pointer",           64, 64, moved(V11, 64, 48)    => "address of the level/layer";
    size_hi:         u32,            "Size hi",          112, 16, since(V11)            => "bits above those of Size";
    row_stride:      u32,            "Row stride",       128, 32, moved(V11, 128, 27)   => "bytes: linear: between texel (or block) rows; u-interleaved and 64k: between rows of tiles";
    slice_stride_hi: u32,            "Slice stride hi",  155,  5, since(V11)            => "bits above those of Slice stride";
    slice_stride:    u32,            "Slice stride",     192, 32                        => "3D: z stride; MSAA: sample stride; else 0 (2024 driver: layer stride); YCbCr 0";
    width:           u32,            "Width",            224, 16, minus(1), default(1)  => "level width in texels";
    height:          u32,            "Height",           240, 16, minus(1), default(1)  => "level height in texels";
}

#[rustfmt::skip]
descriptor! {
    /// A level and layer in 2D ASTC blocks.
    Astc2DPlane "ASTC 2D Plane", bytes [32], align Some(32), section "9";
    kind:            DescriptorType,  "Type",               0,  4, fixed(10)             => "kind of descriptor";
    plane_type:      PlaneType,       "Plane type",         4,  4, fixed(4)              => "kind of plane";
    clump_ordering:  ClumpOrdering,   "Clump ordering",     8,  4                        => "order of texels in memory";
    decode_hdr:      bool,            "Decode HDR",        24,  1                        => "1 for HDR profile formats";
    decode_wide:     bool,            "Decode Wide",       25,  1                        => "1: RGBA16F result; 0: RGBA8 result (sRGB or narrow)";
    block_width:     Astc2DDimension, "Block width",       26,  3                        => "texels along x";
    block_height:    Astc2DDimension, "Block height",      29,  3                        => "same codes";
    size:            u32,             "Size",              32, 32                        => "bytes from Pointer that may be accessed; drivers: rest of the image or the level's bytes";
    pointer:         Address,         "Pointer",           64, 64, moved(V11, 64, 48)    => "address of the level/layer";
    size_hi:         u32,             "Size hi",          112, 16, since(V11)            => "bits above those of Size";
    row_stride:      u32,             "Row stride",       128, 32, moved(V11, 128, 27)   => "bytes: linear: between texel (or block) rows; u-interleaved and 64k: between rows of tiles";
    slice_stride_hi: u32,             "Slice stride hi",  155,  5, since(V11)            => "bits above those of Slice stride";
    slice_stride:    u32,             "Slice stride",     192, 32                        => "3D: z stride; MSAA: sample stride; else 0 (2024 driver: layer stride); YCbCr 0";
    width:           u32,             "Width",            224, 16, minus(1), default(1)  => "level width in texels";
    height:          u32,             "Height",           240, 16, minus(1), default(1)  => "level height in texels";
}

#[rustfmt::skip]
descriptor! {
    /// A level in 3D ASTC blocks.
    Astc3DPlane "ASTC 3D Plane", bytes [32], align Some(32), section "9";
    kind:            DescriptorType,  "Type",               0,  4, fixed(10)             => "kind of descriptor";
    plane_type:      PlaneType,       "Plane type",         4,  4, fixed(5)              => "kind of plane";
    clump_ordering:  ClumpOrdering,   "Clump ordering",     8,  4                        => "order of texels in memory";
    decode_hdr:      bool,            "Decode HDR",        24,  1                        => "1 for HDR profile formats";
    decode_wide:     bool,            "Decode Wide",       25,  1                        => "1: RGBA16F result; 0: RGBA8 result (sRGB or narrow)";
    block_width:     Astc3DDimension, "Block width",       26,  2                        => "texels along x";
    block_height:    Astc3DDimension, "Block height",      28,  2                        => "same codes";
    block_depth:     Astc3DDimension, "Block depth",       30,  2                        => "same codes";
    size:            u32,             "Size",              32, 32                        => "bytes from Pointer that may be accessed; drivers: rest of the image or the level's bytes";
    pointer:         Address,         "Pointer",           64, 64, moved(V11, 64, 48)    => "address of the level/layer";
    size_hi:         u32,             "Size hi",          112, 16, since(V11)            => "bits above those of Size";
    row_stride:      u32,             "Row stride",       128, 32, moved(V11, 128, 27)   => "bytes: linear: between texel (or block) rows; u-interleaved and 64k: between rows of tiles";
    slice_stride_hi: u32,             "Slice stride hi",  155,  5, since(V11)            => "bits above those of Slice stride";
    slice_stride:    u32,             "Slice stride",     192, 32                        => "3D: z stride; MSAA: sample stride; else 0 (2024 driver: layer stride); YCbCr 0";
    width:           u32,             "Width",            224, 16, minus(1), default(1)  => "level width in texels";
    height:          u32,             "Height",           240, 16, minus(1), default(1)  => "level height in texels";
}

#[rustfmt::skip]
descriptor! {
    /// A level and layer with lossless compression (AFBC).
    AfbcPlane "AFBC Plane", bytes [32], align Some(32), section "9";
    kind:                   DescriptorType,      "Type",                      0,  4, fixed(10)             => "kind of descriptor";
    plane_type:             PlaneType,           "Plane type",                4,  4, fixed(6)              => "kind of plane";
    superblock_size:        AfbcSuperblockSize,  "Superblock size",           8,  3                        => "pixels of a superblock";
    ytr:                    bool,                "YTR",                      16,  1                        => "RGB stored after the reversible YUV transform";
    split_block:            bool,                "Split block",              17,  1                        => "body blocks split in two halves";
    alpha_hint:             bool,                "Alpha hint",               18,  1                        => "block alpha hints present; drivers 0";
    tiled_header:           bool,                "Tiled header",             19,  1                        => "headers in 8x8 groups";
    prefetch:               bool,                "Prefetch",                 20,  1                        => "drivers 1";
    compression_mode:       AfbcCompressionMode, "Compression mode",         26,  6                        => "channels that are compressed";
    size:                   u32,                 "Size",                     32, 32                        => "bytes from Pointer that may be accessed; drivers: rest of the image or the level's bytes";
    pointer:                Address,             "Pointer",                  64, 64, moved(V11, 64, 48)    => "address of the header area of the level";
    size_hi:                u32,                 "Size hi",                 112, 16, since(V11)            => "bits above those of Size";
    header_row_stride:      u32,                 "Header row stride",       128, 32, moved(V11, 128, 27)   => "bytes between rows of header blocks (tiled: rows of 8x8 groups)";
    header_slice_stride_hi: u32,                 "Header slice stride hi",  155,  5, since(V11)            => "bits above those of Header slice stride";
    header_slice_size:      u32,                 "Header slice size",       160, 32                        => "bytes of one slice's header area";
    header_slice_stride:    u32,                 "Header slice stride",     192, 32                        => "3D: bytes between slices' headers; else 0";
    width:                  u32,                 "Width",                   224, 16, minus(1), default(1)  => "level width in texels";
    height:                 u32,                 "Height",                  240, 16, minus(1), default(1)  => "level height in texels";
}

#[rustfmt::skip]
descriptor! {
    /// Both chroma planes of a 3-plane YCbCr image.
    Chroma2pPlane "Chroma 2p Plane", bytes [32], align Some(32), section "9";
    kind:              DescriptorType, "Type",                 0,  4, fixed(10)             => "kind of descriptor";
    plane_type:        PlaneType,      "Plane type",           4,  4, fixed(8)              => "kind of plane";
    clump_ordering:    ClumpOrdering,  "Clump ordering",       8,  4                        => "order of texels in memory";
    clump_format:      ClumpFormat,    "Clump format",        24,  8                        => "number of the element format";
    size:              u32,            "Size",                32, 32                        => "bytes of each";
    pointer:           Address,        "Pointer",             64, 64, moved(V11, 64, 48)    => "Cb plane";
    size_hi:           u32,            "Size hi",            112, 16, since(V11)            => "bits above those of Size";
    row_stride:        u32,            "Row stride",         128, 32, moved(V11, 128, 27)   => "common to both";
    width:             u32,            "Width",              160, 16, minus(1), default(1)  => "chroma width";
    height:            u32,            "Height",             176, 16, minus(1), default(1)  => "chroma height";
    secondary_pointer: Address,        "Secondary Pointer",  192, 64                        => "Cr plane";
}

#[rustfmt::skip]
descriptor! {
    /// A level and layer with fixed-rate compression (AFRC).
    AfrcPlane "AFRC Plane", bytes [32], align Some(32), section "9";
    kind:            DescriptorType, "Type",               0,  4, fixed(10)             => "kind of descriptor";
    plane_type:      PlaneType,      "Plane type",         4,  4, fixed(10)             => "kind of plane";
    codec_arguments: u32,            "Codec arguments",    8,  8                        => "drivers 0 (not established)";
    block_size:      AfrcBlockSize,  "Block size",        20,  4                        => "bytes of a coding unit";
    format:          AfrcFormat,     "Format",            24,  8                        => "components and order";
    size:            u32,            "Size",              32, 32                        => "bytes from Pointer that may be accessed; drivers: rest of the image or the level's bytes";
    pointer:         Address,        "Pointer",           64, 64, moved(V11, 64, 48)    => "alignment 1024 / 512 / 2048 for block size 16 / 24 / 32";
    size_hi:         u32,            "Size hi",          112, 16, since(V11)            => "bits above those of Size";
    row_stride:      u32,            "Row stride",       128, 32, moved(V11, 128, 27)   => "bytes per row of AFRC tiles = (width / tile width) x block bytes x 64";
    slice_stride_hi: u32,            "Slice stride hi",  155,  5, since(V11)            => "bits above those of Slice stride";
    slice_stride:    u32,            "Slice stride",     192, 32                        => "3D: z stride; MSAA: sample stride; else 0 (2024 driver: layer stride); YCbCr 0";
    width:           u32,            "Width",            224, 16, minus(1), default(1)  => "level width in texels";
    height:          u32,            "Height",           240, 16, minus(1), default(1)  => "level height in texels";
}

#[rustfmt::skip]
descriptor! {
    /// Both chroma planes of a 3-plane image with fixed-rate compression.
    AfrcChroma2pPlane "AFRC Chroma 2p Plane", bytes [32], align Some(32), section "9";
    kind:              DescriptorType, "Type",                 0,  4, fixed(10)             => "kind of descriptor";
    plane_type:        PlaneType,      "Plane type",           4,  4, fixed(11)             => "kind of plane";
    codec_arguments:   u32,            "Codec arguments",      8,  8                        => "drivers 0 (not established)";
    block_size:        AfrcBlockSize,  "Block size",          20,  4                        => "bytes of a coding unit";
    format:            AfrcFormat,     "Format",              24,  8                        => "components and order";
    size:              u32,            "Size",                32, 32                        => "bytes from Pointer that may be accessed; drivers: rest of the image or the level's bytes";
    pointer:           Address,        "Pointer",             64, 64, moved(V11, 64, 48)    => "address of the level/layer";
    size_hi:           u32,            "Size hi",            112, 16, since(V11)            => "bits above those of Size";
    row_stride:        u32,            "Row stride",         128, 32, moved(V11, 128, 27)   => "common";
    width:             u32,            "Width",              160, 16, minus(1), default(1)  => "level width in texels";
    height:            u32,            "Height",             176, 16, minus(1), default(1)  => "level height in texels";
    secondary_pointer: Address,        "Secondary Pointer",  192, 64                        => "Cr plane";
}
