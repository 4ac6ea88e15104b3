//! Which rows an instruction rests on: by its word, and by the values it meets.
//!
//! Facts: hardware/valhall-isa.md 8 and 9, whose tags say what is tested, inferred and not established.

use super::{Inexact, InexactSet};
use eitri_isa::meaning::Operation;
use eitri_isa::row::Type;
use eitri_isa::values::Flag;
use eitri_isa::{Instr, Operand, Special};

/// What an instruction rests on, whatever its operands hold.
pub(crate) fn of_instruction(instr: &Instr) -> InexactSet {
    let mut set = match instr.row().operation() {
        Operation::Reciprocal | Operation::ReciprocalSqrt => {
            InexactSet::of(Inexact::ReciprocalAccuracy)
        }
        Operation::LogDivided
        | Operation::ExpFixed
        | Operation::SineTable
        | Operation::CosineTable
        | Operation::SineOffset
        | Operation::ExpTable
        | Operation::LogTable
        | Operation::ReciprocalEstimate
        | Operation::ReciprocalSqrtEstimate => InexactSet::of(Inexact::TableAccuracy),
        Operation::SquareRoot
        | Operation::Log
        | Operation::Exp
        | Operation::Power
        | Operation::SineCosine => InexactSet::of(Inexact::FunctionAccuracy),
        Operation::CubeS | Operation::CubeT => InexactSet::of(Inexact::CubeNumerators),
        Operation::SegmentAdd if instr.flag(Flag::PreserveNull) => {
            InexactSet::of(Inexact::NullSegment)
        }
        Operation::StoreConverted => InexactSet::of(Inexact::Conversion),
        _ => InexactSet::EMPTY,
    };
    let is_warp_id = |index| {
        let source = instr.source(index).map(|source| source.operand);
        matches!(source, Some(Operand::Special { special, .. }) if special == Special::WarpId)
    };
    if (0..instr.row().sources.len()).any(is_warp_id) {
        set.add(InexactSet::of(Inexact::WarpId));
    }
    set
}

/// The result's parts that count as a float of the operation's type, as (exponent all ones, fraction not 0, is subnormal).
fn parts(ty: Type, word: u32) -> impl Iterator<Item = (bool, bool, bool)> {
    let single = |word: u32| {
        let (exponent, fraction) = (word >> 23 & 0xff, word & 0x7f_ffff);
        (
            exponent == 0xff,
            fraction != 0,
            exponent == 0 && fraction != 0,
        )
    };
    let half = |word: u32| {
        let (exponent, fraction) = (word >> 10 & 0x1f, word & 0x3ff);
        (
            exponent == 0x1f,
            fraction != 0,
            exponent == 0 && fraction != 0,
        )
    };
    let parts = match ty {
        Type::F32 => [Some(single(word)), None],
        Type::F16 => [Some(half(word)), None],
        Type::V2f16 => [Some(half(word)), Some(half(word >> 16))],
        _ => [None, None],
    };
    parts.into_iter().flatten()
}

/// What an instruction of the ALU rests on because of what a lane had: its sources as they were read, and its result.
pub(crate) fn by_values(instr: &Instr, sources: [u32; 4], result: u32) -> InexactSet {
    let row = instr.row();
    let ty = row.ty;
    let mut set = InexactSet::EMPTY;
    let is_nan = |(special, fraction, _): (bool, bool, bool)| special && fraction;
    match row.operation() {
        Operation::Mantissa | Operation::Exponent => {
            let special = |(special, fraction, subnormal): (bool, bool, bool)| {
                special || (!fraction && !subnormal && is_zero(ty, sources[0]))
            };
            if parts(ty, sources[0]).any(special) {
                set.add(InexactSet::of(Inexact::SpecialMantissa));
            }
        }
        Operation::MultiplyAddScale
        | Operation::MultiplyAddScaleZero
        | Operation::MultiplyAddScaleLeft
            if parts(ty, result).any(|(_, _, subnormal)| subnormal) =>
        {
            set.add(InexactSet::of(Inexact::ScaledRounding));
        }
        Operation::IntegerToFloat { .. } if ty == Type::V2f16 || row.ty == Type::F16 => {
            // Of 16 bits without a sign alone some are beyond 65504.
            let most = |word: u32| word & 0x7fff >= 0x7bff;
            if most(result) || most(result >> 16) {
                set.add(InexactSet::of(Inexact::HalfOverflow));
            }
        }
        Operation::AddCarry | Operation::SubtractBorrow if sources[2] != 0 => {
            set.add(InexactSet::of(Inexact::CarryIn));
        }
        _ => {}
    }
    // Comparisons, selects and moves give no NaN of their own.
    let computes = matches!(
        row.operation(),
        Operation::Add
            | Operation::MultiplyAdd
            | Operation::MultiplyAddScale
            | Operation::MultiplyAddScaleZero
            | Operation::MultiplyAddScaleLeft
            | Operation::AddScaled
            | Operation::ScaleByPower
            | Operation::RoundToIntegral
    );
    if computes && parts(ty, result).any(is_nan) {
        set.add(InexactSet::of(Inexact::NanPayload));
    }
    set
}

/// Whether a part of a value is a zero of either sign.
fn is_zero(ty: Type, word: u32) -> bool {
    match ty {
        Type::F32 => word << 1 == 0,
        Type::F16 => word << 17 == 0,
        Type::V2f16 => word << 17 == 0 || word >> 16 << 17 == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_isa::{Arch, Syntax};

    fn instr(text: &str) -> Instr {
        Instr::parse(text, Arch::V10, Syntax::Mesa24).expect("it is an instruction")
    }

    #[test]
    fn functions_are_not_exact_and_sums_are() {
        let of = |text| of_instruction(&instr(text));
        assert!(of("FRCP.f32 r0, r1").contains(Inexact::ReciprocalAccuracy));
        assert!(of("FSIN_TABLE.u6 r0, r1").contains(Inexact::TableAccuracy));
        assert_eq!(of("FADD.f32 r0, r1, r2"), InexactSet::EMPTY);
        assert_eq!(of("IADD.u32 r0, r1, r2"), InexactSet::EMPTY);
        assert!(of("MOV.i32 r0, warp_id.w0").contains(Inexact::WarpId));
    }

    #[test]
    fn a_sum_is_exact_unless_it_is_no_number() {
        let add = instr("FADD.f32 r0, r1, r2");
        let infinity = 0x7f80_0000;
        let of = |result| by_values(&add, [infinity, infinity, 0, 0], result);
        assert_eq!(of(infinity), InexactSet::EMPTY);
        assert_eq!(of(0x7fc0_0000), InexactSet::of(Inexact::NanPayload));
    }

    #[test]
    fn the_mantissa_of_a_number_is_exact_and_that_of_zero_is_not() {
        let mantissa = instr("FREXPM.f32 r0, r1");
        let of = |source: f32| by_values(&mantissa, [source.to_bits(), 0, 0, 0], 0);
        assert_eq!(of(1.5), InexactSet::EMPTY);
        for source in [0.0, -0.0, f32::INFINITY, f32::NAN] {
            assert_eq!(
                of(source),
                InexactSet::of(Inexact::SpecialMantissa),
                "{source}"
            );
        }
    }
}
