//! Products of vectors and matrices.
//!
//! Matrices are columns one after the other.  Facts: hardware/compiler-isel.md 15.1 (first product, then fma).
use rspirv::spirv::Op;

use crate::ir::{Alu, Builder, Value};
use crate::spirv::error::Invalid;
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::{Composite, Translator};
use crate::spirv::types::Type;

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    let scalars = match op {
        Op::Dot => {
            let (a, b) = two_floats(t, instr)?;
            if a.scalars.len() != b.scalars.len() {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            vec![dot(&mut t.builder, &a.scalars, &b.scalars)]
        }
        Op::VectorTimesScalar | Op::MatrixTimesScalar => {
            let (a, b) = two_floats(t, instr)?;
            let [factor] = *b.scalars else {
                return Err(instr.invalid(Invalid::TypeMismatch));
            };
            let times = |scalar: &Value| t.builder.alu(Alu::FMul, &[*scalar, factor]);
            a.scalars.iter().map(times).collect()
        }
        Op::OuterProduct => {
            let (column, row) = two_floats(t, instr)?;
            let mut scalars = vec![];
            for factor in row.scalars.iter() {
                for scalar in column.scalars.iter() {
                    scalars.push(t.builder.alu(Alu::FMul, &[*scalar, *factor]));
                }
            }
            scalars
        }
        Op::Transpose => {
            let matrix = t.operand(instr, 0)?;
            let rows = rows(instr, &matrix)?;
            let columns = matrix.scalars.len() / rows;
            let at = |index: usize| matrix.scalars[index % columns * rows + index / columns];
            (0..rows * columns).map(at).collect()
        }
        Op::MatrixTimesVector => {
            let (matrix, vector) = two_floats(t, instr)?;
            times_vector(t, instr, &matrix, &vector.scalars)?
        }
        Op::VectorTimesMatrix => {
            let (vector, matrix) = two_floats(t, instr)?;
            let rows = rows(instr, &matrix)?;
            if vector.scalars.len() != rows {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let columns = matrix.scalars.chunks(rows);
            columns
                .map(|column| dot(&mut t.builder, &vector.scalars, column))
                .collect()
        }
        Op::MatrixTimesMatrix => {
            let (a, b) = two_floats(t, instr)?;
            let mut scalars = vec![];
            for column in b.scalars.chunks(rows(instr, &b)?) {
                scalars.extend(times_vector(t, instr, &a, column)?);
            }
            scalars
        }
        _ => return Ok(false),
    };
    t.define(instr, scalars)?;
    Ok(true)
}

/// Sum of products: not contracted here, so that NoContraction needs no other form.
pub(crate) fn dot(builder: &mut Builder<'_>, a: &[Value], b: &[Value]) -> Value {
    let mut sum = None;
    for (a, b) in a.iter().zip(b) {
        let product = builder.alu(Alu::FMul, &[*a, *b]);
        sum = Some(match sum {
            None => product,
            Some(sum) => builder.alu(Alu::FAdd, &[sum, product]),
        });
    }
    sum.unwrap_or_else(|| builder.float(0.0))
}

fn times_vector(
    t: &mut Translator<'_>,
    instr: &Instr,
    matrix: &Composite,
    vector: &[Value],
) -> Result<Vec<Value>> {
    let rows = rows(instr, matrix)?;
    if matrix.scalars.len() != rows * vector.len() {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let row = |row: usize| -> Vec<Value> {
        let column = matrix.scalars.chunks(rows);
        column.map(|column| column[row]).collect()
    };
    Ok((0..rows)
        .map(|number| dot(&mut t.builder, &row(number), vector))
        .collect())
}

fn rows(instr: &Instr, matrix: &Composite) -> Result<usize> {
    match &*matrix.ty {
        Type::Matrix { column, .. } => Ok(column.scalars() as usize),
        _ => Err(instr.invalid(Invalid::TypeMismatch)),
    }
}

fn two_floats(t: &mut Translator<'_>, instr: &Instr) -> Result<(Composite, Composite)> {
    let (a, b) = (t.operand(instr, 0)?, t.operand(instr, 1)?);
    match a.ty.is_float() && b.ty.is_float() {
        true => Ok((a, b)),
        false => Err(instr.invalid(Invalid::TypeMismatch)),
    }
}
