//! Rows: varyings.
//!
//! Facts: hardware/valhall-isa.md section 11.7.

#[rustfmt::skip]
macro_rules! varyings {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction   name                  26 op       unit kind    type archs  dest staging         sources    immediates              modifiers
            LdVarSpecial    "LD_VAR_SPECIAL"      =  0x056 [] V    Varying I32  ALL    None [W_VECTOR2]     [A32]      [INDEX3_AT12]           [VECTOR_SIZE_12, REGISTER_FORMAT_F32, SAMPLE_MODE, UPDATE_MODE_SPECIAL, SLOT];
            LdVarBufImmF32  "LD_VAR_BUF_IMM.f32"  =  0x05c [] V    Varying F32  ALL    None [W_VECTOR_F32]  [A32]      [INDEX11_AT8]           [SLOT, VECTOR_SIZE, SOURCE_FORMAT_F32, SAMPLE_MODE, UPDATE_MODE]              .layouts(VARYING_OFFSET_F32);
            LdVarBufImmF16  "LD_VAR_BUF_IMM.f16"  =  0x05d [] V    Varying F16  ALL    None [W_VECTOR_F16]  [A16]      [INDEX11_AT8]           [SLOT, VECTOR_SIZE, SOURCE_FORMAT_F16, SAMPLE_MODE, UPDATE_MODE]              .layouts(VARYING_OFFSET_F16);
            LdVarBufF32     "LD_VAR_BUF.f32"      =  0x06c [] V    Varying F32  ALL    None [W_VECTOR_F32]  [A32, B32] []                      [SLOT, VECTOR_SIZE, SOURCE_FORMAT_F32, SAMPLE_MODE, UPDATE_MODE];
            LdVarBufF16     "LD_VAR_BUF.f16"      =  0x06d [] V    Varying F16  ALL    None [W_VECTOR_F16]  [A16, B16] []                      [SLOT, VECTOR_SIZE, SOURCE_FORMAT_F16, SAMPLE_MODE, UPDATE_MODE];
            LdVar           "LD_VAR"              =  0x064 [] V    Varying I32  ALL    None [W_VECTOR]      [A32, B32] []                      [SLOT, VECTOR_SIZE, REGISTER_FORMAT_FLOAT, SAMPLE_MODE, UPDATE_MODE];
            LdVarImm        "LD_VAR_IMM"          =  0x054 [] V    Varying I32  ALL    None [W_VECTOR]      [A32]      [TABLE_AT8, INDEX_AT12] [SLOT, VECTOR_SIZE, REGISTER_FORMAT_FLOAT, SAMPLE_MODE, UPDATE_MODE];
            LdVarFlat       "LD_VAR_FLAT"         =  0x055 [] V    Varying I32  ALL    None [W_VECTOR]      [A32]      []                      [SLOT, VECTOR_SIZE, REGISTER_FORMAT_FLAT, EXPLICIT_VERTEX];
            LdVarFlatImm    "LD_VAR_FLAT_IMM"     =  0x041 [] V    Varying I32  ALL    None [W_VECTOR]      []         [TABLE_AT8, INDEX_AT12] [SLOT, VECTOR_SIZE, REGISTER_FORMAT_FLAT, EXPLICIT_VERTEX, VERTEX]            .ignores(UNREAD_PAGE);
            LdVarBufFlatImm "LD_VAR_BUF_FLAT_IMM" =  0x040 [] V    Varying I32  V14_ON None [W_VECTOR_FLAT] []         [INDEX11_AT8]           [SLOT, VECTOR_SIZE, FLAT_FORMAT, EXPLICIT_VERTEX, VERTEX]                     .ignores(UNREAD_PAGE);
            LdVarBufFlat    "LD_VAR_BUF_FLAT"     =  0x05f [] V    Varying I32  V14_ON None [W_VECTOR_FLAT] [A32]      []                      [SLOT, VECTOR_SIZE, FLAT_FORMAT, EXPLICIT_VERTEX];
        }
    };
}
pub(crate) use varyings;
