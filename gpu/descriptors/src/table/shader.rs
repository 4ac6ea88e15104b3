//! Shader programs and their surroundings: preloads, environments, workgroups.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::DescriptorType;
use crate::arch::Arch::{V11, V12};
use crate::member::Address;

#[rustfmt::skip]
enumeration! {
    /// `Shader stage`.
    ShaderStage "Shader stage";
    Compute,  "Compute",    1;
    Fragment, "Fragment",   2;
    Vertex,   "Vertex",     3;
}

#[rustfmt::skip]
enumeration! {
    /// `Coverage bitmask type`.
    CoverageBitmaskType "Coverage bitmask type";
    Dx, "DX",   0;
    Gl, "GL",   1;
}

#[rustfmt::skip]
enumeration! {
    /// `Warp limit`.
    WarpLimit "Warp limit";
    Full,       "Full",          0;
    Half,       "Half",          1;
    OneQuarter, "One-quarter",   2;
    OneHeight,  "One-height",    3;
}

#[rustfmt::skip]
enumeration! {
    /// `Flush to zero mode`.
    FlushToZeroMode "Flush to zero mode";
    PreserveSubnormals, "Preserve subnormals",   0;
    DX11,               "DX11",                  1;
    Always,             "Always",                2;
    Abrupt,             "Abrupt",                3;
}

#[rustfmt::skip]
enumeration! {
    /// `Shader Register Allocation`.
    ShaderRegisterAllocation "Shader Register Allocation";
    SixtyFourPerThread, "64 Per Thread",   0;
    ThirtyTwoPerThread, "32 Per Thread",   2;
}

#[rustfmt::skip]
enumeration! {
    /// `Address Mode`.
    AddressMode "Address Mode";
    Flat,        "Flat",            0;
    Packed,      "Packed",          1;
    OutOfBounds, "Out of bounds",   8;
}

#[rustfmt::skip]
descriptor! {
    /// `Preload`.
    Preload "Preload", bytes [4], align None;
    r48_r63: u32,  "R48-R63",    0, 16;
    r55:     bool, "R55",        7,  1;
    r56:     bool, "R56",        8,  1;
    r57:     bool, "R57",        9,  1;
    r58:     bool, "R58",       10,  1;
    r59:     bool, "R59",       11,  1;
    r60:     bool, "R60",       12,  1;
    r61:     bool, "R61",       13,  1;
    r62:     bool, "R62",       14,  1;
    r63:     bool, "R63",       15,  1;
}

#[rustfmt::skip]
descriptor! {
    /// `Shader Program`.
    ShaderProgram "Shader Program", bytes [32], align Some(32);
    kind:                           DescriptorType,           "Type",                              0,  4, fixed(8);
    stage:                          ShaderStage,              "Stage",                             4,  4;
    vertex_warp_limit:              WarpLimit,                "Vertex warp limit",                 8,  2, until(V11);
    fragment_coverage_bitmask_type: CoverageBitmaskType,      "Fragment coverage bitmask type",    8,  1;
    suppress_nan:                   bool,                     "Suppress NaN",                     16,  1;
    flush_to_zero_mode:             FlushToZeroMode,          "Flush to zero mode",               17,  2;
    suppress_inf:                   bool,                     "Suppress Inf",                     19,  1;
    requires_helper_threads:        bool,                     "Requires helper threads",          28,  1;
    shader_contains_jump_ex:        bool,                     "Shader contains JUMP_EX",          29,  1;
    register_allocation:            ShaderRegisterAllocation, "Register allocation",              30,  2;
    preload:                        Preload,                  "Preload",                          32, 16;
    max_warps:                      u32,                      "Max Warps",                        48, 16, since(V12);
    binary:                         Address,                  "Binary",                           64, 64;
}

#[rustfmt::skip]
descriptor! {
    /// `Shader Environment`.
    ShaderEnvironment "Shader Environment", bytes [64 until V11], align Some(64);
    attribute_offset: u32,     "Attribute offset",    0, 32;
    fau_count:        u32,     "FAU count",          32,  8;
    resources:        Address, "Resources",         256, 64;
    shader:           Address, "Shader",            320, 64;
    thread_storage:   Address, "Thread storage",    384, 64;
    fau:              Address, "FAU",               448, 64;
}

#[rustfmt::skip]
descriptor! {
    /// `FAU Pointer`.
    FauPointer "FAU Pointer", bytes [8 since V12], align None;
    pointer: Address, "Pointer",    0, 56;
    count:   u32,     "Count",     56,  8;
}

#[rustfmt::skip]
descriptor! {
    /// `Compute size workgroup`.
    ComputeSizeWorkgroup "Compute size workgroup", bytes [4], align None;
    workgroup_size_x:         u32,  "Workgroup size X",            0, 10, minus(1);
    workgroup_size_y:         u32,  "Workgroup size Y",           10, 10, minus(1);
    workgroup_size_z:         u32,  "Workgroup size Z",           20, 10, minus(1);
    allow_merging_workgroups: bool, "Allow merging workgroups",   31,  1;
}

#[rustfmt::skip]
descriptor! {
    /// `Local Storage`.
    LocalStorage "Local Storage", bytes [32], align Some(64);
    tls_size:         u32,         "TLS Size",            0,  5;
    wls_instances:    u32,         "WLS Instances",      32,  5, log2(), default(0x80000000);
    wls_size_base:    u32,         "WLS Size Base",      37,  2;
    wls_size_scale:   u32,         "WLS Size Scale",     40,  5;
    tls_base_pointer: Address,     "TLS Base Pointer",   64, 48;
    tls_address_mode: AddressMode, "TLS Address Mode",  124,  4;
    wls_base_pointer: Address,     "WLS Base Pointer",  128, 64;
}
