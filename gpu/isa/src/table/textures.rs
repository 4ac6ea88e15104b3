//! Rows: textures, alone and with a varying.
//!
//! Facts: hardware/valhall-isa.md section 11.10.

#[rustfmt::skip]
macro_rules! textures {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction     name                   26 op       unit kind           type archs dest staging                   sources            modifiers
            TexFetch          "TEX_FETCH"            =  0x125 [] T    Texture        I32  ALL   None [TEX_RESULT, TEX_PAYLOAD] [A64]           [] [SLOT, SKIP, REGISTER_TYPE, REGISTER_WIDTH, WRITE_MASK, DIMENSION_FETCH, WIDE_INDICES, ARRAY_ENABLE, TEXEL_OFFSET];
            TexSingle         "TEX_SINGLE"           =  0x128 [] T    Texture        I32  ALL   None [TEX_RESULT, TEX_PAYLOAD] [A64]           [] [SLOT, SKIP, REGISTER_TYPE, REGISTER_WIDTH, WRITE_MASK, DIMENSION, WIDE_INDICES, ARRAY_ENABLE, TEXEL_OFFSET, SHADOW, LOD_MODE];
            TexGather         "TEX_GATHER"           =  0x129 [] T    Texture        I32  ALL   None [TEX_RESULT, TEX_PAYLOAD] [A64]           [] [SLOT, SKIP, REGISTER_TYPE, REGISTER_WIDTH, WRITE_MASK, DIMENSION, WIDE_INDICES, ARRAY_ENABLE, TEXEL_OFFSET, INTEGER_COORDINATES, FETCH_COMPONENT, SHADOW];
            TexDual           "TEX_DUAL"             =  0x12f [] T    Texture        I32  ALL   None [TEX_RESULT, TEX_PAYLOAD] [A64]           [] [SLOT, SKIP, REGISTER_TYPE, REGISTER_WIDTH, SECONDARY_WIDTH, WRITE_MASK, DIMENSION, WIDE_INDICES, ARRAY_ENABLE, TEXEL_OFFSET, SHADOW, LOD_MODE];
            VarTexBufSingle   "VAR_TEX_BUF_SINGLE"   =  0x130 [] Vt   VaryingTexture I32  ALL   None [VAR_TEX_RESULT]          [A64, B32_AT16] [] [SLOT, SKIP, SAMPLE_UPDATE, REGISTER_TYPE, VARYING_WIDTH, DIMENSION_VARYING, ARRAY_ENABLE, SHADOW, LOD_MODE];
            VarTexBufGather   "VAR_TEX_BUF_GATHER"   =  0x131 [] Vt   VaryingTexture I32  ALL   None [VAR_TEX_RESULT]          [A64, B32_AT16] [] [SLOT, SKIP, SAMPLE_UPDATE, REGISTER_TYPE, VARYING_WIDTH, DIMENSION_VARYING, ARRAY_ENABLE, INTEGER_COORDINATES, FETCH_COMPONENT, SHADOW];
            VarTexBufGradient "VAR_TEX_BUF_GRADIENT" =  0x132 [] Vt   VaryingTexture I32  ALL   None [VAR_TEX_RESULT]          [A64, B32_AT16] [] [SLOT, SKIP, SAMPLE_UPDATE, REGISTER_TYPE, VARYING_WIDTH, DIMENSION_VARYING, ARRAY_ENABLE, SHADOW, LOD_BIAS_DISABLE_AS_LOD_MODE, LOD_CLAMP_DISABLE_AS_LOD_MODE];
            VarTexBufDual     "VAR_TEX_BUF_DUAL"     =  0x137 [] Vt   VaryingTexture I32  ALL   None [VAR_TEX_RESULT]          [A64, B32_AT16] [] [SLOT, SKIP, SAMPLE_UPDATE, REGISTER_TYPE, VARYING_WIDTH, DIMENSION_VARYING, ARRAY_ENABLE, SHADOW, LOD_MODE];
            VarTexSingle      "VAR_TEX_SINGLE"       =  0x138 [] Vt   VaryingTexture I32  ALL   None [VAR_TEX_RESULT]          [A64, B32_AT16] [] [SLOT, SKIP, SAMPLE_UPDATE, REGISTER_TYPE, VARYING_WIDTH, DIMENSION_VARYING, ARRAY_ENABLE, SHADOW, LOD_MODE];
            VarTexGather      "VAR_TEX_GATHER"       =  0x139 [] Vt   VaryingTexture I32  ALL   None [VAR_TEX_RESULT]          [A64, B32_AT16] [] [SLOT, SKIP, SAMPLE_UPDATE, REGISTER_TYPE, VARYING_WIDTH, DIMENSION_VARYING, ARRAY_ENABLE, INTEGER_COORDINATES, FETCH_COMPONENT, SHADOW];
            VarTexGradient    "VAR_TEX_GRADIENT"     =  0x13a [] Vt   VaryingTexture I32  ALL   None [VAR_TEX_RESULT]          [A64, B32_AT16] [] [SLOT, SKIP, SAMPLE_UPDATE, REGISTER_TYPE, VARYING_WIDTH, DIMENSION_VARYING, ARRAY_ENABLE, SHADOW, LOD_BIAS_DISABLE_AS_LOD_MODE, LOD_CLAMP_DISABLE_AS_LOD_MODE];
            VarTexDual        "VAR_TEX_DUAL"         =  0x13f [] Vt   VaryingTexture I32  ALL   None [VAR_TEX_RESULT]          [A64, B32_AT16] [] [SLOT, SKIP, SAMPLE_UPDATE, REGISTER_TYPE, VARYING_WIDTH, DIMENSION_VARYING, ARRAY_ENABLE, SHADOW, LOD_MODE];
            TexGradient       "TEX_GRADIENT"         =  0x12a [] T    Texture        I32  ALL   None [TEX_RESULT, TEX_PAYLOAD] [A64]           [] [SLOT, SKIP, REGISTER_TYPE, REGISTER_WIDTH, WRITE_MASK, DIMENSION, WIDE_INDICES, LOD_BIAS_DISABLE, LOD_CLAMP_DISABLE, DERIVATIVE]                          .layout(Layout::Partial);
            TexWeights        "TEX_WEIGHTS"          -  0x126 [] T    Texture        None TO_V9 None []                        []              [] []                                                                                                                                                         .layout(Layout::OpcodeOnly);
        }
    };
}
pub(crate) use textures;
