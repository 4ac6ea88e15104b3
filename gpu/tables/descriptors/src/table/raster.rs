//! State of a draw: primitives, viewport, depth and stencil.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::DescriptorType;
use super::shader::{FauPointer, ShaderEnvironment};
use super::texture::Func;
use crate::arch::Arch::{V10, V11, V12, V13};
use crate::member::{Address, Aligned};

#[rustfmt::skip]
enumeration! {
    /// Primitive topology.
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
    /// Type of indices.
    IndexType "Index Type";
    None,   "None",     0;
    UINT8,  "UINT8",    1;
    UINT16, "UINT16",   2;
    UINT32, "UINT32",   3;
}

#[rustfmt::skip]
enumeration! {
    /// Format of per-vertex point sizes.
    PointSizeArrayFormat "Point Size Array Format";
    None, "None",   0;
    FP16, "FP16",   2;
    FP32, "FP32",   3;
}

#[rustfmt::skip]
enumeration! {
    /// Format of positions in the tiler FIFO.
    FifoFormat "FIFO format";
    Auto,     "Auto",       0;
    Basic,    "Basic",      1;
    Extended, "Extended",   2;
}

#[rustfmt::skip]
enumeration! {
    /// Shading rate of a draw, in pixels.
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
    /// How shading rates combine.
    VrsCombiner "VRS Combiner";
    Keep,    "Keep",      0;
    Replace, "Replace",   1;
    Min,     "Min",       2;
    Max,     "Max",       3;
    Mul,     "Mul",       4;
}

#[rustfmt::skip]
enumeration! {
    /// What is done to the stencil value.
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
    /// To what depth is clamped.
    DepthClampMode "Depth Clamp Mode";
    Zero1,  "[0, 1]",   1;
    Bounds, "Bounds",   2;
}

#[rustfmt::skip]
enumeration! {
    /// Where the depth of a fragment comes from.
    DepthSource "Depth Source";
    Minimum,       "Minimum",          0;
    Maximum,       "Maximum",          1;
    FixedFunction, "Fixed function",   2;
    Shader,        "Shader",           3;
}

#[rustfmt::skip]
enumeration! {
    /// When a test takes effect.
    PixelKill "Pixel Kill";
    ForceEarly,  "Force Early",    0;
    WeakEarly,   "Weak Early",     2;
    ForceLate,   "Force Late",     3;
    StrongEarly, "Strong Early",   1, since(V12);
}

#[rustfmt::skip]
enumeration! {
    /// What an occlusion query counts.
    OcclusionMode "Occlusion Mode";
    Disabled,  "Disabled",    0;
    Predicate, "Predicate",   1;
    Counter,   "Counter",     3;
}

#[rustfmt::skip]
enumeration! {
    /// Conservative rasterisation.
    ConservativeRastMode "Conservative Rast Mode";
    Disabled,     "Disabled",        0;
    OverEstimate, "Over Estimate",   1;
}

#[rustfmt::skip]
enumeration! {
    /// When hidden-surface removal is updated.
    HsrUpdate "HSR Update";
    Early, "Early",   0;
    Late,  "Late",    1;
}

#[rustfmt::skip]
enumeration! {
    /// When the prepass of hidden-surface removal kills.
    HsrPrepassKill "HSR Prepass Kill";
    FollowHsrUpdate, "Follow HSR Update",   0;
    Late,            "Late",                1;
}

#[rustfmt::skip]
descriptor! {
    /// Topology and indices: register r56, and ORed in by the draw instruction.
    PrimitiveFlags "Primitive Flags", bytes [4], align None, section "18";
    draw_mode:                 DrawMode,             "Draw mode",                    0,  8, moved(V11, 0, 4)  => "topology";
    index_type:                IndexType,            "Index type",                   8,  3                    => "None = non-indexed";
    point_size_array_format:   PointSizeArrayFormat, "Point size array format",     11,  2, until(V12)        => "FP16 when the vertex shader writes point size; v13: gone";
    primitive_index_enable:    bool,                 "Primitive Index Enable",      13,  1                    => "supply primitive id to the fragment shader";
    primitive_index_override:  bool,                 "Primitive Index Override",    14,  1                    => "id taken from the vertex attribute record";
    allow_rotating_primitives: bool,                 "Allow rotating primitives",   15,  1                    => "vertices may be rotated; 0 if flat shading or barycentrics matter";
    low_depth_cull:            bool,                 "Low Depth Cull",              16,  1, default(1)        => "clip below the low Z bound (depth clip enable)";
    high_depth_cull:           bool,                 "High Depth Cull",             17,  1, default(1)        => "clip above the high Z bound";
    secondary_shader:          bool,                 "Secondary Shader",            18,  1                    => "run the varying program (v10/v11); set when varying program and fragment shader exist";
    primitive_restart:         bool,                 "Primitive restart",           19,  1                    => "all-ones index of the index type restarts";
    layer_index_enable:        bool,                 "Layer index enable",          20,  1                    => "vertex shader writes the layer";
    scissor_array_enable:      bool,                 "Scissor array enable",        21,  1                    => "drivers 0";
    position_fifo_format:      FifoFormat,           "Position FIFO format",        22,  2                    => "Extended when point size, layer, primitive id or multiview is used, else Basic";
    view_mask:                 u32,                  "View mask",                   24,  8                    => "multiview: bit per view; 0 = off";
}

#[rustfmt::skip]
descriptor! {
    /// Shading rate of a draw: register r61.
    PrimitiveFlags2 "Primitive Flags 2", bytes [4 since V11], align None, section "18";
    vrs_draw_rate:  VrsDrawRate, "VRS Draw Rate",     0,  4  => "pixels per fragment";
    vrs_combiner_0: VrsCombiner, "VRS Combiner 0",    4,  3  => "combines the draw's rate with the primitive's";
    vrs_combiner_1: VrsCombiner, "VRS Combiner 1",    7,  3  => "combines that with the image's";
}

#[rustfmt::skip]
descriptor! {
    /// Topology, offsets and count in memory; the form before command streams.
    Primitive "Primitive", bytes [16], align None, section "18";
    draw_mode:                 DrawMode,             "Draw mode",                    0,  8              => "topology";
    index_type:                IndexType,            "Index type",                   8,  3              => "None = non-indexed";
    point_size_array_format:   PointSizeArrayFormat, "Point size array format",     11,  2, until(V11)  => "FP16 when the vertex shader writes point size; v13: gone";
    primitive_index_enable:    bool,                 "Primitive Index Enable",      13,  1              => "supply primitive id to the fragment shader";
    primitive_index_override:  bool,                 "Primitive Index Override",    14,  1              => "id taken from the vertex attribute record";
    allow_rotating_primitives: bool,                 "Allow rotating primitives",   15,  1              => "vertices may be rotated; 0 if flat shading or barycentrics matter";
    low_depth_cull:            bool,                 "Low Depth Cull",              16,  1, default(1)  => "clip below the low Z bound (depth clip enable)";
    high_depth_cull:           bool,                 "High Depth Cull",             17,  1, default(1)  => "clip above the high Z bound";
    secondary_shader:          bool,                 "Secondary Shader",            18,  1              => "run the varying program (v10/v11); set when varying program and fragment shader exist";
    primitive_restart:         bool,                 "Primitive restart",           19,  1              => "all-ones index of the index type restarts";
    layer_index_enable:        bool,                 "Layer index enable",          20,  1              => "vertex shader writes the layer";
    scissor_array_enable:      bool,                 "Scissor array enable",        21,  1              => "drivers 0";
    base_vertex_offset:        i32,                  "Base vertex offset",          32, 32              => "added to indices";
    instance_offset:           u32,                  "Instance offset",             64, 32              => "first instance";
    index_count:               u32,                  "Index count",                 96, 32              => "vertices or indices";
}

#[rustfmt::skip]
descriptor! {
    /// Line width or point size in pixels.
    PrimitiveSize "Primitive Size", bytes [8 until V12], align None, section "18";
    size_array:  u64, "Size Array",  0, 64                 => "address of an array of point sizes";
    fixed_sized: f32, "Fixed Sized", 0, 32, alternative()  => "line width or point size, pixels";
}

#[rustfmt::skip]
descriptor! {
    /// Pixels that a draw may touch, both ends included.
    Scissor "Scissor", bytes [8], align None, section "18";
    scissor_minimum_x: u32, "Scissor Minimum X",    0, 16  => "pixels";
    scissor_minimum_y: u32, "Scissor Minimum Y",   16, 16  => "pixels";
    scissor_maximum_x: u32, "Scissor Maximum X",   32, 16  => "inclusive";
    scissor_maximum_y: u32, "Scissor Maximum Y",   48, 16  => "inclusive";
}

#[rustfmt::skip]
descriptor! {
    /// Pixels and depths that a draw may touch.
    Viewport "Viewport", bytes [16 since V12], align Some(16), section "18";
    min_x:     u32, "Min X",        0, 16  => "pixels";
    min_y:     u32, "Min Y",       16, 16  => "pixels";
    max_x:     u32, "Max X",       32, 16  => "inclusive";
    max_y:     u32, "Max Y",       48, 16  => "inclusive";
    min_depth: f32, "Min Depth",   64, 32  => "depth is clipped and clamped to this";
    max_depth: f32, "Max Depth",   96, 32  => "depth is clipped and clamped to this";
}

#[rustfmt::skip]
descriptor! {
    /// Vertex packets of a draw.
    VertexArray "Vertex Array", bytes [12 until V11], align None, section "19";
    packet:                  bool,        "Packet",                   0,  1          => "1: vertex packets";
    pointer:                 Aligned<64>, "Pointer",                  6, 58, shr(6)  => ">> 6";
    vertex_packet_stride:    u32,         "Vertex packet stride",    64, 16          => "bytes per vertex: varying bytes + 16";
    vertex_attribute_stride: u32,         "Vertex attribute stride", 80, 16          => "varying bytes per vertex";
}

#[rustfmt::skip]
descriptor! {
    /// Depth and stencil tests, and depth bias.
    DepthStencil "Depth/stencil", bytes [32], align Some(32), section "21";
    kind:                          DescriptorType, "Type",                             0,  4, fixed(7)                => "kind of descriptor";
    front_compare_function:        Func,           "Front compare function",           4,  3                          => "test: (ref & value mask) OP (stored & value mask)";
    front_stencil_fail:            StencilOp,      "Front stencil fail",               7,  3                          => "what is done when the stencil test fails";
    front_depth_fail:              StencilOp,      "Front depth fail",                10,  3                          => "stencil passes, depth fails";
    front_depth_pass:              StencilOp,      "Front depth pass",                13,  3                          => "what is done when both tests pass";
    back_compare_function:         Func,           "Back compare function",           16,  3                          => "as front";
    back_stencil_fail:             StencilOp,      "Back stencil fail",               19,  3                          => "as front";
    back_depth_fail:               StencilOp,      "Back depth fail",                 22,  3                          => "as front";
    back_depth_pass:               StencilOp,      "Back depth pass",                 25,  3                          => "as front";
    stencil_from_shader:           bool,           "Stencil from shader",             30,  1                          => "stencil reference comes from the shader";
    stencil_test_enable:           bool,           "Stencil test enable",             31,  1                          => "0: stencil is neither tested nor written";
    front_write_mask:              u32,            "Front write mask",                32,  8                          => "bits of stencil that are written";
    back_write_mask:               u32,            "Back write mask",                 40,  8                          => "as front";
    front_value_mask:              u32,            "Front value mask",                48,  8                          => "compare mask";
    back_value_mask:               u32,            "Back value mask",                 56,  8                          => "as front";
    front_reference_value:         u32,            "Front reference value",           64,  8                          => "what stencil is compared with";
    back_reference_value:          u32,            "Back reference value",            72,  8                          => "as front";
    shader_read_only_z_s:          bool,           "Shader read only Z/S",           149,  1, until(V10)              => "v10: shader reads depth/stencil of the tile and the draw writes neither. v11: Separated Dependency Tracking, drivers 1; v12+: gone";
    separated_dependency_tracking: bool,           "Separated Dependency Tracking",  149,  1, since(V11), until(V11)  => "drivers 1";
    depth_cull_enable:             bool,           "Depth cull enable",              150,  1, default(1)              => "dflt 1; depth clip on (drivers: depth clip state; 0 in preload shaders)";
    depth_clamp_mode:              DepthClampMode, "Depth clamp mode",               151,  2, default(1)              => "Bounds: clamp to min/max Z of the draw";
    depth_source:                  DepthSource,    "Depth source",                   153,  2, default(2)              => "Shader when the fragment shader writes depth, else Fixed function";
    depth_write_enable:            bool,           "Depth write enable",             155,  1                          => "0: depth is only tested";
    depth_bias_enable:             bool,           "Depth bias enable",              156,  1                          => "adds units, factor and clamp below";
    depth_function:                Func,           "Depth function",                 157,  3                          => "Always when the test is off";
    depth_units:                   f32,            "Depth units",                    160, 32                          => "constant bias factor (Vulkan value; GL value x 2)";
    depth_factor:                  f32,            "Depth factor",                   192, 32                          => "slope factor";
    depth_bias_clamp:              f32,            "Depth bias clamp",               224, 32                          => "0 = none";
}

#[rustfmt::skip]
descriptor! {
    /// How fragments are killed, culled, and covered.
    DcdFlags0 "DCD Flags 0", bytes [4], align None, section "17";
    allow_forward_pixel_to_kill:      bool,                 "Allow forward pixel to kill",         0,  1              => "this draw, when opaque, may cancel older fragments of the pixel (FPK)";
    allow_forward_pixel_to_be_killed: bool,                 "Allow forward pixel to be killed",    1,  1              => "fragments of this draw may be cancelled; 0 if shader has side effects";
    pixel_kill_operation:             PixelKill,            "Pixel kill operation",                2,  2              => "When ZS test may kill: Force Early before shading, Weak Early early if cheap, Force Late after ATEST/ZS_EMIT";
    zs_update_operation:              PixelKill,            "ZS update operation",                 4,  2              => "same codes: when depth/stencil is updated";
    allow_primitive_reorder:          bool,                 "Allow primitive reorder",             6,  1, until(V11)  => "drivers 0 (v12+: gone)";
    overdraw_alpha0:                  bool,                 "Overdraw alpha0",                     7,  1              => "alpha = 0 means destination unchanged (blend is a no-op)";
    overdraw_alpha1:                  bool,                 "Overdraw alpha1",                     8,  1              => "alpha = 1 means the source replaces the destination";
    clean_fragment_write:             bool,                 "Clean Fragment Write",                9,  1              => "writes do not mark the tile dirty; preload shaders only";
    primitive_barrier:                bool,                 "Primitive Barrier",                  10,  1              => "finish earlier primitives first; drivers 0 (1 only when reading the tile buffer (inferred))";
    evaluate_per_sample:              bool,                 "Evaluate per-sample",                11,  1              => "one invocation per sample; only with multisampling";
    disable_vrs_clamp_2x2:            bool,                 "Disable VRS Clamp 2x2",              12,  1, since(V12)  => "by its name: shading rates beyond 2x2 pixels stay";
    aligned_line_ends:                bool,                 "Aligned line-ends",                  13,  1              => "2024: single-sampled lines; drivers: 1 when not multisampled";
    occlusion_query:                  OcclusionMode,        "Occlusion query",                    14,  2              => "what the query at Occlusion counts";
    front_face_ccw:                   bool,                 "Front face CCW",                     16,  1              => "in hardware window space";
    cull_front_face:                  bool,                 "Cull front face",                    17,  1              => "triangles only (drivers clear for lines, points)";
    cull_back_face:                   bool,                 "Cull back face",                     18,  1              => "same";
    multisample_enable:               bool,                 "Multisample enable",                 19,  1              => "0: one sample, coverage of the pixel centre";
    shader_modifies_coverage:         bool,                 "Shader modifies coverage",           20,  1              => "discard, sample-mask write or alpha-to-coverage";
    alpha_to_coverage_invert:         bool,                 "Alpha-to-coverage Invert",           21,  1              => "drivers 0";
    alpha_to_coverage:                bool,                 "Alpha-to-coverage",                  22,  1              => "ATEST derives coverage from alpha of RT 0";
    scissor_to_bounding_box:          bool,                 "Scissor to bounding box",            23,  1              => "clip to framebuffer bounds as well; Vulkan driver 1";
    conservative_rast_mode:           ConservativeRastMode, "Conservative Rast Mode",             24,  2, since(V11)  => "conservative rasterisation";
    cull_zero_area:                   bool,                 "Cull Zero Area",                     26,  1, since(V11)  => "drop triangles without area; drivers 1";
    conservative_tracking:            bool,                 "Conservative Tracking",              27,  1, since(V12)  => "meaning not established";
}

#[rustfmt::skip]
descriptor! {
    /// Sample and render-target masks.
    DcdFlags1 "DCD Flags 1", bytes [4], align None, section "17";
    sample_mask:          u32,  "Sample mask",             0, 16                                          => "per-sample enable; 0xFFFF when not multisampled";
    render_target_mask:   u32,  "Render target mask",     16,  8, moved(V11, 16, 11), moved(V12, 16, 12)  => "targets written by the shader; v10 8 bits, v11 11, v12+ 12";
    enable_vrs_clamp_2x2: bool, "Enable VRS Clamp 2x2",   27,  1, since(V11), until(V11)                  => "by its name: shading rates are clamped to 2x2 pixels";
}

#[rustfmt::skip]
descriptor! {
    /// What a draw reads and writes of the tile buffer.
    DcdFlags2 "DCD Flags 2", bytes [4], align None, section "17";
    read_mask:                          u32,            "Read mask",                             0, 12              => "render targets whose tile-buffer content this draw reads";
    write_mask:                         u32,            "Write mask",                           12, 12              => "render targets written through the tile buffer (ST_TILE, blend); dependency tracking. 0 is what the 2024 driver writes";
    no_shader_stencil_read:             bool,           "No Shader Stencil Read",               24,  1, since(V11)  => "the shader does not read stencil of the tile";
    no_shader_depth_read:               bool,           "No Shader Depth Read",                 25,  1, since(V11)  => "the shader does not read depth of the tile";
    hsr_can_cull:                       bool,           "HSR Can Cull",                         26,  1, since(V13)  => "opaque, and depth is written";
    hsr_can_be_culled:                  bool,           "HSR Can Be Culled",                    27,  1, since(V13)  => "no side effects";
    z_write_or_stencil:                 bool,           "Z Write Or Stencil",                   28,  1, since(V13)  => "the draw writes depth or uses stencil";
    enable_varying_shading_in_pre_pass: bool,           "Enable Varying Shading In Pre Pass",   29,  1, since(V13)  => "varyings are shaded in the prepass";
    hsr_update_operation:               HsrUpdate,      "HSR Update Operation",                 30,  1, since(V13)  => "Late when coverage is modified or depth and stencil are updated late";
    hsr_prepass_kill_operation:         HsrPrepassKill, "HSR Prepass Kill Operation",           31,  1, since(V13)  => "when the prepass kills";
}

#[rustfmt::skip]
descriptor! {
    /// All state of a draw outside the command stream, such as a frame shader (DCD).
    Draw "Draw", bytes [128], align Some(64), section "17";
    flags_0:            DcdFlags0,         "Flags 0",              0,  32              => "kill, cull and coverage";
    flags_1:            DcdFlags1,         "Flags 1",             32,  32              => "sample and target masks";
    vertex_array:       VertexArray,       "Vertex array",        64,  96, until(V11)  => "packet pointer, frame shaders: see section 19; zero otherwise";
    vertex_pointer:     Address,           "Vertex pointer",      64,  64, since(V12)  => "opaque; zero for frame shaders";
    flags_2:            DcdFlags2,         "Flags 2",            160,  32              => "what is read and written of the tile buffer";
    minimum_z:          f32,               "Minimum Z",          192,  32, until(V11)  => "depth clamp bounds";
    maximum_z:          f32,               "Maximum Z",          224,  32, until(V11)  => "drivers 0.0 / 1.0 (frame shaders)";
    depth_stencil:      Aligned<32>,       "Depth/stencil",      320,  64              => "Depth/stencil descriptor";
    blend_count:        u32,               "Blend count",        384,   4              => "number of Blend descriptors (0 allowed when nothing is blended)";
    blend:              Aligned<16>,       "Blend",              388,  60, shr(4)      => "array address >> 4";
    occlusion:          Address,           "Occlusion",          448,  64              => "counter address";
    shader:             ShaderEnvironment, "Shader",             512, 512, until(V11)  => "v10/v11 environment at bytes 64-127";
    vertex_resources:   Address,           "Vertex Resources",   576,  64, since(V12)  => "resource tables of the vertex stage, with their count in bits 5:0";
    vertex_shader:      Aligned<32>,       "Vertex Shader",      640,  64, since(V12)  => "Shader Program of the vertex stage";
    vertex_fau:         FauPointer,        "Vertex FAU",         704,  64, since(V12)  => "uniforms of the vertex stage";
    fragment_resources: Address,           "Fragment Resources", 768,  64, since(V12)  => "resource tables of the fragment stage, with their count in bits 5:0";
    fragment_shader:    Aligned<32>,       "Fragment Shader",    832,  64, since(V12)  => "Shader Program of the fragment stage";
    thread_storage:     Aligned<64>,       "Thread storage",     896,  64, since(V12)  => "Local Storage, for both stages";
    fragment_fau:       FauPointer,        "Fragment FAU",       960,  64, since(V12)  => "uniforms of the fragment stage";
}
