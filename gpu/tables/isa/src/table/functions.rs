//! Rows: special functions, their tables, and cube maps.
//!
//! Facts: hardware/valhall-isa.md sections 9.7, 9.8 and 10.

#[rustfmt::skip]
macro_rules! functions {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction    name                  26             op    secondary            unit kind type archs  dest           sources                           modifiers
            FrcpF32          "FRCP.f32"            =              0x09c [r1(0x0)]            Sfu  Alu  F32  ALL    Word        [] [AF32_N_W]                     [] [];
            FrcpF16          "FRCP.f16"            =              0x09c [r1(0x1)]            Sfu  Alu  F16  ALL    Replicating [] [AF16_N_HALF2]                 [] [];
            FrsqF32          "FRSQ.f32"            =              0x09c [r1(0x2)]            Sfu  Alu  F32  ALL    Word        [] [AF32_N_W]                     [] [];
            FrsqF16          "FRSQ.f16"            =              0x09c [r1(0x3)]            Sfu  Alu  F16  ALL    Replicating [] [AF16_N_HALF2]                 [] [];
            FlogdF32         "FLOGD.f32"           =              0x09c [r1(0x8)]            Sfu  Alu  F32  ALL    Word        [] [AF32_N_W]                     [] [];
            FlogTableF32     "FLOG_TABLE.f32"      =              0x09c [r1(0xc)]            Sfu  Alu  F32  ALL    Word        [] [AF32_N_W]                     [] [LOG_TABLE_MODE, LOG_PRECISION];
            FrcpApproxF32    "FRCP_APPROX.f32"     =              0x09c [r1(0xe)]            Sfu  Alu  F32  ALL    Word        [] [AF32_N_W]                     [] [];
            FrsqApproxF32    "FRSQ_APPROX.f32"     =              0x09c [r1(0xf)]            Sfu  Alu  F32  ALL    Word        [] [AF32_N_W]                     [] [];
            FsinTableU6      "FSIN_TABLE.u6"       =              0x09c [r1(0x4)]            Sfu  Alu  F32  ALL    Word        [] [A32]                          [] [OFFSET];
            FcosTableU6      "FCOS_TABLE.u6"       =              0x09c [r1(0x5)]            Sfu  Alu  F32  ALL    Word        [] [A32]                          [] [OFFSET];
            FsincosOffsetU6  "FSINCOS_OFFSET.u6"   =              0x09c [r1(0x6)]            Sfu  Alu  F32  ALL    Word        [] [A32]                          [] [SCALE];
            FexpTableU4      "FEXP_TABLE.u4"       =              0x09c [r1(0xd)]            Sfu  Alu  F32  ALL    Word        [] [A32]                          [] [TABLE_ADJUST];
            FexpF32          "FEXP.f32"            =              0x0a4 [r2(0x8)]            Sfu  Alu  F32  ALL    Word        [] [A32, BF32_N_W]                [] [CLAMP_24];
            FatanAssistF32   "FATAN_ASSIST.f32"    =              0x0a4 [r2(0xe), at25(0x0)] Sfu  Alu  F32  ALL    Word        [] [A32, B32]                     [] [SECOND];
            CubeSsel         "CUBE_SSEL"           =              0x0bc [bit24(0x0)]         Sfu  Alu  F32  ALL    Word        [] [AF32_N_W, BF32_N_W, C32]      [] [];
            CubeTsel         "CUBE_TSEL"           =              0x0bc [bit24(0x1)]         Sfu  Alu  F32  ALL    Word        [] [AF32_N_W, BF32_N_W, C32]      [] [];
            Cubeface1        "CUBEFACE1"           =              0x0c0 []                   Cvt  Alu  F32  ALL    Word        [] [AF32_N_W, BF32_N_W, CF32_N_W] [] [];
            Cubeface2        "CUBEFACE2"           "CUBEFACE2_V9" 0x0c1 []                   Cvt  Alu  U32  ALL    Word        [] [AF32_N_W, BF32_N_W, CF32_N_W] [] [];
            FrcbrtApproxAF32 "FRCBRT_APPROX_A.f32" -              0x09e [r1(0x0)]            Sfu  Alu  F32  ALL    Word        [] [AF32_N_W]                     [] [];
            FrcbrtApproxBF32 "FRCBRT_APPROX_B.f32" -              0x09e [r1(0x1)]            Sfu  Alu  F32  ALL    Word        [] [AF32]                         [] [];
            FrcbrtApproxCF32 "FRCBRT_APPROX_C.f32" -              0x09e [r1(0x2)]            Sfu  Alu  F32  ALL    Word        [] [AF32]                         [] [];
            FpowScDet        "FPOW_SC_DET"         -              0x0a4 [r2(0xd), at24(0x0)] Sfu  Alu  F32  ALL    Word        [] [AF32, BF32]                   [] [POW_FUNCTION];
            FpowScApply      "FPOW_SC_APPLY"       -              0x0a4 [r2(0xd), at24(0x1)] Sfu  Alu  F32  ALL    Word        [] [AF32, BF32]                   [] [];
            FpowF16          "FPOW.f16"            -              0x0a6 [r2(0xd), at24(0x3)] Sfu  Alu  F16  V12_ON Replicating [] [AF16_N_HALF, BF16_N_HALF]     [] [];
            FlogF16          "FLOG.f16"            -              0x09c [r1(0x9)]            Sfu  Alu  F16  V12_ON Replicating [] [AF16_N_HALF]                  [] [];
            FlogF32          "FLOG.f32"            -              0x09c [r1(0x10)]           Sfu  Alu  F32  V14_ON Word        [] [AF32_N_W]                     [] [];
            FexpfF32         "FEXPF.f32"           -              0x09c [r1(0x11)]           Sfu  Alu  F32  V14_ON Word        [] [AF32_N_W]                     [] [];
            FsqrtF32         "FSQRT.f32"           -              0x09c [r1(0x7)]            Sfu  Alu  F32  V14_ON Word        [] [AF32_N_W]                     [] [];
            FsincosF32       "FSINCOS.f32"         -              0x0a4 [r2(0xe), at24(0x2)] Sfu  Alu  F32  V14_ON Word        [] [AF32, B32]                    [] [SIN_COS];
        }
    };
}
pub(crate) use functions;
