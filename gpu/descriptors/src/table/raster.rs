//! State of a draw: primitives, viewport, depth and stencil.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::DescriptorType;
use super::shader::{FauPointer, ShaderEnvironment};
use super::texture::Func;
use crate::arch::Arch::{V10, V11, V12, V13};
use crate::member::Address;

#[rustfmt::skip]
enumeration! {
    /// `Draw Mode`.
    DrawMode "Draw Mode";
    None,                   "None",                       0;
    Points,                 "Points",                     1;
    Lines,                  "Lines",                      2;
    LinesAdjacency,         "Lines adjacency",            3;
    LineStrip,              "Line strip",                 4;
    LineStripAdjacency,     "Line strip adjacency",       5;
    LineLoop,               "Line loop",                  6;
    Triangles,              "Triangles",                  8;
    TrianglesAdjacency,     "Triangles adjacency",        9;
    TriangleStrip,          "Triangle strip",            10;
    TriangleStripAdjacency, "Triangle strip adjacency",  11;
    TriangleFan,            "Triangle fan",              12;
    Polygon,                "Polygon",                   13;
    Quads,                  "Quads",                     14;
}

#[rustfmt::skip]
enumeration! {
    /// `Index Type`.
    IndexType "Index Type";
    None,   "None",     0;
    UINT8,  "UINT8",    1;
    UINT16, "UINT16",   2;
    UINT32, "UINT32",   3;
}

#[rustfmt::skip]
enumeration! {
    /// `Point Size Array Format`.
    PointSizeArrayFormat "Point Size Array Format";
    None, "None",   0;
    FP16, "FP16",   2;
    FP32, "FP32",   3;
}

#[rustfmt::skip]
enumeration! {
    /// `FIFO format`.
    FifoFormat "FIFO format";
    Auto,     "Auto",       0;
    Basic,    "Basic",      1;
    Extended, "Extended",   2;
}

#[rustfmt::skip]
enumeration! {
    /// `VRS Draw Rate`.
    VrsDrawRate "VRS Draw Rate";
    OneX1,  "1x1",   0;
    OneX2,  "1x2",   1;
    OneX4,  "1x4",   2;
    TwoX1,  "2x1",   4;
    TwoX2,  "2x2",   5;
    TwoX4,  "2x4",   6;
    FourX1, "4x1",   8;
    FourX2, "4x2",   9;
    FourX4, "4x4",  10;
}

#[rustfmt::skip]
enumeration! {
    /// `VRS Combiner`.
    VrsCombiner "VRS Combiner";
    Keep,    "Keep",      0;
    Replace, "Replace",   1;
    Min,     "Min",       2;
    Max,     "Max",       3;
    Mul,     "Mul",       4;
}

#[rustfmt::skip]
enumeration! {
    /// `Stencil Op`.
    StencilOp "Stencil Op";
    Keep,     "Keep",        0;
    Replace,  "Replace",     1;
    Zero,     "Zero",        2;
    Invert,   "Invert",      3;
    IncrWrap, "Incr Wrap",   4;
    DecrWrap, "Decr Wrap",   5;
    IncrSat,  "Incr Sat",    6;
    DecrSat,  "Decr Sat",    7;
}

#[rustfmt::skip]
enumeration! {
    /// `Depth Clamp Mode`.
    DepthClampMode "Depth Clamp Mode";
    Zero1,  "[0, 1]",   1;
    Bounds, "Bounds",   2;
}

#[rustfmt::skip]
enumeration! {
    /// `Depth Source`.
    DepthSource "Depth Source";
    Minimum,       "Minimum",          0;
    Maximum,       "Maximum",          1;
    FixedFunction, "Fixed function",   2;
    Shader,        "Shader",           3;
}

#[rustfmt::skip]
enumeration! {
    /// `Pixel Kill`.
    PixelKill "Pixel Kill";
    ForceEarly,  "Force Early",    0;
    WeakEarly,   "Weak Early",     2;
    ForceLate,   "Force Late",     3;
    StrongEarly, "Strong Early",   1, since(V12);
}

#[rustfmt::skip]
enumeration! {
    /// `Occlusion Mode`.
    OcclusionMode "Occlusion Mode";
    Disabled,  "Disabled",    0;
    Predicate, "Predicate",   1;
    Counter,   "Counter",     3;
}

#[rustfmt::skip]
enumeration! {
    /// `Conservative Rast Mode`.
    ConservativeRastMode "Conservative Rast Mode";
    Disabled,     "Disabled",        0;
    OverEstimate, "Over Estimate",   1;
}

#[rustfmt::skip]
enumeration! {
    /// `HSR Update`.
    HsrUpdate "HSR Update";
    Early, "Early",   0;
    Late,  "Late",    1;
}

#[rustfmt::skip]
enumeration! {
    /// `HSR Prepass Kill`.
    HsrPrepassKill "HSR Prepass Kill";
    FollowHsrUpdate, "Follow HSR Update",   0;
    Late,            "Late",                1;
}

#[rustfmt::skip]
descriptor! {
    /// `Primitive Flags`.
    PrimitiveFlags "Primitive Flags", bytes [4], align None;
    draw_mode:                 DrawMode,             "Draw mode",                    0,  8, moved(V11, 0, 4);
    index_type:                IndexType,            "Index type",                   8,  3;
    point_size_array_format:   PointSizeArrayFormat, "Point size array format",     11,  2, until(V12);
    primitive_index_enable:    bool,                 "Primitive Index Enable",      13,  1;
    primitive_index_override:  bool,                 "Primitive Index Override",    14,  1;
    allow_rotating_primitives: bool,                 "Allow rotating primitives",   15,  1;
    low_depth_cull:            bool,                 "Low Depth Cull",              16,  1, default(1);
    high_depth_cull:           bool,                 "High Depth Cull",             17,  1, default(1);
    secondary_shader:          bool,                 "Secondary Shader",            18,  1;
    primitive_restart:         bool,                 "Primitive restart",           19,  1;
    layer_index_enable:        bool,                 "Layer index enable",          20,  1;
    scissor_array_enable:      bool,                 "Scissor array enable",        21,  1;
    position_fifo_format:      FifoFormat,           "Position FIFO format",        22,  2;
    view_mask:                 u32,                  "View mask",                   24,  8;
}

#[rustfmt::skip]
descriptor! {
    /// `Primitive Flags 2`.
    PrimitiveFlags2 "Primitive Flags 2", bytes [4 since V11], align None;
    vrs_draw_rate:  VrsDrawRate, "VRS Draw Rate",     0,  4;
    vrs_combiner_0: VrsCombiner, "VRS Combiner 0",    4,  3;
    vrs_combiner_1: VrsCombiner, "VRS Combiner 1",    7,  3;
}

#[rustfmt::skip]
descriptor! {
    /// `Primitive`.
    Primitive "Primitive", bytes [16], align None;
    draw_mode:                 DrawMode,             "Draw mode",                    0,  8;
    index_type:                IndexType,            "Index type",                   8,  3;
    point_size_array_format:   PointSizeArrayFormat, "Point size array format",     11,  2, until(V11);
    primitive_index_enable:    bool,                 "Primitive Index Enable",      13,  1;
    primitive_index_override:  bool,                 "Primitive Index Override",    14,  1;
    allow_rotating_primitives: bool,                 "Allow rotating primitives",   15,  1;
    low_depth_cull:            bool,                 "Low Depth Cull",              16,  1, default(1);
    high_depth_cull:           bool,                 "High Depth Cull",             17,  1, default(1);
    secondary_shader:          bool,                 "Secondary Shader",            18,  1;
    primitive_restart:         bool,                 "Primitive restart",           19,  1;
    layer_index_enable:        bool,                 "Layer index enable",          20,  1;
    scissor_array_enable:      bool,                 "Scissor array enable",        21,  1;
    base_vertex_offset:        i32,                  "Base vertex offset",          32, 32;
    instance_offset:           u32,                  "Instance offset",             64, 32;
    index_count:               u32,                  "Index count",                 96, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `Primitive Size`.
    PrimitiveSize "Primitive Size", bytes [8 until V12], align None;
    size_array:  u64, "Size Array",     0, 64;
    fixed_sized: f32, "Fixed Sized",    0, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `Scissor`.
    Scissor "Scissor", bytes [8], align None;
    scissor_minimum_x: u32, "Scissor Minimum X",    0, 16;
    scissor_minimum_y: u32, "Scissor Minimum Y",   16, 16;
    scissor_maximum_x: u32, "Scissor Maximum X",   32, 16;
    scissor_maximum_y: u32, "Scissor Maximum Y",   48, 16;
}

#[rustfmt::skip]
descriptor! {
    /// `Viewport`.
    Viewport "Viewport", bytes [16 since V12], align Some(16);
    min_x:     u32, "Min X",        0, 16;
    min_y:     u32, "Min Y",       16, 16;
    max_x:     u32, "Max X",       32, 16;
    max_y:     u32, "Max Y",       48, 16;
    min_depth: f32, "Min Depth",   64, 32;
    max_depth: f32, "Max Depth",   96, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `Vertex Array`.
    VertexArray "Vertex Array", bytes [12 until V11], align None;
    packet:                  bool,    "Packet",                     0,  1;
    pointer:                 Address, "Pointer",                    6, 58, shr(6);
    vertex_packet_stride:    u32,     "Vertex packet stride",      64, 16;
    vertex_attribute_stride: u32,     "Vertex attribute stride",   80, 16;
}

#[rustfmt::skip]
descriptor! {
    /// `Depth/stencil`.
    DepthStencil "Depth/stencil", bytes [32], align Some(32);
    kind:                          DescriptorType, "Type",                             0,  4, fixed(7);
    front_compare_function:        Func,           "Front compare function",           4,  3;
    front_stencil_fail:            StencilOp,      "Front stencil fail",               7,  3;
    front_depth_fail:              StencilOp,      "Front depth fail",                10,  3;
    front_depth_pass:              StencilOp,      "Front depth pass",                13,  3;
    back_compare_function:         Func,           "Back compare function",           16,  3;
    back_stencil_fail:             StencilOp,      "Back stencil fail",               19,  3;
    back_depth_fail:               StencilOp,      "Back depth fail",                 22,  3;
    back_depth_pass:               StencilOp,      "Back depth pass",                 25,  3;
    stencil_from_shader:           bool,           "Stencil from shader",             30,  1;
    stencil_test_enable:           bool,           "Stencil test enable",             31,  1;
    front_write_mask:              u32,            "Front write mask",                32,  8;
    back_write_mask:               u32,            "Back write mask",                 40,  8;
    front_value_mask:              u32,            "Front value mask",                48,  8;
    back_value_mask:               u32,            "Back value mask",                 56,  8;
    front_reference_value:         u32,            "Front reference value",           64,  8;
    back_reference_value:          u32,            "Back reference value",            72,  8;
    shader_read_only_z_s:          bool,           "Shader read only Z/S",           149,  1, until(V10);
    separated_dependency_tracking: bool,           "Separated Dependency Tracking",  149,  1, since(V11), until(V11);
    depth_cull_enable:             bool,           "Depth cull enable",              150,  1, default(1);
    depth_clamp_mode:              DepthClampMode, "Depth clamp mode",               151,  2, default(1);
    depth_source:                  DepthSource,    "Depth source",                   153,  2, default(2);
    depth_write_enable:            bool,           "Depth write enable",             155,  1;
    depth_bias_enable:             bool,           "Depth bias enable",              156,  1;
    depth_function:                Func,           "Depth function",                 157,  3;
    depth_units:                   f32,            "Depth units",                    160, 32;
    depth_factor:                  f32,            "Depth factor",                   192, 32;
    depth_bias_clamp:              f32,            "Depth bias clamp",               224, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `DCD Flags 0`.
    DcdFlags0 "DCD Flags 0", bytes [4], align None;
    allow_forward_pixel_to_kill:      bool,                 "Allow forward pixel to kill",         0,  1;
    allow_forward_pixel_to_be_killed: bool,                 "Allow forward pixel to be killed",    1,  1;
    pixel_kill_operation:             PixelKill,            "Pixel kill operation",                2,  2;
    zs_update_operation:              PixelKill,            "ZS update operation",                 4,  2;
    allow_primitive_reorder:          bool,                 "Allow primitive reorder",             6,  1, until(V11);
    overdraw_alpha0:                  bool,                 "Overdraw alpha0",                     7,  1;
    overdraw_alpha1:                  bool,                 "Overdraw alpha1",                     8,  1;
    clean_fragment_write:             bool,                 "Clean Fragment Write",                9,  1;
    primitive_barrier:                bool,                 "Primitive Barrier",                  10,  1;
    evaluate_per_sample:              bool,                 "Evaluate per-sample",                11,  1;
    disable_vrs_clamp_2x2:            bool,                 "Disable VRS Clamp 2x2",              12,  1, since(V12);
    aligned_line_ends:                bool,                 "Aligned line-ends",                  13,  1;
    occlusion_query:                  OcclusionMode,        "Occlusion query",                    14,  2;
    front_face_ccw:                   bool,                 "Front face CCW",                     16,  1;
    cull_front_face:                  bool,                 "Cull front face",                    17,  1;
    cull_back_face:                   bool,                 "Cull back face",                     18,  1;
    multisample_enable:               bool,                 "Multisample enable",                 19,  1;
    shader_modifies_coverage:         bool,                 "Shader modifies coverage",           20,  1;
    alpha_to_coverage_invert:         bool,                 "Alpha-to-coverage Invert",           21,  1;
    alpha_to_coverage:                bool,                 "Alpha-to-coverage",                  22,  1;
    scissor_to_bounding_box:          bool,                 "Scissor to bounding box",            23,  1;
    conservative_rast_mode:           ConservativeRastMode, "Conservative Rast Mode",             24,  2, since(V11);
    cull_zero_area:                   bool,                 "Cull Zero Area",                     26,  1, since(V11);
    conservative_tracking:            bool,                 "Conservative Tracking",              27,  1, since(V12);
}

#[rustfmt::skip]
descriptor! {
    /// `DCD Flags 1`.
    DcdFlags1 "DCD Flags 1", bytes [4], align None;
    sample_mask:          u32,  "Sample mask",             0, 16;
    render_target_mask:   u32,  "Render target mask",     16,  8, moved(V11, 16, 11), moved(V12, 16, 12);
    enable_vrs_clamp_2x2: bool, "Enable VRS Clamp 2x2",   27,  1, since(V11), until(V11);
}

#[rustfmt::skip]
descriptor! {
    /// `DCD Flags 2`.
    DcdFlags2 "DCD Flags 2", bytes [4], align None;
    read_mask:                          u32,            "Read mask",                             0, 12;
    write_mask:                         u32,            "Write mask",                           12, 12;
    no_shader_stencil_read:             bool,           "No Shader Stencil Read",               24,  1, since(V11);
    no_shader_depth_read:               bool,           "No Shader Depth Read",                 25,  1, since(V11);
    hsr_can_cull:                       bool,           "HSR Can Cull",                         26,  1, since(V13);
    hsr_can_be_culled:                  bool,           "HSR Can Be Culled",                    27,  1, since(V13);
    z_write_or_stencil:                 bool,           "Z Write Or Stencil",                   28,  1, since(V13);
    enable_varying_shading_in_pre_pass: bool,           "Enable Varying Shading In Pre Pass",   29,  1, since(V13);
    hsr_update_operation:               HsrUpdate,      "HSR Update Operation",                 30,  1, since(V13);
    hsr_prepass_kill_operation:         HsrPrepassKill, "HSR Prepass Kill Operation",           31,  1, since(V13);
}

#[rustfmt::skip]
descriptor! {
    /// `Draw`.
    Draw "Draw", bytes [128], align Some(64);
    flags_0:            DcdFlags0,         "Flags 0",               0, 32;
    flags_1:            DcdFlags1,         "Flags 1",              32, 32;
    vertex_array:       VertexArray,       "Vertex array",         64, 96, until(V11);
    vertex_pointer:     Address,           "Vertex pointer",       64, 64, since(V12);
    flags_2:            DcdFlags2,         "Flags 2",             160, 32;
    minimum_z:          f32,               "Minimum Z",           192, 32, until(V11);
    maximum_z:          f32,               "Maximum Z",           224, 32, until(V11);
    depth_stencil:      Address,           "Depth/stencil",       320, 64;
    blend_count:        u32,               "Blend count",         384,  4;
    blend:              Address,           "Blend",               388, 60, shr(4);
    occlusion:          Address,           "Occlusion",           448, 64;
    shader:             ShaderEnvironment, "Shader",              512, 512, until(V11);
    vertex_resources:   Address,           "Vertex Resources",    576, 64, since(V12);
    vertex_shader:      Address,           "Vertex Shader",       640, 64, since(V12);
    vertex_fau:         FauPointer,        "Vertex FAU",          704, 64, since(V12);
    fragment_resources: Address,           "Fragment Resources",  768, 64, since(V12);
    fragment_shader:    Address,           "Fragment Shader",     832, 64, since(V12);
    thread_storage:     Address,           "Thread storage",      896, 64, since(V12);
    fragment_fau:       FauPointer,        "Fragment FAU",        960, 64, since(V12);
}
