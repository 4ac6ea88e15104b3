//! Rows: flow, discard, barrier, and instructions of the system.
//!
//! Facts: hardware/valhall-isa.md sections 6, 11.12 and 12.

#[rustfmt::skip]
macro_rules! control {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name          26 op       unit kind    type archs dest    sources              immediates      modifiers
            Nop           "NOP"         =  0x000 [] Cvt  Nop     None ALL   None [] []                   []              [];
            Branchz       "BRANCHZ"     =  0x01f [] Cvt  Branch  I32  ALL   None [] [A32_TEST]           [BRANCH_OFFSET] [CONSERVATIVE, EQ];
            DiscardF32    "DISCARD.f32" =  0x020 [] Cvt  Discard F32  ALL   None [] [AF32_N_W, BF32_N_W] []              [CONDITION];
            Branchzi      "BRANCHZI"    =  0x02f [] Cvt  Branch  I32  ALL   None [] [A32_TEST, B32]      []              [CONSERVATIVE, EQ, ABSOLUTE];
            Barrier       "BARRIER"     =  0x045 [] None Barrier None ALL   None [] []                   []              [SLOT7];
            JumpEx        "JUMP_EX"     -  0x03f [] Cvt  Branch  I32  ALL   None [] [A32_TEST, B32, C32] []              [DIVERGE, STACK_MODE, CONSERVATIVE, NOT];
            Doorbell      "DOORBELL"    -  0x004 [] None System  None ALL   None [] []                   []              [];
            Eureka        "EUREKA"      -  0x005 [] None System  None ALL   None [] []                   []              [];
            Kaboom        "KABOOM"      -  0x006 [] None System  None ALL   None [] []                   []              [];
        }
    };
}
pub(crate) use control;
