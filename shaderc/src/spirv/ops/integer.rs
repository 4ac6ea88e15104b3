//! Integer instructions with several results or odd operands: bit fields, wide sums and products, dot products.
//!
//! Facts: hardware/compiler-isel.md 4.3 and 15.1.
use rspirv::spirv::{Op, PackedVectorFormat};

use crate::ir::{self, Alu, Value};
use crate::spirv::error::Invalid;
use crate::spirv::ops::convert;
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::{Composite, Translator};
use crate::spirv::types::Type;

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    let scalars = match op {
        Op::BitFieldInsert => {
            let (base, insert) = (words(t, instr, 0)?, words(t, instr, 1)?);
            if base.ty != insert.ty {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let offset = t.integer(instr, 2)?;
            let count = t.integer(instr, 3)?;
            let pairs = base.scalars.iter().zip(insert.scalars.iter());
            pairs
                .map(|(base, insert)| {
                    t.builder
                        .alu(Alu::BitInsert, &[*base, *insert, offset, count])
                })
                .collect()
        }
        Op::BitFieldSExtract | Op::BitFieldUExtract => {
            let alu = match op {
                Op::BitFieldSExtract => Alu::SBitExtract,
                _ => Alu::UBitExtract,
            };
            let base = words(t, instr, 0)?;
            let offset = t.integer(instr, 1)?;
            let count = t.integer(instr, 2)?;
            let base = base.scalars.iter();
            base.map(|base| t.builder.alu(alu, &[*base, offset, count]))
                .collect()
        }
        Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => {
            let (a, b) = (words(t, instr, 0)?, words(t, instr, 1)?);
            let widths = [&a, &b].map(|operand| operand.ty.component().scalar());
            if a.scalars.len() != b.scalars.len() || widths[0] != widths[1] {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            // The result is a struct of two vectors: first all low parts, then all high parts.
            let (mut low, mut high) = (vec![], vec![]);
            for (a, b) in a.scalars.iter().zip(b.scalars.iter()) {
                let [first, second] = wide(t, op, *a, *b);
                low.push(first);
                high.push(second);
            }
            [low, high].concat()
        }
        Op::UDot | Op::SDot | Op::SUDot | Op::UDotAccSat | Op::SDotAccSat | Op::SUDotAccSat => {
            vec![dot(t, instr, op)?]
        }
        _ => return Ok(false),
    };
    t.define(instr, scalars)?;
    Ok(true)
}

fn wide(t: &mut Translator<'_>, op: Op, a: Value, b: Value) -> [Value; 2] {
    let builder = &mut t.builder;
    match op {
        Op::IAddCarry => {
            let sum = builder.alu(Alu::IAdd, &[a, b]);
            let carry = builder.alu(Alu::ULt, &[sum, b]);
            let carry = builder.alu(Alu::B2I, &[carry]);
            [sum, convert::fit(builder, carry, builder.function.ty(a))]
        }
        Op::ISubBorrow => {
            let difference = builder.alu(Alu::ISub, &[a, b]);
            let borrow = builder.alu(Alu::ULt, &[a, b]);
            let borrow = builder.alu(Alu::B2I, &[borrow]);
            [
                difference,
                convert::fit(builder, borrow, builder.function.ty(a)),
            ]
        }
        _ => {
            let high = match op {
                Op::SMulExtended => Alu::SMulHigh,
                _ => Alu::UMulHigh,
            };
            [builder.alu(Alu::IMul, &[a, b]), builder.alu(high, &[a, b])]
        }
    }
}

/// Dot products of vectors, and of four bytes in a word.
fn dot(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<Value> {
    let (a, b) = (words(t, instr, 0)?, words(t, instr, 1)?);
    let (accumulates, signs) = match op {
        Op::UDot => (false, [false; 2]),
        Op::UDotAccSat => (true, [false; 2]),
        Op::SDot => (false, [true; 2]),
        Op::SDotAccSat => (true, [true; 2]),
        Op::SUDot => (false, [true, false]),
        _ => (true, [true, false]),
    };
    let wanted = t.result_type(instr)?.scalar();
    let wanted = wanted.filter(|ty| *ty != ir::Type::Bool);
    let wanted = wanted.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
    if a.scalars.len() != b.scalars.len() {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let product = match (&*a.scalars, &*b.scalars) {
        (&[a], &[b]) => {
            let format = instr.word(2 + usize::from(accumulates))?;
            let bytes = PackedVectorFormat::PackedVectorFormat4x8Bit as u32;
            let types = [a, b].map(|value| t.builder.function.ty(value));
            if format != bytes || types != [ir::Type::W32; 2] {
                return Err(instr.invalid(Invalid::Literal(format)));
            }
            packed(t, [a, b], signs, wanted)
        }
        (a, b) => {
            let a: Vec<Value> = a
                .iter()
                .map(|value| extend(t, *value, signs[0], wanted))
                .collect();
            let b: Vec<Value> = b
                .iter()
                .map(|value| extend(t, *value, signs[1], wanted))
                .collect();
            sum_of_products(t, &a, &b)
        }
    };
    if !accumulates {
        return Ok(product);
    }
    let accumulator = t.scalar(instr, 2, wanted)?;
    let builder = &mut t.builder;
    let sum = builder.alu(Alu::IAdd, &[product, accumulator]);
    if !signs[0] {
        let wrapped = builder.alu(Alu::ULt, &[sum, accumulator]);
        let most = builder.function.constant_of(wanted, u64::MAX);
        return Ok(builder.select(wrapped, most, sum));
    }
    // Overflow: both addends have the sign that the sum lacks. Then the limit of the accumulator's sign.
    let a = builder.alu(Alu::IXor, &[sum, product]);
    let b = builder.alu(Alu::IXor, &[sum, accumulator]);
    let both = builder.alu(Alu::IAnd, &[a, b]);
    let overflow = builder.alu_bits(Alu::SLt, both, 0);
    let sign = builder.alu_word(Alu::SShr, accumulator, wanted.bits() - 1);
    let limit = builder.alu_bits(Alu::IXor, sign, wanted.mask() >> 1);
    Ok(builder.select(overflow, limit, sum))
}

/// The dot product of four bytes in each word.
fn packed(t: &mut Translator<'_>, words: [Value; 2], signs: [bool; 2], wanted: ir::Type) -> Value {
    let alu = match signs {
        [false, false] => Alu::UDot4x8,
        [true, true] => Alu::SDot4x8,
        _ => {
            let [a, b] = words.map(|word| convert::regroup(&mut t.builder, &[word], 32, 8));
            let a: Vec<Value> = a
                .into_iter()
                .map(|byte| extend(t, byte, signs[0], wanted))
                .collect();
            let b: Vec<Value> = b
                .into_iter()
                .map(|byte| extend(t, byte, signs[1], wanted))
                .collect();
            return sum_of_products(t, &a, &b);
        }
    };
    let zero = t.builder.word(0);
    let product = t.builder.alu(alu, &[words[0], words[1], zero]);
    extend(t, product, signs[0], wanted)
}

fn sum_of_products(t: &mut Translator<'_>, a: &[Value], b: &[Value]) -> Value {
    let mut sum = None;
    for (a, b) in a.iter().zip(b) {
        let product = t.builder.alu(Alu::IMul, &[*a, *b]);
        sum = Some(match sum {
            None => product,
            Some(sum) => t.builder.alu(Alu::IAdd, &[sum, product]),
        });
    }
    sum.unwrap_or_else(|| t.builder.word(0))
}

/// An integer of another width, with its sign or with zeros above.
fn extend(t: &mut Translator<'_>, value: Value, signed: bool, ty: ir::Type) -> Value {
    let op = if signed { Op::SConvert } else { Op::UConvert };
    let int = |ty: ir::Type| Type::Int {
        bits: ty.bits(),
        signed,
    };
    let steps = convert::steps(op, &int(t.builder.function.ty(value)), &int(ty));
    let steps = steps.into_iter().flatten();
    steps.fold(value, |value, step| t.builder.alu(step, &[value]))
}

/// An operand of integers.
fn words(t: &mut Translator<'_>, instr: &Instr, index: usize) -> Result<Composite> {
    let composite = t.operand(instr, index)?;
    match composite.ty.component() {
        Type::Int { .. } => Ok(composite),
        _ => Err(instr.invalid(Invalid::TypeMismatch)),
    }
}
