//! Tiler: heap, context, weights.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::framebuffer::SamplePattern;
use super::macros::descriptor;
use super::resource::{BufferType, DescriptorType};
use crate::arch::Arch::V12;
use crate::member::{Address, Aligned};

#[rustfmt::skip]
descriptor! {
    /// The chunk of memory that the tiler allocates from. The hardware advances `Bottom`.
    TilerHeap "Tiler Heap", bytes [32], align Some(32), section "14";
    kind:        DescriptorType, "Type",           0,  4, fixed(9)     => "kind of descriptor";
    buffer_type: BufferType,     "Buffer type",    4,  4, fixed(2)     => "kind of buffer";
    size:        u64,            "Size",          32, 32, align(4096)  => "bytes per chunk as the driver states it (2 MiB); stored rounded up to 4096";
    base:        Address,        "Base",          64, 64               => "address of the first chunk";
    bottom:      Address,        "Bottom",       128, 64               => "first free byte: base + 64 (chunk header is 64 bytes)";
    top:         Address,        "Top",          192, 64               => "end: base + chunk size";
}

#[rustfmt::skip]
descriptor! {
    /// Weights of bin sizes; no driver sets them.
    TilerWeights "Tiler Weights", bytes [32], align None, section "14";
    weight0: u32, "Weight0",   16, 16  => "weight of a bin size";
    weight1: u32, "Weight1",   48, 16  => "weight of a bin size";
    weight2: u32, "Weight2",   80, 16  => "weight of a bin size";
    weight3: u32, "Weight3",  112, 16  => "weight of a bin size";
    weight4: u32, "Weight4",  144, 16  => "weight of a bin size";
    weight5: u32, "Weight5",  176, 16  => "weight of a bin size";
    weight6: u32, "Weight6",  208, 16  => "weight of a bin size";
    weight7: u32, "Weight7",  240, 16  => "weight of a bin size";
}

#[rustfmt::skip]
descriptor! {
    /// Words of the tiler's own.
    TilerState "Tiler State", bytes [64], align None, section "14";
    word0: u32, "Word0",    0, 32  => "private to the tiler";
    word1: u32, "Word1",   32, 32  => "private to the tiler";
    word2: u32, "Word2",   64, 32  => "private to the tiler";
    word3: u32, "Word3",   96, 32  => "private to the tiler";
    word4: u32, "Word4",  128, 32  => "private to the tiler";
    word5: u32, "Word5",  160, 32  => "private to the tiler";
    word6: u32, "Word6",  192, 32  => "private to the tiler";
    word7: u32, "Word7",  224, 32  => "private to the tiler";
}

#[rustfmt::skip]
descriptor! {
    /// One binning pass for up to 8 layers.
    TilerContext "Tiler Context", bytes [128], align Some(64), section "14";
    polygon_list:           Address,       "Polygon List",             0,  64                             => "0 from the driver; written by the tiler";
    hierarchy_mask:         u32,           "Hierarchy Mask",          64,  13                             => "bit i: bins of 16 << i pixels; v12 and later: 0 lets the hardware choose";
    sample_pattern:         SamplePattern, "Sample Pattern",          77,   3                             => "positions of the samples";
    sample_test_disable:    bool,          "Sample test disable",     81,   1                             => "skip the sample-coverage test in binning; drivers 0";
    first_provoking_vertex: bool,          "First provoking vertex",  82,   1                             => "flat-shading vertex: 1 first, 0 last; all draws of the pass must agree";
    effective_tile_size:    u32,           "Effective Tile Size",     84,   4, log2(), since(V12)         => "pixels of a tile; as in the framebuffer";
    fb_width:               u32,           "FB Width",                96,  16, minus(1)                   => "pixels";
    fb_height:              u32,           "FB Height",              112,  16, minus(1)                   => "pixels";
    layer_count:            u32,           "Layer count",            128,   8, minus(1), default(1)       => "layers binned by this context; drivers <= 8";
    layer_offset:           i32,           "Layer offset",           136,   9                             => "signed; added to the layer index of a primitive: -(first layer of this context)";
    heap:                   Aligned<32>,   "Heap",                   192,  64                             => "Tiler Heap address";
    geometry_buffer_size:   u32,           "Geometry buffer size",   256,  12, shr(12), default(0x10000)  => "position FIFO bytes, multiple of 4096; 64 KiB";
    geometry_buffer:        Aligned<4096>, "Geometry buffer",        268,  52, shr(12)                    => "address, 4096-aligned; position FIFO";
    completed_top:          Address,       "Completed top",          320,  64                             => "0 from the driver; written by hardware: chunks consumed by fragment work";
    completed_bottom:       Address,       "Completed bottom",       384,  64                             => "as top; passed to the finish-fragment instruction";
    private_state:          TilerState,    "Private state",          768, 256                             => "8 words zero from the driver; hardware private";
}
