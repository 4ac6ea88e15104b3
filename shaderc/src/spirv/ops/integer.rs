//! Integer instructions with several results or odd operands: bit fields, wide sums and products, dot products.
//!
//! Facts: hardware/compiler-isel.md 4.3 and 15.1.
use rspirv::spirv::{Op, PackedVectorFormat};

use crate::ir::{self, Alu, Value};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::{Composite, Translator};
use crate::spirv::types::Type;

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    let scalars = match op {
        Op::BitFieldInsert => {
            let (base, insert) = (words(t, instr, 0)?, words(t, instr, 1)?);
            if base.scalars.len() != insert.scalars.len() {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let offset = t.scalar(instr, 2, ir::Type::W32)?;
            let count = t.scalar(instr, 3, ir::Type::W32)?;
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
            let offset = t.scalar(instr, 1, ir::Type::W32)?;
            let count = t.scalar(instr, 2, ir::Type::W32)?;
            let base = base.scalars.iter();
            base.map(|base| t.builder.alu(alu, &[*base, offset, count]))
                .collect()
        }
        Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => {
            let (a, b) = (words(t, instr, 0)?, words(t, instr, 1)?);
            if a.scalars.len() != b.scalars.len() {
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
        Op::UDot | Op::SDot | Op::UDotAccSat | Op::SDotAccSat => vec![dot(t, instr, op)?],
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
            [sum, builder.alu(Alu::B2I, &[carry])]
        }
        Op::ISubBorrow => {
            let difference = builder.alu(Alu::ISub, &[a, b]);
            let borrow = builder.alu(Alu::ULt, &[a, b]);
            [difference, builder.alu(Alu::B2I, &[borrow])]
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

/// Dot products of four packed bytes.
fn dot(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<Value> {
    let (a, b) = (words(t, instr, 0)?, words(t, instr, 1)?);
    let ([a], [b]) = (&*a.scalars, &*b.scalars) else {
        return Err(instr.unsupported(Feature::Use, "a dot product of vectors"));
    };
    let (accumulates, format) = match op {
        Op::UDotAccSat | Op::SDotAccSat => (true, instr.word(3)?),
        _ => (false, instr.word(2)?),
    };
    if format != PackedVectorFormat::PackedVectorFormat4x8Bit as u32 {
        return Err(instr.invalid(Invalid::Literal(format)));
    }
    let signed = matches!(op, Op::SDot | Op::SDotAccSat);
    let alu = if signed { Alu::SDot4x8 } else { Alu::UDot4x8 };
    let zero = t.builder.word(0);
    let product = t.builder.alu(alu, &[*a, *b, zero]);
    if !accumulates {
        return Ok(product);
    }
    let accumulator = t.scalar(instr, 2, ir::Type::W32)?;
    let builder = &mut t.builder;
    let sum = builder.alu(Alu::IAdd, &[product, accumulator]);
    if !signed {
        let wrapped = builder.alu(Alu::ULt, &[sum, accumulator]);
        let most = builder.word(u32::MAX);
        return Ok(builder.select(wrapped, most, sum));
    }
    // Overflow: both addends have the sign that the sum lacks. Then the limit of the accumulator's sign.
    let a = builder.alu(Alu::IXor, &[sum, product]);
    let b = builder.alu(Alu::IXor, &[sum, accumulator]);
    let both = builder.alu(Alu::IAnd, &[a, b]);
    let overflow = builder.alu_word(Alu::SLt, both, 0);
    let sign = builder.alu_word(Alu::SShr, accumulator, 31);
    let limit = builder.alu_word(Alu::IXor, sign, i32::MAX as u32);
    Ok(builder.select(overflow, limit, sum))
}

/// An operand of integers.
fn words(t: &mut Translator<'_>, instr: &Instr, index: usize) -> Result<Composite> {
    let composite = t.operand(instr, index)?;
    match composite.ty.component() {
        Type::Int { .. } => Ok(composite),
        _ => Err(instr.invalid(Invalid::TypeMismatch)),
    }
}
