//! A command buffer: memory for recorded commands and for the descriptors and uniforms they refer to.
//!
//! Bounded: [`CommandBuffer::WORDS`] instructions and [`CommandBuffer::DATA_BYTES`] of data.

use super::error::CommandError;
use super::recorder::Recorder;
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{CommandBuffer, Space};
use crate::platform::Platform;
use crate::vm::{GpuAddress, Protection};
use eitri_cs::builder::Stream;

const WHAT: Thing = Thing::CommandBuffer;

impl CommandBuffer {
    /// Instructions that it holds; a dispatch takes about twenty.
    pub const WORDS: usize = 1024;
    /// Bytes of descriptors and uniforms that it holds; a dispatch takes at most 1 KiB.
    pub const DATA_BYTES: u64 = 56 * 1024;
    /// Where data begins: behind the instructions.
    pub(super) const DATA_OFFSET: u64 = CommandBuffer::WORDS as u64 * 8;
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Makes a command buffer.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for it.
    pub fn create_command_buffer(&mut self, space: Space) -> Result<CommandBuffer, Error> {
        let bytes = CommandBuffer::DATA_OFFSET.wrapping_add(CommandBuffer::DATA_BYTES);
        let kind = Kind::Commands { recorded: None };
        let key = self.create_object(space, "commands", bytes, Protection::Shared, kind)?;
        Ok(CommandBuffer(key))
    }

    /// Destroys a command buffer.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_command_buffer(&mut self, commands: CommandBuffer) -> Result<(), Error> {
        self.destroy_object(commands.0, WHAT)
    }

    /// Records what `record` says; what was recorded before is forgotten.
    ///
    /// # Errors
    /// If a job in flight uses the command buffer, a command is refused, or the commands do not fit. After the last two nothing
    /// is recorded.
    pub fn record(
        &mut self,
        commands: CommandBuffer,
        record: impl FnOnce(&mut Recorder<'_, '_, 'd, P>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.unused(commands.0, WHAT)?;
        self.set_recorded(commands, None);
        self.forget_links(commands.0);
        let words = core::mem::take(&mut self.words);
        let stream = Recorder::begin(self, commands, words).and_then(|mut recorder| {
            record(&mut recorder)?;
            recorder.finish()
        });
        let written = stream.and_then(|stream| self.write_commands(commands, words, stream));
        self.words = words;
        written
    }

    /// Where the recorded commands are, and their bytes.
    pub(crate) fn recorded(&self, commands: CommandBuffer) -> Result<(GpuAddress, u32), Error> {
        match self.object(commands.0, WHAT)?.kind {
            Kind::Commands { recorded } => recorded.ok_or(Error::NotRecorded),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }

    fn write_commands(
        &mut self,
        commands: CommandBuffer,
        words: &[u64],
        stream: Stream,
    ) -> Result<(), Error> {
        let memory = self.object(commands.0, WHAT)?.mapping.memory();
        let count = (stream.length / 8) as usize;
        let mut at = memory;
        for word in words.iter().take(count) {
            self.platform.store64(at, *word);
            at = at.offset(8);
        }
        self.platform.clean(memory.span(stream.length.into()));
        self.set_recorded(commands, Some((GpuAddress(stream.address), stream.length)));
        Ok(())
    }

    fn set_recorded(&mut self, commands: CommandBuffer, it: Option<(GpuAddress, u32)>) {
        if let Some(object) = self.objects.get_mut(commands.0)
            && let Kind::Commands { recorded } = &mut object.kind
        {
            *recorded = it;
        }
    }
}

impl From<eitri_descriptors::DescriptorError> for Error {
    fn from(error: eitri_descriptors::DescriptorError) -> Error {
        Error::Command(CommandError::Descriptor(error))
    }
}
