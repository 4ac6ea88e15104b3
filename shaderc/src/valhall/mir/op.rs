//! Operations: the instructions that the compiler emits, by their mnemonics.
//!
//! What an instruction *is* (opcode, unit, modifiers, operand sizes) stands in the tables of `eitri-isa`; here is only
//! what the passes decide by.  Facts: hardware/valhall-isa.md 9 and 11.

/// What a message does; the waits that it needs follow from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Message {
    /// Not a message: the result is there for the next instruction.
    No,
    /// Computes an address, touches no memory.
    Address,
    Load,
    Store,
    /// Reads and writes.
    Atomic,
    Barrier,
    /// No instruction at all: earlier accesses must have happened before later ones.
    Fence,
}

macro_rules! ops {
    ($($variant:ident $mnemonic:literal $message:ident,)*) => {
        /// An operation that the compiler can emit.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub(crate) enum Op { $($variant,)* }

        impl Op {
            /// Every operation, in the order of the table.
            pub(crate) const ALL: &'static [Op] = &[$(Op::$variant,)*];

            /// The assembler's name.
            pub(crate) fn mnemonic(self) -> &'static str {
                match self { $(Op::$variant => $mnemonic,)* }
            }

            /// What the instruction asks of a unit outside the execution engine.
            pub(crate) fn message(self) -> Message {
                match self { $(Op::$variant => Message::$message,)* }
            }
        }
    };
}

#[rustfmt::skip]
ops! {
    // variant     mnemonic            message
    Nop            "NOP"               No,
    Mov            "MOV.i32"           No,
    Branchz        "BRANCHZ"           No,

    FAdd           "FADD.f32"          No,
    FAddImm        "FADD_IMM.f32"      No,
    FMin           "FMIN.f32"          No,
    FMax           "FMAX.f32"          No,
    Fma            "FMA.f32"           No,
    FRound         "FROUND.f32"        No,
    LdExp          "LDEXP.f32"         No,
    FRcp           "FRCP.f32"          No,
    FRsq           "FRSQ.f32"          No,
    FmaRscale      "FMA_RSCALE.f32"    No,
    FAddLscale     "FADD_LSCALE.f32"   No,
    FrexpM         "FREXPM.f32"        No,
    FrexpE         "FREXPE.f32"        No,
    FLogD          "FLOGD.f32"         No,
    FExp           "FEXP.f32"          No,
    FSinTable      "FSIN_TABLE.u6"     No,
    FCosTable      "FCOS_TABLE.u6"     No,

    FCmpOr         "FCMP_OR.f32"       No,
    FCmpAnd        "FCMP_AND.f32"      No,
    ICmpOrU        "ICMP_OR.u32"       No,
    ICmpAndU       "ICMP_AND.u32"      No,
    ICmpOrS        "ICMP_OR.s32"       No,
    ICmpAndS       "ICMP_AND.s32"      No,
    CselF          "CSEL.f32"          No,
    CselU          "CSEL.u32"          No,
    CselS          "CSEL.s32"          No,
    Mux            "MUX.i32"           No,

    IAdd           "IADD.u32"          No,
    IAddS          "IADD.s32"          No,
    IAdd64S        "IADD.s64"          No,
    ShAddXS        "SHADDX.s64"        No,
    IAddImm        "IADD_IMM.i32"      No,
    ISub           "ISUB.u32"          No,
    ISubS          "ISUB.s32"          No,
    IMul           "IMUL.i32"          No,
    IMulD          "IMULD.u64"         No,
    IAbs           "IABS.s32"          No,
    DotS           "IDP.v4s8"          No,
    DotU           "IDP.v4u8"          No,
    Clz            "CLZ.u32"           No,
    PopCount       "POPCOUNT.i32"      No,
    BitRev         "BITREV.i32"        No,
    LShiftAnd      "LSHIFT_AND.i32"    No,
    LShiftOr       "LSHIFT_OR.i32"     No,
    LShiftXor      "LSHIFT_XOR.i32"    No,
    RShiftAnd      "RSHIFT_AND.i32"    No,
    RShiftOr       "RSHIFT_OR.i32"     No,
    RShiftXor      "RSHIFT_XOR.i32"    No,
    ARShiftAnd     "ARSHIFT_AND.i32"   No,
    ARShiftOr      "ARSHIFT_OR.i32"    No,
    ARShiftXor     "ARSHIFT_XOR.i32"   No,
    LRotAnd        "LROT_AND.i32"      No,
    LRotOr         "LROT_OR.i32"       No,
    LRotXor        "LROT_XOR.i32"      No,

    F32ToS32       "F32_TO_S32"        No,
    F32ToU32       "F32_TO_U32"        No,
    S32ToF32       "S32_TO_F32"        No,
    U32ToF32       "U32_TO_F32"        No,
    F16ToF32       "F16_TO_F32"        No,
    V2F32ToV2F16   "V2F32_TO_V2F16"    No,
    U16ToU32       "U16_TO_U32"        No,
    S16ToS32       "S16_TO_S32"        No,
    U8ToU32        "U8_TO_U32"         No,
    S8ToS32        "S8_TO_S32"         No,
    U16ToF32       "U16_TO_F32"        No,
    U8ToF32        "U8_TO_F32"         No,
    MkVec16        "MKVEC.v2i16"       No,
    MkVec8         "MKVEC.v2i8"        No,

    Clper          "CLPER.i32"         No,
    Wmask          "WMASK"             No,

    LdBuffer8      "LD_BUFFER.i8"      Load,
    LdBuffer16     "LD_BUFFER.i16"     Load,
    LdBuffer32     "LD_BUFFER.i32"     Load,
    LdBuffer64     "LD_BUFFER.i64"     Load,
    LdBuffer96     "LD_BUFFER.i96"     Load,
    LdBuffer128    "LD_BUFFER.i128"    Load,
    LeaPka         "LEA_PKA"           Address,
    Load8          "LOAD.i8"           Load,
    Load16         "LOAD.i16"          Load,
    Load32         "LOAD.i32"          Load,
    Load64         "LOAD.i64"          Load,
    Load96         "LOAD.i96"          Load,
    Load128        "LOAD.i128"         Load,
    Store8         "STORE.i8"          Store,
    Store16        "STORE.i16"         Store,
    Store32        "STORE.i32"         Store,
    Store64        "STORE.i64"         Store,
    Store96        "STORE.i96"         Store,
    Store128       "STORE.i128"        Store,
    Atom           "ATOM.i32"          Atomic,
    AtomReturn     "ATOM_RETURN.i32"   Atomic,
    Atom1Return    "ATOM1_RETURN.i32"  Atomic,
    Barrier        "BARRIER"           Barrier,
    Fence          "FENCE"             Fence,
}

impl Op {
    /// The operation with this name.
    pub(crate) fn from_mnemonic(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.mnemonic() == name)
    }

    /// True when an instruction may not be removed though nobody reads what it writes.
    pub(crate) fn has_effect(self) -> bool {
        match self.message() {
            Message::Store | Message::Atomic | Message::Barrier | Message::Fence => true,
            Message::No => matches!(self, Op::Branchz),
            Message::Address | Message::Load => false,
        }
    }

    /// True when moving or merging it across other control flow would change its result.
    pub(crate) fn is_cross_lane(self) -> bool {
        matches!(self, Op::Clper | Op::Wmask)
    }
}
