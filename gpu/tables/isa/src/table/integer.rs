//! Rows: integer arithmetic.
//!
//! Facts: hardware/valhall-isa.md section 9.3.

#[rustfmt::skip]
macro_rules! integer {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name             26            op    secondary    unit kind type  archs  dest    sources              immediates modifiers
            ClzU32        "CLZ.u32"        =             0x091 [r1(0x4)]    Sfu  Alu  U32   ALL    Word [] [A32]                []         [MASK];
            ClzV2u16      "CLZ.v2u16"      =             0x091 [r1(0x5)]    Sfu  Alu  V2u16 ALL    Word [] [A16_S]              []         [MASK];
            ClzV4u8       "CLZ.v4u8"       =             0x091 [r1(0x6)]    Sfu  Alu  V4u8  ALL    Word [] [A8]                 []         [MASK];
            IabsS32       "IABS.s32"       =             0x091 [r1(0x8)]    Cvt  Alu  S32   ALL    Word [] [A32_I]              []         [];
            IabsV2s16     "IABS.v2s16"     =             0x091 [r1(0x9)]    Cvt  Alu  V2s16 ALL    Word [] [A16_I]              []         [];
            IabsV4s8      "IABS.v4s8"      =             0x091 [r1(0xa)]    Cvt  Alu  V4s8  TO_V10 Word [] [A8_I]               []         [];
            PopcountI32   "POPCOUNT.i32"   =             0x091 [r1(0xc)]    Sfu  Alu  I32   ALL    Word [] [A32]                []         [];
            BitrevI32     "BITREV.i32"     =             0x091 [r1(0xd)]    Sfu  Alu  I32   ALL    Word [] [A32]                []         [];
            IaddU32       "IADD.u32"       =             0x0a0 [r2(0x0)]    Cvt  Alu  U32   ALL    Word [] [A32_I, B32_I]       []         [SATURATE];
            IaddV2u16     "IADD.v2u16"     =             0x0a1 [r2(0x0)]    Cvt  Alu  V2u16 ALL    Word [] [A16_I, B16_I]       []         [SATURATE];
            IaddV4u8      "IADD.v4u8"      =             0x0a2 [r2(0x0)]    Cvt  Alu  V4u8  TO_V10 Word [] [A8_I, B8_I]         []         [SATURATE];
            IaddS32       "IADD.s32"       =             0x0a8 [r2(0x0)]    Cvt  Alu  S32   ALL    Word [] [A32_I, B32_I]       []         [SATURATE];
            IaddV2s16     "IADD.v2s16"     =             0x0a9 [r2(0x0)]    Cvt  Alu  V2s16 ALL    Word [] [A16_I, B16_I]       []         [SATURATE];
            IaddV4s8      "IADD.v4s8"      =             0x0aa [r2(0x0)]    Cvt  Alu  V4s8  TO_V10 Word [] [A8_I, B8_I]         []         [SATURATE];
            IaddU64       "IADD.u64"       =             0x1a3 [r2(0x0)]    Cvt  Alu  U64   ALL    Pair [] [A64_I, B64_I]       []         [SATURATE_64];
            IaddS64       "IADD.s64"       =             0x1ab [r2(0x0)]    Cvt  Alu  S64   ALL    Pair [] [A64_I, B64_I]       []         [SATURATE_64];
            IsubU32       "ISUB.u32"       =             0x0a0 [r2(0x1)]    Cvt  Alu  U32   ALL    Word [] [A32_I, B32_I]       []         [SATURATE];
            IsubV2u16     "ISUB.v2u16"     =             0x0a1 [r2(0x1)]    Cvt  Alu  V2u16 ALL    Word [] [A16_I, B16_I]       []         [SATURATE];
            IsubV4u8      "ISUB.v4u8"      =             0x0a2 [r2(0x1)]    Cvt  Alu  V4u8  TO_V10 Word [] [A8_I, B8_I]         []         [SATURATE];
            IsubS32       "ISUB.s32"       =             0x0a8 [r2(0x1)]    Cvt  Alu  S32   ALL    Word [] [A32_I, B32_I]       []         [SATURATE];
            IsubV2s16     "ISUB.v2s16"     =             0x0a9 [r2(0x1)]    Cvt  Alu  V2s16 ALL    Word [] [A16_I, B16_I]       []         [SATURATE];
            IsubV4s8      "ISUB.v4s8"      =             0x0aa [r2(0x1)]    Cvt  Alu  V4s8  TO_V10 Word [] [A8_I, B8_I]         []         [SATURATE];
            IsubU64       "ISUB.u64"       =             0x1a3 [r2(0x1)]    Cvt  Alu  U64   ALL    Pair [] [A64_I, B64_I]       []         [SATURATE_64];
            IsubS64       "ISUB.s64"       =             0x1ab [r2(0x1)]    Cvt  Alu  S64   ALL    Pair [] [A64_I, B64_I]       []         [SATURATE_64];
            SegAddU64     "SEG_ADD.u64"    =             0x1a3 [r2(0x6)]    Cvt  Alu  U64   ALL    Pair [] [A64, B64_I]         []         [NEG, PRESERVE_NULL];
            ShaddxU64     "SHADDX.u64"     =             0x1a3 [r2(0x7)]    Cvt  Alu  U64   ALL    Pair [] [A64, B64_I]         [SHIFT]    [];
            ShaddxS64     "SHADDX.s64"     =             0x1ab [r2(0x7)]    Cvt  Alu  S64   ALL    Pair [] [A64, B64_I]         [SHIFT]    [];
            ImulI32       "IMUL.i32"       =             0x0a0 [r2(0xa)]    Sfu  Alu  I32   ALL    Word [] [A32_I, B32_I]       []         [SATURATE];
            ImulV2i16     "IMUL.v2i16"     =             0x0a1 [r2(0xa)]    Sfu  Alu  V2i16 ALL    Word [] [A16_I, B16_I]       []         [SATURATE];
            ImulV4i8      "IMUL.v4i8"      =             0x0a2 [r2(0xa)]    Sfu  Alu  V4i8  ALL    Word [] [A8_I, B8_I]         []         [SATURATE];
            ImulS32       "IMUL.s32"       =             0x0a8 [r2(0xa)]    Sfu  Alu  S32   ALL    Word [] [A32_I, B32_I]       []         [SATURATE];
            ImulV2s16     "IMUL.v2s16"     =             0x0a9 [r2(0xa)]    Sfu  Alu  V2s16 ALL    Word [] [A16_I, B16_I]       []         [SATURATE];
            ImulV4s8      "IMUL.v4s8"      =             0x0aa [r2(0xa)]    Sfu  Alu  V4s8  ALL    Word [] [A8_I, B8_I]         []         [SATURATE];
            ImuldU64      "IMULD.u64"      =             0x1a3 [r2(0xa)]    Sfu  Alu  U64   ALL    Pair [] [A64_PART, B64_PART] []         [SATURATE_24];
            ImuldS64      "IMULD.s64"      -             0x1ab [r2(0xa)]    Sfu  Alu  S64   ALL    Pair [] [A64_PART, B64_PART] []         [];
            HaddU32       "HADD.u32"       =             0x0a0 [r2(0xb)]    Cvt  Alu  U32   TO_V10 Word [] [A32_I, B32_I]       []         [RHADD];
            HaddV2u16     "HADD.v2u16"     =             0x0a1 [r2(0xb)]    Cvt  Alu  V2u16 TO_V10 Word [] [A16_I, B16_I]       []         [RHADD];
            HaddV4u8      "HADD.v4u8"      =             0x0a2 [r2(0xb)]    Cvt  Alu  V4u8  TO_V10 Word [] [A8_I, B8_I]         []         [RHADD];
            HaddS32       "HADD.s32"       =             0x0a8 [r2(0xb)]    Cvt  Alu  S32   TO_V10 Word [] [A32_I, B32_I]       []         [RHADD];
            HaddV2s16     "HADD.v2s16"     =             0x0a9 [r2(0xb)]    Cvt  Alu  V2s16 TO_V10 Word [] [A16_I, B16_I]       []         [RHADD];
            HaddV4s8      "HADD.v4s8"      =             0x0aa [r2(0xb)]    Cvt  Alu  V4s8  TO_V10 Word [] [A8_I, B8_I]         []         [RHADD];
            IdpV4s8       "IDP.v4s8"       "IDPADD.v4s8" 0x0c2 [bit24(0x0)] Fma  Alu  V4s8  ALL    Word [] [A8, B8, C8]         []         [SATURATE, UNSIGNED0, UNSIGNED1];
            IdpV4u8       "IDP.v4u8"       "IDPADD.v4u8" 0x0c2 [bit24(0x1)] Fma  Alu  V4u8  ALL    Word [] [A8, B8, C8]         []         [SATURATE];
            IaddImmI32    "IADD_IMM.i32"   =             0x110 []           Cvt  Alu  I32   ALL    Word [] [A32]                [CONSTANT] [];
            IaddImmV2i16  "IADD_IMM.v2i16" =             0x111 []           Cvt  Alu  V2i16 ALL    Word [] [A16]                [CONSTANT] [];
            IaddImmV4i8   "IADD_IMM.v4i8"  =             0x112 []           Cvt  Alu  V4i8  TO_V10 Word [] [A8]                 [CONSTANT] [];
            IaddcI32      "IADDC.i32"      -             0x0b0 [at24(0x0)]  Cvt  Alu  I32   ALL    Word [] [A32, B32, C32]      []         [RETURN_CARRY];
            IsubbI32      "ISUBB.i32"      -             0x0b0 [at24(0x1)]  Cvt  Alu  I32   ALL    Word [] [A32, B32, C32]      []         [RETURN_CARRY];
        }
    };
}
pub(crate) use integer;
