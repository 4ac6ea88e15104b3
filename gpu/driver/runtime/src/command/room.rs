//! Room: for instructions and data of commands, in blocks that are chained and kept, and for uniforms that the stream writes.
//!
//! Guarantees: a command buffer that was recorded before takes no memory again.  Facts: hardware/command-stream.md 6.1.

use super::error::{CommandError, Limit};
use super::recorder::{BLOCKS, NEXT_BLOCK, Recorder, WRITTEN, WRITTEN_BYTES};
use super::writer::{ALIGNMENT, Block, Writer};
use crate::error::{Error, Thing};
use crate::handle::Space;
use crate::platform::{PhysicalAddress, Platform};
use crate::slab::Key;
use crate::vm::{GpuAddress, Protection};
use eitri_cs::builder::Link;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Goes on in another block, which has room for so much data.
    #[cold]
    pub(super) fn go_on(&mut self, data: u32) -> Result<(), Error> {
        let block = self.new_block(data)?;
        let link = Link::to(block.address.0, &self.words()?.config);
        let link = link.map_err(CommandError::Build)?;
        self.writer.go_on(&mut self.device.hw.platform, block, link);
        Ok(())
    }

    /// Another block, which has room for so much data.
    pub(crate) fn new_block(&mut self, data: u32) -> Result<Block, Error> {
        let bytes = Writer::block_for(data).max(NEXT_BLOCK);
        let number = self.blocks;
        let kept = self.kept_area(BLOCKS, number);
        let enough = |object: &crate::device::Object<'_>| object.mapping.bytes() >= bytes.into();
        let is_enough = |key: &Key| self.device.objects.get(*key).is_some_and(enough);
        let key = match kept {
            Some(key) if is_enough(&key) => key,
            too_small => {
                let space = Space(self.space);
                let tag = BLOCKS.saturating_add(number);
                self.device.create_area(
                    self.commands,
                    space,
                    (tag, too_small),
                    "commands",
                    bytes.into(),
                    Protection::Given,
                )?
            }
        };
        let mapping = &self.device.object(key, Thing::CommandBuffer)?.mapping;
        let block = Block {
            address: mapping.address(),
            memory: mapping.memory(),
            bytes: u32::try_from(mapping.bytes()).unwrap_or(bytes),
        };
        self.blocks = number.saturating_add(1);
        Ok(block)
    }

    /// An area of an earlier recording, by its tag. These are the end of what the commands refer to: it is all that is searched.
    fn kept_area(&self, kind: u32, number: u32) -> Option<Key> {
        let tag = kind.saturating_add(number);
        self.device.links.tagged(self.kept, tag)
    }

    /// Room for uniforms that the stream writes to. The caller cleans what it writes there.
    pub(crate) fn written_room(
        &mut self,
        bytes: u32,
    ) -> Result<(PhysicalAddress, GpuAddress), Error> {
        let bytes = bytes.max(1).next_multiple_of(ALIGNMENT);
        let (mut count, mut used) = self.written;
        if WRITTEN_BYTES.saturating_sub(used) < bytes {
            let area = match self.kept_area(WRITTEN, count) {
                Some(area) => {
                    // What the GPU has written there for the recording before must not come down on top of this one.
                    let whole = 0..u64::from(WRITTEN_BYTES);
                    self.device
                        .host_writes(area, Thing::CommandBuffer, &whole)?;
                    area
                }
                None => {
                    let (commands, space) = (self.commands, Space(self.space));
                    let tag = (WRITTEN.saturating_add(count), None);
                    let (what, size) = ("uniforms", WRITTEN_BYTES.into());
                    let protection = Protection::Shared;
                    let device = &mut *self.device;
                    device.create_area(commands, space, tag, what, size, protection)?
                }
            };
            let mapping = &self.device.object(area, Thing::CommandBuffer)?.mapping;
            self.written_area = (mapping.memory(), mapping.address());
            (count, used) = (count.saturating_add(1), 0);
        }
        let (memory, address) = self.written_area;
        let offset = u64::from(used);
        let room = (memory.offset(offset), address.offset(offset));
        self.written = (count, used.saturating_add(bytes));
        Ok(room)
    }

    /// Room for data of the commands.
    pub(crate) fn room(&mut self, bytes: u32) -> Result<(PhysicalAddress, GpuAddress), Error> {
        if let Some(room) = self.writer.data(bytes) {
            return Ok(room);
        }
        self.go_on(bytes)?;
        let limit = CommandError::Limit {
            what: Limit::CommandBufferData,
            wanted: bytes.into(),
            most: NEXT_BLOCK.into(),
        };
        Ok(self.writer.data(bytes).ok_or(limit)?)
    }

    /// Puts words of data at a multiple of 64.
    pub(crate) fn place(&mut self, words: &[u32]) -> Result<GpuAddress, Error> {
        let bytes = u32::try_from(words.len())
            .unwrap_or(u32::MAX)
            .saturating_mul(4);
        let (mut at, address) = self.room(bytes)?;
        let mut pairs = words.chunks_exact(2);
        for pair in &mut pairs {
            if let [low, high] = *pair {
                let both = u64::from(high) << 32 | u64::from(low);
                self.device.hw.platform.store64(at, both);
            }
            at = at.offset(8);
        }
        if let [last] = *pairs.remainder() {
            self.device.hw.platform.store32(at, last);
        }
        Ok(address)
    }
}
