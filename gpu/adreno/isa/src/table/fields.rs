//! Fields that rows share. Those whose place differs between layouts are made by functions of the lowest bit.
//!
//! Facts: hardware/data/ir3-isa.json, "fields".

use crate::field::{Field, FieldSpec, Form, Immediate, Kind};
use crate::values;

/// A field in bits `low` to `high`.
pub(super) const fn at(field: Field, low: u8, high: u8, kind: Kind) -> FieldSpec {
    FieldSpec {
        field,
        low,
        high,
        kind,
    }
}

/// An operand in bits `low` to `high`.
pub(super) const fn operand(field: Field, low: u8, high: u8, form: Form) -> FieldSpec {
    at(field, low, high, Kind::Operand(form))
}

const fn flag(field: Field, bit: u8, text: &'static str) -> FieldSpec {
    at(field, bit, bit, Kind::Flag(text))
}

const fn bit(field: Field, bit: u8) -> FieldSpec {
    at(field, bit, bit, Kind::Bit)
}

/// A register in the eight bits from `low`.
pub(super) const fn gpr(field: Field, low: u8) -> FieldSpec {
    operand(field, low, low + 7, Form::Gpr8)
}

/// A register or an immediate in the eight bits from `low`.
pub(super) const fn mem_src(field: Field, low: u8, immediate: Immediate) -> FieldSpec {
    operand(field, low, low + 7, Form::MemSrc8(immediate))
}

/// An address in a pair of registers, in the eight bits from `low`.
pub(super) const fn address(low: u8) -> FieldSpec {
    operand(Field::Src1, low, low + 7, Form::MemAddr8)
}

/// An unsigned number in bits `low` to `high`.
pub(super) const fn uint(field: Field, low: u8, high: u8) -> FieldSpec {
    at(field, low, high, Kind::Uint)
}

// All categories.
pub(super) const SY:       FieldSpec = flag(Field::Sy, 60, "(sy)");
pub(super) const JP:       FieldSpec = flag(Field::Jp, 59, "(jp)");
pub(super) const SS:       FieldSpec = flag(Field::Ss, 44, "(ss)");
pub(super) const EQ:       FieldSpec = flag(Field::Eq, 48, "(eq)");
pub(super) const UL:       FieldSpec = flag(Field::Ul, 45, "(ul)");
pub(super) const DST:      FieldSpec = gpr(Field::Dst, 32);

// Flow.
pub(super) const TARGET:   FieldSpec = at(Field::Immed, 0, 31, Kind::Branch);
pub(super) const REPEAT5:  FieldSpec = at(Field::Repeat, 40, 42, Kind::Enum(values::Repeat::NAMES));
pub(super) const COMP1:    FieldSpec = at(Field::Comp1, 53, 54, Kind::Enum(values::Comp::NAMES));
pub(super) const COMP2:    FieldSpec = at(Field::Comp2, 46, 47, Kind::Enum(values::Comp::NAMES));
pub(super) const INV1:     FieldSpec = flag(Field::Inv1, 52, "!");
pub(super) const INV2:     FieldSpec = flag(Field::Inv2, 45, "!");

// Moves and arithmetic.
pub(super) const REPEAT:   FieldSpec = at(Field::Repeat, 40, 41, Kind::Enum(values::Repeat::NAMES));
pub(super) const DST_TYPE: FieldSpec = at(Field::DstType, 46, 48, Kind::Enum(values::Type::NAMES));
pub(super) const SRC_TYPE: FieldSpec = at(Field::SrcType, 50, 52, Kind::Enum(values::Type::NAMES));
pub(super) const ROUND:    FieldSpec = at(Field::Round, 55, 56, Kind::Enum(values::Round::NAMES));
pub(super) const DST_REL:  FieldSpec = bit(Field::DstRel, 49);
pub(super) const MOV_DST:  FieldSpec = operand(Field::Dst, 32, 39, Form::MovDst8);
pub(super) const LAST:     FieldSpec = flag(Field::Last, 10, "(last)");
pub(super) const SRC_R:    FieldSpec = flag(Field::SrcR, 43, "(r)");
pub(super) const SRC1_R:   FieldSpec = flag(Field::Src1R, 43, "(r)");
pub(super) const SRC2_R:   FieldSpec = flag(Field::Src2R, 51, "(r)");
pub(super) const SAT:      FieldSpec = flag(Field::Sat, 42, "(sat)");
pub(super) const EI:       FieldSpec = flag(Field::Ei, 47, "(ei)");
pub(super) const DST_CONV: FieldSpec = bit(Field::DstConv, 46);
pub(super) const FULL52:   FieldSpec = bit(Field::Full, 52);
pub(super) const FULL42:   FieldSpec = bit(Field::Full, 42);
pub(super) const FULL31:   FieldSpec = bit(Field::Full, 31);
pub(super) const FULL0:    FieldSpec = bit(Field::Full, 0);
pub(super) const DST_FULL: FieldSpec = bit(Field::DstFull, 46);
pub(super) const COND:     FieldSpec = at(Field::Cond, 48, 50, Kind::Enum(values::Cond::NAMES));
pub(super) const ALU_SRC1: FieldSpec = operand(Field::Src1, 0, 15, Form::AluSrc16(Field::Src1R));
pub(super) const ALU_SRC2: FieldSpec = operand(Field::Src2, 16, 31, Form::AluSrc16(Field::Src2R));
pub(super) const ALU_SRC:  FieldSpec = operand(Field::Src, 0, 15, Form::AluSrc16(Field::SrcR));

// Three sources.
pub(super) const MAD_SRC1: FieldSpec = operand(Field::Src1, 0, 12, Form::MadSrc13);
pub(super) const MAD_SRC3: FieldSpec = operand(Field::Src3, 16, 28, Form::MadSrc13);
pub(super) const IMM_SRC1: FieldSpec = operand(Field::Src1, 0, 12, Form::MadImm13);
pub(super) const IMM_SRC3: FieldSpec = operand(Field::Src3, 16, 28, Form::MadImm13);
pub(super) const SRC2_47:  FieldSpec = gpr(Field::Src2, 47);
pub(super) const SRC1_NEG: FieldSpec = flag(Field::Src1Neg, 14, "(neg)");
pub(super) const SRC2_NEG: FieldSpec = flag(Field::Src2Neg, 30, "(neg)");
pub(super) const SRC3_NEG: FieldSpec = flag(Field::Src3Neg, 31, "(neg)");
pub(super) const SRC2_R15: FieldSpec = flag(Field::Src2R, 15, "(r)");
pub(super) const SRC3_R:   FieldSpec = flag(Field::Src3R, 29, "(r)");
pub(super) const SRC_SIGN: FieldSpec = at(Field::SrcSign, 14, 14, Kind::Enum(values::DotSign::NAMES));
pub(super) const SRC_PACK: FieldSpec = at(Field::SrcPack, 30, 30, Kind::Enum(values::DotPack::NAMES));

// Texture.
pub(super) const TEX_SRC1: FieldSpec = operand(Field::Src1, 1, 8, Form::TexSrc1);
pub(super) const TEX_SRC2: FieldSpec = operand(Field::Src2, 9, 16, Form::TexSrc2);
pub(super) const TEX_SRC3: FieldSpec = operand(Field::Src3, 21, 28, Form::TexSrc3);
pub(super) const SAMP:     FieldSpec = operand(Field::Samp, 21, 24, Form::TexSamp4);
pub(super) const TEX:      FieldSpec = operand(Field::Tex, 25, 31, Form::TexTex7);
pub(super) const TEX_TYPE: FieldSpec = operand(Field::Type, 44, 46, Form::TexType3);
pub(super) const TEX_BASE: FieldSpec = operand(Field::Base, 47, 47, Form::TexBase1);
pub(super) const BASE_HI:  FieldSpec = uint(Field::BaseHi, 19, 20);
pub(super) const DESC:     FieldSpec = at(Field::DescMode, 29, 31, Kind::Enum(values::DescMode::NAMES));
pub(super) const WRMASK:   FieldSpec = at(Field::WrMask, 40, 43, Kind::Enum(values::WRITE_MASKS));
pub(super) const D3:       FieldSpec = flag(Field::D3, 48, ".3d");
pub(super) const A:        FieldSpec = flag(Field::A, 49, ".a");
pub(super) const S:        FieldSpec = flag(Field::S, 50, ".s");
pub(super) const O:        FieldSpec = flag(Field::O, 52, ".o");
pub(super) const P:        FieldSpec = flag(Field::P, 53, ".p");
pub(super) const S2EN:     FieldSpec = bit(Field::S2enBindless, 51);

// Memory.
pub(super) const TYPE:     FieldSpec = at(Field::Type, 49, 51, Kind::Enum(values::Type::NAMES));
pub(super) const SIZE3:    FieldSpec = uint(Field::Size, 24, 26);
pub(super) const SIZE8:    FieldSpec = uint(Field::Size, 24, 31);
pub(super) const OFF13:    FieldSpec = at(Field::Off, 1, 13, Kind::Offset);
pub(super) const OFF2:     FieldSpec = at(Field::Off, 9, 10, Kind::UOffset);
pub(super) const OFF_HI:   FieldSpec = at(Field::OffHi, 9, 13, Kind::Int);
pub(super) const OFF_LO:   FieldSpec = uint(Field::OffLo, 32, 39);
pub(super) const DST_OFF:  FieldSpec = bit(Field::DstOff, 40);
pub(super) const SHIFT:    FieldSpec = uint(Field::Src2AddDwordShift, 12, 13);
pub(super) const SRC1_CONST: FieldSpec = bit(Field::Src1Const, 13);
pub(super) const D:        FieldSpec = uint(Field::DMinusOne, 9, 10);
pub(super) const TYPED:    FieldSpec = operand(Field::Typed, 11, 11, Form::MemTyped1);
pub(super) const TYPE_SIZE: FieldSpec = uint(Field::TypeSizeMinusOne, 12, 13);
pub(super) const MODE:     FieldSpec = at(Field::Mode, 6, 7, Kind::Enum(values::IndexMode::NAMES));
pub(super) const BASE:     FieldSpec = operand(Field::Base, 1, 3, Form::MemBase3);
pub(super) const BINDLESS: FieldSpec = bit(Field::Bindless, 8);
pub(super) const CONST_DST: FieldSpec = operand(Field::Dst, 32, 40, Form::ConstDst9);
pub(super) const SRC1_IM22: FieldSpec = bit(Field::Src1Im, 22);
pub(super) const SRC1_IM23: FieldSpec = bit(Field::Src1Im, 23);
pub(super) const SRC2_IM:  FieldSpec = bit(Field::Src2Im, 23);
pub(super) const SRC3_IM:  FieldSpec = bit(Field::Src3Im, 40);
pub(super) const SSBO_IM:  FieldSpec = bit(Field::SsboIm, 53);
pub(super) const SSBO:     FieldSpec = mem_src(Field::Ssbo, 41, Immediate::ByMode);
pub(super) const SSBO_A5XX: FieldSpec = mem_src(Field::Ssbo, 41, Immediate::By(Field::SsboIm));

// Barriers and caches.
pub(super) const G:        FieldSpec = flag(Field::G, 54, ".g");
pub(super) const L:        FieldSpec = flag(Field::L, 53, ".l");
pub(super) const R:        FieldSpec = flag(Field::R, 52, ".r");
pub(super) const W:        FieldSpec = flag(Field::W, 51, ".w");
