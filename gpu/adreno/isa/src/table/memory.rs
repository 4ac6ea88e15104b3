//! Rows: memory by address, and by slot in the layout of a5xx (category 6).
//!
//! Facts: hardware/ir3-isa.md sections 1, 9, 12 and 16.

use super::fields::{
    CONST_DST, D, DST, DST_OFF, JP, OFF_HI, OFF_LO, OFF2, OFF13, SHIFT, SIZE3, SIZE8, SRC1_CONST,
    SRC1_IM22, SRC2_IM, SRC3_IM, SSBO_A5XX, SSBO_IM, SY, TYPE, TYPE_SIZE, TYPED, address, gpr,
    mem_src, uint,
};
use super::{EMPTY, ONE, PAIR, category, reads, writes};
use crate::field::{Field, Immediate};
use crate::layout::{Count, DestWidth, Latency, Layout, OperandSpec, Variant, When, Wide};

/// The opcode in bits 54 to 58, and what else tells the instruction.
pub(super) const fn cat6(opcode: u64, also: u64) -> u64 {
    category(6) | opcode << 54 | also
}

const ADDRESS: OperandSpec = reads(Field::Src1, PAIR, Wide::Full);
const LOADED: OperandSpec = writes(Field::Dst, Count::Size, Wide::Data);
pub(super) const RESOURCE: OperandSpec = reads(Field::Ssbo, ONE, Wide::Full);

// Global memory.
pub(super) const LDG: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} {TYPE_HALF}{DST}, g[{SRC1}{OFF}], {SIZE}",
    fields: &[OFF13, address(14), SIZE3, DST, TYPE, JP, SY],
    ignored: 0x0001_ff00_3800_0000,
    dest: DestWidth::ByType,
    operands: &[ADDRESS, LOADED],
    latency: Latency::Sy,
    ..EMPTY
};
pub(super) const LDG_A_A6XX: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} {TYPE_HALF}{DST}, g[{SRC1}+({SRC2}{OFF})<<{SRC2_BYTE_SHIFT}], {SIZE}",
    variants: &[Variant {
        when: When::Shifted,
        text: "{SY}{JP}{NAME}.{TYPE} {TYPE_HALF}{DST}, g[{SRC1}+{SRC2}<<{SRC2_BYTE_SHIFT}{OFF}<<2], {SIZE}",
    }],
    fields: &[
        gpr(Field::Src2, 1),
        OFF2,
        SHIFT,
        address(14),
        SIZE3,
        DST,
        TYPE,
        JP,
        SY,
    ],
    zero: 1 << 11,
    operands: &[ADDRESS, reads(Field::Src2, ONE, Wide::Full), LOADED],
    ..LDG
};
pub(super) const LDG_A_A7XX: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} {TYPE_HALF}{DST}, g[{SRC1}+{SRC2}+{OFF}], {SIZE}",
    fields: &[
        gpr(Field::Src2, 1),
        SRC1_CONST,
        address(14),
        SIZE3,
        DST,
        uint(Field::Off, 41, 48),
        TYPE,
        JP,
        SY,
    ],
    ignored: 0x0000_0100_3800_1e00,
    operands: &[ADDRESS, reads(Field::Src2, ONE, Wide::Full), LOADED],
    ..LDG
};
pub(super) const LDG_K: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} c[{DST}], g[{SRC1}{OFF}], {SIZE}",
    fields: &[
        OFF13,
        address(14),
        uint(Field::Size, 23, 26),
        CONST_DST,
        TYPE,
        JP,
        SY,
    ],
    ignored: 0x0001_fe00_3800_0000,
    operands: &[ADDRESS],
    latency: Latency::Sy,
    ..EMPTY
};
pub(super) const STG: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} g[{SRC1}{OFF}], {TYPE_HALF}{SRC3}, {SIZE}",
    fields: &[
        gpr(Field::Src3, 1),
        OFF_HI,
        SIZE3,
        OFF_LO,
        DST_OFF,
        address(41),
        TYPE,
        JP,
        SY,
    ],
    ignored: 0x0020_0000_387f_c001,
    // All words of stores that the facts have say that the offset lies in the place of a destination.
    usual: DST_OFF.mask(),
    operands: &[ADDRESS, reads(Field::Src3, Count::Size, Wide::Data)],
    ..EMPTY
};
pub(super) const STG_A_A6XX: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} g[{SRC1}+({SRC2}{OFF})<<{DST_BYTE_SHIFT}], {TYPE_HALF}{SRC3}, {SIZE}",
    variants: &[Variant {
        when: When::Shifted,
        text: "{SY}{JP}{NAME}.{TYPE} g[{SRC1}+{SRC2}<<{DST_BYTE_SHIFT}{OFF}<<2], {TYPE_HALF}{SRC3}, {SIZE}",
    }],
    fields: &[
        gpr(Field::Src3, 1),
        OFF2,
        SHIFT,
        SIZE3,
        gpr(Field::Src2, 32),
        DST_OFF,
        address(41),
        TYPE,
        JP,
        SY,
    ],
    zero: 1 << 11,
    operands: STG_A_READS,
    ..STG
};
pub(super) const STG_A_A7XX: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} g[{SRC1}+{SRC2}+{OFF}], {TYPE_HALF}{SRC3}, {SIZE}",
    fields: &[
        gpr(Field::Src3, 1),
        SRC1_CONST,
        uint(Field::Off, 14, 21),
        SIZE3,
        gpr(Field::Src2, 32),
        DST_OFF,
        address(41),
        TYPE,
        JP,
        SY,
    ],
    ignored: 0x0020_0000_3800_1e01,
    operands: STG_A_READS,
    ..STG
};
const STG_A_READS: &[OperandSpec] = &[
    ADDRESS,
    reads(Field::Src2, ONE, Wide::Full),
    reads(Field::Src3, Count::Size, Wide::Data),
];

// Workgroup and private memory.
pub(super) const LDL: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} {DST}, l[{SRC}{OFF}], {SIZE}",
    fields: &[OFF13, gpr(Field::Src, 14), SIZE8, DST, TYPE, JP, SY],
    ignored: 0x0031_ff00_0040_0000,
    dest: DestWidth::ByType,
    operands: &[reads(Field::Src, ONE, Wide::Full), LOADED],
    latency: Latency::Ss,
    ..EMPTY
};
pub(super) const LDP: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} {DST}, p[{SRC}{OFF}], {SIZE}",
    latency: Latency::Sy,
    ..LDL
};
pub(super) const LDLV: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} {DST}, l[{OFF}], {SIZE}",
    fields: &[uint(Field::Off, 1, 13), SIZE8, DST, TYPE, JP, SY],
    ignored: 0x0031_ff00_003f_c000,
    operands: &[LOADED],
    ..LDL
};
pub(super) const STL: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} l[{DST}{OFF}], {SRC}, {SIZE}",
    fields: &[
        gpr(Field::Src, 1),
        OFF_HI,
        SIZE8,
        OFF_LO,
        gpr(Field::Dst, 41),
        TYPE,
        JP,
        SY,
    ],
    ignored: 0x0030_0000_007f_c001,
    operands: &[
        reads(Field::Dst, ONE, Wide::Full),
        reads(Field::Src, Count::Size, Wide::Data),
    ],
    ..EMPTY
};
pub(super) const STP: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} p[{DST}{OFF}], {SRC}, {SIZE}",
    ignored: 0x0030_0000_007f_c000,
    ..STL
};

// Const file.
pub(super) const STC: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} c[{DST}], {SRC}, {SIZE}",
    fields: &[gpr(Field::Src, 1), SIZE3, CONST_DST, TYPE, JP, SY],
    ignored: 0x0031_fe00_f87f_fe01,
    operands: &[reads(Field::Src, Count::Size, Wide::Data)],
    ..EMPTY
};
pub(super) const STSC: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} c[{DST}], {SRC}, {SIZE}",
    fields: &[
        mem_src(Field::Src, 1, Immediate::Always),
        uint(Field::DstHi, 9, 13),
        SIZE8,
        uint(Field::DstLo, 32, 39),
        TYPE,
        JP,
        SY,
    ],
    zero: 1 << 40,
    ignored: 0x0031_fe00_003f_c001,
    ..EMPTY
};

// Resources by slot, as a5xx has them.
pub(super) const RESINFO: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE}.{D}d {DST}, g[{SSBO}]",
    fields: &[D, DST, SSBO_A5XX, TYPE, SSBO_IM, JP, SY],
    ignored: 0x0010_0000_ffff_f9ff,
    dest: DestWidth::ByType,
    operands: &[RESOURCE, writes(Field::Dst, Count::Fixed(3), Wide::Data)],
    latency: Latency::Ss,
    ..EMPTY
};
pub(super) const LDGB: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPED}.{D}d.{TYPE}.{TYPE_SIZE} {DST}, g[{SSBO}], {SRC1}, {SRC2}",
    fields: &[
        D,
        TYPED,
        TYPE_SIZE,
        mem_src(Field::Src1, 14, Immediate::By(Field::Src1Im)),
        SRC1_IM22,
        SRC2_IM,
        mem_src(Field::Src2, 24, Immediate::By(Field::Src2Im)),
        DST,
        SSBO_A5XX,
        TYPE,
        SSBO_IM,
        JP,
        SY,
    ],
    ignored: 0x0010_0100_0000_01ff,
    dest: DestWidth::ByType,
    operands: &[
        RESOURCE,
        reads(Field::Src1, Count::Coordinates, Wide::Full),
        reads(Field::Src2, ONE, Wide::Full),
        writes(Field::Dst, Count::TypeSize, Wide::Data),
    ],
    latency: Latency::Sy,
    ..EMPTY
};
pub(super) const LDIB: Layout = Layout {
    ignored: 0x0010_0100_0000_01fe,
    ..LDGB
};
pub(super) const STGB: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPED}.{D}d.{TYPE}.{TYPE_SIZE} g[{SSBO}], {SRC1}, {SRC2}, {SRC3}",
    fields: &[
        gpr(Field::Src1, 1),
        D,
        TYPED,
        TYPE_SIZE,
        SRC2_IM,
        mem_src(Field::Src2, 24, Immediate::By(Field::Src2Im)),
        mem_src(Field::Src3, 32, Immediate::By(Field::Src3Im)),
        SRC3_IM,
        SSBO_A5XX,
        TYPE,
        SSBO_IM,
        JP,
        SY,
    ],
    ignored: 0x0010_0000_007f_c000,
    operands: &[
        RESOURCE,
        reads(Field::Src1, Count::TypeSize, Wide::Data),
        reads(Field::Src2, Count::Coordinates, Wide::Full),
        reads(Field::Src3, ONE, Wide::Full),
    ],
    ..EMPTY
};

// Atomics: of workgroup memory, of resources by slot (a5xx), of global memory.
pub(super) const ATOMIC_L: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPED}.{D}d.{TYPE}.{TYPE_SIZE}.l {DST}, l[{SRC1}], {SRC2}",
    fields: &[
        D,
        TYPED,
        TYPE_SIZE,
        mem_src(Field::Src1, 14, Immediate::By(Field::Src1Im)),
        SRC1_IM22,
        SRC2_IM,
        mem_src(Field::Src2, 24, Immediate::By(Field::Src2Im)),
        DST,
        TYPE,
        JP,
        SY,
    ],
    ignored: 0x0000_0100_0000_0000,
    dest: DestWidth::ByType,
    operands: &[
        reads(Field::Src1, ONE, Wide::Full),
        reads(Field::Src2, ONE, Wide::Data),
        writes(Field::Dst, ONE, Wide::Data),
    ],
    latency: Latency::Ss,
    ..EMPTY
};
pub(super) const ATOMIC_L_PAIR: Layout = Layout {
    operands: &[
        reads(Field::Src1, ONE, Wide::Full),
        reads(Field::Src2, PAIR, Wide::Data),
        writes(Field::Dst, ONE, Wide::Data),
    ],
    ..ATOMIC_L
};
pub(super) const ATOMIC_S: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPED}.{D}d.{TYPE}.{TYPE_SIZE}.g {DST}, g[{SSBO}], {SRC1}, {SRC2}, {SRC3}",
    fields: &[
        gpr(Field::Src3, 1),
        D,
        TYPED,
        TYPE_SIZE,
        mem_src(Field::Src1, 14, Immediate::By(Field::Src1Im)),
        SRC1_IM22,
        SRC2_IM,
        mem_src(Field::Src2, 24, Immediate::By(Field::Src2Im)),
        DST,
        SSBO_A5XX,
        TYPE,
        SSBO_IM,
        JP,
        SY,
    ],
    operands: &[
        RESOURCE,
        reads(Field::Src1, ONE, Wide::Data),
        reads(Field::Src2, Count::Coordinates, Wide::Full),
        reads(Field::Src3, ONE, Wide::Full),
        writes(Field::Dst, ONE, Wide::Data),
    ],
    latency: Latency::Sy,
    ..ATOMIC_L
};
pub(super) const ATOMIC_S_PAIR: Layout = Layout {
    operands: &[
        RESOURCE,
        reads(Field::Src1, PAIR, Wide::Data),
        reads(Field::Src2, Count::Coordinates, Wide::Full),
        reads(Field::Src3, ONE, Wide::Full),
        writes(Field::Dst, ONE, Wide::Data),
    ],
    ..ATOMIC_S
};
pub(super) const ATOMIC_G: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPED}.{D}d.{TYPE}.{TYPE_SIZE}.g {DST}, {SRC1}, {SRC2}",
    operands: &[
        ADDRESS,
        reads(Field::Src2, ONE, Wide::Data),
        writes(Field::Dst, ONE, Wide::Data),
    ],
    latency: Latency::Sy,
    ..ATOMIC_L
};
pub(super) const ATOMIC_G_PAIR: Layout = Layout {
    operands: &[
        ADDRESS,
        reads(Field::Src2, PAIR, Wide::Data),
        writes(Field::Dst, ONE, Wide::Data),
    ],
    ..ATOMIC_G
};

#[rustfmt::skip]
macro_rules! memory {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest memory
            //instruction  name               value                             gens    layout        ? meaning
            Ldg            "ldg"              cat6(0x00, 0x80_0001)             ALL     LDG           P "dst[i] = global[addr + off] for SIZE components, addr = 64-bit register pair";
            LdgA           "ldg.a"            cat6(0x00, 0xc0_0001)             A6XX    LDG_A_A6XX    T "global load with register offset: a6xx address = base + ((src2 + OFF) << 2), or base + (src2 << (2+S)) + (OFF << 2) if S > 0; a7xx address = base + src2 + OFF";
            LdgABytes      "ldg.a"            cat6(0x00, 0xc0_0001)             A7XX    LDG_A_A7XX    T "global load with register offset: a6xx address = base + ((src2 + OFF) << 2), or base + (src2 << (2+S)) + (OFF << 2) if S > 0; a7xx address = base + src2 + OFF";
            LdgK           "ldg.k"            cat6(0x00, 0x10_0000_0000_0001)   A6XX_ON LDG_K         T "copies SIZE vec4 from global memory (address + byte offset) to the const file";
            Stg            "stg"              cat6(0x03, 0x80_0000)             ALL     STG           P "global[addr + off] = src[0..SIZE-1]";
            StgA           "stg.a"            cat6(0x03, 0x10_0000_0080_0000)   A6XX    STG_A_A6XX    T "global store with register offset, address as ldg.a";
            StgABytes      "stg.a"            cat6(0x03, 0x10_0000_0080_0000)   A7XX    STG_A_A7XX    T "global store with register offset, address as ldg.a";
            Ldl            "ldl"              cat6(0x01, 0x80_0001)             ALL     LDL           P "dst[i] = local (workgroup shared) memory[src + off], bytes";
            Ldp            "ldp"              cat6(0x02, 0x80_0001)             ALL     LDP           P "dst[i] = private memory[src + off], bytes";
            Ldlw           "ldlw"             cat6(0x0a, 0x80_0001)             ALL     LDL           T "as ldl, variant for data between geometry stages";
            Ldlv           "ldlv"             cat6(0x1f, 0xc0_0000)             ALL     LDLV          T "reads varying storage directly";
            Stl            "stl"              cat6(0x04, 0x100_0080_0000)       ALL     STL           P "local[dst + off] = src";
            Stp            "stp"              cat6(0x05, 0x100_0080_0000)       ALL     STP           P "private[dst + off] = src";
            Stlw           "stlw"             cat6(0x0b, 0x100_0080_0000)       ALL     STL           T "as stl, variant for data between geometry stages";
            Stc            "stc"              cat6(0x1c, 0x80_0000)             A6XX_ON STC           T "const file: c[DST + i] = src[i], i < SIZE, DST in components (plus a1.x in the a1 form); preamble only";
            Stsc           "stsc"             cat6(0x1d, 0xc0_0000)             A7XX    STSC          T "const file: c[DST + i] = shared push constant [SRC + i], i < SIZE dwords";
            Resinfo        "resinfo"          cat6(0x0f, 0x0)                   ALL     RESINFO       T "size query of an image/buffer slot (a5xx layout)";
            Ldgb           "ldgb"             cat6(0x1b, 0x0)                   A5XX    LDGB          T "buffer load of a5xx and older";
            Ldib           "ldib"             cat6(0x06, 0x1)                   A5XX    LDIB          T "image load of a5xx and older";
            Stgb           "stgb"             cat6(0x1c, 0x1)                   A5XX    STGB          T "buffer store of a5xx and older";
            Stib           "stib"             cat6(0x1d, 0x1)                   A5XX    STGB          T "image store of a5xx and older";
            AtomicAdd      "atomic.add"       cat6(0x10, 0x1)                   ALL     ATOMIC_L      P "local memory atomic at byte address src1: new = old + data; dst = old";
            AtomicSub      "atomic.sub"       cat6(0x11, 0x1)                   ALL     ATOMIC_L      P "local memory atomic at byte address src1: new = old - data; dst = old";
            AtomicXchg     "atomic.xchg"      cat6(0x12, 0x1)                   ALL     ATOMIC_L      P "local memory atomic at byte address src1: new = data; dst = old";
            AtomicInc      "atomic.inc"       cat6(0x13, 0x1)                   ALL     ATOMIC_L      I "local memory atomic at byte address src1: new = old + 1 (wrap rule unknown); dst = old";
            AtomicDec      "atomic.dec"       cat6(0x14, 0x1)                   ALL     ATOMIC_L      I "local memory atomic at byte address src1: new = old - 1 (wrap rule unknown); dst = old";
            AtomicCmpxchg  "atomic.cmpxchg"   cat6(0x15, 0x1)                   ALL     ATOMIC_L_PAIR P "local memory atomic at byte address src1: new = old == compare ? data : old; dst = old; src2 = pair (data, compare)";
            AtomicMin      "atomic.min"       cat6(0x16, 0x1)                   ALL     ATOMIC_L      P "local memory atomic at byte address src1: new = min(old,data), signedness by TYPE; dst = old";
            AtomicMax      "atomic.max"       cat6(0x17, 0x1)                   ALL     ATOMIC_L      P "local memory atomic at byte address src1: new = max(old,data), signedness by TYPE; dst = old";
            AtomicAnd      "atomic.and"       cat6(0x18, 0x1)                   ALL     ATOMIC_L      P "local memory atomic at byte address src1: new = old & data; dst = old";
            AtomicOr       "atomic.or"        cat6(0x19, 0x1)                   ALL     ATOMIC_L      P "local memory atomic at byte address src1: new = old | data; dst = old";
            AtomicXor      "atomic.xor"       cat6(0x1a, 0x1)                   ALL     ATOMIC_L      P "local memory atomic at byte address src1: new = old ^ data; dst = old";
            AtomicSAdd     "atomic.s.add"     cat6(0x10, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      P "image/buffer atomic, a5xx layout: new = old + data; dst = old";
            AtomicSSub     "atomic.s.sub"     cat6(0x11, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      P "image/buffer atomic, a5xx layout: new = old - data; dst = old";
            AtomicSXchg    "atomic.s.xchg"    cat6(0x12, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      P "image/buffer atomic, a5xx layout: new = data; dst = old";
            AtomicSInc     "atomic.s.inc"     cat6(0x13, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      I "image/buffer atomic, a5xx layout: new = old + 1 (wrap rule unknown); dst = old";
            AtomicSDec     "atomic.s.dec"     cat6(0x14, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      I "image/buffer atomic, a5xx layout: new = old - 1 (wrap rule unknown); dst = old";
            AtomicSCmpxchg "atomic.s.cmpxchg" cat6(0x15, 0x10_0000_0000_0001)   A5XX    ATOMIC_S_PAIR P "image/buffer atomic, a5xx layout: new = old == compare ? data : old; dst = old";
            AtomicSMin     "atomic.s.min"     cat6(0x16, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      P "image/buffer atomic, a5xx layout: new = min(old,data), signedness by TYPE; dst = old";
            AtomicSMax     "atomic.s.max"     cat6(0x17, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      P "image/buffer atomic, a5xx layout: new = max(old,data), signedness by TYPE; dst = old";
            AtomicSAnd     "atomic.s.and"     cat6(0x18, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      P "image/buffer atomic, a5xx layout: new = old & data; dst = old";
            AtomicSOr      "atomic.s.or"      cat6(0x19, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      P "image/buffer atomic, a5xx layout: new = old | data; dst = old";
            AtomicSXor     "atomic.s.xor"     cat6(0x1a, 0x10_0000_0000_0001)   A5XX    ATOMIC_S      P "image/buffer atomic, a5xx layout: new = old ^ data; dst = old";
            AtomicGAdd     "atomic.g.add"     cat6(0x10, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      P "global atomic at the 64-bit address pair src1: new = old + data; dst = old";
            AtomicGSub     "atomic.g.sub"     cat6(0x11, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      P "global atomic at the 64-bit address pair src1: new = old - data; dst = old";
            AtomicGXchg    "atomic.g.xchg"    cat6(0x12, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      P "global atomic at the 64-bit address pair src1: new = data; dst = old";
            AtomicGInc     "atomic.g.inc"     cat6(0x13, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      I "global atomic at the 64-bit address pair src1: new = old + 1 (wrap rule unknown); dst = old";
            AtomicGDec     "atomic.g.dec"     cat6(0x14, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      I "global atomic at the 64-bit address pair src1: new = old - 1 (wrap rule unknown); dst = old";
            AtomicGCmpxchg "atomic.g.cmpxchg" cat6(0x15, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G_PAIR P "global atomic at the 64-bit address pair src1: new = old == compare ? data : old; dst = old; src2 = pair (data, compare)";
            AtomicGMin     "atomic.g.min"     cat6(0x16, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      P "global atomic at the 64-bit address pair src1: new = min(old,data), signedness by TYPE; dst = old";
            AtomicGMax     "atomic.g.max"     cat6(0x17, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      P "global atomic at the 64-bit address pair src1: new = max(old,data), signedness by TYPE; dst = old";
            AtomicGAnd     "atomic.g.and"     cat6(0x18, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      P "global atomic at the 64-bit address pair src1: new = old & data; dst = old";
            AtomicGOr      "atomic.g.or"      cat6(0x19, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      P "global atomic at the 64-bit address pair src1: new = old | data; dst = old";
            AtomicGXor     "atomic.g.xor"     cat6(0x1a, 0x10_0000_0000_0001)   A6XX_ON ATOMIC_G      P "global atomic at the 64-bit address pair src1: new = old ^ data; dst = old";
        }
    };
}
pub(crate) use memory;
