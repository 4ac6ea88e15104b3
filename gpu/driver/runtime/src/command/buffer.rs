//! A command buffer: memory for recorded commands and for the descriptors and uniforms they refer to.
//!
//! It grows by blocks, which it keeps: recording again takes no memory. Bounded by the places for objects that the storage has.

use super::error::CommandError;
use super::recorder::{
    BLOCKS, FIRST_BLOCK, GRAPHICS_SCRATCH, OWN_CODE, Recorded, Recorder, WRITTEN,
};
use super::writer::Block;
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::graphics::{DrawStatePlace, InheritedPass};
use crate::handle::{CommandBuffer, Space};
use crate::platform::Platform;
use crate::slab::Key;
use crate::vm::Protection;

const WHAT: Thing = Thing::CommandBuffer;

/// What is known of a command buffer.
#[derive(Debug)]
pub(crate) struct Commands {
    /// What was recorded; `None` if recording did not end well.
    pub(crate) recorded: Option<Recorded>,
    /// Others call it: they go when it is recorded again.
    called: bool,
    /// Jobs in flight that run it.
    pub(crate) jobs: u32,
    /// What it refers to is counted as used: see [`crate::device`]'s objects.
    pub(crate) held: bool,
    /// When a job of it last ended and left lines in the GPU's caches, until that is noted where it belongs.
    pub(crate) left: Option<u64>,
    /// The next that holds.
    pub(crate) next: Option<Key>,
    /// The passes for which draws were recorded, if draws were.
    pub(crate) draws: Option<InheritedPass>,
}

impl Commands {
    /// Nothing recorded.
    const EMPTY: Commands = Commands {
        recorded: None,
        called: false,
        jobs: 0,
        held: false,
        left: None,
        next: None,
        draws: None,
    };
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Makes a command buffer.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for it.
    #[inline(never)]
    pub fn create_command_buffer(&mut self, space: Space) -> Result<CommandBuffer, Error> {
        let kind = Kind::Commands(Commands::EMPTY);
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
        self.forget_recorded(commands.0);
        self.forget_callers(commands.0);
        let object = self.object(commands.0, WHAT)?;
        let block = Block {
            address: object.mapping.address(),
            memory: object.mapping.memory(),
            bytes: FIRST_BLOCK,
        };
        let space = object.space;
        let draw_state = DrawStatePlace::new(None);
        let mut recorder = Recorder::new(self, commands, space, block, secondary, &draw_state);
        recorder.begin()?;
        record(&mut recorder)?;
        recorder.finish()
    }

    /// What was recorded.
    pub(crate) fn recorded(&self, commands: CommandBuffer) -> Result<Recorded, Error> {
        match self.object(commands.0, WHAT)?.kind {
            Kind::Commands(ref it) => it.recorded.ok_or(Error::NotRecorded),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }

    fn forget_recorded(&mut self, commands: Key) {
        if let Some(commands) = self.commands_mut(commands) {
            commands.recorded = None;
        }
    }

    /// Says that others call these commands.
    pub(crate) fn set_called(&mut self, commands: Key) {
        if let Some(it) = self.commands_mut(commands) {
            it.called = true;
        }
    }

    /// Says of commands that call `commands` that they are recorded no more.
    fn forget_callers(&mut self, commands: Key) {
        let called = self.commands_mut(commands);
        if !called.is_some_and(|it| core::mem::take(&mut it.called)) {
            return;
        }
        for index in 0..self.objects.capacity() {
            let Some(key) = self.objects.key_at(index) else {
                continue;
            };
            let list = self.objects.get(key).map(|object| object.list);
            let calls = list.is_some_and(|list| self.links.of(list).any(|(to, _)| to == commands));
            if calls {
                self.forget_recorded(key);
            }
        }
    }

    /// Makes memory of a command buffer's own, which it refers to by a tag, in place of `old`, which is too small.
    pub(crate) fn create_area(
        &mut self,
        commands: Key,
        space: Space,
        (tag, old): (u32, Option<Key>),
        what: &'static str,
        bytes: u64,
        protection: Protection,
    ) -> Result<Key, Error> {
        let key = self.create_object(space, what, bytes, protection, Kind::Area)?;
        let linked = match old {
            Some(_) => self.link(commands, key, tag),
            None => self.link_new(commands, key, Some(tag)),
        };
        if let Err(error) = linked {
            let _ = self.destroy_object(key, WHAT);
            return Err(error);
        }
        // Nothing that was recorded now refers to it.
        if let Some(old) = old {
            self.destroy_object(old, WHAT)?;
        }
        Ok(key)
    }
}

/// Whether a tag is that of a block, or of uniforms that the stream writes: these are kept when commands are recorded again.
pub(super) const fn is_kept(tag: u32) -> bool {
    tag & (BLOCKS | WRITTEN | GRAPHICS_SCRATCH | OWN_CODE) != 0
}

impl From<eitri_descriptors::DescriptorError> for Error {
    fn from(error: eitri_descriptors::DescriptorError) -> Error {
        Error::Command(CommandError::Descriptor(error))
    }
}

impl From<crate::graphics::GraphicsError> for Error {
    fn from(error: crate::graphics::GraphicsError) -> Error {
        Error::Command(CommandError::Graphics(error))
    }
}
