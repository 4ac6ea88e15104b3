//! Rows: moves and packing.
//!
//! Facts: hardware/valhall-isa.md section 9.1.

#[rustfmt::skip]
macro_rules! moves {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name          26 op    secondary unit kind type  archs dest    sources                             modifiers
            MovI32        "MOV.i32"     =  0x091 [r1(0x0)] Cvt  Alu  I32   ALL   Word [] [A32]                            [] [];
            MkvecV2i16    "MKVEC.v2i16" =  0x0a1 [r2(0x5)] Cvt  Alu  V2i16 ALL   Word [] [A16_PAIR, B16_PAIR]             [] [];
            MkvecV2i8     "MKVEC.v2i8"  =  0x0bd []        Cvt  Alu  V2i8  ALL   Word [] [A8_BYTE_HIGH, B8_BYTE_HIGH, C8] [] [];
        }
    };
}
pub(crate) use moves;
