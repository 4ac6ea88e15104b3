//! Recording: what is bound and what waits, and how it becomes words in the command buffer's memory.
//!
//! Guarantees: commands refer only to what was checked; the GPU runs none of them before recording has ended well; registers are
//! loaded only when their values change; a command buffer that was recorded before takes no memory again.
//! Facts: hardware/command-stream.md sections 1.6 to 1.8, 6.1, 6.7 to 6.9, 7.1.

use super::accesses::Accesses;
use super::descriptor_set::BoundSet;
use super::emitter::Emitter;
use super::error::{CommandError, Limit};
use super::pipeline::BoundPipeline;
use super::storage::Areas;
use super::uniforms::{Push, Uniforms};
use super::words::{self, Known, Words};
use super::writer::{ALIGNMENT, Block, Writer};
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{CommandBuffer, DescriptorSet, Pipeline, Space};
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::{CacheUse, Reach};
use crate::slab::Key;
use crate::vm::{GpuAddress, Protection};
use eitri_cs::SlotMask;
use eitri_cs::builder::{Checked, Link};
use eitri_cs::instr::{Call, Instruction};
use eitri_csf::registers::doorbell::FLUSH_ALWAYS;
use eitri_descriptors::Arch;
use eitri_program::{DescriptorSlot, MAX_PUSH_CONSTANT_BYTES};

/// Tables that a program can use: the driver's and its own.
pub(super) const TABLES: usize = DescriptorSlot::MAX_TABLE as usize + 1;

/// Bytes of the first block of a command buffer, and of further ones.
pub(super) const FIRST_BLOCK: u32 = 16 * 1024;
const NEXT_BLOCK: u32 = 64 * 1024;
/// The tags of further blocks among what a command buffer refers to.
pub(super) const BLOCKS: u32 = 1 << 28;
/// The tags of memory for uniforms that the stream writes: all else of commands the GPU only reads.
pub(super) const WRITTEN: u32 = 1 << 27;
const WRITTEN_BYTES: u32 = 4096;

/// Frames below a job: the stream has eight, the ring and the job itself have two of them (hardware/command-stream.md 3.3).
const MOST_CALLS: u8 = 6;

/// Who runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// A queue.
    Primary,
    /// Other commands; they call others in turn, so many deep.
    Secondary(u8),
}

/// What was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) start: GpuAddress,
    /// Bytes of the first block's instructions.
    pub(crate) bytes: u32,
    pub(crate) level: Level,
    pub(crate) uses: CacheUse,
    /// It writes to memory of its own, so that two of its runs may not overlap.
    pub(crate) exclusive: bool,
    /// Invocations of compute shaders, if the host can know.
    pub(super) invocations: Option<u64>,
}

/// What may still run that was recorded before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Running {
    /// Jobs.
    pub(super) jobs: bool,
    /// Jobs that use thread-local or shared memory of these commands.
    pub(super) storage: bool,
    /// Loads and stores of the stream.
    pub(super) memory: bool,
    /// Deferred changes of sync objects, and deferred stores of state.
    pub(super) signals: bool,
}

/// Records commands into a command buffer.
#[derive(Debug)]
pub struct Recorder<'r, 's, 'd, P> {
    pub(super) device: &'r mut Device<'s, 'd, P>,
    pub(super) commands: Key,
    space: Key,
    writer: Writer,
    /// How many further blocks there are.
    blocks: u32,
    /// Uniforms that the stream writes: how many areas there are, and how much of the last is used.
    written: (u32, u32),
    level: Level,
    pub(super) areas: Areas,
    pub(super) known: Known,
    pub(super) running: Running,
    pub(super) pipeline: Option<BoundPipeline<'d>>,
    pipeline_of: Option<Pipeline>,
    pub(super) sets: [Option<BoundSet>; TABLES],
    /// The set that was bound last, if its descriptors are used where they are.
    set: Option<DescriptorSet>,
    pub(super) push: Push,
    /// What the next dispatch would write as the last did.
    pub(super) made: super::dispatch::Made,
    pub(super) uniforms: Uniforms,
    /// Something was written since the last flush of all caches.
    pub(super) unflushed: bool,
    pub(super) partial: bool,
    pub(super) exclusive: bool,
    pub(super) invocations: Option<u64>,
}

impl<'r, 's, 'd, P: Platform> Recorder<'r, 's, 'd, P> {
    /// Of commands in a space that begin in a block. It is large: it is made where it stays.
    pub(super) fn new(
        device: &'r mut Device<'s, 'd, P>,
        commands: CommandBuffer,
        (space, block): (Key, Block),
        secondary: bool,
    ) -> Recorder<'r, 's, 'd, P> {
        let areas = Areas::begin(device, commands.0, Space(space));
        Recorder {
            device,
            commands: commands.0,
            space,
            writer: Writer::new(block),
            blocks: 0,
            written: (0, WRITTEN_BYTES),
            level: match secondary {
                true => Level::Secondary(0),
                false => Level::Primary,
            },
            areas,
            known: Known::NOTHING,
            // Those who call may have called before, and jobs of that call may still run.
            running: Running {
                jobs: secondary,
                storage: secondary,
                memory: secondary,
                signals: secondary,
            },
            pipeline: None,
            pipeline_of: None,
            sets: [None; TABLES],
            set: None,
            push: Push::ZERO,
            made: super::dispatch::Made::NOTHING,
            uniforms: Uniforms::new(),
            unflushed: false,
            partial: false,
            exclusive: false,
            invocations: Some(0),
        }
    }

    /// Begins the commands.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        if self.level == Level::Primary {
            for word in self.words()?.begin.into_iter().flatten() {
                self.put(word)?;
            }
        }
        Ok(())
    }

    /// Ends the commands. Who runs them waits for all their jobs: the wrapper of a job does (hardware/command-stream.md 6.20).
    pub(super) fn finish(&mut self) -> Result<Recorded, Error> {
        if self.level == Level::Primary {
            let end = self.words()?.end;
            self.put(end)?;
        }
        let (start, bytes) = self.writer.finish(&mut self.device.platform);
        for number in 0..self.blocks {
            if let Some(block) = self.area_object(BLOCKS, number) {
                self.device.host_wrote(block);
            }
        }
        for number in 0..self.written.0 {
            if let Some(area) = self.area_object(WRITTEN, number) {
                self.device.host_wrote(area);
            }
        }
        self.device.host_wrote(self.commands);
        Ok(Recorded {
            start,
            bytes,
            level: self.level,
            uses: CacheUse {
                partial: self.partial,
                clean: !self.unflushed,
            },
            exclusive: self.exclusive,
            invocations: self.invocations,
        })
    }

    pub(super) fn words(&self) -> Result<&Words, Error> {
        match &self.device.words {
            Ok(words) => Ok(words),
            Err(fault) => Err(CommandError::Build(*fault).into()),
        }
    }

    pub(super) fn arch(&self) -> Arch {
        self.device.properties.arch
    }

    /// Makes room for so many instructions in one block.
    pub(super) fn make_room(&mut self, count: u32) -> Result<(), Error> {
        match self.writer.has_room(count) {
            true => Ok(()),
            false => self.go_on(0),
        }
    }

    /// Appends at most `most` instructions in one block.
    pub(super) fn emit(
        &mut self,
        most: u32,
        all: impl FnOnce(&mut Emitter<'_, P>),
    ) -> Result<(), Error> {
        self.make_room(most)?;
        let words = match &self.device.words {
            Ok(words) => words,
            Err(fault) => return Err(CommandError::Build(*fault).into()),
        };
        let mut emitter = Emitter::new(
            &mut self.device.platform,
            words,
            &mut self.known,
            self.writer.end(),
        );
        all(&mut emitter);
        let end = emitter.end();
        self.writer.end_at(end);
        Ok(())
    }

    /// Appends an instruction.
    pub(super) fn put(&mut self, it: Checked) -> Result<(), Error> {
        self.make_room(1)?;
        self.writer.put(&mut self.device.platform, it);
        Ok(())
    }

    /// Appends instructions that branch among each other, so that they stay in one block.
    pub(super) fn put_together(&mut self, all: &[Checked]) -> Result<(), Error> {
        self.make_room(u32::try_from(all.len()).unwrap_or(u32::MAX))?;
        for it in all {
            self.writer.put(&mut self.device.platform, *it);
        }
        Ok(())
    }

    /// Checks an instruction and appends it.
    pub(super) fn push(&mut self, instr: impl Instruction) -> Result<(), Error> {
        let it = self.check(instr)?;
        self.put(it)
    }

    pub(super) fn check(&self, instr: impl Instruction) -> Result<Checked, Error> {
        let checked = self.words()?.config.checked(instr);
        Ok(checked.map_err(CommandError::Build)?)
    }

    /// Loads a pair that no job reads.
    pub(super) fn load_wide(
        &mut self,
        which: impl FnOnce(&Words) -> eitri_cs::builder::Load64,
        value: u64,
    ) -> Result<(), Error> {
        let (first, second) = which(self.words()?).with(value);
        self.put(first)?;
        second.map_or(Ok(()), |second| self.put(second))
    }

    /// Goes on in another block, which has room for so much data.
    #[cold]
    fn go_on(&mut self, data: u32) -> Result<(), Error> {
        let bytes = Writer::block_for(data).max(NEXT_BLOCK);
        let number = self.blocks;
        let kept = self.area_object(BLOCKS, number);
        let enough = |object: &crate::device::Object<'_>| object.mapping.bytes() >= bytes.into();
        let kept = kept.filter(|key| self.device.objects.get(*key).is_some_and(enough));
        let key = match kept {
            Some(key) => key,
            None => {
                let space = Space(self.space);
                let tag = BLOCKS.saturating_add(number);
                self.device.create_area(
                    self.commands,
                    space,
                    tag,
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
        let link = Link::to(block.address.0, &self.words()?.config);
        let link = link.map_err(CommandError::Build)?;
        self.writer.go_on(&mut self.device.platform, block, link);
        self.blocks = number.saturating_add(1);
        Ok(())
    }

    /// An area by its tag.
    fn area_object(&self, kind: u32, number: u32) -> Option<Key> {
        let list = self.device.objects.get(self.commands)?.list;
        let tag = kind.saturating_add(number);
        self.device.links.tagged(list, tag)
    }

    /// Room for uniforms that the stream writes to. The caller cleans what it writes there.
    pub(super) fn written_room(
        &mut self,
        bytes: u32,
    ) -> Result<(PhysicalAddress, GpuAddress), Error> {
        let bytes = bytes.next_multiple_of(ALIGNMENT);
        let (mut count, mut used) = self.written;
        if WRITTEN_BYTES.saturating_sub(used) < bytes {
            if self.area_object(WRITTEN, count).is_none() {
                let (commands, space) = (self.commands, Space(self.space));
                let tag = WRITTEN.saturating_add(count);
                let (what, size) = ("uniforms", WRITTEN_BYTES.into());
                let protection = Protection::Shared;
                let device = &mut *self.device;
                device.create_area(commands, space, tag, what, size, protection)?;
            }
            (count, used) = (count.saturating_add(1), 0);
        }
        let area = self.area_object(WRITTEN, count.saturating_sub(1));
        let what = Thing::CommandBuffer;
        let mapping = match area {
            Some(area) => &self.device.object(area, what)?.mapping,
            None => return Err(Error::Gone { what }),
        };
        let offset = u64::from(used);
        let room = (
            mapping.memory().offset(offset),
            mapping.address().offset(offset),
        );
        self.written = (count, used.saturating_add(bytes));
        Ok(room)
    }

    /// Room for data of the commands.
    pub(super) fn room(&mut self, bytes: u32) -> Result<(PhysicalAddress, GpuAddress), Error> {
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
    pub(super) fn place(&mut self, words: &[u32]) -> Result<GpuAddress, Error> {
        let bytes = u32::try_from(words.len())
            .unwrap_or(u32::MAX)
            .saturating_mul(4);
        let (mut at, address) = self.room(bytes)?;
        let mut pairs = words.chunks_exact(2);
        for pair in &mut pairs {
            if let [low, high] = *pair {
                let both = u64::from(high) << 32 | u64::from(low);
                self.device.platform.store64(at, both);
            }
            at = at.offset(8);
        }
        if let [last] = *pairs.remainder() {
            self.device.platform.store32(at, last);
        }
        Ok(address)
    }

    /// Refers to something that commands use from here on.
    pub(super) fn refer(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        if self.device.object(key, what)?.space != self.space {
            return Err(Error::OtherSpace { what });
        }
        self.device.link(self.commands, key, None)
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
        self.made = super::dispatch::Made::NOTHING;
        self.uniforms.found = false;
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
        let table = match self.device.object(set.0, Thing::DescriptorSet)?.kind {
            Kind::Set { table, .. } => usize::from(table),
            _ => TABLES,
        };
        let bound = self.sets.get(table).and_then(|bound| bound.as_ref());
        if bound.is_some_and(|bound| bound.whole == Some(set)) {
            self.set = Some(set);
            return Ok(self);
        }
        self.refer(set.0, Thing::DescriptorSet)?;
        let bound = self.device.bound_set(set)?;
        self.bind_set(bound);
        self.set = Some(set);
        Ok(self)
    }

    pub(super) fn bind_set(&mut self, set: BoundSet) {
        self.set = None;
        self.uniforms.found = false;
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
    pub fn push_constants(&mut self, bytes: &[u8]) -> Result<&mut Self, Error> {
        self.push_constants_at(0, bytes)
    }

    /// Changes push constants from byte `offset` on; what is before and behind stays.
    ///
    /// # Errors
    /// If they end behind what a program can have.
    pub fn push_constants_at(&mut self, offset: usize, bytes: &[u8]) -> Result<&mut Self, Error> {
        let Some(changed) = self.push.change(offset, bytes) else {
            let given = offset.saturating_add(bytes.len());
            let wanted = MAX_PUSH_CONSTANT_BYTES;
            return Err(CommandError::PushConstants { given, wanted }.into());
        };
        if changed {
            self.made.forget_uniforms();
        }
        Ok(self)
    }

    /// Orders commands: what those before it do (`before`) comes before what those after it do (`after`), and is seen by them.
    /// Costs nothing where there is nothing to wait for.
    ///
    /// Shaders and copies see what shaders and copies have written when these are done: their caches are coherent with the L2.
    /// For the host all caches are flushed at this place; without such a barrier the host does it when it reads.
    ///
    /// # Errors
    /// If there is no memory for more commands.
    pub fn barrier(&mut self, before: Accesses, after: Accesses) -> Result<&mut Self, Error> {
        if after == Accesses::NONE || before == Accesses::NONE {
            return Ok(self);
        }
        if before.any_of(Accesses::SHADER_READ | Accesses::SHADER_WRITE) {
            self.wait_for_jobs()?;
        }
        let copies = Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE;
        if before.any_of(copies) {
            self.wait_for_memory()?;
        }
        let writes = Accesses::SHADER_WRITE | Accesses::TRANSFER_WRITE;
        if before.any_of(writes) && after.any_of(Accesses::HOST_READ) && self.unflushed {
            self.wait_for_jobs()?;
            self.wait_for_memory()?;
            self.flush(Reach::All)?;
            self.unflushed = false;
        }
        Ok(self)
    }

    /// Runs commands that were recorded by [`Device::record_secondary`]. What is bound here is not bound there.
    ///
    /// # Errors
    /// If they are not such commands or were not recorded, are in another space, call too deep, or there is no place for what
    /// they refer to.
    pub fn execute(&mut self, secondary: CommandBuffer) -> Result<&mut Self, Error> {
        let what = Thing::CommandBuffer;
        self.refer(secondary.0, what)?;
        let recorded = self.device.recorded(secondary)?;
        let Level::Secondary(depth) = recorded.level else {
            return Err(CommandError::NotSecondary.into());
        };
        let below = depth.saturating_add(1);
        let own = match self.level {
            Level::Primary => 0,
            Level::Secondary(depth) => depth,
        };
        if below.max(own) > MOST_CALLS || secondary.0 == self.commands {
            let most = MOST_CALLS;
            return Err(CommandError::TooDeep { most }.into());
        }
        if let Level::Secondary(depth) = &mut self.level {
            *depth = below.max(own);
        }
        self.device.link_all(self.commands, secondary.0)?;
        if let Some(object) = self.device.objects.get_mut(secondary.0)
            && let Kind::Commands { called, .. } = &mut object.kind
        {
            *called = true;
        }
        self.load_wide(|words| words.address, recorded.start.0)?;
        let length = self.words()?.count.with(recorded.bytes);
        self.put(length)?;
        self.push(Call {
            address: words::ADDRESS,
            length: words::COUNT,
        })?;
        // Whatever it has left behind.
        self.known = Known::NOTHING;
        self.made.forget_state();
        self.running = Running {
            jobs: true,
            storage: self.running.storage,
            memory: true,
            signals: true,
        };
        self.unflushed |= !recorded.uses.clean;
        self.partial |= recorded.uses.partial;
        self.exclusive |= recorded.exclusive;
        let sum = self.invocations.zip(recorded.invocations);
        self.invocations = sum.map(|(own, its)| own.saturating_add(its));
        Ok(self)
    }

    /// Waits for jobs, if some may run.
    pub(super) fn wait_for_jobs(&mut self) -> Result<(), Error> {
        if self.running.jobs {
            let wait = self.words()?.wait_jobs;
            self.put(wait)?;
            self.running.jobs = false;
            self.running.storage = false;
        }
        Ok(())
    }

    /// Waits for loads and stores of the stream, and for what was deferred.
    pub(super) fn wait_for_memory(&mut self) -> Result<(), Error> {
        self.wait_for_signals()?;
        if self.running.memory {
            let wait = self.words()?.wait_others;
            self.put(wait)?;
            self.running.memory = false;
        }
        Ok(())
    }

    /// Waits for what was deferred.
    pub(super) fn wait_for_signals(&mut self) -> Result<(), Error> {
        if self.running.signals {
            let wait = self.words()?.wait_states;
            self.put(wait)?;
            self.running.signals = false;
        }
        Ok(())
    }

    /// The slots on which something may be counted that came before, deferred operations aside.
    pub(super) fn busy(&self) -> SlotMask {
        match self.running.jobs || self.running.memory {
            // Always the same: operations that wait for the same slots are done in order (hardware/command-stream.md 1.8).
            true => words::JOBS.mask() | words::OTHERS.mask(),
            false => SlotMask::NONE,
        }
    }

    /// Flushes caches, and waits for that.
    pub(super) fn flush(&mut self, reach: Reach) -> Result<(), Error> {
        let words = self.words()?;
        let all = [
            words.count.with(FLUSH_ALWAYS),
            words.flush(reach),
            words.wait_others,
        ];
        self.partial |= reach == Reach::Cores;
        self.running.memory = false;
        self.put_together(&all)
    }
}
