//! What commands use from here on: pipeline, descriptor sets, push constants.
//!
//! Guarantees: commands refer only to what was there, in their own space, when it was bound.

use super::descriptor_set::BoundSet;
use super::error::CommandError;
use super::recorder::Recorder;
use crate::error::{Error, Thing};
use crate::handle::{DescriptorSet, Pipeline};
use crate::links::List;
use crate::platform::Platform;
use crate::slab::Key;
use eitri_program::MAX_PUSH_CONSTANT_BYTES;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Refers to something that commands use from here on.
    pub(crate) fn refer(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        self.device.mention(self.commands, self.space, key, what)
    }

    /// Refers to everything that is bound to a set; false if something of it was destroyed.
    pub(crate) fn mention_bound(&mut self, list: List) -> Result<bool, Error> {
        let mut at = list;
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
        Ok(true)
    }

    /// Uses a pipeline from here on.
    ///
    /// # Errors
    /// If it was destroyed, is in another space, or there is no place for the reference.
    pub fn bind_pipeline(&mut self, pipeline: Pipeline) -> Result<&mut Self, Error> {
        if self.pipeline_of == Some(pipeline) {
            return Ok(self);
        }
        self.refer(pipeline.0, Thing::Pipeline)?;
        self.pipeline = Some(self.device.pipeline(pipeline)?);
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
        let new = self.device.bound_set(set)?;
        let bound = self.sets.get(usize::from(new.table));
        let bound = bound.and_then(|bound| bound.as_ref());
        if bound.is_some_and(|bound| bound.whole == Some(set)) {
            self.set = Some(set);
            return Ok(self);
        }
        self.refer(set.0, Thing::DescriptorSet)?;
        self.bind_set(new);
        self.set = Some(set);
        Ok(self)
    }

    pub(super) fn bind_set(&mut self, set: BoundSet) {
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
