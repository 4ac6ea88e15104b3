//! The rows: register, name, architectures, meaning, and when the job reads it.
//!
//! Facts: hardware/command-stream.md 4.1 to 4.6.

use super::words::{
    DepthViewport, DrawFlags1, DrawFlags2, FramebufferPointer, PixelPoint, PixelRect,
    PrimitiveFlags, PrimitiveFlags2, WordInfo, WorkgroupSize,
};
use super::{StagingRegister, StagingWhen};
use crate::arch::ArchSet;
use crate::arch::on::{ALL, FROM_V11, FROM_V12, TO_V11, V10, V11, V12, V13};
use crate::field::Sentence;
use crate::register::Reg;

const fn r(number: u8, name: &'static str, archs: ArchSet, note: &'static str) -> StagingRegister {
    StagingRegister {
        register: Reg::new(number),
        is_pair: false,
        name,
        archs,
        when: StagingWhen::Always,
        word: None,
        note: Sentence::new(note).text(),
    }
}

const fn d(number: u8, name: &'static str, archs: ArchSet, note: &'static str) -> StagingRegister {
    StagingRegister {
        is_pair: true,
        ..r(number, name, archs, note)
    }
}

impl StagingRegister {
    const fn when(mut self, field: &'static str, value: u64) -> StagingRegister {
        self.when = StagingWhen::Field(field, value);
        self
    }

    const fn if_registers(mut self, say: &'static str) -> StagingRegister {
        self.when = StagingWhen::Registers(say);
        self
    }

    const fn never(mut self) -> StagingRegister {
        self.when = StagingWhen::Never;
        self
    }

    const fn word(mut self, word: &'static WordInfo) -> StagingRegister {
        self.word = Some(word);
        self
    }
}

const SRT: &str = "address of the resource table; bits 5:0: number of 16-byte entries";
const FAU: &str = "bits 55:0: address of the uniforms; bits 63:56: number of 64-bit words";
const SPD: &str = "address of a shader program descriptor";
const TSD: &str = "address of a local storage descriptor";
const TRACE: &str = "trace tag, no effect on results";

#[rustfmt::skip]
pub(super) const COMPUTE: &[StagingRegister] = &[
    d(0,  "SRT_0",                   ALL,      SRT).when("srt_select", 0),
    d(2,  "SRT_1",                   ALL,      SRT).when("srt_select", 1),
    d(4,  "SRT_2",                   ALL,      SRT).when("srt_select", 2),
    d(6,  "SRT_3",                   ALL,      SRT).when("srt_select", 3),
    d(8,  "FAU_0",                   ALL,      FAU).when("fau_select", 0),
    d(10, "FAU_1",                   ALL,      FAU).when("fau_select", 1),
    d(12, "FAU_2",                   ALL,      FAU).when("fau_select", 2),
    d(14, "FAU_3",                   ALL,      FAU).when("fau_select", 3),
    d(16, "SPD_0",                   ALL,      SPD).when("spd_select", 0),
    d(18, "SPD_1",                   ALL,      SPD).when("spd_select", 1),
    d(20, "SPD_2",                   ALL,      SPD).when("spd_select", 2),
    d(22, "SPD_3",                   ALL,      SPD).when("spd_select", 3),
    d(24, "TSD_0",                   ALL,      TSD).when("tsd_select", 0),
    d(26, "TSD_1",                   ALL,      TSD).when("tsd_select", 1),
    d(28, "TSD_2",                   ALL,      TSD).when("tsd_select", 2),
    d(30, "TSD_3",                   ALL,      TSD).when("tsd_select", 3),
    r(32, "GLOBAL_ATTRIBUTE_OFFSET", ALL,      "attribute offset, normally 0"),
    r(33, "WG_SIZE",                 ALL,      "workgroup size").word(&WorkgroupSize::INFO),
    r(34, "JOB_OFFSET_X",            ALL,      "first workgroup, X"),
    r(35, "JOB_OFFSET_Y",            ALL,      "first workgroup, Y"),
    r(36, "JOB_OFFSET_Z",            ALL,      "first workgroup, Z"),
    r(37, "JOB_SIZE_X",              ALL,      "workgroup count, X"),
    r(38, "JOB_SIZE_Y",              ALL,      "workgroup count, Y"),
    r(39, "JOB_SIZE_Z",              ALL,      "workgroup count, Z"),
    r(62, "ITER_TRACE_ID0",          FROM_V11, TRACE),
    r(63, "ITER_TRACE_ID1",          FROM_V11, TRACE),
];

#[rustfmt::skip]
pub(super) const IDVS: &[StagingRegister] = &[
    d(0,  "SRT_0",                   TO_V11,   SRT),
    d(2,  "SRT_1",                   TO_V11,   SRT).when("varying_srt_select", 1),
    d(4,  "SRT_2",                   TO_V11,   SRT).when("fragment_srt_select", 1),
    d(6,  "SRT_3",                   TO_V11,   SRT).never(),
    d(8,  "FAU_0",                   TO_V11,   FAU),
    d(10, "FAU_1",                   TO_V11,   FAU).when("varying_fau_select", 1),
    d(12, "FAU_2",                   TO_V11,   FAU),
    d(14, "FAU_3",                   TO_V11,   FAU).never(),
    d(16, "SPD_0",                   TO_V11,   SPD),
    d(18, "SPD_1",                   TO_V11,   SPD).if_registers("secondary_shader"),
    d(20, "SPD_2",                   TO_V11,   SPD),
    d(22, "SPD_3",                   TO_V11,   SPD).never(),
    d(24, "TSD_0",                   TO_V11,   TSD),
    d(26, "TSD_1",                   TO_V11,   TSD).when("varying_tsd_select", 1),
    d(28, "TSD_2",                   TO_V11,   TSD).when("fragment_tsd_select", 1),
    d(30, "TSD_3",                   TO_V11,   TSD).never(),
    d(0,  "VERTEX_SRT",              FROM_V12, SRT),
    d(2,  "FRAGMENT_SRT",            FROM_V12, SRT),
    d(8,  "VERTEX_FAU",              FROM_V12, FAU),
    d(10, "FRAGMENT_FAU",            FROM_V12, FAU),
    d(16, "VERTEX_SPD",              FROM_V12, SPD),
    d(18, "FRAGMENT_SPD",            FROM_V12, SPD),
    d(24, "VERTEX_TSD",              FROM_V12, TSD),
    d(26, "FRAGMENT_TSD",            FROM_V12, TSD),
    r(32, "GLOBAL_ATTRIBUTE_OFFSET", ALL,      "attribute offset, normally 0"),
    r(33, "INDEX_COUNT",             ALL,      "number of indices, or of vertices when not indexed"),
    r(34, "INSTANCE_COUNT",          ALL,      "number of instances"),
    r(35, "INDEX_OFFSET",            ALL,      "first index, in indices; 0 when not indexed"),
    r(36, "VERTEX_OFFSET",           ALL,      "signed, added to each index; first vertex when not indexed"),
    r(37, "INSTANCE_OFFSET",         ALL,      "first instance"),
    r(38, "DCD2",                    TO_V11,   "draw flags 2").word(&DrawFlags2::INFO),
    r(39, "INDEX_BUFFER_SIZE",       TO_V11,   "index buffer size in bytes").if_registers("index_type != 0"),
    d(40, "TILER_CTX",               ALL,      "tiler context descriptor address, 64-byte aligned"),
    d(42, "SCISSOR_BOX",             ALL,      "scissor rectangle; with scissor_array_enable bits 55:0 array address, 63:56 count").word(&PixelRect::INFO),
    r(44, "LOW_DEPTH_CLAMP",         TO_V11,   "float, minimum depth"),
    r(45, "HIGH_DEPTH_CLAMP",        TO_V11,   "float, maximum depth"),
    d(46, "OQ",                      TO_V11,   "occlusion query result address").if_registers("DCD0 occlusion mode != 0"),
    r(48, "VARY_SIZE",               TO_V11,   "bytes of varyings per vertex").if_registers("secondary_shader"),
    d(50, "BLEND_DESC",              TO_V11,   "bits 63:4 address of blend descriptors, bits 3:0 count"),
    d(44, "VIEWPORT_HIGH",           FROM_V12, "words 0 and 1 of the viewport").word(&PixelRect::INFO),
    d(46, "VIEWPORT_LOW",            FROM_V12, "words 2 and 3 of the viewport").word(&DepthViewport::INFO),
    d(48, "INDEX_BUFFER",            FROM_V12, "index buffer address").if_registers("index_type != 0"),
    r(50, "INDEX_BUFFER_SIZE",       FROM_V12, "index buffer size in bytes").if_registers("index_type != 0"),
    r(51, "VARY_SIZE",               FROM_V12, "bits 15:0: bytes of varyings per vertex"),
    d(52, "ZSD",                     ALL,      "depth/stencil descriptor address"),
    d(54, "INDEX_BUFFER",            TO_V11,   "index buffer address").if_registers("index_type != 0"),
    d(54, "BLEND_DESC",              FROM_V12, "bits 63:4 address of blend descriptors, bits 3:0 count"),
    r(56, "TILER_FLAGS",             ALL,      "primitive flags; the effective value is this OR flags_override").word(&PrimitiveFlags::INFO),
    r(57, "DCD0",                    ALL,      "draw flags 0"),
    r(58, "DCD1",                    ALL,      "draw flags 1").word(&DrawFlags1::INFO),
    r(59, "DCD2",                    FROM_V12, "draw flags 2").word(&DrawFlags2::INFO),
    d(60, "PRIMITIVE_SIZE",          V10,      "point size or line width as a float in the low word, or with point_size_array_format address of a size array"),
    r(60, "PRIMITIVE_SIZE",          V11,      "point size or line width as a float"),
    r(60, "PRIMITIVE_SIZE",          V12,      "point size or line width as a float"),
    r(60, "LINE_WIDTH",              V13,      "line width as a float; points take their size from the shader"),
    r(61, "TILER_FLAGS2",            FROM_V11, "primitive flags 2").word(&PrimitiveFlags2::INFO),
    r(62, "ITER_TRACE_ID0",          FROM_V11, TRACE),
    r(63, "ITER_TRACE_ID1",          FROM_V11, TRACE),
    d(64, "OQ",                      FROM_V12, "occlusion query result address").if_registers("DCD0 occlusion mode != 0"),
];

#[rustfmt::skip]
pub(super) const FRAGMENT: &[StagingRegister] = &[
    d(40, "FBD_POINTER",             ALL,      "tagged framebuffer descriptor pointer").word(&FramebufferPointer::INFO),
    r(42, "BBOX_MIN",                ALL,      "first pixel").word(&PixelPoint::INFO),
    r(43, "BBOX_MAX",                ALL,      "last pixel, inclusive").word(&PixelPoint::INFO),
    d(44, "TEM_POINTER",             ALL,      "tile enable map address").when("enable_tem", 1),
    r(46, "TEM_ROW_STRIDE",          ALL,      "tile enable map row stride").when("enable_tem", 1),
    r(62, "ITER_TRACE_ID0",          FROM_V11, TRACE),
    r(63, "ITER_TRACE_ID1",          FROM_V11, TRACE),
];

/// The draw descriptor's address is in the pair that the instruction names.
#[rustfmt::skip]
pub(super) const FULLSCREEN: &[StagingRegister] = &[
    d(40, "TILER_CTX",               ALL,      "tiler context descriptor address"),
    d(42, "SCISSOR_BOX",             ALL,      "rectangle to cover, inclusive").word(&PixelRect::INFO),
    r(56, "TILER_FLAGS",             ALL,      "primitive flags, OR flags_override; view_mask picks the layers").word(&PrimitiveFlags::INFO),
    r(57, "DCD0",                    V13,      "must equal word 0 of the draw descriptor"),
    r(58, "DCD1",                    V13,      "must equal word 1 of the draw descriptor").word(&DrawFlags1::INFO),
    r(59, "DCD2",                    V13,      "must equal word 5 of the draw descriptor").word(&DrawFlags2::INFO),
    r(61, "TILER_FLAGS2",            FROM_V11, "primitive flags 2").when("tiler_flags2_enable", 1).word(&PrimitiveFlags2::INFO),
    r(62, "ITER_TRACE_ID0",          FROM_V11, TRACE),
    r(63, "ITER_TRACE_ID1",          FROM_V11, TRACE),
];

/// SRT to TSD are those of the fragment stage.
#[rustfmt::skip]
pub(super) const TILING: &[StagingRegister] = &[
    d(0,  "SRT_0",                   V10,      SRT).when("srt_select", 0),
    d(2,  "SRT_1",                   V10,      SRT).when("srt_select", 1),
    d(4,  "SRT_2",                   V10,      SRT).when("srt_select", 2),
    d(6,  "SRT_3",                   V10,      SRT).when("srt_select", 3),
    d(8,  "FAU_0",                   V10,      FAU).when("fau_select", 0),
    d(10, "FAU_1",                   V10,      FAU).when("fau_select", 1),
    d(12, "FAU_2",                   V10,      FAU).when("fau_select", 2),
    d(14, "FAU_3",                   V10,      FAU).when("fau_select", 3),
    d(16, "SPD_0",                   V10,      SPD).when("spd_select", 0),
    d(18, "SPD_1",                   V10,      SPD).when("spd_select", 1),
    d(20, "SPD_2",                   V10,      SPD).when("spd_select", 2),
    d(22, "SPD_3",                   V10,      SPD).when("spd_select", 3),
    d(24, "TSD_0",                   V10,      TSD).when("tsd_select", 0),
    d(26, "TSD_1",                   V10,      TSD).when("tsd_select", 1),
    d(28, "TSD_2",                   V10,      TSD).when("tsd_select", 2),
    d(30, "TSD_3",                   V10,      TSD).when("tsd_select", 3),
    r(32, "GLOBAL_ATTRIBUTE_OFFSET", V10,      "attribute offset, normally 0"),
    r(33, "INDEX_COUNT",             V10,      "number of indices, or of vertices when not indexed"),
    r(34, "INSTANCE_COUNT",          V10,      "number of instances"),
    r(35, "INDEX_OFFSET",            V10,      "first index, in indices; 0 when not indexed"),
    r(36, "VERTEX_OFFSET",           V10,      "signed, added to each index; first vertex when not indexed"),
    r(38, "DCD2",                    V10,      "draw flags 2").word(&DrawFlags2::INFO),
    r(39, "INDEX_BUFFER_SIZE",       V10,      "index buffer size in bytes").if_registers("index_type != 0"),
    d(40, "TILER_CTX",               V10,      "tiler context descriptor address, 64-byte aligned"),
    d(42, "SCISSOR_BOX",             V10,      "scissor rectangle; with scissor_array_enable bits 55:0 array address, 63:56 count").word(&PixelRect::INFO),
    r(44, "LOW_DEPTH_CLAMP",         V10,      "float, minimum depth"),
    r(45, "HIGH_DEPTH_CLAMP",        V10,      "float, maximum depth"),
    d(46, "OQ",                      V10,      "occlusion query result address").if_registers("DCD0 occlusion mode != 0"),
    d(48, "VERTEX_POSITION_ARRAY",   V10,      "array of already shaded positions"),
    d(50, "BLEND_DESC",              V10,      "bits 63:4 address of blend descriptors, bits 3:0 count"),
    d(52, "ZSD",                     V10,      "depth/stencil descriptor address"),
    d(54, "INDEX_BUFFER",            V10,      "index buffer address").if_registers("index_type != 0"),
    r(56, "TILER_FLAGS",             V10,      "primitive flags; the effective value is this OR flags_override").word(&PrimitiveFlags::INFO),
    r(57, "DCD0",                    V10,      "draw flags 0"),
    r(58, "DCD1",                    V10,      "draw flags 1").word(&DrawFlags1::INFO),
    r(59, "VERTEX_BOUNDS",           V10,      "vertex bounds"),
    d(60, "PRIMITIVE_SIZE",          V10,      "point size or line width as a float in the low word, or with point_size_array_format address of a size array"),
];
