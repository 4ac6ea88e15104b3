//! Modifiers and immediates that rows share: position, width, legal values, words.
//!
//! Facts: hardware/valhall-isa.md sections 1.2, 5, 7.5 and 19.3; data/valhall-isa.json `extended_fields`.

use super::{TO_V10, V10_ON, V11_ON, V14_ON};
use crate::field::{Field, ImmId, Immediate, Legal, Place};
use crate::values::{
    AtomicOp, AtomicOp1, Clamp, Condition, Dimension, FetchComponent, FieldId, Flag, FlatFormat,
    FlushNan, FrexpScale, GclkSource, InactiveResult, InfMode, LaneOp, LanePair, LoadLane, LodMode,
    LogPrecision, LogTableMode, MemoryAccess, MemoryWidth, MinMaxNan, Mux, PowFunction,
    RegisterFormat, RegisterType, RegisterWidth, ResultType, RoundMode, SampleMode, SampleUpdate,
    SecondaryWidth, SinCos, Slot, SourceFormat, StackMode, StoreLane, SubgroupSize, TableAdjust,
    UpdateMode, VaryingFormat, VaryingWidth, VectorSize, VertexId, Word, WriteMask,
};

/// Constants of one type, a line each.
macro_rules! shared {
    ($type:ident: $($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: $type = $value;)*
    };
}

impl Field {
    /// Known from newer tables alone: neither tool writes it.
    const fn newer(self) -> Self {
        self.at(Place::NotIn26).note("in neither dialect's tool")
    }
}

#[rustfmt::skip]
shared! { Field:
    // Floats.

    CLAMP                         = Field::of::<Clamp>("clamp", 32, 2);
    /// Two bits: no ties away from zero.
    ROUND                         = Field::of::<RoundMode>("round_mode", 30, 2).only(0b1111);
    ROUND3                        = Field::of::<RoundMode>("round_mode", 30, 3).at(Place::HeadTwoBitsIn26).note("both dialects know two of its bits");
    ROUND_24                      = ROUND.text_only();
    CLAMP_24                      = CLAMP.text_only();
    ROUND_TWICE                   = ROUND.at(Place::HeadTwiceIn26).note("not in the syntax of 24.1; 26.2 prints it twice");
    ROUND_NOT26                   = ROUND.newer();
    ROUND_ZERO                    = Field::flag(Flag::RoundZero, 50).at(Place::NotIn26).note("a bit of the opcode");
    STICKY                        = Field::flag(Flag::Sticky, 34).newer();
    MIN_MAX_NAN                   = Field::of::<MinMaxNan>("sem", 30, 2).newer();
    /// Mesa 24.1 takes these bits for a widen of the first source.
    INF_MODE_F32                  = Field::of::<InfMode>("inf", 28, 2).at(Place::FirstSourceIn24(&["", "h0", "h1"])).note("shown by 24.1 as a widen");
    /// Mesa 24.1 takes these bits for a swizzle of the first source, whose identity is 2.
    INF_MODE_V2F16                = Field::of::<InfMode>("inf", 28, 2).at(Place::FirstSourceIn24(&["h00", "h10", ""])).note("shown by 24.1 as a swizzle");
    FREXP_SCALE                   = Field::of::<FrexpScale>("special", 24, 2).legal(Legal::only(0b0111));
    NEG_RESULT                    = Field::flag(Flag::NegResult, 30).newer();
    FLUSH_NAN                     = Field::of::<FlushNan>("nan_mode", 8, 2);
    FTZ                           = Field::flag(Flag::FlushToZero, 10);
    FLUSH_INF                     = Field::flag(Flag::FlushInf, 11);
    SECOND                        = Field::flag(Flag::Second, 24);
    OFFSET                        = Field::flag(Flag::Offset, 30).newer();
    SCALE                         = Field::flag(Flag::Scale, 30).newer();
    POW_FUNCTION                  = Field::of::<PowFunction>("function", 20, 2).newer();
    TABLE_ADJUST                  = Field::of::<TableAdjust>("adj", 31, 2).newer();
    LOG_TABLE_MODE                = Field::of::<LogTableMode>("mode", 31, 2).newer();
    LOG_PRECISION                 = Field::of::<LogPrecision>("precision", 33, 2).newer();
    SIN_COS                       = Field::of::<SinCos>("operation", 30, 1);

    // Integers, selects and compares.

    SATURATE                      = Field::flag(Flag::Saturate, 30);
    /// Sums of 64 bits do not saturate; the bit is 0 from v11 on.
    SATURATE_64                   = SATURATE.legal(Legal::on(TO_V10)).note("does not saturate; must be 0 since v11");
    SATURATE_24                   = SATURATE.text_only();
    SATURATE_V14                  = SATURATE.legal(Legal::on(V14_ON));
    UNSIGNED0                     = Field::flag(Flag::Unsigned0, 26).newer().legal(Legal::on(V14_ON));
    UNSIGNED1                     = Field::flag(Flag::Unsigned1, 27).newer().legal(Legal::on(V14_ON));
    RHADD                         = Field::flag(Flag::Rhadd, 30);
    NEG                           = Field::flag(Flag::Neg, 38);
    PRESERVE_NULL                 = Field::flag(Flag::PreserveNull, 39);
    MASK                          = Field::flag(Flag::Mask, 30).newer();
    RETURN_CARRY                  = Field::flag(Flag::ReturnCarry, 30);
    NOT_RESULT                    = Field::flag(Flag::NotResult, 30);
    MUX                           = Field::of::<Mux>("mux", 32, 2);
    /// Bytes are no floats.
    MUX_8                         = MUX.legal(Legal::only(0b1011));
    CONDITION                     = Field::of::<Condition>("condition", 32, 3);
    /// Integers have no gtlt and no total.
    CONDITION_INT                 = CONDITION.only(0b0011_1111);
    RESULT_TYPE                   = Field::of::<ResultType>("result_type", 30, 2).only(0b0111);
    /// Of the chained comparisons only the unsigned one gives the ordering.
    RESULT_TYPE_MULTI_S           = RESULT_TYPE_MULTI.legal(Legal::only(0b0111));
    /// 8-bit lanes have no f1.
    RESULT_TYPE_8                 = RESULT_TYPE.only(0b0101);
    RESULT_TYPE_MULTI             = Field::of::<ResultType>("result_type", 30, 2);

    // Lanes.

    SUBGROUP_SIZE                 = Field::of::<SubgroupSize>("subgroup_size", 36, 4);
    SUBGROUP_SIZE_OR              = SUBGROUP_SIZE.only(0b1100);
    LANE_OP                       = Field::of::<LaneOp>("lane_operation", 32, 4);
    /// Two bits, on the forms that only Mesa 24.1 knows.
    LANE_OP2                      = Field::of::<LaneOp>("lane_operation", 32, 2).only(0b1111);
    INACTIVE_RESULT               = Field::of::<InactiveResult>("inactive_result", 22, 4);
    LANE_PAIR                     = Field::of::<LanePair>("lane_select", 33, 3);

    // Control.

    CONSERVATIVE                  = Field::flag(Flag::Conservative, 35);
    EQ                            = Field::flag(Flag::Eq, 36);
    NOT                           = Field::flag(Flag::Not, 36);
    ABSOLUTE                      = Field::flag(Flag::Absolute, 40).legal(Legal { archs: V11_ON, values: 0b10, elsewhere: 0b11 }).note("v11 and later know no relative target");
    DIVERGE                       = Field::flag(Flag::Diverge, 32);
    STACK_MODE                    = Field::of::<StackMode>("stack_mode", 33, 2);

    // Messages.

    SLOT                          = Field::of::<Slot>("slot", 30, 3).legal(Legal::only(0b111));
    /// Late tests are counted in slot 0 alone.
    SLOT0                         = SLOT.legal(Legal::only(0b1));
    /// Barriers are counted in slot 7 alone.
    SLOT7                         = SLOT.legal(Legal::only(0b1000_0000));
    ACCESS                        = Field::of::<MemoryAccess>("memory_access", 24, 3).note("24.1 shows two bits");
    ACCESS_NOT26                  = ACCESS.newer();
    ACCESS_AT37                   = Field::of::<MemoryAccess>("memory_access", 37, 3);
    UNSIGNED                      = Field::flag(Flag::Unsigned, 39);
    /// A load that extends nothing has it set.
    UNSIGNED_SET                  = UNSIGNED.legal(Legal::only(0b10));
    STORE_LANE_8                  = store_lane(StoreLane::I8, 2);
    STORE_LANE_16                 = store_lane(StoreLane::I16, 1);
    LOAD_LANE_8                   = load_lane(LoadLane::I8, 0);
    LOAD_LANE_16                  = load_lane(LoadLane::I16, 0);
    LOAD_LANE_24                  = load_lane(LoadLane::I24, 0);
    LOAD_LANE_32                  = load_lane(LoadLane::I32, 0);
    LOAD_LANE_48                  = load_lane(LoadLane::I48, 4);
    LOAD_LANE_64                  = load_lane(LoadLane::I64, 7);
    LOAD_LANE_96                  = load_lane(LoadLane::I96, 6);
    LOAD_LANE_128                 = load_lane(LoadLane::I64, 7);
    MEMORY_WIDTH                  = Field::of::<MemoryWidth>("memory_width", 27, 3);
    /// The third bit is told by the number of registers: one for the narrow four, more for the others.
    MEMORY_WIDTH_V14              = Field { width: 2, ..MEMORY_WIDTH }.note("with one register i8, i16, i24, i32; with more i48, i64, i96, i128");
    /// Bit 29 of the word; bit 63 here, since bit 29 is the width's on older generations.
    OOB_IGNORE                    = Field::flag(Flag::OobIgnore, 63).newer().legal(Legal::on(V14_ON));
    OOB_IGNORE_V14                = Field { pos: 29, ..OOB_IGNORE };
    VECTOR_SIZE                   = Field::of::<VectorSize>("vector_size", 28, 2);
    VECTOR_SIZE_24                = VECTOR_SIZE.text_only();
    VECTOR_SIZE_4                 = VECTOR_SIZE.legal(Legal::only(0b1000));
    VECTOR_SIZE_12                = VECTOR_SIZE.legal(Legal::only(0b0011));
    REGISTER_FORMAT               = Field::of::<RegisterFormat>("register_format", 24, 3);
    /// Interpolated: floats.
    REGISTER_FORMAT_FLOAT         = REGISTER_FORMAT.legal(Legal::only(0b1101));
    /// Copied: floats, or integers of 32 bits.
    REGISTER_FORMAT_FLAT          = REGISTER_FORMAT.legal(Legal::only(0b0101_1101));
    REGISTER_FORMAT_F32           = REGISTER_FORMAT.legal(Legal::only(0b100));
    GCLK_SOURCE                   = Field::of::<GclkSource>("source", 0, 3).at(Place::NotIn26).note("26.2 does not print it");
    /// From v14 on flat varyings have an instruction of their own.
    SOURCE_FORMAT_F32             = Field::of::<SourceFormat>("source_format", 24, 2).legal(Legal { archs: V14_ON, values: 0b1100, elsewhere: 0b1101 });
    SOURCE_FORMAT_F16             = Field::of::<SourceFormat>("source_format", 24, 2).legal(Legal { archs: V14_ON, values: 0b1100, elsewhere: 0b1110 });
    FLAT_FORMAT                   = Field::of::<FlatFormat>("format", 24, 2);
    EXPLICIT_VERTEX               = Field::flag(Flag::ExplicitVertex, 36).newer().legal(Legal::on(V14_ON));
    VERTEX                        = Field::of::<VertexId>("vertex", 37, 2).newer().legal(Legal::on(V14_ON));
    SAMPLE_MODE                   = Field::of::<SampleMode>("sample_mode", 38, 2);
    UPDATE_MODE                   = Field::of::<UpdateMode>("update_mode", 36, 2);
    UPDATE_MODE_SPECIAL           = UPDATE_MODE.legal(Legal { archs: V14_ON, values: 0b1011, elsewhere: 0b1000 });
    Z_STENCIL                     = Field::flag(Flag::ZStencil, 36).newer();
    Z_LAST_READ                   = Field::flag(Flag::ZLastRead, 39).newer().legal(Legal::on(V11_ON));
    Z                             = Field::flag(Flag::Z, 25);
    STENCIL                       = Field::flag(Flag::Stencil, 24);
    ATOMIC_OP64                   = Field::of::<AtomicOp>("atomic_operation", 22, 4);
    /// 32-bit atomics have no add of a shorter value.
    ATOMIC_OP32                   = ATOMIC_OP64.only(!0b11);
    /// Nothing is exchanged without a result.
    ATOMIC_OP64_QUIET             = ATOMIC_OP64.legal(Legal::only(0x7FFF));
    ATOMIC_OP32_QUIET             = ATOMIC_OP32.legal(Legal::only(0x7FFF));
    ATOMIC_OP1                    = Field::of::<AtomicOp1>("atomic_operation_with_1", 22, 3);
    COMPARE                       = Field::flag(Flag::Compare, 26);

    // Textures.

    SKIP                          = Field::flag(Flag::Skip, 39);
    REGISTER_TYPE                 = Field::of::<RegisterType>("register_type", 26, 2).note("ignored by the hardware: the result's type follows the texture's format");
    REGISTER_WIDTH                = Field::of::<RegisterWidth>("register_width", 46, 1);
    SECONDARY_WIDTH               = Field::of::<SecondaryWidth>("secondary_register_width", 47, 1);
    VARYING_WIDTH_DUAL            = Field::of::<VaryingWidth>("varying_texture_register_width", 24, 2);
    VARYING_WIDTH                 = VARYING_WIDTH_DUAL.legal(Legal::only(0b0011));
    WRITE_MASK                    = Field::of::<WriteMask>("write_mask", 22, 4);
    DIMENSION                     = Field::of::<Dimension>("dimension", 28, 2);
    /// A fetch has no cubes: they are arrays of six faces there.
    DIMENSION_FETCH               = DIMENSION.only(0b0111);
    /// A gather takes four texels of a plane.
    DIMENSION_GATHER              = DIMENSION.legal(Legal::only(0b1010));
    DIMENSION_2D                  = DIMENSION.legal(Legal::only(0b0010));
    /// Cubes since v11.
    DIMENSION_VARYING             = DIMENSION.legal(Legal { archs: V11_ON, values: 0b1111, elsewhere: 0b0111 });
    WIDE_INDICES                  = Field::flag(Flag::WideIndices, 8);
    WIDE_INDICES_24               = WIDE_INDICES.text_only();
    WIDE_INDICES_NOT24            = WIDE_INDICES.newer();
    PROJECTION                    = Field::flag(Flag::ProjectionEnable, 9).newer().legal(Legal::on(V11_ON));
    FORCE_DELTA                   = Field::flag(Flag::ForceDelta, 12).newer().legal(Legal::on(V10_ON));
    VARYING_FORMAT                = Field::of::<VaryingFormat>("source_format", 11, 1).newer().legal(Legal::on(V10_ON));
    ARRAY_ENABLE                  = Field::flag(Flag::ArrayEnable, 10);
    ARRAY_ENABLE_24               = ARRAY_ENABLE.text_only();
    TEXEL_OFFSET                  = Field::flag(Flag::TexelOffset, 11);
    SHADOW                        = Field::flag(Flag::Shadow, 12);
    SHADOW_24                     = SHADOW.text_only();
    LOD_MODE                      = Field::of::<LodMode>("lod_mode", 13, 3);
    /// Level 0, or computed.
    LOD_MODE_VARYING              = LOD_MODE.legal(Legal::only(0b0011));
    INTEGER_COORDINATES           = Field::flag(Flag::IntegerCoordinates, 13);
    INTEGER_COORDINATES_24        = INTEGER_COORDINATES.text_only();
    FETCH_COMPONENT               = Field::of::<FetchComponent>("fetch_component", 14, 2);
    LOD_BIAS_DISABLE              = Field::flag(Flag::LodBiasDisable, 13);
    LOD_CLAMP_DISABLE             = Field::flag(Flag::LodClampDisable, 14);
    LOD_BIAS_DISABLE_AS_LOD_MODE  = LOD_BIAS_DISABLE.written("lod_mode").note("both dialects write lod_mode");
    LOD_CLAMP_DISABLE_AS_LOD_MODE = LOD_CLAMP_DISABLE.written("lod_mode").note("both dialects write lod_mode");
    DERIVATIVE                    = Field::flag(Flag::Derivative, 15).note("set when the payload holds explicit derivatives");
    SAMPLE_UPDATE                 = Field::of::<SampleUpdate>("sample_and_update_mode", 33, 3);
}

const fn store_lane(words: &'static [Word], width: u8) -> Field {
    Field::with_words(FieldId::StoreLane, "lane", 36, width, words, Some(0)).newer()
}

const fn load_lane(words: &'static [Word], default: u8) -> Field {
    Field::with_words(FieldId::LoadLane, "load_lane", 36, 3, words, Some(default))
}

#[rustfmt::skip]
shared! { Immediate:
    BRANCH_OFFSET = Immediate::new(ImmId::Offset, 8, 27).signed();
    OFFSET16      = Immediate::new(ImmId::Offset, 8, 16).signed();
    OFFSET8       = Immediate::new(ImmId::Offset, 8, 8);
    OFFSET12      = Immediate::new(ImmId::Offset, 8, 8).upper(36, 4);
    CONSTANT      = Immediate::new(ImmId::Constant, 8, 32);
    SHIFT         = Immediate::new(ImmId::Shift, 20, 3);
    INDEX_AT20    = Immediate::new(ImmId::Index, 20, 4);
    INDEX_AT12    = Immediate::new(ImmId::Index, 12, 8);
    INDEX_AT16    = Immediate::new(ImmId::Index, 16, 8);
    /// Which built-in varying: 1 since v14.
    INDEX3_AT12   = Immediate::new(ImmId::Index, 12, 3).legal(Legal { archs: V14_ON, values: 0b1111, elsewhere: 0b1101 });
    INDEX11_AT8   = Immediate::new(ImmId::Index, 8, 11);
    TABLE_AT16    = Immediate::new(ImmId::Table, 16, 4);
    TABLE_AT8     = Immediate::new(ImmId::Table, 8, 4);
    TARGET        = Immediate::new(ImmId::Target, 8, 8);
}
