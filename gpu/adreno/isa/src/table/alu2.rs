//! Rows: arithmetic with one or two sources (category 2).
//!
//! Facts: hardware/ir3-isa.md sections 1, 3, 4, 10 and 16.

use super::fields::{
    ALU_SRC1, ALU_SRC2, COND, DST, DST_CONV, EI, FULL52, JP, REPEAT, SAT, SRC1_R, SRC2_R, SS, SY,
    UL,
};
use super::{EMPTY, ONE, PAIR, category, reads, writes};
use crate::field::Field;
use crate::layout::{DestWidth, Latency, Layout, OperandSpec, SourceWidth, Variant, When, Wide};

/// The opcode: bits 53 to 58.
pub(super) const fn cat2(opcode: u64) -> u64 {
    category(2) | opcode << 53
}

/// The opcode, and which of two instructions with it in bit 50.
pub(super) const fn varying(opcode: u64, which: u64) -> u64 {
    cat2(opcode) | which << 50
}

const SRC1: OperandSpec = reads(Field::Src1, ONE, Wide::Source);
const SRC2: OperandSpec = reads(Field::Src2, ONE, Wide::Source);
const RESULT: OperandSpec = writes(Field::Dst, ONE, Wide::Dest);

pub(super) const ALU2: Layout = Layout {
    text: "{SY}{SS}{JP}{SAT}{REPEAT}{UL}{NAME} {EI}{DST_HALF}{DST}, {SRC1}, {SRC2}",
    variants: &[Variant {
        when: When::Idle,
        text: "{SY}{SS}{JP}{SAT}(nop{NOP}) {UL}{NAME} {EI}{DST_HALF}{DST}, {SRC1}, {SRC2}",
    }],
    fields: &[
        ALU_SRC1, ALU_SRC2, DST, REPEAT, SAT, SRC1_R, SS, UL, DST_CONV, EI, SRC2_R, FULL52, JP, SY,
    ],
    ignored: 0x0007_0000_0000_0000,
    sources: SourceWidth::ByFull,
    dest: DestWidth::ByConv,
    operands: &[SRC1, SRC2, RESULT],
    latency: Latency::Slots,
    ..EMPTY
};
pub(super) const ALU1: Layout = Layout {
    text: "{SY}{SS}{JP}{SAT}{REPEAT}{UL}{NAME} {EI}{DST_HALF}{DST}, {SRC1}",
    variants: &[Variant {
        when: When::Idle,
        text: "{SY}{SS}{JP}{SAT}(nop{NOP}) {UL}{NAME} {EI}{DST_HALF}{DST}, {SRC1}",
    }],
    fields: &[
        ALU_SRC1, DST, REPEAT, SAT, SRC1_R, SS, UL, DST_CONV, EI, SRC2_R, FULL52, JP, SY,
    ],
    ignored: 0x0007_0000_ffff_0000,
    operands: &[SRC1, RESULT],
    ..ALU2
};
pub(super) const COMPARE: Layout = Layout {
    text: "{SY}{SS}{JP}{SAT}{REPEAT}{UL}{NAME}.{COND} {EI}{DST_HALF}{DST}, {SRC1}, {SRC2}",
    variants: &[Variant {
        when: When::Idle,
        text: "{SY}{SS}{JP}{SAT}(nop{NOP}) {UL}{NAME}.{COND} {EI}{DST_HALF}{DST}, {SRC1}, {SRC2}",
    }],
    fields: &[
        ALU_SRC1, ALU_SRC2, DST, REPEAT, SAT, SRC1_R, SS, UL, DST_CONV, EI, COND, SRC2_R, FULL52,
        JP, SY,
    ],
    ignored: 0,
    ..ALU2
};
pub(super) const VARYING: Layout = Layout {
    variants: &[],
    ignored: 0x0003_0000_0000_0000,
    operands: &[SRC1, reads(Field::Src2, PAIR, Wide::Source), RESULT],
    ..ALU2
};

#[rustfmt::skip]
macro_rules! alu2 {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest alu2
            //instruction name       value            gens    layout  ? meaning
            BaryF         "bary.f"   varying(0x39, 0) ALL     VARYING P "varying: src1 = component location (immediate or register), src2 = barycentric pair (2 registers); result interpolated; fragment only";
            FlatB         "flat.b"   varying(0x39, 1) A6XX_ON VARYING P "varying without interpolation, src2 ignored; fragment only";
            AddF          "add.f"    cat2(0x00)       ALL     ALU2    P "a + b";
            MinF          "min.f"    cat2(0x01)       ALL     ALU2    P "smaller of a, b";
            MaxF          "max.f"    cat2(0x02)       ALL     ALU2    P "larger of a, b";
            MulF          "mul.f"    cat2(0x03)       ALL     ALU2    P "a * b";
            SignF         "sign.f"   cat2(0x04)       ALL     ALU1    P "-1.0, 0.0 or 1.0 by the sign of a";
            CmpsF         "cmps.f"   cat2(0x05)       ALL     COMPARE P "integer 1 if a COND b else 0 (float / unsigned / signed compare); the only way to write p0 besides and.b/or.b/xor.b/not.b into p0";
            AbsnegF       "absneg.f" cat2(0x06)       ALL     ALU1    P "a with its source modifiers (float move, negate, absolute)";
            CmpvF         "cmpv.f"   cat2(0x07)       ALL     COMPARE U "compare, other result convention than cmps; unused by the known compiler";
            FloorF        "floor.f"  cat2(0x09)       ALL     ALU1    P "round toward -infinity";
            CeilF         "ceil.f"   cat2(0x0a)       ALL     ALU1    P "round toward +infinity";
            RndneF        "rndne.f"  cat2(0x0b)       ALL     ALU1    P "round to nearest, ties to even";
            RndazF        "rndaz.f"  cat2(0x0c)       ALL     ALU1    I "round to nearest, ties away from zero";
            TruncF        "trunc.f"  cat2(0x0d)       ALL     ALU1    P "round toward zero";
            AddU          "add.u"    cat2(0x10)       ALL     ALU2    P "a + b modulo 2^n; (sat): unsigned / signed saturation; (ei) bit: halving add, (a + b) >> 1 with full inner width (logical / arithmetic)";
            AddS          "add.s"    cat2(0x11)       ALL     ALU2    P "a + b modulo 2^n; (sat): unsigned / signed saturation; (ei) bit: halving add, (a + b) >> 1 with full inner width (logical / arithmetic)";
            SubU          "sub.u"    cat2(0x12)       ALL     ALU2    P "a - b modulo 2^n; (sat): unsigned (floor 0) / signed saturation";
            SubS          "sub.s"    cat2(0x13)       ALL     ALU2    P "a - b modulo 2^n; (sat): unsigned (floor 0) / signed saturation";
            CmpsU         "cmps.u"   cat2(0x14)       ALL     COMPARE P "integer 1 if a COND b else 0 (float / unsigned / signed compare); the only way to write p0 besides and.b/or.b/xor.b/not.b into p0";
            CmpsS         "cmps.s"   cat2(0x15)       ALL     COMPARE P "integer 1 if a COND b else 0 (float / unsigned / signed compare); the only way to write p0 besides and.b/or.b/xor.b/not.b into p0";
            MinU          "min.u"    cat2(0x16)       ALL     ALU2    P "minimum";
            MinS          "min.s"    cat2(0x17)       ALL     ALU2    P "minimum";
            MaxU          "max.u"    cat2(0x18)       ALL     ALU2    P "maximum";
            MaxS          "max.s"    cat2(0x19)       ALL     ALU2    P "maximum";
            AbsnegS       "absneg.s" cat2(0x1a)       ALL     ALU1    P "a with its source modifiers (integer negate, absolute)";
            AndB          "and.b"    cat2(0x1c)       ALL     ALU2    P "a & b";
            OrB           "or.b"     cat2(0x1d)       ALL     ALU2    P "a | b";
            NotB          "not.b"    cat2(0x1e)       ALL     ALU1    P "~a";
            XorB          "xor.b"    cat2(0x1f)       ALL     ALU2    P "a ^ b";
            CmpvU         "cmpv.u"   cat2(0x21)       ALL     COMPARE U "compare, other result convention than cmps; unused by the known compiler";
            CmpvS         "cmpv.s"   cat2(0x22)       ALL     COMPARE U "compare, other result convention than cmps; unused by the known compiler";
            MulU24        "mul.u24"  cat2(0x30)       ALL     ALU2    P "product of the low 24 bits (zero extended), low 32 bits of it; half sources: 16 x 16 low 16";
            MulS24        "mul.s24"  cat2(0x31)       ALL     ALU2    P "product of the low 24 bits (sign extended), low 32 bits of it; half sources: 16 x 16 low 16 bits";
            MullU         "mull.u"   cat2(0x32)       ALL     ALU2    P "low halves product: (a & 0xffff) * (b & 0xffff), 32-bit result; with half sources the low-half width is not settled (used by the compiler as plain small product)";
            BfrevB        "bfrev.b"  cat2(0x33)       ALL     ALU1    P "reverse the bit order";
            ClzS          "clz.s"    cat2(0x34)       ALL     ALU1    P "leading bits equal to the sign bit are skipped: clz.b of (a < 0 ? ~a : a); 0 and -1 -> -1";
            ClzB          "clz.b"    cat2(0x35)       ALL     ALU1    P "leading zero bits; 0 -> -1 (all ones)";
            ShlB          "shl.b"    cat2(0x36)       ALL     ALU2    P "a << (b mod width)";
            ShrB          "shr.b"    cat2(0x37)       ALL     ALU2    P "a >> (b mod width), zero fill";
            AshrB         "ashr.b"   cat2(0x38)       ALL     ALU2    P "a >> (b mod width), sign fill";
            MgenB         "mgen.b"   cat2(0x3a)       ALL     ALU2    U "mask generation, operands order unknown";
            GetbitB       "getbit.b" cat2(0x3b)       ALL     ALU2    I "one bit: (a >> b) & 1";
            Setrm         "setrm"    cat2(0x3c)       ALL     ALU1    U "sets a rounding mode";
            CbitsB        "cbits.b"  cat2(0x3d)       ALL     ALU1    P "number of set bits; on a5xx and later exact only for half sources, so 32-bit counts use two halves";
            Shb           "shb"      cat2(0x3e)       ALL     ALU2    U "unknown (byte shift by its name)";
            Msad          "msad"     cat2(0x3f)       ALL     ALU2    U "unknown (masked sum of absolute differences by its name)";
        }
    };
}
pub(crate) use alu2;
