//! Modifier values as types: one enum a kind of modifier, its numbers and its words written once.
//!
//! Facts: data/valhall-isa.json `enums` and `extended_fields`; hardware/valhall-isa.md sections 8 to 11.

mod alu;
mod message;
mod texture;

pub use alu::{
    Clamp, Condition, FlushNan, FrexpScale, InactiveResult, InfMode, LaneOp, LanePair,
    LogPrecision, LogTableMode, MinMaxNan, Mux, PowFunction, ResultType, RoundMode, SinCos,
    StackMode, SubgroupSize, TableAdjust,
};
pub use message::{
    AtomicOp, AtomicOp1, FlatFormat, GclkSource, LoadLane, MemoryAccess, MemoryWidth,
    RegisterFormat, SampleMode, Slot, SourceFormat, StoreLane, UpdateMode, VectorSize, VertexId,
};
pub use texture::{
    Dimension, FetchComponent, LodMode, RegisterType, RegisterWidth, SampleUpdate, SecondaryWidth,
    VaryingFormat, VaryingWidth, WriteMask,
};

use crate::arch::ArchSet;

/// One value of a modifier: its number, its word, and who has it.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The field's value.
    pub value: u8,
    /// Which enumerator of the typed enum it is.
    pub(crate) tag: u8,
    /// Its word in both dialects; empty if it has none.
    pub text: &'static str,
    /// The generations that have it.
    pub archs: ArchSet,
}

/// A typed modifier value. Implemented by the enums of this module and by nothing else.
pub trait Value: Copy + sealed::Sealed + 'static {
    /// The modifier that it is a value of.
    const ID: FieldId;
    /// Its enumerators, in order of their tags.
    const ALL: &'static [Self];
    /// Its values and words, where the modifier has one encoding.
    const WORDS: &'static [Word];
    /// What stands when nothing is written; `None`: it must be written.
    const DEFAULT: Option<Self>;
    /// The number of the default.
    const DEFAULT_VALUE: Option<u8>;

    /// The position in [`Self::ALL`].
    fn tag(self) -> u8;
}

pub(crate) mod sealed {
    /// Keeps `Value` to this crate.
    pub trait Sealed {}
}

/// Which modifier a field is. At most one field of an instruction has each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "each is documented at the type or flag of its name"
)]
pub enum FieldId {
    AtomicOp,
    AtomicOp1,
    Clamp,
    Condition,
    Dimension,
    FetchComponent,
    FlatFormat,
    FlushNan,
    FrexpScale,
    GclkSource,
    InactiveResult,
    InfMode,
    LaneOp,
    LanePair,
    LoadLane,
    LodMode,
    LogPrecision,
    LogTableMode,
    MemoryAccess,
    MemoryWidth,
    MinMaxNan,
    Mux,
    PowFunction,
    RegisterFormat,
    RegisterType,
    RegisterWidth,
    ResultType,
    RoundMode,
    SampleMode,
    SampleUpdate,
    SecondaryWidth,
    SinCos,
    Slot,
    SourceFormat,
    StackMode,
    StoreLane,
    SubgroupSize,
    TableAdjust,
    UpdateMode,
    VaryingFormat,
    VaryingWidth,
    VectorSize,
    VertexId,
    WriteMask,
    Flag(Flag),
}

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident $word:literal)*) => {
        /// A modifier that is either written or not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Flag {
            $($(#[$doc])* $name,)*
        }

        impl Flag {
            /// Its word in both dialects, where a dialect has no other.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

flags! {
    /// A hint about divergence (not established).
    Conservative "conservative"
    /// Branch if the tested value is zero, rather than if it is not.
    Eq "eq"
    /// The target is an address, rather than a displacement.
    Absolute "absolute"
    /// JUMP_EX: the threads may diverge.
    Diverge "diverge"
    /// JUMP_EX: inverts the condition.
    Not "not"
    /// Zero-extends what is loaded, rather than sign-extending it.
    Unsigned "unsigned"
    /// Checked load: ignores the bound (what that changes is not established).
    OobIgnore "oob_ignore"
    /// A flat varying is taken from a vertex that is named.
    ExplicitVertex "explicit_vertex"
    /// LD_TILE: reads depth or stencil, rather than colour.
    ZStencil "z_stencil"
    /// LD_TILE: no later instruction reads depth or stencil.
    ZLastRead "z_last_read"
    /// ZS_EMIT: writes depth.
    Z "z"
    /// ZS_EMIT: writes stencil.
    Stencil "stencil"
    /// Clamps to the range of the result's type.
    Saturate "saturate"
    /// IDP, MMUL of signed bytes: those of source 0 are unsigned.
    Unsigned0 "unsigned0"
    /// IDP, MMUL of signed bytes: those of source 1 are unsigned.
    Unsigned1 "unsigned1"
    /// HADD: rounds up.
    Rhadd "rhadd"
    /// FREXPE: negates the exponent.
    NegResult "neg_result"
    /// Inverts the result.
    NotResult "not_result"
    /// SEG_ADD: subtracts.
    Neg "neg"
    /// SEG_ADD: a null pointer stays null.
    PreserveNull "preserve_null"
    /// FATAN_ASSIST: is FATAN_TABLE.
    Second "second"
    /// Rounding keeps the lost bits (not established).
    Sticky "sticky"
    /// FMA_RSCALE: rounds toward zero.
    RoundZero "round_zero"
    /// CLZ: all ones for a lane of zero.
    Mask "mask"
    /// FSIN_TABLE, FCOS_TABLE: shifts the angle slightly (not established).
    Offset "offset"
    /// FSINCOS_OFFSET (not established).
    Scale "scale"
    /// IADDC, ISUBB: gives the carry, rather than the sum.
    ReturnCarry "return_carry"
    /// FLUSH: subnormals to zero.
    FlushToZero "ftz"
    /// FLUSH: infinities to the largest finite value.
    FlushInf "flush_inf"
    /// Atomic exchange: only if memory holds the value to compare with.
    Compare "compare"
    /// Helper threads need no result.
    Skip "skip"
    /// Sampler and texture handles are words of their own.
    WideIndices "wide_indices"
    /// The payload has a value that the coordinates are divided by.
    ProjectionEnable "projection_enable"
    /// Differences across the quad count, whatever the descriptor says.
    ForceDelta "force_delta"
    /// The payload has an array layer.
    ArrayEnable "array_enable"
    /// The payload has a texel offset.
    TexelOffset "texel_offset"
    /// The payload has a reference to compare with.
    Shadow "shadow"
    /// Coordinates are not normalised.
    IntegerCoordinates "integer_coordinates"
    /// Gradient: no level bias.
    LodBiasDisable "lod_bias_disable"
    /// Gradient: no level clamp.
    LodClampDisable "lod_clamp_disable"
    /// Gradient: the payload holds explicit derivatives.
    Derivative "derivative"
}

/// Defines a modifier's enum: name, default (`required` or an enumerator), then enumerator, value, word, generations.
macro_rules! value {
    (@default required) => { None };
    (@default $name:ident) => { Some(Self::$name) };
    (@number required) => { None };
    (@number $name:ident) => { Some(Self::WORDS[Self::$name as usize].value) };
    (@archs) => { $crate::arch::ArchSet::ALL };
    (@archs $archs:expr) => { $archs };
    ($(#[$doc:meta])* $type:ident, $default:ident: $($(#[$note:meta])* $name:ident = $value:literal $text:literal $([$archs:expr])?,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[$note])* $name,)*
        }

        impl $crate::values::sealed::Sealed for $type {}

        impl $crate::values::Value for $type {
            const ID: $crate::values::FieldId = $crate::values::FieldId::$type;
            const ALL: &'static [Self] = &[$(Self::$name),*];
            const WORDS: &'static [$crate::values::Word] = &[
                $($crate::values::Word {
                    value: $value,
                    tag: Self::$name as u8,
                    text: $text,
                    archs: value!(@archs $($archs)?),
                }),*
            ];
            const DEFAULT: Option<Self> = value!(@default $default);
            const DEFAULT_VALUE: Option<u8> = value!(@number $default);

            fn tag(self) -> u8 {
                self as u8
            }
        }
    };
}
use value;
