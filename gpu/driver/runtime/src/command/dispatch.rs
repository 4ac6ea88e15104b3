//! Dispatches: what a job needs, written where it has changed.
//!
//! Shader, local storage and resource table of most dispatches stand in memory already (see [`super::pipeline`] and
//! [`super::descriptor_set`]). What is left are uniforms, and registers whose values differ from the last dispatch's.
//! Facts: hardware/command-stream.md sections 4.1, 6.10, 6.12, compiler-abi.md sections 1 to 4.

use super::descriptor_set::BoundSet;
use super::descriptors::{
    DESCRIPTOR_BYTES, RESOURCE_WORDS, local_storage, resource, resource_entries,
};
use super::emitter::Emitter;
use super::error::{CommandError, Limit};
use super::image_descriptors::FETCHES;
use super::pipeline::Shape;
use super::recorder::{Recorder, TABLES};
use super::registers;
use super::storage::Used;
use super::task::{TaskShape, task_of_unknown_grid, task_shape};
use super::uniforms::Source;
use super::words::{self, Grid, Narrow, Wide};
use super::writer::{ALIGNMENT, Writer};
use crate::error::{Error, Thing};
use crate::handle::Buffer;
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::Reach;
use crate::vm::GpuAddress;
use eitri_cs::RegMask;
use eitri_cs::builder::Checked;
use eitri_cs::instr::StoreMultiple;
use eitri_program::{DescriptorSlot, FauWord, Program, WorkgroupSize};

/// Most instructions of a dispatch: state, grid, the job.
const MOST_WORDS: u32 = 2 * 4 + 2 + 2 * 3 + 1;

/// What a dispatch was given that the next may use too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    /// The resource table's register.
    resources: Option<u64>,
    /// The uniforms' register, and the workgroups that they hold if they hold them.
    uniforms: Option<(u64, [u32; 3])>,
    /// Local storage of its own.
    storage: Option<(Used, GpuAddress)>,
    /// The sets are known to have everything that the pipeline needs.
    complete: bool,
    /// The registers hold all state of the pipeline and the sets, uniforms and grid aside.
    state: bool,
    /// The last dispatch, if the registers hold its grid too; without `state` they hold all but the resource table.
    last: Option<Last>,
}

/// A dispatch that another of as many workgroups repeats with other uniforms: its limits were checked.
#[derive(Clone, Copy, Debug)]
struct Last {
    workgroups: [u32; 3],
    /// Bytes that its uniforms take in a block; there are some.
    bytes: u32,
    /// Bytes that are to be free in a block for it.
    wanted: u32,
    /// Its invocations.
    threads: u64,
    /// Its job.
    run: Checked,
}

impl Made {
    /// Nothing yet.
    pub(super) const NOTHING: Made = Made {
        resources: None,
        uniforms: None,
        storage: None,
        complete: false,
        state: false,
        last: None,
    };

    /// Other push constants are in use.
    pub(super) const fn forget_uniforms(&mut self) {
        self.uniforms = None;
    }

    /// Other sets are in use; uniforms may hold addresses of their buffers. The last dispatch stays: see
    /// [`Recorder::rebind`].
    pub(super) const fn forget_sets(&mut self) {
        self.resources = None;
        self.complete = false;
        self.uniforms = None;
        self.state = false;
    }

    /// Another pipeline is in use.
    pub(super) const fn forget_pipeline(&mut self) {
        self.forget_sets();
        self.storage = None;
        self.last = None;
    }

    /// What the registers hold is not known.
    pub(super) const fn forget_state(&mut self) {
        self.state = false;
        self.last = None;
    }
}

impl<'d, P: Platform> Recorder<'_, '_, 'd, P> {
    /// Runs the bound pipeline on a grid of workgroups. Dispatches without a barrier between them may overlap. A grid with no
    /// workgroups is no work.
    ///
    /// # Errors
    /// If no pipeline is bound, a binding is missing, a limit is exceeded, or there is no memory for more commands.
    pub fn dispatch(&mut self, workgroups: [u32; 3]) -> Result<&mut Self, Error> {
        loop {
            if self.repeat(workgroups) {
                return Ok(self);
            }
            // True once at most: then all state is set.
            if !self.rebind(workgroups)? {
                return self.dispatch_base([0; 3], workgroups);
            }
        }
    }

    /// The same, with numbers of workgroups that begin at `base`.
    ///
    /// # Errors
    /// As [`Recorder::dispatch`].
    // FACT: one driver writes the first workgroup times the workgroup's size into JOB_OFFSET, and a later one adds the base in the
    // shader (hardware/command-stream.md 6.10); the register's own row says "first workgroup" (4.1), which is what is written.
    // Settled by a dispatch with a base that stores its ids, on any board.
    #[inline(never)]
    pub fn dispatch_base(
        &mut self,
        base: [u32; 3],
        workgroups: [u32; 3],
    ) -> Result<&mut Self, Error> {
        let Shape {
            size,
            threads: at_once,
            pairs,
            buffer_words,
            ..
        } = *self.shape()?;
        let [x, y, z] = workgroups;
        if x == 0 || y == 0 || z == 0 {
            return Ok(self);
        }
        if let Some(wanted) = too_large(size, base, workgroups) {
            let (what, most) = (Limit::Workgroups, GLOBAL_IDS);
            return Err(CommandError::Limit { what, wanted, most }.into());
        }
        let total = total_of(workgroups);
        let invocations = size.invocations();
        let uniforms = match buffer_words {
            true => self.filled_uniforms(workgroups)?,
            false => self.uniforms(workgroups)?,
        };
        let threads = total.saturating_mul(invocations.into());
        self.invocations = self.invocations.map(|sum| sum.saturating_add(threads));
        let task = task_shape(invocations, workgroups, at_once);
        let run = self.run(uniforms, (base, Some(workgroups)), (total, task))?;
        let bytes = pairs.saturating_mul(8).next_multiple_of(ALIGNMENT);
        let last = Last {
            workgroups,
            bytes,
            wanted: Writer::wanted(MOST_WORDS, bytes),
            threads,
            run,
        };
        let repeats = self.made.state && base == [0; 3] && bytes > 0 && !buffer_words;
        self.made.last = repeats.then_some(last);
        Ok(self)
    }

    /// Runs the last dispatch again, with the uniforms that it has now. False if it is none of as many workgroups, or there is no
    /// room in the block: then nothing was done.
    #[inline]
    fn repeat(&mut self, workgroups: [u32; 3]) -> bool {
        let Some(last) = &self.made.last else {
            return false;
        };
        if !self.made.state {
            return false;
        }
        let device = &mut *self.device;
        let Ok(words) = &device.words else {
            return false;
        };
        if last.workgroups != workgroups || self.writer.free() < last.wanted {
            return false;
        }
        let uniforms = match self.made.uniforms {
            Some((made, _)) => made,
            None => {
                let (at, address) = self.writer.take(last.bytes);
                let words = device.uniforms.again();
                device.hw.platform.write_words(at, words);
                let uniforms = address.0 | (words.len() as u64) << COUNT_SHIFT;
                self.made.uniforms = Some((uniforms, workgroups));
                uniforms
            }
        };
        let end = self.writer.end();
        let known = &mut self.known;
        let mut emitter = Emitter::new(&mut device.hw.platform, words, known, end);
        emitter.wide_and(Wide::Uniforms, uniforms, last.run);
        self.writer.end_at(emitter.end());
        self.invocations = self.invocations.map(|sum| sum.saturating_add(last.threads));
        self.running.jobs = true;
        self.unflushed = true;
        true
    }

    /// Sets the state of the pipeline and the sets that were bound since the last dispatch, of as many workgroups, so that
    /// [`Recorder::repeat`] can go on; false if more than that is to be done.
    #[inline(never)]
    fn rebind(&mut self, workgroups: [u32; 3]) -> Result<bool, Error> {
        let known = &self.known;
        let grid = known.has_grid(Grid::Count, workgroups) && known.has_grid(Grid::First, [0; 3]);
        if self.made.state || !grid {
            return Ok(false);
        }
        let Shape {
            shader,
            workgroup,
            storage: Some(storage),
            buffer_words: false,
            samples,
            writes_texels,
            ..
        } = *self.shape()?
        else {
            return Ok(false);
        };
        if !self.knows_uniforms()? {
            return Ok(false);
        }
        self.note_texels(samples, writes_texels)?;
        let resources = self.resources()?;
        let new = self.made.last.is_none();
        match new {
            true => self.load_state((resources, None), (shader, workgroup, storage))?,
            false => self.emit(MOST_WORDS, |it| it.wide(Wide::Resources, resources))?,
        }
        self.made.state = true;
        if new {
            self.made.last = self.first_of(workgroups);
        }
        Ok(self.made.last.is_some())
    }

    /// A dispatch of the bound pipeline that can be repeated: it is inside of the limits, and has uniforms.
    #[inline(always)]
    fn first_of(&self, workgroups: [u32; 3]) -> Option<Last> {
        let shape = &self.pipeline.as_ref()?.shape;
        let words = self.device.words.as_ref().ok()?;
        let total = total_of(workgroups);
        if total == 0 || shape.pairs == 0 || too_large(shape.size, [0; 3], workgroups).is_some() {
            return None;
        }
        let invocations = shape.size.invocations();
        let TaskShape { axis, increment } = task_shape(invocations, workgroups, shape.threads);
        let bytes = shape.pairs.saturating_mul(8).next_multiple_of(ALIGNMENT);
        Some(Last {
            workgroups,
            bytes,
            wanted: Writer::wanted(MOST_WORDS, bytes),
            threads: total.saturating_mul(invocations.into()),
            run: words.run.with(axis, increment),
        })
    }

    /// Whether the uniforms of what is bound were found out: a set may keep them.
    #[inline]
    fn knows_uniforms(&mut self) -> Result<bool, Error> {
        if !self.device.uniforms.found && self.recall_uniforms()? {
            self.made.complete = true;
        }
        Ok(self.device.uniforms.found)
    }

    /// Runs the bound pipeline on a grid whose three counts stand at `offset` in a buffer, a multiple of 4, when the job gets
    /// there: commands before may have written them. No limit of the grid is checked.
    ///
    /// # Errors
    /// As [`Recorder::dispatch`]; or if the counts are not inside the buffer.
    pub fn dispatch_indirect(&mut self, counts: Buffer, offset: u64) -> Result<&mut Self, Error> {
        let pipeline = *self.shape()?;
        let from = self.part_of(counts, offset, 12)?;
        // Words of uniforms that the stream fills in are waited for as the counts are.
        let uniforms = match (pipeline.buffer_words, pipeline.counts) {
            (true, _) => self.filled_uniforms([0; 3])?,
            (false, true) => self.written_uniforms([0; 3])?,
            (false, false) => self.uniforms([0; 3])?,
        };
        self.load_wide(|words| words.address, from.0)?;
        let load = self.words()?.load_counts;
        self.put(load)?;
        self.running.memory = true;
        self.wait_for_memory()?;
        self.known.forget_grid(Grid::Count);
        self.made.last = None;
        if pipeline.counts {
            self.store_counts(uniforms)?;
        }
        self.invocations = None;
        let task = task_of_unknown_grid(pipeline.size.invocations(), pipeline.threads);
        self.run(uniforms, ([0; 3], None), (u64::MAX, task))?;
        Ok(self)
    }

    /// Stores the counts that were just loaded where the uniforms have them.
    // FACT: through which cache uniforms are read, and whether it keeps memory that the L2 does not cache, is not published
    // (hardware/command-stream.md 1.10); a run before may have left old counts there, so the caches of the cores are flushed.
    // Settled by running one recording twice with other counts and without that flush, on any board.
    fn store_counts(&mut self, uniforms: u64) -> Result<(), Error> {
        let address = uniforms & ADDRESS_BITS;
        self.load_wide(|words| words.address, address)?;
        for (word, place) in self.program()?.fau().zip((0_i16..).step_by(4)) {
            let FauWord::NumWorkgroups(axis) = word else {
                continue;
            };
            let register = registers::COUNT.get(axis.index()).copied();
            self.push(StoreMultiple {
                base_register: register.unwrap_or_default(),
                mask: RegMask::first(1),
                address: words::ADDRESS,
                offset: place,
            })?;
        }
        self.running.memory = true;
        self.wait_for_memory()?;
        self.exclusive = true;
        self.flush(Reach::Cores)
    }

    /// What is known of the bound pipeline.
    fn shape(&self) -> Result<&Shape, Error> {
        let pipeline = self.pipeline.as_ref();
        Ok(&pipeline.ok_or(CommandError::NoPipeline)?.shape)
    }

    /// Whether the bound pipeline samples.
    pub(super) fn samples(&self) -> bool {
        let pipeline = self.pipeline.as_ref();
        pipeline.is_some_and(|pipeline| pipeline.shape.samples)
    }

    /// Notes what the next dispatch does with texels, and invalidates read-only caches first if it samples what may have changed.
    fn note_texels(&mut self, samples: bool, writes_texels: bool) -> Result<(), Error> {
        self.samples |= samples;
        self.writes_texels |= writes_texels;
        match samples {
            true => self.refresh_texels(),
            false => Ok(()),
        }
    }

    /// Its program.
    pub(super) fn program(&self) -> Result<&Program<'d>, Error> {
        let pipeline = self.pipeline.as_ref();
        let key = pipeline.ok_or(CommandError::NoPipeline)?.key;
        self.device.program_of(key)
    }

    /// Starts a job of about `total` workgroups; without `counts` the registers have them. Gives its instruction.
    fn run(
        &mut self,
        uniforms: u64,
        (base, counts): ([u32; 3], Option<[u32; 3]>),
        (total, task): (u64, TaskShape),
    ) -> Result<Checked, Error> {
        if !self.made.state {
            self.set_state(uniforms, total)?;
        }
        let TaskShape { axis, increment } = task;
        let run = self.words()?.run.with(axis, increment);
        self.emit(MOST_WORDS, |it| {
            it.wide(Wide::Uniforms, uniforms);
            it.grid(Grid::First, base);
            if let Some(counts) = counts {
                it.grid(Grid::Count, counts);
            }
            it.put(run);
        })?;
        self.running.jobs = true;
        self.unflushed = true;
        Ok(run)
    }

    /// Sets the state of a job of about `total` workgroups, its grid aside. The next one of the same pipeline and sets finds it
    /// as it is, unless its local storage is this job's own.
    #[inline(never)]
    fn set_state(&mut self, uniforms: u64, total: u64) -> Result<(), Error> {
        let Shape {
            shader,
            workgroup,
            storage: shared,
            samples,
            writes_texels,
            ..
        } = *self.shape()?;
        self.note_texels(samples, writes_texels)?;
        let resources = self.resources()?;
        let storage = match shared {
            Some(storage) => storage,
            None => self.storage(total)?,
        };
        self.load_state((resources, Some(uniforms)), (shader, workgroup, storage))?;
        self.made.state = shared.is_some();
        Ok(())
    }

    /// Loads the registers of a pipeline and its sets that have changed.
    #[inline(never)]
    fn load_state(
        &mut self,
        (resources, uniforms): (u64, Option<u64>),
        (shader, workgroup, storage): (GpuAddress, u32, GpuAddress),
    ) -> Result<(), Error> {
        self.emit(MOST_WORDS, |it| {
            it.wide(Wide::Resources, resources);
            if let Some(uniforms) = uniforms {
                it.wide(Wide::Uniforms, uniforms);
            }
            it.wide(Wide::Program, shader.0);
            it.wide(Wide::Storage, storage.0);
            it.narrow(Narrow::AttributeOffset, 0);
            it.narrow(Narrow::WorkgroupSize, workgroup);
        })
    }

    /// Where `bytes` from `offset` on of a buffer are, which the commands refer to from here on; all are multiples of 4.
    pub(super) fn part_of(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: u64,
    ) -> Result<GpuAddress, Error> {
        let size = self.device.buffer_bytes(buffer)?;
        let end = offset.checked_add(bytes).filter(|end| *end <= size);
        if end.is_none() {
            return Err(Error::Outside {
                offset,
                bytes,
                size,
            });
        }
        if let Some(offset) = [offset, bytes].into_iter().find(|it| !it.is_multiple_of(4)) {
            return Err(Error::Misaligned { offset });
        }
        self.refer(buffer.0, Thing::Buffer)?;
        Ok(self.device.buffer_address(buffer)?.offset(offset))
    }

    /// Local storage with memory of its own.
    fn storage(&mut self, total: u64) -> Result<GpuAddress, Error> {
        let program = *self.program()?;
        let used = self.areas.provide(self.device, &program, total)?;
        if self.running.storage {
            self.wait_for_jobs()?;
        }
        self.running.storage = true;
        self.exclusive = true;
        if let Some((made, address)) = self.made.storage
            && made == used
        {
            return Ok(address);
        }
        let words = local_storage(self.arch(), used.thread, used.workgroup)?;
        let address = self.place(&words)?;
        self.made.storage = Some((used, address));
        Ok(address)
    }

    /// The value of the resource table register: the table's address with its number of entries.
    fn resources(&mut self) -> Result<u64, Error> {
        if let Some(made) = self.made.resources {
            return Ok(made);
        }
        let Shape {
            highest: Some(highest),
            table,
            ..
        } = *self.shape()?
        else {
            return Ok(0);
        };
        if !self.made.complete {
            self.check_bindings()?;
            self.made.complete = true;
            if self.device.uniforms.found {
                self.keep_uniforms();
            }
        }
        let set = |table| self.sets.get(usize::from(table))?.as_ref();
        let alone = table.and_then(|table: u8| set(table)?.alone);
        let resources = match alone {
            Some(alone) => alone,
            None => self.table_of_sets(highest)?,
        };
        self.made.resources = Some(resources);
        Ok(resources)
    }

    /// Checks that the sets have everything that the pipeline needs.
    #[inline(never)]
    fn check_bindings(&mut self) -> Result<(), Error> {
        for binding in self.program()?.bindings() {
            let set = self.set(binding.slot.table);
            for element in 0..binding.count {
                if !set.is_some_and(|set| self.device.is_bound(&set, &binding, element)) {
                    let (set, binding) = (binding.set, binding.binding);
                    let missing = CommandError::Missing {
                        set,
                        binding,
                        element,
                    };
                    return Err(missing.into());
                }
            }
        }
        Ok(())
    }

    /// A resource table of all sets that are bound.
    fn table_of_sets(&mut self, highest: u8) -> Result<u64, Error> {
        let arch = self.arch();
        let count = resource_entries(highest);
        let mut words = [0; TABLES.next_multiple_of(4) * RESOURCE_WORDS];
        let mut bindings = self.program()?.bindings();
        // The sampler of fetches, which stands behind a set that is alone.
        if bindings.any(|binding| binding.kind.is_texture()) {
            let driver = self.place(&FETCHES)?;
            let entry = resource(arch, driver.0, DESCRIPTOR_BYTES as u32)?;
            for (to, from) in words.iter_mut().zip(entry) {
                *to = from;
            }
        }
        for (entry, set) in words.chunks_exact_mut(RESOURCE_WORDS).zip(&self.sets) {
            if let Some(set) = set {
                let made = resource(arch, set.address.0, set.bytes)?;
                for (to, from) in entry.iter_mut().zip(made) {
                    *to = from;
                }
            }
        }
        let used = words.get(..(count as usize).saturating_mul(RESOURCE_WORDS));
        let address = self.place(used.unwrap_or(&[]))?;
        Ok(address.0 | u64::from(count))
    }

    fn set(&self, table: u8) -> Option<BoundSet> {
        self.sets.get(usize::from(table)).copied().flatten()
    }

    /// The value of the uniforms register: their address with their number of 64-bit words.
    fn uniforms(&mut self, workgroups: [u32; 3]) -> Result<u64, Error> {
        let has = self.shape()?.counts;
        match self.made.uniforms {
            Some((made, counts)) if !has || counts == workgroups => Ok(made),
            _ => self.new_uniforms(workgroups),
        }
    }

    /// The same where they must be written.
    fn new_uniforms(&mut self, workgroups: [u32; 3]) -> Result<u64, Error> {
        let pairs = self.shape()?.pairs;
        let uniforms = match pairs {
            0 => 0,
            _ => {
                let (at, address) = self.room(pairs.saturating_mul(8))?;
                self.write_uniforms(at, workgroups)?;
                address.0 | u64::from(pairs) << COUNT_SHIFT
            }
        };
        self.made.uniforms = Some((uniforms, workgroups));
        Ok(uniforms)
    }

    /// The uniforms of a dispatch into which the stream puts words of buffers.
    fn filled_uniforms(&mut self, counts: [u32; 3]) -> Result<u64, Error> {
        let uniforms = self.written_uniforms(counts)?;
        self.copy_buffer_words(uniforms & ADDRESS_BITS)?;
        Ok(uniforms)
    }

    /// The uniforms of a dispatch of which the stream fills in some.
    fn written_uniforms(&mut self, counts: [u32; 3]) -> Result<u64, Error> {
        let pairs = self.shape()?.pairs;
        let bytes = pairs.saturating_mul(8);
        let (at, address) = self.written_room(bytes)?;
        self.write_uniforms(at, counts)?;
        self.device.hw.platform.clean(at.span(bytes.into()));
        Ok(address.0 | u64::from(pairs) << COUNT_SHIFT)
    }

    /// Writes the uniforms of a dispatch; what no push constant and no count is stays the same until something else is bound.
    fn write_uniforms(&mut self, at: PhysicalAddress, counts: [u32; 3]) -> Result<(), Error> {
        if !self.knows_uniforms()? {
            self.find_uniforms()?;
        }
        let words = self.device.uniforms.of(counts);
        self.device.hw.platform.write_words(at, words);
        Ok(())
    }

    /// Finds out where the words of the uniforms come from, and their values where these stay the same.
    #[inline(never)]
    fn find_uniforms(&mut self) -> Result<(), Error> {
        let data = self.shape()?.data.0;
        self.device.uniforms.clear();
        let mut steps = self.program()?.fau_steps();
        let mut step = steps.next();
        for (number, word) in self.program()?.fau().enumerate() {
            let mut word = match word {
                // Offsets are inside the push constants: `Program::parse` has checked them.
                FauWord::PushConstant { offset } => Err(Source::Push(offset)),
                FauWord::NumWorkgroups(axis) => Err(Source::Count(axis)),
                FauWord::Constant(value) => Ok(value),
                FauWord::BufferAddress { slot, half } => Ok(half.of(self.buffer(slot)?.0)),
                FauWord::BufferBytes { slot } => Ok(self.buffer(slot)?.1),
                // The stream puts it there.
                FauWord::BufferWord { .. } => Ok(0),
                FauWord::TexelCount { slot } => {
                    let [count, _] = self.texels(slot)?;
                    Ok(count)
                }
                FauWord::TexelFormat { slot } => {
                    let [_, format] = self.texels(slot)?;
                    Ok(format)
                }
                FauWord::DataAddress(half) => Ok(half.of(data)),
            };
            // They come in the order of the words.
            while let Some(it) = step.filter(|step| usize::from(step.word) == number) {
                word = self.device.uniforms.take(word, it);
                step = steps.next();
            }
            self.device.uniforms.add(number, word);
        }
        let pipeline = self.pipeline_of;
        self.device.uniforms.added(pipeline);
        Ok(())
    }

    /// Address and length of the buffer that is bound there. The commands keep them, and so refer to the buffer.
    pub(super) fn buffer(&mut self, slot: DescriptorSlot) -> Result<(u64, u32), Error> {
        let set = self.set(slot.table);
        let bound = set.and_then(|set| self.device.bound_buffer(&set, slot.index));
        // If it is not bound the dispatch is refused: `resources` looks at every binding, and a slot is one of a binding's.
        let Some((buffer, address, bytes)) = bound else {
            return Ok((0, 0));
        };
        self.refer(buffer, Thing::Buffer)?;
        Ok((address, bytes))
    }

    /// Number of texels and conversion word of the texel buffer that is bound there.
    fn texels(&mut self, slot: DescriptorSlot) -> Result<[u32; 2], Error> {
        self.buffer(slot)?;
        let set = self.set(slot.table);
        Ok(set.map_or([0; 2], |set| self.device.bound_texels(&set, slot.index)))
    }
}

/// Workgroups of a grid.
fn total_of([x, y, z]: [u32; 3]) -> u64 {
    u64::from(x)
        .saturating_mul(y.into())
        .saturating_mul(z.into())
}

/// Global ids along an axis: a global id is 32 bits.
const GLOBAL_IDS: u64 = 1 << 32;

/// How many ids a grid wants along an axis, if that is more than there are.
#[inline(always)]
fn too_large(size: WorkgroupSize, base: [u32; 3], workgroups: [u32; 3]) -> Option<u64> {
    let ends = workgroups.into_iter().zip(base);
    let wanted = ends.zip([size.x(), size.y(), size.z()]);
    let mut wanted = wanted.map(|((count, base), threads)| {
        let end = u64::from(base).wrapping_add(u64::from(count));
        // The sum has 33 bits.
        end.saturating_mul(u64::from(threads))
    });
    wanted.find(|wanted| *wanted > GLOBAL_IDS)
}

/// Where the uniforms register holds the number of words, and what is below it (hardware/command-stream.md 4.1).
const COUNT_SHIFT: u32 = 56;
const ADDRESS_BITS: u64 = (1 << COUNT_SHIFT) - 1;
