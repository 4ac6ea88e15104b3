//! Accesses: values read from and written to places, scalar by scalar or in runs that lie together.
//!
//! Facts: hardware/compiler-ir.md 3.
use std::rc::Rc;

use super::error::{Feature, Invalid};
use super::layout::Rules;
use super::ops::convert::{fit, to_unsigned};
use super::pointer::{Area, Index, Local, Offset, Place};
use super::reader::{Instr, Result};
use super::translate::Translator;
use super::types::Type;
use crate::ir::{self, Access, Alu, Held, Op, Space, Value, Values};

impl Translator<'_> {
    pub(super) fn load_local(&mut self, node: &Local, at: Offset, ty: &Type, out: &mut Vec<Value>) {
        match (node, ty) {
            (Local::Struct(parts), Type::Struct { members, .. }) => {
                for (part, member) in parts.iter().zip(members.iter()) {
                    self.load_local(part, Offset::default(), &member.ty, out);
                }
            }
            (Local::Struct(parts), Type::Array { element, .. }) => {
                for part in parts {
                    self.load_local(part, Offset::default(), element, out);
                }
            }
            (Local::Leaf(var), ty) => {
                let types = ty.flatten();
                for (number, wanted) in types.into_iter().enumerate() {
                    let element = self.offset_value(at, number as u32);
                    let value = self.builder.load_var(*var, element);
                    out.push(self.unhold(value, wanted));
                }
            }
            (Local::Pointer(vars), _) => {
                let first = self.builder.word(0);
                out.extend(vars.iter().map(|var| self.builder.load_var(*var, first)));
            }
            // Variables are made from the types that pointers to them have.
            (Local::Struct(_), _) => {}
        }
    }

    pub(super) fn store_local(
        &mut self,
        node: &Local,
        at: Offset,
        ty: &Type,
        scalars: &mut dyn Iterator<Item = Value>,
    ) {
        match (node, ty) {
            (Local::Struct(parts), Type::Struct { members, .. }) => {
                for (part, member) in parts.iter().zip(members.iter()) {
                    self.store_local(part, Offset::default(), &member.ty, scalars);
                }
            }
            (Local::Struct(parts), Type::Array { element, .. }) => {
                for part in parts {
                    self.store_local(part, Offset::default(), element, scalars);
                }
            }
            (Local::Leaf(var), ty) => {
                let held = self.builder.function.var(*var).ty;
                for number in 0..ty.scalars() {
                    let Some(value) = scalars.next() else { return };
                    let element = self.offset_value(at, number as u32);
                    let value = self.hold(value, held);
                    self.builder.store_var(*var, element, value);
                }
            }
            (Local::Pointer(vars), _) => {
                let first = self.builder.word(0);
                for (var, value) in vars.iter().zip(scalars) {
                    self.builder.store_var(*var, first, value);
                }
            }
            (Local::Struct(_), _) => {}
        }
    }

    /// A value as memory or a variable of words holds it.
    fn hold(&mut self, value: Value, held: ir::Type) -> Value {
        match self.builder.function.ty(value) {
            own if own == held => value,
            ir::Type::Bool => {
                let word = self.builder.alu(Alu::B2I, &[value]);
                fit(&mut self.builder, word, held)
            }
            _ => fit(&mut self.builder, value, held),
        }
    }

    /// A value that memory or a variable holds, as its own type.
    fn unhold(&mut self, value: Value, wanted: ir::Type) -> Value {
        match (self.builder.function.ty(value), wanted) {
            (held, wanted) if held == wanted => value,
            (_, ir::Type::Bool) => self.builder.alu_bits(Alu::INe, value, 0),
            (_, wanted) => self.builder.alu(to_unsigned(wanted.bits()), &[value]),
        }
    }

    /// Calls `each` for every scalar or vector of words that lies together.
    fn runs(
        &mut self,
        instr: &Instr,
        place: &Place,
        ty: &Rc<Type>,
        each: &mut dyn FnMut(&mut Self, &Place, u32, ir::Type) -> Result<()>,
    ) -> Result<()> {
        match &**ty {
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Address { .. } => {
                let scalar = ty.scalar().unwrap_or(ir::Type::W32);
                let in_buffer = place.rules == Rules::Decorated;
                if scalar == ir::Type::Bool && in_buffer {
                    return Err(instr.invalid(Invalid::TypeMismatch));
                }
                each(self, place, 1, scalar)
            }
            Type::Vector { component, count }
                if place.component_stride.is_none() && **component != Type::Bool =>
            {
                let scalar = component.scalar().unwrap_or(ir::Type::W32);
                each(self, place, *count, scalar)
            }
            Type::Vector { count, .. } | Type::Matrix { count, .. } => {
                self.run_parts(instr, place, ty, *count, each)
            }
            Type::Array { len, .. } => self.run_parts(instr, place, ty, *len, each),
            Type::Struct { members, .. } => {
                self.run_parts(instr, place, ty, members.len() as u32, each)
            }
            Type::Void
            | Type::RuntimeArray { .. }
            | Type::Pointer { .. }
            | Type::Function { .. }
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_) => Err(instr.invalid(Invalid::TypeMismatch)),
        }
    }

    fn run_parts(
        &mut self,
        instr: &Instr,
        place: &Place,
        ty: &Rc<Type>,
        count: u32,
        each: &mut dyn FnMut(&mut Self, &Place, u32, ir::Type) -> Result<()>,
    ) -> Result<()> {
        for index in 0..count {
            let part = self.step_in_memory(instr, ty, place, Index::Constant(index))?;
            let (inner, _) = ty
                .part(index)
                .ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
            self.runs(instr, &part, &inner, each)?;
        }
        Ok(())
    }

    pub(super) fn load_memory(
        &mut self,
        instr: &Instr,
        place: &Place,
        ty: &Rc<Type>,
        out: &mut Vec<Value>,
    ) -> Result<()> {
        self.runs(instr, place, ty, &mut |this, place, count, scalar| {
            let held = in_memory(scalar);
            let words = if place.area == Area::Push {
                (0..count)
                    .map(|number| this.load_push(instr, place.at, held.bytes() * number, held))
                    .collect::<Result<Values>>()?
            } else {
                let (address, access) = this.address(instr, place, held, count)?;
                this.builder.inst(Op::Load(access), &address)
            };
            for word in words {
                out.push(this.unhold(word, scalar));
            }
            Ok(())
        })
    }

    pub(super) fn store_memory(
        &mut self,
        instr: &Instr,
        place: &Place,
        ty: &Rc<Type>,
        scalars: &mut dyn Iterator<Item = Value>,
    ) -> Result<()> {
        self.runs(instr, place, ty, &mut |this, place, count, scalar| {
            let held = in_memory(scalar);
            let mut words = vec![];
            for scalar in scalars.take(count as usize) {
                words.push(this.hold(scalar, held));
            }
            let (address, access) = this.address(instr, place, held, count)?;
            this.builder.store(access, &address, &words);
            Ok(())
        })
    }

    /// Address operands and access for so many elements at a place in a buffer or in shared memory.
    pub fn address(
        &mut self,
        instr: &Instr,
        place: &Place,
        elem: ir::Type,
        count: u32,
    ) -> Result<(Vec<Value>, Access)> {
        if place.align < elem.bytes().min(4) {
            let what = format!("{} bytes at a multiple of {}", elem.bytes(), place.align);
            return Err(instr.unsupported(Feature::Use, what));
        }
        let (space, address) = match place.area {
            Area::Buffer(resource, _) => {
                let offset = self.offset_value(place.at, 0);
                (Space::Buffer, vec![resource, offset])
            }
            Area::Global(..) => (Space::Global, vec![self.global_address(place)]),
            Area::Shared | Area::Push => (Space::Shared, vec![self.offset_value(place.at, 0)]),
        };
        let access = Access {
            space,
            elem,
            count: count as u8,
            align: place.align as u8,
            memory: place.memory,
            held: Held::Own,
        };
        Ok((address, access))
    }
}

/// What a scalar is in memory.
fn in_memory(scalar: ir::Type) -> ir::Type {
    match scalar {
        ir::Type::Bool => ir::Type::W32,
        other => other,
    }
}
