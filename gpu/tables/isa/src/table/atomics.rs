//! Rows: atomics.
//!
//! Facts: hardware/valhall-isa.md section 11.11.

#[rustfmt::skip]
macro_rules! atomics {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction  name               26 op    secondary               unit kind   type archs dest staging                                sources immediates modifiers
            Atom1ReturnI32 "ATOM1_RETURN.i32" =  0x069 [width(0x3), at46(0x2)] Ls   Atomic I32  ALL   None [ATOM1_RESULT_I32]                     [A64]   [OFFSET8]  [SLOT, ATOMIC_OP1];
            Atom1ReturnI64 "ATOM1_RETURN.i64" =  0x069 [width(0x5), at46(0x2)] Ls   Atomic I64  ALL   None [ATOM1_RESULT_I64]                     [A64]   [OFFSET8]  [SLOT, ATOMIC_OP1];
            Atom1I32       "ATOM1.i32"        -  0x069 [width(0x3), at46(0x1)] Ls   Atomic I32  ALL   None []                                     [A64]   [OFFSET8]  [SLOT, ATOMIC_OP1]           .no_placeholder();
            Atom1I64       "ATOM1.i64"        -  0x069 [width(0x5), at46(0x1)] Ls   Atomic I64  ALL   None []                                     [A64]   [OFFSET8]  [SLOT, ATOMIC_OP1]           .no_placeholder();
            AtomI32        "ATOM.i32"         =  0x068 [width(0x3)]            Ls   Atomic I32  ALL   None [ATOM_OPERAND_I32]                     [A64]   [OFFSET8]  [SLOT, ATOMIC_OP32_QUIET];
            AtomI64        "ATOM.i64"         =  0x068 [width(0x5)]            Ls   Atomic I64  ALL   None [ATOM_OPERAND_I64]                     [A64]   [OFFSET8]  [SLOT, ATOMIC_OP64_QUIET];
            AtomReturnI32  "ATOM_RETURN.i32"  =  0x120 [width(0x3)]            Ls   Atomic I32  ALL   None [ATOM_RESULT_I32, ATOM_OPERAND_RW_I32] [A64]   [OFFSET8]  [SLOT, COMPARE, ATOMIC_OP32];
            AtomReturnI64  "ATOM_RETURN.i64"  =  0x120 [width(0x5)]            Ls   Atomic I64  ALL   None [ATOM_RESULT_I64, ATOM_OPERAND_RW_I64] [A64]   [OFFSET8]  [SLOT, COMPARE, ATOMIC_OP64];
        }
    };
}
pub(crate) use atomics;
