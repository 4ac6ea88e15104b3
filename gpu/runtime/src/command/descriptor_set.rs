//! A descriptor set: the descriptors of one set of a program, in a table of their own.
//!
//! Facts: hardware/compiler-abi.md section 1, descriptors.md sections 4 and 5.

use super::descriptors::{DESCRIPTOR_BYTES, buffer};
use super::error::CommandError;
use super::pipeline::Pipeline;
use crate::device::{Buffer, Device, Request};
use crate::platform::{PhysicalAddress, Platform};
use crate::vm::{GpuAddress, Object, Protection};
use eitri_program::{Binding, Program};

/// Buffers are bound at multiples of this.
const ALIGNMENT: u64 = 16;

/// A descriptor set. It must be given back with [`Device::destroy_descriptor_set`].
#[derive(Debug)]
#[must_use = "a descriptor set that is dropped keeps its memory"]
pub struct DescriptorSet<'p> {
    program: Program<'p>,
    set: u32,
    table: u8,
    object: Object,
}

impl DescriptorSet<'_> {
    /// The set's number in the shader.
    pub const fn set(&self) -> u32 {
        self.set
    }

    /// The resource table in which the program looks for it.
    pub(super) const fn table(&self) -> u8 {
        self.table
    }

    /// Where its descriptors are, and their bytes.
    pub(super) fn descriptors(&self) -> (GpuAddress, u32) {
        let count = self.program.table_length(self.table);
        (
            self.object.address(),
            count.saturating_mul(DESCRIPTOR_BYTES as u32),
        )
    }

    /// Whether something was written for a descriptor.
    pub(super) fn is_bound<P: Platform>(&self, platform: &mut P, index: u32) -> bool {
        platform.load32(self.place(index)) != 0
    }

    /// Address and length of the buffer that a descriptor names; zeros where nothing was written.
    pub(super) fn buffer<P: Platform>(&self, platform: &mut P, index: u32) -> (u64, u32) {
        let at = self.place(index);
        let [bytes, low, high] = [4, 8, 12].map(|place| platform.load32(at.offset(place)));
        (u64::from(high) << 32 | u64::from(low), bytes)
    }

    fn place(&self, index: u32) -> PhysicalAddress {
        self.object
            .memory()
            .offset(u64::from(index).wrapping_mul(DESCRIPTOR_BYTES))
    }
}

/// The bindings of one set.
fn of_set<'p>(program: &Program<'p>, set: u32) -> impl Iterator<Item = Binding> + use<'p> {
    program.bindings().filter(move |binding| binding.set == set)
}

impl<P: Platform> Device<'_, P> {
    /// Makes the set `set` of a pipeline's program, with nothing bound.
    ///
    /// # Errors
    /// If the program has no such set, or there is no memory.
    pub fn create_descriptor_set<'p>(
        &mut self,
        pipeline: &Pipeline<'p>,
        set: u32,
    ) -> Result<DescriptorSet<'p>, CommandError> {
        let program = *pipeline.program();
        let mut tables = of_set(&program, set).map(|binding| binding.slot.table);
        let table = tables.next().ok_or(CommandError::Set { set })?;
        if tables.any(|other| other != table) {
            return Err(CommandError::Set { set });
        }
        let bytes = u64::from(program.table_length(table)).saturating_mul(DESCRIPTOR_BYTES);
        let object =
            self.create_object(Request::for_jobs("descriptors", bytes, Protection::Shared))?;
        Ok(DescriptorSet {
            program,
            set,
            table,
            object,
        })
    }

    /// Gives a descriptor set back. No job may use it any more.
    ///
    /// # Errors
    /// If it can't be unmapped: then it stays.
    pub fn destroy_descriptor_set(&mut self, set: DescriptorSet<'_>) -> Result<(), CommandError> {
        Ok(self.destroy_object(set.object)?)
    }

    /// Binds all of a buffer to element 0 of `binding`. No job may be using the set, and commands that were recorded with it
    /// must be recorded again: a recording keeps the addresses of its buffers.
    ///
    /// # Errors
    /// As [`Device::bind_range`].
    pub fn bind_buffer(
        &mut self,
        set: &DescriptorSet<'_>,
        binding: u32,
        target: &Buffer,
    ) -> Result<(), CommandError> {
        self.bind_range(set, binding, 0, target, 0, target.bytes())
    }

    /// Binds `bytes` of a buffer from `offset` (a multiple of 16) to an element of `binding`. No job may be using the
    /// set.
    ///
    /// # Errors
    /// If the program has no such binding, or the part of the buffer is too small or can't be bound.
    pub fn bind_range(
        &mut self,
        set: &DescriptorSet<'_>,
        binding: u32,
        element: u32,
        target: &Buffer,
        offset: u64,
        bytes: u64,
    ) -> Result<(), CommandError> {
        let missing = CommandError::NoBinding {
            set: set.set,
            binding,
            element,
        };
        let row = of_set(&set.program, set.set).find(|row| row.binding == binding);
        let row = row.filter(|row| element < row.count).ok_or(missing)?;
        let refused = CommandError::Range {
            offset,
            bytes,
            size: target.bytes(),
        };
        let end = offset.checked_add(bytes).ok_or(refused)?;
        let length = u32::try_from(bytes).map_err(|_| refused)?;
        if end > target.bytes() || offset & ALIGNMENT.wrapping_sub(1) != 0 {
            return Err(refused);
        }
        if length < row.min_bytes {
            let needed = row.min_bytes;
            return Err(CommandError::TooSmall {
                set: set.set,
                binding,
                bytes,
                needed,
            });
        }
        let arch = self.properties.arch;
        let descriptor = buffer(arch, target.address().offset(offset).0, length)?;
        let at = set.place(row.slot.index.saturating_add(element));
        for (word, place) in descriptor.into_iter().zip((0..).step_by(4)) {
            self.platform.store32(at.offset(place), word);
        }
        self.platform.clean(at.span(DESCRIPTOR_BYTES));
        Ok(())
    }
}
