//! Operations: the instructions that the compiler emits.
//!
//! What an instruction *is* (opcode, unit, modifiers, operand sizes, kind of message) stands in the tables of
//! `eitri-isa`; here is only which of them there are, by shorter names.
//! Facts: hardware/valhall-isa.md 9 and 11.

use eitri_isa::row::Kind;

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
    /// Tests what is left of a fragment, or says what it tests against.
    Test,
    /// Reads or writes the pixel in the tile.
    Pixel,
    /// No instruction at all: earlier accesses to its memory must have happened before later ones.
    Fence,
}

macro_rules! ops {
    ($($variant:ident $isa:ident,)*) => {
        /// An operation that the compiler can emit.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub(crate) enum Op {
            $($variant,)*
            /// Orders memory; `insert_waits` turns it into waits.
            Fence,
        }

        impl Op {
            /// Every instruction, in the order of the table.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Op] = &[$(Op::$variant,)* Op::Fence];

            /// The instruction; none for what is not one.
            pub(crate) fn isa(self) -> Option<eitri_isa::Op> {
                match self {
                    $(Op::$variant => Some(eitri_isa::Op::$isa),)*
                    Op::Fence => None,
                }
            }
        }
    };
}

#[rustfmt::skip]
ops! {
    // variant     instruction
    Nop            Nop,
    Mov            MovI32,
    Branchz        Branchz,

    FAdd           FaddF32,
    FAddImm        FaddImmF32,
    FMin           FminF32,
    FMax           FmaxF32,
    Fma            FmaF32,
    FAdd2          FaddV2f16,
    FMin2          FminV2f16,
    FMax2          FmaxV2f16,
    Fma2           FmaV2f16,
    FRound         FroundF32,
    LdExp          LdexpF32,
    FRcp           FrcpF32,
    FRsq           FrsqF32,
    FmaRscale      FmaRscaleF32,
    FAddLscale     FaddLscaleF32,
    FrexpM         FrexpmF32,
    FrexpE         FrexpeF32,
    FLogD          FlogdF32,
    FExp           FexpF32,
    FSinTable      FsinTableU6,
    FCosTable      FcosTableU6,

    FCmpOr         FcmpOrF32,
    FCmpAnd        FcmpAndF32,
    ICmpOrU        IcmpOrU32,
    ICmpAndU       IcmpAndU32,
    ICmpOrS        IcmpOrS32,
    ICmpAndS       IcmpAndS32,
    ICmpOrU2       IcmpOrV2u16,
    ICmpOrS2       IcmpOrV2s16,
    CselF          CselF32,
    CselU          CselU32,
    CselS          CselS32,
    CselU2         CselV2u16,
    CselS2         CselV2s16,
    Mux            MuxI32,

    IAdd           IaddU32,
    IAddS          IaddS32,
    IAdd2          IaddV2u16,
    IAdd64U        IaddU64,
    IAdd64S        IaddS64,
    ISub64U        IsubU64,
    ShAddXS        ShaddxS64,
    ShAddXU        ShaddxU64,
    IAddImm        IaddImmI32,
    ISub           IsubU32,
    ISubS          IsubS32,
    ISub2          IsubV2u16,
    IMul           ImulI32,
    IMulS          ImulS32,
    IMul2          ImulV2i16,
    IMulD          ImuldU64,
    IAbs           IabsS32,
    IAbs2          IabsV2s16,
    DotS           IdpV4s8,
    DotU           IdpV4u8,
    Clz            ClzU32,
    PopCount       PopcountI32,
    BitRev         BitrevI32,
    LShiftAnd      LshiftAndI32,
    LShiftOr       LshiftOrI32,
    LShiftXor      LshiftXorI32,
    RShiftAnd      RshiftAndI32,
    RShiftOr       RshiftOrI32,
    RShiftXor      RshiftXorI32,
    ARShiftAnd     ArshiftAndI32,
    ARShiftOr      ArshiftOrI32,
    ARShiftXor     ArshiftXorI32,
    LShiftOr2      LshiftOrV2i16,
    RShiftOr2      RshiftOrV2i16,
    ARShiftOr2     ArshiftOrV2i16,
    LRotAnd        LrotAndI32,
    LRotOr         LrotOrI32,
    LRotXor        LrotXorI32,

    F32ToS32       F32ToS32,
    F32ToU32       F32ToU32,
    S32ToF32       S32ToF32,
    U32ToF32       U32ToF32,
    F16ToF32       F16ToF32,
    V2F32ToV2F16   V2f32ToV2f16,
    MkVec          MkvecV2i16,
    U16ToU32       U16ToU32,
    U16ToF32       U16ToF32,
    S16ToS32       S16ToS32,
    S16ToF32       S16ToF32,
    U8ToU32        U8ToU32,
    U8ToF32        U8ToF32,
    S8ToS32        S8ToS32,
    S8ToF32        S8ToF32,

    Clper          ClperI32,
    Wmask          Wmask,
    LdBuffer8      LdBufferI8,
    LdBuffer16     LdBufferI16,
    LdBuffer32     LdBufferI32,
    LdBuffer64     LdBufferI64,
    LdBuffer96     LdBufferI96,
    LdBuffer128    LdBufferI128,
    LeaPka         LeaPka,
    Load8          LoadI8,
    Load16         LoadI16,
    Load32         LoadI32,
    Load64         LoadI64,
    Load96         LoadI96,
    Load128        LoadI128,
    Store8         StoreI8,
    Store16        StoreI16,
    Store32        StoreI32,
    Store48        StoreI48,
    Store64        StoreI64,
    Store96        StoreI96,
    Store128       StoreI128,
    Atom           AtomI32,
    AtomReturn     AtomReturnI32,
    Atom1Return    Atom1ReturnI32,
    Atom64         AtomI64,
    AtomReturn64   AtomReturnI64,
    Atom1Return64  Atom1ReturnI64,
    Barrier        Barrier,

    LeaBuf         LeaBuf,
    LdCvt          LdCvt,
    StCvt          StCvt,
    LeaTex         LeaTex,
    LdTex          LdTex,
    TexFetch       TexFetch,
    TexSingle      TexSingle,
    TexGather      TexGather,
    TexGradient    TexGradient,
    LdAttrImm      LdAttrImm,
    LeaBufImm      LeaBufImm,
    LdVar32        LdVarBufImmF32,
    LdVarAt32      LdVarBufF32,
    LdVar16        LdVarBufImmF16,
    LdVarAt16      LdVarBufF16,
    LdVarSpecial   LdVarSpecial,
    Discard        DiscardF32,
    Atest          Atest,
    ZsEmit         ZsEmit,
    Blend          Blend,
    LdTile         LdTile,
    Branchzi       Branchzi,
    CubeFace1      Cubeface1,
    CubeFace2      Cubeface2,
    CubeSsel       CubeSsel,
    CubeTsel       CubeTsel,
}

impl Op {
    /// The assembler's name.
    pub(crate) fn mnemonic(self) -> &'static str {
        self.isa().map_or("FENCE", eitri_isa::Op::name)
    }

    /// What the instruction asks of a unit outside the execution engine.
    pub(crate) fn message(self) -> Message {
        let Some(op) = self.isa() else {
            return Message::Fence;
        };
        match op.row().kind {
            // Loads of images, and what reads textures.
            Kind::Load | Kind::Attribute | Kind::Varying | Kind::Texture => Message::Load,
            Kind::Store => Message::Store,
            Kind::Atomic => Message::Atomic,
            Kind::Address => Message::Address,
            Kind::Barrier => Message::Barrier,
            Kind::Coverage => Message::Test,
            Kind::Blend | Kind::TileLoad => Message::Pixel,
            Kind::Nop | Kind::Alu | Kind::CrossLane | Kind::Branch | Kind::Discard => Message::No,
            // The table above has none of these.
            Kind::VaryingTexture | Kind::TileStore | Kind::Clock | Kind::System => Message::No,
        }
    }

    /// True when an instruction may not be removed though nobody reads what it writes.
    pub(crate) fn has_effect(self) -> bool {
        match self.message() {
            Message::Store
            | Message::Atomic
            | Message::Barrier
            | Message::Test
            | Message::Pixel
            | Message::Fence => true,
            Message::No => matches!(self, Op::Branchz | Op::Branchzi | Op::Discard),
            Message::Address | Message::Load => false,
        }
    }

    /// Whether it loads a varying: all that do share a hidden register, which says where the last one was interpolated.
    pub(crate) fn is_varying(self) -> bool {
        matches!(
            self,
            Op::LdVar32 | Op::LdVarAt32 | Op::LdVar16 | Op::LdVarAt16 | Op::LdVarSpecial
        )
    }

    /// Whether nothing may pass it, because it changes which lanes still count or what becomes of their pixel.
    pub(crate) fn is_pinned(self) -> bool {
        matches!(self.message(), Message::Test | Message::Pixel) || self == Op::Discard
    }

    /// True when moving or merging it across other control flow would change its result.
    pub(crate) fn is_cross_lane(self) -> bool {
        self.isa()
            .is_some_and(|op| op.row().kind == Kind::CrossLane)
    }
}
