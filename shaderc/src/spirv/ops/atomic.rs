//! Atomics, with the fences that they ask for.
//!
//! Facts: hardware/compiler-isel.md 9; hardware/compiler-correctness.md 3.
use rspirv::spirv::Op;

use super::barrier::{acquire, release};
use crate::ir::{self, Alu, AtomicOp, ImageAction, ImageOp, Memory, Merge, Terminator, Value};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::pointer::{Area, Target};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;
use crate::spirv::types::Type;

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    let atomic = match op {
        Op::AtomicIAdd | Op::AtomicISub | Op::AtomicIIncrement | Op::AtomicIDecrement => {
            AtomicOp::Add
        }
        Op::AtomicSMin => AtomicOp::SMin,
        Op::AtomicUMin => AtomicOp::UMin,
        Op::AtomicSMax => AtomicOp::SMax,
        Op::AtomicUMax => AtomicOp::UMax,
        Op::AtomicAnd => AtomicOp::And,
        Op::AtomicOr => AtomicOp::Or,
        Op::AtomicXor => AtomicOp::Xor,
        Op::AtomicExchange => AtomicOp::Exchange,
        Op::AtomicCompareExchange => AtomicOp::CompareExchange,
        Op::AtomicFAddEXT => return float(t, instr, Alu::FAdd),
        Op::AtomicFMinEXT => return float(t, instr, Alu::FMin),
        Op::AtomicFMaxEXT => return float(t, instr, Alu::FMax),
        Op::AtomicLoad => return load(t, instr),
        Op::AtomicStore => return store(t, instr),
        _ => return Ok(false),
    };
    let pointer = t.pointer(instr, 0)?;
    let elem = pointer.ty.scalar();
    let elem = elem.filter(|ty| matches!(ty, ir::Type::W32 | ir::Type::W64));
    let elem = elem.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
    let operands = match op {
        Op::AtomicIIncrement => vec![t.builder.function.constant_of(elem, 1)],
        Op::AtomicIDecrement => vec![t.builder.function.constant_of(elem, u64::MAX)],
        Op::AtomicISub => {
            let value = t.scalar(instr, 3, elem)?;
            vec![t.builder.alu(Alu::INeg, &[value])]
        }
        Op::AtomicCompareExchange => vec![t.scalar(instr, 4, elem)?, t.scalar(instr, 5, elem)?],
        _ => vec![t.scalar(instr, 3, elem)?],
    };
    release(t, instr, &pointer)?;
    let old = place(t, instr, atomic, &operands)?;
    acquire(t, instr, &pointer)?;
    t.define(instr, vec![old])?;
    Ok(true)
}

/// Does an atomic at the place of operand 0; the word before.
fn place(t: &mut Translator<'_>, instr: &Instr, op: AtomicOp, operands: &[Value]) -> Result<Value> {
    let pointer = t.pointer(instr, 0)?;
    match &*pointer.ty {
        Type::Int { .. } => {}
        // Moving bits is all that these do.
        Type::Float { .. } if matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange) => {}
        Type::Float { .. } => return Err(instr.unsupported(Feature::Use, "an atomic on floats")),
        _ => return Err(instr.invalid(Invalid::TypeMismatch)),
    }
    let place = match &pointer.target {
        Target::Memory(place) if place.area != Area::Push => place,
        Target::Texel(texel) => {
            t.write_texel(instr, texel.image)?;
            let op = ImageOp::new(ImageAction::Atomic(op), texel.shape);
            return Ok(t.texel_op(op, texel, operands)[0]);
        }
        Target::Local { .. } => {
            return Err(instr.unsupported(Feature::Use, "an atomic on a private variable"));
        }
        _ => return Err(instr.invalid(Invalid::TypeMismatch)),
    };
    let mut place = place.clone();
    if let Area::Buffer(_, binding) = place.area {
        t.mark_written(instr, binding)?;
    }
    let elem = pointer.ty.scalar().unwrap_or(ir::Type::W32);
    // An atomic is always on a word that is aligned to its size.
    place.align = place.align.max(elem.bytes());
    let place = &place;
    let (address, access) = t.address(instr, place, elem, 1)?;
    Ok(t.builder.atomic(op, access, &address, operands))
}

/// An atomic on a float of 32 bits, which no machine need have: the new number is computed from the one that is there, and
/// takes its place if that is still there, else all begins anew.
fn float(t: &mut Translator<'_>, instr: &Instr, alu: Alu) -> Result<bool> {
    let pointer = t.pointer(instr, 0)?;
    if *pointer.ty != (Type::Float { bits: 32 }) {
        return Err(instr.unsupported(Feature::Use, "an atomic on that type"));
    }
    let value = t.scalar(instr, 3, ir::Type::W32)?;
    release(t, instr, &pointer)?;
    let first = t.load(instr, &pointer, Memory::Atomic)?.scalars[0];
    let [header, exit] = [(); 2].map(|()| t.builder.function.new_block());
    let from = t.builder.block;
    t.builder.terminate(Terminator::Jump(header));
    t.builder.block = header;
    let expected = t.builder.function.new_phi(header, ir::Type::W32);
    let new = t.builder.alu(alu, &[expected, value]);
    let seen = place(t, instr, AtomicOp::CompareExchange, &[new, expected])?;
    let done = t.builder.alu(Alu::IEq, &[seen, expected]);
    t.builder.terminate(Terminator::Branch {
        condition: done,
        then: exit,
        otherwise: header,
    });
    let block = t.builder.function.block_mut(header);
    block.merge = Some(Merge::At(exit));
    for phi in &mut block.phis {
        phi.sources = vec![(from, first), (header, seen)];
    }
    t.builder.block = exit;
    acquire(t, instr, &pointer)?;
    t.define(instr, vec![seen])?;
    Ok(true)
}

fn load(t: &mut Translator<'_>, instr: &Instr) -> Result<bool> {
    let pointer = t.pointer(instr, 0)?;
    if !matches!(&*pointer.ty, Type::Int { .. } | Type::Float { .. }) {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    release(t, instr, &pointer)?;
    let value = t.load(instr, &pointer, Memory::Atomic)?;
    acquire(t, instr, &pointer)?;
    t.define(instr, value.scalars)?;
    Ok(true)
}

fn store(t: &mut Translator<'_>, instr: &Instr) -> Result<bool> {
    let pointer = t.pointer(instr, 0)?;
    let value = t.operand(instr, 3)?;
    if !matches!(&*pointer.ty, Type::Int { .. } | Type::Float { .. }) {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    release(t, instr, &pointer)?;
    t.store(instr, &pointer, &value, Memory::Atomic)?;
    acquire(t, instr, &pointer)?;
    Ok(true)
}
