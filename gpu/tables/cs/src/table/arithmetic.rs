//! Arithmetic: additions and minimum everywhere, logic from v11, the rest on v13.
//!
//! The opcodes of v13 have a second opcode; additions and UMIN32 are number 0 of theirs, so their words are the same on
//! all architectures.  Facts: hardware/command-stream.md 3.1.

#[rustfmt::skip]
macro_rules! arithmetic { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// `s + immediate`. With 0 it is the register move of v10.
    ADD_IMM32      AddImm32    0x10 ALL Arithmetic Inline { destination = to32; source = from32; immediate = signed; }
        "ADD_IMMEDIATE32 r{destination}, r{source}, #{immediate}" .text_on(on::V13, "ADD_IMM32 r{destination}, r{source}, #{%imm32}") .arith_imm32(0);
    /// `s << shift_amount`.
    LSHIFT_IMM32   LshiftImm32 0x10 V13 Arithmetic Inline { destination = to32; source = from32; shift_amount = shift5; }
        "LSHIFT_IMM32 r{destination}, r{source}, #{%imm32}" .arith_imm32(1);
    /// `s >> shift_amount`, zeros in.
    RSHIFT_IMM_U32 RshiftImmU32 0x10 V13 Arithmetic Inline { destination = to32; source = from32; shift_amount = shift5; }
        "RSHIFT_IMM_U32 r{destination}, r{source}, #{%imm32}" .arith_imm32(2);
    /// `s >> shift_amount`, sign in.
    RSHIFT_IMM_S32 RshiftImmS32 0x10 V13 Arithmetic Inline { destination = to32; source = from32; shift_amount = shift5; }
        "RSHIFT_IMM_S32 r{destination}, r{source}, #{%imm32}" .arith_imm32(3);
    /// Bits `position + width - 1` to `position` of s, zero-extended.
    BFEXT_U32      BfextU32    0x10 V13 Arithmetic Inline { destination = to32; source = from32; position; width; }
        "BFEXT_U32 r{destination}, r{source}, #{%imm32}" .arith_imm32(4);
    /// Bits `position + width - 1` to `position` of s, sign-extended.
    BFEXT_S32      BfextS32    0x10 V13 Arithmetic Inline { destination = to32; source = from32; position; width; }
        "BFEXT_S32 r{destination}, r{source}, #{%imm32}" .arith_imm32(5);
    /// s with `width` bits at `position` replaced by the low bits of `imm`.
    BFINS_IMM32    BfinsImm32  0x10 V13 Arithmetic Inline { destination = to32; source = from32; position; width; imm; }
        "BFINS_IMM32 r{destination}, r{source}, #{%imm32}" .arith_imm32(6);
    /// The unsigned minimum of s and `immediate`.
    UMIN_IMM32     UminImm32   0x10 V13 Arithmetic Inline { destination = to32; source = from32; immediate = unsigned; }
        "UMIN_IMM32 r{destination}, r{source}, #{%imm32}" .arith_imm32(7);

    /// `s + immediate`, the immediate sign-extended. With 0 it is the move of a pair.
    ADD_IMM64      AddImm64    0x11 ALL Arithmetic Inline { destination = to64; source = from64; immediate = signed; }
        "ADD_IMMEDIATE64 d{destination}, d{source}, #{immediate}" .text_on(on::V13, "ADD_IMM64 d{destination}, d{source}, #{%imm32}") .arith_imm64(0);
    /// `s << shift_amount`.
    LSHIFT_IMM64   LshiftImm64 0x11 V13 Arithmetic Inline { destination = to64; source = from64; shift_amount = shift6; }
        "LSHIFT_IMM64 d{destination}, d{source}, #{%imm32}" .arith_imm64(1);
    /// `s >> shift_amount`, zeros in.
    RSHIFT_IMM_U64 RshiftImmU64 0x11 V13 Arithmetic Inline { destination = to64; source = from64; shift_amount = shift6; }
        "RSHIFT_IMM_U64 d{destination}, d{source}, #{%imm32}" .arith_imm64(2);
    /// `s >> shift_amount`, sign in.
    RSHIFT_IMM_S64 RshiftImmS64 0x11 V13 Arithmetic Inline { destination = to64; source = from64; shift_amount = shift6; }
        "RSHIFT_IMM_S64 d{destination}, d{source}, #{%imm32}" .arith_imm64(3);
    /// Bits `position + width - 1` to `position` of s, zero-extended.
    BFEXT_U64      BfextU64    0x11 V13 Arithmetic Inline { destination = to64; source = from64; position; width; }
        "BFEXT_U64 d{destination}, d{source}, #{%imm32}" .arith_imm64(4);
    /// Bits `position + width - 1` to `position` of s, sign-extended.
    BFEXT_S64      BfextS64    0x11 V13 Arithmetic Inline { destination = to64; source = from64; position; width; }
        "BFEXT_S64 d{destination}, d{source}, #{%imm32}" .arith_imm64(5);
    /// s with `width` bits at `position` replaced by the low bits of `imm`.
    BFINS_IMM64    BfinsImm64  0x11 V13 Arithmetic Inline { destination = to64; source = from64; position; width; imm; }
        "BFINS_IMM64 d{destination}, d{source}, #{%imm32}" .arith_imm64(6);
    /// The unsigned minimum of s and `immediate`.
    UMIN_IMM64     UminImm64   0x11 V13 Arithmetic Inline { destination = to64; source = from64; immediate = unsigned; }
        "UMIN_IMM64 d{destination}, d{source}, #{%imm32}" .arith_imm64(7);

    /// The unsigned minimum of a and b. v10 to v12 call the opcode COMPARE_SELECT32 and define only this use.
    UMIN32         Umin32      0x12 ALL Arithmetic Inline { destination = to32; source_1 = b32; source_0 = a32; }
        "UMIN32 r{destination}, r{source_1}, r{source_0}" .arith_reg32(0);
    /// `a + b`.
    ADD32          Add32       0x12 V13 Arithmetic Inline { destination = to32; source_1 = b32; source_0 = a32; }
        "ADD32 r{destination}, r{source_1}, r{source_0}" .arith_reg32(1);
    /// `a - b`.
    SUB32          Sub32       0x12 V13 Arithmetic Inline { destination = to32; source_1 = b32; source_0 = a32; }
        "SUB32 r{destination}, r{source_1}, r{source_0}" .arith_reg32(2);
    /// `a << b`.
    LSHIFT32       Lshift32    0x12 V13 Arithmetic Inline { destination = to32; source_1 = b32; source_0 = a32; }
        "LSHIFT32 r{destination}, r{source_1}, r{source_0}" .arith_reg32(3);
    /// `a >> b`, zeros in.
    RSHIFT_U32     RshiftU32   0x12 V13 Arithmetic Inline { destination = to32; source_1 = b32; source_0 = a32; }
        "RSHIFT_U32 r{destination}, r{source_1}, r{source_0}" .arith_reg32(4);
    /// `a >> b`, sign in.
    RSHIFT_S32     RshiftS32   0x12 V13 Arithmetic Inline { destination = to32; source_1 = b32; source_0 = a32; }
        "RSHIFT_S32 r{destination}, r{source_1}, r{source_0}" .arith_reg32(5);
    /// a with `width` bits at `position` replaced by the low bits of b.
    BFINS32        Bfins32     0x12 V13 Arithmetic Inline { destination = to32; source_1 = b32; source_0 = a32; position; width; }
        "BFINS32 r{destination}, r{source_1}, r{source_0}" .arith_reg32(6);

    /// The unsigned minimum of a and b.
    UMIN64         Umin64      0x39 V13 Arithmetic Inline { destination = to64; source_1 = b64; source_0 = a64; }
        "UMIN64 d{destination}, d{source_1}, d{source_0}" .arith_reg64(0);
    /// `a + b`.
    ADD64          Add64       0x39 V13 Arithmetic Inline { destination = to64; source_1 = b64; source_0 = a64; }
        "ADD64 d{destination}, d{source_1}, d{source_0}" .arith_reg64(1);
    /// `a - b`.
    SUB64          Sub64       0x39 V13 Arithmetic Inline { destination = to64; source_1 = b64; source_0 = a64; }
        "SUB64 d{destination}, d{source_1}, d{source_0}" .arith_reg64(2);
    /// `a << b`.
    LSHIFT64       Lshift64    0x39 V13 Arithmetic Inline { destination = to64; source_1 = b64; source_0 = a64; }
        "LSHIFT64 d{destination}, d{source_1}, d{source_0}" .arith_reg64(3);
    /// `a >> b`, zeros in.
    RSHIFT_U64     RshiftU64   0x39 V13 Arithmetic Inline { destination = to64; source_1 = b64; source_0 = a64; }
        "RSHIFT_U64 d{destination}, d{source_1}, d{source_0}" .arith_reg64(4);
    /// `a >> b`, sign in.
    RSHIFT_S64     RshiftS64   0x39 V13 Arithmetic Inline { destination = to64; source_1 = b64; source_0 = a64; }
        "RSHIFT_S64 d{destination}, d{source_1}, d{source_0}" .arith_reg64(5);
    /// a with `width` bits at `position` replaced by the low bits of b.
    BFINS64        Bfins64     0x39 V13 Arithmetic Inline { destination = to64; source_1 = b64; source_0 = a64; position; width; }
        "BFINS64 d{destination}, d{source_1}, d{source_0}" .arith_reg64(6);

    /// Any logic operation of a and b, bit by bit: `mode` is its truth table.
    LOGIC_OP32     LogicOp32   0x13 FROM_V11 Arithmetic Inline {
        destination = to32; source_0 = a32; source_1 = b32;
        mode:        LogicOp[3:0]    "the truth table";
        index:       LogicIndex[4]   "whether b is source 1 or the bit that it numbers";
    } "LOGIC_OP32.{mode} r{destination}, r{source_0}, r{source_1}.{index}";

} } } }
pub(crate) use arithmetic;
