//! Moves: nothing, and constants into registers.
//!
//! Facts: hardware/command-stream.md 3.1.

#[rustfmt::skip]
macro_rules! moves { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// Does nothing; tools store notes in the payload.
    NOP Nop 0x00 ALL NoOp Inline {
        ignored:     u64[55:0]   "any bits";
    } "NOP{ignored? // 0x{ignored:X}}";

    /// Loads a pair with a constant; bits 63:48 become 0.
    MOVE48 Move48 0x01 ALL Move Inline {
        destination = to64;
        immediate:   u64[47:0]   "the constant";
    } "MOVE48 d{destination}, #{immediate:#X}" .text24("MOVE d{destination}, #{immediate:#X}");

    /// Loads a register with a constant; the other half of its pair stays.
    MOVE32 Move32 0x02 ALL Move Inline {
        destination = to32;
        immediate:   u32[31:0]   "the constant";
    } "MOVE32 r{destination}, #{immediate:#X}";

} } } }
pub(crate) use moves;
