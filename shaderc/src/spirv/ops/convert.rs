//! Conversions between numbers of all widths, as steps that work for constants and for code alike; bitcasts.
//!
//! Facts: hardware/compiler-isel.md 4.5, 5, 15.1.
use std::rc::Rc;

use rspirv::spirv::Op;

use crate::interp::eval::eval;
use crate::ir::{self, Alu, Builder, Value};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;
use crate::spirv::types::Type;

/// To an integer of so many bits, what is above cut off or zero.
pub(crate) fn to_unsigned(bits: u32) -> Alu {
    match bits {
        8 => Alu::U2U8,
        16 => Alu::U2U16,
        64 => Alu::U2U64,
        _ => Alu::U2U32,
    }
}

fn to_signed(bits: u32) -> Alu {
    match bits {
        8 => Alu::U2U8,
        16 => Alu::S2S16,
        64 => Alu::S2S64,
        _ => Alu::S2S32,
    }
}

/// The operations that convert a component of a number, one after the other; none if the types don't allow it.
pub(crate) fn steps(op: Op, from: &Type, to: &Type) -> Option<Vec<Alu>> {
    let (from, to) = (from.component(), to.component());
    let mut steps = vec![];
    match (op, from, to) {
        (Op::UConvert | Op::SConvert, Type::Int { bits: from, .. }, Type::Int { bits: to, .. }) => {
            if from != to {
                steps.push(match op {
                    Op::UConvert => to_unsigned(*to),
                    _ => to_signed(*to),
                });
            }
        }
        (Op::FConvert, Type::Float { bits: from }, Type::Float { bits: to }) => match (from, to) {
            (32, 16) => steps.push(Alu::F2F16),
            (16, 32) => steps.push(Alu::F2F32),
            _ => {}
        },
        (
            Op::ConvertFToU | Op::ConvertFToS,
            Type::Float { bits: from },
            Type::Int { bits: to, .. },
        ) => {
            if *from == 16 {
                steps.push(Alu::F2F32);
            }
            steps.push(match (op, to) {
                (Op::ConvertFToU, 64) => Alu::F2U64,
                (Op::ConvertFToU, _) => Alu::F2U,
                (_, 64) => Alu::F2S64,
                _ => Alu::F2I,
            });
            if *to < 32 {
                steps.push(to_unsigned(*to));
            }
        }
        (
            Op::ConvertUToF | Op::ConvertSToF,
            Type::Int { bits: from, .. },
            Type::Float { bits: to },
        ) => {
            let unsigned = op == Op::ConvertUToF;
            match (from, unsigned) {
                (64, true) => steps.push(Alu::U64ToF),
                (64, false) => steps.push(Alu::S64ToF),
                (32, true) => steps.push(Alu::U2F),
                (32, false) => steps.push(Alu::I2F),
                (_, true) => steps.extend([Alu::U2U32, Alu::U2F]),
                (_, false) => steps.extend([Alu::S2S32, Alu::I2F]),
            }
            if *to == 16 {
                steps.push(Alu::F2F16);
            }
        }
        _ => return None,
    }
    Some(steps)
}

/// Whether an instruction is one of these conversions.
pub(crate) fn is_conversion(op: Op) -> bool {
    matches!(
        op,
        Op::UConvert
            | Op::SConvert
            | Op::FConvert
            | Op::ConvertFToU
            | Op::ConvertFToS
            | Op::ConvertUToF
            | Op::ConvertSToF
    )
}

/// Does the steps on a constant of that type.
pub(crate) fn fold(steps: &[Alu], ty: ir::Type, bits: u64) -> u64 {
    let mut at = (ty, bits);
    for step in steps {
        let bits = eval(*step, at.0, [at.1, 0, 0, 0]);
        at = (step.result().ty().unwrap_or(at.0), bits);
    }
    at.1
}

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    if op == Op::Bitcast {
        let scalars = bitcast(t, instr)?;
        t.define(instr, scalars)?;
        return Ok(true);
    }
    if !is_conversion(op) {
        return Ok(false);
    }
    let (from, to) = (t.operand(instr, 0)?, t.result_type(instr)?);
    let steps = steps(op, &from.ty, &to).ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
    let convert = |value: &Value| {
        steps
            .iter()
            .fold(*value, |value, step| t.builder.alu(*step, &[value]))
    };
    let scalars: Rc<[Value]> = from.scalars.iter().map(convert).collect();
    t.define(instr, scalars)?;
    Ok(true)
}

fn bitcast(t: &mut Translator<'_>, instr: &Instr) -> Result<Vec<Value>> {
    let (from, to) = (t.operand(instr, 0)?, t.result_type(instr)?);
    let bits = |ty: &Type| match ty.component() {
        Type::Int { bits, .. } | Type::Float { bits } => Some(*bits),
        Type::Address { .. } => Some(64),
        _ => None,
    };
    let (Some(old), Some(new)) = (bits(&from.ty), bits(&to)) else {
        return Err(instr.unsupported(Feature::Use, "a conversion of those types"));
    };
    Ok(regroup(&mut t.builder, &from.scalars, old, new))
}

/// The same bits as words of another width: the lowest come first.
pub(crate) fn regroup(b: &mut Builder<'_>, words: &[Value], old: u32, new: u32) -> Vec<Value> {
    if old >= new {
        let mut pieces = vec![];
        for word in words {
            for at in (0..old).step_by(new as usize) {
                let shifted = match at {
                    0 => *word,
                    at => b.alu_word(Alu::UShr, *word, at),
                };
                pieces.push(match old == new {
                    true => shifted,
                    false => b.alu(to_unsigned(new), &[shifted]),
                });
            }
        }
        return pieces;
    }
    let groups = words.chunks((new / old) as usize);
    groups
        .map(|group| {
            let mut whole = None;
            for (number, word) in group.iter().enumerate() {
                let wide = b.alu(to_unsigned(new), &[*word]);
                let placed = match number as u32 * old {
                    0 => wide,
                    at => b.alu_word(Alu::IShl, wide, at),
                };
                whole = Some(match whole {
                    None => placed,
                    Some(whole) => b.alu(Alu::IOr, &[whole, placed]),
                });
            }
            whole.unwrap_or(group[0])
        })
        .collect()
}

/// An integer as one of 32 bits.
pub(crate) fn to_word(b: &mut Builder<'_>, value: Value, signed: bool) -> Value {
    match (b.function.ty(value), signed) {
        (ir::Type::W32 | ir::Type::Bool, _) => value,
        (ir::Type::W64, _) | (_, false) => b.alu(Alu::U2U32, &[value]),
        (_, true) => b.alu(Alu::S2S32, &[value]),
    }
}

/// An integer, cut off or with zeros above.
pub(crate) fn fit(b: &mut Builder<'_>, value: Value, ty: ir::Type) -> Value {
    match b.function.ty(value) == ty {
        true => value,
        false => b.alu(to_unsigned(ty.bits()), &[value]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::BlockId;
    use crate::ir::parse::parse;

    /// A conversion to a word's own width would be an instruction that does nothing.
    #[test]
    fn words_of_the_same_width_stay_themselves() {
        let text = "function main\nworkgroup 1 1 1\nb0:\n  return\n";
        let mut function = parse(text).expect("it is IR");
        let mut builder = Builder::new(&mut function, BlockId(0));
        let words = [7, 8].map(|word| builder.word(word));
        for width in [8, 16, 32, 64] {
            assert_eq!(regroup(&mut builder, &words, width, width), words);
        }
        assert!(function.block(BlockId(0)).insts.is_empty());
    }
}
