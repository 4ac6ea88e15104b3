//! A descriptor set: the descriptors of one set of a program, in a table of their own.
//!
//! Before them stands the resource table of a program that uses no other set, so that a dispatch of it writes none.
//! Facts: hardware/compiler-abi.md section 1, descriptors.md sections 4 and 5.

use super::descriptors::{DESCRIPTOR_BYTES, RESOURCE_BYTES, buffer, resource, resource_entries};
use super::image_descriptors::FETCHES;
use crate::command::CommandError;
use crate::command::KeptPlaces;
use crate::command::Recorder;
use crate::device::{Device, Kind, Object};
use crate::error::{Error, Thing};
use crate::handle::{Buffer, DescriptorSet, Pipeline, Space};
use crate::links::List;
use crate::platform::{PhysicalAddress, Platform};
use crate::slab::Key;
use crate::vm::{GpuAddress, Protection};
use eitri_descriptors::resource::DescriptorType;
use eitri_program::{Binding, BindingKind, Program};

/// Buffers are bound at multiples of this.
pub(crate) const ALIGNMENT: u64 = 16;

const WHAT: Thing = Thing::DescriptorSet;

/// A descriptor set, as the recorder uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundSet {
    /// The set, if its descriptors are used where they are.
    pub(crate) whole: Option<DescriptorSet>,
    /// The resource table in which the program looks for it.
    pub(crate) table: u8,
    /// Where its descriptors are, and their bytes.
    pub(crate) address: GpuAddress,
    pub(crate) bytes: u32,
    /// Where they are in memory.
    memory: PhysicalAddress,
    /// The value of the resource table register for a program that uses no other set.
    pub(crate) alone: Option<u64>,
    /// What is bound, by the descriptors' numbers.
    pub(crate) list: List,
    /// The commands that are being recorded refer to all of it.
    pub(crate) mentioned: bool,
    /// Where it keeps uniforms.
    pub(crate) places: KeptPlaces,
}

impl BoundSet {
    /// Of an object, in a recording; `None` if it is no set.
    #[inline]
    pub(crate) fn of(set: DescriptorSet, object: &Object<'_>, recording: u32) -> Option<BoundSet> {
        let Kind::Set {
            table,
            bytes,
            version,
            mentioned,
            ..
        } = object.kind
        else {
            return None;
        };
        let (address, before) = (object.mapping.address(), table_bytes(table));
        let memory = object.mapping.memory();
        let own = before.saturating_add(bytes.into());
        // The sampler of fetches may stand behind the descriptors.
        let own = memory.offset(own.saturating_add(DESCRIPTOR_BYTES));
        let end = memory.offset(object.mapping.bytes());
        Some(BoundSet {
            whole: Some(set),
            table,
            address: address.offset(before),
            memory: memory.offset(before),
            bytes,
            alone: Some(address.0 | u64::from(resource_entries(table))),
            list: object.list,
            mentioned: mentioned == recording,
            places: KeptPlaces::between(own, end, version),
        })
    }
}

/// What a draw needs of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetPart {
    /// Where its descriptors are, and their bytes.
    pub(crate) address: GpuAddress,
    pub(crate) bytes: u32,
    /// The value of the resource table register for a program that uses no other set.
    pub(crate) alone: u64,
    /// As [`Kind::Set`] has it: nothing changes a set, nor destroys what is bound to it, while commands are recorded.
    pub(crate) complete: Option<(Key, u64)>,
}

impl SetPart {
    /// Of an object; `None` if it is no set.
    #[inline(always)]
    pub(crate) fn of(object: &Object<'_>) -> Option<SetPart> {
        let Kind::Set {
            table,
            bytes,
            complete,
            ..
        } = object.kind
        else {
            return None;
        };
        let address = object.mapping.address();
        Some(SetPart {
            address: address.offset(table_bytes(table)),
            bytes,
            alone: address.0 | u64::from(resource_entries(table)),
            complete,
        })
    }
}

/// How far a buffer's bound part is moved when its set is bound to commands: the dynamic offset of one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicOffset {
    /// The binding in the set.
    pub binding: u32,
    /// The element of an array binding.
    pub element: u32,
    /// Bytes; a multiple of 16.
    pub offset: u64,
}

/// Bytes of the resource table before the descriptors: whole lines, as entries come in groups.
pub(crate) const fn table_bytes(table: u8) -> u64 {
    (resource_entries(table) as u64).wrapping_mul(RESOURCE_BYTES)
}

/// The bindings of one set.
pub(crate) fn of_set<'p>(
    program: &Program<'p>,
    set: u32,
) -> impl Iterator<Item = Binding> + use<'p> {
    program.bindings().filter(move |binding| binding.set == set)
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Makes the set `set` of a pipeline's program, in its space, with nothing bound.
    ///
    /// # Errors
    /// If the program has no such set, or there is no memory or no place in the storage.
    #[inline(never)]
    pub fn create_descriptor_set(
        &mut self,
        pipeline: Pipeline,
        set: u32,
    ) -> Result<DescriptorSet, Error> {
        let program = self.pipeline_program(pipeline)?;
        let space = Space(self.object(pipeline.0, Thing::Pipeline)?.space);
        self.create_set(space, &program, set)
    }

    /// Makes the set `set` of a program.
    pub(crate) fn create_set(
        &mut self,
        space: Space,
        program: &Program<'d>,
        set: u32,
    ) -> Result<DescriptorSet, Error> {
        let program = *program;
        let mut tables = of_set(&program, set).map(|binding| binding.slot.table);
        let table = tables.next().ok_or(CommandError::Set { set })?;
        if tables.any(|other| other != table) {
            return Err(CommandError::Set { set }.into());
        }
        let length = u64::from(program.table_length(table)).saturating_mul(DESCRIPTOR_BYTES);
        // Fetches take a sampler of the driver's own, though they use nothing of it (compiler-abi.md 1.3): behind the set.
        let before = table_bytes(table);
        let textures = program.bindings().any(|binding| binding.kind.is_texture());
        let bytes = length.saturating_add(before);
        let bytes = bytes.saturating_add(if textures { DESCRIPTOR_BYTES } else { 0 });
        let kind = Kind::Set {
            program,
            set,
            table,
            bytes: u32::try_from(length).unwrap_or(u32::MAX),
            version: self.versions.next(),
            mentioned: 0,
            complete: None,
        };
        let key = self.create_object(space, "descriptors", bytes, Protection::Given, kind)?;
        let mapping = &self.object(key, WHAT)?.mapping;
        let (memory, address) = (mapping.memory(), mapping.address());
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let arch = self.hw.properties.arch;
        let descriptors = address.offset(before);
        let entry = resource(arch, descriptors.0, length)?;
        let at = memory.offset(u64::from(table).wrapping_mul(RESOURCE_BYTES));
        self.write_words(at, &entry);
        if textures {
            let behind = u64::from(length);
            let entry = resource(arch, descriptors.offset(behind).0, DESCRIPTOR_BYTES as u32)?;
            self.write_words(memory, &entry);
            self.write_words(memory.offset(before).offset(behind), &FETCHES);
        }
        Ok(DescriptorSet(key))
    }

    pub(crate) fn write_words(&mut self, at: PhysicalAddress, words: &[u32]) {
        for (word, place) in words.iter().zip((0..).step_by(4)) {
            self.hw.platform.store32(at.offset(place), *word);
        }
        let bytes = (words.len() as u64).saturating_mul(4);
        self.hw.platform.clean(at.span(bytes));
    }

    /// Destroys a descriptor set.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_descriptor_set(&mut self, set: DescriptorSet) -> Result<(), Error> {
        self.destroy_object(set.0, WHAT)
    }

    /// A set, as the recorder uses it.
    pub(crate) fn bound_set(&self, set: DescriptorSet) -> Result<BoundSet, Error> {
        let bound = BoundSet::of(set, self.object(set.0, WHAT)?, self.recording());
        bound.ok_or(Error::Gone { what: WHAT })
    }

    /// What a draw needs of a set.
    #[inline]
    pub(crate) fn set_part(&self, set: DescriptorSet) -> Option<SetPart> {
        SetPart::of(self.objects.get(set.0)?)
    }

    /// Notes that a set has all that a stage needs of it.
    pub(crate) fn note_complete(&mut self, set: DescriptorSet, stage: Key) {
        let removals = self.removals();
        if let Some(object) = self.objects.get_mut(set.0)
            && let Kind::Set { complete, .. } = &mut object.kind
        {
            *complete = Some((stage, removals));
        }
    }

    /// The buffer that is bound to a descriptor of a set, with its address and length there.
    pub(crate) fn bound_buffer(&mut self, set: &BoundSet, index: u32) -> Option<(Key, u64, u32)> {
        let buffer = self.links.tagged(set.list, index)?;
        let at = u64::from(index).wrapping_mul(DESCRIPTOR_BYTES);
        let at = set.memory.offset(at);
        let [bytes, low, high] = [4, 8, 12].map(|place| self.hw.platform.load32(at.offset(place)));
        Some((buffer, u64::from(high) << 32 | u64::from(low), bytes))
    }

    /// Number of texels and conversion word of the texel buffer at a descriptor of a set.
    pub(crate) fn bound_texels(&mut self, set: &BoundSet, index: u32) -> [u32; 2] {
        let at = u64::from(index).wrapping_mul(DESCRIPTOR_BYTES);
        let at = set.memory.offset(at);
        let [bytes, stride, format] =
            [4, 16, 28].map(|place| self.hw.platform.load32(at.offset(place)));
        [bytes.checked_div(stride).unwrap_or(0), format]
    }

    /// Fails unless a set has all elements of a binding.
    #[inline]
    pub(crate) fn check_has(
        &mut self,
        set: Option<&BoundSet>,
        binding: &Binding,
    ) -> Result<(), Error> {
        for element in 0..binding.count {
            if !set.is_some_and(|set| self.is_bound(set, binding, element)) {
                let (set, binding) = (binding.set, binding.binding);
                let missing = CommandError::Missing {
                    set,
                    binding,
                    element,
                };
                return Err(missing.into());
            }
        }
        Ok(())
    }

    /// Whether an element of a binding has all that it needs: something that is still there, and a sampler.
    fn is_bound(&mut self, set: &BoundSet, row: &Binding, element: u32) -> bool {
        let skipped = element.saturating_mul(row.kind.descriptors());
        let index = row.slot.index.saturating_add(skipped);
        let sampler = match row.kind {
            BindingKind::Sampler => return self.has_sampler(set, index),
            BindingKind::CombinedImageSampler(_) => self.has_sampler(set, index.saturating_add(1)),
            _ => true,
        };
        let bound = self.links.tagged(set.list, index);
        sampler && bound.is_some_and(|bound| self.objects.get(bound).is_some())
    }

    fn has_sampler(&mut self, set: &BoundSet, index: u32) -> bool {
        let at = u64::from(index).wrapping_mul(DESCRIPTOR_BYTES);
        let word = self.hw.platform.load32(set.memory.offset(at));
        word & 0xf == DescriptorType::Sampler as u32
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Uses a descriptor set from here on, with parts of its buffers moved: each by its own offset. The commands have a copy of
    /// the set's descriptors then.
    ///
    /// # Errors
    /// As [`Recorder::bind_descriptor_set`]; if nothing is bound to the set there, or the part would leave its buffer; or if
    /// there is no memory for the copy.
    pub fn bind_descriptor_set_at(
        &mut self,
        set: DescriptorSet,
        offsets: &[DynamicOffset],
    ) -> Result<&mut Self, Error> {
        self.refer(set.0, WHAT)?;
        let mut bound = self.device.bound_set(set)?;
        let Kind::Set {
            program,
            set: number,
            ..
        } = self.device.object(set.0, WHAT)?.kind
        else {
            return Err(Error::Gone { what: WHAT });
        };
        let from = bound.memory;
        (bound.memory, bound.address) = self.room(bound.bytes)?;
        (bound.alone, bound.whole) = (None, None);
        for place in (0..u64::from(bound.bytes)).step_by(8) {
            let word = self.device.hw.platform.load64(from.offset(place));
            let to = bound.memory.offset(place);
            self.device.hw.platform.store64(to, word);
        }
        for at in offsets {
            let (binding, element) = (at.binding, at.element);
            let set = number;
            let row = of_set(&program, number).find(|row| row.binding == binding);
            let row = row.filter(|row| element < row.count);
            let row = row.ok_or(CommandError::NoBinding {
                set,
                binding,
                element,
            })?;
            let index = row.slot.index.saturating_add(element);
            let missing = CommandError::Missing {
                set,
                binding,
                element,
            };
            let (key, address, bytes) = self.device.bound_buffer(&bound, index).ok_or(missing)?;
            let buffer = Buffer(key);
            let size = self.device.buffer_bytes(buffer)?;
            let start = self.device.buffer_address(buffer)?;
            let offset = address.wrapping_sub(start.0).saturating_add(at.offset);
            let end = offset.checked_add(bytes.into());
            if end.is_none_or(|end| end > size) || !at.offset.is_multiple_of(ALIGNMENT) {
                let bytes = bytes.into();
                return Err(CommandError::Range {
                    offset,
                    bytes,
                    size,
                }
                .into());
            }
            let words = self::buffer(self.arch(), start.offset(offset).0, bytes)?;
            let place = u64::from(index).wrapping_mul(DESCRIPTOR_BYTES);
            let place = bound.memory.offset(place);
            for (word, at) in words.into_iter().zip((0..).step_by(4)) {
                self.device.hw.platform.store32(place.offset(at), word);
            }
        }
        self.bind_set(bound);
        Ok(self)
    }
}
