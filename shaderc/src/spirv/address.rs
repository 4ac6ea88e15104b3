//! Pointers as values: those to storage buffers by physical address, and variable pointers.
//!
//! Needs: places of `pointer`.  Guarantees: a pointer has a place as long as it is known which, and becomes a value only
//! where it is one: stored, passed around, chosen. A physical one is an address of 64 bits; a variable one is a resource
//! and a byte offset, or in shared memory the offset alone.
use std::rc::Rc;

use rspirv::spirv::{Decoration, Op, StorageClass};

use super::error::{Feature, Invalid};
use super::layout::{MAX_ALIGN, Rules, natural_align};
use super::pointer::{Area, Index, Offset, Place, Pointer, Target};
use super::reader::{Instr, Result};
use super::translate::{Composite, Item, Translator};
use super::types::{MatrixLayout, Type};
use crate::ir::{self, Alu, Memory, Value};

/// Translates an instruction of this family; false if it is of another.
pub(super) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    match op {
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => chain(t, instr)?,
        Op::ConvertUToPtr => {
            let number = t.operand(instr, 0)?;
            let (Type::Int { .. }, &[number]) = (&*number.ty, &*number.scalars) else {
                return Err(instr.invalid(Invalid::TypeMismatch));
            };
            let address = super::ops::convert::fit(&mut t.builder, number, ir::Type::W64);
            t.define(instr, vec![address])?;
        }
        Op::ConvertPtrToU => {
            let address = address(t, instr, 0)?;
            let ty = t.result_type(instr)?.scalar();
            let ty = ty.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
            let number = super::ops::convert::fit(&mut t.builder, address, ty);
            t.define(instr, vec![number])?;
        }
        Op::PtrEqual | Op::PtrNotEqual => {
            let equal = equal(t, instr)?;
            let result = match op {
                Op::PtrEqual => equal,
                _ => t.builder.alu(Alu::BNot, &[equal]),
            };
            t.define(instr, vec![result])?;
        }
        Op::PtrDiff => {
            let difference = difference(t, instr)?;
            t.define(instr, vec![difference])?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The address that an operand is.
fn address(t: &mut Translator<'_>, instr: &Instr, index: usize) -> Result<Value> {
    let pointer = t.operand(instr, index)?;
    match (&*pointer.ty, &*pointer.scalars) {
        (Type::Address { .. }, &[address]) => Ok(address),
        _ => Err(instr.invalid(Invalid::TypeMismatch)),
    }
}

/// So many elements further, as in an array of what the pointer points to; then as an access chain.
fn chain(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    let base = instr.word(0)?;
    let mut pointer = t.pointer(instr, 0)?;
    let stride = stride(t, instr, base, &pointer)?;
    let index = t.index(instr, 1, &pointer)?;
    let Target::Memory(place) = &mut pointer.target else {
        return Err(instr.unsupported(Feature::Use, "OpPtrAccessChain outside of memory"));
    };
    t.advance(place, index, stride);
    for operand in 2..instr.operands.len() {
        let index = t.index(instr, operand, &pointer)?;
        pointer = t.step(instr, &pointer, index)?;
    }
    t.define_pointer(instr, pointer)
}

/// Bytes between the elements of the array that a pointer points into: its type says.
fn stride(t: &Translator<'_>, instr: &Instr, base: u32, pointer: &Pointer) -> Result<u32> {
    let Target::Memory(place) = &pointer.target else {
        return Err(instr.unsupported(Feature::Use, "elements beside one outside of memory"));
    };
    let decorations = t.module.type_of(base).map(|id| t.module.decorations.of(id));
    let said = decorations.and_then(|list| list.literal(Decoration::ArrayStride));
    let close = || -> Result<u32> {
        let layout = MatrixLayout::default();
        let size = place.rules.size(instr, &pointer.ty, layout)?;
        let align = natural_align(place.rules, &pointer.ty);
        // Too large for an array of two, which then nothing can point into.
        Ok(u32::try_from(size.next_multiple_of(align.into())).unwrap_or(!15))
    };
    let array = Type::RuntimeArray {
        element: pointer.ty.clone(),
        // Elements that nothing is said of lie close together.
        stride: Some(said.map_or_else(close, Ok)?),
    };
    place.rules.array_stride(instr, &array)
}

fn equal(t: &mut Translator<'_>, instr: &Instr) -> Result<Value> {
    // Whatever lies there, pointers are compared and not followed.
    let (a, b) = (t.compared(instr, 0)?, t.compared(instr, 1)?);
    if a.ty != b.ty || a.scalars.is_empty() {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let mut equal = t.builder.function.bool(true);
    for (a, b) in a.scalars.iter().zip(b.scalars.iter()) {
        let alu = match t.builder.function.ty(*a) {
            ir::Type::Resource => Alu::REq,
            _ => Alu::IEq,
        };
        let part = t.builder.alu(alu, &[*a, *b]);
        equal = t.builder.alu(Alu::BAnd, &[equal, part]);
    }
    Ok(equal)
}

/// How many elements are between two pointers into one array.
fn difference(t: &mut Translator<'_>, instr: &Instr) -> Result<Value> {
    let pointer = t.pointer(instr, 0)?;
    let stride = stride(t, instr, instr.word(0)?, &pointer)?;
    let (a, b) = (t.operand(instr, 0)?, t.operand(instr, 1)?);
    let (Some(&a), Some(&b)) = (a.scalars.last(), b.scalars.last()) else {
        return Err(instr.invalid(Invalid::TypeMismatch));
    };
    let ty = t.result_type(instr)?.scalar();
    let ty = ty.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
    let bytes = t.builder.alu(Alu::ISub, &[a, b]);
    let elements = t.builder.alu_bits(Alu::SDiv, bytes, stride.into());
    Ok(match (t.builder.function.ty(elements), ty) {
        (ir::Type::W32, ir::Type::W64) => t.builder.alu(Alu::S2S64, &[elements]),
        _ => super::ops::convert::fit(&mut t.builder, elements, ty),
    })
}

impl Translator<'_> {
    /// Where a pointer that is a value points to.
    pub fn place_of(&mut self, instr: &Instr, value: &Composite) -> Result<Option<Pointer>> {
        let (area, ty) = match (&*value.ty, &*value.scalars) {
            (Type::Address { id }, &[address]) => {
                let pointee = self.module.pointee(instr, *id)?;
                (Area::Global(address, *id), pointee)
            }
            (Type::Pointer { class, pointee }, scalars) => match (class, scalars) {
                (StorageClass::StorageBuffer, &[resource, _]) => {
                    let binding = self.builder.function.binding_of(resource);
                    (Area::Buffer(resource, binding), pointee.clone())
                }
                (StorageClass::Workgroup, &[_]) => (Area::Shared, pointee.clone()),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let rules = match area {
            Area::Shared if !self.module.explicit_workgroup() => Rules::Computed,
            _ => Rules::Decorated,
        };
        let at = match (area, value.scalars.last()) {
            (Area::Global(..), _) | (_, None) => Offset::default(),
            (_, Some(offset)) => match self.builder.function.as_word(*offset) {
                Some(constant) => Offset {
                    constant,
                    dynamic: None,
                },
                None => Offset {
                    constant: 0,
                    dynamic: Some(*offset),
                },
            },
        };
        let place = Place {
            area,
            rules,
            at,
            align: natural_align(rules, &ty).min(MAX_ALIGN),
            matrix: MatrixLayout::default(),
            component_stride: None,
            // What its variable was decorated with isn't known any more.
            memory: match self.module.any_volatile() {
                true => Memory::Volatile,
                false => Memory::Plain,
            },
        };
        Ok(Some(Pointer {
            ty,
            target: Target::Memory(place),
        }))
    }

    /// The pointer that an operand is, to be compared.
    fn compared(&mut self, instr: &Instr, index: usize) -> Result<Composite> {
        let id = instr.word(index)?;
        match self.item(instr, id)? {
            Item::Pointer(pointer) => self.parts_of(instr, id, &pointer),
            _ => self.operand(instr, index),
        }
    }

    /// A pointer as a value.
    pub fn value_of(&mut self, instr: &Instr, id: u32, pointer: &Pointer) -> Result<Composite> {
        let Target::Memory(place) = &pointer.target else {
            return Err(instr.invalid(Invalid::Wanted(id, "a value, not a pointer")));
        };
        let matrix = place.component_stride.is_some() || matches!(*pointer.ty, Type::Matrix { .. });
        if matrix {
            return Err(instr.unsupported(Feature::Use, "a pointer to a matrix as a value"));
        }
        self.parts_of(instr, id, pointer)
    }

    /// What a pointer is made of; how a matrix lies there is not in it.
    fn parts_of(&mut self, instr: &Instr, id: u32, pointer: &Pointer) -> Result<Composite> {
        let Target::Memory(place) = &pointer.target else {
            return Err(instr.invalid(Invalid::Wanted(id, "a value, not a pointer")));
        };
        let logical = |class| {
            Rc::new(Type::Pointer {
                class,
                pointee: pointer.ty.clone(),
            })
        };
        let (ty, scalars) = match place.area {
            Area::Global(_, id) => {
                let ty = Rc::new(Type::Address { id });
                (ty, vec![self.global_address(place)])
            }
            Area::Buffer(resource, _) => {
                let offset = self.offset_value(place.at, 0);
                (logical(StorageClass::StorageBuffer), vec![resource, offset])
            }
            Area::Shared => {
                let offset = self.offset_value(place.at, 0);
                (logical(StorageClass::Workgroup), vec![offset])
            }
            Area::Push => {
                return Err(instr.invalid(Invalid::Wanted(id, "a value, not a pointer")));
            }
        };
        Ok(Composite {
            ty,
            scalars: scalars.into(),
        })
    }

    /// The address of a place that is reached by one.
    pub fn global_address(&mut self, place: &Place) -> Value {
        let Area::Global(base, _) = place.area else {
            return self.builder.function.constant_of(ir::Type::W64, 0);
        };
        let further = i64::from(place.at.constant.cast_signed());
        match further {
            0 => base,
            _ => self
                .builder
                .alu_bits(Alu::IAdd, base, further.cast_unsigned()),
        }
    }

    /// Moves a place on by so many strides.
    pub fn advance(&mut self, place: &mut Place, index: Index, stride: u32) {
        let Area::Global(base, ty) = place.area else {
            match index {
                Index::Constant(index) => place.add_constant(stride.wrapping_mul(index)),
                Index::Dynamic(index) => {
                    self.add_scaled(&mut place.at, index, stride);
                    place.weaken(stride);
                }
            }
            return;
        };
        // Addresses have 64 bits, and an index counts in either direction.
        let bytes = match index {
            Index::Constant(index) => {
                let bytes = i64::from(index.cast_signed()) * i64::from(stride);
                let sum = bytes + i64::from(place.at.constant.cast_signed());
                if let Ok(constant) = i32::try_from(sum) {
                    place.weaken(bytes as u32);
                    place.at.constant = constant.cast_unsigned();
                    return;
                }
                let constant = bytes.cast_unsigned();
                self.builder.function.constant_of(ir::Type::W64, constant)
            }
            Index::Dynamic(index) => {
                let index = match self.builder.function.ty(index) {
                    ir::Type::W64 => index,
                    _ => self.builder.alu(Alu::S2S64, &[index]),
                };
                match stride {
                    1 => index,
                    _ if stride.is_power_of_two() => {
                        self.builder
                            .alu_word(Alu::IShl, index, stride.trailing_zeros())
                    }
                    _ => self.builder.alu_bits(Alu::IMul, index, stride.into()),
                }
            }
        };
        place.weaken(stride);
        let base = self.builder.alu(Alu::IAdd, &[base, bytes]);
        place.area = Area::Global(base, ty);
    }

    /// The result is a pointer to the type that its own type says.
    pub fn define_pointer(&mut self, instr: &Instr, mut pointer: Pointer) -> Result<()> {
        let ty = self.result_type(instr)?;
        let fits = match &*ty {
            Type::Pointer { pointee, .. } => *pointee == pointer.ty,
            Type::Address { id } => {
                if let Target::Memory(place) = &mut pointer.target
                    && let Area::Global(_, own) = &mut place.area
                {
                    *own = *id;
                }
                self.module.pointee(instr, *id)? == pointer.ty
            }
            _ => false,
        };
        match fits {
            true => self.define_item(instr, Item::Pointer(pointer)),
            false => Err(instr.invalid(Invalid::TypeMismatch)),
        }
    }
}
