//! Framebuffers: parameters, depth and stencil targets, checksums.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use crate::arch::Arch::{V10, V11, V12, V13};
use crate::member::Address;

#[rustfmt::skip]
enumeration! {
    /// `Pre Post Frame Shader Mode`.
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
    /// `Downscale`.
    Downscale "Downscale";
    None,  "None",   0;
    TwoX,  "2x",     1;
    FourX, "4x",     2;
}

#[rustfmt::skip]
enumeration! {
    /// `Sample Pattern`.
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
    /// `Tie-Break Rule`.
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
    /// `Z Internal Format`.
    ZInternalFormat "Z Internal Format";
    D16, "D16",   0;
    D24, "D24",   1;
    D32, "D32",   2;
}

#[rustfmt::skip]
enumeration! {
    /// `VRS Image Rate`.
    VrsImageRate "VRS Image Rate";
    Granule8x8,   "Granule 8x8",     0;
    Granule16x16, "Granule 16x16",   1;
    Granule32x32, "Granule 32x32",   2;
}

#[rustfmt::skip]
enumeration! {
    /// `Tile Render Order`.
    TileRenderOrder "Tile Render Order";
    ZOrder,            "Z Order",              0;
    Horizontal,        "Horizontal",           1;
    Vertical,          "Vertical",             2;
    ReverseHorizontal, "Reverse horizontal",   5;
    ReverseVertical,   "Reverse vertical",     6;
}

#[rustfmt::skip]
enumeration! {
    /// `ZS Format`.
    ZsFormat "ZS Format";
    D16,   "D16",     1;
    D24,   "D24",     2;
    D24X8, "D24X8",   4;
    D24S8, "D24S8",   5;
    D32,   "D32",    14;
}

#[rustfmt::skip]
enumeration! {
    /// `Block Format`.
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
    /// `MSAA`.
    Msaa "MSAA";
    Single,   "Single",     0;
    Average,  "Average",    1;
    Multiple, "Multiple",   2, until(V10);
    Layered,  "Layered",    3;
}

#[rustfmt::skip]
enumeration! {
    /// `S Format`.
    SFormat "S Format";
    S8,    "S8",      1;
    X24S8, "X24S8",   4;
}

#[rustfmt::skip]
descriptor! {
    /// `Framebuffer Parameters`.
    FramebufferParameters "Framebuffer Parameters", bytes [64 until V10] [72 since V11], align Some(64);
    pre_frame_0:                           PrePostFrameShaderMode, "Pre Frame 0",                              0,  3;
    pre_frame_1:                           PrePostFrameShaderMode, "Pre Frame 1",                              3,  3;
    post_frame:                            PrePostFrameShaderMode, "Post Frame",                               6,  3;
    downscale_geometry:                    Downscale,              "Downscale geometry",                       9,  2;
    hsr_prepass_enable:                    bool,                   "HSR Prepass Enable",                      11,  1, since(V13);
    hsr_prepass_interleaving_enable:       bool,                   "HSR Prepass Interleaving Enable",         12,  1, since(V13);
    hsr_prepass_filter_enable:             bool,                   "HSR Prepass Filter Enable",               13,  1, since(V13);
    hsr_hierarchical_optimizations_enable: bool,                   "HSR Hierarchical Optimizations Enable",   14,  1, since(V13);
    internal_layer_index:                  u32,                    "Internal layer index",                    24,  8;
    frame_argument:                        u64,                    "Frame argument",                          64, 64;
    sample_locations:                      Address,                "Sample Locations",                       128, 64;
    frame_shader_dcds:                     Address,                "Frame Shader DCDs",                      192, 64;
    width:                                 u32,                    "Width",                                  256, 16, minus(1);
    height:                                u32,                    "Height",                                 272, 16, minus(1);
    bound_min_x:                           u32,                    "Bound Min X",                            288, 16;
    bound_min_y:                           u32,                    "Bound Min Y",                            304, 16;
    bound_max_x:                           u32,                    "Bound Max X",                            320, 16;
    bound_max_y:                           u32,                    "Bound Max Y",                            336, 16;
    sample_count:                          u32,                    "Sample Count",                           352,  3, log2(), default(1);
    sample_pattern:                        SamplePattern,          "Sample Pattern",                         355,  3;
    tie_break_rule:                        TieBreakRule,           "Tie-Break Rule",                         358,  3;
    effective_tile_size:                   u32,                    "Effective Tile Size",                    361,  4, log2();
    first_provoking_vertex:                bool,                   "First provoking vertex",                 366,  1;
    point_sprite_coord_origin_max_y:       bool,                   "Point sprite coord origin max Y",        367,  1, default(1);
    blend_suppress_inf:                    bool,                   "Blend suppress Inf",                     368,  1;
    blend_suppress_nan:                    bool,                   "Blend suppress NaN",                     369,  1;
    blend_suppress_denorm:                 bool,                   "Blend suppress denorm",                  370,  1;
    render_target_count:                   u32,                    "Render Target Count",                    371,  4, minus(1);
    color_buffer_allocation:               u32,                    "Color Buffer Allocation",                376,  8, shr(10);
    s_clear:                               u32,                    "S Clear",                                384,  8;
    s_write_enable:                        bool,                   "S Write Enable",                         392,  1;
    s_preload_enable:                      bool,                   "S Preload Enable",                       393,  1;
    s_unload_enable:                       bool,                   "S Unload Enable",                        394,  1;
    z_internal_format:                     ZInternalFormat,        "Z Internal Format",                      400,  2;
    z_write_enable:                        bool,                   "Z Write Enable",                         402,  1;
    z_preload_enable:                      bool,                   "Z Preload Enable",                       403,  1;
    z_unload_enable:                       bool,                   "Z Unload Enable",                        404,  1;
    has_zs_crc_extension:                  bool,                   "Has ZS CRC Extension",                   405,  1;
    empty_tile_read_enable:                bool,                   "Empty Tile Read Enable",                 412,  1;
    empty_tile_write_enable:               bool,                   "Empty Tile Write Enable",                413,  1;
    crc_read_enable:                       bool,                   "CRC Read Enable",                        414,  1;
    crc_write_enable:                      bool,                   "CRC Write Enable",                       415,  1;
    z_clear:                               f32,                    "Z Clear",                                416, 32;
    tiler:                                 Address,                "Tiler",                                  448, 64;
    vrs_image_rate:                        VrsImageRate,           "VRS Image Rate",                         512,  2, since(V11);
    vrs_image_plane:                       Address,                "VRS Image Plane",                        517, 59, since(V11);
}

#[rustfmt::skip]
descriptor! {
    /// `Framebuffer Padding`.
    FramebufferPadding "Framebuffer Padding", bytes [64 until V10] [56 since V11], align None;
}

#[rustfmt::skip]
descriptor! {
    /// `Framebuffer pointer`.
    FramebufferPointer "Framebuffer pointer", bytes [8], align None;
    kind:                     bool,    "Type",                        0,  1, fixed(1);
    zs_crc_extension_present: bool,    "ZS CRC Extension present",    1,  1;
    render_target_count:      u32,     "Render target count",         2,  4, minus(1);
    pointer:                  Address, "Pointer",                     6, 58, shr(6);
}

#[rustfmt::skip]
descriptor! {
    /// `Fragment Job Payload`.
    FragmentJobPayload "Fragment Job Payload", bytes [32 until V11], align None;
    bound_min_x:                u32,             "Bound Min X",                   0, 12;
    bound_min_y:                u32,             "Bound Min Y",                  16, 12;
    bound_max_x:                u32,             "Bound Max X",                  32, 12;
    bound_max_y:                u32,             "Bound Max Y",                  48, 12;
    tile_render_order:          TileRenderOrder, "Tile render order",            60,  3;
    has_tile_enable_map:        bool,            "Has Tile Enable Map",          63,  1;
    framebuffer:                Address,         "Framebuffer",                  64, 64;
    tile_enable_map:            Address,         "Tile Enable Map",             128, 64;
    tile_enable_map_row_stride: u32,             "Tile Enable Map Row Stride",  192,  8;
}

#[rustfmt::skip]
descriptor! {
    /// `CRC`.
    Crc "CRC", bytes [64], align Some(64);
    render_target: u32,     "Render Target",   13,  3;
    row_stride:    u32,     "Row Stride",      32, 32, moved(V11, 32, 27);
    clear_color:   u64,     "Clear Color",     64, 64;
    base:          Address, "Base",           128, 64;
}

#[rustfmt::skip]
descriptor! {
    /// `ZS Target`.
    ZsTarget "ZS Target", bytes [64], align Some(64);
    write_format:            ZsFormat,    "Write Format",               0,  4;
    block_format:            BlockFormat, "Block Format",               4,  4;
    msaa:                    Msaa,        "MSAA",                       8,  2;
    clean_tile_write_enable: bool,        "Clean Tile Write Enable",   31,  1;
    base:                    Address,     "Base",                     256, 64;
    row_stride:              u32,         "Row Stride",               320, 32, moved(V11, 320, 27);
    surface_stride_hi:       u32,         "Surface Stride hi",        347,  5, since(V11);
    surface_stride:          u32,         "Surface Stride",           352, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `AFBC ZS Target`.
    AfbcZsTarget "AFBC ZS Target", bytes [64], align Some(64);
    write_format:            ZsFormat,    "Write Format",               0,  4;
    block_format:            BlockFormat, "Block Format",               4,  4;
    msaa:                    Msaa,        "MSAA",                       8,  2;
    reverse_issue_order:     bool,        "Reverse Issue Order",       30,  1;
    clean_tile_write_enable: bool,        "Clean Tile Write Enable",   31,  1;
    header:                  Address,     "Header",                   256, 64;
    header_row_stride:       u32,         "Header Row Stride",        320, 32, moved(V11, 320, 27);
    body_offset:             u32,         "Body Offset",              352, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `S Target`.
    STarget "S Target", bytes [64], align Some(64);
    write_format:            SFormat,     "Write Format",              16,  4;
    block_format:            BlockFormat, "Block Format",              20,  4;
    msaa:                    Msaa,        "MSAA",                      24,  2;
    clean_tile_write_enable: bool,        "Clean Tile Write Enable",   31,  1;
    base:                    Address,     "Base",                     384, 64;
    row_stride:              u32,         "Row Stride",               448, 32, moved(V11, 448, 27);
    surface_stride_hi:       u32,         "Surface Stride hi",        475,  5, since(V11);
    surface_stride:          u32,         "Surface Stride",           480, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `AFBC S Target`.
    AfbcSTarget "AFBC S Target", bytes [64], align Some(64);
    write_format:            SFormat,     "Write Format",              16,  4;
    block_format:            BlockFormat, "Block Format",              20,  4;
    msaa:                    Msaa,        "MSAA",                      24,  2;
    reverse_issue_order:     bool,        "Reverse Issue Order",       30,  1;
    clean_tile_write_enable: bool,        "Clean Tile Write Enable",   31,  1;
    header:                  Address,     "Header",                   384, 64;
    header_row_stride:       u32,         "Header Row Stride",        448, 32, moved(V11, 448, 27);
    body_offset:             u32,         "Body Offset",              480, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `ZS CRC Extension`.
    ZsCrcExtension "ZS CRC Extension", bytes [64], align Some(64);
    crc:     Crc,          "CRC",        0, 512;
    afbc_zs: AfbcZsTarget, "AFBC ZS",    0, 512;
    zs:      ZsTarget,     "ZS",         0, 512;
    afbc_s:  AfbcSTarget,  "AFBC S",     0, 512;
    s:       STarget,      "S",          0, 512;
}
