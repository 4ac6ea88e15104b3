//! Meaning: which operation of the ALU an instruction is.
//!
//! The tables of `eitri_isa` say which operation an instruction is; here it gets its types, modifiers and what computes it. What
//! has no established meaning gives `None`, never a guess.
//! Never: decodes opcodes, or leaves an operation out: the match on operations has no wildcard.
//!
//! Facts: hardware/valhall-isa.md 8 and 9, 17 (what is not established).

use super::alu::{
    Alu, Arithmetic, Bits, Combine, Compare, Condition, Convert, FloatType, FlushNan, Integer,
    Logic, MuxMode, Reduction, ResultType, RscaleMode, Shift, ShiftKind, Special, Wide,
};
use super::float::{Clamp, Round};
use super::lanes::Part;
use eitri_isa::meaning::Operation;
use eitri_isa::row::{DestKind, Type};
use eitri_isa::values::{self, Flag, FrexpScale, InfMode, MinMaxNan};
use eitri_isa::{ImmId, Instr, Mask};

/// The integer parts of a type.
fn part(ty: Type) -> Part {
    match ty {
        Type::V4u8 | Type::V4i8 | Type::U8 | Type::I8 => Part::U8,
        Type::V4s8 | Type::S8 => Part::S8,
        Type::V2u16 | Type::V2i16 | Type::U16 | Type::I16 => Part::U16,
        Type::V2s16 | Type::S16 => Part::S16,
        Type::S32 => Part::S32,
        _ => Part::U32,
    }
}

fn float_type(ty: Type) -> FloatType {
    match ty {
        Type::V2f16 | Type::F16 => FloatType::Halves,
        _ => FloatType::Single,
    }
}

/// What computes an instruction of the ALU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Computed {
    /// An operation on 32-bit registers.
    Alu(Alu),
    /// An operation on pairs of registers.
    Wide(Wide),
}

/// The operation of an instruction with a destination. `None` for what is not established, and for what is no operation of the
/// ALU.
pub(super) fn of(instr: &Instr) -> Option<Computed> {
    let row = instr.row();
    if row.dest == DestKind::Pair {
        return wide(instr).map(Computed::Wide);
    }
    let (part, float) = (part(row.ty), float_type(row.ty));
    let (round, clamp) = (round(instr), clamp(instr));
    // Rows whose destination narrows convert the result unless all of the register is written.
    let to_half = instr.dest.is_some_and(|dest| dest.mask != Mask::Full);
    let saturate = instr.flag(Flag::Saturate);
    if instr.flag(Flag::Sticky) {
        return None;
    }
    let alu = match row.operation() {
        // Extensions are all in the selection.
        Operation::Move | Operation::Extend { .. } => Alu::Move,
        Operation::MakeBytes => Alu::Bits(Bits::MakeBytes),
        Operation::MakeHalves => Alu::Bits(Bits::MakeHalves),

        Operation::IntegerToFloat { .. }
        | Operation::FloatToInteger { .. }
        | Operation::HalfToFloat
        | Operation::FloatsToHalves
        | Operation::RoundToIntegral => Alu::Convert(convert(instr, round, clamp)?),

        Operation::Add if row.ty.is_float() => Alu::Arithmetic(Arithmetic::Add {
            float,
            round,
            clamp,
            to_half: to_half && row.dest == DestKind::Narrowing,
        }),
        Operation::Add => Alu::Integer(Integer::Add { part, saturate }),
        Operation::Subtract => Alu::Integer(Integer::Subtract { part, saturate }),
        Operation::Multiply => Alu::Integer(Integer::Multiply { part, saturate }),
        Operation::Average => Alu::Integer(Integer::Average {
            part,
            up: instr.flag(Flag::Rhadd),
        }),
        Operation::Absolute => Alu::Integer(Integer::Absolute { part }),
        Operation::AddCarry => Alu::Integer(Integer::AddCarry {
            return_carry: instr.flag(Flag::ReturnCarry),
        }),
        Operation::SubtractBorrow => Alu::Integer(Integer::SubtractBorrow {
            return_borrow: instr.flag(Flag::ReturnCarry),
        }),
        Operation::DotProduct => {
            let signed_sum = row.ty.is_signed();
            Alu::Integer(Integer::DotProduct {
                // Of signed products either operand may be unsigned (v14).
                signed: [Flag::Unsigned0, Flag::Unsigned1]
                    .map(|flag| signed_sum && !instr.flag(flag)),
                signed_sum,
                saturate,
            })
        }
        Operation::LeadingZeros => Alu::Integer(Integer::LeadingZeros {
            part,
            mask: instr.flag(Flag::Mask),
        }),
        Operation::PopulationCount => Alu::Integer(Integer::PopulationCount),

        Operation::ReverseBits => Alu::Bits(Bits::Reverse),
        Operation::Not => Alu::Bits(Bits::Not),
        Operation::Shift { kind, logic } => Alu::Bits(Bits::Shift {
            part,
            shift: shift(instr, kind, logic),
        }),
        Operation::Join { logic } => Alu::Bits(Bits::Logic(logic)),
        Operation::Mux => Alu::Bits(Bits::Mux {
            part,
            mode: match instr.get::<values::Mux>()? {
                values::Mux::Neg => MuxMode::Negative,
                values::Mux::IntZero => MuxMode::IntegerZero,
                values::Mux::FpZero => MuxMode::FloatZero,
                values::Mux::Bit => MuxMode::Bit,
            },
        }),

        Operation::Select | Operation::Compare { .. } | Operation::CompareChained => {
            Alu::Compare(compare(instr)?)
        }

        Operation::MultiplyAdd => Alu::Arithmetic(Arithmetic::Fma {
            float,
            round,
            clamp,
            to_half: to_half && row.dest == DestKind::Narrowing,
        }),
        Operation::MultiplyAddScale
        | Operation::MultiplyAddScaleZero
        | Operation::MultiplyAddScaleLeft => Alu::Arithmetic(Arithmetic::FmaRscale {
            mode: match row.operation() {
                Operation::MultiplyAddScaleZero => RscaleMode::Zero,
                Operation::MultiplyAddScaleLeft => RscaleMode::Left,
                _ => RscaleMode::None,
            },
            clamp,
            toward_zero: instr.flag(Flag::RoundZero),
        }),
        Operation::AddScaled => Alu::Arithmetic(Arithmetic::AddLscale {
            round,
            clamp,
            to_half,
        }),
        Operation::Minimum | Operation::Maximum => {
            let propagate = instr.get::<MinMaxNan>() == Some(MinMaxNan::Propagate);
            Alu::Arithmetic(if row.operation() == Operation::Minimum {
                Arithmetic::Min {
                    float,
                    clamp,
                    propagate,
                }
            } else {
                Arithmetic::Max {
                    float,
                    clamp,
                    propagate,
                }
            })
        }
        // What the infinity modes do is not established.
        Operation::ScaleByPower if instr.get::<InfMode>() != Some(InfMode::None) => return None,
        Operation::ScaleByPower => Alu::Arithmetic(Arithmetic::Ldexp { float, round }),
        Operation::Mantissa => Alu::Arithmetic(Arithmetic::FrexpMantissa {
            float,
            reduction: reduction(instr)?,
        }),
        Operation::Exponent => Alu::Arithmetic(Arithmetic::FrexpExponent {
            float,
            reduction: reduction(instr)?,
            negate: instr.flag(Flag::NegResult),
        }),
        Operation::Flush => Alu::Arithmetic(Arithmetic::Flush {
            float,
            nan: match instr.get::<values::FlushNan>()? {
                values::FlushNan::None => FlushNan::Keep,
                values::FlushNan::Flush => FlushNan::Zero,
                values::FlushNan::Quiet => FlushNan::Quiet,
            },
            subnormals: instr.flag(Flag::FlushToZero),
            infinities: instr.flag(Flag::FlushInf),
        }),

        Operation::Reciprocal if float == FloatType::Halves => {
            Alu::Special(Special::ReciprocalHalf)
        }
        Operation::Reciprocal => Alu::Special(Special::Reciprocal),
        Operation::ReciprocalSqrt if float == FloatType::Halves => {
            Alu::Special(Special::ReciprocalSqrtHalf)
        }
        Operation::ReciprocalSqrt => Alu::Special(Special::ReciprocalSqrt),
        Operation::SquareRoot => Alu::Special(Special::SquareRoot),
        Operation::LogDivided => Alu::Special(Special::LogD),
        Operation::Log if float == FloatType::Halves => Alu::Special(Special::LogHalf),
        Operation::Log => Alu::Special(Special::Log),
        Operation::ExpFixed => Alu::Special(Special::Exp),
        Operation::Exp => Alu::Special(Special::ExpFloat),
        Operation::Power => Alu::Special(Special::PowerHalf),
        Operation::SineCosine => Alu::Special(match instr.get::<values::SinCos>()? {
            values::SinCos::Sin => Special::Sine,
            values::SinCos::Cos => Special::Cosine,
        }),
        // The shifted angle and the low table are not established.
        Operation::SineTable | Operation::CosineTable if instr.flag(Flag::Offset) => return None,
        Operation::SineTable => Alu::Special(Special::SinTable),
        Operation::CosineTable => Alu::Special(Special::CosTable),
        Operation::ExpTable
            if instr.get::<values::TableAdjust>() == Some(values::TableAdjust::Low) =>
        {
            return None;
        }
        Operation::ExpTable => Alu::Special(Special::ExpTable),
        Operation::CubeMagnitude => Alu::Special(Special::CubeFace1),
        Operation::CubeFace => Alu::Special(Special::CubeFace2),
        Operation::CubeS => Alu::Special(Special::CubeS),
        Operation::CubeT => Alu::Special(Special::CubeT),

        // Not established.
        Operation::MultiplyAddScaleSpecial
        | Operation::ExponentInteger
        | Operation::ExponentFloat
        | Operation::Classify
        | Operation::SineOffset
        | Operation::LogTable
        | Operation::ReciprocalEstimate
        | Operation::ReciprocalSqrtEstimate
        | Operation::ArcTangent
        | Operation::CubeRootEstimate
        | Operation::PowerHelper
        | Operation::ProductSlice
        | Operation::MatrixMultiply
        | Operation::OtherLanesOr => return None,

        // Pairs of registers only.
        Operation::MultiplyWide | Operation::ShiftAdd | Operation::SegmentAdd => return None,

        // Not of the ALU.
        Operation::Nothing
        | Operation::Branch
        | Operation::BranchTo
        | Operation::JumpExtended
        | Operation::Discard
        | Operation::LaneMask
        | Operation::OtherLane
        | Operation::Load { .. }
        | Operation::Store { .. }
        | Operation::LoadConverted
        | Operation::StoreConverted
        | Operation::ByteAddress
        | Operation::ElementAddress
        | Operation::Atomic
        | Operation::AtomicByOne
        | Operation::LoadAttribute
        | Operation::LoadTexel
        | Operation::AttributeAddress
        | Operation::TexelAddress
        | Operation::LoadVarying { .. }
        | Operation::LoadTile
        | Operation::StoreTile
        | Operation::AlphaTest
        | Operation::WriteDepth
        | Operation::Blend
        | Operation::Sample
        | Operation::FetchTexel
        | Operation::Gather
        | Operation::Gradient
        | Operation::SampleTwo
        | Operation::FilterWeights
        | Operation::Barrier
        | Operation::ReadCounter
        | Operation::System
        | Operation::Fault => return None,
    };
    Some(Computed::Alu(alu))
}

/// The operation of an instruction whose destination is a pair.
fn wide(instr: &Instr) -> Option<Wide> {
    let row = instr.row();
    Some(match row.operation() {
        // Sums of 64 bits do not saturate, whatever the bit says.
        Operation::Add => Wide::Add,
        Operation::Subtract => Wide::Subtract,
        Operation::MultiplyWide => Wide::Multiply {
            signed: row.ty.is_signed(),
        },
        Operation::ShiftAdd => Wide::ShiftAdd {
            shift: instr.imm(ImmId::Shift)? as u8,
        },
        Operation::SegmentAdd => Wide::SegmentAdd {
            negate: instr.flag(Flag::Neg),
            preserve_null: instr.flag(Flag::PreserveNull),
        },
        Operation::Not => Wide::Not,
        Operation::Shift { kind, logic } => Wide::Shift(shift(instr, kind, logic)),
        _ => return None,
    })
}

fn shift(instr: &Instr, kind: ShiftKind, logic: Logic) -> Shift {
    Shift {
        kind,
        logic,
        not_result: instr.flag(Flag::NotResult),
    }
}

/// The condition of an instruction.
pub(super) fn condition(instr: &Instr) -> Option<Condition> {
    Some(match instr.get::<values::Condition>()? {
        values::Condition::Eq => Condition::Equal,
        values::Condition::Gt => Condition::Greater,
        values::Condition::Ge => Condition::GreaterEqual,
        values::Condition::Ne => Condition::NotEqual,
        values::Condition::Lt => Condition::Less,
        values::Condition::Le => Condition::LessEqual,
        values::Condition::Gtlt => Condition::Different,
        values::Condition::Total => Condition::TotalOrder,
    })
}

fn result_type(instr: &Instr) -> Option<ResultType> {
    Some(match instr.get::<values::ResultType>()? {
        values::ResultType::I1 => ResultType::One,
        values::ResultType::F1 => ResultType::Float,
        values::ResultType::M1 => ResultType::Mask,
        values::ResultType::Order => ResultType::Ordering,
    })
}

fn compare(instr: &Instr) -> Option<Compare> {
    let ty = instr.row().ty;
    let (part, float) = (part(ty), float_type(ty));
    let condition = condition(instr)?;
    Some(match instr.row().operation() {
        Operation::Select if ty.is_float() => Compare::SelectFloat { float, condition },
        Operation::Select => Compare::Select { part, condition },
        Operation::Compare { and } => {
            let combine = if and { Combine::And } else { Combine::Or };
            let result = result_type(instr)?;
            if ty.is_float() {
                Compare::Float {
                    float,
                    condition,
                    result,
                    combine,
                }
            } else {
                Compare::Integer {
                    part,
                    condition,
                    result,
                    combine,
                }
            }
        }
        _ => Compare::Chained {
            part,
            condition,
            result: result_type(instr)?,
        },
    })
}

fn round(instr: &Instr) -> Round {
    match instr.get::<values::RoundMode>() {
        None | Some(values::RoundMode::Rte) => Round::NearestEven,
        Some(values::RoundMode::Rtp) => Round::Up,
        Some(values::RoundMode::Rtn) => Round::Down,
        Some(values::RoundMode::Rtz) => Round::Zero,
        Some(values::RoundMode::Rtna) => Round::NearestAway,
    }
}

fn clamp(instr: &Instr) -> Clamp {
    match instr.get::<values::Clamp>() {
        None | Some(values::Clamp::None) => Clamp::None,
        Some(values::Clamp::ZeroInf) => Clamp::ZeroToInfinity,
        Some(values::Clamp::MinusOneOne) => Clamp::MinusOneToOne,
        Some(values::Clamp::ZeroOne) => Clamp::ZeroToOne,
    }
}

fn reduction(instr: &Instr) -> Option<Reduction> {
    match instr.get::<FrexpScale>()? {
        FrexpScale::None => Some(Reduction::Normal),
        FrexpScale::Sqrt => Some(Reduction::Sqrt),
        FrexpScale::Log => Some(Reduction::Log),
        FrexpScale::Both => None,
    }
}

fn convert(instr: &Instr, round: Round, clamp: Clamp) -> Option<Convert> {
    let row = instr.row();
    let halves = row.sources.first().is_some_and(|source| source.size == 16);
    Some(match row.operation() {
        Operation::IntegerToFloat { signed } if float_type(row.ty) == FloatType::Single => {
            Convert::IntegerToSingle { signed, round }
        }
        Operation::IntegerToFloat { signed } => Convert::IntegersToHalves { signed, round },
        Operation::FloatToInteger { signed } if !halves => {
            Convert::SingleToInteger { signed, round }
        }
        Operation::FloatToInteger { signed } if row.ty.lanes() == 1 => {
            Convert::HalfToInteger { signed, round }
        }
        Operation::FloatToInteger { signed } => Convert::HalvesToIntegers { signed, round },
        Operation::HalfToFloat => Convert::HalfToSingle,
        Operation::FloatsToHalves => Convert::SinglesToHalves { round, clamp },
        Operation::RoundToIntegral => Convert::Integral {
            float: float_type(row.ty),
            round,
        },
        _ => return None,
    })
}
