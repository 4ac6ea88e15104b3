//! Resources: variables that are descriptors become bindings.
//!
//! Needs: a module.  Guarantees: bindings are ordered by set and number.
//! Facts: hardware/compiler-lowering.md 3.

use rspirv::spirv::{Decoration, StorageClass};

use super::error::{Feature, Invalid};
use super::layout::{MAX_ALIGN, Rules};
use super::module::Global;
use super::pointer::{Area, Offset, Opaque, Place, Pointer, Target};
use super::reader::{Instr, Result};
use super::translate::{Item, Translator};
use super::types::{MatrixLayout, Type};
use crate::ir::{Binding, BindingId, BindingKind, Dim, Memory, Value};

impl Translator<'_> {
    pub(super) fn resources(&mut self, variables: Vec<(u32, &Global)>) -> Result<()> {
        let mut found = vec![];
        for (id, global) in variables {
            let decorations = self.module.decorations.of(id);
            let set = decorations.literal(Decoration::DescriptorSet).unwrap_or(0);
            let binding = decorations.literal(Decoration::Binding).unwrap_or(0);
            let sets = self.limits.descriptor_sets;
            if set >= sets {
                let limit = format!("descriptor set {set}, above {}", sets - 1);
                return Err(global.instr.unsupported(Feature::Limit, limit));
            }
            found.push((set, binding, id, global));
        }
        found.sort_by_key(|(set, binding, id, _)| (*set, *binding, *id));
        for (set, binding, id, global) in found {
            let binding = match self.binding(set, binding, id, global) {
                Ok(binding) => binding,
                Err(error) => {
                    self.refusals.note(&global.instr, error)?;
                    continue;
                }
            };
            let (kind, count) = self.kind_and_count(binding);
            let memory = self.memory_of(id, kind);
            let target = match &*global.pointee {
                Type::Array { .. } | Type::RuntimeArray { .. } => Target::Descriptors {
                    binding,
                    count,
                    memory,
                },
                _ => {
                    let resource = self.builder.function.resource(binding, 0);
                    self.descriptor(resource, binding, memory)
                }
            };
            let pointer = Pointer {
                ty: global.pointee.clone(),
                target,
            };
            self.globals.insert(id, Item::Pointer(pointer));
        }
        Ok(())
    }

    /// What a descriptor leads to.
    pub fn descriptor(&self, resource: Value, binding: BindingId, memory: Memory) -> Target {
        match self.kind_and_count(binding).0 {
            BindingKind::Storage | BindingKind::Uniform => {
                let mut place = self.block_place(resource, binding);
                place.memory = memory;
                Target::Memory(place)
            }
            _ => Target::Opaque(Opaque {
                resource,
                binding,
                memory,
            }),
        }
    }

    /// The binding of a variable; two variables may share one.
    pub(super) fn binding(
        &mut self,
        set: u32,
        number: u32,
        id: u32,
        global: &Global,
    ) -> Result<BindingId> {
        let instr = &global.instr;
        let (block, count) = match &*global.pointee {
            Type::Array { element, len, .. } => (element, *len),
            Type::RuntimeArray { element, .. } => {
                match self.descriptor_counts.get(&(set, number)) {
                    Some(count) if *count > 0 => (element, *count),
                    _ => {
                        let what = format!(
                            "an array of descriptors without a length (set {set}, binding {number})"
                        );
                        return Err(instr.unsupported(Feature::Use, what));
                    }
                }
            }
            _ => (&global.pointee, 1),
        };
        if global.class == StorageClass::UniformConstant {
            return self.opaque_binding((set, number), id, instr, (block, count));
        }
        if !matches!(&**block, Type::Struct { .. }) {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        // Before SPIR-V 1.3 a storage buffer had class Uniform and BufferBlock on its struct.
        let kind = match (global.class, &**block) {
            (StorageClass::StorageBuffer, _) => BindingKind::Storage,
            (
                _,
                Type::Struct {
                    buffer_block: true, ..
                },
            ) => BindingKind::Storage,
            _ => BindingKind::Uniform,
        };
        let bytes = Rules::Decorated.size(instr, block, MatrixLayout::default())?;
        let min_bytes = u32::try_from(bytes)
            .map_err(|_| instr.unsupported(Feature::Limit, "a buffer of 4 GiB"))?;
        let restrict = self.is_restrict(id);
        let binding = Binding {
            set,
            binding: number,
            count,
            kind,
            written: false,
            restrict,
            non_uniform: false,
            image: None,
            min_bytes,
            name: self.name(id),
        };
        self.add_binding(instr, binding)
    }

    /// The binding of a variable that holds images or samplers.
    fn opaque_binding(
        &mut self,
        (set, number): (u32, u32),
        id: u32,
        instr: &Instr,
        (ty, count): (&Type, u32),
    ) -> Result<BindingId> {
        let (kind, image) = match ty {
            Type::Sampler => (BindingKind::Sampler, None),
            // `samplerBuffer`: a combined image and sampler by its type, a texel buffer by what it is.
            Type::SampledImage(image) if image.shape.dim == Dim::Buffer => {
                (BindingKind::UniformTexels, Some(image.in_binding()))
            }
            Type::SampledImage(image) => {
                (BindingKind::CombinedImageSampler, Some(image.in_binding()))
            }
            Type::Image(image) => {
                let kind = match (image.shape.dim, image.storage) {
                    (Dim::Buffer, false) => BindingKind::UniformTexels,
                    (Dim::Buffer, true) => BindingKind::StorageTexels,
                    (_, false) => BindingKind::SampledImage,
                    (_, true) => BindingKind::StorageImage,
                };
                (kind, Some(image.in_binding()))
            }
            _ => return Err(instr.unsupported(Feature::StorageClass, "UniformConstant")),
        };
        let binding = Binding {
            set,
            binding: number,
            count,
            kind,
            written: false,
            restrict: self.is_restrict(id),
            non_uniform: false,
            image,
            min_bytes: 0,
            name: self.name(id),
        };
        let made = self.add_binding(instr, binding)?;
        let index = self.module.decorations.of(id);
        if let Some(index) = index.literal(Decoration::InputAttachmentIndex) {
            self.input_attachments.insert(made.0, index);
        }
        Ok(made)
    }

    /// Adds a binding behind the others, or finds the one that stands for the same.
    pub(super) fn add_binding(&mut self, instr: &Instr, binding: Binding) -> Result<BindingId> {
        let bindings = &mut self.builder.function.bindings;
        if let Some(last) = bindings.last_mut()
            && (last.set, last.binding) == (binding.set, binding.binding)
        {
            if (last.kind, last.count) != (binding.kind, binding.count) {
                return Err(instr.unsupported(Feature::Use, "two kinds of resource at one binding"));
            }
            last.min_bytes = last.min_bytes.max(binding.min_bytes);
            // Two variables for one memory.
            last.restrict = false;
            return Ok(BindingId(bindings.len() as u32 - 1));
        }
        let others = bindings.iter().filter(|other| other.set == binding.set);
        let before: u32 = others.map(|binding| binding.count).sum();
        if before.saturating_add(binding.count) > self.limits.descriptors {
            return Err(instr.unsupported(Feature::Limit, "that many descriptors in a set"));
        }
        bindings.push(binding);
        Ok(BindingId(bindings.len() as u32 - 1))
    }

    /// What the descriptors of a binding are, and how many it has.
    pub(super) fn kind_and_count(&self, id: BindingId) -> (BindingKind, u32) {
        let binding = &self.builder.function.bindings[id.index()];
        (binding.kind, binding.count)
    }

    /// The start of a buffer.
    pub fn block_place(&self, resource: Value, binding: BindingId) -> Place {
        let (kind, _) = self.kind_and_count(binding);
        Place {
            area: Area::Buffer(resource, Some(binding)),
            rules: Rules::Decorated,
            at: Offset::default(),
            align: MAX_ALIGN,
            matrix: MatrixLayout::default(),
            component_stride: None,
            memory: match kind {
                BindingKind::Uniform => Memory::Constant,
                _ => Memory::Plain,
            },
        }
    }

    /// Whether a variable's memory is reached through it alone.
    pub(super) fn is_restrict(&self, id: u32) -> bool {
        let decorations = self.module.decorations.of(id);
        decorations.has(Decoration::Restrict) && !decorations.has(Decoration::Aliased)
    }

    pub(super) fn memory_of(&self, id: u32, kind: BindingKind) -> Memory {
        let decorations = self.module.decorations.of(id);
        let written = matches!(
            kind,
            BindingKind::Storage | BindingKind::StorageTexels | BindingKind::StorageImage
        );
        if !written {
            Memory::Constant
        } else if self.is_restrict(id) && decorations.has(Decoration::NonWritable) {
            // Nobody writes it through this variable, and through another nobody may.
            Memory::Constant
        } else if decorations.has(Decoration::Volatile) || decorations.has(Decoration::Coherent) {
            Memory::Volatile
        } else {
            Memory::Plain
        }
    }
}
