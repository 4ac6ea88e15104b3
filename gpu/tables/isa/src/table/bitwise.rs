//! Rows: shifts, rotates and bitwise operations.
//!
//! Facts: hardware/valhall-isa.md sections 1.2 and 9.4.

#[rustfmt::skip]
macro_rules! bitwise {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction   name                26 op    secondary      unit kind type  archs  dest    sources                            immediates modifiers
            NotOldI32       "NOT_OLD.i32"       =  0x091 [r1(0xe)]      Sfu  Alu  I32   TO_V13 Word [] [A32]                              []         [];
            NotOldI64       "NOT_OLD.i64"       =  0x191 [r1(0xe)]      Sfu  Alu  I64   TO_V13 Pair [] [A64]                              []         [];
            LshiftAndI32    "LSHIFT_AND.i32"    =  0x0b4 [shift(0x100)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .changes(BITWISE);
            LshiftAndV2i16  "LSHIFT_AND.v2i16"  =  0x0b5 [shift(0x100)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            LshiftAndV4i8   "LSHIFT_AND.v4i8"   =  0x0b6 [shift(0x100)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            LshiftAndI64    "LSHIFT_AND.i64"    =  0x1b7 [shift(0x100)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            RshiftAndI32    "RSHIFT_AND.i32"    =  0x0b4 [shift(0x0)]   Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .changes(BITWISE);
            RshiftAndV2i16  "RSHIFT_AND.v2i16"  =  0x0b5 [shift(0x0)]   Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            RshiftAndV4i8   "RSHIFT_AND.v4i8"   =  0x0b6 [shift(0x0)]   Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            RshiftAndI64    "RSHIFT_AND.i64"    =  0x1b7 [shift(0x0)]   Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            LshiftOrI32     "LSHIFT_OR.i32"     =  0x0b4 [shift(0x101)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .changes(BITWISE);
            LshiftOrV2i16   "LSHIFT_OR.v2i16"   =  0x0b5 [shift(0x101)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            LshiftOrV4i8    "LSHIFT_OR.v4i8"    =  0x0b6 [shift(0x101)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            LshiftOrI64     "LSHIFT_OR.i64"     =  0x1b7 [shift(0x101)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            RshiftOrI32     "RSHIFT_OR.i32"     =  0x0b4 [shift(0x1)]   Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .changes(BITWISE);
            RshiftOrV2i16   "RSHIFT_OR.v2i16"   =  0x0b5 [shift(0x1)]   Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            RshiftOrV4i8    "RSHIFT_OR.v4i8"    =  0x0b6 [shift(0x1)]   Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            RshiftOrI64     "RSHIFT_OR.i64"     =  0x1b7 [shift(0x1)]   Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            LshiftXorI32    "LSHIFT_XOR.i32"    =  0x0b4 [shift(0x102)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .changes(BITWISE);
            LshiftXorV2i16  "LSHIFT_XOR.v2i16"  =  0x0b5 [shift(0x102)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            LshiftXorV4i8   "LSHIFT_XOR.v4i8"   =  0x0b6 [shift(0x102)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            LshiftXorI64    "LSHIFT_XOR.i64"    =  0x1b7 [shift(0x102)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            RshiftXorI32    "RSHIFT_XOR.i32"    =  0x0b4 [shift(0x2)]   Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .changes(BITWISE);
            RshiftXorV2i16  "RSHIFT_XOR.v2i16"  =  0x0b5 [shift(0x2)]   Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            RshiftXorV4i8   "RSHIFT_XOR.v4i8"   =  0x0b6 [shift(0x2)]   Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            RshiftXorI64    "RSHIFT_XOR.i64"    =  0x1b7 [shift(0x2)]   Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            AndImmI32       "AND_IMM.i32"       -  0x118 []             Cvt  Alu  I32   V11_ON Word [] [A32]                              [CONSTANT] [];
            OrImmI32        "OR_IMM.i32"        -  0x119 []             Cvt  Alu  I32   V11_ON Word [] [A32]                              [CONSTANT] [];
            XorImmI32       "XOR_IMM.i32"       -  0x11a []             Cvt  Alu  I32   V11_ON Word [] [A32]                              [CONSTANT] [];
            ArshiftAndI32   "ARSHIFT_AND.i32"   =  0x0b4 [shift(0x400)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .mesa24("RSHIFT_AND.i32", "signed") .changes(BITWISE);
            ArshiftAndV2i16 "ARSHIFT_AND.v2i16" =  0x0b5 [shift(0x400)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT] .mesa24("RSHIFT_AND.v2i16", "signed");
            ArshiftAndV4i8  "ARSHIFT_AND.v4i8"  =  0x0b6 [shift(0x400)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT] .mesa24("RSHIFT_AND.v4i8", "signed");
            ArshiftAndI64   "ARSHIFT_AND.i64"   =  0x1b7 [shift(0x400)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT] .mesa24("RSHIFT_AND.i64", "signed");
            RrotAndI32      "RROT_AND.i32"      -  0x0b4 [shift(0x200)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT];
            RrotAndV2i16    "RROT_AND.v2i16"    -  0x0b5 [shift(0x200)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            RrotAndV4i8     "RROT_AND.v4i8"     -  0x0b6 [shift(0x200)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            RrotAndI64      "RROT_AND.i64"      -  0x1b7 [shift(0x200)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            LrotAndI32      "LROT_AND.i32"      -  0x0b4 [shift(0x300)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT];
            LrotAndV2i16    "LROT_AND.v2i16"    -  0x0b5 [shift(0x300)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            LrotAndV4i8     "LROT_AND.v4i8"     -  0x0b6 [shift(0x300)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            LrotAndI64      "LROT_AND.i64"      -  0x1b7 [shift(0x300)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            ArshiftOrI32    "ARSHIFT_OR.i32"    =  0x0b4 [shift(0x401)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .mesa24("RSHIFT_OR.i32", "signed") .changes(BITWISE);
            ArshiftOrV2i16  "ARSHIFT_OR.v2i16"  =  0x0b5 [shift(0x401)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT] .mesa24("RSHIFT_OR.v2i16", "signed");
            ArshiftOrV4i8   "ARSHIFT_OR.v4i8"   =  0x0b6 [shift(0x401)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT] .mesa24("RSHIFT_OR.v4i8", "signed");
            ArshiftOrI64    "ARSHIFT_OR.i64"    =  0x1b7 [shift(0x401)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT] .mesa24("RSHIFT_OR.i64", "signed");
            RrotOrI32       "RROT_OR.i32"       -  0x0b4 [shift(0x201)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT];
            RrotOrV2i16     "RROT_OR.v2i16"     -  0x0b5 [shift(0x201)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            RrotOrV4i8      "RROT_OR.v4i8"      -  0x0b6 [shift(0x201)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            RrotOrI64       "RROT_OR.i64"       -  0x1b7 [shift(0x201)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            LrotOrI32       "LROT_OR.i32"       -  0x0b4 [shift(0x301)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT];
            LrotOrV2i16     "LROT_OR.v2i16"     -  0x0b5 [shift(0x301)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            LrotOrV4i8      "LROT_OR.v4i8"      -  0x0b6 [shift(0x301)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            LrotOrI64       "LROT_OR.i64"       -  0x1b7 [shift(0x301)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            ArshiftXorI32   "ARSHIFT_XOR.i32"   =  0x0b4 [shift(0x402)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT] .mesa24("RSHIFT_XOR.i32", "signed") .changes(BITWISE);
            ArshiftXorV2i16 "ARSHIFT_XOR.v2i16" =  0x0b5 [shift(0x402)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT] .mesa24("RSHIFT_XOR.v2i16", "signed");
            ArshiftXorV4i8  "ARSHIFT_XOR.v4i8"  =  0x0b6 [shift(0x402)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT] .mesa24("RSHIFT_XOR.v4i8", "signed");
            ArshiftXorI64   "ARSHIFT_XOR.i64"   =  0x1b7 [shift(0x402)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT] .mesa24("RSHIFT_XOR.i64", "signed");
            RrotXorI32      "RROT_XOR.i32"      -  0x0b4 [shift(0x202)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT];
            RrotXorV2i16    "RROT_XOR.v2i16"    -  0x0b5 [shift(0x202)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            RrotXorV4i8     "RROT_XOR.v4i8"     -  0x0b6 [shift(0x202)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            RrotXorI64      "RROT_XOR.i64"      -  0x1b7 [shift(0x202)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
            LrotXorI32      "LROT_XOR.i32"      -  0x0b4 [shift(0x302)] Sfu  Alu  I32   ALL    Word [] [A32_I, B8_SHIFT, C32_NOT]         []         [NOT_RESULT];
            LrotXorV2i16    "LROT_XOR.v2i16"    -  0x0b5 [shift(0x302)] Sfu  Alu  V2i16 ALL    Word [] [A16_I, B8_SHIFT16, C16_NOT]       []         [NOT_RESULT];
            LrotXorV4i8     "LROT_XOR.v4i8"     -  0x0b6 [shift(0x302)] Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_SHIFT8, C8_NOT]          []         [NOT_RESULT];
            LrotXorI64      "LROT_XOR.i64"      -  0x1b7 [shift(0x302)] Sfu  Alu  I64   ALL    Pair [] [A64_SHIFTED, B8_SHIFT64, C64_NOT] []         [NOT_RESULT];
        }
    };
}
pub(crate) use bitwise;
