//! Rows: the tile buffer and fragment output.
//!
//! Facts: hardware/valhall-isa.md sections 11.8 and 11.9.

#[rustfmt::skip]
macro_rules! tile {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name      26 op       unit kind      type archs dest staging    sources           immediates modifiers
            LdTile        "LD_TILE" =  0x078 [] None TileLoad  I32  ALL   None [W_VECTOR] [A32, B32, C32]   []         [VECTOR_SIZE, REGISTER_FORMAT, SLOT, Z_STENCIL, Z_LAST_READ];
            StTile        "ST_TILE" =  0x079 [] None TileStore I32  ALL   None [R_VECTOR] [A32, B32, C32]   []         [VECTOR_SIZE, REGISTER_FORMAT, SLOT];
            Blend         "BLEND"   =  0x07f [] None Blend     I32  ALL   None [R_BLEND]  [A64, B32_AT16]   [TARGET]   [SLOT, VECTOR_SIZE_4, REGISTER_FORMAT];
            Atest         "ATEST"   =  0x07d [] None Coverage  I32  ALL   None [W1]       [A32, B32_W, C32] []         [];
            ZsEmit        "ZS_EMIT" =  0x07e [] None Coverage  I32  ALL   None [W1]       [A32, B32, C32]   []         [Z, STENCIL, SLOT0];
        }
    };
}
pub(crate) use tile;
