//! Variables, loads, stores, access chains.
//!
//! Facts: hardware/compiler-isel.md 15.1; hardware/compiler-ir.md 1.3.
use rspirv::spirv::{self, Op, StorageClass};

use super::image;
use crate::ir::{self, Memory};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::layout::MAX_ALIGN;
use crate::spirv::pointer::{Area, Index, Pointer, Target};
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
                let index = t.index(instr, index, &pointer)?;
                pointer = t.step(instr, &pointer, index)?;
            }
            t.define_pointer(instr, pointer)?;
        }
        Op::Load => {
            let mut pointer = t.pointer(instr, 0)?;
            if let Target::Opaque(opaque) = pointer.target {
                return image::load(t, instr, &pointer.ty, opaque).map(|()| true);
            }
            let memory = memory_operands(instr, 1, &mut [&mut pointer]);
            let value = t.load(instr, &pointer, memory)?;
            t.define(instr, value.scalars)?;
        }
        Op::Store => {
            let mut pointer = t.pointer(instr, 0)?;
            let value = t.operand(instr, 1)?;
            let memory = memory_operands(instr, 2, &mut [&mut pointer]);
            t.store(instr, &pointer, &value, memory)?;
        }
        Op::CopyMemory => {
            let (mut to, mut from) = (t.pointer(instr, 0)?, t.pointer(instr, 1)?);
            let memory = memory_operands(instr, 2, &mut [&mut to, &mut from]);
            let value = t.load(instr, &from, memory)?;
            let value = Composite {
                ty: to.ty.clone(),
                ..value
            };
            t.store(instr, &to, &value, memory)?;
        }
        // What is likely changes nothing.
        Op::AssumeTrueKHR => {}
        Op::CopyObject | Op::ExpectKHR => {
            let item = t.item(instr, instr.word(0)?)?;
            match item {
                Item::Value(composite) => t.define(instr, composite.scalars)?,
                Item::Pointer(pointer) => t.define_pointer(instr, pointer)?,
                item @ (Item::Image(..) | Item::Sampler(_)) => t.define_item(instr, item)?,
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
    if matches!(&**pointee, Type::Pointer { .. }) && !pointee.is_value() {
        return Err(instr.unsupported(Feature::Use, "a variable that holds a pointer"));
    }
    let pointer = t.private(instr, pointee, &name)?;
    t.initialize(instr, &pointer, instr.operands.get(1).copied())?;
    t.define_item(instr, Item::Pointer(pointer))
}

impl Translator<'_> {
    /// An index of an access chain, constant if it can be. Where addresses have 64 bits it keeps its width.
    pub fn index(&mut self, instr: &Instr, operand: usize, pointer: &Pointer) -> Result<Index> {
        let composite = self.operand(instr, operand)?;
        let (Type::Int { .. }, &[value]) = (&*composite.ty, &*composite.scalars) else {
            return Ok(Index::Dynamic(self.integer(instr, operand)?));
        };
        let wide = matches!(&pointer.target, Target::Memory(place) if matches!(place.area, Area::Global(..)));
        let bits = self.builder.function.as_bits(value);
        match bits {
            Some(bits) if !wide || i32::try_from(bits.cast_signed()).is_ok() => {
                Ok(Index::Constant(bits as u32))
            }
            _ if wide && self.builder.function.ty(value) == ir::Type::W64 => {
                Ok(Index::Dynamic(value))
            }
            _ => Ok(Index::Dynamic(self.integer(instr, operand)?)),
        }
    }
}

/// What the optional memory operands at that index ask for. What they say of the alignment is noted where nothing else is
/// known of it.
fn memory_operands(instr: &Instr, index: usize, pointers: &mut [&mut Pointer]) -> Memory {
    let bits = instr.operands.get(index).copied().unwrap_or(0);
    let bits = spirv::MemoryAccess::from_bits_retain(bits);
    if bits.contains(spirv::MemoryAccess::ALIGNED)
        && let Some(align) = instr.operands.get(index + 1)
        && align.is_power_of_two()
    {
        for pointer in pointers {
            if let Target::Memory(place) = &mut pointer.target
                && matches!(place.area, Area::Global(..))
            {
                place.align = (*align).min(MAX_ALIGN);
            }
        }
    }
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
