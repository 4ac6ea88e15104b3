//! Rows: operations across the lanes of a warp.
//!
//! Facts: hardware/valhall-isa.md section 9.9.

#[rustfmt::skip]
macro_rules! lanes {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name          26 op    secondary unit kind      type  archs  dest     sources                           modifiers
            Wmask         "WMASK"       =  0x095 []        Cvt  CrossLane U32   ALL    Word  [] [A32]                          [] [SUBGROUP_SIZE];
            ClperI32      "CLPER.i32"   =  0x0a0 [r2(0xf)] Sfu  CrossLane I32   ALL    Word  [] [A32, B32_LANE]                [] [SUBGROUP_SIZE, LANE_OP, INACTIVE_RESULT]  .changes(CLPER);
            ClperV2u16    "CLPER.v2u16" -  0x0a1 [r2(0xf)] Sfu  CrossLane V2u16 ALL    Word  [] [A16, B16_I]                   [] [SUBGROUP_SIZE, LANE_OP2, INACTIVE_RESULT] .text_only();
            ClperV4u8     "CLPER.v4u8"  -  0x0a2 [r2(0xf)] Sfu  CrossLane V4u8  ALL    Word  [] [A8, B8_I]                     [] [SUBGROUP_SIZE, LANE_OP2, INACTIVE_RESULT] .text_only();
            ClperS32      "CLPER.s32"   -  0x0a8 [r2(0xf)] Sfu  CrossLane S32   ALL    Word  [] [A32, B32_I]                   [] [SUBGROUP_SIZE, LANE_OP2, INACTIVE_RESULT] .text_only();
            ClperV2s16    "CLPER.v2s16" -  0x0a9 [r2(0xf)] Sfu  CrossLane V2s16 ALL    Word  [] [A16, B16_I]                   [] [SUBGROUP_SIZE, LANE_OP2, INACTIVE_RESULT] .text_only();
            ClperV4s8     "CLPER.v4s8"  -  0x0aa [r2(0xf)] Sfu  CrossLane V4s8  ALL    Word  [] [A8, B8_I]                     [] [SUBGROUP_SIZE, LANE_OP2, INACTIVE_RESULT] .text_only();
            ClperU64      "CLPER.u64"   -  0x1a3 [r2(0xf)] Sfu  CrossLane U64   ALL    Pair  [] [A64, B64_I]                   [] [SUBGROUP_SIZE, LANE_OP2, INACTIVE_RESULT] .text_only();
            ClperS64      "CLPER.s64"   -  0x1ab [r2(0xf)] Sfu  CrossLane S64   ALL    Pair  [] [A64, B64_I]                   [] [SUBGROUP_SIZE, LANE_OP2, INACTIVE_RESULT] .text_only();
            MmulV4s8      "MMUL.v4s8"   -  0x100 []        Fma  CrossLane V4s8  V11_ON Whole [] [A32, B32, C32]                [] [UNSIGNED0, UNSIGNED1]                     .registers_only();
            MmulV4u8      "MMUL.v4u8"   -  0x101 []        Fma  CrossLane V4u8  V11_ON Whole [] [A32, B32, C32]                [] [SATURATE_V14]                             .registers_only();
            MmulF32       "MMUL.f32"    -  0x102 []        Fma  CrossLane F32   V11_ON Whole [] [A32, B32, C32]                [] []                                         .registers_only();
            MmulV2f16     "MMUL.v2f16"  -  0x103 []        Fma  CrossLane V2f16 V11_ON Whole [] [A32_MATRIX, B32_MATRIX, C32]  [] []                                         .registers_only();
            MmulF16       "MMUL.f16"    -  0x104 []        Fma  CrossLane F16   V14_ON Whole [] [A32_MATRIX, B32_MATRIX2, C32] [] []                                         .registers_only();
            ClperOr       "CLPER_OR"    -  0x0b1 []        Cvt  CrossLane I32   V14_ON Word  [] [A32, B8_SHIFT, C32]           [] [LANE_PAIR, SUBGROUP_SIZE_OR];
        }
    };
}
pub(crate) use lanes;
