//! The interface: push constants, shared memory, private globals. Descriptors are in `resources`, what one stage hands to the
//! next in `stage_interface`.
//!
//! Needs: a module.
use std::rc::Rc;

use rspirv::spirv::{Decoration, StorageClass};

use super::error::{Feature, Invalid};
use super::layout::{MAX_ALIGN, Rules};
use super::module::Global;
use super::ops::convert::to_unsigned;
use super::pointer::{Area, Index, Local, Offset, Place, Pointer, Target};
use super::reader::{Instr, Result};
use super::translate::{Item, Translator};
use super::types::{MatrixLayout, Type};
use crate::ir::{self, Access, Alu, Memory, Merge, Space, Terminator, Uniform, Value, VarData};

impl Translator<'_> {
    /// Declares all global variables that matter.
    pub fn declare_globals(&mut self) -> Result<()> {
        let module = self.module;
        self.begin_stage();
        let mut resources = vec![];
        // Those of other entry points may be of any kind, and stand at the same bindings.
        for (id, global) in module.own_globals() {
            match global.class {
                StorageClass::StorageBuffer
                | StorageClass::Uniform
                | StorageClass::UniformConstant => resources.push((*id, global)),
                _ => {
                    if let Err(error) = self.global(*id, global) {
                        self.refusals.note(&global.instr, error)?;
                    }
                }
            }
        }
        self.resources(resources)
    }

    /// A variable that is no resource.
    fn global(&mut self, id: u32, global: &Global) -> Result<()> {
        let instr = &global.instr;
        match global.class {
            StorageClass::PushConstant => self.push_constants(id, global),
            StorageClass::Workgroup => self.shared(id, global),
            StorageClass::Private => {
                let pointer = self.private(instr, &global.pointee, &self.name(id))?;
                self.initialize(instr, &pointer, global.initializer)?;
                self.globals.insert(id, Item::Pointer(pointer));
                Ok(())
            }
            StorageClass::Input => self.input(id, global),
            StorageClass::Output => self.output(id, global),
            class => Err(instr.unsupported(Feature::StorageClass, format!("{class:?}"))),
        }
    }

    pub(super) fn name(&self, id: u32) -> String {
        self.module.names.get(&id).cloned().unwrap_or_default()
    }

    fn push_constants(&mut self, id: u32, global: &Global) -> Result<()> {
        let instr = &global.instr;
        let bytes = Rules::Decorated.size(instr, &global.pointee, MatrixLayout::default())?;
        let most = self.limits.push_constant_bytes;
        if bytes > most.into() {
            return Err(instr.unsupported(
                Feature::Limit,
                format!("{bytes} bytes of push constants, more than {most}"),
            ));
        }
        if let Type::Struct { members, .. } = &*global.pointee {
            for (index, member) in members.iter().enumerate() {
                let offset =
                    Rules::Decorated.member_offset(instr, &global.pointee, index as u32)?;
                let size = Rules::Decorated.size(instr, &member.ty, member.matrix)?;
                let list = &mut self.builder.function.push_members;
                list.push((offset, size as u32));
            }
        }
        let declared = &mut self.builder.function.push_constant_bytes;
        *declared = (*declared).max((bytes as u32).next_multiple_of(4));
        let pointer = Pointer {
            ty: global.pointee.clone(),
            target: Target::Memory(Place {
                area: Area::Push,
                rules: Rules::Decorated,
                at: Offset::default(),
                align: MAX_ALIGN,
                matrix: MatrixLayout::default(),
                component_stride: None,
                memory: Memory::Constant,
            }),
        };
        self.globals.insert(id, Item::Pointer(pointer));
        Ok(())
    }

    /// A scalar of the push constants.
    pub fn load_push(
        &mut self,
        instr: &Instr,
        at: Offset,
        plus: u32,
        ty: ir::Type,
    ) -> Result<Value> {
        let constant = at.constant.wrapping_add(plus);
        if ty.bytes() >= 4 {
            let words = (0..ty.bytes() / 4)
                .map(|number| self.push_word(instr, at.dynamic, constant.wrapping_add(4 * number)))
                .collect::<Result<Vec<Value>>>()?;
            return Ok(match words.as_slice() {
                &[low, high] => self.builder.alu(Alu::Pack64, &[low, high]),
                words => words[0],
            });
        }
        // A part of a word.
        let (word, byte) = match at.dynamic {
            None => {
                let byte = self.builder.word(constant % 4);
                (self.push_word(instr, None, constant & !3)?, byte)
            }
            Some(dynamic) => {
                let byte = self.builder.alu_word(Alu::IAdd, dynamic, constant % 4);
                let whole = self.builder.alu_word(Alu::IAnd, byte, !3);
                let word = self.push_word(instr, Some(whole), constant & !3)?;
                (word, self.builder.alu_word(Alu::IAnd, byte, 3))
            }
        };
        let shift = self.builder.alu_word(Alu::IShl, byte, 3);
        let part = self.builder.alu(Alu::UShr, &[word, shift]);
        Ok(self.builder.alu(to_unsigned(ty.bits()), &[part]))
    }

    /// A word of the push constants. They can't be indexed, so a dynamic offset becomes selects (compiler-lowering.md 4).
    fn push_word(&mut self, instr: &Instr, dynamic: Option<Value>, constant: u32) -> Result<Value> {
        let words = self.builder.function.push_constant_bytes / 4;
        let word = constant / 4;
        let Some(dynamic) = dynamic else {
            if word >= words {
                return Err(instr.invalid(Invalid::Index(word)));
            }
            return Ok(self.builder.uniform(Uniform::PushConstant(4 * word)));
        };
        let mut value = self.builder.word(0);
        for number in word.min(words)..words {
            let here = self
                .builder
                .alu_word(Alu::IEq, dynamic, 4 * (number - word));
            let candidate = self.builder.uniform(Uniform::PushConstant(4 * number));
            value = self.builder.select(here, candidate, value);
        }
        Ok(value)
    }

    fn shared(&mut self, id: u32, global: &Global) -> Result<()> {
        let instr = &global.instr;
        // A block says itself where its members lie; all blocks lie on one another.
        let rules = match &*global.pointee {
            Type::Struct { block: true, .. } => Rules::Decorated,
            _ => Rules::Computed,
        };
        let bytes = rules.size(instr, &global.pointee, MatrixLayout::default())?;
        let start = match rules {
            Rules::Decorated => 0,
            Rules::Computed => self.builder.function.shared_bytes,
        };
        let end = u64::from(start).saturating_add(bytes);
        let most = self.limits.shared_bytes;
        if end > most.into() {
            let limit = format!("{end} bytes of shared memory, more than {most}");
            return Err(instr.unsupported(Feature::Limit, limit));
        }
        let shared = &mut self.builder.function.shared_bytes;
        *shared = (*shared).max((end as u32).next_multiple_of(16));
        let decorations = self.module.decorations.of(id);
        let volatile =
            decorations.has(Decoration::Volatile) || decorations.has(Decoration::Coherent);
        let pointer = Pointer {
            ty: global.pointee.clone(),
            target: Target::Memory(Place {
                area: Area::Shared,
                rules,
                at: Offset {
                    constant: start,
                    dynamic: None,
                },
                align: MAX_ALIGN,
                matrix: MatrixLayout::default(),
                component_stride: None,
                memory: if volatile {
                    Memory::Volatile
                } else {
                    Memory::Plain
                },
            }),
        };
        self.globals.insert(id, Item::Pointer(pointer));
        match global.initializer {
            None => Ok(()),
            // Zero is all that SPIR-V allows.
            Some(id)
                if self
                    .module
                    .constant(instr, id)?
                    .bits
                    .iter()
                    .all(|bits| *bits == 0) =>
            {
                self.clear_shared(start, (bytes as u32).next_multiple_of(4));
                Ok(())
            }
            Some(_) => Err(instr.invalid(Invalid::TypeMismatch)),
        }
    }

    /// Sets shared memory to zero before anything else is done: a loop in which each invocation takes every so many
    /// words, and a barrier.
    fn clear_shared(&mut self, start: u32, bytes: u32) {
        let invocations: u32 = self.builder.function.workgroup_size.iter().product();
        let own = self.local_index();
        let first = self.builder.alu_word(Alu::IShl, own, 2);
        let [header, body, exit] = [(); 3].map(|()| self.builder.function.new_block());
        let from = self.builder.block;
        self.builder.terminate(Terminator::Jump(header));
        self.builder.block = header;
        let at = self.builder.function.new_phi(header, ir::Type::W32);
        let more = self.builder.alu_word(Alu::ULt, at, bytes);
        self.builder.terminate(Terminator::Branch {
            condition: more,
            then: body,
            otherwise: exit,
        });
        self.builder.block = body;
        let offset = self.builder.alu_word(Alu::IAdd, at, start);
        let zero = self.builder.word(0);
        self.builder
            .store(Access::words(Space::Shared, 1), &[offset], &[zero]);
        let next = self.builder.alu_word(Alu::IAdd, at, 4 * invocations);
        self.builder.terminate(Terminator::Jump(header));
        let header = self.builder.function.block_mut(header);
        header.merge = Some(Merge::At(exit));
        for phi in &mut header.phis {
            phi.sources = vec![(from, first), (body, next)];
        }
        self.builder.block = exit;
        self.builder.inst(ir::Op::Barrier, &[]);
    }

    /// A private variable.
    pub fn private(&mut self, instr: &Instr, ty: &Rc<Type>, name: &str) -> Result<Pointer> {
        if !ty.is_value() {
            return Err(instr.unsupported(Feature::Use, "a private variable of that type"));
        }
        let node = self.local(ty, name);
        Ok(Pointer {
            ty: ty.clone(),
            target: Target::Local {
                node: Rc::new(node),
                at: Offset::default(),
            },
        })
    }

    fn local(&mut self, ty: &Type, name: &str) -> Local {
        if let Type::Struct { members, .. } = ty
            && !members.is_empty()
        {
            let parts = members
                .iter()
                .map(|member| Rc::new(self.local(&member.ty, name)));
            return Local::Struct(parts.collect());
        }
        if let Type::Array { element, len, .. } = ty
            && element.holds_pointer()
        {
            let parts = (0..*len).map(|_| Rc::new(self.local(element, name)));
            return Local::Struct(parts.collect());
        }
        let types = ty.flatten();
        if let Type::Pointer { .. } = ty {
            let one = |ty| VarData {
                ty,
                len: 1,
                name: name.to_owned(),
            };
            let vars = types.into_iter().map(one);
            return Local::Pointer(
                vars.map(|data| self.builder.function.new_var(data))
                    .collect(),
            );
        }
        let first = types.first().copied().unwrap_or(ir::Type::W32);
        let ty = match types.iter().all(|ty| *ty == first) {
            true => first,
            // One in which all have place; a boolean is a word.
            false => types.iter().copied().fold(ir::Type::W32, Ord::max),
        };
        let data = VarData {
            ty,
            len: (types.len() as u32).max(1),
            name: name.to_owned(),
        };
        Local::Leaf(self.builder.function.new_var(data))
    }

    /// Stores a variable's initial value, if it has one.
    pub fn initialize(
        &mut self,
        instr: &Instr,
        pointer: &Pointer,
        initializer: Option<u32>,
    ) -> Result<()> {
        let Some(id) = initializer else {
            return Ok(());
        };
        let value = self.composite(instr, id)?;
        self.store(instr, pointer, &value, Memory::Plain)
    }

    /// Length of the runtime array that is member `member` of a block: (size - offset) / stride.
    pub fn array_length(&mut self, instr: &Instr, block: &Pointer, member: u32) -> Result<Value> {
        let Target::Memory(Place {
            area: Area::Buffer(resource, _),
            rules,
            ..
        }) = block.target
        else {
            return Err(instr.invalid(Invalid::TypeMismatch));
        };
        let array = self.step(instr, block, Index::Constant(member))?;
        if !matches!(&*array.ty, Type::RuntimeArray { .. }) {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        let offset = rules.member_offset(instr, &block.ty, member)?;
        let stride = rules.array_stride(instr, &array.ty)?;
        if stride == 0 {
            return Err(instr.invalid(Invalid::NoLayout("ArrayStride")));
        }
        let size = self.builder.inst(ir::Op::BufferSize, &[resource])[0];
        // A buffer that ends before the array has none of its elements.
        let size = self.builder.alu_word(Alu::UMax, size, offset);
        let bytes = self.builder.alu_word(Alu::ISub, size, offset);
        Ok(self.builder.alu_word(Alu::UDiv, bytes, stride))
    }
}
