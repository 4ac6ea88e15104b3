//! Notes for a debugger: which variable of the source the IR keeps where.
//!
//! Needs: `Options::notes`; what ids name in the function that is being translated.  Guarantees: without that option nothing here
//! runs; a variable whose place is not one (a pointer that varies, an image) is left out, never shown wrong.
use std::rc::Rc;
use std::sync::Arc;

use super::layout::{Rules, scalar_bytes};
use super::pointer::{Area, Local, Offset, Pointer, Target};
use super::reader::Instr;
use super::translate::{Item, Translator};
use super::types::{MatrixLayout, Type};
use crate::ir::source_names::{
    Home, Sequence, SequenceKind, SourceMember, SourceType, SourceVariable, Visible,
};
use crate::ir::{PositionId, Var};

/// Most scalars of a value whose homes are listed one by one.
const MAX_LISTED: u64 = 1 << 14;

impl Translator<'_> {
    /// Notes the variables outside functions.
    pub(super) fn name_globals(&mut self) {
        let module = self.module;
        for (id, global) in module.own_globals() {
            let Some(item) = self.globals.get(id).cloned() else {
                continue;
            };
            let mut name = self.name(*id);
            if name.is_empty() {
                // A block without a name of its own is called by its type's.
                let block = module.type_of(*id).and_then(|ty| module.block_of(ty));
                name = block.map_or(String::new(), |block| self.name(block));
            }
            self.name_item(&global.instr, name, &item, Visible::Everywhere);
        }
    }

    /// Notes the variable or the value that an instruction of the module has defined, if it has a name.
    pub(super) fn name_result(&mut self, instr: &Instr) {
        let Some(id) = instr.result else { return };
        let Some(name) = self.module.names.get(&id).cloned() else {
            return;
        };
        if let Ok(item) = self.item(instr, id) {
            let visible = Visible::InCall(self.call_place());
            self.name_item(instr, name, &item, visible);
        }
    }

    /// Notes the name of a function that is called, and of its parameters, which are items of the frame by now.
    pub(super) fn name_call(&mut self, instr: &Instr, function: u32, parameters: &[(u32, Item)]) {
        let call = self.call_place();
        if let Some(call) = call {
            let name = self.module.names.get(&function).cloned();
            let name = name.unwrap_or_else(|| format!("%{function}"));
            // glslang appends the types of the parameters.
            let name = name.split('(').next().unwrap_or_default().to_owned();
            let names = &mut self.builder.function.source_names;
            names.callees.insert(call, name);
        }
        for (id, item) in parameters {
            if let Some(name) = self.module.names.get(id).cloned() {
                self.name_item(instr, name, item, Visible::InCall(call));
            }
        }
    }

    fn call_place(&self) -> Option<PositionId> {
        self.frames.last().and_then(|frame| frame.call)
    }

    fn name_item(&mut self, instr: &Instr, name: String, item: &Item, visible: Visible) {
        if name.is_empty() {
            return;
        }
        let Some((ty, home)) = self.home(instr, item) else {
            return;
        };
        let variable = SourceVariable {
            name,
            ty,
            home,
            visible,
        };
        let variables = &mut self.builder.function.source_names.variables;
        if !variables.contains(&variable) {
            variables.push(variable);
        }
    }

    fn home(&self, instr: &Instr, item: &Item) -> Option<(SourceType, Home)> {
        let pointer = match item {
            Item::Value(composite) => {
                let ty = self.source_type(instr, &composite.ty, Rules::Computed)?;
                return Some((ty, Home::Values(composite.scalars.to_vec())));
            }
            Item::Pointer(pointer) => pointer,
            Item::Image(..) | Item::Sampler(_) => return None,
        };
        match &pointer.target {
            Target::Local { node, at } => {
                let mut vars = vec![];
                local_homes(node, *at, &pointer.ty, &mut vars)?;
                let ty = self.source_type(instr, &pointer.ty, Rules::Computed)?;
                Some((ty, Home::Vars(vars)))
            }
            Target::Fixed(composite) | Target::Input(composite, _) => {
                let ty = self.source_type(instr, &composite.ty, Rules::Computed)?;
                Some((ty, Home::Values(composite.scalars.to_vec())))
            }
            Target::Memory(_) => self.home_in_memory(instr, pointer),
            Target::Descriptors { .. } | Target::Opaque(_) | Target::Texel(_) => None,
        }
    }

    fn home_in_memory(&self, instr: &Instr, pointer: &Pointer) -> Option<(SourceType, Home)> {
        let Target::Memory(place) = &pointer.target else {
            return None;
        };
        if place.at.dynamic.is_some() || place.component_stride.is_some() {
            return None;
        }
        let at = place.at.constant;
        let home = match place.area {
            Area::Buffer(resource, Some(binding)) => {
                // Which element it is is known only of a constant.
                let (_, element) = self.builder.function.as_resource(resource)?;
                (element == 0).then_some(Home::Buffer(binding, at))?
            }
            Area::Shared => Home::Shared(at),
            Area::Push => Home::Push(at),
            Area::Buffer(_, None) | Area::Global(..) => return None,
        };
        let ty = self.laid_out(instr, &pointer.ty, place.rules, place.matrix)?;
        Some((ty, home))
    }

    fn source_type(&self, instr: &Instr, ty: &Rc<Type>, rules: Rules) -> Option<SourceType> {
        (ty.scalars() <= MAX_LISTED)
            .then(|| self.laid_out(instr, ty, rules, MatrixLayout::default()))?
    }

    /// A type as it lies in memory.
    fn laid_out(
        &self,
        instr: &Instr,
        ty: &Rc<Type>,
        rules: Rules,
        matrix: MatrixLayout,
    ) -> Option<SourceType> {
        let sequence = |kind, part, count, stride| {
            Some(SourceType::Sequence(Sequence {
                kind,
                part: Arc::new(part),
                count,
                stride,
            }))
        };
        match &**ty {
            Type::Bool => Some(SourceType::Bool),
            Type::Int { bits, signed } => Some(SourceType::Int {
                bits: *bits,
                signed: *signed,
            }),
            Type::Float { bits } => Some(SourceType::Float { bits: *bits }),
            Type::Vector { component, count } => {
                let part = self.laid_out(instr, component, rules, matrix)?;
                let stride = scalar_bytes(component);
                sequence(SequenceKind::Vector, part, Some(*count), stride)
            }
            Type::Matrix { column, count } => {
                let stride = rules.matrix_stride(instr, column, matrix).ok()?;
                let scalar = scalar_bytes(column.component());
                let mut part = self.laid_out(instr, column, rules, matrix)?;
                let mut between = stride;
                if let (SourceType::Sequence(components), true) = (&mut part, matrix.row_major) {
                    components.stride = stride;
                    between = scalar;
                }
                sequence(SequenceKind::Matrix, part, Some(*count), between)
            }
            Type::Array { element, len, .. } => {
                let stride = rules.array_stride(instr, ty).ok()?;
                let part = self.laid_out(instr, element, rules, matrix)?;
                sequence(SequenceKind::Array, part, Some(*len), stride)
            }
            Type::RuntimeArray { element, .. } => {
                let stride = rules.array_stride(instr, ty).ok()?;
                let part = self.laid_out(instr, element, rules, matrix)?;
                sequence(SequenceKind::Array, part, None, stride)
            }
            Type::Struct { members, .. } => {
                let id = self.module.type_id(ty);
                let member = |(number, member): (usize, &super::types::Member)| {
                    let number = number as u32;
                    let names = &self.module.member_names;
                    let name = id.and_then(|id| names.get(&(id, number)));
                    Some(SourceMember {
                        name: name.cloned().unwrap_or_else(|| format!("_{number}")),
                        ty: self.laid_out(instr, &member.ty, rules, member.matrix)?,
                        offset: rules.member_offset(instr, ty, number).ok()?,
                    })
                };
                let members = members.iter().enumerate().map(member);
                Some(SourceType::Struct(members.collect::<Option<_>>()?))
            }
            Type::Address { .. } => Some(SourceType::Opaque),
            Type::Void
            | Type::Pointer { .. }
            | Type::Function { .. }
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_) => None,
        }
    }
}

/// Where each scalar of a private variable is; none if one of them moves.
fn local_homes(node: &Local, at: Offset, ty: &Type, out: &mut Vec<(Var, u32)>) -> Option<()> {
    match (node, ty) {
        (_, _) if at.dynamic.is_some() => None,
        (Local::Leaf(var), _) => {
            let count = ty.scalars() as u32;
            out.extend((0..count).map(|number| (*var, at.constant + number)));
            Some(())
        }
        (Local::Struct(parts), Type::Struct { members, .. }) => {
            let mut both = parts.iter().zip(members.iter());
            both.try_for_each(|(part, member)| {
                local_homes(part, Offset::default(), &member.ty, out)
            })
        }
        (Local::Struct(_) | Local::Pointer(_), _) => None,
    }
}
