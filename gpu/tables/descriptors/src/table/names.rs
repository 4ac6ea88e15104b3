//! Enumerations that no single field has: format codes, component orders, state registers.
//!
//! Facts: hardware/descriptors.md 1.2 and 10, and its data files.

use crate::arch::Arch::{V11, V12, V13};
use crate::row::{EnumRow, EnumTable};

/// One table of names: `"Name", number, attributes…;`.
macro_rules! names {
    ($(#[doc = $doc:literal])+ $table:ident $name:literal; $( $label:literal, $value:literal $(, $attribute:ident($argument:expr))*; )*) => {
        $(#[doc = $doc])+
        pub static $table: EnumTable = EnumTable {
            name: $name,
            about: concat!($($doc),+),
            rows: &[ $( EnumRow::new($label, $value)$(.$attribute($argument))* ),* ],
        };
    };
}

#[rustfmt::skip]
names! {
    /// What an output channel takes, in a component swizzle.
    CHANNEL "Channel";
    "R",   0;
    "G",   1;
    "B",   2;
    "A",   3;
    "0",   4;
    "1",   5;
}

#[rustfmt::skip]
names! {
    /// Code of a pixel format.
    FORMAT "Format";
    "ETC2 RGB8",                    1;
    "ETC2 R11 UNORM",               2;
    "ETC2 RGBA8",                   3;
    "ETC2 RG11 UNORM",              4;
    "BC1 UNORM",                    7;
    "BC2 UNORM",                    8;
    "BC3 UNORM",                    9;
    "BC4 UNORM",                   10;
    "BC4 SNORM",                   11;
    "BC5 UNORM",                   12;
    "BC5 SNORM",                   13;
    "BC6H UF16",                   14;
    "BC6H SF16",                   15;
    "BC7 UNORM",                   16;
    "ETC2 R11 SNORM",              17;
    "ETC2 RG11 SNORM",             18;
    "ETC2 RGB8A1",                 19;
    "ASTC 3D LDR",                 20;
    "ASTC 3D HDR",                 21;
    "ASTC 2D LDR",                 22;
    "ASTC 2D HDR",                 23;
    "AFBC",                        24;
    "AFRC",                        25;
    "ASTC 2D NARROW",              30;
    "ASTC 3D NARROW",              31;
    "YUV8",                        32;
    "YUVA8",                       33;
    "YUYV8",                       34;
    "VYUY8",                       35;
    "Y8 UV8 422",                  36;
    "Y8 U8 V8 422",                37;
    "Y8 UV8 420",                  38;
    "Y8 U8 V8 420",                39;
    "YUV10 A2",                    40;
    "A2 YUV10",                    41;
    "YUYAAYVYAA",                  42;
    "Y10U10V10_420",               43;
    "YUYV10",                      44;
    "VYUY10",                      45;
    "Y10 UV10 422",                46;
    "Y10 UV10 420",                47;
    "YUV16",                       48, except(V11);
    "YUVA16",                      49;
    "YUYV16",                      50;
    "VYUY16",                      51;
    "Y10X6 U10X6V10X6 422",        52;
    "Y16 UV16 422",                53;
    "Y16 UV16 420",                55;
    "RGB565",                      64;
    "RGB5 A1 UNORM",               65;
    "A1 BGR5 UNORM",               66;
    "RGB10 A2 UNORM",              67;
    "A2 BGR10 UNORM",              68;
    "RGB10 A2 SNORM",              69;
    "A2 BGR10 SNORM",              70;
    "RGB10 A2UI",                  71;
    "A2 BGR10UI",                  72;
    "RGB10 A2I",                   73;
    "A2 BGR10I",                   74;
    "Z16 UNORM",                   75;
    "Z32",                         76;
    "Z24X8 UNORM",                 77;
    "X8Z24",                       78;
    "R32 FIXED",                   81;
    "RG32 FIXED",                  82;
    "RGB32 FIXED",                 83;
    "RGBA32 FIXED",                84;
    "R11F G11F B10F",              89;
    "B10F G11F R11F",              90;
    "R9F G9F B9F E5F",             91;
    "E5F B9F G9F R9F",             92;
    "S8",                          93;
    "Snap 4",                      94;
    "Constant",                    95;
    "R8 SNORM",                    99;
    "R16 SNORM",                  100;
    "R32 SNORM",                  101;
    "RG4 SNORM",                  106, except(V11);
    "RG8 SNORM",                  107;
    "RG16 SNORM",                 108;
    "RG32 SNORM",                 109;
    "RGB8 SNORM",                 115;
    "RGB16 SNORM",                116;
    "RGB32 SNORM",                117;
    "RGBA2 SNORM",                121, except(V11);
    "RGBA4 SNORM",                122, except(V11);
    "RGBA8 SNORM",                123;
    "RGBA16 SNORM",               124;
    "RGBA32 SNORM",               125;
    "R8UI",                       131;
    "R16UI",                      132;
    "R32UI",                      133;
    "RG4UI",                      138;
    "RG8UI",                      139;
    "RG16UI",                     140;
    "RG32UI",                     141;
    "RGB8UI",                     147;
    "RGB16UI",                    148;
    "RGB32UI",                    149;
    "RGBA2UI",                    153, except(V11);
    "RGBA4UI",                    154;
    "RGBA8UI",                    155;
    "RGBA16UI",                   156;
    "RGBA32UI",                   157;
    "R8 UNORM",                   163;
    "R16 UNORM",                  164;
    "R32 UNORM",                  165;
    "R32F",                       167;
    "RG4 UNORM",                  170;
    "RG8 UNORM",                  171;
    "RG16 UNORM",                 172;
    "RG32 UNORM",                 173;
    "RG32F",                      175;
    "RGB8 UNORM",                 179;
    "RGB16 UNORM",                180;
    "RGB32 UNORM",                181;
    "RGB32F",                     183;
    "RGBA2 UNORM",                185, except(V11);
    "RGBA4 UNORM",                186;
    "RGBA8 UNORM",                187;
    "RGBA16 UNORM",               188;
    "RGBA32 UNORM",               189;
    "R10X6G10X6B10X6A10X6 UNORM", 190, since(V11);
    "RGBA32F",                    191;
    "R8I",                        195;
    "R16I",                       196;
    "R32I",                       197;
    "R16F",                       199;
    "RG4I",                       202;
    "RG8I",                       203;
    "RG16I",                      204;
    "RG32I",                      205;
    "RG16F",                      207;
    "RGB8I",                      211;
    "RGB16I",                     212;
    "RGB32I",                     213;
    "RGB16F",                     215;
    "RGBA2I",                     217, except(V11);
    "RGBA4I",                     218;
    "RGBA8I",                     219;
    "RGBA16I",                    220;
    "RGBA32I",                    221;
    "RGBA16F",                    223;
    "RGB5 A1 AU",                 224;
    "RGB5 A1 PU",                 225;
    "R5G6B5 AU",                  226;
    "R5G6B5 PU",                  227;
    "Snap4 V",                    230;
    "R32F RTZ",                   231;
    "RGBA4 AU",                   232;
    "RGBA4 PU",                   233;
    "RGBA8 TB",                   237;
    "RGB10 A2 TB",                238;
    "RG32F RTZ",                  239;
    "Tess Vertex Pack",           240;
    "RGB8 A2 AU",                 241;
    "RGB8 A2 PU",                 242;
    "RGB32F RTZ",                 247;
    "RGBA32F RTZ",                255;
}

#[rustfmt::skip]
names! {
    /// What the output channels take from the stored components.
    RGB_COMPONENT_ORDER "RGB Component Order";
    "RGBA",        0;
    "GRBA",        2;
    "BGRA",        4;
    "ARGB",        8;
    "AGRB",       10;
    "ABGR",       12;
    "RGB1",       16;
    "GRB1",       18;
    "BGR1",       20;
    "1RGB",       24;
    "1GRB",       26;
    "1BGR",       28;
    "RRRR",      226;
    "RRR1",      227;
    "RRRA",      228;
    "000A",      229;
    "0001",      230;
    "0000",      231;
    "Snap4 v9",  232;
    "Snap4 v10", 233;
    "Snap4 v11", 234;
    "Snap4 v12", 235;
    "Snap4 v13", 236;
    "Snap4 v14", 237;
    "Snap4 v15", 238;
    "Snap4 v16", 239;
    "R000",      240;
    "RBGA",      242;
}

#[rustfmt::skip]
names! {
    /// Axis along which workgroups are cut into tasks.
    TASK_AXIS "Task Axis";
    "X",   0;
    "Y",   1;
    "Z",   2;
}

#[rustfmt::skip]
names! {
    /// State registers of a compute job.
    COMPUTE_SR "COMPUTE SR";
    "SRT_0",                     0;
    "SRT_1",                     2;
    "SRT_2",                     4;
    "SRT_3",                     6;
    "FAU_0",                     8;
    "FAU_1",                    10;
    "FAU_2",                    12;
    "FAU_3",                    14;
    "SPD_0",                    16;
    "SPD_1",                    18;
    "SPD_2",                    20;
    "SPD_3",                    22;
    "TSD_0",                    24;
    "TSD_1",                    26;
    "TSD_2",                    28;
    "TSD_3",                    30;
    "GLOBAL_ATTRIBUTE_OFFSET",  32;
    "WG_SIZE",                  33;
    "JOB_OFFSET_X",             34;
    "JOB_OFFSET_Y",             35;
    "JOB_OFFSET_Z",             36;
    "JOB_SIZE_X",               37;
    "JOB_SIZE_Y",               38;
    "JOB_SIZE_Z",               39;
    "ITER_TRACE_ID0",           62, since(V11);
    "ITER_TRACE_ID1",           63, since(V11);
}

#[rustfmt::skip]
names! {
    /// State registers of a draw.
    IDVS_SR "IDVS SR";
    "SRT_0",                     0, until(V11);
    "VERTEX_SRT",                0, since(V12);
    "SRT_1",                     2, until(V11);
    "FRAGMENT_SRT",              2, since(V12);
    "SRT_2",                     4, until(V11);
    "SRT_3",                     6, until(V11);
    "FAU_0",                     8, until(V11);
    "VERTEX_FAU",                8, since(V12);
    "FAU_1",                    10, until(V11);
    "FRAGMENT_FAU",             10, since(V12);
    "FAU_2",                    12, until(V11);
    "FAU_3",                    14, until(V11);
    "SPD_0",                    16, until(V11);
    "VERTEX_SPD",               16, since(V12);
    "SPD_1",                    18, until(V11);
    "FRAGMENT_SPD",             18, since(V12);
    "SPD_2",                    20, until(V11);
    "SPD_3",                    22, until(V11);
    "TSD_0",                    24, until(V11);
    "VERTEX_TSD",               24, since(V12);
    "TSD_1",                    26, until(V11);
    "FRAGMENT_TSD",             26, since(V12);
    "TSD_2",                    28, until(V11);
    "TSD_3",                    30, until(V11);
    "GLOBAL_ATTRIBUTE_OFFSET",  32;
    "INDEX_COUNT",              33;
    "INSTANCE_COUNT",           34;
    "INDEX_OFFSET",             35;
    "VERTEX_OFFSET",            36;
    "INSTANCE_OFFSET",          37;
    "DCD2",                     38, until(V11);
    "INDEX_BUFFER_SIZE",        39, until(V11);
    "TILER_CTX",                40;
    "SCISSOR_BOX",              42;
    "LOW_DEPTH_CLAMP",          44, until(V11);
    "VIEWPORT_HIGH",            44, since(V12);
    "HIGH_DEPTH_CLAMP",         45, until(V11);
    "OQ",                       46, until(V11);
    "VIEWPORT_LOW",             46, since(V12);
    "VARY_SIZE",                48, until(V11);
    "INDEX_BUFFER",             48, since(V12);
    "BLEND_DESC",               50, until(V11);
    "INDEX_BUFFER_SIZE",        50, since(V12);
    "VARY_SIZE",                51, since(V12);
    "ZSD",                      52;
    "INDEX_BUFFER",             54, until(V11);
    "BLEND_DESC",               54, since(V12);
    "TILER_FLAGS",              56;
    "DCD0",                     57;
    "DCD1",                     58;
    "DCD2",                     59, since(V12);
    "PRIMITIVE_SIZE",           60, until(V12);
    "LINE_WIDTH",               60, since(V13);
    "TILER_FLAGS2",             61, since(V11);
    "ITER_TRACE_ID0",           62, since(V11);
    "ITER_TRACE_ID1",           63, since(V11);
    "OQ",                       64, since(V12);
}

#[rustfmt::skip]
names! {
    /// State registers of a fragment job.
    FRAGMENT_SR "FRAGMENT SR";
    "FBD_POINTER",     40;
    "BBOX_MIN",        42;
    "BBOX_MAX",        43;
    "TEM_POINTER",     44;
    "TEM_ROW_STRIDE",  46;
    "ITER_TRACE_ID0",  62, since(V11);
    "ITER_TRACE_ID1",  63, since(V11);
}

#[rustfmt::skip]
names! {
    /// Format of a value in registers (2024 description of the conversion word).
    REGISTER_FILE_FORMAT "Register File Format";
    "F16",   0;
    "F32",   1;
    "I32",   2;
    "U32",   3;
    "I16",   4;
    "U16",   5;
}

#[rustfmt::skip]
names! {
    /// How values are summed when downsampling.
    DOWNSAMPLING_ACCUMULATION_MODE "Downsampling Accumulation Mode";
    "Unsigned normalized integer",   0;
    "Signed normalized integer",     1;
}

#[rustfmt::skip]
names! {
    /// Layout of samples.
    SAMPLE_LAYOUT "Sample Layout";
    "Ordered 4x Grid",   0;
    "Rotated 4x Grid",   1;
    "D3D 8x Grid",       2;
    "D3D 16x Grid",      3;
}

#[rustfmt::skip]
names! {
    /// Format of a depth preload.
    ZS_PRELOAD_FORMAT "ZS Preload Format";
    "D32_S8X24",   4;
}

#[rustfmt::skip]
names! {
    /// Constant 6 of the YUV conversion.
    YUV_CONV_K6 "YUV Conv K6";
    "0",    0;
    "16",   1;
}

#[rustfmt::skip]
names! {
    /// Range to which the YUV conversion clamps.
    YUV_CONV_K7_CLAMP "YUV Conv K7 Clamp";
    "MINUS_128_TO_127",   0;
    "MINUS_112_TO_111",   1;
    "0_TO_255",           2;
    "16_TO_239",          3;
}

#[rustfmt::skip]
names! {
    /// Constant 8 of the YUV conversion.
    YUV_CONV_K8 "YUV Conv K8";
    "220",   0;
    "256",   1;
}

#[rustfmt::skip]
names! {
    /// State registers of a full-screen draw.
    FULLSCREEN_SR "FULLSCREEN SR";
    "TILER_CTX",    40, since(V11), until(V11);
    "SCISSOR_BOX",  42, since(V11), until(V11);
    "TILER_FLAGS",  56, since(V11), until(V11);
}

/// All of them.
pub static NAMES: &[&EnumTable] = &[
    &CHANNEL,
    &FORMAT,
    &RGB_COMPONENT_ORDER,
    &TASK_AXIS,
    &COMPUTE_SR,
    &IDVS_SR,
    &FRAGMENT_SR,
    &REGISTER_FILE_FORMAT,
    &DOWNSAMPLING_ACCUMULATION_MODE,
    &SAMPLE_LAYOUT,
    &ZS_PRELOAD_FORMAT,
    &YUV_CONV_K6,
    &YUV_CONV_K7_CLAMP,
    &YUV_CONV_K8,
    &FULLSCREEN_SR,
];
