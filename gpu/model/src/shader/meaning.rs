//! Meaning: which operation of the ALU an instruction is.
//!
//! One function a family, as in `alu`. What has no established meaning gives `None`, never a guess.
//!
//! Facts: hardware/valhall-isa.md 8 and 9, 17 (what is not established).

use super::alu::{
    Alu, Arithmetic, Bits, Combine, Compare, Condition, Convert, FloatType, FlushNan, Integer,
    Logic, MuxMode, Reduction, ResultType, RscaleMode, Shift, ShiftKind, Special, Wide,
};
use super::float::{Clamp, Round};
use super::lanes::Part;
use eitri_isa::row::Type;
use eitri_isa::values::{self, Flag, FrexpScale, InfMode, MinMaxNan};
use eitri_isa::{ImmId, Instr, Mask, Op};

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

pub(super) fn wide(instr: &Instr) -> Option<Wide> {
    Some(match instr.op() {
        Op::IaddU64 | Op::IaddS64 => Wide::Add,
        Op::IsubU64 | Op::IsubS64 => Wide::Subtract,
        Op::ShaddxU64 | Op::ShaddxS64 => Wide::ShiftAdd {
            shift: instr.imm(ImmId::Shift)? as u8,
        },
        Op::ImuldU64 => Wide::Multiply { signed: false },
        Op::ImuldS64 => Wide::Multiply { signed: true },
        Op::SegAddU64 => Wide::SegmentAdd {
            negate: instr.flag(Flag::Neg),
            preserve_null: instr.flag(Flag::PreserveNull),
        },
        Op::NotOldI64 => Wide::Not,
        _ if instr.row().ty == Type::I64 => Wide::Shift(shift(instr)?),
        _ => return None,
    })
}

/// The opcodes of the shift group, and the fields that tell its members apart: 1.1 and 1.2 of the facts.
fn shift(instr: &Instr) -> Option<Shift> {
    let row = instr.row();
    if !matches!(row.opcode(), 0xB4..=0xB6 | 0x1B7) {
        return None;
    }
    let bits = row.matches.value;
    let kind = match bits >> 32 & 7 {
        0 => ShiftKind::Right,
        1 => ShiftKind::Left,
        2 => ShiftKind::RotateRight,
        3 => ShiftKind::RotateLeft,
        4 => ShiftKind::RightArithmetic,
        _ => return None,
    };
    let logic = match bits >> 24 & 3 {
        0 => Logic::And,
        1 => Logic::Or,
        2 => Logic::Xor,
        _ => return None,
    };
    let not_result = instr.flag(Flag::NotResult);
    Some(Shift {
        kind,
        logic,
        not_result,
    })
}

pub(super) fn alu(instr: &Instr) -> Option<Alu> {
    if let Some(shift) = shift(instr) {
        let part = part(instr.row().ty);
        return Some(Alu::Bits(Bits::Shift { part, shift }));
    }
    integer(instr)
        .map(Alu::Integer)
        .or_else(|| compare(instr).map(Alu::Compare))
        .or_else(|| arithmetic(instr).map(Alu::Arithmetic))
        .or_else(|| convert(instr))
        .or_else(|| special(instr).map(Alu::Special))
        .or_else(|| bits(instr).map(Alu::Bits))
        .or_else(|| (instr.op() == Op::MovI32).then_some(Alu::Move))
}

fn integer(instr: &Instr) -> Option<Integer> {
    let part = part(instr.row().ty);
    let saturate = instr.flag(Flag::Saturate);
    Some(match instr.op() {
        Op::IaddU32 | Op::IaddS32 | Op::IaddV2u16 | Op::IaddV2s16 | Op::IaddV4u8 | Op::IaddV4s8 => {
            Integer::Add { part, saturate }
        }
        Op::IaddImmI32 | Op::IaddImmV2i16 | Op::IaddImmV4i8 => Integer::Add {
            part,
            saturate: false,
        },
        Op::IsubU32 | Op::IsubS32 | Op::IsubV2u16 | Op::IsubV2s16 | Op::IsubV4u8 | Op::IsubV4s8 => {
            Integer::Subtract { part, saturate }
        }
        Op::ImulI32 | Op::ImulS32 | Op::ImulV2i16 | Op::ImulV2s16 | Op::ImulV4i8 | Op::ImulV4s8 => {
            Integer::Multiply { part, saturate }
        }
        Op::HaddU32 | Op::HaddS32 | Op::HaddV2u16 | Op::HaddV2s16 | Op::HaddV4u8 | Op::HaddV4s8 => {
            Integer::Average {
                part,
                up: instr.flag(Flag::Rhadd),
            }
        }
        Op::IabsS32 | Op::IabsV2s16 | Op::IabsV4s8 => Integer::Absolute { part },
        Op::ClzU32 | Op::ClzV2u16 | Op::ClzV4u8 => Integer::LeadingZeros {
            part,
            mask: instr.flag(Flag::Mask),
        },
        Op::PopcountI32 => Integer::PopulationCount,
        Op::IdpV4s8 | Op::IdpV4u8 => Integer::DotProduct {
            // Of signed products either operand may be unsigned (v14).
            signed: [Flag::Unsigned0, Flag::Unsigned1]
                .map(|flag| instr.op() == Op::IdpV4s8 && !instr.flag(flag)),
            signed_sum: instr.op() == Op::IdpV4s8,
            saturate,
        },
        Op::IaddcI32 => Integer::AddCarry {
            return_carry: instr.flag(Flag::ReturnCarry),
        },
        Op::IsubbI32 => Integer::SubtractBorrow {
            return_borrow: instr.flag(Flag::ReturnCarry),
        },
        _ => return None,
    })
}

fn bits(instr: &Instr) -> Option<Bits> {
    let part = part(instr.row().ty);
    Some(match instr.op() {
        Op::MuxI32 | Op::MuxV2i16 | Op::MuxV4i8 => Bits::Mux {
            part,
            mode: match instr.get::<values::Mux>()? {
                values::Mux::Neg => MuxMode::Negative,
                values::Mux::IntZero => MuxMode::IntegerZero,
                values::Mux::FpZero => MuxMode::FloatZero,
                values::Mux::Bit => MuxMode::Bit,
            },
        },
        Op::BitrevI32 => Bits::Reverse,
        Op::NotOldI32 => Bits::Not,
        Op::MkvecV2i16 => Bits::MakeHalves,
        Op::MkvecV2i8 => Bits::MakeBytes,
        Op::AndImmI32 => Bits::Logic(Logic::And),
        Op::OrImmI32 => Bits::Logic(Logic::Or),
        Op::XorImmI32 => Bits::Logic(Logic::Xor),
        _ => return None,
    })
}

fn condition(instr: &Instr) -> Option<Condition> {
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
    let combine = match instr.op() {
        Op::IcmpAndU32
        | Op::IcmpAndV2u16
        | Op::IcmpAndV4u8
        | Op::IcmpAndS32
        | Op::IcmpAndV2s16
        | Op::IcmpAndV4s8
        | Op::FcmpAndF32
        | Op::FcmpAndV2f16 => Combine::And,
        _ => Combine::Or,
    };
    Some(match instr.op() {
        Op::CselU32 | Op::CselS32 | Op::CselV2u16 | Op::CselV2s16 => {
            let condition = condition(instr)?;
            if !condition.is_integer() {
                return None;
            }
            Compare::Select { part, condition }
        }
        Op::CselF32 | Op::CselV2f16 => Compare::SelectFloat {
            float,
            condition: condition(instr)?,
        },
        Op::IcmpOrU32
        | Op::IcmpOrV2u16
        | Op::IcmpOrV4u8
        | Op::IcmpOrS32
        | Op::IcmpOrV2s16
        | Op::IcmpOrV4s8
        | Op::IcmpAndU32
        | Op::IcmpAndV2u16
        | Op::IcmpAndV4u8
        | Op::IcmpAndS32
        | Op::IcmpAndV2s16
        | Op::IcmpAndV4s8 => Compare::Integer {
            part,
            condition: condition(instr)?,
            result: result_type(instr)?,
            combine,
        },
        Op::FcmpOrF32 | Op::FcmpOrV2f16 | Op::FcmpAndF32 | Op::FcmpAndV2f16 => Compare::Float {
            float,
            condition: condition(instr)?,
            result: result_type(instr)?,
            combine,
        },
        Op::IcmpMultiU32 | Op::IcmpMultiS32 => Compare::Chained {
            part,
            condition: condition(instr)?,
            result: result_type(instr)?,
        },
        _ => return None,
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

fn arithmetic(instr: &Instr) -> Option<Arithmetic> {
    let float = float_type(instr.row().ty);
    let (round, clamp) = (round(instr), clamp(instr));
    // Rows whose destination narrows convert the result unless all of the register is written.
    let to_half = instr.dest.is_some_and(|dest| dest.mask != Mask::Full);
    let propagate = instr.get::<MinMaxNan>() == Some(MinMaxNan::Propagate);
    if instr.flag(Flag::Sticky) {
        return None;
    }
    Some(match instr.op() {
        Op::FaddF32 | Op::FaddV2f16 => Arithmetic::Add {
            float,
            round,
            clamp,
            to_half,
        },
        Op::FaddImmF32 | Op::FaddImmV2f16 => Arithmetic::Add {
            float,
            round: Round::NearestEven,
            clamp: Clamp::None,
            to_half: false,
        },
        Op::FmaF32 | Op::FmaV2f16 => Arithmetic::Fma {
            float,
            round,
            clamp,
            to_half,
        },
        Op::FaddLscaleF32 => Arithmetic::AddLscale {
            round,
            clamp,
            to_half,
        },
        Op::FminF32 | Op::FminV2f16 => Arithmetic::Min {
            float,
            clamp,
            propagate,
        },
        Op::FmaxF32 | Op::FmaxV2f16 => Arithmetic::Max {
            float,
            clamp,
            propagate,
        },
        // What the infinity modes do is not established.
        Op::LdexpF32 | Op::LdexpV2f16 if instr.get::<InfMode>() != Some(InfMode::None) => {
            return None;
        }
        Op::LdexpF32 | Op::LdexpV2f16 => Arithmetic::Ldexp { float, round },
        Op::FmaRscaleF32 | Op::FmaRscaleNF32 | Op::FmaRscaleLeftF32 => Arithmetic::FmaRscale {
            mode: match instr.op() {
                Op::FmaRscaleNF32 => RscaleMode::Zero,
                Op::FmaRscaleLeftF32 => RscaleMode::Left,
                _ => RscaleMode::None,
            },
            clamp,
            toward_zero: instr.flag(Flag::RoundZero),
        },
        Op::FrexpmF32 | Op::FrexpmV2f16 => Arithmetic::FrexpMantissa {
            float,
            reduction: reduction(instr)?,
        },
        Op::FrexpeF32 | Op::FrexpeV2f16 => Arithmetic::FrexpExponent {
            float,
            reduction: reduction(instr)?,
            negate: instr.flag(Flag::NegResult),
        },
        Op::FlushF32 | Op::FlushV2f16 => Arithmetic::Flush {
            float,
            nan: match instr.get::<values::FlushNan>()? {
                values::FlushNan::None => FlushNan::Keep,
                values::FlushNan::Flush => FlushNan::Zero,
                values::FlushNan::Quiet => FlushNan::Quiet,
            },
            subnormals: instr.flag(Flag::FlushToZero),
            infinities: instr.flag(Flag::FlushInf),
        },
        _ => return None,
    })
}

fn convert(instr: &Instr) -> Option<Alu> {
    let round = round(instr);
    let convert = match instr.op() {
        // Extensions are all in the selection.
        Op::S8ToS32
        | Op::U8ToU32
        | Op::S16ToS32
        | Op::U16ToU32
        | Op::V2s8ToV2s16
        | Op::V2u8ToV2u16 => return Some(Alu::Move),
        Op::S8ToF32 | Op::S16ToF32 | Op::S32ToF32 => Convert::IntegerToSingle {
            signed: true,
            round,
        },
        Op::U8ToF32 | Op::U16ToF32 | Op::U32ToF32 => Convert::IntegerToSingle {
            signed: false,
            round,
        },
        Op::V2s8ToV2f16 | Op::V2s16ToV2f16 => Convert::IntegersToHalves {
            signed: true,
            round,
        },
        Op::V2u8ToV2f16 | Op::V2u16ToV2f16 => Convert::IntegersToHalves {
            signed: false,
            round,
        },
        Op::F32ToS32 => Convert::SingleToInteger {
            signed: true,
            round,
        },
        Op::F32ToU32 => Convert::SingleToInteger {
            signed: false,
            round,
        },
        Op::F16ToS32 => Convert::HalfToInteger {
            signed: true,
            round,
        },
        Op::F16ToU32 => Convert::HalfToInteger {
            signed: false,
            round,
        },
        Op::V2f16ToV2s16 => Convert::HalvesToIntegers {
            signed: true,
            round,
        },
        Op::V2f16ToV2u16 => Convert::HalvesToIntegers {
            signed: false,
            round,
        },
        Op::F16ToF32 => Convert::HalfToSingle,
        Op::V2f32ToV2f16 => Convert::SinglesToHalves {
            round,
            clamp: clamp(instr),
        },
        Op::FroundF32 | Op::FroundV2f16 => Convert::Integral {
            float: float_type(instr.row().ty),
            round,
        },
        _ => return None,
    };
    Some(Alu::Convert(convert))
}

fn special(instr: &Instr) -> Option<Special> {
    if instr.flag(Flag::Offset)
        || instr.get::<values::TableAdjust>() == Some(values::TableAdjust::Low)
    {
        return None;
    }
    Some(match instr.op() {
        Op::FrcpF32 => Special::Reciprocal,
        Op::FrsqF32 => Special::ReciprocalSqrt,
        Op::FrcpF16 => Special::ReciprocalHalf,
        Op::FrsqF16 => Special::ReciprocalSqrtHalf,
        Op::FlogdF32 => Special::LogD,
        Op::FexpF32 => Special::Exp,
        Op::FexpTableU4 => Special::ExpTable,
        Op::FsinTableU6 => Special::SinTable,
        Op::FcosTableU6 => Special::CosTable,
        Op::Cubeface1 => Special::CubeFace1,
        Op::Cubeface2 => Special::CubeFace2,
        Op::CubeSsel => Special::CubeS,
        Op::CubeTsel => Special::CubeT,
        _ => return None,
    })
}
