//! What commands use from here on: pipeline, descriptor sets, push constants.
//!
//! Guarantees: commands refer only to what was there, in their own space, when it was bound.

use super::error::CommandError;
use super::recorder::Recorder;
use crate::device::{Kind, Object};
use crate::error::{Error, Thing};
use crate::handle::{Buffer, DescriptorSet, Pipeline};
use crate::platform::Platform;
use crate::resource::{BoundSet, SetPart};
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_program::MAX_PUSH_CONSTANT_BYTES;

impl<'d, P: Platform> Recorder<'_, '_, 'd, P> {
    /// Refers to something that commands use from here on.
    pub(crate) fn refer(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        self.refer_as(key, what, |_| Some(()))
    }

    /// The same; gives what `take` takes of it.
    ///
    /// # Errors
    /// Those of [`Device::mention`](crate::Device::mention).
    #[inline]
    fn refer_as<T>(
        &mut self,
        key: Key,
        what: Thing,
        take: impl FnOnce(&Object<'d>) -> Option<T>,
    ) -> Result<T, Error> {
        let by = (self.commands, self.space);
        self.device.mention(by, key, what, take)
    }

    /// Refers to a buffer; gives where it is, and its bytes.
    #[inline]
    pub(crate) fn refer_to_buffer(&mut self, buffer: Buffer) -> Result<(GpuAddress, u64), Error> {
        self.refer_as(buffer.0, Thing::Buffer, |object| match object.kind {
            Kind::Buffer { bytes, .. } => Some((object.mapping.address(), bytes)),
            _ => None,
        })
    }

    /// Refers to a set; gives the resource table in which its program looks for it, and what a draw needs of it.
    #[inline]
    pub(crate) fn refer_to_set(&mut self, set: DescriptorSet) -> Result<(u8, SetPart), Error> {
        self.refer_as(set.0, Thing::DescriptorSet, |object| {
            let Kind::Set { table, .. } = object.kind else {
                return None;
            };
            Some((table, SetPart::of(object)?))
        })
    }

    /// Refers to everything that is bound to a set of the commands; false if something of it was destroyed.
    #[inline(always)]
    pub(super) fn refer_to_bound(&mut self, table: u8) -> Result<bool, Error> {
        match self.set_of(table) {
            Some(set) if !set.mentioned => self.refer_to_all_bound(table),
            _ => Ok(true),
        }
    }

    #[inline(never)]
    fn refer_to_all_bound(&mut self, table: u8) -> Result<bool, Error> {
        let Some(set) = self.set_of(table) else {
            return Ok(true);
        };
        let (mut at, whole) = (set.list, set.whole);
        // A list has no more links than there are.
        for _ in 0..self.device.links.capacity() {
            let Some((bound, _, rest)) = self.device.links.first(at) else {
                break;
            };
            at = rest;
            match self.refer(bound, Thing::Buffer) {
                Ok(()) => {}
                Err(Error::Gone { .. }) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        if let Some(set) = self
            .sets
            .get_mut(usize::from(table))
            .and_then(Option::as_mut)
        {
            set.mentioned = true;
        }
        if let Some(set) = whole {
            self.device.note_bound_mentioned(set.0);
        }
        Ok(true)
    }

    /// The set that is bound for a resource table.
    pub(super) fn set_of(&self, table: u8) -> Option<&BoundSet> {
        self.sets.get(usize::from(table))?.as_ref()
    }

    /// Uses a pipeline from here on.
    ///
    /// # Errors
    /// If it was destroyed, is in another space, or there is no place for the reference.
    #[inline(never)]
    pub fn bind_pipeline(&mut self, pipeline: Pipeline) -> Result<&mut Self, Error> {
        if self.pipeline_of == Some(pipeline) {
            return Ok(self);
        }
        let (by, shape) = ((self.commands, self.space), &mut self.pipeline);
        self.device
            .mention(by, pipeline.0, Thing::Pipeline, |object| {
                let Kind::Pipeline(it) = &object.kind else {
                    return None;
                };
                it.put_shape(object.mapping.address(), shape);
                Some(())
            })?;
        self.pipeline_of = Some(pipeline);
        self.made.forget_pipeline();
        self.device.uniforms.found = false;
        Ok(self)
    }

    /// Uses a descriptor set from here on.
    ///
    /// # Errors
    /// As [`Recorder::bind_pipeline`].
    pub fn bind_descriptor_set(&mut self, set: DescriptorSet) -> Result<&mut Self, Error> {
        // Nothing changes a set while commands are recorded.
        if self.set == Some(set) {
            return Ok(self);
        }
        let recording = self.device.recording();
        let new = self.refer_as(set.0, Thing::DescriptorSet, |object| {
            BoundSet::of(set, object, recording)
        })?;
        let bound = self.set_of(new.table);
        if bound.is_none_or(|bound| bound.whole != Some(set)) {
            self.bind_set(new);
        }
        self.set = Some(set);
        Ok(self)
    }

    pub(crate) fn bind_set(&mut self, set: BoundSet) {
        self.set = None;
        self.device.uniforms.found = false;
        // A table is at most MAX_TABLE: `Program::parse` has checked it.
        if let Some(place) = self.sets.get_mut(usize::from(set.table)) {
            *place = Some(set);
        }
        self.made.forget_sets();
    }

    /// Uses these push constants, from byte 0, from here on.
    ///
    /// # Errors
    /// If there are more than a program can have.
    #[inline]
    pub fn push_constants(&mut self, bytes: &[u8]) -> Result<&mut Self, Error> {
        self.push_constants_at(0, bytes)
    }

    /// Changes push constants from byte `offset` on; what is before and behind stays.
    ///
    /// # Errors
    /// If they end behind what a program can have.
    #[inline]
    pub fn push_constants_at(&mut self, offset: usize, bytes: &[u8]) -> Result<&mut Self, Error> {
        let Some(changed) = self.device.uniforms.push(offset, bytes) else {
            let given = offset.saturating_add(bytes.len());
            let wanted = MAX_PUSH_CONSTANT_BYTES;
            return Err(CommandError::PushConstants { given, wanted }.into());
        };
        if changed {
            self.made.forget_uniforms();
        }
        Ok(self)
    }
}
