//! Notes for an interpreter that checks: what an instruction of the module says and the IR does not.
//!
//! Needs: `Options::notes`, and the instructions of the IR that one of SPIR-V has become.  Guarantees: without that option nothing
//! here runs.  Facts: hardware/memory-model.md 2 to 4; a module without the Vulkan memory model is read as its section 4 says.
use std::sync::Arc;

use rspirv::spirv::GlslStd450Op as Glsl;
use rspirv::spirv::{
    Decoration, ImageOperands, MemoryAccess, MemorySemantics, Op, Scope as SpirvScope, StorageClass,
};

use super::module::InstructionSet;
use super::reader::{Instr, Result};
use super::translate::{Item, Translator};
use super::types::Type;
use crate::ir::notes::{Classes, Domain, Index, Named, Note, Order, Reach, Scope, Source};
use crate::ir::{self, Inst, LaneOp};

/// What is known of a pointer or an image by its id.
#[derive(Clone, Debug)]
pub(super) struct Root {
    named: Arc<Named>,
    class: StorageClass,
    /// Decorated Coherent or Volatile.
    coherent: bool,
    non_uniform: bool,
    indices: Vec<Index>,
    /// Of a block whose variable has no name: the type whose member gives one.
    nameless: Option<u32>,
}

impl Translator<'_> {
    /// What is known of the pointer or image with that id.
    pub(super) fn root(&self, id: u32) -> Option<Root> {
        let local = self.frames.last().and_then(|frame| frame.roots.get(&id));
        local.cloned().or_else(|| self.root_of_global(id))
    }

    fn root_of_global(&self, id: u32) -> Option<Root> {
        let (_, global) = self.module.globals.iter().find(|(own, _)| *own == id)?;
        let decorations = self.module.decorations.of(id);
        let name = self.module.names.get(&id).cloned().unwrap_or_default();
        let number = decorations.literal(Decoration::Binding);
        let set = decorations.literal(Decoration::DescriptorSet);
        let pointer = self.module.type_of(id);
        Some(Root {
            nameless: pointer
                .filter(|_| name.is_empty())
                .and_then(|pointer| self.module.block_of(pointer)),
            named: Arc::new(Named {
                name,
                binding: number.map(|number| (set.unwrap_or(0), number)),
            }),
            class: global.class,
            coherent: decorations.has(Decoration::Coherent)
                || decorations.has(Decoration::Volatile),
            non_uniform: self.is_non_uniform(id),
            indices: vec![],
        })
    }

    fn is_non_uniform(&self, id: u32) -> bool {
        self.module.decorations.of(id).has(Decoration::NonUniform)
    }

    fn keep_root(&mut self, id: Option<u32>, root: Root) {
        if let (Some(id), Some(frame)) = (id, self.frames.last_mut()) {
            frame.roots.insert(id, root);
        }
    }

    /// Notes what an instruction says, of the instructions of the IR from `first` on that it has become.
    pub(super) fn observe(&mut self, instr: &Instr, first: usize) -> Result<()> {
        match instr.op {
            Op::Variable => {
                let name = instr.result.and_then(|id| self.module.names.get(&id));
                let root = Root {
                    named: Arc::new(Named {
                        name: name.cloned().unwrap_or_default(),
                        binding: None,
                    }),
                    class: StorageClass::Function,
                    coherent: false,
                    non_uniform: false,
                    indices: vec![],
                    nameless: None,
                };
                self.note_accesses(first, &root, None);
                self.keep_root(instr.result, root);
            }
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain => self.observe_chain(instr)?,
            Op::CopyObject | Op::SampledImage | Op::Image => self.pass_on(instr, 0),
            Op::Load => {
                self.pass_on(instr, 0);
                self.observe_access(instr, (0, 1), first)?;
            }
            Op::Store => self.observe_access(instr, (0, 2), first)?,
            Op::CopyMemory => self.observe_copy(instr, first)?,
            Op::ImageTexelPointer => self.pass_on(instr, 0),
            Op::ImageRead | Op::ImageFetch => self.observe_image(instr, 2, first)?,
            Op::ImageWrite => self.observe_image(instr, 3, first)?,
            Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageGather
            | Op::ImageDrefGather => self.observe_image(instr, usize::MAX, first)?,
            Op::MemoryBarrier => {
                let order = self.order(instr, (0, 1))?;
                self.note_each(first, is_fence, |note| note.order = Some(order));
            }
            Op::ControlBarrier => {
                let order = self.order(instr, (1, 2))?;
                let control = self.scope(instr, 0)?;
                self.note_each(first, is_fence, |note| {
                    note.order = Some(order);
                    note.control = Some(control);
                });
            }
            Op::GroupNonUniformShuffle => self.observe_lanes(instr, first, Source::Lane)?,
            Op::GroupNonUniformBroadcast => self.observe_lanes(instr, first, Source::Same)?,
            Op::GroupNonUniformQuadBroadcast
            | Op::GroupNonUniformQuadSwap
            | Op::GroupNonUniformRotateKHR => {
                self.note_each(first, is_shuffle, |note| note.source = Some(Source::Given));
            }
            Op::VectorExtractDynamic => self.observe_dynamic(instr, (0, 1), first)?,
            Op::VectorInsertDynamic => self.observe_dynamic(instr, (0, 2), first)?,
            Op::ExtInst => self.observe_function(instr, first)?,
            Op::GroupNonUniformShuffleXor => self.observe_lanes(instr, first, Source::Xor)?,
            Op::GroupNonUniformShuffleUp => self.observe_lanes(instr, first, Source::Up)?,
            Op::GroupNonUniformShuffleDown => self.observe_lanes(instr, first, Source::Down)?,
            _ if may_be_undefined(instr.op) => {
                let is_alu = |op| matches!(op, ir::Op::Alu(_));
                self.note_each(first, is_alu, |note| note.arithmetic = true);
            }
            _ if is_atomic(instr.op) => self.observe_atomic(instr, first)?,
            _ => {}
        }
        Ok(())
    }

    /// What an operand names, the result names too.
    fn pass_on(&mut self, instr: &Instr, operand: usize) {
        let root = instr.operands.get(operand).and_then(|id| self.root(*id));
        if let Some(mut root) = root {
            root.non_uniform |= instr.result.is_some_and(|id| self.is_non_uniform(id));
            self.keep_root(instr.result, root);
        }
    }

    fn observe_chain(&mut self, instr: &Instr) -> Result<()> {
        let Some(mut root) = self.root(instr.word(0)?) else {
            return Ok(());
        };
        let Item::Pointer(base) = self.item(instr, instr.word(0)?)? else {
            return Ok(());
        };
        let elements = matches!(instr.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        let mut ty = base.ty;
        for operand in 1 + usize::from(elements)..instr.operands.len() {
            let id = instr.word(operand)?;
            root.non_uniform |= self.is_non_uniform(id);
            let composite = self.composite(instr, id)?;
            let (Type::Int { signed, .. }, &[value]) = (&*composite.ty, &*composite.scalars) else {
                return Ok(());
            };
            let constant = self.builder.function.as_bits(value).map(|bits| bits as u32);
            let mut index = Index {
                value,
                signed: *signed,
                len: None,
                stride: 0,
            };
            match &*ty {
                Type::Struct { .. } => {
                    self.name_member(&mut root, constant.unwrap_or(0));
                }
                Type::Array { len, .. } => index.len = Some(*len),
                Type::Vector { count, .. } | Type::Matrix { count, .. } => {
                    index.len = Some(*count);
                }
                Type::RuntimeArray { stride, .. } => index.stride = stride.unwrap_or(0),
                _ => {}
            }
            if index.len.is_some() || index.stride != 0 {
                root.indices.push(index);
            }
            let Some((part, _)) = ty.part(match &*ty {
                Type::Struct { .. } => constant.unwrap_or(0),
                _ => 0,
            }) else {
                return Ok(());
            };
            ty = part;
        }
        root.non_uniform |= instr.result.is_some_and(|id| self.is_non_uniform(id));
        self.keep_root(instr.result, root);
        Ok(())
    }

    /// Takes in what is said of a member of a block.
    fn name_member(&self, root: &mut Root, member: u32) {
        let Some(block) = root.nameless.take() else {
            return;
        };
        let decorations = self.module.decorations.of_member(block, member);
        root.coherent |=
            decorations.has(Decoration::Coherent) || decorations.has(Decoration::Volatile);
        if root.named.name.is_empty()
            && let Some(name) = self.module.member_names.get(&(block, member))
        {
            root.named = Arc::new(Named {
                name: name.clone(),
                binding: root.named.binding,
            });
        }
    }

    fn observe_access(
        &mut self,
        instr: &Instr,
        (pointer, operands): (usize, usize),
        first: usize,
    ) -> Result<()> {
        let Some(root) = self.root(instr.word(pointer)?) else {
            return Ok(());
        };
        let reach = self.reach(instr, &root, operands)?;
        self.note_accesses(first, &root, Some(reach));
        // Push constants are chosen from: there is no access.
        let function = &mut *self.builder.function;
        let insts = first..function.inst_count();
        let mut ops = insts.map(|number| function.inst(Inst(number as u32)).op);
        if !root.indices.is_empty() && ops.len() != 0 && !ops.any(is_access) {
            apply(function.notes.at(Inst(first as u32)), &root, Some(reach));
        }
        Ok(())
    }

    fn observe_copy(&mut self, instr: &Instr, first: usize) -> Result<()> {
        for (operand, reads) in [(0, false), (1, true)] {
            let Some(root) = self.root(instr.word(operand)?) else {
                continue;
            };
            let reach = self.reach(instr, &root, 2)?;
            let is_half = move |op: ir::Op| match op {
                ir::Op::Load(_) | ir::Op::LoadVar(_) => reads,
                ir::Op::Store(_) | ir::Op::StoreVar(_) => !reads,
                _ => false,
            };
            self.note_each(first, is_half, |note| apply(note, &root, Some(reach)));
        }
        Ok(())
    }

    /// How a plain access to memory takes part in the order between invocations.
    fn reach(&self, instr: &Instr, root: &Root, operands: usize) -> Result<Reach> {
        if !self.module.vulkan_model {
            return Ok(legacy(root));
        }
        let bits = instr.operands.get(operands).copied().unwrap_or(0);
        let bits = MemoryAccess::from_bits_retain(bits);
        let mut at = operands + 1 + usize::from(bits.contains(MemoryAccess::ALIGNED));
        let mut coherent = None;
        for bit in [
            MemoryAccess::MAKE_POINTER_AVAILABLE,
            MemoryAccess::MAKE_POINTER_VISIBLE,
        ] {
            if bits.contains(bit) {
                coherent = Some(self.scope(instr, at)?);
                at += 1;
            }
        }
        Ok(Reach {
            private: coherent.is_none() && !bits.contains(MemoryAccess::NON_PRIVATE_POINTER),
            coherent,
            atomic: None,
        })
    }

    fn observe_image(&mut self, instr: &Instr, operands: usize, first: usize) -> Result<()> {
        let Some(root) = self.root(instr.word(0)?) else {
            return Ok(());
        };
        let mut reach = legacy(&root);
        if self.module.vulkan_model {
            let bits = instr.operands.get(operands).copied().unwrap_or(0);
            let bits = ImageOperands::from_bits_retain(bits);
            let available = ImageOperands::MAKE_TEXEL_AVAILABLE;
            let visible = ImageOperands::MAKE_TEXEL_VISIBLE;
            let made = bits.intersects(available | visible);
            // Those stand last, but for bits that have no operands.
            reach = Reach {
                private: !made && !bits.contains(ImageOperands::NON_PRIVATE_TEXEL),
                coherent: match made {
                    true => Some(self.scope(instr, instr.operands.len() - 1)?),
                    false => None,
                },
                atomic: None,
            };
        }
        self.note_accesses(first, &root, Some(reach));
        Ok(())
    }

    fn observe_atomic(&mut self, instr: &Instr, first: usize) -> Result<()> {
        let Some(root) = self.root(instr.word(0)?) else {
            return Ok(());
        };
        let scope = self.scope(instr, 1)?;
        let order = self.order(instr, (1, 2))?;
        let reach = Reach {
            private: false,
            coherent: Some(scope),
            atomic: Some(scope),
        };
        self.note_each(first, is_access, |note| {
            apply(note, &root, Some(reach));
            note.order = Some(order);
        });
        Ok(())
    }

    fn observe_lanes(
        &mut self,
        instr: &Instr,
        first: usize,
        source: fn(ir::Value) -> Source,
    ) -> Result<()> {
        let before = self.builder.function.inst_count();
        let number = self.integer(instr, 2)?;
        // A number of another width was made one of 32 bits before: it is found again there.
        let number = match self.builder.function.inst_count() == before {
            true => number,
            false => return Ok(()),
        };
        self.note_each(first, is_shuffle, |note| note.source = Some(source(number)));
        Ok(())
    }

    /// A component that is chosen at run time.
    fn observe_dynamic(
        &mut self,
        instr: &Instr,
        (vector, index): (usize, usize),
        first: usize,
    ) -> Result<()> {
        let (vector, index) = (self.operand(instr, vector)?, self.operand(instr, index)?);
        let (Type::Vector { count, .. }, Type::Int { signed, .. }, &[value]) =
            (&*vector.ty, &*index.ty, &*index.scalars)
        else {
            return Ok(());
        };
        let index = Index {
            value,
            signed: *signed,
            len: Some(*count),
            stride: 0,
        };
        let function = &mut *self.builder.function;
        if first < function.inst_count() {
            function.notes.at(Inst(first as u32)).indices.push(index);
        }
        Ok(())
    }

    /// A function of GLSL that has undefined results.
    fn observe_function(&mut self, instr: &Instr, first: usize) -> Result<()> {
        let set = self.module.sets.get(&instr.word(0)?);
        let Some(domain) = domain(instr.word(1)?).filter(|_| set == Some(&InstructionSet::Glsl))
        else {
            return Ok(());
        };
        let mut operands = vec![];
        for number in 2..instr.operands.len().min(5) {
            operands.push(self.operand(instr, number)?.scalars);
        }
        let count = operands.first().map_or(0, |scalars| scalars.len());
        let each = (0..count).map(|component| {
            let of = |number: usize| {
                let scalars = operands.get(number).unwrap_or(&operands[0]);
                scalars.get(component).copied().unwrap_or(scalars[0])
            };
            (domain, [of(0), of(1), of(2)])
        });
        let domains: Vec<(Domain, [ir::Value; 3])> = each.collect();
        let function = &mut *self.builder.function;
        if first < function.inst_count() {
            function.notes.at(Inst(first as u32)).domains = domains;
        }
        Ok(())
    }

    /// What an instruction orders: operands give scope and semantics.
    fn order(&self, instr: &Instr, (scope, semantics): (usize, usize)) -> Result<Order> {
        let scope = self.scope(instr, scope)?;
        let bits = self.module.constant_word(instr, instr.word(semantics)?)?;
        let bits = MemorySemantics::from_bits_retain(bits);
        let both = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::SEQUENTIALLY_CONSISTENT;
        let acquire = bits.intersects(both | MemorySemantics::ACQUIRE);
        let release = bits.intersects(both | MemorySemantics::RELEASE);
        let implied = !self.module.vulkan_model;
        let mut classes = Classes::default();
        for (named, class) in [
            (MemorySemantics::UNIFORM_MEMORY, Classes::BUFFER),
            (MemorySemantics::CROSS_WORKGROUP_MEMORY, Classes::BUFFER),
            (MemorySemantics::WORKGROUP_MEMORY, Classes::SHARED),
            (MemorySemantics::IMAGE_MEMORY, Classes::IMAGE),
        ] {
            if bits.contains(named) {
                classes.0 |= class.0;
            }
        }
        Ok(Order {
            scope,
            acquire,
            release,
            available: release && (implied || bits.contains(MemorySemantics::MAKE_AVAILABLE)),
            visible: acquire && (implied || bits.contains(MemorySemantics::MAKE_VISIBLE)),
            classes,
        })
    }

    fn scope(&self, instr: &Instr, operand: usize) -> Result<Scope> {
        let number = self.module.constant_word(instr, instr.word(operand)?)?;
        Ok(match SpirvScope::from_u32(number) {
            Some(SpirvScope::Invocation) => Scope::Invocation,
            Some(SpirvScope::Subgroup) => Scope::Subgroup,
            Some(SpirvScope::Workgroup) => Scope::Workgroup,
            _ => Scope::Device,
        })
    }

    fn note_accesses(&mut self, first: usize, root: &Root, reach: Option<Reach>) {
        self.note_each(first, is_access, |note| apply(note, root, reach));
    }

    fn note_each(
        &mut self,
        first: usize,
        is: impl Fn(ir::Op) -> bool,
        mut change: impl FnMut(&mut Note),
    ) {
        let function = &mut *self.builder.function;
        for number in first..function.inst_count() {
            let inst = Inst(number as u32);
            if is(function.inst(inst).op) {
                change(function.notes.at(inst));
            }
        }
    }
}

fn apply(note: &mut Note, root: &Root, reach: Option<Reach>) {
    note.named = Some(root.named.clone());
    note.indices.clone_from(&root.indices);
    note.non_uniform = root.non_uniform;
    note.reach = reach;
}

/// In a module without the Vulkan memory model an access to a buffer or an image is private unless it is coherent; shared memory
/// never is.
fn legacy(root: &Root) -> Reach {
    let shared = root.class == StorageClass::Workgroup;
    Reach {
        private: !shared && !root.coherent,
        coherent: root.coherent.then_some(Scope::Device),
        atomic: None,
    }
}

/// When a function of GLSL.std.450, by its number, gives nothing defined.
fn domain(number: u32) -> Option<Domain> {
    Some(match Glsl::from_u32(number)? {
        Glsl::FClamp => Domain::FClamp,
        Glsl::UClamp => Domain::UClamp,
        Glsl::SClamp => Domain::SClamp,
        Glsl::SmoothStep => Domain::SmoothStep,
        Glsl::Pow => Domain::Pow,
        Glsl::Sqrt | Glsl::InverseSqrt | Glsl::Log | Glsl::Log2 => Domain::Negative,
        Glsl::Asin | Glsl::Acos => Domain::BeyondOne,
        _ => return None,
    })
}

fn is_shuffle(op: ir::Op) -> bool {
    matches!(op, ir::Op::Lanes(LaneOp::Shuffle | LaneOp::ShuffleXor))
}

fn is_fence(op: ir::Op) -> bool {
    matches!(op, ir::Op::Barrier | ir::Op::Fence(_))
}

fn is_access(op: ir::Op) -> bool {
    matches!(
        op,
        ir::Op::Load(_)
            | ir::Op::Store(_)
            | ir::Op::Atomic(..)
            | ir::Op::Image(_)
            | ir::Op::LoadVar(_)
            | ir::Op::StoreVar(_)
    )
}

/// Whether an operation has undefined results for some operands.
fn may_be_undefined(op: Op) -> bool {
    matches!(
        op,
        Op::UDiv
            | Op::SDiv
            | Op::UMod
            | Op::SRem
            | Op::SMod
            | Op::ShiftLeftLogical
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::BitFieldInsert
            | Op::BitFieldSExtract
            | Op::BitFieldUExtract
            | Op::ConvertFToS
            | Op::ConvertFToU
    )
}

fn is_atomic(op: Op) -> bool {
    matches!(
        op,
        Op::AtomicLoad
            | Op::AtomicStore
            | Op::AtomicExchange
            | Op::AtomicCompareExchange
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicFAddEXT
            | Op::AtomicFMinEXT
            | Op::AtomicFMaxEXT
    )
}
