//! Rows: float arithmetic.
//!
//! Facts: hardware/valhall-isa.md section 9.6.

#[rustfmt::skip]
macro_rules! float {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction       name                     26 op    secondary unit kind type  archs  dest         sources                        immediates modifiers
            FrexpmF32           "FREXPM.f32"             =  0x099 [r1(0x0)] Cvt  Alu  F32   ALL    Word      [] [AF32_N_W]                     []         [FREXP_SCALE];
            FrexpmV2f16         "FREXPM.v2f16"           =  0x099 [r1(0x1)] Cvt  Alu  V2f16 TO_V10 Word      [] [AF16_N_S]                     []         [FREXP_SCALE];
            FrexpeF32           "FREXPE.f32"             =  0x099 [r1(0x2)] Cvt  Alu  F32   ALL    Word      [] [AF32_W]                       []         [FREXP_SCALE, NEG_RESULT];
            FrexpeV2f16         "FREXPE.v2f16"           =  0x099 [r1(0x3)] Cvt  Alu  V2f16 TO_V10 Word      [] [AF16_S]                       []         [FREXP_SCALE, NEG_RESULT];
            FpclassF32          "FPCLASS.f32"            =  0x09c [r1(0xa)] Sfu  Alu  F32   ALL    Word      [] [AF32_N_W24]                   []         [];
            FpclassF16          "FPCLASS.f16"            =  0x09c [r1(0xb)] Sfu  Alu  F16   ALL    Word      [] [AF16_N_HALF2]                 []         [];
            FaddF32             "FADD.f32"               =  0x0a4 [r2(0x0)] Fma  Alu  F32   ALL    Narrowing [] [AF32_N_W, BF32_N_W]           []         [ROUND_TWICE, CLAMP, STICKY];
            FaddV2f16           "FADD.v2f16"             =  0x0a5 [r2(0x0)] Fma  Alu  V2f16 ALL    Word      [] [AF16_N_S, BF16_N_S]           []         [ROUND_TWICE, CLAMP, STICKY];
            FminF32             "FMIN.f32"               =  0x0a4 [r2(0x2)] Cvt  Alu  F32   ALL    Word      [] [AF32_N_W, BF32_N_W]           []         [CLAMP, MIN_MAX_NAN];
            FminV2f16           "FMIN.v2f16"             =  0x0a5 [r2(0x2)] Cvt  Alu  V2f16 ALL    Word      [] [AF16_N_S, BF16_N_S]           []         [CLAMP, MIN_MAX_NAN];
            FmaxF32             "FMAX.f32"               =  0x0a4 [r2(0x3)] Cvt  Alu  F32   ALL    Word      [] [AF32_N_W, BF32_N_W]           []         [CLAMP, MIN_MAX_NAN];
            FmaxV2f16           "FMAX.v2f16"             =  0x0a5 [r2(0x3)] Cvt  Alu  V2f16 ALL    Word      [] [AF16_N_S, BF16_N_S]           []         [CLAMP, MIN_MAX_NAN];
            LdexpF32            "LDEXP.f32"              =  0x0a4 [r2(0x6)] Fma  Alu  F32   ALL    Word      [] [AF32_N, B32]                  []         [INF_MODE_F32, ROUND3];
            LdexpV2f16          "LDEXP.v2f16"            =  0x0a5 [r2(0x6)] Fma  Alu  V2f16 ALL    Word      [] [AF16_N, B16]                  []         [INF_MODE_V2F16, ROUND3];
            FaddLscaleF32       "FADD_LSCALE.f32"        =  0x0a4 [r2(0x9)] Fma  Alu  F32   ALL    Narrowing [] [AF32_N_W, BF32_N_W]           []         [CLAMP, ROUND_NOT26, STICKY];
            FmaF32              "FMA.f32"                =  0x0b2 []        Fma  Alu  F32   ALL    Narrowing [] [AF32_N_W, BF32_N_W, CF32_N_W] []         [CLAMP, ROUND];
            FmaV2f16            "FMA.v2f16"              =  0x0b3 []        Fma  Alu  V2f16 ALL    Word      [] [AF16_N_S, BF16_N_S, CF16_N_S] []         [CLAMP, ROUND];
            FaddImmF32          "FADD_IMM.f32"           =  0x114 []        Fma  Alu  F32   ALL    Word      [] [A32]                          [CONSTANT] [];
            FaddImmV2f16        "FADD_IMM.v2f16"         =  0x115 []        Fma  Alu  V2f16 ALL    Word      [] [AF16]                         [CONSTANT] [];
            FmaRscaleF32        "FMA_RSCALE.f32"         =  0x160 []        Fma  Alu  F32   ALL    Word      [] [AF32_N, BF32_N, CF32_N, D32]  []         [CLAMP, ROUND_ZERO]          .opcode_mask(0x1FB);
            FmaRscaleNF32       "FMA_RSCALE_N.f32"       =  0x161 []        Fma  Alu  F32   ALL    Word      [] [AF32_N, BF32_N, CF32_N, D32]  []         [CLAMP, ROUND_ZERO]          .opcode_mask(0x1FB);
            FmaRscaleLeftF32    "FMA_RSCALE_LEFT.f32"    =  0x162 []        Fma  Alu  F32   ALL    Word      [] [AF32_N, BF32_N, CF32_N, D32]  []         [CLAMP, ROUND_ZERO]          .opcode_mask(0x1FB);
            FmaRscaleScale16F32 "FMA_RSCALE_SCALE16.f32" =  0x163 []        Fma  Alu  F32   ALL    Word      [] [AF32_N, BF32_N, CF32_N, D32]  []         [CLAMP, ROUND_ZERO]          .opcode_mask(0x1FB);
            FlushF32            "FLUSH.f32"              =  0x098 [r1(0x0)] Cvt  Alu  F32   ALL    Word      [] [AF32_N_W]                     []         [FLUSH_NAN, FTZ, FLUSH_INF];
            FlushV2f16          "FLUSH.v2f16"            =  0x098 [r1(0x1)] Cvt  Alu  V2f16 ALL    Word      [] [AF16_N_S]                     []         [FLUSH_NAN, FTZ, FLUSH_INF];
            IlogbF32            "ILOGB.f32"              -  0x098 [r1(0x4)] Cvt  Alu  F32   TO_V10 Word      [] [AF32_W]                       []         [];
            IlogbV2f16          "ILOGB.v2f16"            -  0x098 [r1(0x5)] Cvt  Alu  V2f16 TO_V10 Word      [] [AF16_S]                       []         [];
            LogbF32             "LOGB.f32"               -  0x098 [r1(0x6)] Cvt  Alu  F32   TO_V10 Word      [] [AF32_W]                       []         [];
            LogbV2f16           "LOGB.v2f16"             -  0x098 [r1(0x7)] Cvt  Alu  V2f16 TO_V10 Word      [] [AF16_S]                       []         [];
            FmulSliceF32        "FMUL_SLICE.f32"         -  0x0a4 [r2(0xa)] Fma  Alu  F32   ALL    Word      [] [AF32, BF32]                   []         [];
            FmulCslice          "FMUL_CSLICE"            -  0x0a5 [r2(0xa)] Fma  Alu  F32   ALL    Word      [] [AF16_N_HALF, BF32]            []         [];
        }
    };
}
pub(crate) use float;
