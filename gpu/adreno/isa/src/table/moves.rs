//! Rows: moves and conversions (category 1).
//!
//! Facts: hardware/ir3-isa.md sections 1, 3, 10 and 16.

use super::fields::{
    DST_REL, DST_TYPE, JP, LAST, MOV_DST, REPEAT, ROUND, SRC_R, SRC_TYPE, SS, SY, UL, operand,
};
use super::{EMPTY, ONE, category, reads, writes};
use crate::field::{Field, FieldSpec, Form};
use crate::layout::{Count, DestWidth, Latency, Layout, OperandSpec, SourceWidth};
use crate::layout::{Variant, When, Wide};

/// The kind of source in bits 53 and 54, and what is fixed of the source's own kind in bits 10 and 11.
pub(super) const fn mov(kind: u64, form: u64) -> u64 {
    category(1) | kind << 53 | form << 10
}

/// Several moves at once: which, in bits 40 and 41.
pub(super) const fn multi(kind: u64) -> u64 {
    category(1) | 2 << 57 | kind << 40
}

/// `movmsk`: a move between u32 and u32.
pub(super) const fn mask() -> u64 {
    category(1) | 3 << 57 | 3 << 50 | 3 << 46
}

const MOV_TEXTS: &[Variant] = &[
    Variant {
        when: When::ToA0,
        text: "{SY}{SS}{JP}{REPEAT}{UL}mova {ROUND}a0.x, {SRC}",
    },
    Variant {
        when: When::ToA1,
        text: "{SY}{SS}{JP}{REPEAT}{UL}mova1 {ROUND}a1.x, {SRC}",
    },
    Variant {
        when: When::Converts,
        text: "{SY}{SS}{JP}{REPEAT}{UL}cov.{SRC_TYPE}{DST_TYPE} {ROUND}{DST_HALF}{DST}, {SRC}",
    },
];
const WRITES: OperandSpec = writes(Field::Dst, ONE, Wide::Dest);

/// The fields of a move with this source.
macro_rules! mov_fields {
    ($($source:expr),*) => {
        &[$($source,)* MOV_DST, REPEAT, SS, UL, DST_TYPE, DST_REL, SRC_TYPE, ROUND, JP, SY]
    };
}

const MOV: Layout = Layout {
    text: "{SY}{SS}{JP}{REPEAT}{UL}mov.{SRC_TYPE}{DST_TYPE} {ROUND}{DST_HALF}{DST}, {SRC}",
    variants: MOV_TEXTS,
    sources: SourceWidth::ByType,
    dest: DestWidth::ByDstType,
    operands: &[reads(Field::Src, ONE, Wide::Source), WRITES],
    latency: Latency::Slots,
    ..EMPTY
};
pub(super) const MOV_IMM: Layout = Layout {
    fields: mov_fields!(operand(Field::Src, 0, 31, Form::MovImm32)),
    ..MOV
};
pub(super) const MOV_CONST: Layout = Layout {
    fields: mov_fields!(operand(Field::Src, 0, 10, Form::MovConst11), SRC_R),
    ..MOV
};
pub(super) const MOV_GPR: Layout = Layout {
    fields: mov_fields!(operand(Field::Src, 0, 7, Form::MovGpr8), LAST, SRC_R),
    ..MOV
};
pub(super) const MOV_REL_GPR: Layout = Layout {
    fields: mov_fields!(operand(Field::Src, 0, 9, Form::MovRelGpr10), SRC_R),
    ..MOV
};
pub(super) const MOV_REL_CONST: Layout = Layout {
    fields: mov_fields!(operand(Field::Src, 0, 9, Form::MovRelConst10), SRC_R),
    ..MOV
};

/// A source of a multiple move, in the eight bits from `low`.
const fn src(field: Field, low: u8) -> FieldSpec {
    operand(field, low, low + 7, Form::MultiSrc8)
}

/// A destination of a multiple move, in the eight bits from `low`.
const fn dst(field: Field, low: u8) -> FieldSpec {
    operand(field, low, low + 7, Form::MultiDst8)
}

/// The fields of a multiple move with these operands.
macro_rules! multi_fields {
    ($($operand:expr),*) => {
        &[$($operand,)* SS, UL, DST_TYPE, SRC_TYPE, ROUND, JP, SY]
    };
}

pub(super) const SWZ: Layout = Layout {
    text: "{SY}{SS}{JP}{UL}swz.{SRC_TYPE}{DST_TYPE} {ROUND}{DST0}, {DST1}, {SRC0}, {SRC1}",
    fields: multi_fields!(
        src(Field::Src0, 0),
        src(Field::Src1, 8),
        dst(Field::Dst1, 16),
        dst(Field::Dst0, 32)
    ),
    sources: SourceWidth::ByType,
    dest: DestWidth::ByDstType,
    operands: &[
        reads(Field::Src0, ONE, Wide::Source),
        reads(Field::Src1, ONE, Wide::Source),
        writes(Field::Dst0, ONE, Wide::Dest),
        writes(Field::Dst1, ONE, Wide::Dest),
    ],
    latency: Latency::Slots,
    ..EMPTY
};
pub(super) const GAT: Layout = Layout {
    text: "{SY}{SS}{JP}{UL}gat.{SRC_TYPE}{DST_TYPE} {ROUND}{DST0}, {SRC0}, {SRC1}, {SRC2}, {SRC3}",
    fields: multi_fields!(
        src(Field::Src0, 0),
        src(Field::Src1, 8),
        src(Field::Src2, 16),
        src(Field::Src3, 24),
        dst(Field::Dst0, 32)
    ),
    operands: &[
        reads(Field::Src0, ONE, Wide::Source),
        reads(Field::Src1, ONE, Wide::Source),
        reads(Field::Src2, ONE, Wide::Source),
        reads(Field::Src3, ONE, Wide::Source),
        writes(Field::Dst0, Count::Fixed(4), Wide::Dest),
    ],
    ..SWZ
};
pub(super) const SCT: Layout = Layout {
    text: "{SY}{SS}{JP}{UL}sct.{SRC_TYPE}{DST_TYPE} {ROUND}{DST0}, {DST1}, {DST2}, {DST3}, {SRC0}",
    fields: multi_fields!(
        src(Field::Src0, 0),
        dst(Field::Dst1, 8),
        dst(Field::Dst2, 16),
        dst(Field::Dst3, 24),
        dst(Field::Dst0, 32)
    ),
    operands: &[
        reads(Field::Src0, Count::Fixed(4), Wide::Source),
        writes(Field::Dst0, ONE, Wide::Dest),
        writes(Field::Dst1, ONE, Wide::Dest),
        writes(Field::Dst2, ONE, Wide::Dest),
        writes(Field::Dst3, ONE, Wide::Dest),
    ],
    ..SWZ
};
pub(super) const MOVMSK: Layout = Layout {
    text: "{SY}{SS}{JP}{UL}movmsk.w{W} {DST}",
    fields: &[MOV_DST, REPEAT, SS, UL, DST_REL, ROUND, JP, SY],
    operands: &[writes(Field::Dst, Count::Repeats, Wide::Full)],
    latency: Latency::Slots,
    ..EMPTY
};

#[rustfmt::skip]
macro_rules! moves {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest moves
            //instruction name           value     gens layout        ? meaning
            MovImm        "mov-immed"    mov(2, 0) ALL MOV_IMM       T "dst = convert(src, SRC_TYPE -> DST_TYPE); equal types: bit copy. Written mov for equal types, cov for different ones, mova / mova1 for a0.x (s16) / a1.x (u16)";
            MovConst      "mov-const"    mov(1, 0) ALL MOV_CONST     T "dst = convert(src, SRC_TYPE -> DST_TYPE); equal types: bit copy. Written mov for equal types, cov for different ones, mova / mova1 for a0.x (s16) / a1.x (u16)";
            MovGpr        "mov-gpr"      mov(0, 0) ALL MOV_GPR       T "dst = convert(src, SRC_TYPE -> DST_TYPE); equal types: bit copy. Written mov for equal types, cov for different ones, mova / mova1 for a0.x (s16) / a1.x (u16)";
            MovRelGpr     "mov-relgpr"   mov(0, 2) ALL MOV_REL_GPR   T "dst = convert(src, SRC_TYPE -> DST_TYPE); equal types: bit copy. Written mov for equal types, cov for different ones, mova / mova1 for a0.x (s16) / a1.x (u16)";
            MovRelConst   "mov-relconst" mov(0, 3) ALL MOV_REL_CONST T "dst = convert(src, SRC_TYPE -> DST_TYPE); equal types: bit copy. Written mov for equal types, cov for different ones, mova / mova1 for a0.x (s16) / a1.x (u16)";
            Swz           "swz"          multi(0)  ALL SWZ           T "parallel: d0 = s0, d1 = s1 (with conversion); all sources read before any write, so it swaps";
            Gat           "gat"          multi(1)  ALL GAT           T "gather: d0+i = s_i, i = 0..3, all reads before all writes";
            Sct           "sct"          multi(2)  ALL SCT           T "scatter: d_i = s0+i, i = 0..3, all reads before all writes";
            Movmsk        "movmsk"       mask()    ALL MOVMSK        T "dst[k] = bit mask of active lanes 32k..32k+31, k = 0..REPEAT; destination shared registers";
        }
    };
}
pub(crate) use moves;
