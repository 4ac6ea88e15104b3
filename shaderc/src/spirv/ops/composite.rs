//! Vectors, arrays and structs taken apart and put together; bitcasts; selections.
//!
//! Facts: hardware/compiler-isel.md 15.1.
use rspirv::spirv::Op;

use crate::ir::{self, Alu, Value, VarData};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;
use crate::spirv::types::Type;

/// A value that a checking interpreter knows to be undefined.
fn never_written(t: &mut Translator<'_>, ty: ir::Type) -> Value {
    let name = String::new();
    let var = t.builder.function.new_var(VarData { ty, len: 1, name });
    let first = t.builder.word(0);
    t.builder.load_var(var, first)
}

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    let scalars = match op {
        Op::Undef => {
            // Zero is as good as any value (compiler-correctness.md 3).
            let ty = t.result_type(instr)?;
            if !ty.is_value() {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let types = ty.flatten();
            let zero = |ty| match t.notes && ty != ir::Type::Resource {
                true => never_written(t, ty),
                false => t.builder.function.constant_of(ty, 0),
            };
            types.into_iter().map(zero).collect()
        }
        Op::CompositeConstruct => {
            let mut scalars = vec![];
            for index in 0..instr.operands.len() {
                scalars.extend_from_slice(&t.operand(instr, index)?.scalars);
            }
            scalars
        }
        Op::CompositeExtract => {
            let whole = t.operand(instr, 0)?;
            let (start, ty) = locate(instr, &whole.ty, instr.rest(1))?;
            whole.scalars[start..start + ty.scalars() as usize].to_vec()
        }
        Op::CompositeInsert => {
            let (object, whole) = (t.operand(instr, 0)?, t.operand(instr, 1)?);
            let (start, ty) = locate(instr, &whole.ty, instr.rest(2))?;
            if *ty != *object.ty {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let mut scalars = whole.scalars.to_vec();
            scalars[start..start + object.scalars.len()].copy_from_slice(&object.scalars);
            scalars
        }
        Op::VectorExtractDynamic => {
            let vector = t.operand(instr, 0)?;
            let index = t.integer(instr, 1)?;
            let Some((part, _)) = vector.ty.part(0) else {
                return Err(instr.invalid(Invalid::TypeMismatch));
            };
            t.extract_dynamic(&vector, &part, index)
        }
        Op::VectorInsertDynamic => {
            let (vector, component) = (t.operand(instr, 0)?, t.operand(instr, 1)?);
            let index = t.integer(instr, 2)?;
            let [component] = *component.scalars else {
                return Err(instr.invalid(Invalid::TypeMismatch));
            };
            let mut scalars = vec![];
            for (number, old) in vector.scalars.iter().enumerate() {
                let here = t.builder.alu_word(Alu::IEq, index, number as u32);
                same_types(t, instr, component, *old)?;
                scalars.push(t.builder.select(here, component, *old));
            }
            scalars
        }
        Op::VectorShuffle => {
            let (a, b) = (t.operand(instr, 0)?, t.operand(instr, 1)?);
            let both = [&*a.scalars, &*b.scalars].concat();
            let mut scalars = vec![];
            for index in instr.rest(2) {
                let scalar = match *index {
                    u32::MAX => both.first(),
                    index => both.get(index as usize),
                };
                scalars.push(*scalar.ok_or_else(|| instr.invalid(Invalid::Index(*index)))?);
            }
            scalars
        }
        Op::CopyLogical => t.operand(instr, 0)?.scalars.to_vec(),
        Op::Select => select(t, instr)?,
        Op::Any | Op::All => {
            let vector = t.operand(instr, 0)?;
            let alu = match op {
                Op::Any => Alu::BOr,
                _ => Alu::BAnd,
            };
            if *vector.ty.component() != Type::Bool {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let mut scalars = vector.scalars.iter().copied();
            let first = scalars.next();
            let first = first.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
            vec![scalars.fold(first, |all, scalar| t.builder.alu(alu, &[all, scalar]))]
        }
        _ => return Ok(false),
    };
    t.define(instr, scalars)?;
    Ok(true)
}

/// First scalar and type of the part that literal indices lead to.
fn locate(
    instr: &Instr,
    ty: &std::rc::Rc<Type>,
    indices: &[u32],
) -> Result<(usize, std::rc::Rc<Type>)> {
    let (mut start, mut ty) = (0, ty.clone());
    for index in indices {
        let (part, before) = ty
            .part(*index)
            .ok_or_else(|| instr.invalid(Invalid::Index(*index)))?;
        start += before as usize;
        ty = part;
    }
    Ok((start, ty))
}

fn select(t: &mut Translator<'_>, instr: &Instr) -> Result<Vec<Value>> {
    let ty = t.result_type(instr)?;
    if matches!(&*ty, Type::Pointer { .. }) && !ty.is_value() {
        return Err(instr.unsupported(Feature::Use, "OpSelect of such pointers"));
    }
    let (condition, yes, no) = (
        t.operand(instr, 0)?,
        t.operand(instr, 1)?,
        t.operand(instr, 2)?,
    );
    let one_for_all = *condition.ty == Type::Bool;
    let shapes = yes.ty == no.ty && (one_for_all || condition.scalars.len() == yes.scalars.len());
    if !shapes || *condition.ty.component() != Type::Bool {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let mut scalars = vec![];
    for (index, (yes, no)) in yes.scalars.iter().zip(no.scalars.iter()).enumerate() {
        let condition = condition.scalars[if one_for_all { 0 } else { index }];
        scalars.push(t.builder.select(condition, *yes, *no));
    }
    Ok(scalars)
}

fn same_types(t: &Translator<'_>, instr: &Instr, a: Value, b: Value) -> Result<()> {
    match t.builder.function.ty(a) == t.builder.function.ty(b) {
        true => Ok(()),
        false => Err(instr.invalid(Invalid::TypeMismatch)),
    }
}
