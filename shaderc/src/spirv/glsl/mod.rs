//! GLSL.std.450: extended instructions to IR.
//!
//! Facts: hardware/compiler-isel.md 15.2 for the expansions; hardware/compiler-correctness.md 1 for what they must keep.
mod arithmetic;
mod interpolate;
mod inverse;
mod pack;
mod trigonometry;
mod vector;

use std::rc::Rc;

use rspirv::spirv::GlslStd450Op as Glsl;

use super::error::{Feature, Invalid};
use super::ops::convert::{fit, to_word};
use super::reader::{Instr, Result};
use super::translate::{Composite, Translator};
use super::types::Type;
use crate::ir::{self, Alu, Builder, Memory, Value};

/// Words before the operands: the set and the number of the instruction.
const FIRST: usize = 2;

/// Translates an instruction of the set.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    let number = instr.word(1)?;
    let glsl = Glsl::from_u32(number).ok_or_else(|| instr.invalid(Invalid::Literal(number)))?;
    if let Some(sampling) = interpolate::sampling(glsl) {
        return interpolate::instr(t, instr, sampling);
    }
    let mut operands = vec![];
    for index in FIRST..instr.operands.len() {
        // Modf and Frexp have a pointer, which they look up themselves.
        if index == FIRST + 1 && matches!(glsl, Glsl::Modf | Glsl::Frexp) {
            break;
        }
        let operand = t.operand(instr, index)?;
        operands.push(widened(t, glsl, operand));
    }
    let all_words = operands.iter().all(|operand| {
        let mut scalars = operand.scalars.iter();
        scalars.all(|value| t.builder.function.ty(*value) != ir::Type::Bool)
    });
    let first = operands.first();
    let first = first.ok_or_else(|| instr.invalid(Invalid::MissingOperand))?;
    if !all_words {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    if let Some((count, each)) = by_component(glsl) {
        let scalars = map(t, instr, &operands, count, each)?;
        return define(t, instr, scalars);
    }
    let vectors: Vec<&[Value]> = operands.iter().map(|operand| &*operand.scalars).collect();
    let same = |count: usize| match vectors.len() >= count
        && vectors[..count]
            .iter()
            .all(|vector| vector.len() == vectors[0].len())
    {
        true => Ok(()),
        false => Err(instr.invalid(Invalid::TypeMismatch)),
    };
    let b = &mut t.builder;
    let scalars = match glsl {
        Glsl::Length => vec![vector::length(b, vectors[0])],
        Glsl::Distance => {
            same(2)?;
            vec![vector::distance(b, vectors[0], vectors[1])]
        }
        Glsl::Cross => {
            same(2)?;
            if vectors[0].len() != 3 {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            vector::cross(b, vectors[0], vectors[1])
        }
        Glsl::Normalize => vector::normalize(b, vectors[0]),
        Glsl::FaceForward => {
            same(3)?;
            vector::face_forward(b, vectors[0], vectors[1], vectors[2])
        }
        Glsl::Reflect => {
            same(2)?;
            vector::reflect(b, vectors[0], vectors[1])
        }
        Glsl::Refract => {
            same(2)?;
            match vectors.get(2) {
                Some(&&[eta]) => vector::refract(b, vectors[0], vectors[1], eta),
                _ => return Err(instr.invalid(Invalid::TypeMismatch)),
            }
        }
        Glsl::Determinant => vec![inverse::determinant(b, square(instr, first)?)],
        Glsl::MatrixInverse => inverse::inverse(b, square(instr, first)?),
        Glsl::PackSnorm4x8
        | Glsl::PackUnorm4x8
        | Glsl::PackSnorm2x16
        | Glsl::PackUnorm2x16
        | Glsl::PackHalf2x16
        | Glsl::UnpackSnorm4x8
        | Glsl::UnpackUnorm4x8
        | Glsl::UnpackSnorm2x16
        | Glsl::UnpackUnorm2x16
        | Glsl::UnpackHalf2x16 => pack::convert(b, glsl, vectors[0])
            .ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?,
        Glsl::Modf | Glsl::ModfStruct | Glsl::Frexp | Glsl::FrexpStruct => {
            return two_results(t, instr, glsl, first);
        }
        _ => {
            let name = format!("GLSL.std.450 {glsl:?}");
            return Err(instr.unsupported(Feature::Instruction, name));
        }
    };
    define(t, instr, scalars)
}

/// Floats of 16 bits are computed in binary32, which is precise enough for all of these, unless there is an operation of
/// 16 bits that is the same; a scale is an integer of 32 bits.
fn widened(t: &mut Translator<'_>, glsl: Glsl, operand: Composite) -> Composite {
    let own = matches!(
        glsl,
        Glsl::FAbs
            | Glsl::Fma
            | Glsl::FMin
            | Glsl::NMin
            | Glsl::FMax
            | Glsl::NMax
            | Glsl::FClamp
            | Glsl::NClamp
    );
    if own {
        return operand;
    }
    let scalars = operand.scalars.iter();
    let scalars = match operand.ty.component() {
        Type::Float { bits: 16 } => scalars
            .map(|value| t.builder.alu(Alu::F2F32, &[*value]))
            .collect(),
        Type::Int { bits, signed } if glsl == Glsl::Ldexp => scalars
            .map(|value| match bits {
                64 => clamped(t, *value),
                _ => to_word(&mut t.builder, *value, *signed),
            })
            .collect(),
        _ => return operand,
    };
    Composite {
        ty: operand.ty.clone(),
        scalars,
    }
}

/// An exponent of 64 bits as one of 32: far beyond what any float has all are alike.
fn clamped(t: &mut Translator<'_>, value: Value) -> Value {
    const MOST: i64 = 1 << 16;
    let raised = t
        .builder
        .alu_bits(Alu::SMax, value, (-MOST).cast_unsigned());
    let lowered = t.builder.alu_bits(Alu::SMin, raised, MOST.cast_unsigned());
    to_word(&mut t.builder, lowered, true)
}

/// Gives the result its scalars, at the width that its type wants.
fn define(t: &mut Translator<'_>, instr: &Instr, scalars: Vec<Value>) -> Result<()> {
    let ty = t.result_type(instr)?;
    let types = ty.value_types();
    let float = ty.is_float();
    let scalars = scalars.into_iter().enumerate().map(|(number, value)| {
        let wanted = types.get(number).copied();
        narrowed(t, value, wanted, float)
    });
    let scalars: Rc<[Value]> = scalars.collect();
    t.define(instr, scalars)
}

/// A float or integer of 32 bits at the width that is wanted.
fn narrowed(t: &mut Translator<'_>, value: Value, wanted: Option<ir::Type>, float: bool) -> Value {
    match (t.builder.function.ty(value), wanted) {
        (ir::Type::W32, Some(ir::Type::W16)) if float => t.builder.alu(Alu::F2F16, &[value]),
        (own, Some(wanted)) if own != wanted && wanted != ir::Type::Bool => {
            fit(&mut t.builder, value, wanted)
        }
        _ => value,
    }
}

/// Builds one component.
type Each = fn(&mut Builder<'_>, &[Value]) -> Value;

/// Number of operands and expansion of an instruction that works component by component.
#[rustfmt::skip]
fn by_component(glsl: Glsl) -> Option<(usize, Each)> {
    use arithmetic as a;
    use trigonometry as t;
    let row: (usize, Each) = match glsl {
        Glsl::Round | Glsl::RoundEven => (1, |b, x| b.alu(Alu::FRoundEven, x)),
        Glsl::Trunc                   => (1, |b, x| b.alu(Alu::FTrunc, x)),
        Glsl::FAbs                    => (1, |b, x| b.alu(Alu::FAbs, x)),
        Glsl::SAbs                    => (1, |b, x| b.alu(Alu::IAbs, x)),
        Glsl::FSign                   => (1, |b, x| b.alu(Alu::FSign, x)),
        Glsl::SSign                   => (1, |b, x| b.alu(Alu::SSign, x)),
        Glsl::Floor                   => (1, |b, x| b.alu(Alu::FFloor, x)),
        Glsl::Ceil                    => (1, |b, x| b.alu(Alu::FCeil, x)),
        Glsl::Fract                   => (1, |b, x| b.alu(Alu::FFract, x)),
        Glsl::Radians                 => (1, |b, x| b.alu_float(Alu::FMul, x[0], std::f32::consts::PI / 180.0)),
        Glsl::Degrees                 => (1, |b, x| b.alu_float(Alu::FMul, x[0], 180.0 / std::f32::consts::PI)),
        Glsl::Sin                     => (1, |b, x| b.alu(Alu::FSin, x)),
        Glsl::Cos                     => (1, |b, x| b.alu(Alu::FCos, x)),
        Glsl::Tan                     => (1, |b, x| t::tan(b, x[0])),
        Glsl::Asin                    => (1, |b, x| t::asin(b, x[0])),
        Glsl::Acos                    => (1, |b, x| t::acos(b, x[0])),
        Glsl::Atan                    => (1, |b, x| t::atan(b, x[0])),
        Glsl::Sinh                    => (1, |b, x| t::sinh(b, x[0])),
        Glsl::Cosh                    => (1, |b, x| t::cosh(b, x[0])),
        Glsl::Tanh                    => (1, |b, x| t::tanh(b, x[0])),
        Glsl::Asinh                   => (1, |b, x| t::asinh(b, x[0])),
        Glsl::Acosh                   => (1, |b, x| t::acosh(b, x[0])),
        Glsl::Atanh                   => (1, |b, x| t::atanh(b, x[0])),
        Glsl::Atan2                   => (2, |b, x| t::atan2(b, x[0], x[1])),
        Glsl::Pow                     => (2, |b, x| a::pow(b, x[0], x[1])),
        Glsl::Exp                     => (1, |b, x| a::exp(b, x[0])),
        Glsl::Log                     => (1, |b, x| a::log(b, x[0])),
        Glsl::Exp2                    => (1, |b, x| b.alu(Alu::FExp2, x)),
        Glsl::Log2                    => (1, |b, x| b.alu(Alu::FLog2, x)),
        Glsl::Sqrt                    => (1, |b, x| b.alu(Alu::FSqrt, x)),
        Glsl::InverseSqrt             => (1, |b, x| b.alu(Alu::FRsq, x)),
        Glsl::FMin | Glsl::NMin       => (2, |b, x| b.alu(Alu::FMin, x)),
        Glsl::FMax | Glsl::NMax       => (2, |b, x| b.alu(Alu::FMax, x)),
        Glsl::UMin                    => (2, |b, x| b.alu(Alu::UMin, x)),
        Glsl::UMax                    => (2, |b, x| b.alu(Alu::UMax, x)),
        Glsl::SMin                    => (2, |b, x| b.alu(Alu::SMin, x)),
        Glsl::SMax                    => (2, |b, x| b.alu(Alu::SMax, x)),
        Glsl::FClamp | Glsl::NClamp   => (3, |b, x| a::clamp(b, x, Alu::FMax, Alu::FMin)),
        Glsl::UClamp                  => (3, |b, x| a::clamp(b, x, Alu::UMax, Alu::UMin)),
        Glsl::SClamp                  => (3, |b, x| a::clamp(b, x, Alu::SMax, Alu::SMin)),
        Glsl::FMix                    => (3, |b, x| a::mix(b, x[0], x[1], x[2])),
        Glsl::Step                    => (2, |b, x| a::step(b, x[0], x[1])),
        Glsl::SmoothStep              => (3, |b, x| a::smooth_step(b, x[0], x[1], x[2])),
        Glsl::Fma                     => (3, |b, x| b.alu(Alu::FFma, x)),
        Glsl::Ldexp                   => (2, |b, x| b.alu(Alu::FLdexp, x)),
        Glsl::FindILsb                => (1, |b, x| b.alu(Alu::FindLsb, x)),
        Glsl::FindSMsb                => (1, |b, x| b.alu(Alu::SFindMsb, x)),
        Glsl::FindUMsb                => (1, |b, x| b.alu(Alu::UFindMsb, x)),
        _ => return None,
    };
    Some(row)
}

fn map(
    t: &mut Translator<'_>,
    instr: &Instr,
    operands: &[Composite],
    count: usize,
    each: Each,
) -> Result<Vec<Value>> {
    let components = operands[0].scalars.len();
    let fits = operands.len() == count
        && operands
            .iter()
            .all(|operand| operand.scalars.len() == components);
    if !fits {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    Ok((0..components)
        .map(|component| {
            let args: Vec<Value> = operands
                .iter()
                .map(|operand| operand.scalars[component])
                .collect();
            each(&mut t.builder, &args)
        })
        .collect())
}

/// A square matrix as its columns.
fn square<'c>(instr: &Instr, matrix: &'c Composite) -> Result<Vec<&'c [Value]>> {
    let size = match matrix.scalars.len() {
        4 => 2,
        9 => 3,
        16 => 4,
        _ => return Err(instr.invalid(Invalid::TypeMismatch)),
    };
    Ok(matrix.scalars.chunks(size).collect())
}

/// Modf and Frexp: a second result, in a struct or through a pointer.
fn two_results(
    t: &mut Translator<'_>,
    instr: &Instr,
    glsl: Glsl,
    operand: &Composite,
) -> Result<()> {
    let (mut first, mut second) = (vec![], vec![]);
    for value in operand.scalars.iter() {
        let b = &mut t.builder;
        let [one, two] = match glsl {
            Glsl::Modf | Glsl::ModfStruct => arithmetic::modf(b, *value),
            _ => [
                b.alu(Alu::FrexpMant, &[*value]),
                b.alu(Alu::FrexpExp, &[*value]),
            ],
        };
        first.push(one);
        second.push(two);
    }
    if matches!(glsl, Glsl::ModfStruct | Glsl::FrexpStruct) {
        return two_members(t, instr, first, second);
    }
    let pointer = t.pointer(instr, FIRST + 1)?;
    if pointer.ty.scalars() != second.len() as u64 || matches!(pointer.ty.component(), Type::Bool) {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let (wanted, float) = (pointer.ty.component().scalar(), pointer.ty.is_float());
    let second: Vec<Value> = second
        .into_iter()
        .map(|value| narrowed(t, value, wanted, float))
        .collect();
    let value = Composite {
        ty: pointer.ty.clone(),
        scalars: second.into(),
    };
    t.store(instr, &pointer, &value, Memory::Plain)?;
    define(t, instr, first)
}

/// A struct of a float and of a float or an integer.
fn two_members(
    t: &mut Translator<'_>,
    instr: &Instr,
    first: Vec<Value>,
    second: Vec<Value>,
) -> Result<()> {
    let ty = t.result_type(instr)?;
    let Type::Struct { members, .. } = &*ty else {
        return Err(instr.invalid(Invalid::TypeMismatch));
    };
    let mut scalars = vec![];
    for (values, member) in [first, second].into_iter().zip(members.iter()) {
        let (wanted, float) = (member.ty.component().scalar(), member.ty.is_float());
        let values = values.into_iter();
        scalars.extend(values.map(|value| narrowed(t, value, wanted, float)));
    }
    t.define(instr, scalars)
}
