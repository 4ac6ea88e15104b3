//! Modifiers and immediates that rows share: position, width, legal values, words.
//!
//! Facts: hardware/valhall-isa.md sections 1.2, 5, 7.5 and 19.3; data/valhall-isa.json `extended_fields`.

use crate::arch::Arch;
use crate::field::{Field, ImmId, Immediate, Place};
use crate::values::{
    AtomicOp, AtomicOp1, Clamp, Condition, Dimension, FetchComponent, FieldId, Flag, FlatFormat,
    FlushNan, GclkSource, InactiveResult, InfMode, LaneOp, LanePair, LoadLane, LodMode,
    LogPrecision, LogTableMode, MemoryAccess, MemoryWidth, MinMaxNan, Mux, RegisterFormat,
    RegisterType, RegisterWidth, ResultType, RoundMode, SampleMode, SampleUpdate, SecondaryWidth,
    SinCos, Slot, SourceFormat, StackMode, SubgroupSize, TableAdjust, UpdateMode, VaryingWidth,
    VectorSize, Word, WriteMask,
};

// Floats.

pub const CLAMP: Field = Field::of::<Clamp>("clamp", 32, 2);
/// Two bits: no ties away from zero.
pub const ROUND: Field = Field::of::<RoundMode>("round_mode", 30, 2).only(0b1111);
pub const ROUND3: Field = Field::of::<RoundMode>("round_mode", 30, 3)
    .at(Place::HeadTwoBitsIn26)
    .note("both dialects know two of its bits");
pub const ROUND_TWICE: Field = ROUND
    .at(Place::HeadTwiceIn26)
    .note("not in the syntax of 24.1; 26.2 prints it twice");
pub const ROUND_NOT26: Field = ROUND.at(Place::NotIn26).note("in neither dialect");
pub const ROUND_ZERO: Field = Field::flag(Flag::RoundZero, 50)
    .at(Place::NotIn26)
    .note("a bit of the opcode");
pub const STICKY: Field = Field::flag(Flag::Sticky, 34)
    .at(Place::NotIn26)
    .note("in neither dialect");
pub const MIN_MAX_NAN: Field = Field::of::<MinMaxNan>("sem", 30, 2)
    .at(Place::NotIn26)
    .note("in neither dialect");
/// Mesa 24.1 takes these bits for a widen of the first source.
pub const INF_MODE_F32: Field = Field::of::<InfMode>("inf", 28, 2)
    .at(Place::FirstSourceIn24(&["", "h0", "h1"]))
    .note("shown by 24.1 as a widen");
/// Mesa 24.1 takes these bits for a swizzle of the first source, whose identity is 2.
pub const INF_MODE_V2F16: Field = Field::of::<InfMode>("inf", 28, 2)
    .at(Place::FirstSourceIn24(&["h00", "h10", ""]))
    .note("shown by 24.1 as a swizzle");
pub const SQRT: Field = Field::flag(Flag::Sqrt, 24);
pub const LOG: Field = Field::flag(Flag::Log, 25);
pub const NEG_RESULT: Field = Field::flag(Flag::NegResult, 30)
    .at(Place::NotIn26)
    .note("in neither dialect");
pub const FLUSH_NAN: Field = Field::of::<FlushNan>("nan_mode", 8, 2);
pub const FTZ: Field = Field::flag(Flag::FlushToZero, 10);
pub const FLUSH_INF: Field = Field::flag(Flag::FlushInf, 11);
pub const SECOND: Field = Field::flag(Flag::Second, 24);
pub const OFFSET: Field = Field::flag(Flag::Offset, 30)
    .at(Place::NotIn26)
    .note("in neither dialect");
pub const SCALE: Field = Field::flag(Flag::Scale, 30)
    .at(Place::NotIn26)
    .note("in neither dialect");
pub const TABLE_ADJUST: Field = Field::of::<TableAdjust>("adj", 31, 2)
    .at(Place::NotIn26)
    .note("in neither dialect");
pub const LOG_TABLE_MODE: Field = Field::of::<LogTableMode>("mode", 31, 2)
    .at(Place::NotIn26)
    .note("in neither dialect");
pub const LOG_PRECISION: Field = Field::of::<LogPrecision>("precision", 33, 2)
    .at(Place::NotIn26)
    .note("in neither dialect");
pub const SIN_COS: Field = Field::of::<SinCos>("operation", 30, 1);

// Integers, selects and compares.

pub const SATURATE: Field = Field::flag(Flag::Saturate, 30);
pub const RHADD: Field = Field::flag(Flag::Rhadd, 30);
pub const NEG: Field = Field::flag(Flag::Neg, 38);
pub const PRESERVE_NULL: Field = Field::flag(Flag::PreserveNull, 39);
pub const MASK: Field = Field::flag(Flag::Mask, 30)
    .at(Place::NotIn26)
    .note("in neither dialect");
pub const RETURN_CARRY: Field = Field::flag(Flag::ReturnCarry, 30);
pub const NOT_RESULT: Field = Field::flag(Flag::NotResult, 30);
pub const MUX: Field = Field::of::<Mux>("mux", 32, 2);
pub const CONDITION: Field = Field::of::<Condition>("condition", 32, 3);
/// Integers have no gtlt and no total.
pub const CONDITION_INT: Field = CONDITION.only(0b0011_1111);
pub const RESULT_TYPE: Field = Field::of::<ResultType>("result_type", 30, 2).only(0b0111);
/// 8-bit lanes have no f1.
pub const RESULT_TYPE_8: Field = RESULT_TYPE.only(0b0101);
pub const RESULT_TYPE_MULTI: Field = Field::of::<ResultType>("result_type", 30, 2);

// Lanes.

pub const SUBGROUP_SIZE: Field = Field::of::<SubgroupSize>("subgroup_size", 36, 4);
pub const SUBGROUP_SIZE_OR: Field = SUBGROUP_SIZE.only(0b1100);
pub const LANE_OP: Field = Field::of::<LaneOp>("lane_operation", 32, 4);
/// Two bits, on the forms that only Mesa 24.1 knows.
pub const LANE_OP2: Field = Field::of::<LaneOp>("lane_operation", 32, 2).only(0b1111);
pub const INACTIVE_RESULT: Field = Field::of::<InactiveResult>("inactive_result", 22, 4);
pub const LANE_PAIR: Field = Field::of::<LanePair>("lane_select", 33, 3);

// Control.

pub const CONSERVATIVE: Field = Field::flag(Flag::Conservative, 35);
pub const EQ: Field = Field::flag(Flag::Eq, 36);
pub const NOT: Field = Field::flag(Flag::Not, 36);
pub const ABSOLUTE: Field = Field::flag(Flag::Absolute, 40)
    .set_since(Arch::V11)
    .note("v11 and later know no relative target");
pub const DIVERGE: Field = Field::flag(Flag::Diverge, 32);
pub const STACK_MODE: Field = Field::of::<StackMode>("stack_mode", 33, 2);

// Messages.

pub const SLOT: Field = Field::of::<Slot>("slot", 30, 3);
pub const ACCESS: Field =
    Field::of::<MemoryAccess>("memory_access", 24, 3).note("24.1 shows two bits");
pub const ACCESS_NOT26: Field = ACCESS.at(Place::NotIn26).note("in neither dialect");
pub const ACCESS_AT37: Field = Field::of::<MemoryAccess>("memory_access", 37, 3);
pub const UNSIGNED: Field = Field::flag(Flag::Unsigned, 39);
pub const LOAD_LANE_8: Field = load_lane(LoadLane::I8, 0);
pub const LOAD_LANE_16: Field = load_lane(LoadLane::I16, 0);
pub const LOAD_LANE_24: Field = load_lane(LoadLane::I24, 0);
pub const LOAD_LANE_32: Field = load_lane(LoadLane::I32, 0);
pub const LOAD_LANE_48: Field = load_lane(LoadLane::I48, 4);
pub const LOAD_LANE_64: Field = load_lane(LoadLane::I64, 7);
pub const LOAD_LANE_96: Field = load_lane(LoadLane::I96, 6);
pub const LOAD_LANE_128: Field = load_lane(LoadLane::I64, 7);
pub const MEMORY_WIDTH: Field = Field::of::<MemoryWidth>("memory_width", 27, 3);
pub const VECTOR_SIZE: Field = Field::of::<VectorSize>("vector_size", 28, 2);
pub const REGISTER_FORMAT: Field = Field::of::<RegisterFormat>("register_format", 24, 3);
pub const GCLK_SOURCE: Field = Field::of::<GclkSource>("source", 0, 3)
    .at(Place::NotIn26)
    .note("26.2 does not print it");
pub const SOURCE_FORMAT: Field = Field::of::<SourceFormat>("source_format", 24, 4);
pub const FLAT_FORMAT: Field = Field::of::<FlatFormat>("format", 24, 3);
pub const SAMPLE_MODE: Field = Field::of::<SampleMode>("sample_mode", 38, 2);
pub const UPDATE_MODE: Field = Field::of::<UpdateMode>("update_mode", 36, 2);
pub const Z: Field = Field::flag(Flag::Z, 25);
pub const STENCIL: Field = Field::flag(Flag::Stencil, 24);
pub const ATOMIC_OP64: Field = Field::of::<AtomicOp>("atomic_operation", 22, 4);
/// 32-bit atomics have no add of a shorter value.
pub const ATOMIC_OP32: Field = ATOMIC_OP64.only(!0b11);
pub const ATOMIC_OP1: Field = Field::of::<AtomicOp1>("atomic_operation_with_1", 22, 4);
pub const COMPARE: Field = Field::flag(Flag::Compare, 26);

// Textures.

pub const SKIP: Field = Field::flag(Flag::Skip, 39);
pub const REGISTER_TYPE: Field = Field::of::<RegisterType>("register_type", 26, 2);
pub const REGISTER_WIDTH: Field = Field::of::<RegisterWidth>("register_width", 46, 1);
pub const SECONDARY_WIDTH: Field = Field::of::<SecondaryWidth>("secondary_register_width", 47, 1);
pub const VARYING_WIDTH: Field = Field::of::<VaryingWidth>("varying_texture_register_width", 24, 2);
pub const WRITE_MASK: Field = Field::of::<WriteMask>("write_mask", 22, 4);
pub const DIMENSION: Field = Field::of::<Dimension>("dimension", 28, 2);
/// A fetch has no cubes: they are arrays of six faces there.
pub const DIMENSION_FETCH: Field = DIMENSION.only(0b0111);
pub const DIMENSION_VARYING: Field = Field::with_words(
    FieldId::Dimension,
    "dimension",
    28,
    2,
    Dimension::OF_VARYING,
    None,
);
pub const WIDE_INDICES: Field = Field::flag(Flag::WideIndices, 8);
pub const ARRAY_ENABLE: Field = Field::flag(Flag::ArrayEnable, 10);
pub const TEXEL_OFFSET: Field = Field::flag(Flag::TexelOffset, 11);
pub const SHADOW: Field = Field::flag(Flag::Shadow, 12);
pub const LOD_MODE: Field = Field::of::<LodMode>("lod_mode", 13, 3);
pub const INTEGER_COORDINATES: Field = Field::flag(Flag::IntegerCoordinates, 13);
pub const FETCH_COMPONENT: Field = Field::of::<FetchComponent>("fetch_component", 14, 2);
pub const LOD_BIAS_DISABLE: Field = Field::flag(Flag::LodBiasDisable, 13);
pub const LOD_CLAMP_DISABLE: Field = Field::flag(Flag::LodClampDisable, 14);
pub const LOD_BIAS_DISABLE_AS_LOD_MODE: Field = LOD_BIAS_DISABLE
    .written("lod_mode")
    .note("both dialects write lod_mode");
pub const LOD_CLAMP_DISABLE_AS_LOD_MODE: Field = LOD_CLAMP_DISABLE
    .written("lod_mode")
    .note("both dialects write lod_mode");
pub const DERIVATIVE: Field =
    Field::flag(Flag::Derivative, 15).note("set when the payload holds explicit derivatives");
pub const SAMPLE_UPDATE: Field = Field::of::<SampleUpdate>("sample_and_update_mode", 33, 3);

const fn load_lane(words: &'static [Word], default: u8) -> Field {
    Field::with_words(FieldId::LoadLane, "load_lane", 36, 3, words, Some(default))
}

// Immediates.

pub const BRANCH_OFFSET: Immediate = Immediate::new(ImmId::Offset, 8, 27).signed();
pub const OFFSET16: Immediate = Immediate::new(ImmId::Offset, 8, 16).signed();
pub const OFFSET8: Immediate = Immediate::new(ImmId::Offset, 8, 8);
pub const OFFSET12: Immediate = Immediate::new(ImmId::Offset, 8, 8).upper(36, 4);
pub const CONSTANT: Immediate = Immediate::new(ImmId::Constant, 8, 32);
pub const SHIFT: Immediate = Immediate::new(ImmId::Shift, 20, 3);
pub const INDEX_AT20: Immediate = Immediate::new(ImmId::Index, 20, 4);
pub const INDEX_AT12: Immediate = Immediate::new(ImmId::Index, 12, 8);
pub const INDEX_AT16: Immediate = Immediate::new(ImmId::Index, 16, 8);
pub const INDEX4_AT12: Immediate = Immediate::new(ImmId::Index, 12, 4);
pub const INDEX11_AT8: Immediate = Immediate::new(ImmId::Index, 8, 11);
pub const TABLE_AT16: Immediate = Immediate::new(ImmId::Table, 16, 4);
pub const TABLE_AT8: Immediate = Immediate::new(ImmId::Table, 8, 4);
pub const TARGET: Immediate = Immediate::new(ImmId::Target, 8, 8);
