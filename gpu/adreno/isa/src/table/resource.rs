//! Rows: memory by descriptor, in the layout of a6xx, and places of the program (category 6).
//!
//! Facts: hardware/ir3-isa.md sections 1, 9, 12 and 16.

use super::fields::{
    BASE, BINDLESS, D, DST, JP, MODE, SRC1_IM23, SSBO, SY, TYPE, TYPE_SIZE, TYPED, gpr, mem_src,
    uint,
};
use super::memory::RESOURCE;
use super::{EMPTY, ONE, category, reads, writes};
use crate::field::{Field, Immediate};
use crate::layout::{Count, DestWidth, Latency, Layout, OperandSpec, Wide};

/// The opcode of the a6xx layout in bits 14 to 19, and what else tells the instruction.
pub(super) const fn cat6_b(opcode: u64, also: u64) -> u64 {
    category(6) | opcode << 14 | also
}

// Uniform buffers.
pub(super) const LDC_K: Layout = Layout {
    text: "{SY}{JP}ldc.{LOAD_SIZE}.k.{MODE}{BASE} c[a1.x], {SRC1}, {SRC2}",
    fields: &[
        BASE,
        MODE,
        BINDLESS,
        TYPE_SIZE,
        SRC1_IM23,
        mem_src(Field::Src1, 24, Immediate::By(Field::Src1Im)),
        uint(Field::LoadSizeMinusOne, 32, 39),
        mem_src(Field::Src2, 41, Immediate::ByMode),
        JP,
        SY,
    ],
    ignored: 0x0008_0000_0030_0e01,
    operands: LDC_READS,
    latency: Latency::Sy,
    ..EMPTY
};
const LDC_READS: &[OperandSpec] = &[
    reads(Field::Src1, ONE, Wide::Full),
    reads(Field::Src2, ONE, Wide::Full),
];
pub(super) const LDC: Layout = Layout {
    text: "{SY}{JP}{NAME}.offset{OFFSET}.{TYPE_SIZE}.{MODE}{BASE} {DST}, {SRC1}, {SRC2}",
    fields: &[
        BASE,
        MODE,
        BINDLESS,
        uint(Field::Offset, 9, 10),
        TYPE_SIZE,
        SRC1_IM23,
        mem_src(Field::Src1, 24, Immediate::By(Field::Src1Im)),
        DST,
        mem_src(Field::Src2, 41, Immediate::ByMode),
        JP,
        SY,
    ],
    ignored: 0x0008_0000_0030_0801,
    operands: &[
        reads(Field::Src1, ONE, Wide::Full),
        reads(Field::Src2, ONE, Wide::Full),
        writes(Field::Dst, Count::TypeSize, Wide::Full),
    ],
    ..LDC_K
};

// Places of the program.
pub(super) const WAVE_ID: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPE} {DST}",
    fields: &[BASE, MODE, BINDLESS, TYPE_SIZE, DST, TYPE, JP, SY],
    ignored: 0x0011_fe00_ffb0_0e00,
    dest: DestWidth::ByType,
    operands: &[writes(Field::Dst, ONE, Wide::Data)],
    latency: Latency::SsAndSy,
    ..EMPTY
};
pub(super) const LANE_ID: Layout = Layout {
    ignored: 0x0011_fe00_ff30_0e00,
    latency: Latency::Ss,
    ..WAVE_ID
};

// Buffers and images.
pub(super) const RESINFO_B: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPED}.{D}d.{TYPE}.{TYPE_SIZE}.{MODE}{BASE} {DST}, {SSBO}",
    fields: &[
        BASE, MODE, BINDLESS, D, TYPED, TYPE_SIZE, DST, SSBO, TYPE, JP, SY,
    ],
    ignored: 0x0010_0000_ff00_0000,
    dest: DestWidth::ByType,
    operands: &[RESOURCE, writes(Field::Dst, Count::Fixed(3), Wide::Data)],
    latency: Latency::Ss,
    ..EMPTY
};
pub(super) const STIB_B: Layout = Layout {
    text: "{SY}{JP}{NAME}.{TYPED}.{D}d.{TYPE}.{TYPE_SIZE}.{MODE}{BASE} {TYPE_HALF}{SRC1}, {SRC2}, {SSBO}",
    fields: &[
        BASE,
        MODE,
        BINDLESS,
        D,
        TYPED,
        TYPE_SIZE,
        gpr(Field::Src2, 24),
        gpr(Field::Src1, 32),
        SSBO,
        TYPE,
        JP,
        SY,
    ],
    operands: &[
        RESOURCE,
        PLACE,
        reads(Field::Src1, Count::TypeSize, Wide::Data),
    ],
    ..EMPTY
};
const PLACE: OperandSpec = reads(Field::Src2, Count::Coordinates, Wide::Full);
pub(super) const LDIB_B: Layout = Layout {
    ignored: 1,
    operands: &[
        RESOURCE,
        PLACE,
        writes(Field::Src1, Count::TypeSize, Wide::Data),
    ],
    latency: Latency::Sy,
    ..STIB_B
};
pub(super) const ATOMIC_B: Layout = Layout {
    operands: &[
        RESOURCE,
        PLACE,
        behind_result(1),
        writes(Field::Src1, ONE, Wide::Data),
    ],
    ..LDIB_B
};
pub(super) const ATOMIC_B_PAIR: Layout = Layout {
    operands: &[
        RESOURCE,
        PLACE,
        behind_result(2),
        writes(Field::Src1, ONE, Wide::Data),
    ],
    ..LDIB_B
};

/// The data of an atomic, which follow the register of its result.
const fn behind_result(count: u8) -> OperandSpec {
    OperandSpec {
        skip: 1,
        ..reads(Field::Src1, Count::Fixed(count), Wide::Data)
    }
}

#[rustfmt::skip]
macro_rules! resource {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest resource
            //instruction  name               value                             gens    layout        ? meaning
            LdcK           "ldc.k"            cat6_b(0x1e, 0x36_0000_0040_0000) A6XX_ON LDC_K         T "copies LOAD_SIZE vec4 of a UBO to the const file at a1.x (components); UBO offset and const offset multiples of 4 vec4";
            Ldc            "ldc"              cat6_b(0x1e, 0x26_0000_0040_0000) A6XX_ON LDC           T "UBO load of TYPE_SIZE dwords: SRC2 = UBO index or descriptor, SRC1 = offset in vec4 (16 bytes), OFFSET = first component (0..3)";
            Getspid        "getspid"          cat6_b(0x24, 0x20_0000_0040_0000) A6XX_ON WAVE_ID       I "number of the shader processor";
            Getwid         "getwid"           cat6_b(0x25, 0x20_0000_0040_0000) A6XX_ON WAVE_ID       I "number of the wave slot";
            Getfiberid     "getfiberid"       cat6_b(0x26, 0x20_0000_00c0_0000) A6XX_ON LANE_ID       T "lane number inside the wave (subgroup invocation id); result needs (ss)";
            ResinfoB       "resinfo.b"        cat6_b(0x0f, 0x20_0000_0060_0000) A6XX_ON RESINFO_B     T "size query of image or buffer: 3 components always written; buffer: x = number of elements";
            StibB          "stib.b"           cat6_b(0x1d, 0x20_0000_0060_0000) A6XX_ON STIB_B        T "image/buffer store: SRC1 = value registers, SRC2 = element offset or coordinates";
            LdibB          "ldib.b"           cat6_b(0x06, 0x20_0000_0060_0000) A6XX_ON LDIB_B        T "image/buffer load: SRC1 = destination registers, SRC2 = element offset or coordinates";
            AtomicBAdd     "atomic.b.add"     cat6_b(0x10, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B      P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data; SRC2 = element offset or coordinates; new = old + data";
            AtomicBSub     "atomic.b.sub"     cat6_b(0x11, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B      P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data; SRC2 = element offset or coordinates; new = old - data";
            AtomicBXchg    "atomic.b.xchg"    cat6_b(0x12, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B      P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data; SRC2 = element offset or coordinates; new = data";
            AtomicBCmpxchg "atomic.b.cmpxchg" cat6_b(0x15, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B_PAIR P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data, .z = compare; SRC2 = element offset or coordinates; new = old == compare ? data : old";
            AtomicBMin     "atomic.b.min"     cat6_b(0x16, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B      P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data; SRC2 = element offset or coordinates; new = min(old,data), signedness by TYPE";
            AtomicBMax     "atomic.b.max"     cat6_b(0x17, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B      P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data; SRC2 = element offset or coordinates; new = max(old,data), signedness by TYPE";
            AtomicBAnd     "atomic.b.and"     cat6_b(0x18, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B      P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data; SRC2 = element offset or coordinates; new = old & data";
            AtomicBOr      "atomic.b.or"      cat6_b(0x19, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B      P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data; SRC2 = element offset or coordinates; new = old | data";
            AtomicBXor     "atomic.b.xor"     cat6_b(0x1a, 0x30_0000_0060_0000) A6XX_ON ATOMIC_B      P "image/buffer atomic: SRC1 = register vector: .x receives old, .y = data; SRC2 = element offset or coordinates; new = old ^ data";
        }
    };
}
pub(crate) use resource;
