//! A command buffer: memory for recorded commands and for the descriptors and uniforms they refer to.
//!
//! It grows by blocks, which it keeps: recording again takes no memory. Bounded by the places for objects that the storage has.

use super::error::CommandError;
use super::recorder::{BLOCKS, FIRST_BLOCK, Level, Recorded, Recorder, WRITTEN};
use super::writer::Block;
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{CommandBuffer, Space};
use crate::platform::Platform;
use crate::slab::Key;
use crate::vm::Protection;

const WHAT: Thing = Thing::CommandBuffer;

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Makes a command buffer.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for it.
    pub fn create_command_buffer(&mut self, space: Space) -> Result<CommandBuffer, Error> {
        let kind = Kind::Commands {
            recorded: None,
            called: false,
        };
        let bytes = FIRST_BLOCK.into();
        let key = self.create_object(space, "commands", bytes, Protection::Given, kind)?;
        Ok(CommandBuffer(key))
    }

    /// Destroys a command buffer.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_command_buffer(&mut self, commands: CommandBuffer) -> Result<(), Error> {
        self.destroy_object(commands.0, WHAT)
    }

    /// Records what `record` says; what was recorded before is forgotten. The commands may be submitted as often as wanted, also
    /// while they run: on one stream always; on several at once unless they need memory of their own (thread-local or shared
    /// memory of shaders, counts that a dispatch reads from a buffer).
    ///
    /// # Errors
    /// If a job in flight uses the command buffer, a command is refused, or there is no memory or no place in the storage for
    /// more commands. After the last two nothing is recorded.
    pub fn record(
        &mut self,
        commands: CommandBuffer,
        record: impl FnOnce(&mut Recorder<'_, '_, 'd, P>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.record_level(commands, false, record)
    }

    /// Records commands that other commands run, by [`Recorder::execute`]. They begin with nothing bound.
    ///
    /// Commands that call them are not recorded any more when they are recorded again.
    ///
    /// # Errors
    /// As [`Device::record`].
    pub fn record_secondary(
        &mut self,
        commands: CommandBuffer,
        record: impl FnOnce(&mut Recorder<'_, '_, 'd, P>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.record_level(commands, true, record)
    }

    fn record_level(
        &mut self,
        commands: CommandBuffer,
        secondary: bool,
        record: impl FnOnce(&mut Recorder<'_, '_, 'd, P>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.unused(commands.0, WHAT)?;
        self.set_recorded(commands.0, None);
        self.forget_callers(commands.0);
        let object = self.object(commands.0, WHAT)?;
        let block = Block {
            address: object.mapping.address(),
            memory: object.mapping.memory(),
            bytes: FIRST_BLOCK,
        };
        let place = (object.space, block);
        let mut recorder = Recorder::new(self, commands, place, secondary);
        recorder.begin()?;
        record(&mut recorder)?;
        let recorded = recorder.finish()?;
        self.set_recorded(commands.0, Some(recorded));
        Ok(())
    }

    /// What was recorded.
    pub(crate) fn recorded(&self, commands: CommandBuffer) -> Result<Recorded, Error> {
        match self.object(commands.0, WHAT)?.kind {
            Kind::Commands { recorded, .. } => recorded.ok_or(Error::NotRecorded),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }

    /// What was recorded for queues.
    pub(crate) fn recorded_for_queues(&self, commands: CommandBuffer) -> Result<Recorded, Error> {
        let recorded = self.recorded(commands)?;
        match recorded.level {
            Level::Primary => Ok(recorded),
            Level::Secondary(_) => Err(CommandError::Secondary.into()),
        }
    }

    fn set_recorded(&mut self, commands: Key, it: Option<Recorded>) {
        if let Some(object) = self.objects.get_mut(commands)
            && let Kind::Commands { recorded, .. } = &mut object.kind
        {
            *recorded = it;
        }
    }

    /// Says of commands that call `commands` that they are recorded no more.
    fn forget_callers(&mut self, commands: Key) {
        let Some(object) = self.objects.get_mut(commands) else {
            return;
        };
        let Kind::Commands { called, .. } = &mut object.kind else {
            return;
        };
        if !core::mem::take(called) {
            return;
        }
        for index in 0..self.objects.capacity() {
            let Some(key) = self.objects.key_at(index) else {
                continue;
            };
            let list = self.objects.get(key).map(|object| object.list);
            let calls = list.is_some_and(|list| self.links.of(list).any(|(to, _)| to == commands));
            if calls {
                self.set_recorded(key, None);
            }
        }
    }

    /// Makes memory of a command buffer's own, which it refers to by a tag.
    pub(super) fn create_area(
        &mut self,
        commands: Key,
        space: Space,
        tag: u32,
        what: &'static str,
        bytes: u64,
        protection: Protection,
    ) -> Result<Key, Error> {
        let list = self.object(commands, WHAT)?.list;
        let old = self.links.tagged(list, tag);
        let key = self.create_object(space, what, bytes, protection, Kind::Area)?;
        if let Err(error) = self.link(commands, key, Some(tag)) {
            let _ = self.destroy_object(key, WHAT);
            return Err(error);
        }
        // What had the tag was too small; nothing that was recorded now refers to it.
        if let Some(old) = old {
            self.destroy_object(old, WHAT)?;
        }
        Ok(key)
    }
}

/// Whether a tag is that of a block, or of uniforms that the stream writes: these are kept when commands are recorded again.
pub(super) const fn is_kept(tag: u32) -> bool {
    tag & (BLOCKS | WRITTEN) != 0
}

impl From<eitri_descriptors::DescriptorError> for Error {
    fn from(error: eitri_descriptors::DescriptorError) -> Error {
        Error::Command(CommandError::Descriptor(error))
    }
}
