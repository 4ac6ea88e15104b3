//! Rows: attributes and images.
//!
//! Facts: hardware/valhall-isa.md section 11.5.

#[rustfmt::skip]
macro_rules! attributes {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name           26 op    secondary   unit kind      type archs dest staging    sources         immediates               modifiers
            LdAttrImm     "LD_ATTR_IMM"  =  0x066 [at37(0x0)] Ls   Attribute I32  ALL   None [W_VECTOR] [A32, B32]      [INDEX_AT20, TABLE_AT16] [VECTOR_SIZE, REGISTER_FORMAT, SLOT];
            LdAttr        "LD_ATTR"      =  0x076 [at37(0x0)] Ls   Attribute I32  ALL   None [W_VECTOR] [A32, B32, C32] []                       [VECTOR_SIZE, REGISTER_FORMAT, SLOT];
            LdTexImm      "LD_TEX_IMM"   =  0x066 [at37(0x1)] Ls   Attribute I32  ALL   None [W_VECTOR] [A32, B32]      [INDEX_AT20, TABLE_AT16] [VECTOR_SIZE, REGISTER_FORMAT, SLOT];
            LdTex         "LD_TEX"       =  0x076 [at37(0x1)] Ls   Attribute I32  ALL   None [W_VECTOR] [A32, B32, C32] []                       [VECTOR_SIZE, REGISTER_FORMAT, SLOT];
            LeaAttrImm    "LEA_ATTR_IMM" =  0x067 [at37(0x0)] Ls   Address   I32  ALL   None [W3]       [A32, B32]      [TABLE_AT16, INDEX_AT20] [SLOT];
            LeaAttr       "LEA_ATTR"     =  0x077 [at37(0x0)] Ls   Address   I32  ALL   None [W3]       [A32, B32, C32] []                       [VECTOR_SIZE_24, SLOT];
            LeaTexImm     "LEA_TEX_IMM"  =  0x067 [at37(0x1)] Ls   Address   I32  ALL   None [W3]       [A32, B32]      [TABLE_AT16, INDEX_AT20] [SLOT];
            LeaTex        "LEA_TEX"      =  0x077 [at37(0x1)] Ls   Address   I32  ALL   None [W3]       [A16, B32, C32] []                       [VECTOR_SIZE_24, SLOT];
        }
    };
}
pub(crate) use attributes;
