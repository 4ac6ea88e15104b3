//! Descriptors that shaders name: headers, tables of resources, buffers, attributes.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use crate::arch::Arch::V11;
use crate::member::{Address, PixelFormat};

#[rustfmt::skip]
enumeration! {
    /// The kind of a 32-byte descriptor, in its lowest 4 bits.
    DescriptorType "Descriptor Type";
    Null,         "Null",            0;
    Sampler,      "Sampler",         1;
    Texture,      "Texture",         2;
    Attribute,    "Attribute",       5;
    DepthStencil, "Depth/stencil",   7;
    Shader,       "Shader",          8;
    Buffer,       "Buffer",          9;
    Plane,        "Plane",          10;
}

#[rustfmt::skip]
enumeration! {
    /// What a Buffer holds.
    BufferType "Buffer Type";
    Simple,       "Simple",          1;
    TilerHeap,    "Tiler heap",      2;
    Structure,    "Structure",       3;
    VertexPacket, "Vertex packet",   4;
}

#[rustfmt::skip]
enumeration! {
    /// How an attribute is found in its buffer.
    AttributeType "Attribute Type";
    OneD,                     "1D",                          1;
    OneDPotDivisor,           "1D POT Divisor",              2;
    OneDNpotDivisor,          "1D NPOT Divisor",             3;
    OneDPrimitiveIndexBuffer, "1D Primitive Index Buffer",   5;
    VertexPacket,             "Vertex packet",               6;
}

#[rustfmt::skip]
enumeration! {
    /// Which id is the index of an attribute.
    AttributeFrequency "Attribute Frequency";
    Vertex,   "Vertex",     0;
    Instance, "Instance",   1;
}

#[rustfmt::skip]
descriptor! {
    /// What a reader of an unknown descriptor looks at first.
    DescriptorHeader "Descriptor Header", bytes [4], align Some(32), section "4";
    kind:   DescriptorType, "Type",      0,  4  => "kind of descriptor";
    ignore: u32,            "Ignore",    4, 28  => "the rest of the word, whatever the kind";
}

#[rustfmt::skip]
descriptor! {
    /// 32 zero bytes: no descriptor.
    NullDescriptor "Null Descriptor", bytes [32], align Some(32), section "4";
    kind: DescriptorType, "Type",    0,  4, fixed(0)  => "kind of descriptor";
}

#[rustfmt::skip]
descriptor! {
    /// One table of the shader resource table.
    Resource "Resource", bytes [16], align Some(64), section "4";
    address:              Address, "Address",                 0, 56              => "start of the array: 32-byte descriptors (64-byte aligned), or raw memory";
    contains_descriptors: bool,    "Contains descriptors",   56,  1, default(1)  => "1: array of descriptors. 0: raw buffer (loads via table 62 only) or unused entry";
    size:                 u64,     "Size",                   64, 64              => "bytes; descriptors x 32. Index >= Size/32 is out of bounds";
}

#[rustfmt::skip]
descriptor! {
    /// A run of memory that a shader reads and writes by handle.
    Buffer "Buffer", bytes [32], align Some(32), section "5";
    kind:             DescriptorType,     "Type",               0,  4, fixed(9)               => "kind of descriptor";
    buffer_type:      BufferType,         "Buffer type",        4,  4, default(1)             => "UBO, SSBO, vertex buffers, texel buffers: Simple. Tiler heap: section 14";
    size:             u32,                "Size",              32, 32                         => "bytes accessible from Address. Access with any byte at or beyond Size: load 0, store dropped";
    address:          Address,            "Address",           64, 64                         => "byte address; UBO/SSBO 16-byte aligned in drivers, vertex buffers any alignment the format allows";
    stride:           u32,                "Stride",           128, 32                         => "Structure type: bytes per element for LEA_BUF; texel buffers: element size";
    packet_stride:    u32,                "Packet stride",    128, 16, shr(6), alternative()  => "Vertex packet type only: bytes per packet, multiple of 64";
    attribute_stride: u32,                "Attribute stride", 144, 16, alternative()          => "Vertex packet type only: bytes of the attribute part";
    size_hi:          u32,                "Size hi",          160, 32, since(V11)             => "bits above those of Size";
    conversion:       InternalConversion, "Conversion",       224, 32                         => "not read by hardware; driver keeps the texel-buffer pixel format here for shader-side conversion (Internal Conversion layout)";
}

#[rustfmt::skip]
descriptor! {
    /// Conversion between registers and memory.
    InternalConversion "Internal Conversion", bytes [4], align Some(4), section "21";
    memory_format: PixelFormat, "Memory Format",    0, 22  => "22-bit pixel format of the tile-buffer contents (table below); sRGB bit 20";
    raw:           bool,        "Raw",             22,  1  => "1: write bits as they are";
}

#[rustfmt::skip]
descriptor! {
    /// A vertex input, or a varying read through a descriptor.
    Attribute "Attribute", bytes [32], align Some(32), section "6";
    kind:             DescriptorType,     "Type",               0,  4, fixed(5)       => "kind of descriptor";
    attribute_type:   AttributeType,      "Attribute type",     4,  4                 => "how the index becomes an address";
    offset_enable:    bool,               "Offset enable",      8,  1                 => "1 for per-vertex inputs, 0 for per-instance inputs and varyings";
    format:           PixelFormat,        "Format",            10, 22                 => "pixel format: memory format plus component order; missing components 0,0,1";
    table:            u32,                "Table",             32,  6                 => "resource table that holds the Buffer";
    frequency:        AttributeFrequency, "Frequency",         38,  2                 => "which id is the index";
    divisor_r:        u32,                "Divisor R",         56,  5                 => "POT: log2(divisor). NPOT: shift";
    divisor_e:        u32,                "Divisor E",         61,  1                 => "NPOT: round-up flag";
    offset:           i32,                "Offset",            64, 32                 => "signed bytes added to the buffer address; driver: attribute offset, plus base instance x stride for instanced inputs";
    buffer_index:     u32,                "Buffer index",      96, 32                 => "index of the Buffer in Table";
    stride:           u32,                "Stride",           128, 32                 => "bytes between elements (1D types)";
    attribute_stride: u32,                "Attribute stride", 128, 16, alternative()  => "Vertex packet: bytes of varyings per vertex";
    packet_stride:    u32,                "Packet stride",    144, 16, alternative()  => "Vertex packet: bytes between vertex records";
    divisor_d:        u32,                "Divisor D",        160, 32                 => "NPOT: magic multiplier without its top bit";
}
