//! Binding: buffers, images and samplers to the elements of a descriptor set.
//!
//! Facts: hardware/compiler-abi.md section 1, descriptors.md sections 4 to 8.

use super::descriptor_set::{ALIGNMENT, of_set, table_bytes};
use super::descriptors::{DESCRIPTOR_BYTES, buffer};
use super::image_descriptors::{SamplerInfo, sampler, texel_buffer, wrong_kind};
use super::image_view::{CheckedView, ViewInfo};
use crate::command::CommandError;
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{Buffer, DescriptorSet, Image};
use crate::platform::{PhysicalAddress, Platform};
use crate::slab::Key;
use eitri_descriptors::formats::VkFormat;
use eitri_program::{Binding, BindingKind};

/// Where in a descriptor set something is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BindingElement {
    /// The binding, by its number in the shader.
    pub binding: u32,
    /// Which element of its array, from 0 on.
    pub element: u32,
}

impl BindingElement {
    /// The first element of a binding, which for most is the only one.
    pub const fn first(binding: u32) -> BindingElement {
        BindingElement {
            binding,
            element: 0,
        }
    }
}

/// A part of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferRange {
    /// Bytes from the buffer's start on; a multiple of 16.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// An element of a binding.
struct Place {
    /// The set's number in the shader.
    set: u32,
    row: Binding,
    /// Its first descriptor.
    index: u32,
    /// Where the set's descriptors are.
    memory: PhysicalAddress,
    space: Key,
}

impl<P: Platform> Device<'_, '_, P> {
    /// Binds all of a buffer to element 0 of `binding`. Commands that were recorded with the set must be recorded again: a
    /// recording keeps the addresses of its buffers.
    ///
    /// # Errors
    /// As [`Device::bind_range`].
    pub fn bind_buffer(
        &mut self,
        set: DescriptorSet,
        binding: u32,
        target: Buffer,
    ) -> Result<(), Error> {
        let bytes = self.buffer_bytes(target)?;
        let all = BufferRange { offset: 0, bytes };
        self.bind_range(set, BindingElement::first(binding), target, all)
    }

    /// Binds a part of a buffer to an element of a binding.
    ///
    /// # Errors
    /// If a job in flight uses the set, the program has no such binding, or the part of the buffer is too small or can't be
    /// bound.
    #[inline(never)]
    pub fn bind_range(
        &mut self,
        set: DescriptorSet,
        at: BindingElement,
        target: Buffer,
        range: BufferRange,
    ) -> Result<(), Error> {
        let place = self.element(set, at)?;
        if !matches!(
            place.row.kind,
            BindingKind::StorageBuffer | BindingKind::UniformBuffer
        ) {
            return Err(wrong_kind(place.set, at.binding, "buffer").into());
        }
        let (address, length) = self.part_to_bind(&place, target, range)?;
        let needed = place.row.min_bytes;
        if length < needed {
            return Err(place.too_small(range.bytes, needed).into());
        }
        let descriptor = buffer(self.hw.properties.arch, address, length)?;
        self.put_descriptor(set, &place, target.0, descriptor)
    }

    /// Binds a part of a buffer as texels of a format to an element of a binding. Bytes that are no whole texel are left out.
    ///
    /// # Errors
    /// As [`Device::bind_range`]; or if there is not one texel.
    pub fn bind_texel_buffer(
        &mut self,
        set: DescriptorSet,
        at: BindingElement,
        target: Buffer,
        range: BufferRange,
        format: &VkFormat,
    ) -> Result<(), Error> {
        let place = self.element(set, at)?;
        if !matches!(
            place.row.kind,
            BindingKind::UniformTexelBuffer | BindingKind::StorageTexelBuffer
        ) {
            return Err(wrong_kind(place.set, at.binding, "texel buffer").into());
        }
        let (address, length) = self.part_to_bind(&place, target, range)?;
        let texel = format.block_bytes;
        let texels = length.checked_div(texel).unwrap_or(0);
        if texels == 0 {
            return Err(place.too_small(range.bytes, texel).into());
        }
        let part = (address, texels.saturating_mul(texel));
        let descriptor = texel_buffer(self.hw.properties.arch, part, format)?;
        self.put_descriptor(set, &place, target.0, descriptor)
    }

    /// Binds an image to an element of a binding: all of it.
    ///
    /// # Errors
    /// If a job in flight uses the set, the program has no such binding, or one for other things or other shapes.
    pub fn bind_image(
        &mut self,
        set: DescriptorSet,
        at: BindingElement,
        target: Image,
    ) -> Result<(), Error> {
        let view = ViewInfo::of(&self.image_info(target)?);
        self.bind_view(set, at, target, &view)
    }

    /// Binds what a view shows of an image to an element of a binding. A view whose planes are not among the image's own takes a
    /// place and a page of memory, which stay until the image is destroyed; another view with the same planes shares them.
    ///
    /// # Errors
    /// As [`Device::bind_image`]; or if there is no such view, or no memory or no place in the storage for its planes.
    pub fn bind_view(
        &mut self,
        set: DescriptorSet,
        at: BindingElement,
        target: Image,
        view: &ViewInfo,
    ) -> Result<(), Error> {
        let place = self.element(set, at)?;
        let info = self.image_info(target)?;
        let address = self.address_in(&place, target.0, Thing::Image)?;
        let wrong = wrong_kind(place.set, at.binding, "image of that shape");
        let shape = match place.row.kind {
            BindingKind::StorageImage(shape) => (shape, true),
            BindingKind::SampledImage(shape) | BindingKind::CombinedImageSampler(shape) => {
                (shape, false)
            }
            _ => return Err(wrong.into()),
        };
        let view = CheckedView::of(&info, view)?;
        let planes = match view.own_planes() {
            Some(offset) => address.saturating_add(offset),
            None => self.view_planes(target, &view)?,
        };
        let descriptor = view.texture(self.hw.properties.arch, planes, shape)?;
        self.put_descriptor(set, &place, target.0, descriptor.ok_or(wrong)?)
    }

    /// Binds a sampler to an element of a binding, alone or beside its image.
    ///
    /// # Errors
    /// If a job in flight uses the set, or the program has no such binding or one for other things.
    pub fn bind_sampler(
        &mut self,
        set: DescriptorSet,
        at: BindingElement,
        info: &SamplerInfo,
    ) -> Result<(), Error> {
        let place = self.element(set, at)?;
        let index = match place.row.kind {
            BindingKind::Sampler => place.index,
            BindingKind::CombinedImageSampler(_) => place.index.saturating_add(1),
            _ => return Err(wrong_kind(place.set, at.binding, "sampler").into()),
        };
        let descriptor = sampler(self.hw.properties.arch, info)?;
        self.write_descriptor(set, place.memory, index, descriptor);
        Ok(())
    }

    /// Where an element of a binding of a set stands, which no job in flight uses.
    fn element(&mut self, set: DescriptorSet, at: BindingElement) -> Result<Place, Error> {
        const WHAT: Thing = Thing::DescriptorSet;
        let BindingElement { binding, element } = at;
        self.unused(set.0, WHAT)?;
        let object = self.object(set.0, WHAT)?;
        let Kind::Set {
            program,
            set: number,
            table,
            ..
        } = &object.kind
        else {
            return Err(Error::Gone { what: WHAT });
        };
        let set = *number;
        let row = of_set(program, set).find(|row| row.binding == binding);
        let missing = CommandError::NoBinding {
            set,
            binding,
            element,
        };
        let row = row.filter(|row| element < row.count).ok_or(missing)?;
        let skipped = element.saturating_mul(row.kind.descriptors());
        Ok(Place {
            set,
            row,
            index: row.slot.index.saturating_add(skipped),
            memory: object.mapping.memory().offset(table_bytes(*table)),
            space: object.space,
        })
    }

    /// Where the space of a set has an object that is to be bound to it.
    fn address_in(&self, place: &Place, target: Key, what: Thing) -> Result<u64, Error> {
        let object = self.object(target, what)?;
        if object.space == place.space {
            Ok(object.mapping.address().0)
        } else {
            Err(Error::OtherSpace { what })
        }
    }

    /// Address and length of a part of a buffer that is to be bound.
    fn part_to_bind(
        &self,
        place: &Place,
        target: Buffer,
        range: BufferRange,
    ) -> Result<(u64, u32), Error> {
        let BufferRange { offset, bytes } = range;
        let start = self.address_in(place, target.0, Thing::Buffer)?;
        let size = self.buffer_bytes(target)?;
        let refused = CommandError::Range {
            offset,
            bytes,
            size,
        };
        let end = offset.checked_add(bytes).ok_or(refused)?;
        let length = u32::try_from(bytes).map_err(|_| refused)?;
        if end > size || !offset.is_multiple_of(ALIGNMENT) {
            return Err(refused.into());
        }
        Ok((start.saturating_add(offset), length))
    }

    /// Puts the descriptor of an object, which the set refers to from here on.
    fn put_descriptor(
        &mut self,
        set: DescriptorSet,
        place: &Place,
        target: Key,
        words: [u32; 8],
    ) -> Result<(), Error> {
        self.link(set.0, target, place.index)?;
        self.write_descriptor(set, place.memory, place.index, words);
        Ok(())
    }

    fn write_descriptor(
        &mut self,
        set: DescriptorSet,
        memory: PhysicalAddress,
        index: u32,
        words: [u32; 8],
    ) {
        let at = memory.offset(u64::from(index).wrapping_mul(DESCRIPTOR_BYTES));
        self.write_words(at, &words);
        self.forget_kept_uniforms(set);
        self.host_wrote(set.0);
    }
}

impl Place {
    /// The refusal of a part of a buffer that is too small.
    const fn too_small(&self, bytes: u64, needed: u32) -> CommandError {
        CommandError::TooSmall {
            set: self.set,
            binding: self.row.binding,
            bytes,
            needed,
        }
    }
}
