//! Rows: conversions between formats, and rounding.
//!
//! Facts: hardware/valhall-isa.md section 9.2.

#[rustfmt::skip]
macro_rules! conversions {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name             26 op    secondary  unit kind type  archs  dest             sources             modifiers
            V2s16ToV2f16  "V2S16_TO_V2F16" =  0x090 [r1(0x7)]  Cvt  Alu  V2f16 TO_V10 Word          [] [A16_I]          [] [ROUND3]       .ignores(ROUNDING_TAIL);
            S32ToF32      "S32_TO_F32"     =  0x090 [r1(0x9)]  Cvt  Alu  F32   ALL    Word          [] [A32_IV11]       [] [ROUND3]       .ignores(ROUNDING_TAIL);
            V2u16ToV2f16  "V2U16_TO_V2F16" =  0x090 [r1(0x17)] Cvt  Alu  V2f16 TO_V10 Word          [] [A16_I]          [] [ROUND3]       .ignores(ROUNDING_TAIL);
            U32ToF32      "U32_TO_F32"     =  0x090 [r1(0x19)] Cvt  Alu  F32   ALL    Word          [] [A32_IV11]       [] [ROUND3]       .ignores(ROUNDING_TAIL);
            S16ToS32      "S16_TO_S32"     =  0x090 [r1(0x4)]  Cvt  Alu  S32   ALL    Word          [] [A16_PAIR]       [] [];
            S16ToF32      "S16_TO_F32"     =  0x090 [r1(0x5)]  Cvt  Alu  F32   TO_V10 Word          [] [A16_PAIR]       [] [];
            U16ToU32      "U16_TO_U32"     =  0x090 [r1(0x14)] Cvt  Alu  U32   ALL    Word          [] [A16_PAIR]       [] [];
            U16ToF32      "U16_TO_F32"     =  0x090 [r1(0x15)] Cvt  Alu  F32   TO_V10 Word          [] [A16_PAIR]       [] [];
            F32ToS32      "F32_TO_S32"     =  0x090 [r1(0xc)]  Cvt  Alu  S32   ALL    Word          [] [AF32_N_WV11]    [] [ROUND3]       .ignores(ROUNDING_TAIL);
            F32ToU32      "F32_TO_U32"     =  0x090 [r1(0x1c)] Cvt  Alu  U32   ALL    Word          [] [AF32_N_WV11]    [] [ROUND3]       .ignores(ROUNDING_TAIL);
            V2f16ToV2s16  "V2F16_TO_V2S16" =  0x090 [r1(0xe)]  Cvt  Alu  V2s16 TO_V10 Word          [] [AF16_N_S]       [] [ROUND3]       .ignores(ROUNDING_TAIL);
            V2f16ToV2u16  "V2F16_TO_V2U16" =  0x090 [r1(0x1e)] Cvt  Alu  V2u16 TO_V10 Word          [] [AF16_N_S]       [] [ROUND3]       .ignores(ROUNDING_TAIL);
            F16ToS32      "F16_TO_S32"     =  0x090 [r1(0xa)]  Cvt  Alu  S32   TO_V10 Word          [] [AF16_N_PAIR]    [] [ROUND3]       .ignores(ROUNDING_TAIL);
            F16ToU32      "F16_TO_U32"     =  0x090 [r1(0x1a)] Cvt  Alu  U32   TO_V10 Word          [] [AF16_N_PAIR]    [] [ROUND3]       .ignores(ROUNDING_TAIL);
            F16ToF32      "F16_TO_F32"     =  0x090 [r1(0xb)]  Cvt  Alu  F32   ALL    Word          [] [AF16_N_HALF]    [] [ROUND_24];
            S8ToS32       "S8_TO_S32"      =  0x090 [r1(0x0)]  Cvt  Alu  S32   ALL    Word          [] [A8_BYTE]        [] [];
            S8ToF32       "S8_TO_F32"      =  0x090 [r1(0x1)]  Cvt  Alu  F32   TO_V10 Word          [] [A8_BYTE]        [] [];
            U8ToU32       "U8_TO_U32"      =  0x090 [r1(0x10)] Cvt  Alu  U32   ALL    Word          [] [A8_BYTE]        [] [];
            U8ToF32       "U8_TO_F32"      =  0x090 [r1(0x11)] Cvt  Alu  F32   TO_V10 Word          [] [A8_BYTE]        [] [];
            V2s8ToV2s16   "V2S8_TO_V2S16"  =  0x090 [r1(0x2)]  Cvt  Alu  V2s16 ALL    Word          [] [A8_BYTES]       [] [];
            V2s8ToV2f16   "V2S8_TO_V2F16"  =  0x090 [r1(0x3)]  Cvt  Alu  V2f16 TO_V10 Word          [] [A8_BYTES]       [] [];
            V2u8ToV2u16   "V2U8_TO_V2U16"  =  0x090 [r1(0x12)] Cvt  Alu  V2u16 ALL    Word          [] [A8_BYTES]       [] [];
            V2u8ToV2f16   "V2U8_TO_V2F16"  =  0x090 [r1(0x13)] Cvt  Alu  V2f16 TO_V10 Word          [] [A8_BYTES]       [] [];
            FroundF32     "FROUND.f32"     =  0x090 [r1(0xd)]  Cvt  Alu  F32   ALL    WholeSinceV11 [] [AF32_N_WV10]    [] [ROUND3]       .changes(FROUND);
            FroundV2f16   "FROUND.v2f16"   =  0x090 [r1(0xf)]  Cvt  Alu  V2f16 TO_V10 Word          [] [AF16_N_S]       [] [ROUND3];
            V2f32ToV2f16  "V2F32_TO_V2F16" =  0x0a5 [r2(0x4)]  Cvt  Alu  V2f16 TO_V10 Word          [] [AF16_N, BF16_N] [] [CLAMP, ROUND] .ignores(ROUNDING_TAIL);
        }
    };
}
pub(crate) use conversions;
