//! Recording: what is bound and what waits, and how it becomes words in the command buffer's memory.
//!
//! Guarantees: commands refer only to what was checked; the GPU runs none of them before recording has ended well; registers are
//! loaded only when their values change; a command buffer that was recorded before takes no memory again.
//! Facts: hardware/command-stream.md sections 1.6 to 1.8, 6.1, 6.7 to 6.9, 7.1.

use super::accesses::Accesses;
use super::emitter::Emitter;
use super::error::CommandError;
use super::pipeline::Shape;
use super::storage::Areas;
use super::words::{EncodedInstructions, LoadedRegisters};
use super::writer::{Block, Writer};
use crate::device::Device;
use crate::error::Error;
use crate::graphics::{DrawStatePlace, PassParts, Passes};
use crate::handle::{CommandBuffer, DescriptorSet, Pipeline, Space};
use crate::links::List;
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::{CacheUse, Code, SubQueue};
use crate::resource::BoundSet;
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_cs::builder::Checked;
use eitri_cs::instr::Instruction;
use eitri_descriptors::Arch;
use eitri_program::DescriptorSlot;

/// Tables that a program can use: the driver's and its own.
pub(super) const TABLES: usize = DescriptorSlot::MAX_TABLE as usize + 1;

/// Bytes of the first block of a command buffer, and of further ones.
pub(super) const FIRST_BLOCK: u32 = 16 * 1024;
pub(super) const NEXT_BLOCK: u32 = 64 * 1024;
/// The tags of further blocks among what a command buffer refers to.
pub(super) const BLOCKS: u32 = 1 << 28;
/// The tags of memory for uniforms that the stream writes: all else of commands the GPU only reads.
pub(super) const WRITTEN: u32 = 1 << 27;
/// The tags of thread-local memory of graphics shaders, by its size.
pub(crate) const GRAPHICS_SCRATCH: u32 = 1 << 26;
/// The tags of code of the runtime's own: copies, clears and frame shaders, by what they do.
pub(crate) const OWN_CODE: u32 = 1 << 25;
pub(super) const WRITTEN_BYTES: u32 = 4096;

/// Who runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// A queue.
    Primary,
    /// Other commands; they call others in turn, so many deep.
    Secondary(u8),
    /// Render passes of other commands, for which they draw; they call others in turn, so many deep.
    Draws(u8),
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
    /// The streams that the job waits for before it begins, as far as they have jobs of before: a bit each.
    pub(crate) after: Streams,
    /// Render passes, which run on streams of their own.
    pub(crate) passes: Option<PassParts>,
}

impl Recorded {
    /// The code for the stream that the commands are submitted to.
    pub(crate) const fn code(&self) -> Code {
        Code {
            start: self.start,
            bytes: self.bytes,
        }
    }

    /// Whether more than one stream is concerned.
    pub(crate) const fn has_parts(&self) -> bool {
        self.passes.is_some() || !self.after.is_none()
    }
}

/// A set of streams of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Streams(u8);

impl Streams {
    pub(crate) const NONE: Streams = Streams(0);
    pub(crate) const ALL: Streams = Streams(0b111);

    pub(crate) const fn of(stream: SubQueue) -> Streams {
        Streams(1 << stream as u8)
    }

    pub(crate) const fn has(self, stream: SubQueue) -> bool {
        self.0 & Streams::of(stream).0 != 0
    }

    pub(crate) const fn and(self, other: Streams) -> Streams {
        Streams(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Streams) -> Streams {
        Streams(self.0 & !other.0)
    }

    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// What may still run that was recorded before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Running {
    /// Jobs.
    pub(super) jobs: bool,
    /// Jobs that use thread-local or shared memory of these commands.
    pub(super) storage: bool,
    /// Jobs that copy.
    pub(super) copies: bool,
    /// Loads and stores of the stream.
    pub(super) memory: bool,
    /// Deferred changes of sync objects, and deferred stores of state.
    pub(super) signals: bool,
}

/// Records commands into a command buffer.
// In the order in which fields are written here: what dispatches look at comes first, where one instruction reaches it, and the state
// of render passes, which is large, last.
#[derive(Debug)]
#[repr(C)]
pub struct Recorder<'r, 's, 'd, P> {
    pub(crate) device: &'r mut Device<'s, 'd, P>,
    pub(crate) commands: Key,
    pub(crate) space: Key,
    pub(crate) writer: Writer,
    /// How many further blocks there are.
    pub(super) blocks: u32,
    /// Uniforms that the stream writes: how many areas there are, and how much of the last is used.
    pub(super) written: (u32, u32),
    /// The last of these areas; nothing as long as there is none, which counts as full.
    pub(super) written_area: (PhysicalAddress, GpuAddress),
    /// The areas of earlier recordings: what the commands referred to when this one began.
    pub(super) kept: List,
    pub(crate) level: Level,
    pub(super) areas: Areas,
    pub(super) known: LoadedRegisters,
    pub(super) running: Running,
    pub(super) pipeline: Option<Shape>,
    pub(super) pipeline_of: Option<Pipeline>,
    /// The set that was bound last, if its descriptors are used where they are.
    pub(super) set: Option<DescriptorSet>,
    /// What the next dispatch would write as the last did.
    pub(super) made: super::repeat::LastDispatch,
    /// Something was written since the last flush of all caches.
    pub(crate) unflushed: bool,
    pub(crate) partial: bool,
    /// What is sampled may stand in read-only caches as it was before it was written.
    pub(super) stale_texels: bool,
    /// Some dispatch samples what was written before the job.
    pub(super) samples: bool,
    /// Some dispatch may write texels of images.
    pub(crate) writes_texels: bool,
    pub(crate) exclusive: bool,
    /// The stream has filled in uniforms, and no cache holds them as they were.
    pub(super) filled: bool,
    pub(super) invocations: Option<u64>,
    /// Queries were reset since render passes waited for it.
    pub(crate) queries_reset: bool,
    /// As [`Recorded::after`].
    pub(crate) after: Streams,
    /// What barriers were before and after, before there were passes.
    pub(crate) ordered: (Accesses, Accesses),
    pub(super) sets: [Option<BoundSet>; TABLES],
    /// Render passes: what there is of them for other streams.
    pub(crate) passes: Option<Passes<'r, 's, 'd, P>>,
    /// Where the state of the pass that is recorded stands.
    pub(crate) draw_state: &'r DrawStatePlace,
}

impl<'r, 's, 'd, P: Platform> Recorder<'r, 's, 'd, P> {
    /// Starts recording commands of a space into `block`. Constructed in place because it is large.
    #[inline(always)]
    pub(super) fn new(
        device: &'r mut Device<'s, 'd, P>,
        commands: CommandBuffer,
        space: Key,
        block: Block,
        secondary: bool,
        draw_state: &'r DrawStatePlace,
    ) -> Recorder<'r, 's, 'd, P> {
        let areas = Areas::begin(device, commands.0, Space(space));
        device.uniforms.begin();
        device.begin_mentions();
        let object = device.objects.get(commands.0);
        let kept = object.map_or(List::EMPTY, |object| object.list);
        Recorder {
            device,
            commands: commands.0,
            space,
            writer: Writer::new(block),
            blocks: 0,
            written: (0, WRITTEN_BYTES),
            written_area: (PhysicalAddress(0), GpuAddress(0)),
            kept,
            level: if secondary {
                Level::Secondary(0)
            } else {
                Level::Primary
            },
            areas,
            known: LoadedRegisters::NOTHING,
            // Those who call may have called before, and jobs of that call may still run.
            running: Running {
                jobs: secondary,
                storage: secondary,
                copies: secondary,
                memory: secondary,
                signals: secondary,
            },
            pipeline: None,
            pipeline_of: None,
            sets: [None; TABLES],
            set: None,
            made: super::repeat::LastDispatch::NOTHING,
            unflushed: false,
            partial: false,
            // Those who call may have written texels; what comes before a job its ring entry flushes for.
            stale_texels: secondary,
            samples: false,
            writes_texels: false,
            exclusive: false,
            filled: false,
            queries_reset: false,
            invocations: Some(0),
            after: Streams::NONE,
            ordered: (Accesses::NONE, Accesses::NONE),
            passes: None,
            draw_state,
        }
    }

    /// Begins the commands.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        if self.level == Level::Primary {
            let mut number = 0_usize;
            while let Some(Some(word)) = self.words()?.begin.get(number).copied() {
                self.put(word)?;
                number = number.wrapping_add(1);
            }
        }
        Ok(())
    }

    /// Ends the commands, which are recorded then. Who runs them waits for all their jobs: the wrapper of a job does (hardware/command-stream.md 6.20).
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        if self.level == Level::Primary {
            let end = self.words()?.end;
            self.put(end)?;
        }
        let passes = self.finish_lanes()?;
        let (start, bytes) = self.writer.finish(&mut self.device.hw.platform);
        self.wrote_areas();
        self.device.host_wrote(self.commands);
        if let Some(it) = self.device.commands_mut(self.commands) {
            it.recorded = Some(Recorded {
                start,
                bytes,
                level: self.level,
                uses: CacheUse {
                    partial: self.partial,
                    clean: !self.unflushed,
                    samples: self.samples,
                    writes_texels: self.writes_texels,
                },
                exclusive: self.exclusive,
                invocations: self.invocations,
                after: self.after,
                passes,
            });
        }
        Ok(())
    }

    /// Says that the host has written to the blocks and the areas of uniforms that these commands have come to.
    fn wrote_areas(&mut self) {
        let (blocks, (written, _)) = (self.blocks, self.written);
        if blocks == 0 && written == 0 {
            return;
        }
        let used = |tag: u32| match (tag & BLOCKS != 0, tag & WRITTEN != 0) {
            (true, _) => tag.wrapping_sub(BLOCKS) < blocks,
            (false, true) => tag.wrapping_sub(WRITTEN) < written,
            (false, false) => false,
        };
        let object = self.device.objects.get(self.commands);
        let mut at = object.map_or(List::EMPTY, |object| object.list);
        // A list has no more links than there are.
        for _ in 0..self.device.links.capacity() {
            let Some((area, tag, rest)) = self.device.links.first(at) else {
                break;
            };
            at = rest;
            if tag.is_some_and(used) {
                self.device.host_wrote(area);
            }
        }
    }

    pub(crate) fn words(&self) -> Result<&EncodedInstructions, Error> {
        match &self.device.words {
            Ok(words) => Ok(words),
            Err(fault) => Err(CommandError::Build(*fault).into()),
        }
    }

    /// Generation of the GPU that the commands are for.
    pub fn arch(&self) -> Arch {
        self.device.hw.properties.arch
    }

    /// Makes room for so many instructions in one block.
    pub(crate) fn make_room(&mut self, count: u32) -> Result<(), Error> {
        if self.writer.has_room(count) {
            Ok(())
        } else {
            self.go_on(0)
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
            &mut self.device.hw.platform,
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
    pub(crate) fn put(&mut self, it: Checked) -> Result<(), Error> {
        self.make_room(1)?;
        self.writer.put(&mut self.device.hw.platform, it);
        Ok(())
    }

    /// Appends instructions that branch among each other, so that they stay in one block.
    #[inline]
    pub(crate) fn put_together<const N: usize>(&mut self, all: [Checked; N]) -> Result<(), Error> {
        self.put_words(&all.map(Checked::word))
    }

    /// The same, as their words.
    pub(crate) fn put_words(&mut self, words: &[u64]) -> Result<(), Error> {
        self.make_room(u32::try_from(words.len()).unwrap_or(u32::MAX))?;
        self.writer.put_words(&mut self.device.hw.platform, words);
        Ok(())
    }

    /// Checks an instruction and appends it.
    pub(crate) fn push(&mut self, instr: impl Instruction) -> Result<(), Error> {
        let it = self.check(instr)?;
        self.put(it)
    }

    pub(crate) fn check(&self, instr: impl Instruction) -> Result<Checked, Error> {
        let checked = self.words()?.config.checked(instr);
        Ok(checked.map_err(CommandError::Build)?)
    }

    /// Loads a pair that no job reads.
    pub(crate) fn load_wide(
        &mut self,
        which: impl FnOnce(&EncodedInstructions) -> eitri_cs::builder::Load64,
        value: u64,
    ) -> Result<(), Error> {
        let (first, second) = which(self.words()?).with(value);
        self.put(first)?;
        second.map_or(Ok(()), |second| self.put(second))
    }
}
