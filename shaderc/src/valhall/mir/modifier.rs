//! Modifiers: the dot-separated words of an instruction, and its flow.
//!
//! Facts: hardware/valhall-isa.md 6 (flow), 8.2 (clamp, round), 9 (the rest).

use eitri_isa::values::{
    AtomicOp, AtomicOp1, Clamp, Condition, Dimension, FetchComponent, FrexpScale, LaneOp, LoadLane,
    LodMode, MemoryAccess, Mux, RegisterFormat, RegisterType, RegisterWidth, ResultType, RoundMode,
    SampleMode, SourceFormat, SubgroupSize, UpdateMode, VectorSize, WriteMask,
};
use eitri_isa::{EncodeError, Flag};

/// Defines the modifiers: name, word in MIR text, and how `eitri-isa` is told.
macro_rules! modifiers {
    ($($name:ident $text:literal |$to:ident| $set:expr;)*) => {
        /// Word on an instruction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub(crate) enum Modifier { $($name,)* }

        impl Modifier {
            /// The word in MIR text.
            pub(crate) fn text(self) -> &'static str {
                match self { $(Modifier::$name => $text,)* }
            }

            /// The modifier with this word.
            #[cfg(test)]
            pub(crate) fn from_text(text: &str) -> Option<Modifier> {
                match text { $($text => Some(Modifier::$name),)* _ => None }
            }

            /// Sets it on an instruction of the hardware.
            pub(crate) fn set(self, instr: &mut eitri_isa::Instr) -> Result<(), EncodeError> {
                match self { $(Modifier::$name => { let $to = instr; $set })* }
            }
        }
    };
}

#[rustfmt::skip]
modifiers! {
    // Result of a float operation.
    Clamp01     "clamp_0_1"   |to| to.set(Clamp::ZeroOne);
    ClampM11    "clamp_m1_1"  |to| to.set(Clamp::MinusOneOne);
    // As binary16, in both halves of the destination; `pack` says so with the register.
    Narrow      "h01"         |_to| Ok(());
    // Rounding; nearest-even is no word.
    RoundUp     "rtp"         |to| to.set(RoundMode::Rtp);
    RoundDown   "rtn"         |to| to.set(RoundMode::Rtn);
    RoundZero   "rtz"         |to| to.set(RoundMode::Rtz);
    // Condition of a compare or select; `Eq` of a branch too, where it is a flag.
    Eq          "eq"          |to| to.set(Condition::Eq).or_else(|_| to.set_flag(Flag::Eq, true));
    Gt          "gt"          |to| to.set(Condition::Gt);
    Ge          "ge"          |to| to.set(Condition::Ge);
    Ne          "ne"          |to| to.set(Condition::Ne);
    Lt          "lt"          |to| to.set(Condition::Lt);
    // Result of a compare.
    ResultInt   "i1"          |to| to.set(ResultType::I1);
    ResultFloat "f1"          |to| to.set(ResultType::F1);
    ResultMask  "m1"          |to| to.set(ResultType::M1);
    MuxBit      "bit"         |to| to.set(Mux::Bit);
    // Reduction of FREXP.
    FrexpLog    "log"         |to| to.set(FrexpScale::Log);
    // Which lane.
    LaneXor     "xor"         |to| to.set(LaneOp::Xor);
    OfQuad      "subgroup4"   |to| to.set(SubgroupSize::Lanes4);
    // Memory.
    Force       "force"       |to| to.set(MemoryAccess::Force);
    ToWord      "w0"          |to| to.set(LoadLane::W0);
    Unsigned    "unsigned"    |to| to.set_flag(Flag::Unsigned, true);
    Compare     "compare"     |to| to.set_flag(Flag::Compare, true);
    ToPositions "istream"     |to| to.set(MemoryAccess::Istream);
    ToVaryings  "estream"     |to| to.set(MemoryAccess::Estream);
    // Converted accesses, attributes and colours.
    AutoFormat  "auto"        |to| to.set(RegisterFormat::Auto);
    FormatF32   "f32"         |to| to.set(RegisterFormat::F32);
    FormatF16   "f16"         |to| to.set(RegisterFormat::F16);
    FormatS32   "s32"         |to| to.set(RegisterFormat::S32);
    FormatU32   "u32"         |to| to.set(RegisterFormat::U32);
    Vector1     "v1"          |to| to.set(VectorSize::V1);
    Vector2     "v2"          |to| to.set(VectorSize::V2);
    Vector3     "v3"          |to| to.set(VectorSize::V3);
    Vector4     "v4"          |to| to.set(VectorSize::V4);
    // Varyings.
    FlatWord    "src_flat32"  |to| to.set(SourceFormat::Flat32);
    FlatHalf    "src_flat16"  |to| to.set(SourceFormat::Flat16);
    SmoothWord  "src_f32"     |to| to.set(SourceFormat::F32);
    SmoothHalf  "src_f16"     |to| to.set(SourceFormat::F16);
    AtCenter    "center"      |to| to.set(SampleMode::Center);
    AtCentroid  "centroid"    |to| to.set(SampleMode::Centroid);
    AtSample    "sample"      |to| to.set(SampleMode::Sample);
    AtPlace     "at"          |to| to.set(SampleMode::Explicit);
    Keep        "store"       |to| to.set(UpdateMode::Store);
    Again       "retrieve"    |to| to.set(UpdateMode::Retrieve);
    Clobber     "clobber"     |to| to.set(UpdateMode::Clobber);
    // Depth and stencil.
    WriteDepth   "z"          |to| to.set_flag(Flag::Z, true);
    WriteStencil "stencil"    |to| to.set_flag(Flag::Stencil, true);
    DepthStencil "z_stencil"  |to| to.set_flag(Flag::ZStencil, true);
    // Branches.
    Absolute    "absolute"    |to| to.set_flag(Flag::Absolute, true);
    // Textures.
    Skip        "skip"        |to| to.set_flag(Flag::Skip, true);
    LodComputed "computed"    |to| to.set(LodMode::Computed);
    LodBiased   "computed_bias" |to| to.set(LodMode::ComputedBias);
    Dim1        "1d"          |to| to.set(Dimension::D1);
    Dim2        "2d"          |to| to.set(Dimension::D2);
    Dim3        "3d"          |to| to.set(Dimension::D3);
    DimCube     "cube"        |to| to.set(Dimension::Cube);
    LodZero     "zero"        |to| to.set(LodMode::Zero);
    LodExplicit "explicit"    |to| to.set(LodMode::Explicit);
    LodGradients "grdesc"      |to| to.set(LodMode::Grdesc);
    Format      "format"      |to| to.set(RegisterType::Format);
    Width32     "32"          |to| to.set(RegisterWidth::W32);
    GatherR     "gather4_r"   |to| to.set(FetchComponent::R);
    GatherG     "gather4_g"   |to| to.set(FetchComponent::G);
    GatherB     "gather4_b"   |to| to.set(FetchComponent::B);
    GatherA     "gather4_a"   |to| to.set(FetchComponent::A);
    Array       "array"       |to| to.set_flag(Flag::ArrayEnable, true);
    Shadow      "shadow"      |to| to.set_flag(Flag::Shadow, true);
    TexelOffset "texel_offset" |to| to.set_flag(Flag::TexelOffset, true);
    WideIndices "wide_indices" |to| to.set_flag(Flag::WideIndices, true);
    Derivative  "derivative"  |to| to.set_flag(Flag::Derivative, true);
    LodBiasDisable "lod_bias_disable" |to| to.set_flag(Flag::LodBiasDisable, true);
    LodClampDisable "lod_clamp_disable" |to| to.set_flag(Flag::LodClampDisable, true);
    MaskR       "r"           |to| to.set(WriteMask::R);
    MaskG       "g"           |to| to.set(WriteMask::G);
    MaskRg      "rg"          |to| to.set(WriteMask::Rg);
    MaskB       "b"           |to| to.set(WriteMask::B);
    MaskRb      "rb"          |to| to.set(WriteMask::Rb);
    MaskGb      "gb"          |to| to.set(WriteMask::Gb);
    MaskRgb     "rgb"         |to| to.set(WriteMask::Rgb);
    MaskA       "a"           |to| to.set(WriteMask::A);
    MaskRa      "ra"          |to| to.set(WriteMask::Ra);
    MaskGa      "ga"          |to| to.set(WriteMask::Ga);
    MaskRga     "rga"         |to| to.set(WriteMask::Rga);
    MaskBa      "ba"          |to| to.set(WriteMask::Ba);
    MaskRba     "rba"         |to| to.set(WriteMask::Rba);
    MaskGba     "gba"         |to| to.set(WriteMask::Gba);
    MaskRgba    "rgba"        |to| to.set(WriteMask::Rgba);
    // Atomic operations.
    AtomAdd     "aadd"        |to| to.set(AtomicOp::Aadd);
    AtomSmin    "asmin"       |to| to.set(AtomicOp::Asmin);
    AtomSmax    "asmax"       |to| to.set(AtomicOp::Asmax);
    AtomUmin    "aumin"       |to| to.set(AtomicOp::Aumin);
    AtomUmax    "aumax"       |to| to.set(AtomicOp::Aumax);
    AtomAnd     "aand"        |to| to.set(AtomicOp::Aand);
    AtomOr      "aor"         |to| to.set(AtomicOp::Aor);
    AtomXor     "axor"        |to| to.set(AtomicOp::Axor);
    AtomExchange "axchg"      |to| to.set(AtomicOp::Axchg);
    AtomInc     "ainc"        |to| to.set(AtomicOp1::Ainc);
    AtomDec     "adec"        |to| to.set(AtomicOp1::Adec);
}

/// What happens after an instruction and before the next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Flow {
    #[default]
    None,
    /// Wait until the slots of this mask (bits 0, 1, 2, 6, 7) have no outstanding message.
    Wait(u8),
    /// Choose anew which lanes run.
    Reconverge,
    /// Lanes of quads of which nothing is left stop.
    Discard,
    /// The thread returns.
    End,
}

impl Flow {
    /// The slots that messages may use freely.
    pub(crate) const GENERAL: u8 = 0b0000_0111;
    /// Slot 7: barriers.
    pub(crate) const BARRIER: u8 = 0b1000_0000;
    /// Slot 6: depth and stencil of the fragments below. Signalled from outside, once.
    pub(crate) const DEPTH: u8 = 0b0100_0000;
    /// Slots 6 and 7 in a fragment program: all of the fragments below. Signalled from outside, once.
    pub(crate) const BELOW: u8 = Flow::DEPTH | Flow::BARRIER;

    /// The hardware's value. A mask that the field cannot say is widened to the next it can.
    pub(crate) fn isa(self) -> eitri_isa::Flow {
        use eitri_isa::Flow as Isa;
        match self {
            Flow::None => Isa::None,
            Flow::Wait(mask) if mask & Flow::BARRIER != 0 => Isa::Wait,
            Flow::Wait(mask) if mask & !Flow::GENERAL != 0 => Isa::Wait0126,
            Flow::Wait(mask) => {
                let general = usize::from(mask & Flow::GENERAL);
                [
                    Isa::None,
                    Isa::Wait0,
                    Isa::Wait1,
                    Isa::Wait01,
                    Isa::Wait2,
                    Isa::Wait02,
                    Isa::Wait12,
                    Isa::Wait012,
                ][general]
            }
            Flow::Reconverge => Isa::Reconverge,
            Flow::Discard => Isa::Discard,
            Flow::End => Isa::End,
        }
    }

    /// The slots that are drained when this flow has taken effect.
    pub(crate) fn drained(self) -> u8 {
        match self {
            Flow::Wait(mask) if mask & Flow::BARRIER != 0 => 0b1100_0111,
            Flow::Wait(mask) if mask & !Flow::GENERAL != 0 => 0b0100_0111,
            Flow::Wait(mask) => mask & Flow::GENERAL,
            Flow::None | Flow::Reconverge | Flow::Discard | Flow::End => 0,
        }
    }
}
