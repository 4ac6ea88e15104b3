//! Rows: arithmetic with three sources (category 3).
//!
//! Facts: hardware/ir3-isa.md sections 1, 3, 4, 10 and 16.

use super::fields::{
    DST, DST_CONV, DST_FULL, FULL31, FULL42, IMM_SRC1, IMM_SRC3, JP, MAD_SRC1, MAD_SRC3, REPEAT,
    SAT, SRC_PACK, SRC_SIGN, SRC1_NEG, SRC1_R, SRC2_47, SRC2_NEG, SRC2_R15, SRC3_NEG, SRC3_R, SS,
    SY, UL,
};
use super::{EMPTY, ONE, category, reads, writes};
use crate::field::Field;
use crate::layout::{
    Count, DestWidth, Latency, Layout, OperandSpec, SourceWidth, Variant, When, Wide,
};

/// The opcode of the first table: bits 55 to 58.
pub(super) const fn cat3(opcode: u64) -> u64 {
    category(3) | opcode << 55
}

/// The opcode of the second table, which bit 13 selects.
pub(super) const fn shift3(opcode: u64) -> u64 {
    cat3(opcode) | 1 << 13
}

/// Opcode 13 of the second table, told apart by bit 46.
pub(super) const fn dot(which: u64) -> u64 {
    shift3(13) | which << 46
}

/// Opcode 14 of the second table, told apart by bit 42.
pub(super) const fn matrix(which: u64) -> u64 {
    shift3(14) | which << 42
}

const SRC1: OperandSpec = reads(Field::Src1, ONE, Wide::Source);
const SRC2: OperandSpec = reads(Field::Src2, ONE, Wide::Source);
const SRC3: OperandSpec = reads(Field::Src3, ONE, Wide::Source);
const RESULT: OperandSpec = writes(Field::Dst, ONE, Wide::Dest);

pub(super) const ALU3: Layout = Layout {
    text: "{SY}{SS}{JP}{SAT}{REPEAT}{UL}{NAME} {DST_HALF}{DST}, {SRC1_NEG}{SRC1_R}{SRC1}, {SRC2_NEG}{SRC2_R}{HALF}{SRC2}, {SRC3_NEG}{SRC3_R}{SRC3}",
    variants: &[Variant {
        when: When::Idle,
        text: "{SY}{SS}{JP}{SAT}(nop{NOP}) {UL}{NAME} {DST_HALF}{DST}, {SRC1_NEG}{SRC1}, {SRC2_NEG}{HALF}{SRC2}, {SRC3_NEG}{SRC3}",
    }],
    fields: &[
        MAD_SRC1, SRC1_NEG, SRC2_R15, MAD_SRC3, SRC3_R, SRC2_NEG, SRC3_NEG, DST, REPEAT, SAT,
        SRC1_R, SS, UL, DST_CONV, SRC2_47, JP, SY,
    ],
    sources: SourceWidth::Full,
    dest: DestWidth::ByConv,
    operands: &[SRC1, SRC2, SRC3, RESULT],
    latency: Latency::Slots,
    ..EMPTY
};
pub(super) const ALU3_HALF: Layout = Layout {
    sources: SourceWidth::Half,
    ..ALU3
};
pub(super) const SHIFT3: Layout = Layout {
    fields: &[
        IMM_SRC1, SRC1_NEG, SRC2_R15, IMM_SRC3, SRC3_R, SRC2_NEG, SRC3_NEG, DST, REPEAT, FULL42,
        SRC1_R, SS, UL, DST_CONV, SRC2_47, JP, SY,
    ],
    sources: SourceWidth::ByFull,
    ..ALU3
};
pub(super) const DOT: Layout = Layout {
    text: "{SY}{SS}{JP}{SAT}(nop{NOP}) {UL}{NAME}{SRC_SIGN}{SRC_PACK} {DST}, {SRC1}, {SRC2}, {SRC3_NEG}{SRC3}",
    variants: &[Variant {
        when: When::NotIdle,
        text: "{SY}{SS}{JP}{SAT}{UL}{NAME}{SRC_SIGN}{SRC_PACK} {DST}, {SRC1}, {SRC2}, {SRC3_NEG}{SRC3}",
    }],
    fields: &[
        MAD_SRC1, SRC_SIGN, SRC2_R15, MAD_SRC3, SRC3_R, SRC_PACK, SRC3_NEG, DST, REPEAT, SAT,
        SRC1_R, SS, UL, SRC2_47, JP, SY,
    ],
    dest: DestWidth::Full,
    ..ALU3
};
pub(super) const MATRIX: Layout = Layout {
    fields: &[
        MAD_SRC1, SRC1_NEG, SRC2_R15, IMM_SRC3, SRC3_R, SRC2_NEG, FULL31, DST, REPEAT, SRC1_R, SS,
        UL, DST_FULL, SRC2_47, JP, SY,
    ],
    sources: SourceWidth::ByFull,
    dest: DestWidth::ByDstFull,
    operands: &[
        reads(Field::Src1, Count::Fixed(4), Wide::Source),
        reads(Field::Src2, Count::Fixed(4), Wide::Source),
        SRC3,
        writes(Field::Dst, Count::Matrix, Wide::Dest),
    ],
    ..ALU3
};
pub(super) const MATRIX_ACCU: Layout = Layout {
    operands: &[
        reads(Field::Src1, Count::Fixed(4), Wide::Source),
        reads(Field::Src2, Count::Fixed(4), Wide::Source),
        SRC3,
        reads(Field::Dst, Count::Matrix, Wide::Dest),
        writes(Field::Dst, Count::Matrix, Wide::Dest),
    ],
    ..MATRIX
};

#[rustfmt::skip]
macro_rules! alu3 {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest alu3
            //instruction name        value       gens    layout      ? meaning
            MadU16        "mad.u16"   cat3(0x0)   ALL     ALU3_HALF   I "a * b + c in 16 bits";
            MadshU16      "madsh.u16" cat3(0x1)   ALL     ALU3        I "((a_lo16 * b_lo16) << 16) + c";
            MadS16        "mad.s16"   cat3(0x2)   ALL     ALU3_HALF   I "a * b + c in 16 bits";
            MadshM16      "madsh.m16" cat3(0x3)   ALL     ALU3        P "(((a >> 16) * (b & 0xffff)) << 16) + c, modulo 2^32";
            MadU24        "mad.u24"   cat3(0x4)   ALL     ALU3        P "(a & 0xffffff) * (b & 0xffffff) + c, modulo 2^32";
            MadS24        "mad.s24"   cat3(0x5)   ALL     ALU3        P "sext24(a) * sext24(b) + c, modulo 2^32";
            MadF16        "mad.f16"   cat3(0x6)   ALL     ALU3_HALF   P "a * b + c; used for fma and for fused mul+add; single rounding not confirmed";
            MadF32        "mad.f32"   cat3(0x7)   ALL     ALU3        P "a * b + c; used for fma and for fused mul+add; single rounding not confirmed";
            SelB16        "sel.b16"   cat3(0x8)   ALL     ALU3_HALF   P "b != 0 ? a : c";
            SelB32        "sel.b32"   cat3(0x9)   ALL     ALU3        P "b != 0 ? a : c";
            SelS16        "sel.s16"   cat3(0xa)   ALL     ALU3_HALF   I "b >= 0 (signed) ? a : c";
            SelS32        "sel.s32"   cat3(0xb)   ALL     ALU3        I "b >= 0 (signed) ? a : c";
            SelF16        "sel.f16"   cat3(0xc)   ALL     ALU3_HALF   I "b >= 0.0 ? a : c";
            SelF32        "sel.f32"   cat3(0xd)   ALL     ALU3        I "b >= 0.0 ? a : c";
            SadS16        "sad.s16"   cat3(0xe)   ALL     ALU3_HALF   I "|a - b| + c";
            SadS32        "sad.s32"   cat3(0xf)   ALL     ALU3_HALF   I "|a - b| + c";
            Shrm          "shrm"      shift3(0x8) A6XX_ON SHIFT3      T "(b >> a) & c";
            Shlm          "shlm"      shift3(0x9) A6XX_ON SHIFT3      T "(b << a) & c";
            Shrg          "shrg"      shift3(0xa) A6XX_ON SHIFT3      T "(b >> a) | c";
            Shlg          "shlg"      shift3(0xb) A6XX_ON SHIFT3      T "(b << a) | c";
            Andg          "andg"      shift3(0xc) A6XX_ON SHIFT3      T "(b & a) | c";
            Dp2acc        "dp2acc"    dot(0)      A6XX_ON DOT         T "c + two products of bytes: a is u8 (unsigned) or s8 (mixed), b is u8, bytes 0,1 (low) or 2,3 (high)";
            Dp4acc        "dp4acc"    dot(1)      A6XX_ON DOT         T "c + four products of bytes: a u8 (unsigned) or s8 (mixed), b u8; (sat) only effective for mixed";
            Wmm           "wmm"       matrix(0)   A6XX_ON MATRIX      T "s = y0+y1+y2+y3 of 4 registers at b; vector x0..3 at a times s; the 4-vector is written (1 << (imm / 32)) times to consecutive registers";
            WmmAccu       "wmm.accu"  matrix(1)   A6XX_ON MATRIX_ACCU T "as wmm, result added to the destination registers, except the first one, which is overwritten";
        }
    };
}
pub(crate) use alu3;
