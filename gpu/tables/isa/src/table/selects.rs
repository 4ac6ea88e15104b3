//! Rows: selects and compares.
//!
//! Facts: hardware/valhall-isa.md section 9.5.

#[rustfmt::skip]
macro_rules! selects {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name             26 op    secondary   unit kind type  archs  dest    sources                      modifiers
            CselF32       "CSEL.f32"       =  0x154 []          Cvt  Alu  F32   ALL    Word [] [AF32, BF32, CF32, DF32]  [] [CONDITION];
            CselV2f16     "CSEL.v2f16"     =  0x155 []          Cvt  Alu  V2f16 ALL    Word [] [AF16, BF16, CF16, DF16]  [] [CONDITION];
            CselU32       "CSEL.u32"       =  0x150 []          Cvt  Alu  U32   ALL    Word [] [A32, B32, C32, D32]      [] [CONDITION_INT];
            CselV2u16     "CSEL.v2u16"     =  0x151 []          Cvt  Alu  V2u16 ALL    Word [] [A16, B16, C16, D16]      [] [CONDITION_INT];
            CselS32       "CSEL.s32"       =  0x158 []          Cvt  Alu  S32   ALL    Word [] [A32, B32, C32, D32]      [] [CONDITION_INT];
            CselV2s16     "CSEL.v2s16"     =  0x159 []          Cvt  Alu  V2s16 ALL    Word [] [A16, B16, C16, D16]      [] [CONDITION_INT];
            MuxI32        "MUX.i32"        =  0x0b8 []          Sfu  Alu  I32   ALL    Word [] [A32, B32, C32]           [] [MUX];
            MuxV2i16      "MUX.v2i16"      =  0x0b9 []          Sfu  Alu  V2i16 ALL    Word [] [A16_S, B16_S, C16_S]     [] [MUX];
            MuxV4i8       "MUX.v4i8"       =  0x0ba []          Sfu  Alu  V4i8  ALL    Word [] [A8, B8, C8]              [] [MUX_8];
            IcmpOrU32     "ICMP_OR.u32"    =  0x0f0 [at24(0x0)] Cvt  Alu  U32   ALL    Word [] [A32_I, B32_I, C32]       [] [CONDITION_INT, RESULT_TYPE];
            IcmpOrV2u16   "ICMP_OR.v2u16"  =  0x0f1 [at24(0x0)] Cvt  Alu  V2u16 ALL    Word [] [A16_I, B16_I, C16]       [] [CONDITION_INT, RESULT_TYPE];
            IcmpOrV4u8    "ICMP_OR.v4u8"   =  0x0f2 [at24(0x0)] Cvt  Alu  V4u8  TO_V10 Word [] [A8_I, B8_I, C8]          [] [CONDITION_INT, RESULT_TYPE_8];
            IcmpOrS32     "ICMP_OR.s32"    =  0x0f8 [at24(0x0)] Cvt  Alu  S32   ALL    Word [] [A32_I, B32_I, C32]       [] [CONDITION_INT, RESULT_TYPE];
            IcmpOrV2s16   "ICMP_OR.v2s16"  =  0x0f9 [at24(0x0)] Cvt  Alu  V2s16 ALL    Word [] [A16_I, B16_I, C16]       [] [CONDITION_INT, RESULT_TYPE];
            IcmpOrV4s8    "ICMP_OR.v4s8"   =  0x0fa [at24(0x0)] Cvt  Alu  V4s8  TO_V10 Word [] [A8_I, B8_I, C8]          [] [CONDITION_INT, RESULT_TYPE_8];
            IcmpAndU32    "ICMP_AND.u32"   =  0x0f0 [at24(0x1)] Cvt  Alu  U32   ALL    Word [] [A32_I, B32_I, C32]       [] [CONDITION_INT, RESULT_TYPE];
            IcmpAndV2u16  "ICMP_AND.v2u16" =  0x0f1 [at24(0x1)] Cvt  Alu  V2u16 ALL    Word [] [A16_I, B16_I, C16]       [] [CONDITION_INT, RESULT_TYPE];
            IcmpAndV4u8   "ICMP_AND.v4u8"  =  0x0f2 [at24(0x1)] Cvt  Alu  V4u8  TO_V10 Word [] [A8_I, B8_I, C8]          [] [CONDITION_INT, RESULT_TYPE_8];
            IcmpAndS32    "ICMP_AND.s32"   =  0x0f8 [at24(0x1)] Cvt  Alu  S32   ALL    Word [] [A32_I, B32_I, C32]       [] [CONDITION_INT, RESULT_TYPE];
            IcmpAndV2s16  "ICMP_AND.v2s16" =  0x0f9 [at24(0x1)] Cvt  Alu  V2s16 ALL    Word [] [A16_I, B16_I, C16]       [] [CONDITION_INT, RESULT_TYPE];
            IcmpAndV4s8   "ICMP_AND.v4s8"  =  0x0fa [at24(0x1)] Cvt  Alu  V4s8  TO_V10 Word [] [A8_I, B8_I, C8]          [] [CONDITION_INT, RESULT_TYPE_8];
            FcmpOrF32     "FCMP_OR.f32"    =  0x0f4 [at24(0x0)] Cvt  Alu  F32   ALL    Word [] [AF32_N_W, BF32_N_W, C32] [] [CONDITION, RESULT_TYPE];
            FcmpOrV2f16   "FCMP_OR.v2f16"  =  0x0f5 [at24(0x0)] Cvt  Alu  V2f16 ALL    Word [] [AF16_N_S, BF16_N_S, C16] [] [CONDITION, RESULT_TYPE];
            FcmpAndF32    "FCMP_AND.f32"   =  0x0f4 [at24(0x1)] Cvt  Alu  F32   ALL    Word [] [AF32_N_W, BF32_N_W, C32] [] [CONDITION, RESULT_TYPE];
            FcmpAndV2f16  "FCMP_AND.v2f16" =  0x0f5 [at24(0x1)] Cvt  Alu  V2f16 ALL    Word [] [AF16_N_S, BF16_N_S, C16] [] [CONDITION, RESULT_TYPE];
            IcmpMultiU32  "ICMP_MULTI.u32" =  0x0f0 [at24(0x2)] Cvt  Alu  U32   ALL    Word [] [A32_I, B32_I, C32]       [] [CONDITION_INT, RESULT_TYPE_MULTI];
            IcmpMultiS32  "ICMP_MULTI.s32" =  0x0f8 [at24(0x2)] Cvt  Alu  S32   ALL    Word [] [A32_I, B32_I, C32]       [] [CONDITION_INT, RESULT_TYPE_MULTI_S];
        }
    };
}
pub(crate) use selects;
