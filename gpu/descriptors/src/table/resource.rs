//! Descriptors that shaders name: headers, tables of resources, buffers, attributes.
//!
//! Facts: hardware/descriptors.md and its data files.

use super::macros::{descriptor, enumeration};
use crate::arch::Arch::V11;
use crate::member::{Address, PixelFormat};

#[rustfmt::skip]
enumeration! {
    /// `Descriptor Type`.
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
    /// `Buffer Type`.
    BufferType "Buffer Type";
    Simple,       "Simple",          1;
    TilerHeap,    "Tiler heap",      2;
    Structure,    "Structure",       3;
    VertexPacket, "Vertex packet",   4;
}

#[rustfmt::skip]
enumeration! {
    /// `Attribute Type`.
    AttributeType "Attribute Type";
    OneD,                     "1D",                          1;
    OneDPotDivisor,           "1D POT Divisor",              2;
    OneDNpotDivisor,          "1D NPOT Divisor",             3;
    OneDPrimitiveIndexBuffer, "1D Primitive Index Buffer",   5;
    VertexPacket,             "Vertex packet",               6;
}

#[rustfmt::skip]
enumeration! {
    /// `Attribute Frequency`.
    AttributeFrequency "Attribute Frequency";
    Vertex,   "Vertex",     0;
    Instance, "Instance",   1;
}

#[rustfmt::skip]
descriptor! {
    /// `Descriptor Header`.
    DescriptorHeader "Descriptor Header", bytes [4], align Some(32);
    kind:   DescriptorType, "Type",      0,  4;
    ignore: u32,            "Ignore",    4, 28;
}

#[rustfmt::skip]
descriptor! {
    /// `Null Descriptor`.
    NullDescriptor "Null Descriptor", bytes [32], align Some(32);
    kind: DescriptorType, "Type",    0,  4, fixed(0);
}

#[rustfmt::skip]
descriptor! {
    /// `Resource`.
    Resource "Resource", bytes [16], align Some(64);
    address:              Address, "Address",                 0, 56;
    contains_descriptors: bool,    "Contains descriptors",   56,  1, default(1);
    size:                 u64,     "Size",                   64, 64;
}

#[rustfmt::skip]
descriptor! {
    /// `Buffer`.
    Buffer "Buffer", bytes [32], align Some(32);
    kind:             DescriptorType,     "Type",                0,  4, fixed(9);
    buffer_type:      BufferType,         "Buffer type",         4,  4, default(1);
    size:             u32,                "Size",               32, 32;
    address:          Address,            "Address",            64, 64;
    stride:           u32,                "Stride",            128, 32;
    packet_stride:    u32,                "Packet stride",     128, 16, shr(6);
    attribute_stride: u32,                "Attribute stride",  144, 16;
    size_hi:          u32,                "Size hi",           160, 32, since(V11);
    conversion:       InternalConversion, "Conversion",        224, 32;
}

#[rustfmt::skip]
descriptor! {
    /// `Internal Conversion`.
    InternalConversion "Internal Conversion", bytes [4], align Some(4);
    memory_format: PixelFormat, "Memory Format",    0, 22;
    raw:           bool,        "Raw",             22,  1;
}

#[rustfmt::skip]
descriptor! {
    /// `Attribute`.
    Attribute "Attribute", bytes [32], align Some(32);
    kind:             DescriptorType,     "Type",                0,  4, fixed(5);
    attribute_type:   AttributeType,      "Attribute type",      4,  4;
    offset_enable:    bool,               "Offset enable",       8,  1;
    format:           PixelFormat,        "Format",             10, 22;
    table:            u32,                "Table",              32,  6;
    frequency:        AttributeFrequency, "Frequency",          38,  2;
    divisor_r:        u32,                "Divisor R",          56,  5;
    divisor_e:        u32,                "Divisor E",          61,  1;
    offset:           i32,                "Offset",             64, 32;
    buffer_index:     u32,                "Buffer index",       96, 32;
    stride:           u32,                "Stride",            128, 32;
    attribute_stride: u32,                "Attribute stride",  128, 16;
    packet_stride:    u32,                "Packet stride",     144, 16;
    divisor_d:        u32,                "Divisor D",         160, 32;
}
