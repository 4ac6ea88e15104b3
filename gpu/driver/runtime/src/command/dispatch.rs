//! Dispatches: what a job needs, written where it has changed.
//!
//! Shader, local storage and resource table of most dispatches stand in memory already (see [`super::pipeline`] and
//! [`super::descriptor_set`]). What is left are uniforms, and registers whose values differ from the last dispatch's.
//! Facts: hardware/command-stream.md sections 4.1, 6.10, 6.12, compiler-abi.md sections 1 to 4.

use super::dispatch_state::JobState;
use super::emitter::Emitter;
use super::error::{CommandError, Limit};
use super::pipeline::Shape;
use super::recorder::Recorder;
use super::registers;
use super::storage::Used;
use super::task::{TaskShape, task_of_unknown_grid, task_shape};
use super::words::{self, Grid, Wide};
use super::writer::{ALIGNMENT, Writer};
use crate::error::Error;
use crate::handle::Buffer;
use crate::platform::Platform;
use crate::queue::Reach;
use crate::vm::GpuAddress;
use eitri_cs::RegMask;
use eitri_cs::builder::Checked;
use eitri_cs::instr::StoreMultiple;
use eitri_program::{FauWord, Program, WorkgroupSize};

/// Most instructions of a dispatch: state, grid, the job.
pub(super) const MOST_WORDS: u32 = 2 * 4 + 2 + 2 * 3 + 1;

/// Last dispatch recorded, for what the next one can use again.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastDispatch {
    /// The resource table's register.
    pub(super) resources: Option<u64>,
    /// The uniforms' register, and the workgroups that they hold if they hold them.
    pub(super) uniforms: Option<(u64, [u32; 3])>,
    /// Local storage of its own.
    pub(super) storage: Option<(Used, GpuAddress)>,
    /// The sets are known to have everything that the pipeline needs.
    pub(super) complete: bool,
    /// The registers hold all state of the pipeline and the sets, uniforms and grid aside.
    pub(super) state: bool,
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

/// A job of a dispatch.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// The first workgroup along each axis.
    base: [u32; 3],
    /// Workgroups along each axis; without them the registers have them.
    counts: Option<[u32; 3]>,
    /// Workgroups, or more.
    total: u64,
    task: TaskShape,
}

impl LastDispatch {
    /// Nothing yet.
    pub(super) const NOTHING: LastDispatch = LastDispatch {
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
        let uniforms = if buffer_words {
            self.filled_uniforms(workgroups)?
        } else {
            self.uniforms(workgroups)?
        };
        let threads = total.saturating_mul(invocations.into());
        self.invocations = self.invocations.map(|sum| sum.saturating_add(threads));
        let task = task_shape(invocations, workgroups, at_once);
        let run = self.run(
            uniforms,
            &Job {
                base,
                counts: Some(workgroups),
                total,
                task,
            },
        )?;
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
        if new {
            self.load_state(&JobState {
                resources,
                uniforms: None,
                shader,
                workgroup,
                storage,
            })?
        } else {
            self.emit(MOST_WORDS, |it| it.wide(Wide::Resources, resources))?
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
    pub(super) fn knows_uniforms(&mut self) -> Result<bool, Error> {
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
        // EncodedInstructions of uniforms that the stream fills in are waited for as the counts are.
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
        self.run(
            uniforms,
            &Job {
                base: [0; 3],
                counts: None,
                total: u64::MAX,
                task,
            },
        )?;
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
    pub(super) fn shape(&self) -> Result<&Shape, Error> {
        let pipeline = self.pipeline.as_ref();
        Ok(&pipeline.ok_or(CommandError::NoPipeline)?.shape)
    }

    /// Whether the bound pipeline samples.
    pub(super) fn samples(&self) -> bool {
        let pipeline = self.pipeline.as_ref();
        pipeline.is_some_and(|pipeline| pipeline.shape.samples)
    }

    /// Notes what the next dispatch does with texels, and invalidates read-only caches first if it samples what may have changed.
    pub(super) fn note_texels(&mut self, samples: bool, writes_texels: bool) -> Result<(), Error> {
        self.samples |= samples;
        self.writes_texels |= writes_texels;
        if samples {
            self.refresh_texels()
        } else {
            Ok(())
        }
    }

    /// Its program.
    pub(super) fn program(&self) -> Result<&Program<'d>, Error> {
        let pipeline = self.pipeline.as_ref();
        let key = pipeline.ok_or(CommandError::NoPipeline)?.key;
        self.device.program_of(key)
    }

    /// Starts a job; gives its instruction.
    fn run(&mut self, uniforms: u64, job: &Job) -> Result<Checked, Error> {
        if !self.made.state {
            self.set_state(uniforms, job.total)?;
        }
        let TaskShape { axis, increment } = job.task;
        let run = self.words()?.run.with(axis, increment);
        self.emit(MOST_WORDS, |it| {
            it.wide(Wide::Uniforms, uniforms);
            it.grid(Grid::First, job.base);
            if let Some(counts) = job.counts {
                it.grid(Grid::Count, counts);
            }
            it.put(run);
        })?;
        self.running.jobs = true;
        self.unflushed = true;
        Ok(run)
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
pub(super) const COUNT_SHIFT: u32 = 56;
pub(super) const ADDRESS_BITS: u64 = (1 << COUNT_SHIFT) - 1;
