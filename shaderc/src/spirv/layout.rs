//! Where the parts of a type lie in memory.
//!
//! Needs: types with their decorations.  Guarantees: offsets in bytes, multiples of the scalars that lie there.
//! Buffers and push constants are laid out by decorations; shared memory by alignment, vectors of three as four
//! (hardware/compiler-passes.md A.3).
use std::rc::Rc;

use super::error::{Feature, Invalid};
use super::reader::{Instr, Result};
use super::types::{MatrixLayout, Type};
use crate::ir;

/// Who decides where things lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rules {
    /// The decorations of the module.
    Decorated,
    /// This compiler.
    Computed,
}

/// Alignment of descriptors' base addresses, in bytes: nothing is known to be aligned better.
pub(crate) const MAX_ALIGN: u32 = 16;

impl Rules {
    /// Bytes from one element of an array to the next.
    pub fn array_stride(self, instr: &Instr, array: &Type) -> Result<u32> {
        let (element, stride) = match array {
            Type::Array {
                element, stride, ..
            }
            | Type::RuntimeArray { element, stride } => (element, stride),
            _ => return Err(instr.invalid(Invalid::TypeMismatch)),
        };
        match self {
            Rules::Decorated => multiple(instr, *stride, element, "ArrayStride"),
            Rules::Computed => {
                let (size, align) = computed(element);
                u32::try_from(size.next_multiple_of(align))
                    .map_err(|_| instr.unsupported(Feature::Limit, "shared memory of that size"))
            }
        }
    }

    /// Bytes from the start of a struct to a member.
    pub fn member_offset(self, instr: &Instr, ty: &Type, index: u32) -> Result<u32> {
        let Type::Struct { members, .. } = ty else {
            return Err(instr.invalid(Invalid::TypeMismatch));
        };
        let Some(member) = members.get(index as usize) else {
            return Err(instr.invalid(Invalid::Index(index)));
        };
        match self {
            Rules::Decorated => multiple(instr, member.offset, &member.ty, "Offset"),
            Rules::Computed => {
                let mut at = 0u64;
                for before in &members[..index as usize] {
                    let (size, align) = computed(&before.ty);
                    at = at.next_multiple_of(align).saturating_add(size);
                }
                let (_, align) = computed(&member.ty);
                u32::try_from(at.next_multiple_of(align))
                    .map_err(|_| instr.unsupported(Feature::Limit, "shared memory of that size"))
            }
        }
    }

    /// Bytes from one column (or row, if row-major) of a matrix to the next.
    pub fn matrix_stride(self, instr: &Instr, column: &Type, layout: MatrixLayout) -> Result<u32> {
        match self {
            Rules::Decorated => multiple(instr, layout.stride, column, "MatrixStride"),
            Rules::Computed => {
                let (size, align) = computed(column);
                Ok(size.next_multiple_of(align) as u32)
            }
        }
    }

    /// Bytes of a whole value; a runtime array counts as empty.
    pub fn size(self, instr: &Instr, ty: &Rc<Type>, layout: MatrixLayout) -> Result<u64> {
        if self == Rules::Computed {
            return Ok(computed(ty).0);
        }
        Ok(match &**ty {
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Address { .. } => {
                scalar_bytes(ty).into()
            }
            Type::Vector { component, count } => {
                u64::from(scalar_bytes(component)) * u64::from(*count)
            }
            Type::Matrix { column, count } => {
                let stride: u64 = self.matrix_stride(instr, column, layout)?.into();
                let rows = column.scalars();
                let scalar = u64::from(scalar_bytes(column.component()));
                if layout.row_major {
                    stride * (rows - 1) + scalar * u64::from(*count)
                } else {
                    stride * (u64::from(*count) - 1) + scalar * rows
                }
            }
            Type::Array { element, len, .. } => {
                let stride: u64 = self.array_stride(instr, ty)?.into();
                let last = self.size(instr, element, layout)?;
                stride
                    .saturating_mul(u64::from(*len) - 1)
                    .saturating_add(last)
            }
            Type::RuntimeArray { .. } => 0,
            Type::Struct { members, .. } => {
                let mut end = 0;
                for (index, member) in members.iter().enumerate() {
                    let offset = self.member_offset(instr, ty, index as u32)?;
                    let size = self.size(instr, &member.ty, member.matrix)?;
                    end = size.saturating_add(offset.into()).max(end);
                }
                end
            }
            Type::Void
            | Type::Pointer { .. }
            | Type::Function { .. }
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_) => {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
        })
    }
}

/// A number of bytes that must be a multiple of the largest scalar of a type.
fn multiple(instr: &Instr, bytes: Option<u32>, of: &Type, decoration: &'static str) -> Result<u32> {
    let scalar = largest_scalar(of);
    match bytes {
        None => Err(instr.invalid(Invalid::NoLayout(decoration))),
        Some(bytes) if bytes % scalar == 0 => Ok(bytes),
        Some(bytes) => Err(instr.unsupported(
            Feature::Use,
            format!("{decoration} {bytes}, no multiple of {scalar}"),
        )),
    }
}

/// Bytes of a scalar in memory; a boolean is a word there.
pub(crate) fn scalar_bytes(ty: &Type) -> u32 {
    match ty.scalar() {
        None | Some(ir::Type::Bool) => 4,
        Some(ty) => ty.bytes(),
    }
}

/// What the offset of such a type is a multiple of, whatever it is part of.
pub(crate) fn natural_align(rules: Rules, ty: &Type) -> u32 {
    match rules {
        Rules::Decorated => largest_scalar(ty),
        Rules::Computed => u32::try_from(computed(ty).1).unwrap_or(1),
    }
}

/// Bytes of the largest scalar that is part of a type.
fn largest_scalar(ty: &Type) -> u32 {
    match ty {
        Type::Vector {
            component: part, ..
        }
        | Type::Matrix { column: part, .. }
        | Type::Array { element: part, .. }
        | Type::RuntimeArray { element: part, .. } => largest_scalar(part),
        Type::Struct { members, .. } => {
            let members = members.iter().map(|member| largest_scalar(&member.ty));
            members.max().unwrap_or(1)
        }
        scalar => scalar_bytes(scalar),
    }
}

/// Size and alignment in shared memory.
fn computed(ty: &Type) -> (u64, u64) {
    match ty {
        Type::Vector { component, count } => {
            let scalar = u64::from(scalar_bytes(component));
            match count {
                2 => (2 * scalar, 2 * scalar),
                count => (scalar * u64::from(*count), 4 * scalar),
            }
        }
        Type::Matrix {
            column: part,
            count: len,
        }
        | Type::Array {
            element: part, len, ..
        } => {
            let (size, align) = computed(part);
            let stride = size.next_multiple_of(align);
            (stride.saturating_mul((*len).into()), align)
        }
        Type::Struct { members, .. } => {
            let (mut end, mut most) = (0u64, 1);
            for member in members.iter() {
                let (size, align) = computed(&member.ty);
                end = end.next_multiple_of(align).saturating_add(size);
                most = align.max(most);
            }
            // Too large to be allowed anyway, but it must not wrap.
            (end.checked_next_multiple_of(most).unwrap_or(u64::MAX), most)
        }
        scalar => {
            let bytes = u64::from(scalar_bytes(scalar));
            (bytes, bytes)
        }
    }
}
