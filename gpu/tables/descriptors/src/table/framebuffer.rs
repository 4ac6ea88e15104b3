//! Framebuffers: parameters, depth and stencil targets, checksums.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use crate::arch::Arch::{V10, V11, V12, V13};
use crate::member::{Address, Aligned};

#[rustfmt::skip]
enumeration! {
    /// When a frame shader runs.
    PrePostFrameShaderMode "Pre Post Frame Shader Mode";
    Never,            "Never",                0;
    Always,           "Always",               1;
    Intersect,        "Intersect",            2;
    EarlyZsAlways,    "Early ZS always",      3, until(V12);
    EarlyZsIntersect, "Early ZS Intersect",   4, since(V11), until(V12);
    PrepassAlways,    "Prepass Always",       5, since(V13);
    PrepassIntersect, "Prepass Intersect",    6, since(V13);
}

#[rustfmt::skip]
enumeration! {
    /// Downscale of geometry.
    Downscale "Downscale";
    None,  "None",   0;
    TwoX,  "2x",     1;
    FourX, "4x",     2;
}

#[rustfmt::skip]
enumeration! {
    /// Positions of samples in a pixel.
    SamplePattern "Sample Pattern";
    SingleSampled, "Single-sampled",    0;
    Ordered4xGrid, "Ordered 4x Grid",   1;
    Rotated4xGrid, "Rotated 4x Grid",   2;
    D3D8xGrid,     "D3D 8x Grid",       3;
    D3D16xGrid,    "D3D 16x Grid",      4;
    Rotated2xGrid, "Rotated 2x Grid",   5, since(V12);
}

#[rustfmt::skip]
enumeration! {
    /// Which pixels an edge through their centre covers.
    TieBreakRule "Tie-Break Rule";
    ZeroIn180Out,   "0_IN_180_OUT",         0;
    ZeroOut180In,   "0_OUT_180_IN",         1;
    Minus180In0Out, "MINUS_180_IN_0_OUT",   2;
    Minus180Out0In, "MINUS_180_OUT_0_IN",   3;
    N90In270Out,    "90_IN_270_OUT",        4;
    N90Out270In,    "90_OUT_270_IN",        5;
    Minus90In90Out, "MINUS_90_IN_90_OUT",   6;
    Minus90Out90In, "MINUS_90_OUT_90_IN",   7;
}

#[rustfmt::skip]
enumeration! {
    /// Format of depth in the tile buffer.
    ZInternalFormat "Z Internal Format";
    D16, "D16",   0;
    D24, "D24",   1;
    D32, "D32",   2;
}

#[rustfmt::skip]
enumeration! {
    /// Pixels per texel of a shading-rate image.
    VrsImageRate "VRS Image Rate";
    Granule8x8,   "Granule 8x8",     0;
    Granule16x16, "Granule 16x16",   1;
    Granule32x32, "Granule 32x32",   2;
}

#[rustfmt::skip]
enumeration! {
    /// Order in which tiles are rendered.
    TileRenderOrder "Tile Render Order";
    ZOrder,            "Z Order",              0;
    Horizontal,        "Horizontal",           1;
    Vertical,          "Vertical",             2;
    ReverseHorizontal, "Reverse horizontal",   5;
    ReverseVertical,   "Reverse vertical",     6;
}

#[rustfmt::skip]
enumeration! {
    /// Format of a depth target in memory; 0 is none.
    ZsFormat "ZS Format";
    D16,   "D16",     1;
    D24,   "D24",     2;
    D24X8, "D24X8",   4;
    D24S8, "D24S8",   5;
    D32,   "D32",    14;
}

#[rustfmt::skip]
enumeration! {
    /// Order of pixels in a target in memory.
    BlockFormat "Block Format";
    NoWrite,           "No Write",              0;
    TiledUInterleaved, "Tiled U-Interleaved",   1;
    Linear,            "Linear",                2;
    Interleaved64k,    "Interleaved 64k",       8;
    Afbc,              "AFBC",                 12;
    AfbcTiled,         "AFBC Tiled",           13;
}

#[rustfmt::skip]
enumeration! {
    /// How samples are written back.
    Msaa "MSAA";
    Single,   "Single",     0;
    Average,  "Average",    1;
    Multiple, "Multiple",   2, until(V10);
    Layered,  "Layered",    3;
}

#[rustfmt::skip]
enumeration! {
    /// Format of a stencil target in memory; 0 is none.
    SFormat "S Format";
    S8,    "S8",      1;
    X24S8, "X24S8",   4;
}

#[rustfmt::skip]
descriptor! {
    /// What a fragment job renders: frame shaders, size, samples, tile size, depth and clear values.
    FramebufferParameters "Framebuffer Parameters", bytes [64 until V10] [72 since V11], align Some(64), section "15";
    pre_frame_0:                           PrePostFrameShaderMode, "Pre Frame 0",                             0,  3                      => "When the first frame shader runs (drivers: colour preload)";
    pre_frame_1:                           PrePostFrameShaderMode, "Pre Frame 1",                             3,  3                      => "second frame shader (depth/stencil preload)";
    post_frame:                            PrePostFrameShaderMode, "Post Frame",                              6,  3                      => "third, after all primitives; drivers Never";
    downscale_geometry:                    Downscale,              "Downscale geometry",                      9,  2                      => "drivers 0";
    hsr_prepass_enable:                    bool,                   "HSR Prepass Enable",                     11,  1, since(V13)          => "hidden-surface prepass; drivers: if two tiles of depth fit";
    hsr_prepass_interleaving_enable:       bool,                   "HSR Prepass Interleaving Enable",        12,  1, since(V13)          => "prepass and main pass interleave; drivers: as the prepass";
    hsr_prepass_filter_enable:             bool,                   "HSR Prepass Filter Enable",              13,  1, since(V13)          => "drivers 1";
    hsr_hierarchical_optimizations_enable: bool,                   "HSR Hierarchical Optimizations Enable",  14,  1, since(V13)          => "drivers 1";
    internal_layer_index:                  u32,                    "Internal layer index",                   24,  8                      => "layer - layer offset base of the tiler context: which list of the context to consume";
    frame_argument:                        u64,                    "Frame argument",                         64, 64                      => "delivered in r62-r63 of fragment and frame shaders; drivers: layer";
    sample_locations:                      Address,                "Sample Locations",                      128, 64                      => "sample position table, section 20";
    frame_shader_dcds:                     Aligned<64>,            "Frame Shader DCDs",                     192, 64                      => "array of 3 Draw descriptors (128 bytes each), 64-aligned; used only when a mode is not Never";
    width:                                 u32,                    "Width",                                 256, 16, minus(1)            => "pixels, 1..65536";
    height:                                u32,                    "Height",                                272, 16, minus(1)            => "pixels";
    bound_min_x:                           u32,                    "Bound Min X",                           288, 16                      => "render area, pixels, inclusive";
    bound_min_y:                           u32,                    "Bound Min Y",                           304, 16                      => "pixels, inclusive";
    bound_max_x:                           u32,                    "Bound Max X",                           320, 16                      => "inclusive";
    bound_max_y:                           u32,                    "Bound Max Y",                           336, 16                      => "inclusive; outside: tiles not touched beyond tile granularity";
    sample_count:                          u32,                    "Sample Count",                          352,  3, log2(), default(1)  => "1,(2),4,8,16";
    sample_pattern:                        SamplePattern,          "Sample Pattern",                        355,  3                      => "positions of the samples";
    tie_break_rule:                        TieBreakRule,           "Tie-Break Rule",                        358,  3                      => "drivers MINUS_180_IN_0_OUT; MINUS_180_OUT_0_IN for 16 samples";
    effective_tile_size:                   u32,                    "Effective Tile Size",                   361,  4, log2()              => "pixels of a tile (area): 16 to 1024, v12 and later to 4096";
    first_provoking_vertex:                bool,                   "First provoking vertex",                366,  1                      => "same as tiler context";
    point_sprite_coord_origin_max_y:       bool,                   "Point sprite coord origin max Y",       367,  1, default(1)          => "1: point coordinate origin lower left";
    blend_suppress_inf:                    bool,                   "Blend suppress Inf",                    368,  1                      => "drivers 0";
    blend_suppress_nan:                    bool,                   "Blend suppress NaN",                    369,  1                      => "drivers 0";
    blend_suppress_denorm:                 bool,                   "Blend suppress denorm",                 370,  1                      => "drivers 0";
    render_target_count:                   u32,                    "Render Target Count",                   371,  4, minus(1)            => "1..8";
    color_buffer_allocation:               u32,                    "Color Buffer Allocation",               376,  8, shr(10)             => "tile buffer bytes: align(bytes per pixel x tile, 1024)";
    s_clear:                               u32,                    "S Clear",                               384,  8                      => "stencil clear value";
    s_write_enable:                        bool,                   "S Write Enable",                        392,  1                      => "stencil stored at tile end";
    s_preload_enable:                      bool,                   "S Preload Enable",                      393,  1                      => "hardware load; drivers 0 (frame shaders load)";
    s_unload_enable:                       bool,                   "S Unload Enable",                       394,  1                      => "drivers 0";
    z_internal_format:                     ZInternalFormat,        "Z Internal Format",                     400,  2                      => "depth in the tile buffer";
    z_write_enable:                        bool,                   "Z Write Enable",                        402,  1                      => "depth stored at tile end";
    z_preload_enable:                      bool,                   "Z Preload Enable",                      403,  1                      => "drivers 0";
    z_unload_enable:                       bool,                   "Z Unload Enable",                       404,  1                      => "drivers 0";
    has_zs_crc_extension:                  bool,                   "Has ZS CRC Extension",                  405,  1                      => "= tag bit 1";
    empty_tile_read_enable:                bool,                   "Empty Tile Read Enable",                412,  1                      => "drivers 0";
    empty_tile_write_enable:               bool,                   "Empty Tile Write Enable",               413,  1                      => "drivers 0";
    crc_read_enable:                       bool,                   "CRC Read Enable",                       414,  1                      => "use stored CRCs (skip identical tile writes)";
    crc_write_enable:                      bool,                   "CRC Write Enable",                      415,  1                      => "store CRCs";
    z_clear:                               f32,                    "Z Clear",                               416, 32                      => "depth clear value";
    tiler:                                 Aligned<64>,            "Tiler",                                 448, 64                      => "Tiler Context; 0 when there is no geometry";
    vrs_image_rate:                        VrsImageRate,           "VRS Image Rate",                        512,  2, since(V11)          => "pixels per texel of the shading-rate image";
    // FACT: where the shading-rate image's address stands is inferred (hardware/descriptors.md 15): bits 517 up, as an address
    // without its low 5 bits. Settled by rendering with a shading-rate image on a v11 board.
    vrs_image_plane:                       Address,                "VRS Image Plane",                       517, 59, since(V11)          => "shading-rate image: a 32-byte aligned address without its low 5 bits (inferred)";
}

#[rustfmt::skip]
descriptor! {
    /// Zero bytes up to byte 128 of the framebuffer.
    FramebufferPadding "Framebuffer Padding", bytes [64 until V10] [56 since V11], align None, section "15";
}

#[rustfmt::skip]
descriptor! {
    /// What the framebuffer pointer points to; an extension and the render targets follow it.
    Framebuffer "Framebuffer", bytes [128], align Some(64), section "15";
    parameters: FramebufferParameters, "Parameters",   0, 512, moved(V11, 0, 576)    => "size, samples, tiles, clear values";
    padding:    FramebufferPadding,    "Padding",    512, 512, moved(V11, 576, 448)  => "zero";
}

#[rustfmt::skip]
descriptor! {
    /// Where the framebuffer is, with a tag that tells what follows it: fragment register d40.
    FramebufferPointer "Framebuffer pointer", bytes [8], align None, section "15";
    kind:                     bool,        "Type",                     0,  1, fixed(1)  => "always 1";
    zs_crc_extension_present: bool,        "ZS CRC Extension present", 1,  1            => "extension follows the 128 bytes";
    render_target_count:      u32,         "Render target count",      2,  4, minus(1)  => "1..8";
    pointer:                  Aligned<64>, "Pointer",                  6, 58, shr(6)    => "base >> 6";
}

#[rustfmt::skip]
descriptor! {
    /// A fragment job of the older, job-based interface; not used with command streams.
    FragmentJobPayload "Fragment Job Payload", bytes [32 until V11], align None, section "23";
    bound_min_x:                u32,             "Bound Min X",                   0, 12  => "tiles of 32x32 pixels";
    bound_min_y:                u32,             "Bound Min Y",                  16, 12  => "tiles";
    bound_max_x:                u32,             "Bound Max X",                  32, 12  => "tiles, inclusive";
    bound_max_y:                u32,             "Bound Max Y",                  48, 12  => "tiles, inclusive";
    tile_render_order:          TileRenderOrder, "Tile render order",            60,  3  => "order of tiles";
    has_tile_enable_map:        bool,            "Has Tile Enable Map",          63,  1  => "1: only the tiles of the map are rendered";
    framebuffer:                Address,         "Framebuffer",                  64, 64  => "tagged framebuffer pointer";
    tile_enable_map:            Address,         "Tile Enable Map",             128, 64  => "bitmap of tiles to render";
    tile_enable_map_row_stride: u32,             "Tile Enable Map Row Stride",  192,  8  => "bytes between rows of the map";
}

#[rustfmt::skip]
descriptor! {
    /// Checksums of tiles, to skip writes of equal ones. Part of the ZS CRC Extension.
    Crc "CRC", bytes [64], align Some(64), section "15";
    render_target: u32,     "Render Target",   13,  3                      => "colour target the CRC covers";
    row_stride:    u32,     "Row Stride",      32, 32, moved(V11, 32, 27)  => "bytes: tiles of 16x16 per row x 8";
    clear_color:   u64,     "Clear Color",     64, 64                      => "c0 + ((c0 & 0xffff) << 32) + (0xC000 << 48), c0 = first clear word, if the target is cleared; else 0";
    base:          Address, "Base",           128, 64                      => "CRC area of the level";
}

#[rustfmt::skip]
descriptor! {
    /// Where depth (and interleaved stencil) is stored.
    ZsTarget "ZS Target", bytes [64], align Some(64), section "15";
    write_format:            Option<ZsFormat>, "Write Format",              0,  4                       => "format in memory; 0: not stored";
    block_format:            BlockFormat,      "Block Format",              4,  4                       => "order of pixels in memory";
    msaa:                    Msaa,             "MSAA",                      8,  2                       => "how samples are stored";
    clean_tile_write_enable: bool,             "Clean Tile Write Enable",  31,  1                       => "set when depth or stencil is cleared; same bit as in the S target";
    base:                    Address,          "Base",                    256, 64                       => "address of level/layer";
    row_stride:              u32,              "Row Stride",              320, 32, moved(V11, 320, 27)  => "bytes as in section 9";
    surface_stride_hi:       u32,              "Surface Stride hi",       347,  5, since(V11)           => "bits above those of Surface Stride";
    surface_stride:          u32,              "Surface Stride",          352, 32                       => "sample stride for Layered; else ignored";
}

#[rustfmt::skip]
descriptor! {
    /// Where depth is stored with lossless compression.
    AfbcZsTarget "AFBC ZS Target", bytes [64], align Some(64), section "15";
    write_format:            Option<ZsFormat>, "Write Format",              0,  4                       => "as ZS; D24X8 must be written as D24 (2)";
    block_format:            BlockFormat,      "Block Format",              4,  4                       => "AFBC or AFBC Tiled";
    msaa:                    Msaa,             "MSAA",                      8,  2                       => "how samples are stored";
    reverse_issue_order:     bool,             "Reverse Issue Order",      30,  1                       => "set when the superblock is larger than the tile";
    clean_tile_write_enable: bool,             "Clean Tile Write Enable",  31,  1                       => "set if cleared, or AFBC superblock larger than tile";
    header:                  Address,          "Header",                  256, 64                       => "header address";
    header_row_stride:       u32,              "Header Row Stride",       320, 32, moved(V11, 320, 27)  => "bytes";
    body_offset:             u32,              "Body Offset",             352, 32                       => "body - header, bytes";
}

#[rustfmt::skip]
descriptor! {
    /// Where stencil is stored.
    STarget "S Target", bytes [64], align Some(64), section "15";
    write_format:            Option<SFormat>, "Write Format",             16,  4                       => "format in memory; 0: not stored";
    block_format:            BlockFormat,     "Block Format",             20,  4                       => "order of pixels in memory";
    msaa:                    Msaa,            "MSAA",                     24,  2                       => "how samples are stored";
    clean_tile_write_enable: bool,            "Clean Tile Write Enable",  31,  1                       => "set if cleared, or AFBC superblock larger than tile";
    base:                    Address,         "Base",                    384, 64                       => "address of level/layer";
    row_stride:              u32,             "Row Stride",              448, 32, moved(V11, 448, 27)  => "bytes: linear: between texel (or block) rows; u-interleaved and 64k: between rows of tiles";
    surface_stride_hi:       u32,             "Surface Stride hi",       475,  5, since(V11)           => "bits above those of Surface Stride";
    surface_stride:          u32,             "Surface Stride",          480, 32                       => "sample stride for Layered; else ignored";
}

#[rustfmt::skip]
descriptor! {
    /// Where stencil is stored with lossless compression.
    AfbcSTarget "AFBC S Target", bytes [64], align Some(64), section "15";
    write_format:            Option<SFormat>, "Write Format",             16,  4                       => "format in memory; 0: not stored";
    block_format:            BlockFormat,     "Block Format",             20,  4                       => "order of pixels in memory";
    msaa:                    Msaa,            "MSAA",                     24,  2                       => "how samples are stored";
    reverse_issue_order:     bool,            "Reverse Issue Order",      30,  1                       => "superblock larger than tile";
    clean_tile_write_enable: bool,            "Clean Tile Write Enable",  31,  1                       => "set if cleared, or AFBC superblock larger than tile";
    header:                  Address,         "Header",                  384, 64                       => "header address";
    header_row_stride:       u32,             "Header Row Stride",       448, 32, moved(V11, 448, 27)  => "bytes between rows of header blocks (tiled: rows of 8x8 groups)";
    body_offset:             u32,             "Body Offset",             480, 32                       => "body - header";
}

#[rustfmt::skip]
descriptor! {
    /// Checksums, depth and stencil: three parts in one block, packed by OR.
    ZsCrcExtension "ZS CRC Extension", bytes [64], align Some(64), section "15";
    crc:     Option<Crc>,          "CRC",     0, 512, alternative()  => "checksums of tiles";
    afbc_zs: Option<AfbcZsTarget>, "AFBC ZS", 0, 512, alternative()  => "depth, with lossless compression";
    zs:      Option<ZsTarget>,     "ZS",      0, 512, alternative()  => "depth";
    afbc_s:  Option<AfbcSTarget>,  "AFBC S",  0, 512, alternative()  => "stencil, with lossless compression";
    s:       Option<STarget>,      "S",       0, 512, alternative()  => "stencil";
}
