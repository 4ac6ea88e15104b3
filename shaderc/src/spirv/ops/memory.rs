//! Variables, loads, stores, access chains.
//!
//! Facts: hardware/compiler-isel.md 15.1; hardware/compiler-ir.md 1.3.
use rspirv::spirv::{self, Op, StorageClass};

use crate::ir::Memory;
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::pointer::{Index, Pointer};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::{Composite, Item, Translator};
use crate::spirv::types::Type;

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    match op {
        Op::Variable => variable(t, instr)?,
        Op::AccessChain | Op::InBoundsAccessChain => {
            let mut pointer = t.pointer(instr, 0)?;
            for index in 1..instr.operands.len() {
                let index = self::index(t, instr, index)?;
                pointer = t.step(instr, &pointer, index)?;
            }
            define_pointer(t, instr, pointer)?;
        }
        Op::Load => {
            let pointer = t.pointer(instr, 0)?;
            let value = t.load(instr, &pointer, memory_operands(instr, 1))?;
            t.define(instr, value.scalars.to_vec())?;
        }
        Op::Store => {
            let pointer = t.pointer(instr, 0)?;
            let value = t.operand(instr, 1)?;
            t.store(instr, &pointer, &value, memory_operands(instr, 2))?;
        }
        Op::CopyMemory => {
            let (to, from) = (t.pointer(instr, 0)?, t.pointer(instr, 1)?);
            let memory = memory_operands(instr, 2);
            let value = t.load(instr, &from, memory)?;
            let value = Composite {
                ty: to.ty.clone(),
                ..value
            };
            t.store(instr, &to, &value, memory)?;
        }
        Op::CopyObject => {
            let item = t.item(instr, instr.word(0)?)?;
            match item {
                Item::Value(composite) => t.define(instr, composite.scalars.to_vec())?,
                Item::Pointer(pointer) => define_pointer(t, instr, pointer)?,
            }
        }
        Op::ArrayLength => {
            let block = t.pointer(instr, 0)?;
            let length = t.array_length(instr, &block, instr.word(1)?)?;
            t.define(instr, vec![length])?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn variable(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    let ty = t.result_type(instr)?;
    let Type::Pointer {
        class: StorageClass::Function,
        pointee,
    } = &*ty
    else {
        return Err(instr.invalid(Invalid::TypeMismatch));
    };
    let id = instr.result()?;
    let name = t.module.names.get(&id).cloned().unwrap_or_default();
    if matches!(&**pointee, Type::Pointer { .. }) {
        return Err(instr.unsupported(Feature::Use, "a variable that holds a pointer"));
    }
    let pointer = t.private(instr, pointee, &name)?;
    t.initialize(instr, &pointer, instr.operands.get(1).copied())?;
    t.define_item(instr, Item::Pointer(pointer))
}

/// An index of an access chain, constant if it can be.
fn index(t: &mut Translator<'_>, instr: &Instr, operand: usize) -> Result<Index> {
    let composite = t.operand(instr, operand)?;
    if let (Type::Int { .. }, &[value]) = (&*composite.ty, &*composite.scalars)
        && let Some(index) = t.builder.function.as_bits(value)
    {
        return Ok(Index::Constant(index as u32));
    }
    Ok(Index::Dynamic(t.integer(instr, operand)?))
}

/// The result is a pointer to the type that its own type says.
fn define_pointer(t: &mut Translator<'_>, instr: &Instr, pointer: Pointer) -> Result<()> {
    let ty = t.result_type(instr)?;
    match &*ty {
        Type::Pointer { pointee, .. } if *pointee == pointer.ty => {
            t.define_item(instr, Item::Pointer(pointer))
        }
        _ => Err(instr.invalid(Invalid::TypeMismatch)),
    }
}

/// What the optional memory operands at that index ask for.
fn memory_operands(instr: &Instr, index: usize) -> Memory {
    let bits = instr.operands.get(index).copied().unwrap_or(0);
    let bits = spirv::MemoryAccess::from_bits_retain(bits);
    // Availability and visibility are about other invocations: the access must really happen.
    let real = spirv::MemoryAccess::VOLATILE
        | spirv::MemoryAccess::MAKE_POINTER_AVAILABLE
        | spirv::MemoryAccess::MAKE_POINTER_VISIBLE;
    if bits.intersects(real) {
        Memory::Volatile
    } else {
        Memory::Plain
    }
}
