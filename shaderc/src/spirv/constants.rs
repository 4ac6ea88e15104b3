//! Constants and specialisation constants, as the bits of their scalars.
//!
//! Needs: types, earlier constants, options.  Guarantees: the number of scalars is bounded.
//! OpSpecConstantOp is computed by the interpreter's functions, so it agrees with everything else.
use std::collections::BTreeSet;
use std::rc::Rc;

use rspirv::spirv::{Decoration, Op};

use super::error::{Error, Feature, Invalid};
use super::module::Module;
use super::ops::{self, convert};
use super::reader::{Instr, Result};
use super::types::Type;
use crate::interp::eval::eval;
use crate::ir::{self, Alu};

/// A constant: booleans are 0 or 1, words have nothing above their width.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Constant {
    pub ty: Rc<Type>,
    pub bits: Rc<[u64]>,
}

/// Whether an instruction declares a constant.
pub(crate) fn is_constant(op: Op) -> bool {
    matches!(
        op,
        Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantNull
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::Undef
    )
}

/// Computes a constant.
pub(crate) fn declare(module: &Module, instr: &Instr) -> Result<Constant> {
    let ty = module.ty(instr, instr.result_type()?)?;
    if !ty.is_value() {
        return Err(match &*ty {
            Type::Array { .. } | Type::Struct { .. } => {
                instr.unsupported(Feature::Limit, "a constant of that size")
            }
            _ => instr.invalid(Invalid::TypeMismatch),
        });
    }
    let scalars = ty.scalars() as usize;
    let bits = match instr.op {
        // No place of a buffer or of shared memory has this offset.
        Op::ConstantNull if matches!(&*ty, Type::Pointer { .. }) => {
            let mut bits = vec![0; scalars];
            bits[scalars - 1] = 0xffff_fff0;
            bits
        }
        Op::ConstantNull | Op::Undef => vec![0; scalars],
        Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
            if *ty != Type::Bool {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let default = matches!(instr.op, Op::ConstantTrue | Op::SpecConstantTrue);
            vec![match specialised(module, instr)? {
                Some(bits) => u64::from(bits != 0),
                None => default.into(),
            }]
        }
        Op::Constant | Op::SpecConstant => {
            let (Type::Int { .. } | Type::Float { .. }, Some(scalar)) = (&*ty, ty.scalar()) else {
                return Err(instr.invalid(Invalid::TypeMismatch));
            };
            let mut literal = u64::from(instr.word(0)?);
            if scalar == ir::Type::W64 {
                literal |= u64::from(instr.word(1)?) << 32;
            }
            vec![specialised(module, instr)?.unwrap_or(literal) & scalar.mask()]
        }
        Op::ConstantComposite | Op::SpecConstantComposite => {
            let mut bits = vec![];
            for (index, id) in instr.operands.iter().enumerate() {
                let part = module.constant(instr, *id)?;
                let wanted = u32::try_from(index).ok().and_then(|index| ty.part(index));
                if wanted.is_none_or(|(wanted, _)| wanted != part.ty) {
                    return Err(instr.invalid(Invalid::TypeMismatch));
                }
                bits.extend_from_slice(&part.bits);
            }
            bits
        }
        Op::SpecConstantOp => compute(module, instr, &ty)?,
        _ => return Err(instr.invalid(Invalid::Misplaced)),
    };
    if bits.len() != scalars {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    Ok(Constant {
        ty,
        bits: bits.into(),
    })
}

/// The value that the options give a specialisation constant.
fn specialised(module: &Module, instr: &Instr) -> Result<Option<u64>> {
    if matches!(
        instr.op,
        Op::Constant | Op::ConstantTrue | Op::ConstantFalse
    ) {
        return Ok(None);
    }
    let decorations = module.decorations.of(instr.result()?);
    let spec = decorations.literal(Decoration::SpecId);
    Ok(spec.and_then(|id| module.spec_constants.get(&id).copied().map(u64::from)))
}

fn compute(module: &Module, instr: &Instr, ty: &Rc<Type>) -> Result<Vec<u64>> {
    let number = instr.word(0)?;
    let op = Op::from_u32(number).ok_or_else(|| instr.invalid(Invalid::Literal(number)))?;
    let operand = |index: usize| module.constant(instr, instr.word(index)?);
    match op {
        Op::CompositeExtract => {
            let mut part = operand(1)?;
            for index in instr.rest(2) {
                part = extract(instr, &part, *index)?;
            }
            same_type(instr, ty, &part.ty)?;
            Ok(part.bits.to_vec())
        }
        Op::CompositeInsert => {
            let (object, whole) = (operand(1)?, operand(2)?);
            let (mut at, mut part) = (0, whole.ty.clone());
            for index in instr.rest(3) {
                let (inner, before) = part
                    .part(*index)
                    .ok_or_else(|| instr.invalid(Invalid::Index(*index)))?;
                at += before as usize;
                part = inner;
            }
            same_type(instr, &part, &object.ty)?;
            let mut bits = whole.bits.to_vec();
            bits[at..at + object.bits.len()].copy_from_slice(&object.bits);
            Ok(bits)
        }
        Op::VectorShuffle => {
            let both: Vec<u64> = [operand(1)?.bits.to_vec(), operand(2)?.bits.to_vec()].concat();
            let pick = |index: &u32| match *index {
                u32::MAX => Ok(0),
                index => both
                    .get(index as usize)
                    .copied()
                    .ok_or_else(|| instr.invalid(Invalid::Index(index))),
            };
            instr.rest(3).iter().map(pick).collect()
        }
        Op::Select => {
            let (condition, yes, no) = (operand(1)?, operand(2)?, operand(3)?);
            same_type(instr, ty, &yes.ty)?;
            same_type(instr, ty, &no.ty)?;
            let parts = yes.bits.iter().zip(no.bits.iter()).enumerate();
            let choose = parts.map(|(index, (yes, no))| {
                let condition = condition
                    .bits
                    .get(index)
                    .or(condition.bits.first())
                    .copied();
                if condition.unwrap_or(0) != 0 {
                    *yes
                } else {
                    *no
                }
            });
            Ok(choose.collect())
        }
        Op::CopyObject => Ok(operand(1)?.bits.to_vec()),
        Op::Bitcast => {
            let from = operand(1)?;
            if from.ty.component().scalar() != ty.component().scalar() {
                return Err(instr.unsupported(Feature::Use, "a constant bitcast to another width"));
            }
            Ok(from.bits.to_vec())
        }
        _ if convert::is_conversion(op) => {
            let from = operand(1)?;
            let (Some(steps), Some(scalar)) = (
                convert::steps(op, &from.ty, ty),
                from.ty.component().scalar(),
            ) else {
                return Err(instr.invalid(Invalid::TypeMismatch));
            };
            let bits = from.bits.iter();
            Ok(bits
                .map(|bits| convert::fold(&steps, scalar, *bits))
                .collect())
        }
        Op::QuantizeToF16 => Ok(operand(1)?
            .bits
            .iter()
            .map(|bits| eval(Alu::FQuantize16, ir::Type::W32, [*bits, 0, 0, 0]))
            .collect()),
        _ => {
            let recipe = ops::scalar::recipe(op).ok_or_else(|| {
                instr.unsupported(Feature::Use, format!("OpSpecConstantOp of Op{op:?}"))
            })?;
            let mut operands = vec![];
            for index in 1..=recipe.operands {
                operands.push(operand(index)?);
            }
            let width = operands[0].ty.component().scalar();
            let width = width.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
            let mask = ty.component().scalar().map_or(0, ir::Type::mask);
            let mut bits = vec![];
            for index in 0..ty.scalars() as usize {
                let mut args = [0; 4];
                for (arg, operand) in args.iter_mut().zip(&operands) {
                    let bits = operand.bits.get(index).copied();
                    *arg = bits.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
                }
                bits.push(recipe.eval(width, args) & mask);
            }
            Ok(bits)
        }
    }
}

fn extract(instr: &Instr, constant: &Constant, index: u32) -> Result<Constant> {
    let (ty, before) = constant
        .ty
        .part(index)
        .ok_or_else(|| instr.invalid(Invalid::Index(index)))?;
    let start = before as usize;
    let bits = constant.bits[start..start + ty.scalars() as usize].into();
    Ok(Constant { ty, bits })
}

fn same_type(instr: &Instr, a: &Type, b: &Type) -> Result<()> {
    if a == b {
        Ok(())
    } else {
        Err(instr.invalid(Invalid::TypeMismatch))
    }
}

/// The SpecIds for which there are values, and which the module lacks, each as an error.
pub(crate) fn undeclared(module: &Module) -> Vec<Error> {
    let declared: BTreeSet<u32> = {
        let decorations = module.decorations.with(Decoration::SpecId);
        decorations.map(|(_, spec)| spec).collect()
    };
    let given = module.spec_constants.keys();
    given
        .filter(|id| !declared.contains(id))
        .map(|id| Error::NoSpecConstant(*id))
        .collect()
}
