//! Shader programs and their surroundings: preloads, environments, workgroups.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use super::resource::DescriptorType;
use crate::arch::Arch::{V11, V12};
use crate::member::{Address, Aligned};

#[rustfmt::skip]
enumeration! {
    /// Which stage a program is for; must match what points to it.
    ShaderStage "Shader stage";
    Compute,  "Compute",    1;
    Fragment, "Fragment",   2;
    Vertex,   "Vertex",     3;
}

#[rustfmt::skip]
enumeration! {
    /// How the coverage mask of a fragment is laid out.
    CoverageBitmaskType "Coverage bitmask type";
    Dx, "DX",   0;
    Gl, "GL",   1;
}

#[rustfmt::skip]
enumeration! {
    /// How many warps of a vertex program a core holds.
    WarpLimit "Warp limit";
    Full,       "Full",          0;
    Half,       "Half",          1;
    OneQuarter, "One-quarter",   2;
    OneHeight,  "One-height",    3;
}

#[rustfmt::skip]
enumeration! {
    /// What happens to subnormal numbers.
    FlushToZeroMode "Flush to zero mode";
    PreserveSubnormals, "Preserve subnormals",   0;
    DX11,               "DX11",                  1;
    Always,             "Always",                2;
    Abrupt,             "Abrupt",                3;
}

#[rustfmt::skip]
enumeration! {
    /// Work registers of a thread.
    ShaderRegisterAllocation "Shader Register Allocation";
    SixtyFourPerThread, "64 Per Thread",   0;
    ThirtyTwoPerThread, "32 Per Thread",   2;
}

#[rustfmt::skip]
enumeration! {
    /// What the thread-storage base means.
    AddressMode "Address Mode";
    Flat,        "Flat",            0;
    Packed,      "Packed",          1;
    OutOfBounds, "Out of bounds",   8;
}

#[rustfmt::skip]
descriptor! {
    /// Which registers the hardware fills before a thread starts.
    Preload "Preload", bytes [4], align None, section "3";
    r48_r63: u32,  "R48-R63",  0, 16                 => "bit k: register r(48 + k) is preloaded";
    r55:     bool, "R55",      7,  1, alternative()  => "r55 is preloaded";
    r56:     bool, "R56",      8,  1, alternative()  => "r56 is preloaded";
    r57:     bool, "R57",      9,  1, alternative()  => "r57 is preloaded";
    r58:     bool, "R58",     10,  1, alternative()  => "r58 is preloaded";
    r59:     bool, "R59",     11,  1, alternative()  => "r59 is preloaded";
    r60:     bool, "R60",     12,  1, alternative()  => "r60 is preloaded";
    r61:     bool, "R61",     13,  1, alternative()  => "r61 is preloaded";
    r62:     bool, "R62",     14,  1, alternative()  => "r62 is preloaded";
    r63:     bool, "R63",     15,  1, alternative()  => "r63 is preloaded";
}

#[rustfmt::skip]
descriptor! {
    /// One shader binary. Pointed to by the program registers, or by a draw.
    ShaderProgram "Shader Program", bytes [32], align Some(32), section "3";
    kind:                           DescriptorType,           "Type",                            0,  4, fixed(8)       => "kind of descriptor";
    stage:                          ShaderStage,              "Stage",                           4,  4                 => "must match what points to the program, or the job faults";
    vertex_warp_limit:              WarpLimit,                "Vertex warp limit",               8,  2, until(V11)     => "vertex only: Half for position, Full for varying. Limits warps resident per core. v12+: gone";
    fragment_coverage_bitmask_type: CoverageBitmaskType,      "Fragment coverage bitmask type",  8,  1, alternative()  => "fragment only, drivers always GL. Same bits as vertex warp limit: a union by stage";
    suppress_nan:                   bool,                     "Suppress NaN",                   16,  1                 => "by name: NaN results replaced; drivers 0";
    flush_to_zero_mode:             FlushToZeroMode,          "Flush to zero mode",             17,  2                 => "DX11 flushes f32 and keeps f16; Always flushes both";
    suppress_inf:                   bool,                     "Suppress Inf",                   19,  1                 => "by name: infinite results clamped; drivers 0";
    requires_helper_threads:        bool,                     "Requires helper threads",        28,  1                 => "fragment only: launch helper lanes to fill 2x2 quads (derivatives, implicit LOD)";
    shader_contains_jump_ex:        bool,                     "Shader contains JUMP_EX",        29,  1                 => "set when the program uses the extended jump; drivers 0";
    register_allocation:            ShaderRegisterAllocation, "Register allocation",            30,  2                 => "32 when at most r0 to r31 are used (preloaded registers apart), which doubles the threads of a core";
    preload:                        Preload,                  "Preload",                        32, 16                 => "16-bit mask in bits 15:0: bit k = register r(48+k) preloaded. Mask is the live-in set of the entry block; fragment always includes r60 and r61";
    max_warps:                      u32,                      "Max Warps",                      48, 16, since(V12)     => "bound of resident warps, by its name; 0: none (inferred)";
    binary:                         Address,                  "Binary",                         64, 64                 => "address of the first instruction; never 0. Instruction prefetch reads ahead: 128 bytes past the last instruction must be mapped (zero padding)";
}

#[rustfmt::skip]
descriptor! {
    /// Program, resources, uniforms and thread storage of a draw.
    ShaderEnvironment "Shader Environment", bytes [64 until V11], align Some(64), section "17";
    attribute_offset: u32,         "Attribute offset",   0, 32  => "added to attribute indices (see section 6); drivers 0";
    fau_count:        u32,         "FAU count",         32,  8  => "64-bit entries; the FAU pointer field has no count here";
    resources:        Address,     "Resources",        256, 64  => "SRT pointer with count in 5:0";
    shader:           Aligned<32>, "Shader",           320, 64  => "Shader Program address (fragment stage)";
    thread_storage:   Aligned<64>, "Thread storage",   384, 64  => "Local Storage address";
    fau:              Address,     "FAU",              448, 64  => "plain address";
}

#[rustfmt::skip]
descriptor! {
    /// Fast-access uniforms of a stage: where, and how many.
    FauPointer "FAU Pointer", bytes [8 since V12], align None, section "12";
    pointer: Address, "Pointer",    0, 56  => "48-bit address in a 56-bit field";
    count:   u32,     "Count",     56,  8  => "number of 64-bit entries";
}

#[rustfmt::skip]
descriptor! {
    /// Threads of a workgroup along each axis: the value of compute register r33.
    ComputeSizeWorkgroup "Compute size workgroup", bytes [4], align None, section "13";
    workgroup_size_x:         u32,  "Workgroup size X",            0, 10, minus(1)  => "1..1024 threads";
    workgroup_size_y:         u32,  "Workgroup size Y",           10, 10, minus(1)  => "1..1024";
    workgroup_size_z:         u32,  "Workgroup size Z",           20, 10, minus(1)  => "1..1024";
    allow_merging_workgroups: bool, "Allow merging workgroups",   31,  1            => "1 lets hardware put several workgroups in one warp; only if the shader has neither barriers nor workgroup memory";
}

#[rustfmt::skip]
descriptor! {
    /// Memory of threads (stack, spills) and of workgroups. One serves all stages of a job.
    LocalStorage "Local Storage", bytes [32], align Some(64), section "11";
    tls_size:         u32,           "TLS Size",            0,  5                               => "0: none; else log2(bytes per thread / 16), rounded up. 16 bytes store 0 too (inferred)";
    wls_instances:    u32,           "WLS Instances",      32,  5, log2(), default(0x80000000)  => "instances of workgroup memory per core; 2^31: no workgroup memory";
    wls_size_base:    u32,           "WLS Size Base",      37,  2                               => "drivers 0; effect not established";
    wls_size_scale:   u32,           "WLS Size Scale",     40,  5                               => "bytes per instance = 2^(scale - 1) with base 0; drivers: log2(size) + 1";
    tls_base_pointer: Address,       "TLS Base Pointer",   64, 48                               => "48 bits. Flat mode: address. Packed mode: address >> 8";
    tls_address_mode: AddressMode,   "TLS Address Mode",  124,  4                               => "Drivers: Packed whenever TLS is present (base 4096-aligned), 0 otherwise";
    wls_base_pointer: Aligned<4096>, "WLS Base Pointer",  128, 64                               => "4096-byte aligned; the whole area must not cross a 4 GiB boundary";
}
