//! Tiler: heap, context, weights.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::framebuffer::SamplePattern;
use super::macros::descriptor;
use super::resource::{BufferType, DescriptorType};
use crate::arch::Arch::V12;
use crate::member::Address;

#[rustfmt::skip]
descriptor! {
    /// `Tiler Heap`.
    TilerHeap "Tiler Heap", bytes [32], align Some(32);
    kind:        DescriptorType, "Type",           0,  4, fixed(9);
    buffer_type: BufferType,     "Buffer type",    4,  4, fixed(2);
    size:        u64,            "Size",          32, 32, align(4096);
    base:        Address,        "Base",          64, 64;
    bottom:      Address,        "Bottom",       128, 64;
    top:         Address,        "Top",          192, 64;
}

#[rustfmt::skip]
descriptor! {
    /// `Tiler Weights`.
    TilerWeights "Tiler Weights", bytes [32], align None;
    weight0: u32, "Weight0",   16, 16;
    weight1: u32, "Weight1",   48, 16;
    weight2: u32, "Weight2",   80, 16;
    weight3: u32, "Weight3",  112, 16;
    weight4: u32, "Weight4",  144, 16;
    weight5: u32, "Weight5",  176, 16;
    weight6: u32, "Weight6",  208, 16;
    weight7: u32, "Weight7",  240, 16;
}

#[rustfmt::skip]
descriptor! {
    /// `Tiler State`.
    TilerState "Tiler State", bytes [64], align None;
    word0: u32, "Word0",    0, 32;
    word1: u32, "Word1",   32, 32;
    word2: u32, "Word2",   64, 32;
    word3: u32, "Word3",   96, 32;
    word4: u32, "Word4",  128, 32;
    word5: u32, "Word5",  160, 32;
    word6: u32, "Word6",  192, 32;
    word7: u32, "Word7",  224, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `Tiler Context`.
    TilerContext "Tiler Context", bytes [128], align Some(64);
    polygon_list:           Address,       "Polygon List",              0, 64;
    hierarchy_mask:         u32,           "Hierarchy Mask",           64, 13;
    sample_pattern:         SamplePattern, "Sample Pattern",           77,  3;
    sample_test_disable:    bool,          "Sample test disable",      81,  1;
    first_provoking_vertex: bool,          "First provoking vertex",   82,  1;
    effective_tile_size:    u32,           "Effective Tile Size",      84,  4, log2(), since(V12);
    fb_width:               u32,           "FB Width",                 96, 16, minus(1);
    fb_height:              u32,           "FB Height",               112, 16, minus(1);
    layer_count:            u32,           "Layer count",             128,  8, minus(1), default(1);
    layer_offset:           i32,           "Layer offset",            136,  9;
    heap:                   Address,       "Heap",                    192, 64;
    geometry_buffer_size:   u32,           "Geometry buffer size",    256, 12, shr(12), default(0x10000);
    geometry_buffer:        Address,       "Geometry buffer",         268, 52, shr(12);
    completed_top:          Address,       "Completed top",           320, 64;
    completed_bottom:       Address,       "Completed bottom",        384, 64;
    private_state:          TilerState,    "Private state",           768, 256;
}
