//! A command buffer: memory for recorded commands and for the descriptors and uniforms they refer to.
//!
//! Bounded: [`CommandBuffer::WORDS`] instructions and [`CommandBuffer::DATA_BYTES`] of data.

use super::error::CommandError;
use super::recorder::Recorder;
use super::storage::Storage;
use crate::device::{Device, Request};
use crate::platform::Platform;
use crate::vm::{GpuAddress, Object, Protection};

/// A command buffer. It must be given back with [`Device::destroy_command_buffer`].
#[derive(Debug)]
#[must_use = "a command buffer that is dropped keeps its memory"]
pub struct CommandBuffer {
    object: Object,
    words: [u64; CommandBuffer::WORDS],
    storage: Storage,
    recorded: Option<(GpuAddress, u32)>,
}

impl CommandBuffer {
    /// Instructions that it holds; a dispatch takes about twenty.
    pub const WORDS: usize = 1024;
    /// Bytes of descriptors and uniforms that it holds; a dispatch takes at most 1 KiB.
    pub const DATA_BYTES: u64 = 56 * 1024;
    /// Where data begins: behind the instructions.
    pub(super) const DATA_OFFSET: u64 = CommandBuffer::WORDS as u64 * 8;

    /// Where the recorded commands are, and their bytes; `None` if recording did not end well.
    pub(crate) const fn recorded(&self) -> Option<(GpuAddress, u32)> {
        self.recorded
    }

    /// Records what `commands` says; what was recorded before is forgotten. No job may be using it.
    ///
    /// # Errors
    /// If a command is refused, or the commands do not fit. Nothing is recorded then.
    pub fn record<'f, 's, P: Platform>(
        &mut self,
        device: &mut Device<'f, P>,
        commands: impl FnOnce(&mut Recorder<'_, 'f, 's, P>) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        self.recorded = None;
        self.storage.release(device)?;
        let CommandBuffer {
            object,
            words,
            storage,
            ..
        } = self;
        let mut recorder = Recorder::begin(device, object, words.as_mut_slice(), storage);
        commands(&mut recorder)?;
        let stream = recorder.finish()?;
        let count = (stream.length / 8) as usize;
        let mut at = object.memory();
        for word in words.iter().take(count) {
            device.platform.store64(at, *word);
            at = at.offset(8);
        }
        device
            .platform
            .clean(object.memory().span(stream.length.into()));
        self.recorded = Some((GpuAddress(stream.address), stream.length));
        Ok(())
    }
}

impl<P: Platform> Device<'_, P> {
    /// Makes a command buffer.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn create_command_buffer(&mut self) -> Result<CommandBuffer, CommandError> {
        let bytes = CommandBuffer::DATA_OFFSET.wrapping_add(CommandBuffer::DATA_BYTES);
        let object =
            self.create_object(Request::for_jobs("commands", bytes, Protection::Shared))?;
        let words = [0; CommandBuffer::WORDS];
        Ok(CommandBuffer {
            object,
            words,
            storage: Storage::default(),
            recorded: None,
        })
    }

    /// Gives a command buffer back. No job may use it any more.
    ///
    /// # Errors
    /// If it can't be unmapped: then it stays.
    pub fn destroy_command_buffer(&mut self, commands: CommandBuffer) -> Result<(), CommandError> {
        let CommandBuffer {
            object,
            mut storage,
            ..
        } = commands;
        storage.release(self)?;
        Ok(self.destroy_object(object)?)
    }
}
